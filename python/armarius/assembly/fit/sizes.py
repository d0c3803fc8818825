"""What every candidate costs, counted once and before the budget is divided."""

from collections.abc import Sequence
from dataclasses import dataclass

from armarius.assembly.fit.cached_counter import CachedCounter
from armarius.assembly.render import SEPARATOR
from armarius.marks import marked
from armarius.quick import quick
from armarius.records import Candidate

__all__ = ["Size", "core_of", "sizes"]

# No encoding in use averages more code points per token over prose or code; beyond it the text is counted whole.
_CHARACTERS_PER_TOKEN = 8


@quick
@dataclass(frozen=True, slots=True)
class Size:
    """The piece of a content that can matter, where it starts in it, and tokens of its forms, marks included.

    `core` are those of what no truncation may touch.
    """

    text: str
    base: int
    tokens: int
    short: int | None
    core: int = 0


def sizes(candidates: Sequence[Candidate], measured: CachedCounter, limit: int) -> list[Size]:
    """The sizes of `candidates`, separators included.

    Args:
        candidates: In any order.
        measured: Remembers what it counted before.
        limit: Tokens of the prompt; of a longer content only what could fit is counted.
    """
    pieces = [_piece(candidate, limit) for candidate in candidates]
    tokens = measured.counts([_said(candidate, *piece) for candidate, piece in zip(candidates, pieces, strict=True)])
    for index, (candidate, (text, _)) in enumerate(zip(candidates, pieces, strict=True)):
        if len(text) < len(candidate.content) and tokens[index] <= limit:
            pieces[index] = (candidate.content, 0)
            tokens[index] = measured.count(_said(candidate, candidate.content, 0))
    shorts = iter(measured.counts([c.short + SEPARATOR for c in candidates if c.short is not None]))
    found = []
    for candidate, (text, base), size in zip(candidates, pieces, tokens, strict=True):
        short = None if candidate.short is None else next(shorts)
        core = 0 if candidate.core is None else measured.count(core_of(candidate) + SEPARATOR)
        found.append(Size(text, base, size, short if short is not None and short < size else None, min(core, size)))
    return found


def core_of(candidate: Candidate) -> str:
    """What of a candidate no truncation may touch, with its marks."""
    start, end = candidate.core or (0, 0)
    return marked(candidate.content, candidate.marks, start, end)


def _said(candidate: Candidate, text: str, base: int) -> str:
    if not candidate.marks:
        return text + SEPARATOR
    return marked(candidate.content, candidate.marks, base, base + len(text)) + SEPARATOR


def _piece(candidate: Candidate, limit: int) -> tuple[str, int]:
    """The part of a long content that can matter at all, and where it starts."""
    content = candidate.content
    if candidate.keep is None or len(content) <= (reach := limit * _CHARACTERS_PER_TOKEN + 64):
        return content, 0
    if candidate.keep == "head":
        return content[:reach], 0
    if candidate.keep == "tail":
        return content[-reach:], len(content) - reach
    first, last = candidate.core or (candidate.anchor, candidate.anchor)
    start = max(0, min(first, candidate.anchor) - reach)
    return content[start : max(last, candidate.anchor) + reach], start
