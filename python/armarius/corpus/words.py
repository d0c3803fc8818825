"""Paragraphs by words as they are written: the same BM25 that questions are ranked by, on the paragraph alone.

A question looks for what answers it, so a paragraph is lifted by what stands around it; a search looks for the words.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from armarius._core import Corpus, CorpusGroup, CorpusQuery, CorpusScores, CorpusWeights

__all__ = ["PARAGRAPH_B", "PARAGRAPH_K1", "by_words"]

PARAGRAPH_K1: Final = 2.0
"""How soon more occurrences in a paragraph stop counting; chosen with the weights of questions."""
PARAGRAPH_B: Final = 0.75
"""How much long paragraphs are held back."""

_WORDS = "words"


def by_words(corpus: Corpus, words: Sequence[str]) -> CorpusScores:
    """The paragraphs of a project for `words`, each of which may be several terms that stand together.

    Cost: the postings of their terms.
    """
    groups = [CorpusGroup(_WORDS, [(word, 1.0)]) for word in words]
    return corpus.score(CorpusQuery(_weights(), groups))


@cache
def _weights() -> CorpusWeights:
    """The paragraph's own words and nothing else: a heading that holds them is as good as a sentence."""
    families = [(_WORDS, 1.0, (PARAGRAPH_B,) * 4)]
    return CorpusWeights(families, k1=(PARAGRAPH_K1,) * 4, paragraph=1.0, d=1.0, heading=1.0)
