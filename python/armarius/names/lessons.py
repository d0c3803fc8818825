"""What a sum of counts has taught, kept by what it was read off and looked at again where that has changed."""

from collections import defaultdict
from collections.abc import Set as AbstractSet
from typing import Final

from armarius.names.counts import NameCounts, Touched
from armarius.names.derived import DerivedNames, short_names, titled_names
from armarius.names.lexicon import letters
from armarius.text.name_model import LongerName

__all__ = ["Derived", "Titles"]

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
