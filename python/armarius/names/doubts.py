"""Doubtful aliases of a cast: rare names that are other words, names counted as things, and what the others say."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from armarius.names.counts import NameCounts, Touched
from armarius.names.lexicon import letters
from armarius.text.name_model import DoubtfulAlias
from armarius.text.scripts import is_han

__all__ = ["Doubts"]

_TITLE: Final = letters("han", "bare_titles")
# An alias this rare among an entity's mentions, without a character of its usual name, is seldom the entity.
_RARE: Final = 0.05
# A name counted as a thing so often, and oftener than not, is a thing's.
_COUNTED: Final = 3
_TWICE: Final = 2  # once is chance
# Fewer mentions of an entity say nothing about what is usual.
_ENOUGH: Final = 40


class Doubts:
    """What a sum says of aliases that are no derived names.

    Args:
        tally: The sum.
    """

    def __init__(self, tally: NameCounts) -> None:
        self._tally: Final = tally
        self._times: Final[defaultdict[str, dict[str, int]]] = defaultdict(dict)  # by entity, then name as written
        self._owners: Final[defaultdict[str, set[str]]] = defaultdict(set)  # of a name as written
        self._rows: Final[defaultdict[str, list[int]]] = defaultdict(list)  # of `tally.named`, by entity
        for at, (_, entity_id, _) in enumerate(tally.named):
            self._rows[entity_id].append(at)
        self._of_row: Final[dict[int, list[DoubtfulAlias]]] = {}
        self._capitals: list[DoubtfulAlias] = []
        self._company: list[DoubtfulAlias] = []

    def update(self, touched: Touched | None) -> bool:
        """Look again at what has changed, None for everything; whether the doubts are others now."""
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
        """Every doubt; the last one about an alias is the one that holds."""
        yield from self._capitals
        yield from self._company
        for at in sorted(self._of_row):
            yield from self._of_row[at]

    def _touched_rows(self, times: Iterable[tuple[str, str]]) -> set[int]:
        """Bring what is counted of each entity up to date; the rows of those of whom that says something else."""
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
        """珍珠, 鹦哥: a rare name that has nothing of the usual one in it."""
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
        if kind != "person" or total < _ENOUGH or not uses:  # no uses: only ever counted as a thing
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
    """Two Han characters, none of the usual names', no title, no diminutive (颦儿): those address somebody."""
    if len(alias) != 2 or not is_han(alias) or alias.endswith("儿"):
        return False
    return not set(alias) & (set(name) | set(usual) | _TITLE - {"哥"})
