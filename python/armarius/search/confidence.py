"""How likely the answer to a question is in what was found: a logistic model of a few signs of its ranking.

Fitted by `benches/eval_confidence.py` on the questions of three novels, with and without an answer, at 8,000 tokens;
docs/decisions/0207 has its errors on books that it was not fitted on, and benches/results/confidence.json the bins.
"""

import math
from collections.abc import Sequence
from typing import Final

from armarius._core import CorpusScores

SIGNS: Final = ("one", "best", "lost", "held", "asked", "named", "level", "worded", "sure")
WEIGHTS: Final = (0.34, 1.98, -1.08, 0.88, 1.21, 0.44, -1.08, 0.66, 1.19)
"""Of the signs, for the logarithm of the odds."""
_RANK = 20  # the paragraph that the best is compared with
_NAMES = 2  # more say nothing more


def signs(
    own: CorpusScores, fused: CorpusScores, best: float, *, asked: bool, names: int, worded: int, sure: int
) -> Sequence[float]:
    """The signs of a ranking, in the order of `SIGNS`.

    Args:
        own: Of the question's own words.
        fused: With its other wordings.
        best: How much the best paragraph holds of what the best of a question usually has.
        asked: Chapters, quoted words or files are asked for and there.
        names: How many entities the question names.
        worded: Other wordings.
        sure: Those of them that found something.

    Cost: one pass over the scores.
    """
    coverage = own.coverage
    total = coverage.total
    first = fused.paragraphs(_RANK + 1)
    return (
        1.0,
        math.log((best if total > 0 else 1.0) + 0.01),  # a chapter that is asked for needs no words
        coverage.lost / total if total > 0 else 0.0,
        coverage.best / total if total > 0 else 1.0,
        float(asked),
        float(min(names, _NAMES)),
        first[_RANK].score / first[0].score if len(first) > _RANK else 0.0,
        float(worded > 0),
        sure / worded if worded else 0.0,
    )


def confidence(found: Sequence[float]) -> float:
    """The probability that belongs to the signs, three digits."""
    odds = sum(weight * value for weight, value in zip(WEIGHTS, found, strict=True))
    return round(1 / (1 + math.exp(-odds)), 3)
