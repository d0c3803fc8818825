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
    """The words, stretches, terms and names of one question.

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
        self._ranked = ranked
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
        found = dict.fromkeys((*self._stretches(text), *_found(text.lower(), self._words)))
        words = tuple(found)
        if len(words) > 1:
            words = tuple(one for one in words if not any(one != other and one in other for other in words))
        if not words:
            words = self._inflected(text, named=bool(names))
        return (*words[:_SHOWN], *names[:_PEOPLE])

    def _inflected(self, text: str, *, named: bool) -> tuple[str, ...]:
        terms = set(_core.terms(text))
        words = [term for term in self._ranked.read.terms if term in terms]
        for word, others in self._ranked.read.alternatives.items():
            words += [f"{other} ({word})" for other, _ in others if terms.issuperset(_terms(other))]
        begun = {word[0] for word in words}
        words += [char for char in self._asked.singles if char in text and char not in begun]
        if not words and not named:
            card = (term for group in self._ranked.groups if group.family == "card" for term, _ in group.terms)
            words = [f"{term} (the profile)" for term in card if term in terms]
        return tuple(words)

    def _stretches(self, text: str) -> Iterator[str]:
        """The longest stretches of two characters or more that both hold, of scripts without spaces, in order."""
        for run in self._runs:
            at = 0
            while at + 1 < len(run):
                end = at + 1
                while end < len(run) and run[at : end + 1] in text:
                    end += 1
                if end - at > 1:
                    yield run[at:end]
                at = end if end - at > 1 else at + 1

    @cached_property
    def _fitting(self) -> dict[str, str]:
        return {one: self._entities[one].name for one in self._ranked.described}

    @cached_property
    def _runs(self) -> list[str]:
        return _RUN.findall(self._asked.content)

    @cached_property
    def _words(self) -> list[tuple[str, bool]]:
        """Everything that may count as a trace of the question in a text, lower case; whether it may begin anywhere."""
        asked = self._asked
        words = [*asked.phrases, *asked.aliases, *self._ranked.read.words]
        for entity_id in asked.entities:
            entity = self._entities[entity_id]
            words += [entity.name, *entity.aliases]
        return _prepared(dict.fromkeys(word.lower() for word in words))


def words_in(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """Those of `words` that stand in `text`; Latin ones at the beginning of a word."""
    return tuple(_found(text.lower(), _prepared(words)))


def _prepared(words: Iterable[str]) -> list[tuple[str, bool]]:
    return [(word, is_unspaced(word)) for word in words]


def _found(lower: str, words: Sequence[tuple[str, bool]]) -> Iterator[str]:
    for word, anywhere in words:
        at = lower.find(word)
        if not anywhere:
            while at > 0 and lower[at - 1].isalnum():
                at = lower.find(word, at + 1)
        if at >= 0:
            yield word


@lru_cache(maxsize=2048)
def _terms(word: str) -> tuple[str, ...]:
    """What has to stand in a text that holds another wording."""
    return tuple(terms_of(word)) or (word,)
