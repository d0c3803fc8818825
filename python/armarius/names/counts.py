"""What is counted in documents to learn from: sums over documents; a changed one is taken out and put in again."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from armarius.names.forms import Forms
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
    TITLE,
    is_han,
)

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Tally"]

_HAN: Final = ord(HAN_LAST) - ord(HAN_FIRST) + 1


class Tally:
    """Counts over documents, for the names of some entities.

    Args:
        entities: As for `EntityMatcher`; those whose names cannot be matched are passed over.

    Attributes:
        entities: As given, but for those.
        characters: How often each Han character occurs.
        given: Han character to how often it stands behind a family name of the project.
        titled: (character, bare title behind it) to how often.
        counted: Name to how often it was counted as a thing.
        heads: (name counted as a thing, Han character behind it) to how often.
        followed: (name of a person, Han character behind it) to how often, counted as a thing or not.
        times: (entity id, name as written) to how often.
        usage: Of the short forms of names.
    """

    def __init__(self, entities: Iterable[object]) -> None:
        self.entities: Final = EntityMatcher.usable(entities)
        self._matcher: Final = EntityMatcher(self.entities)
        named = [(kind_of(entity), *names_of(entity)) for entity in self.entities]
        self._persons: Final = {entity_id for kind, entity_id, _ in named if kind == "person"}
        families = {names[0][0] for _, _, names in named if len(names[0]) in (2, 3) and is_han(names[0][0])}
        behind = f"[{''.join(sorted(families))}](?=([{HAN_FIRST}-{HAN_LAST}]))"
        self._given: Final = re.compile(behind) if families else None
        import numpy as np  # a tenth of a second, and only who counts needs it

        self._codes = np.zeros(_HAN, dtype=np.int64)
        self.given: Final = Counter[str]()
        self.titled: Final = Counter[tuple[str, str]]()
        self.counted: Final = Counter[str]()
        self.heads: Final = Counter[tuple[str, str]]()
        self.followed: Final = Counter[tuple[str, str]]()
        self.times: Final = Counter[tuple[str, str]]()
        self.usage: Final = Usage(Forms(self.entities))

    def add(self, texts: Sequence[str]) -> None:
        """Count documents.

        Cost: three searches of the texts (names, short forms, what was rejected) and a count of their characters, with
        all mentions of `texts` held at once; then a look at every mention. docs/decisions/0043 has figures.
        """
        self._count(texts, 1)

    def subtract(self, texts: Sequence[str]) -> None:
        """Take documents out again that were counted before.

        Cost: that of `add`, and one look at every count.
        """
        self._count(texts, -1)

    def occurrences(self, character: str) -> int:
        """How often a Han character occurs; 0 for any other."""
        return int(self._codes[ord(character) - ord(HAN_FIRST)]) if is_han(character) else 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it, without the entities."""
        import numpy as np

        present = np.flatnonzero(self._codes)
        codes = zip(present.tolist(), self._codes[present].tolist(), strict=True)
        characters = [[chr(code + ord(HAN_FIRST)), count] for code, count in codes]
        return {"characters": characters} | {name: _written(counter) for name, _, counter in self._counters()}

    @classmethod
    def from_dict(cls, entities: Iterable[object], value: dict[str, Any]) -> "Tally":
        """From what `to_dict` gave, for the same entities.

        Raises:
            KeyError, ValueError: It is something else.
        """
        tally = cls(entities)
        for (character,), count in _read(value["characters"], 1):
            if len(character) != 1 or not is_han(character):
                raise ValueError(f"no Han character: {character!r}")
            tally._codes[ord(character) - ord(HAN_FIRST)] = count
        for name, parts, counter in tally._counters():
            counter.update({key if parts > 1 else key[0]: count for key, count in _read(value[name], parts)})
        return tally

    def _counters(self) -> Iterator[tuple[str, int, "Counter[Any]"]]:
        """Each with its name and the number of parts of its keys."""
        for name in ("given", "counted"):
            yield name, 1, getattr(self, name)
        for name in ("titled", "heads", "followed", "times"):
            yield name, 2, getattr(self, name)
        yield "uses", 2, self.usage.uses
        yield "beside", 3, self.usage.beside

    def _count(self, texts: Sequence[str], sign: int) -> None:
        for text, mentions in zip(texts, self._matcher.find_batch(texts), strict=True):
            self._codes += sign * _han_of(text)
            if self._given is not None:
                for character in self._given.findall(text):
                    self.given[character] += sign
            self._mentions(text, mentions, sign)
            self.usage.look(text, mentions, sign)
            for rejection in self._matcher.explain(text):
                if rejection.reason == "counted as a thing":
                    self.counted[rejection.term] += sign
                    self._followed(rejection.term, text[rejection.end : rejection.end + 1], sign, counted=True)
        if sign < 0:
            for _, _, counter in self._counters():
                if 0 in counter.values():
                    for key in [key for key, count in counter.items() if not count]:
                        del counter[key]

    def _mentions(self, text: str, mentions: Sequence[Mention], sign: int) -> None:
        for mention in mentions:
            term = mention.term
            self.times[mention.entity_id, term] += sign
            if mention.entity_id in self._persons and is_han(term[-1]):
                self._followed(term, text[mention.end : mention.end + 1], sign, counted=False)
            if TITLE.issuperset(term) and is_han(before := text[max(0, mention.start - 1) : mention.start]):
                self.titled[before, term] += sign

    def _followed(self, term: str, head: str, sign: int, *, counted: bool) -> None:
        if is_han(head):
            self.followed[term, head] += sign
            if counted:
                self.heads[term, head] += sign


def _han_of(text: str) -> "np.ndarray[Any, np.dtype[np.int64]]":
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le", "replace"), dtype="<u4").astype(np.int64) - ord(HAN_FIRST)
    return np.bincount(codes[(codes >= 0) & (codes < _HAN)], minlength=_HAN)


def _written(counter: "Counter[Any]") -> list[list[str | int]]:
    """One row for each key: its parts, whatever characters they hold, and the count."""
    return [[*([key] if isinstance(key, str) else key), counter[key]] for key in sorted(counter)]


def _read(rows: object, parts: int) -> Iterator[tuple[tuple[str, ...], int]]:
    """What `_written` wrote of keys of so many parts; ValueError for anything else."""
    if not isinstance(rows, list):
        raise ValueError(f"no list of rows: {rows!r:.80}")
    for row in rows:
        if not isinstance(row, list) or [type(part) for part in row] != [str] * parts + [int]:
            raise ValueError(f"no row of {parts} names and a count: {row!r:.80}")
        yield tuple(row[:-1]), row[-1]
