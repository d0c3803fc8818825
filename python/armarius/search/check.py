"""A check of chapters against those before them: who is in them, and which paragraphs tell something of those."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from armarius._core import Corpus as CoreCorpus
from armarius._core import CorpusGroup, CorpusQuery, CorpusScores, CorpusWeights
from armarius.corpus.paragraphs import PARAGRAPH_B, PARAGRAPH_K1
from armarius.documents.kinds import STORY_KINDS
from armarius.search.corpus import Corpus
from armarius.search.query.kinship import is_unspaced, table
from armarius.search.query.query import Intent, Understanding
from armarius.types import Shares

SHARES: Final[Mapping[Intent, Shares]] = {"check": Shares(cards=15, asked=60, others=25)}
"""How the prompt of an intent is divided; what one leaves goes to the next (docs/decisions/0198).

A quarter is kept for the chapters before, so that whole paragraphs fill a fifth of every prompt.
"""

_PERSON: Final = "character"
_PEOPLE: Final = 24  # people to search paragraphs for, most often named first


class Check:
    """One check.

    Attributes:
        counts: How often the chapters that are checked name each entity; people before things, most often named first.
        shares: How its prompt is divided.
    """

    def __init__(self, counts: Mapping[str, int], about: CorpusScores, topics: CorpusScores) -> None:
        self.counts = counts
        self.shares = replace(SHARES["check"], first=tuple(f"entity:{id_}" for id_ in counts))
        self._about, self._topics = about, topics

    def worth(self, path: str, paragraph: int) -> float:
        """How much a paragraph tells of those people, 0 to 1: it names one and has a word for a topic."""
        return (self._about.score_of(path, paragraph) or 0.0) * (self._topics.score_of(path, paragraph) or 0.0)


def check_of(corpus: Corpus, asked: Understanding) -> Check | None:
    """The check that a question is; None when it is another question.

    Cost: two searches, each over the words or names of the check.
    """
    if "check" not in asked.intents:
        return None
    found: Counter[str] = Counter()
    for number in asked.chapters:
        for key in corpus.by_chapter.get(number, ()):
            found.update(corpus.texts[key].mentions)
    order = sorted(found, key=lambda one: (corpus.entities[one].type != _PERSON, -found[one], one))
    people = [one for one in order if corpus.entities[one].type == _PERSON][:_PEOPLE]
    core = corpus.core
    about = [CorpusGroup("main", [], entities=[(one, 1.0) for one in people])]
    return Check({one: found[one] for one in order}, _scored(core, about), _scored(core, _topics()))


def _scored(core: CoreCorpus, groups: list[CorpusGroup]) -> CorpusScores:
    return core.score(CorpusQuery(_weights(), groups, kinds=[*STORY_KINDS]))


@cache
def _weights() -> CorpusWeights:
    """The paragraph alone, without the text around it."""
    families = [("main", 1.0, (PARAGRAPH_B,) * 4)]
    return CorpusWeights(families, k1=(PARAGRAPH_K1,) * 4)


@cache
def _topics() -> list[CorpusGroup]:
    """Looks, age, home, marks, kin, what is owned and known: words for each."""
    kin = [word for row in table("kin").values() for word in row]
    rows = [list(filter(_is_word, row)) for row in (*table("attributes").values(), kin)] + [
        list(row) for row in table("told").values()
    ]
    return [CorpusGroup("main", [(word.replace("-", " "), 1.0) for word in row]) for row in rows]


def _is_word(word: str) -> bool:
    """Whether it says more than a single character that is part of many words."""
    return len(word) > 1 or not is_unspaced(word)
