"""Every number by which paragraphs are ranked, with what it moves (docs/decisions/0064).

The score of a paragraph is

    (PARAGRAPH P + NEAR N + WINDOW W + C) * (UNIT U + LINE O + ASKED A + D)

P, W, U and O are sums of BM25 over the families of the question, on the paragraph, what stands around it, its chapter
or section, and what the outline says of the chapter, each over its best; N is P of the two paragraphs before and after;
A is 1 for a chapter asked for by number. The numbers are round on purpose: half or twice any of them moves the mean of
three books by at most .015, and a search over all of them does worse on the book that is left out.
"""

from typing import Final

from armarius.corpus.words import PARAGRAPH_B, PARAGRAPH_K1

__all__ = ["ABSENT", "FAMILY_B", "FAMILY_WEIGHTS", "K1", "LEVELS", "MEANING", "STOP_SHARE", "WEAK_TOKENS", "WEIGHTS"]

FAMILY_WEIGHTS: Final = {
    "main": 1.0,
    "stop": 0.3,
    "single": 0.5,
    "name": 0.5,
    "entity": 0.7,
    "related": 0.7,
    "described": 0.2,
    "synonym": 0.6,
    "card": 0.5,
}
"""Without a family `answers@8000` of three books falls by: single .052, name .058, entity .031, related .024,
described .018, card .019, stop .011, synonym (English) .056."""

LEVELS: Final = ("paragraph", "window", "unit", "line")
K1: Final = {"paragraph": PARAGRAPH_K1, "window": 1.2, "unit": 1.2, "line": 1.2}
_B, _B_OF_NAMES = PARAGRAPH_B, 0.3
_NAMES = frozenset({"entity", "related", "described"})
FAMILY_B: Final = {
    family: {level: _B_OF_NAMES if family in _NAMES and level in ("paragraph", "line") else _B for level in LEVELS}
    for family in FAMILY_WEIGHTS
}
"""How much long texts are held back; a name says as much in a long paragraph as in a short one."""

WEIGHTS: Final = {
    "paragraph": 1.0,
    "near": 0.3,
    "window": 0.75,
    "unit": 0.5,
    "line": 0.5,
    "asked": 6.0,
    "c": 0.2,
    "d": 0.2,
}
MEANING: Final = {"paragraph": 1.2, "near": 0.4, "line": 0.4}
"""Of similarity, with a model that knows the project; half or twice any moves three books by at most .015."""
STOP_SHARE: Final = 0.10
"""Of the best score: nothing below it enters. Costs nothing at 16,000 tokens; .15 costs .003, .2 .012."""

WEAK_TOKENS: Final = 1000
"""What an answer may take that is probably none."""
ABSENT: Final = 0.53
"""Above it a question is taken for one about what is not there; see `ranking`. Chosen on the absent questions of two
books (training): .50 and .38 of them, at .009 of the answers that others hold; docs/decisions/0065."""
