"""What every candidate costs, counted once and before the budget is divided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from armarius.assembly.fit.cached_counter import CachedCounter
from armarius.marks import marked
from armarius.records import Candidate

__all__ = ["Sizes", "core_of", "sizes"]

# No encoding in use averages more code points per token over prose or code; beyond it the text is counted whole.
_CHARACTERS_PER_TOKEN = 8


@dataclass(frozen=True, slots=True)
class Sizes:
    """What some candidates cost, in their order, marks and separators included.

    Attributes:
        candidates: Whose sizes these are.
        tokens: Of the whole, or of the piece of it that can matter.
        shorts: Of the short form, where that is shorter.
        cores: By index, of what no truncation may touch.
        pieces: By index, the piece of a long content that can matter, and where it starts in it.
    """

    candidates: Sequence[Candidate]
    tokens: list[int]
    shorts: list[int | None]
    cores: Mapping[int, int]
    pieces: Mapping[int, tuple[str, int]]

    def piece(self, index: int) -> tuple[str, int]:
        """The piece of a content that can matter, and where it starts."""
        return self.pieces.get(index) or (self.candidates[index].content, 0)

    def with_tokens(self, index: int, tokens: int) -> "Sizes":
        """As if that candidate had so many."""
        counts = self.tokens.copy()
        counts[index] = tokens
        return replace(self, tokens=counts)


def sizes(candidates: Sequence[Candidate], measured: CachedCounter, limit: int) -> Sizes:
    """The sizes of `candidates`, separators included.

    Args:
        candidates: In any order.
        measured: Remembers what it counted before.
        limit: Tokens of the prompt; of a longer content only what could fit is counted.

    Cost: a look-up for each that was counted before.
    """
    pieces = {
        index: piece
        for index, one in enumerate(candidates)
        if one.keep is not None and len((piece := _piece(one, limit))[0]) < len(one.content)
    }
    tokens = measured.sections(
        [
            one.content if not one.marks and index not in pieces else _said(one, *pieces.get(index, (one.content, 0)))
            for index, one in enumerate(candidates)
        ]
    )
    for index in [index for index in pieces if tokens[index] <= limit]:
        del pieces[index]
        tokens[index] = measured.section(_said(candidates[index], candidates[index].content, 0))
    shorts: list[int | None] = [None] * len(candidates)
    for index, one in enumerate(candidates):
        if one.short is not None and (short := measured.section(one.short)) < tokens[index]:
            shorts[index] = short
    cores = {
        index: min(measured.section(core_of(one)), tokens[index])
        for index, one in enumerate(candidates)
        if one.core is not None
    }
    return Sizes(candidates, tokens, shorts, cores, pieces)


def core_of(candidate: Candidate) -> str:
    """What of a candidate no truncation may touch, with its marks."""
    start, end = candidate.core or (0, 0)
    return marked(candidate.content, candidate.marks, start, end)


def _said(candidate: Candidate, text: str, base: int) -> str:
    return marked(candidate.content, candidate.marks, base, base + len(text)) if candidate.marks else text


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
