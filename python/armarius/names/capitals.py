"""Names with capitals: which of them the prose also writes small, as words, and which are parts of longer names."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from armarius.names.lexicon import words
from armarius.names.western import untitled
from armarius.text.matcher import Mention, kind_of, names_of
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
        entities: As for `EntityMatcher`, all of whose names can be matched.
    """

    def __init__(self, entities: Sequence[object]) -> None:
        self._spellings: Final[defaultdict[str, list[str]]] = defaultdict(list)
        self._owner: Final[dict[str, str]] = {}
        self._parts: Final[dict[str, frozenset[str]]] = {}
        for entity in entities:
            entity_id, names = names_of(entity)
            for name in names:
                self._spellings[name.strip().lower()].append(name.strip())
                self._owner[name.strip().lower()] = entity_id
            parts = [_plain(word) for name in names for word in name.split()]
            full = kind_of(entity) != "person" or any(len(untitled(name)) > 1 for name in names)
            if full:  # without a family name in the profile, a word behind the name may be it
                self._parts[entity_id] = frozenset(parts)

    def look(self, text: str, mentions: Sequence[Mention], joined: Counter[Any]) -> None:
        """Count the words with a capital behind a name that are no part of any of its entity's names."""
        for mention in mentions:
            parts = self._parts.get(mention.entity_id)
            if parts is None or not mention.term[-1].isascii():
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
        capital, small = Counter[str](), Counter[str]()
        for (_, term), count in times.items():
            spellings = self._spellings.get(term.lower(), ())
            lacking = spellings and all(lacks_capitals(spelled, term) for spelled in spellings)
            written = small if lacking else capital
            written[term.lower()] += count
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


def lacks_capitals(spelled: str, written: str) -> bool:
    """Whether a capital of the spelling, but for its article's, is small in the text; as in ambiguity.rs."""
    article = 4 if spelled.startswith("The ") else 0
    pairs = zip(spelled[article:], written[article:], strict=False)
    return any(one.isupper() and other.islower() for one, other in pairs)


def _plain(word: str) -> str:
    return word.lower().strip(".,").removesuffix("’s").removesuffix("'s")
