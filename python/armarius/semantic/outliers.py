"""What a search by meaning hands to retrieval: paragraphs that stand out, with where they stand."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armarius.store.vector_rows import unit_rows
from armarius.store.vectors_protocol import Vectors

__all__ = ["PROBES", "Near", "Nearby", "NoiseFloor"]

PROBES = (
    (
        "How do I renew a passport?",
        "What is the boiling point of ethanol?",
        "Which vitamins are in carrots?",
        "How does a jet engine work?",
        "Who won the chess tournament?",
        "How are tax returns filed online?",
        "What causes volcanoes to erupt?",
        "How do you train a puppy?",
        "What is the capital of Australia?",
        "How is cheese made?",
        "Why do stock prices fall?",
        "How does encryption protect a message?",
    ),
    (
        "怎样更换护照？",
        "乙醇的沸点是多少？",
        "胡萝卜里有哪些维生素？",
        "喷气发动机是怎样工作的？",
        "谁赢了象棋比赛？",
        "怎样在网上报税？",
        "火山为什么会喷发？",
        "怎样训练小狗？",
        "澳大利亚的首都是哪里？",
        "奶酪是怎样做成的？",
        "股票为什么会下跌？",
        "加密怎样保护消息？",
    ),
)
"""Questions of many fields, in two languages: what a project answers at most one or two of."""

_MARGIN = 0.3


@dataclass(frozen=True, slots=True)
class Near:
    """A paragraph near in meaning: code points `start` to `end` of the document, cosine similarity.

    `by_wording`: the embedder compares letters and words, not meaning.
    """

    path: str
    start: int
    end: int
    similarity: float
    by_wording: bool = False


@dataclass(frozen=True, slots=True)
class Nearby:
    """An answer to retrieval.

    Attributes:
        found: What stands out, best first.
        trouble: Why more may be missing; "" when nothing is.
        paragraphs: The nearest of chapters and notes: path, position, cosine similarity, best first.
        lines: The nearest of the outline, likewise.
        trust: How well the model knows this project, 0 to 1; see `semantic.trust`.
    """

    found: tuple[Near, ...] = ()
    trouble: str = ""
    paragraphs: tuple[tuple[str, int, float], ...] = ()
    lines: tuple[tuple[str, int, float], ...] = ()
    trust: float = 0.0


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """How similar a question about something else is to just anything, so that only what stands out counts as found.

    Every query has a nearest paragraph, also one about something the project never mentions, and each model has its own
    scale. So questions that have nothing to do with a novel (`PROBES`) are compared with a sample of the project. Among
    n unrelated paragraphs the best is expected about sqrt(2 ln n) standard deviations above the mean (the maximum of n
    normal values); what is near in meaning lies beyond that. A query's own distribution does not serve: a question on
    the very subject of a short book is near to all of it, and then nothing stands out (docs/decisions/0085).

    Attributes:
        least: The cosine similarity from which a paragraph stands out.
    """

    least: float

    @classmethod
    def of(cls, sample: Vectors, probes: Sequence[Vectors], count: int) -> "NoiseFloor":
        """From some stored vectors (float32, shape (m, dimension)) and the vectors of each group of probes.

        The group that lies highest decides: a model that cannot read a script finds everything in it alike.

        Args:
            sample: Any scale, none zero.
            probes: Groups in one language each, shape (p, dimension).
            count: How many vectors there are in all.
        """
        if count < 2 or not len(sample):
            return cls(1.0)
        deviations = math.sqrt(2 * math.log(count)) + _MARGIN
        found = [unit_rows(group) @ unit_rows(sample).T for group in probes]
        return cls(max(float(np.mean(group) + deviations * np.std(group)) for group in found))
