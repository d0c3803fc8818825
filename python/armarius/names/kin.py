"""Kin terms and titles that somebody is called by (老太太, 二姑娘): in whose company, and behind which words not."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from armarius.names.chinese import split_name
from armarius.names.lexicon import letters, words
from armarius.names.people import Person
from armarius.text.matcher import Mention
from armarius.text.name_model import DoubtfulAlias, LongerName
from armarius.text.scripts import is_han

__all__ = ["Kinship"]

# A term outside its company in this share of its occurrences is other people's too, if both are seen so often.
_SHARED: Final = 0.1
_OFTEN: Final = 3
# Code points before a term in which its company may stand; `FAR` of rust/matching/ambiguity.rs, in bytes there.
_FAR: Final = 10_922
_RANKS: Final = frozenset("二三四五六七八九堂表")
_THEIRS: Final = ("他的", "她的", "他", "她")


class Kinship:
    """The kin terms and titles of a cast.

    Args:
        people: Of the cast, all of whose names can be matched.

    Attributes:
        owners: Term to the only person who is called so.
        company: Term to names one of which stands near it where that person is meant: their own, those of the people
            their profile names and of those whose profiles name them. Not for the narrator's people: "I" is everywhere.
    """

    def __init__(self, people: Sequence[Person]) -> None:
        last = letters("han", "relational") | letters("han", "respectful")  # how what somebody is called by ends
        called = Counter(name for person in people for name in person.names if name[-1:] in last)
        telling = [person for person in people if person.said]
        by_id = {person.id: person for person in people}
        proper = cache(lambda id_: frozenset(_proper(by_id[id_])))  # of few, in a large cast
        self.owners: Final[dict[str, Person]] = {}
        self.company: Final[dict[str, tuple[str, ...]]] = {}
        self._own: Final[dict[str, tuple[bool, frozenset[str]]]] = {}  # of the terms that the prose has
        for person in people:
            ending = [name for name in person.names if name[-1:] in last]
            terms = [name for name in ending if called[name] == 1 and (_is_term(name) or _is_respectful(name))]
            self.owners.update((term, person) for term in terms)
            if not terms or _is_narrators(person):
                continue
            near = set(proper(person.id))
            for other in people if person.said else telling:
                told = bool(person.said) and any(name in person.said for name in proper(other.id))
                if told or any(name in other.said for name in proper(person.id)):
                    near |= proper(other.id)
            if near:
                self.company.update((term, tuple(sorted(near - {term}))) for term in terms)

    def look(self, text: str, mentions: Sequence[Mention], alone: Counter[Any], led: Counter[Any]) -> None:
        """Count one document: terms outside their company, and terms behind a word that makes them another's."""
        for mention in mentions:
            term = mention.term
            if term not in self.owners:
                continue
            lead = self._lead(term, text[max(0, mention.start - 3) : mention.start])
            if lead:
                led[term, lead] += 1
            elif term in self.company and not _in_company(text, mention, self.company[term]):
                alone[mention.entity_id, term] += 1

    def longer(self, led: Counter[tuple[str, str]]) -> Iterator[LongerName]:
        """李老太太, 堂伯父, the narrator's 他伯父: not who is called so without that word."""
        verbs = letters("han", "verbs_that_are_surnames")
        for (term, lead), count in sorted(led.items()):
            if lead not in verbs:
                yield LongerName(lead + term, term, f"{lead}{term} occurs {count} times: somebody else")

    def doubtful(self, times: Counter[tuple[str, str]], alone: Counter[tuple[str, str]]) -> Iterator[DoubtfulAlias]:
        """Terms that the prose uses of others too."""
        for (entity_id, term), count in sorted(alone.items()):
            total = times[entity_id, term]
            if min(count, total - count) >= _OFTEN and count > _SHARED * total:
                because = f"{count} of {total} times without anybody who belongs to {self.owners[term].names[0]}"
                yield DoubtfulAlias(term, entity_id, "company", "\n".join(self.company[term]), because)

    def _lead(self, term: str, before: str) -> str:
        """What stands before a term and makes it somebody else's; "" for nothing."""
        last = before[-1:]
        narrators, own = self._own_letters(term)
        if narrators:
            for word in _THEIRS:
                if before.endswith(word):
                    return word
        if last in _RANKS:
            return last
        family = last in letters("han", "surnames") and last not in letters("han", "function")
        # 禀明老太太: only where a clause begins is such a character sure to be a family name.
        return last if last and family and last not in own and not is_han(before[-2:-1]) else ""

    def _own_letters(self, term: str) -> tuple[bool, frozenset[str]]:
        """Whether who is called so is the narrator's, and what the names of these people begin with."""
        known = self._own.get(term)
        if known is None:
            owner = self.owners[term]
            names = (*owner.names, *self.company.get(owner.names[0], ()))
            known = self._own[term] = _is_narrators(owner), frozenset(name[0] for name in names)
        return known


def _is_term(name: str) -> bool:
    """Whether a name is made of kin words, titles and ranks alone."""
    return letters("han", "relational").issuperset(name) and not letters("han", "kin").isdisjoint(name)


def _is_respectful(name: str) -> bool:
    """子翁: one character of a name and a respectful one, which fits everybody with that character."""
    return len(name) == 2 and name[1] in letters("han", "respectful")


def _proper(person: Person) -> Iterator[str]:
    for name in person.names:
        if len(name) > 1 and not _is_term(name) and not _is_respectful(name):
            yield name
            parts = split_name(name)
            if parts and len(parts[1]) > 1:
                yield parts[1]


def _is_narrators(person: Person) -> bool:
    """Whether somebody is known by what they are to the narrator."""
    starts = tuple(f"{word}的" for word in words("han", "narrator"))
    return person.said.lstrip().startswith(starts) or any(name.startswith("我") for name in person.names)


def _in_company(text: str, term: Mention, names: Sequence[str]) -> bool:
    stop = text.find("\n", term.end)
    stop = len(text) if stop < 0 else stop
    start = max(0, term.start - _FAR)
    return any(text.find(name, start, term.start) >= 0 or text.find(name, term.end, stop) >= 0 for name in names)
