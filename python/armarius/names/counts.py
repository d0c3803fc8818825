"""Counting documents to learn from, and sums of their counts."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from armarius.names.capitals import Capitals
from armarius.names.counted import HAN_PLACES, TABLES, Counts, han_of
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
    from armarius.names.counted import Numbers

__all__ = ["NameCounts", "Touched"]

_TITLE: Final = letters("han", "bare_titles")
_NUMBERS: Final = letters("han", "numbers")
_SHAPES: Final = letters("han", "shapes")


@dataclass(slots=True)
class Touched:
    """What of a sum may have changed.

    Attributes:
        characters: Han characters that occur oftener or less often.
        keys: Of each counter.
    """

    characters: set[str] = field(default_factory=set)
    keys: dict[str, set[Any]] = field(default_factory=lambda: {name: set() for name in TABLES})


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
        self._touched: Touched | None = None
        self._characters = np.zeros(HAN_PLACES, dtype=np.int64)
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
        """Put a document in, or the sum of several. Cost: one look at everything that was counted in it."""
        self.replace(_nothing(), counts)

    def subtract(self, counts: Counts) -> None:
        """Take a document out that was put in before. Cost: as `add`."""
        self.replace(counts, _nothing())

    def replace(self, old: Counts, new: Counts) -> None:
        """Put a document in the place of another that was put in before.

        Cost: a comparison of the two; what differs is looked at.
        """
        self._replace_characters(old.characters, new.characters)
        for name, total in self._sums.items():
            was, now = old.counters[name], new.counters[name]
            if dict.__eq__(was, now):
                continue
            if not total and not was and self._touched is None:
                dict.update(total, now)
                continue
            keys = {key for key, _ in was.items() ^ now.items()} if was else now.keys()
            for key in keys:
                left = total.get(key, 0) + now.get(key, 0) - was.get(key, 0)
                if left:
                    total[key] = left
                else:
                    total.pop(key, None)
            if self._touched is not None:
                self._touched.keys[name].update(keys)

    def watch(self) -> Touched:
        """What differs from now on, until somebody else watches: `is_told` says so."""
        self._touched = Touched()
        return self._touched

    def is_told(self, touched: Touched | None) -> bool:
        """Whether `touched` is told everything that changes."""
        return touched is not None and touched is self._touched

    def occurrences(self, character: str) -> int:
        """How often a Han character occurs; 0 for any other."""
        return int(self._characters[ord(character) - ord(HAN_FIRST)]) if is_han(character) else 0

    def _replace_characters(self, old: "tuple[Numbers, Numbers]", new: "tuple[Numbers, Numbers]") -> None:
        import numpy as np

        sums, watched = self._characters, np.concatenate((old[0], new[0])) if self._touched is not None else None
        before = None if watched is None else sums[watched]
        sums[old[0]] -= old[1]
        sums[new[0]] += new[1]
        if self._touched is not None and watched is not None:
            codes = watched[before != sums[watched]] + ord(HAN_FIRST)
            self._touched.characters.update(map(chr, codes.tolist()))

    def _count(self, text: str, mentions: Sequence[Mention]) -> Counts:
        counts = Counts(han_of(text))
        found = counts.counters
        if self._given is not None:
            found["given"].update(self._given.findall(text))
        named: list[tuple[str, str]] = []
        followed: list[tuple[str, str]] = []
        for mention in mentions:
            entity_id, term, start = mention.entity_id, mention.term, mention.start
            if entity_id not in self._persons:
                named.append((entity_id, term))
            else:
                counted = _is_counted(text, start)
                if counted:
                    found["counted"][term] += 1
                else:
                    named.append((entity_id, term))
                if HAN_FIRST <= term[-1] <= HAN_LAST:
                    end = mention.end
                    if HAN_FIRST <= (head := text[end : end + 1]) <= HAN_LAST:
                        followed.append((term, head))
                        if counted:
                            found["heads"][term, head] += 1
            if term[0] in _TITLE and _TITLE.issuperset(term) and is_han(before := text[max(0, start - 1) : start]):
                found["titled"][before, term] += 1
        found["times"].update(named)
        found["followed"].update(followed)
        self.usage.look(text, mentions, found["uses"], found["beside"])
        self.kinship.look(text, mentions, found["alone"], found["led"])
        self.capitals.look(text, mentions, found["joined"])
        return counts


def _is_counted(text: str, start: int) -> bool:
    """一块宝玉: behind a number and a measure word that counts things by their shape."""
    return start > 1 and text[start - 1] in _SHAPES and text[start - 2] in _NUMBERS


def _nothing() -> Counts:
    return Counts(han_of(""))
