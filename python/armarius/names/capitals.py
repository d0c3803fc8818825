"""Names with capitals: which of them the prose also writes small, as words, and which are parts of longer names."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from armarius.names.lexicon import words
from armarius.names.western import untitled
from armarius.text.folding import caseless
from armarius.text.matcher import Mention
from armarius.text.name_model import DoubtfulAlias, LongerName

__all__ = ["Capitals", "lacks_capitals"]

# A name written small this often is also a word; fewer may be slips.
_SMALL: Final = 3
# Where so many usual names, used so often, are never written small but for one in ten, one small word is no slip.
_NAMES: Final = 3
_USES: Final = 5
_CAREFUL: Final = 0.9
_AFTER: Final = re.compile(r"[ ]([A-Z][\w’'-]+)")


class Capitals:
    """The names of a cast that are written with capitals.

    Args:
        named: Kind, id and names of each entity, as `kind_of` and `names_of` give them.
    """

    def __init__(self, named: Sequence[tuple[str, str, Sequence[str]]]) -> None:
        self._named: Final = named
        self._rows: dict[str, list[int]] = {}
        # What follows is of the names that the prose has: a cast may be a hundred times as large.
        self._parts: Final[dict[str, frozenset[str] | None]] = {}
        self._looked_up: Final[set[str]] = set()
        self._spellings: Final[defaultdict[str, list[str]]] = defaultdict(list)
        self._owner: Final[dict[str, str]] = {}

    def look(self, text: str, mentions: Sequence[Mention], joined: Counter[Any]) -> None:
        """Count the words with a capital behind a name that are no part of any of its entity's names."""
        for mention in mentions:
            if not mention.term[-1].isascii():
                continue
            parts = self._parts_of(mention.entity_id)
            if parts is None:
                continue
            following = _AFTER.match(text, mention.end)
            if following is None or _plain(following[1]) in parts or _plain(following[1]) in words("latin", "suffixes"):
                continue
            if not text.startswith("#", text.rfind("\n", 0, mention.start) + 1):
                joined[mention.term, following[1].removesuffix("’s").removesuffix("'s")] += 1

    def longer(self, joined: Counter[tuple[str, str]]) -> Iterator[LongerName]:
        """London Bridge is not London, John Hart not the John of the story."""
        for (term, word), count in sorted(joined.items()):
            yield LongerName(f"{term} {word}", term, f"{term} {word} occurs {count} times: another name")

    def doubtful(self, times: Counter[tuple[str, str]]) -> Iterator[DoubtfulAlias]:
        """Will, Hope, the Castle: what edited prose writes small is another word, however the list of names has it."""
        self._look_up({caseless(term) for _, term in times})
        capital, small = Counter[str](), Counter[str]()
        for (_, term), count in times.items():
            folded = caseless(term)
            spellings = self._spellings.get(folded, ())
            lacking = spellings and all(spelled != term and lacks_capitals(spelled, term) for spelled in spellings)
            written = small if lacking else capital
            written[folded] = written.get(folded, 0) + count
        usual: dict[str, str] = {}
        for folded in sorted(capital):
            owner = self._owner.get(folded)
            if owner is not None and self._spellings[folded][0][:1].isupper():
                usual[owner] = max(usual.get(owner, folded), folded, key=lambda one: (capital[one], one))
        often = [one for one in usual.values() if capital[one] >= _USES]
        careful = len(often) >= _NAMES and sum(not small[one] for one in often) >= _CAREFUL * len(often)
        for folded in sorted(small):
            if small[folded] >= (1 if careful else _SMALL):
                alias = self._spellings[folded][0]
                why = f"{alias.lower()} occurs {small[folded]} times, {alias} {capital[folded]} times"
                rule = "capital" if small[folded] >= _SMALL else "case"
                yield DoubtfulAlias(alias, self._owner[folded], rule, alias, why)  # type: ignore[arg-type]

    def heeds(self, terms: Iterable[str]) -> bool:
        """Whether `doubtful` can depend on how often these are written: not where no spelling has a capital."""
        folded = {caseless(term) for term in terms}
        self._look_up(folded)
        return any(char.isupper() for key in folded for one in self._spellings.get(key, ()) for char in one)

    def _parts_of(self, entity_id: str) -> frozenset[str] | None:
        """The words of an entity's names; None where one that they lack may be the family name of a person."""
        if entity_id not in self._parts:
            found = None
            if not self._rows:
                for at, (_, one, _) in enumerate(self._named):
                    self._rows.setdefault(one, []).append(at)
            for kind, _, names in (self._named[at] for at in self._rows.get(entity_id, ())):
                if kind != "person" or any(len(untitled(name)) > 1 for name in names):
                    found = frozenset(_plain(word) for name in names for word in name.split())
            self._parts[entity_id] = found
        return self._parts[entity_id]

    def _look_up(self, folded: set[str]) -> None:
        """How these names are spelled and whose they are."""
        new = folded - self._looked_up
        if not new:
            return
        self._looked_up.update(new)
        for _, entity_id, names in self._named:
            for name in names:
                bare = name.strip()
                key = caseless(bare)
                if key in new:
                    self._spellings[key].append(bare)
                    self._owner[key] = entity_id


def lacks_capitals(spelled: str, written: str) -> bool:
    """Whether a capital of the spelling, but for its article's, is small in the text; as in ambiguity.rs."""
    article = 4 if spelled.startswith("The ") else 0
    pairs = zip(spelled[article:], written[article:], strict=False)
    return any(one.isupper() and other.islower() for one, other in pairs)


def _plain(word: str) -> str:
    return word.lower().strip(".,").removesuffix("’s").removesuffix("'s")
