"""What every candidate costs, counted once and before the budget is divided."""

from collections.abc import Sequence
from dataclasses import dataclass

from armarius.assembly.fit.cached_counter import CachedCounter
from armarius.assembly.render import SEPARATOR
from armarius.records import Candidate

__all__ = ["Size", "sizes"]

# No encoding in use averages more code points per token over prose or code; beyond it the text is counted whole.
_CHARACTERS_PER_TOKEN = 8


@dataclass(frozen=True, slots=True)
class Size:
    """The piece of a content that can matter, where it starts in it, and tokens of the full and the short form."""

    text: str
    base: int
    tokens: int
    short: int | None


def sizes(candidates: Sequence[Candidate], measured: CachedCounter, limit: int) -> list[Size]:
    """The sizes of `candidates`, separators included.

    Args:
        candidates: In any order.
        measured: Remembers what it counted before.
        limit: Tokens of the prompt; of a longer content only what could fit is counted.
    """
    pieces = [_piece(candidate, limit) for candidate in candidates]
    tokens = measured.counts([text + SEPARATOR for text, _ in pieces])
    for index, (candidate, (text, _)) in enumerate(zip(candidates, pieces, strict=True)):
        if len(text) < len(candidate.content) and tokens[index] <= limit:
            pieces[index] = (candidate.content, 0)
            tokens[index] = measured.count(candidate.content + SEPARATOR)
    shorts = iter(measured.counts([c.short + SEPARATOR for c in candidates if c.short is not None]))
    found = []
    for candidate, (text, base), size in zip(candidates, pieces, tokens, strict=True):
        short = None if candidate.short is None else next(shorts)
        found.append(Size(text, base, size, short if short is not None and short < size else None))
    return found


def _piece(candidate: Candidate, limit: int) -> tuple[str, int]:
    """The part of a long content that can matter at all, and where it starts."""
    content, reach = candidate.content, limit * _CHARACTERS_PER_TOKEN + 64
    if candidate.keep is None or len(content) <= reach:
        return content, 0
    if candidate.keep == "head":
        return content[:reach], 0
    if candidate.keep == "tail":
        return content[-reach:], len(content) - reach
    start = max(0, candidate.anchor - reach)
    return content[start : candidate.anchor + reach], start
