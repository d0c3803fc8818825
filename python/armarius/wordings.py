"""One question in several wordings: how many, how long, and how what each of them finds is joined.

A reader asks in words of his own; the book has others. Whoever knows both, a language model most often, says the
question again as the book would put it (`also=`, `armarius.rewording`), and what any wording finds counts.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, TypeVar

from armarius.errors import ContractError

__all__ = ["DOUBTED", "GREATEST", "LONGEST", "MEAN", "MOST", "checked_wordings", "joined_scores", "read_wordings"]

MOST: Final = 8
"""Other wordings of one question."""
LONGEST: Final = 400
"""Code points of one."""
MEAN: Final = 0.6
GREATEST: Final = 0.1
"""How the scores of other wordings join those of the question, each answer over its best: by their mean and greatest.

What a wording does not find has 0 there, so that one that leads astray moves little. With .6 and .4 good wordings find
more (.03 at 8,000 tokens), and four senseless ones cost .07 instead of .02 (docs/decisions/0067).
"""
DOUBTED: Final = 0.25
"""Factor for wordings that agree with nothing, where most do not: no other, nor the question, puts the same first.

It takes most of what senseless ones cost (docs/decisions/0075).
"""

Key = TypeVar("Key", bound=Hashable)


def joined_scores(own: Mapping[Key, float], others: Sequence[Mapping[Key, float]]) -> dict[Key, float]:
    """The scores of a question and of its other wordings as one; those of the core are joined likewise.

    Cost: linear in the scores.
    """
    if not others:
        return dict(own)
    total = _over_best(own)
    greatest: dict[Key, float] = {}
    for other in others:
        for key, share in _over_best(other).items():
            total[key] = total.get(key, 0.0) + MEAN * share / len(others)
            greatest[key] = max(share, greatest.get(key, 0.0))
    return {key: score + GREATEST * greatest.get(key, 0.0) for key, score in total.items()}


def _over_best(scores: Mapping[Key, float]) -> dict[Key, float]:
    best = max(scores.values(), default=0.0)
    return {key: score / best if best > 0 else 0.0 for key, score in scores.items()}


def read_wordings(value: object) -> tuple[str, ...]:
    """`value` as other wordings of a question, each once, white space around them removed.

    Raises:
        ValueError: More than `MOST`, something that is no text, an empty one, one longer than `LONGEST`.
    """
    if value is None:
        return ()
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise ValueError("expected a list of texts")
    if len(value) > MOST:
        raise ValueError(f"at most {MOST} wordings, got {len(value)}")
    for at, one in enumerate(value):
        if not isinstance(one, str):
            raise ValueError(f"wording {at} is no text, but a {type(one).__name__}")
        if not one.strip():
            raise ValueError(f"wording {at} is empty")
        if len(one.strip()) > LONGEST:
            raise ValueError(f"wording {at} has {len(one.strip())} characters, at most {LONGEST} are read")
    return tuple(dict.fromkeys(one.strip() for one in value))


def checked_wordings(value: object) -> tuple[str, ...]:
    """As `read_wordings`, for an argument `also`.

    Raises:
        ContractError: It is none, with the name of the argument.
    """
    try:
        return read_wordings(value)
    except ValueError as error:
        raise ContractError(f"also: {error}") from None
