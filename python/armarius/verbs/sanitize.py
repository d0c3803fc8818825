"""What may leave the process: errors without paths, and text of the project that can be nothing but data.

Our own errors are written for readers and keep their text, with paths cut down to the project; everything else becomes
a generic sentence, and the original goes to the log. Tools and retrievers put what they find next to prompts, and a
model has learnt to trust the headings of those, so it is escaped as in a prompt. The channel answers programs, a
resource is a file asked for by name, and the engine's own methods are Python: what those say is exact.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarius.errors import ArmariusError
from armarius.io.messages_without_paths import without_paths
from armarius.prompt.escape import escape
from armarius.types import Hit
from armarius.verbs.wire import wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["Failure", "describe", "escaped", "escaped_excerpt", "escaped_hit"]

logger = logging.getLogger("armarius")

_PATHS = frozenset({"path", "file"})


@dataclass(frozen=True, slots=True)
class Failure:
    """What may be said about an exception."""

    code: str
    message: str


def describe(error: BaseException, *, root: Path | None = None) -> Failure:
    """The failure to report for `error`.

    Args:
        error: Of any call.
        root: The project folder; paths inside it are shown relative to it, others by name only.

    Returns:
        A stable code and a message of at most 600 characters, free of absolute paths.
    """
    if isinstance(error, ArmariusError):
        return Failure(error.code, without_paths(error.message, root=root))
    if isinstance(error, UnicodeError):
        return Failure("INVALID_TEXT", "the text holds a character that is not valid Unicode (a lone surrogate)")
    logger.error("unexpected %s", type(error).__name__, exc_info=error)
    return Failure("INTERNAL", "the request failed inside armarius; the log has the details")


def escaped(value: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """Plain JSON with every text in it escaped; a path stays exact as long as it is one line.

    Cost: one pass over the text.
    """
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, list | tuple):
        return [escaped(item) for item in value]
    if isinstance(value, dict):
        return {key: item if key in _PATHS and _is_line(item) else escaped(item) for key, item in value.items()}
    return value


def escaped_hit(hit: Hit) -> dict[str, Any]:
    """A found paragraph; its highlights stand where the words stand in the escaped text."""
    highlights = [[len(escape(hit.text[:end])) for end in span] for span in hit.highlights]
    return {**escaped(wire(hit)), "highlights": highlights}


def escaped_excerpt(engine: "ContextEngine", hit: Hit, options: Mapping[str, Any]) -> str:
    """The text behind a hit, as far as the `options` that it was asked with let it be seen."""
    bounds = {name: options[name] for name in ("chapters", "as_of") if name in options}
    return str(escaped(engine.excerpt(hit, **bounds)))


def _is_line(value: object) -> bool:
    return isinstance(value, str) and len(value.splitlines()) <= 1
