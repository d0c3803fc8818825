"""Rules that turn counts into a name model.

docs/decisions/0011 has the gain of each rule per book, and its errors.
"""

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from armarius.names.counts import Doubts, NameCounts, Touched
from armarius.names.derived import DerivedNames, short_names, titled_names
from armarius.names.words import letters
from armarius.text.name_model import LongerName, NameModel

_FUNCTION: Final = letters("han", "function")
# Share of a character's occurrences with a title behind it, from which it is a given name before a title.
_BOUND_TO_TITLE: Final = 0.10
_TWICE: Final = 2  # once is chance


class Titles:
    """Titles of other persons: 璜大奶奶, a bare title behind a given name that rarely occurs without it.

    Args:
        tally: The sum.

    Attributes:
        longer: By given name and title.
    """

    def __init__(self, tally: NameCounts) -> None:
        self._tally: Final = tally
        self._behind: Final[defaultdict[str, set[str]]] = defaultdict(set)  # titles behind each character
        self.longer: Final[dict[tuple[str, str], LongerName]] = {}

    def update(self, touched: Touched | None) -> bool:
        """Update for changed keys (None: all); whether the names have changed."""
        keys = set(self._tally.titled) if touched is None else touched.keys["titled"].copy()
        for character, title in keys:
            self._behind[character].add(title)
        if touched is not None:
            for character in (touched.characters | touched.keys["given"]) & self._behind.keys():
                keys.update((character, title) for title in self._behind[character])
        changed = False
        for key in keys:
            before, found = self.longer.pop(key, None), self._longer(*key)
            if found is not None:
                self.longer[key] = found
            changed |= before != found
        return changed

    def _longer(self, character: str, title: str) -> LongerName | None:
        tally = self._tally
        count = tally.titled.get((character, title), 0)
        if count < _TWICE or character not in tally.given or character in _FUNCTION:
            return None
        share = count / tally.occurrences(character)
        if share < _BOUND_TO_TITLE:
            return None
        because = f"{character}{title} occurs {count} times, {share:.0%} of all {character}: somebody else's title"
        return LongerName(character + title, title, because.replace("%", " %"))


class Derived:
    """Decisions about short forms of names.

    Args:
        tally: The sum.
    """

    def __init__(self, tally: NameCounts) -> None:
        self._usage: Final = tally.usage
        self._of_text: Final[dict[str, DerivedNames]] = {}
        self._titled = DerivedNames()

    def update(self, touched: Touched | None) -> bool:
        """Update for changed keys (None: all); whether a decision has changed."""
        forms = self._usage.forms
        texts: AbstractSet[str] = forms.by_text.keys()
        titled = True
        if touched is not None:
            seen = {key[0] for name in ("uses", "neighbors") for key in touched.keys[name]}
            texts, titled = texts & seen, not seen.isdisjoint(forms.titled)
        neighbors: defaultdict[str, dict[tuple[str, str], int]] = defaultdict(dict)
        for (text, side, word), count in self._usage.neighbors.items() if texts else ():
            neighbors[text][side, word] = count
        changed = False
        for text in texts:
            before = self._of_text.get(text)
            found = self._of_text[text] = short_names(self._usage, text, neighbors[text])
            changed |= before != found
        if titled:
            before, self._titled = self._titled, titled_names(self._usage)
            changed |= before != self._titled
        return changed

    def whole(self) -> DerivedNames:
        """All decisions, by text; family names with titles last."""
        found = DerivedNames()
        for one in [*(self._of_text[text] for text in sorted(self._of_text)), self._titled]:
            found.short += one.short
            found.refused += one.refused
            found.longer += one.longer
            found.doubtful += one.doubtful
        return found


# Count from which a character behind an alias that is counted as a thing heads a compound (鸳鸯剑).
_BOUND_TO_THING: Final = 0.05


def learn_names(entities: Iterable[object], texts: Iterable[str]) -> NameModel:
    """Learn a name model from documents.

    Chinese rules apply only to entities with the `type` of a person or a thing.

    Args:
        entities: As for `EntityMatcher`.
        texts: Whole documents; their order does not matter.

    Returns:
        The model, sorted by text, then alias.

    Cost: as `NameCounts.count`.
    """
    tally = NameCounts(entities)
    for counts in tally.count(list(texts)):
        tally.add(counts)
    return model_of(tally)


def model_of(tally: NameCounts, lessons: "Lessons | None" = None) -> NameModel:
    """The model of counts; depends on nothing else.

    Args:
        tally: The counts.
        lessons: Saved results for these counts, updated incrementally; None computes all.
    """
    return (lessons or Lessons(tally)).model()


class Lessons:
    """The rules' results for a sum of counts, updated incrementally.

    Args:
        tally: The sum.
    """

    def __init__(self, tally: NameCounts) -> None:
        self._tally: Final = tally
        self._touched: Touched | None = None
        self._model = NameModel()
        self._names = DerivedNames()
        self._longer: tuple[list[LongerName], list[LongerName]] = ([], [])
        self._forget()

    def model(self) -> NameModel:
        """The current model; the same object when nothing has changed.

        Cost: linear in the changed keys; in all keys the first time, or when another caller watched the sum.
        """
        touched, self._touched = self._touched, None  # invalid until every rule is updated
        if not self._tally.is_watched_by(touched):
            touched = None
            self._forget()
        seen = self._tally.watch()
        before, self._longer = self._longer, self._beside(touched)
        others = before != self._longer
        others |= self._titles.update(touched)
        others |= self._doubts.update(touched)
        if self._derived.update(touched):
            others, self._names = True, self._derived.whole()
        if others:
            self._model = self._whole()
        self._touched = seen
        return self._model

    def _forget(self) -> None:
        tally = self._tally
        self._titles, self._doubts, self._derived = Titles(tally), Doubts(tally), Derived(tally)
        self._names, self._longer, self._model = DerivedNames(), ([], []), NameModel()

    def _beside(self, touched: Touched | None) -> tuple[list[LongerName], list[LongerName]]:
        """Longer names around listed names, and compounds."""
        same = touched is not None and not touched.keys["joined"] and not touched.keys["led"]
        return self._longer[0] if same else _joined(self._tally), _compounds(self._tally)

    def _whole(self) -> NameModel:
        names, (joined, compounds) = self._names, self._longer
        longer = {one.text: one for one in [*names.longer, *joined, *self._titles.longer.values(), *compounds]}
        doubtful = {one.alias: one for one in [*names.doubtful, *self._doubts.rows()]}
        return NameModel(
            longer=tuple(longer[text] for text in sorted(longer)),
            doubtful=tuple(doubtful[alias] for alias in sorted(doubtful)),
            short=tuple(sorted(names.short, key=lambda one: (one.text, one.entity_id))),
            refused=tuple(sorted(names.refused, key=lambda one: one.text)),
        )


def _joined(tally: NameCounts) -> list[LongerName]:
    """A listed name that an adjacent word makes a different name: London Bridge, 李老太太."""
    return [*tally.capitals.longer(tally.joined), *tally.kinship.longer(tally.led)]


def _compounds(tally: NameCounts) -> list[LongerName]:
    """Compounds of aliases that are counted as things: 一把鸳鸯剑."""
    longer = []
    for alias, head in sorted(tally.heads):
        word, count = alias + head, tally.followed[alias, head]
        if count < _TWICE:
            continue
        share = count / tally.occurrences(head)
        if share >= _BOUND_TO_THING:
            because = f"{word} occurs {count} times, {share:.0%} of all {head}, counted as a thing"
            longer.append(LongerName(word, alias, because.replace("%", " %")))
    return longer
