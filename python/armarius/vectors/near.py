"""What a search by meaning hands to retrieval: paragraphs that stand out, with where they stand."""

import math
from dataclasses import dataclass

import numpy as np

from armarius.vectors.base import Vectors
from armarius.vectors.preprocess import unit_rows

__all__ = ["Background", "Near", "Nearby"]

_MARGIN = 0.3


@dataclass(frozen=True, slots=True)
class Near:
    """A paragraph near in meaning: code points `start` to `end` of the document, cosine similarity."""

    path: str
    start: int
    end: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Nearby:
    """An answer to retrieval: what stands out, best first, and why more may be missing ("" when nothing is)."""

    found: tuple[Near, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Background:
    """How similar a query is to just anything, so that only what stands out counts as found.

    Every query has a nearest paragraph, also one about something the project never mentions, and each model has its own
    scale. Among n paragraphs that have nothing to do with the query, the best is expected about sqrt(2 ln n) standard
    deviations above the mean (the maximum of n normal values); what is near in meaning lies beyond that. Measured on
    English paragraphs with MiniLM: paraphrases 3.6 to 5.8, unrelated questions 2.0 to 2.9, at a threshold of 3.2.

    Attributes:
        sample: Some stored vectors, float32, shape (m, dimension), normalised.
        count: How many vectors there are in all.
    """

    sample: Vectors
    count: int

    def threshold(self, query: Vectors) -> float:
        """The similarity from which a paragraph stands out for this query (float32, shape (dimension,))."""
        if self.count < 2 or not len(self.sample):
            return 1.0
        similarities = self.sample @ unit_rows(query[None])[0]
        deviations = math.sqrt(2 * math.log(self.count)) + _MARGIN
        return float(np.mean(similarities) + deviations * np.std(similarities))
