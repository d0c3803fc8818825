"""Shortening one content to a number of tokens, at a boundary a reader would choose.

The core does it for the package's own counters; a host's counter is asked a few times instead.
"""

from typing import Literal

from armarius.assembly.fit.cached_counter import Counter
from armarius.text.graphemes import grapheme_floor
from armarius.text.sentences import AT_END
from armarius.text.tokens import TokenCounter
from armarius.text.truncate import truncate

__all__ = ["cut", "reach"]


def cut(text: str, max_tokens: int, *, keep: Literal["head", "tail"], counter: Counter) -> tuple[int, int]:
    """The longest piece of `text` of at most `max_tokens`, ending (or starting) at a sentence if one is near.

    Args:
        text: Any text.
        max_tokens: Not exceeded by the piece on its own.
        keep: Which end stays.
        counter: A host's is asked O(log n) times.

    Returns:
        (start, end) in code points; equal when nothing fits.
    """
    if isinstance(counter, TokenCounter):
        piece = truncate(text, max(max_tokens, 0), keep=keep, counter=counter)
        return piece.start, piece.end
    at = reach(text, max_tokens, keep=keep, counter=counter)
    if keep == "head":
        if at == len(text):
            return 0, at
        ends = [found.end() for found in AT_END.finditer(text, at * 2 // 3, at)]
        return 0, ends[-1] if ends else at
    if at == 0:
        return 0, len(text)
    found = AT_END.search(text, at, at + (len(text) - at) // 3)
    return (found.end() if found else at), len(text)


def reach(text: str, max_tokens: int, *, keep: Literal["head", "tail"], counter: Counter) -> int:
    """How far `max_tokens` reach into `text` from the kept end, as an offset; never inside a grapheme."""
    if isinstance(counter, TokenCounter):
        piece = truncate(text, max(max_tokens, 0), keep=keep, boundary="character", counter=counter)
        return piece.end if keep == "head" else piece.start
    size = len(text)
    low, high = 0, size
    if max_tokens <= 0:
        high = 0
    guess = min(size, max(16, max_tokens))
    while low < high:
        # Grow from the budget, not from the text, then close in.
        middle = guess if low < guess < high else (low + high + 1) // 2
        if counter.count(text[:middle] if keep == "head" else text[size - middle :]) <= max_tokens:
            low = middle
            guess = middle * 2
        else:
            high = middle - 1
            guess = 0
    at = low if keep == "head" else size - low
    if keep == "head":
        return grapheme_floor(text, at)
    while at < size and grapheme_floor(text, at) != at:
        at += 1
    return at
