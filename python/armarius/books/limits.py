"""What a book file may be: anything above is refused before it is read."""

from typing import Final

from armarius.errors import BookError

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_ENTRIES",
    "MAX_KEYS",
    "MAX_MEMBERS",
    "MAX_OBJECTS",
    "MAX_UNPACKED",
    "check_size",
]

MAX_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one file, of one member of an archive, and of the decoded text of a picture."""
MAX_UNPACKED: Final = 256 * 1024 * 1024
"""Bytes that the members of one archive may have together."""
MAX_MEMBERS: Final = 20_000
"""Members of one archive, files of one vault."""
MAX_DEPTH: Final = 128
"""How deep lists and objects may be nested."""
MAX_OBJECTS: Final = 1_000_000
"""Opening brackets in one JSON text."""
MAX_ENTRIES: Final = 200_000
"""Entries of one book."""
MAX_KEYS: Final = 1_000
"""Keys of one entry; what is above is kept and has no effect."""


def check_size(size: int, name: str, limit: int = MAX_BYTES) -> None:
    """Refuse what is above a limit.

    Raises:
        BookError: Name, size and limit.
    """
    if size > limit:
        raise BookError(f"{name}: {size:,} bytes, at most {limit:,} are read")
