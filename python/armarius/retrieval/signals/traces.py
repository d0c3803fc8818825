"""What of a question stands in a text: looked for in every text that an answer shows, prepared once a question."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache

import armarius._core as _core
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.ranking import Ranked
from armarius.retrieval.understand.families import terms_of
from armarius.retrieval.understand.lexicon import is_unspaced
from armarius.retrieval.understand.query import Understanding
from armarius.text.scripts import UNSPACED

__all__ = ["Traces", "words_in"]

_SHOWN = 8
_PEOPLE = 3
_RUN = re.compile(rf"[{UNSPACED}]+")


class Traces:
    """The words, stretches, terms and names of one question. Holds nothing that changes, and no scores.

    Args:
        tables: Whose matcher finds names.
        asked: The question.
        ranked: Its words, and whose profiles fit it.
        related: Entities that a relation word leads to.
    """

    def __init__(self, tables: CorpusTables, asked: Understanding, ranked: Ranked, related: Iterable[str] = ()) -> None:
        self._matcher = tables.matcher
        self._entities = tables.entities
        self._asked = asked
        self._read, self._groups, self._described = ranked.read, ranked.groups, ranked.described
        self._whom = {one: self._entities[one].name for one in (*related, *ranked.described)}

    def in_text(self, text: str, *, people: bool = True) -> tuple[str, ...]:
        """What stands in `text`: the question's words, else inflected, else what else may be meant, characters.

        Args:
            text: Any.
            people: Also whom a relation word leads to or whose profile fits; without, only the latter.
        """
        whom = self._whom if people else self._fitting
        written = {mention.entity_id: mention.term for mention in self._matcher.find_all(text)} if whom else {}
        there = [(written[one], name) for one, name in whom.items() if one in written]
        names = [f"{term} ({name}, whom the question describes)" for term, name in there]
        words = _longest(dict.fromkeys((*self._stretches(text), *_found(text.lower(), self._words))))
        if not words:
            words = self._inflected(text, named=bool(names))
        return (*words[:_SHOWN], *names[:_PEOPLE])

    def _inflected(self, text: str, *, named: bool) -> tuple[str, ...]:
        terms = set(_core.terms(text))
        words = [term for term in self._read.terms if term in terms]
        for word, others in self._read.alternatives.items():
            words += [f"{other} ({word})" for other, _ in others if terms.issuperset(_terms(other))]
        begun = {word[0] for word in words}
        words += [char for char in self._asked.singles if char in text and char not in begun]
        if not words and not named:
            card = (term for group in self._groups if group.family == "card" for term, _ in group.terms)
            words = [f"{term} (the profile)" for term in card if term in terms]
        return tuple(words)

    def _stretches(self, text: str) -> Iterator[str]:
        """The longest stretches of two characters or more that both hold, of scripts without spaces, in order."""
        for run, pairs in self._runs:
            past = 0
            for at in [at for at, pair in pairs if pair in text]:
                if at >= past:
                    past = at + 2
                    while past < len(run) and run[at : past + 1] in text:
                        past += 1
                    yield run[at:past]

    @cached_property
    def _fitting(self) -> dict[str, str]:
        return {one: self._entities[one].name for one in self._described}

    @cached_property
    def _runs(self) -> list[tuple[str, list[tuple[int, str]]]]:
        """Stretches of the question, each with its pairs of characters."""
        runs = _RUN.findall(self._asked.content)
        return [(run, [(at, run[at : at + 2]) for at in range(len(run) - 1)]) for run in runs]

    @cached_property
    def _words(self) -> list[tuple[str, bool]]:
        """Everything that may count as a trace of the question in a text, lower case; whether it may begin anywhere."""
        asked = self._asked
        words = [*asked.phrases, *asked.aliases, *self._read.words]
        for entity_id in asked.entities:
            entity = self._entities[entity_id]
            words += [entity.name, *entity.aliases]
        return _prepared(dict.fromkeys(word.lower() for word in words))


def words_in(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """Those of `words` that stand in `text`; Latin ones at the beginning of a word."""
    return tuple(_found(text.lower(), _prepared(words)))


def _longest(words: Iterable[str]) -> tuple[str, ...]:
    """Of different words those that are no part of another."""
    kept = tuple(words)
    joined = "\0".join(kept)
    if len(kept) < 2 or joined.count("\0") >= len(kept):  # nobody's word holds the mark between them
        return tuple(one for one in kept if not any(one != other and one in other for other in kept))
    return tuple(one for one in kept if joined.count(one) == 1)


def _prepared(words: Iterable[str]) -> list[tuple[str, bool]]:
    return [(word, is_unspaced(word)) for word in words]


def _found(lower: str, words: Sequence[tuple[str, bool]]) -> list[str]:
    return [word for word, anywhere in words if word in lower and (anywhere or _begins(word, lower))]


def _begins(word: str, lower: str) -> bool:
    """Whether the word stands somewhere where no letter or digit is before it."""
    at = lower.find(word)
    while at > 0 and lower[at - 1].isalnum():
        at = lower.find(word, at + 1)
    return at >= 0


@lru_cache(maxsize=2048)
def _terms(word: str) -> tuple[str, ...]:
    """What has to stand in a text that holds another wording."""
    return tuple(terms_of(word)) or (word,)
