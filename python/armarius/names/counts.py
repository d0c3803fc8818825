"""What is counted in a document to learn from, and sums of it over documents."""

import json
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from armarius.names.capitals import Capitals
from armarius.names.forms import Forms
from armarius.names.kin import Kinship
from armarius.names.lexicon import letters
from armarius.names.people import person_of
from armarius.names.usage import Usage
from armarius.text.matcher import (
    EntityMatcher,
    Mention,
    kind_of,
    names_of,
)
from armarius.text.scripts import (
    HAN_FIRST,
    HAN_LAST,
    is_han,
)

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

__all__ = ["Counts", "NameCounts"]

_TITLE: Final = letters("han", "bare_titles")
_NUMBERS: Final = letters("han", "numbers")
_SHAPES: Final = letters("han", "shapes")
_FEW: Final = 1_000  # characters that are sorted faster than the table of all is gone through
_HAN: Final = ord(HAN_LAST) - ord(HAN_FIRST) + 1
# What is counted, and of how many parts its keys are; `NameCounts` says what each is.
_PARTS: Final = {
    "given": 1, "counted": 1, "titled": 2, "heads": 2, "followed": 2, "times": 2, "uses": 2, "beside": 3,
    "alone": 2, "led": 2, "joined": 2,
}  # fmt: skip
_HEAD: Final = struct.Struct("<I")  # number of different characters
_LEVEL: Final = 1


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted in one document, for the names of one cast.

    Attributes:
        characters: Places of Han characters in Unicode, from the first Han character on, ascending; and how often each
            occurs: two rows of int64.
        counters: By name, as the attributes of `NameCounts`; only what was seen.
    """

    characters: "tuple[Numbers, Numbers]"
    counters: dict[str, Counter[Any]] = field(default_factory=lambda: {name: Counter() for name in _PARTS})

    def to_bytes(self) -> bytes:
        """For an index to keep; the cast is not among it. About 3 KB for a chapter of 7,000 characters."""
        places, times = (row.astype("<u4").tobytes() for row in self.characters)
        rows = {name: _written(self.counters[name]) for name in _PARTS}
        text = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        return zlib.compress(_HEAD.pack(len(self.characters[0])) + places + times + text, _LEVEL)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Counts":
        """From what `to_bytes` gave.

        Raises:
            ValueError: It is something else.
        """
        import numpy as np

        try:
            body = zlib.decompress(data)
            (count,) = _HEAD.unpack_from(body)
            table = np.frombuffer(body, "<u4", 2 * count, _HEAD.size).astype(np.int64).reshape(2, count)
            rows = json.loads(body[_HEAD.size + 8 * count :].decode("utf-8", "surrogatepass"))
            counters = {name: Counter(dict(_read(rows[name], parts))) for name, parts in _PARTS.items()}
        except (zlib.error, struct.error, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"no counts of a document: {type(error).__name__}: {error}") from error
        if count and (np.diff(table[0]).min(initial=1) < 1 or table[0, -1] >= _HAN):
            raise ValueError("no counts of a document: characters out of order")
        return cls((table[0], table[1]), counters)


class NameCounts:
    """Sums of counts over documents, for the names of some entities.

    Args:
        entities: As for `EntityMatcher`; those whose names cannot be matched are passed over.
        matcher: Of these entities, all of whose names can be matched, and of nothing learnt; None builds one.

    Attributes:
        entities: As given, but for those.
        named: Kind, id and names of each.
        given: Han character to how often it stands behind a family name of the project.
        titled: (character, bare title behind it) to how often.
        counted: Name to how often it was counted as a thing.
        heads: (name counted as a thing, Han character behind it) to how often.
        followed: (name of a person, Han character behind it) to how often, counted as a thing or not.
        times: (entity id, name as written) to how often.
        alone: (entity id, kin term or title) to how often outside its company (`kin`).
        led: (kin term or title, word before it that makes it another's) to how often.
        joined: (name, word with a capital behind it) to how often (`capitals`).
        usage: Of the short forms of names: `uses` and `beside`.
    """

    def __init__(self, entities: Iterable[object], *, matcher: EntityMatcher | None = None) -> None:
        import numpy as np

        known = list(entities)
        if matcher is None:
            matcher, known = EntityMatcher.of_usable(known)
        self.entities: Final = known
        self._matcher: Final = matcher
        self.named: Final = [(kind_of(entity), *names_of(entity)) for entity in self.entities]
        named = self.named
        self._persons: Final = {entity_id for kind, entity_id, _ in named if kind == "person"}
        families = {names[0][0] for _, _, names in named if len(names[0]) in (2, 3) and is_han(names[0][0])}
        behind = f"[{''.join(sorted(families))}](?=([{HAN_FIRST}-{HAN_LAST}]))"
        self._given: Final = re.compile(behind) if families else None
        self._characters = np.zeros(_HAN, dtype=np.int64)
        self.given: Final = Counter[str]()
        self.titled: Final = Counter[tuple[str, str]]()
        self.counted: Final = Counter[str]()
        self.heads: Final = Counter[tuple[str, str]]()
        self.followed: Final = Counter[tuple[str, str]]()
        self.times: Final = Counter[tuple[str, str]]()
        self.alone: Final = Counter[tuple[str, str]]()
        self.led: Final = Counter[tuple[str, str]]()
        self.joined: Final = Counter[tuple[str, str]]()
        pairs = zip(self.entities, named, strict=True)
        people = [person_of(entity, id_, names) for entity, (kind, id_, names) in pairs if kind == "person"]
        self.usage: Final = Usage(Forms(people, (name for _, _, names in named for name in names)))
        self.kinship: Final = Kinship(people)
        self.capitals: Final = Capitals(named)
        self._sums: Final[dict[str, Counter[Any]]] = {
            "given": self.given, "counted": self.counted, "titled": self.titled, "heads": self.heads,
            "followed": self.followed, "times": self.times, "uses": self.usage.uses, "beside": self.usage.beside,
            "alone": self.alone, "led": self.led, "joined": self.joined,
        }  # fmt: skip

    def count(self, texts: Sequence[str]) -> list[Counts]:
        """Count documents, each on its own; the sums stay as they are.

        Cost: two searches of the texts (names, short forms) and a count of their characters, with
        all mentions of `texts` held at once; then a look at every mention. docs/decisions/0043 has figures.
        """
        return [self._count(*one) for one in zip(texts, self._matcher.find_batch(texts), strict=True)]

    def add(self, counts: Counts) -> None:
        """Put a document in. Cost: one look at everything that was counted in it."""
        places, times = counts.characters
        self._characters[places] += times
        for name, total in self._sums.items():
            if counted := counts.counters[name]:  # nothing of most: a `Counter` takes a microsecond to see that
                total.update(counted)

    def subtract(self, counts: Counts) -> None:
        """Take a document out that was put in before. Cost: as `add`."""
        places, times = counts.characters
        self._characters[places] -= times
        for name, total in self._sums.items():
            for key, count in counts.counters[name].items():
                left = total.get(key, 0) - count
                if left:
                    total[key] = left
                else:
                    total.pop(key, None)

    def occurrences(self, character: str) -> int:
        """How often a Han character occurs; 0 for any other."""
        return int(self._characters[ord(character) - ord(HAN_FIRST)]) if is_han(character) else 0

    def _count(self, text: str, mentions: Sequence[Mention]) -> Counts:
        counts = Counts(_han_of(text))
        found = counts.counters
        if self._given is not None:
            found["given"].update(self._given.findall(text))
        for mention in mentions:
            term = mention.term
            counted = mention.entity_id in self._persons and _is_counted(text, mention.start)
            if counted:
                found["counted"][term] += 1
            else:
                found["times"][mention.entity_id, term] += 1
            if mention.entity_id in self._persons and is_han(term[-1]):
                _followed(found, term, text[mention.end : mention.end + 1], counted=counted)
            if _TITLE.issuperset(term) and is_han(before := text[max(0, mention.start - 1) : mention.start]):
                found["titled"][before, term] += 1
        self.usage.look(text, mentions, found["uses"], found["beside"])
        self.kinship.look(text, mentions, found["alone"], found["led"])
        self.capitals.look(text, mentions, found["joined"])
        return counts


def _is_counted(text: str, start: int) -> bool:
    """一块宝玉: behind a number and a measure word that counts things by their shape."""
    return start > 1 and text[start - 1] in _SHAPES and text[start - 2] in _NUMBERS


def _followed(found: dict[str, Counter[Any]], term: str, head: str, *, counted: bool) -> None:
    if is_han(head):
        found["followed"][term, head] += 1
        if counted:
            found["heads"][term, head] += 1


def _han_of(text: str) -> "tuple[Numbers, Numbers]":
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le", "replace"), dtype="<u4").astype(np.int64) - ord(HAN_FIRST)
    codes = codes[(codes >= 0) & (codes < _HAN)]
    if len(codes) < _FEW:
        return np.unique(codes, return_counts=True)
    times = np.bincount(codes, minlength=_HAN)
    places = np.flatnonzero(times)
    return places, times[places]


def _written(counter: "Counter[Any]") -> list[list[str | int]]:
    """One row for each key: its parts, whatever characters they hold, and the count."""
    return [[*([key] if isinstance(key, str) else key), counter[key]] for key in sorted(counter)] if counter else []


def _read(rows: object, parts: int) -> Iterator[tuple[Any, int]]:
    """What `_written` wrote of keys of so many parts; ValueError for anything else."""
    if not isinstance(rows, list):
        raise ValueError(f"no list of rows: {rows!r:.80}")
    shape = [str] * parts + [int]
    for row in rows:
        if not isinstance(row, list) or [*map(type, row)] != shape or row[-1] < 1:
            raise ValueError(f"no row of {parts} names and a count: {row!r:.80}")
        yield (row[0] if parts == 1 else tuple(row[:-1])), row[-1]
