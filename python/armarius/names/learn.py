"""From what was counted to what is learnt.

docs/decisions/0011 has what each rule pays on which book, and what it may get wrong.
"""

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from armarius.names.counts import Doubts, NameCounts, Touched
from armarius.names.derived import DerivedNames, short_names, titled_names
from armarius.names.words import letters
from armarius.text.name_model import LongerName, NameModel

__all__ = ["Derived", "Lessons", "Titles", "learn_names", "model_of"]

_FUNCTION: Final = letters("han", "function")
# A character that is followed by a title this often exists for it: a given name in front of a title.
_BOUND_TO_TITLE: Final = 0.10
_TWICE: Final = 2  # once is chance


class Titles:
    """璜大奶奶: a bare title behind a given name that hardly occurs otherwise is that person's title.

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
        """Look again at what has changed, None for everything; whether the names are others now."""
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
    """What was decided about the short forms of names.

    Args:
        tally: The sum.
    """

    def __init__(self, tally: NameCounts) -> None:
        self._usage: Final = tally.usage
        self._of_text: Final[dict[str, DerivedNames]] = {}
        self._titled = DerivedNames()

    def update(self, touched: Touched | None) -> bool:
        """Look again at what has changed, None for everything; whether what was decided is something else now."""
        forms = self._usage.forms
        texts: AbstractSet[str] = forms.by_text.keys()
        titled = True
        if touched is not None:
            seen = {key[0] for name in ("uses", "beside") for key in touched.keys[name]}
            texts, titled = texts & seen, not seen.isdisjoint(forms.titled)
        beside: defaultdict[str, dict[tuple[str, str], int]] = defaultdict(dict)
        for (text, side, word), count in self._usage.beside.items() if texts else ():
            beside[text][side, word] = count
        changed = False
        for text in texts:
            before = self._of_text.get(text)
            found = self._of_text[text] = short_names(self._usage, text, beside[text])
            changed |= before != found
        if titled:
            before, self._titled = self._titled, titled_names(self._usage)
            changed |= before != self._titled
        return changed

    def whole(self) -> DerivedNames:
        """All of it, by text; family names with titles last."""
        found = DerivedNames()
        for one in [*(self._of_text[text] for text in sorted(self._of_text)), self._titled]:
            found.short += one.short
            found.refused += one.refused
            found.longer += one.longer
            found.doubtful += one.doubtful
        return found


# A character that follows an alias this often, the alias being counted as a thing, heads a compound (鸳鸯剑).
_BOUND_TO_THING: Final = 0.05


def learn_names(entities: Iterable[object], texts: Iterable[str]) -> NameModel:
    """Learn from documents which aliases are parts of longer names and which are plain words.

    Chinese habits are learnt only about entities whose `type` says that they are persons or things.

    Args:
        entities: As for `EntityMatcher`.
        texts: Whole documents, in any order; the answer does not depend on it.

    Returns:
        Habits, sorted by text, then alias.

    Cost: that of `NameCounts.count`.
    """
    tally = NameCounts(entities)
    for counts in tally.count(list(texts)):
        tally.add(counts)
    return model_of(tally)


def model_of(tally: NameCounts, lessons: "Lessons | None" = None) -> NameModel:
    """What the counts teach; a function of the counts alone.

    Args:
        tally: The counts.
        lessons: What these counts taught when they were last asked; None looks at all of them.
    """
    return (lessons or Lessons(tally)).model()


class Lessons:
    """What a sum of counts has taught, brought up to date with it: each rule looks again at what has changed.

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
        """What the sum teaches now; the very model of last time where nothing of it is otherwise.

        Cost: of what has changed in the sum; a look at all of it the first time, or where somebody else has watched it.
        """
        touched, self._touched = self._touched, None  # until every rule has been brought up to date
        if not self._tally.is_told(touched):
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
        """Listed names that are longer with the word beside them, and compounds."""
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
    """London Bridge, 李老太太: a listed name with a word beside it that makes it another."""
    return [*tally.capitals.longer(tally.joined), *tally.kinship.longer(tally.led)]


def _compounds(tally: NameCounts) -> list[LongerName]:
    """一把鸳鸯剑: what is counted as a thing is one, and so is the word that it heads."""
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
