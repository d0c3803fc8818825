"""What an adapter hands to a model outside a prompt: there too, text of the project is data.

Tools and retrievers put what they find beside prompts whose headings a model has learnt to trust, so it is made
harmless as in a prompt. The channel answers programs, a resource is a file asked for by name, and the engine's own
methods are Python: what those say is exact.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from armarius.prompt.escape import escape
from armarius.types import Hit
from armarius.verbs import wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["handed", "handed_excerpt", "handed_hit"]

_PATHS = frozenset({"path", "file"})


def handed(value: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """Plain JSON with every text in it made harmless; a path stays exact as long as it is one line.

    Cost: one pass over the text.
    """
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, list | tuple):
        return [handed(item) for item in value]
    if isinstance(value, dict):
        return {key: item if key in _PATHS and _is_line(item) else handed(item) for key, item in value.items()}
    return value


def handed_hit(hit: Hit) -> dict[str, Any]:
    """A found paragraph; its highlights stand where the words stand in the text handed over."""
    highlights = [[len(escape(hit.text[:end])) for end in span] for span in hit.highlights]
    return {**handed(wire(hit)), "highlights": highlights}


def handed_excerpt(engine: "ContextEngine", hit: Hit, options: Mapping[str, Any]) -> str:
    """The text behind a hit, as far as the `options` that it was asked with let it be seen."""
    bounds = {name: options[name] for name in ("chapters", "as_of") if name in options}
    return str(handed(engine.excerpt(hit, **bounds)))


def _is_line(value: object) -> bool:
    return isinstance(value, str) and len(value.splitlines()) <= 1
