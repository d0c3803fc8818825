"""Any exception to one code and one message that may leave the process.

What a host or a model reads never contains an absolute path, SQL or a secret: our own errors are
written for readers and keep their text with paths cut down to the project; everything else becomes
a generic sentence, and the original goes to the log.
"""

import logging
import re
from dataclasses import dataclass
from pathlib import Path

from armarius.errors import ArmariusError

logger = logging.getLogger("armarius")

_ABSOLUTE = re.compile(r"(?<![\w.:/\\])(?:/[^\s'\":,;)\]]+|[A-Za-z]:\\[^\s'\":,;)\]]+|\\\\[^\s'\":,;)\]]+)")
_LONGEST = 600


@dataclass(frozen=True, slots=True)
class Failure:
    """What may be said about an exception."""

    code: str
    message: str


def describe(error: BaseException, *, root: Path | None = None) -> Failure:
    """The failure to report for `error`.

    Args:
        error: Whatever a call raised.
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


def without_paths(text: str, *, root: Path | None = None) -> str:
    """`text` with the project folder removed from paths and other absolute paths cut to their last part."""
    if root is not None:
        for form in {str(root), root.as_posix()}:
            text = text.replace(f"{form}/", "").replace(f"{form}\\", "").replace(form, ".")
    text = _ABSOLUTE.sub(lambda found: re.split(r"[/\\]", found.group().rstrip("/\\"))[-1] or ".", text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
