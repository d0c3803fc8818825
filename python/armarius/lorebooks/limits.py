"""What a book file may be; what is above is refused before it is read. Of files: armarius.io.read."""

from typing import Final

from armarius.io.read import MAX_BYTES, MAX_MEMBERS, MAX_UNPACKED, check_size

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

MAX_DEPTH: Final = 128
"""How deep lists and objects may be nested."""
MAX_OBJECTS: Final = 1_000_000
"""Opening brackets in one JSON text."""
MAX_ENTRIES: Final = 200_000
"""Entries of one book."""
MAX_KEYS: Final = 1_000
"""Keys of one entry; what is above is kept and has no effect."""
