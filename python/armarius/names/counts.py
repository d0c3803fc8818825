"""Counts of names in documents, and their sums."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import armarius._core as _core
from armarius.names.people import Kinship, person_of
from armarius.names.usage import Capitals, Forms, Usage
from armarius.names.words import letters
from armarius.text.matcher import (
    EntityMatcher,
    Mention,
    kind_of,
    names_of,
)
from armarius.text.name_model import DoubtfulAlias
from armarius.text.unicode import (
    HAN_FIRST,
    HAN_LAST,
    is_han,
)

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

# Name of each counter and the number of parts of its keys; documented in `NameCounts`.
TABLES: Final = {
    "given": 1, "counted": 1, "titled": 2, "heads": 2, "followed": 2, "times": 2, "uses": 2, "neighbors": 3,
    "alone": 2, "led": 2, "joined": 2,
}  # fmt: skip
_PARTS: Final = list(TABLES.values())
HAN_PLACES: Final = ord(HAN_LAST) - ord(HAN_FIRST) + 1


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts in one document, or in several added up, for the names of one cast.

    Attributes:
        characters: Two int64 arrays: code points of Han characters relative to the first one, ascending, and their
            counts.
        counters: By name, as the attributes of `NameCounts`; without zeros.
    """

    characters: "tuple[Numbers, Numbers]"
    counters: dict[str, Counter[Any]] = field(default_factory=lambda: {name: Counter() for name in TABLES})

    def to_bytes(self) -> bytes:
        """Serialise for an index, without the cast. About 4 KB for a chapter of 7,000 characters."""
        places, times = (row.astype("<u4").tobytes() for row in self.characters)
        return _core.pack_name_counts(places, times, [self.counters[name] for name in TABLES], _PARTS)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Counts":
        """Read the bytes of `to_bytes`.

        Raises:
            ValueError: The bytes are invalid.
        """
        counts, (sound,) = cls.added([data])
        if not sound:
            raise ValueError("no counts of a document, or damaged ones")
        return counts

    @classmethod
    def added(cls, rows: Sequence[bytes]) -> "tuple[Counts, list[bool]]":
        """The sum of rows of `to_bytes`, and whether each row is valid; invalid ones add nothing.

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
    codes.sort(kind="stable")  # radix sort for two-byte integers
    ends = np.flatnonzero(np.append(codes[1:] != codes[:-1], True))
    return codes[ends].astype(np.int64), np.diff(ends, prepend=-1)


_TITLE: Final = letters("han", "bare_titles")
_NUMBERS: Final = letters("han", "numbers")
_SHAPES: Final = letters("han", "shapes")


@dataclass(slots=True)
class Touched:
    """Keys of a sum that may have changed.

    Attributes:
        characters: Han characters with a changed count.
        keys: Changed keys of each counter.
    """

    characters: set[str] = field(default_factory=set)
    keys: dict[str, set[Any]] = field(default_factory=lambda: {name: set() for name in TABLES})


class NameCounts:
    """Sums of counts over documents, for the names of some entities.

    Args:
        entities: As for `EntityMatcher`; entities with invalid names are skipped.
        matcher: A matcher of these entities (all valid) without a name model; None builds one.

    Attributes:
        entities: The valid ones, as given.
        named: Kind, id and names of each.
        given: Han character to its count behind a family name of the project.
        titled: (character, bare title behind it) to count.
        counted: Name to its count behind a number and a measure word (a thing).
        heads: (name counted as a thing, Han character behind it) to count.
        followed: (name of a person, Han character behind it) to count, in all uses.
        times: (entity id, name as written) to count.
        alone: (entity id, kin term or title) to its count outside its company (`Kinship`).
        led: (kin term or title, preceding word that changes its owner) to count.
        joined: (name, capitalised word behind it) to count (`Capitals`).
        usage: Counts of short forms: `uses` and `neighbors`.
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
            "followed": self.followed, "times": self.times, "uses": self.usage.uses, "neighbors": self.usage.neighbors,
            "alone": self.alone, "led": self.led, "joined": self.joined,
        }  # fmt: skip

    def count(self, texts: Sequence[str]) -> list[Counts]:
        """Count documents, each separately; does not change the sums.

        Cost: two searches of the texts (names, short forms), a count of characters, and one step per mention; all
        mentions are in memory at once. docs/decisions/0043 has figures.
        """
        return [self._count(*one) for one in zip(texts, self._matcher.find_batch(texts), strict=True)]

    def add(self, counts: Counts) -> None:
        """Add the counts of one document or of several. Cost: linear in the number of keys."""
        self.replace(_nothing(), counts)

    def subtract(self, counts: Counts) -> None:
        """Remove the counts of a document that was added. Cost: as `add`."""
        self.replace(counts, _nothing())

    def replace(self, old: Counts, new: Counts) -> None:
        """Replace the counts of a document that was added. Cost: a comparison of the two."""
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
        """Collect changes from now on, until another caller watches (see `is_watched_by`)."""
        self._touched = Touched()
        return self._touched

    def is_watched_by(self, touched: Touched | None) -> bool:
        """Whether `touched` collects all changes."""
        return touched is not None and touched is self._touched

    def occurrences(self, character: str) -> int:
        """The count of a Han character; 0 for other characters."""
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
        self.usage.look(text, mentions, found["uses"], found["neighbors"])
        self.kinship.look(text, mentions, found["alone"], found["led"])
        self.capitals.look(text, mentions, found["joined"])
        return counts


def _is_counted(text: str, start: int) -> bool:
    """Whether a number and a measure word for things stand before it: 一块宝玉."""
    return start > 1 and text[start - 1] in _SHAPES and text[start - 2] in _NUMBERS


def _nothing() -> Counts:
    return Counts(han_of(""))


# An alias with a smaller share of an entity's mentions, and no character of its usual name, is doubtful.
_RARE: Final = 0.05
# A name counted as a thing so often, and oftener than not, is a thing's.
_COUNTED: Final = 3
_TWICE: Final = 2  # once is chance
# Fewer mentions of an entity do not show its usual name.
_ENOUGH: Final = 40


class Doubts:
    """Doubtful aliases among the listed names, from a sum of counts.

    Args:
        tally: The sum.
    """

    def __init__(self, tally: NameCounts) -> None:
        self._tally: Final = tally
        self._times: Final[defaultdict[str, dict[str, int]]] = defaultdict(dict)  # by entity, then by name as written
        self._owners: Final[defaultdict[str, set[str]]] = defaultdict(set)  # of a name as written
        self._rows: Final[defaultdict[str, list[int]]] = defaultdict(list)  # of `tally.named`, by entity
        for at, (_, entity_id, _) in enumerate(tally.named):
            self._rows[entity_id].append(at)
        self._of_row: Final[dict[int, list[DoubtfulAlias]]] = {}
        self._capitals: list[DoubtfulAlias] = []
        self._company: list[DoubtfulAlias] = []

    def update(self, touched: Touched | None) -> bool:
        """Update for changed keys (None: all); whether the doubts have changed."""
        tally = self._tally
        times = tally.times.keys() if touched is None else touched.keys["times"]
        things = touched is None or bool(touched.keys["counted"])
        rows: Iterable[int] = self._touched_rows(times)
        changed = False
        if times and (touched is None or tally.capitals.heeds(term for _, term in times)):
            before, self._capitals = self._capitals, list(tally.capitals.doubtful(tally.times))
            changed |= before != self._capitals
        if touched is None or touched.keys["alone"] or not times.isdisjoint(tally.alone):
            before, self._company = self._company, list(tally.kinship.doubtful(tally.times, tally.alone))
            changed |= before != self._company
        for at in range(len(tally.named)) if things else rows:
            before, found = self._of_row.pop(at, []), self._doubts_of(*tally.named[at])
            if found:
                self._of_row[at] = found
            changed |= before != found
        return changed

    def rows(self) -> Iterator[DoubtfulAlias]:
        """All doubts; the last one about an alias applies."""
        yield from self._capitals
        yield from self._company
        for at in sorted(self._of_row):
            yield from self._of_row[at]

    def _touched_rows(self, times: Iterable[tuple[str, str]]) -> set[int]:
        """Update the counts of each entity; the rows of entities with changed counts."""
        ids = set[str]()
        for entity_id, term in times:
            ids.add(entity_id)
            count = self._tally.times.get((entity_id, term), 0)
            if count:
                self._times[entity_id][term] = count
            else:
                self._times[entity_id].pop(term, None)
            owners = self._owners[term]
            if (entity_id in owners) != bool(count):
                ids |= owners
                (owners.add if count else owners.discard)(entity_id)
        return {at for entity_id in ids for at in self._rows.get(entity_id, ())}

    def _doubts_of(self, kind: str, entity_id: str, names: "list[str]") -> list[DoubtfulAlias]:
        """Doubts about rare aliases that share no character with the usual name: 珍珠, 鹦哥."""
        uses, things = self._times.get(entity_id, {}), self._tally.counted
        if not uses and things.keys().isdisjoint(names):
            return []
        doubtful: dict[str, DoubtfulAlias] = {}
        for alias in names:
            counted = things.get(alias, 0)
            if counted >= _COUNTED and counted > uses.get(alias, 0):
                because = f"counted as a thing {counted} of {counted + uses.get(alias, 0)} times"
                doubtful[alias] = DoubtfulAlias(alias, entity_id, "word", alias, because)
        total = sum(uses.values()) + sum(things.get(name, 0) for name in names)
        if kind != "person" or total < _ENOUGH or not uses:  # no uses: always counted as a thing
            return list(doubtful.values())
        usual = max(uses, key=lambda name: (uses[name], name))
        for alias in sorted(uses):
            rare = uses[alias] <= _RARE * total
            if rare and self._owners[alias] == {entity_id} and _is_another_word(alias, names[0], usual):
                share = f"{uses[alias]} of {total} mentions, usually {usual}".replace("%", " %")
                word = things.get(alias, 0) >= _TWICE
                because = f"{share}; counted as a thing {things[alias]} times" if word else share
                doubtful[alias] = DoubtfulAlias(alias, entity_id, "word" if word else "beside", usual, because)
        return list(doubtful.values())


def _is_another_word(alias: str, name: str, usual: str) -> bool:
    """Whether it is two Han characters, not of a usual name, without title or diminutive (颦儿)."""
    if len(alias) != 2 or not is_han(alias) or alias.endswith("儿"):
        return False
    return not set(alias) & (set(name) | set(usual) | _TITLE - {"哥"})
