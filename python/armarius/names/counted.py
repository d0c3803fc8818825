"""What is counted in one document to learn from, and the bytes that an index keeps of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import armarius._core as _core
from armarius.text.scripts import HAN_FIRST, HAN_LAST

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

__all__ = ["HAN_PLACES", "TABLES", "Counts", "han_of"]

# What is counted, and of how many parts its keys are; `NameCounts` says what each is.
TABLES: Final = {
    "given": 1, "counted": 1, "titled": 2, "heads": 2, "followed": 2, "times": 2, "uses": 2, "beside": 3,
    "alone": 2, "led": 2, "joined": 2,
}  # fmt: skip
_PARTS: Final = list(TABLES.values())
HAN_PLACES: Final = ord(HAN_LAST) - ord(HAN_FIRST) + 1


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted in one document, for the names of one cast; or in several, added up.

    Attributes:
        characters: Places of Han characters in Unicode, from the first Han character on, ascending; and how often each
            occurs: two rows of int64.
        counters: By name, as the attributes of `NameCounts`; only what was seen.
    """

    characters: "tuple[Numbers, Numbers]"
    counters: dict[str, Counter[Any]] = field(default_factory=lambda: {name: Counter() for name in TABLES})

    def to_bytes(self) -> bytes:
        """For an index to keep; the cast is not among it. About 4 KB for a chapter of 7,000 characters."""
        places, times = (row.astype("<u4").tobytes() for row in self.characters)
        return _core.pack_name_counts(places, times, [self.counters[name] for name in TABLES], _PARTS)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Counts":
        """From what `to_bytes` gave.

        Raises:
            ValueError: It is something else.
        """
        counts, (sound,) = cls.added([data])
        if not sound:
            raise ValueError("no counts of a document, or damaged ones")
        return counts

    @classmethod
    def added(cls, rows: Sequence[bytes]) -> "tuple[Counts, list[bool]]":
        """The sum of what `to_bytes` gave, and which rows are of that: the others add nothing.

        Cost: .03 ms a chapter, without the interpreter; then an object for each name and each key of the sum.
        """
        import numpy as np

        sound, places, times, tables = _core.add_name_counts([*rows], HAN_PLACES, _PARTS)
        characters = np.frombuffer(places, "<u4").astype(np.int64), np.frombuffer(times, "<u4").astype(np.int64)
        return cls(characters, {name: Counter(table) for name, table in zip(TABLES, tables, strict=True)}), sound


def han_of(text: str) -> "tuple[Numbers, Numbers]":
    """Han characters of a text, as `Counts.characters`."""
    import numpy as np

    codes = np.frombuffer(text.encode("utf-16-le", "replace"), dtype="<u2") - np.uint16(ord(HAN_FIRST))
    codes = codes[codes < HAN_PLACES]
    if not len(codes):
        return codes.astype(np.int64), codes.astype(np.int64)
    codes.sort(kind="stable")  # of numbers of two bytes: by their digits
    ends = np.flatnonzero(np.append(codes[1:] != codes[:-1], True))
    return codes[ends].astype(np.int64), np.diff(ends, prepend=-1)
