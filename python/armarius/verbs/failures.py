"""Any exception to one code and one message that may leave the process.

What a host or a model reads never contains an absolute path, SQL or a secret: our own errors are
written for readers and keep their text with paths cut down to the project; everything else becomes
a generic sentence, and the original goes to the log.
"""

import logging
from dataclasses import dataclass
from pathlib import Path

from armarius.errors import ArmariusError
from armarius.io.messages_without_paths import without_paths

logger = logging.getLogger("armarius")


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
