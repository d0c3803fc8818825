"""Cut a text to a number of tokens, at a boundary that a reader accepts.

>>> truncate("黛玉来了。宝玉笑道：“这个妹妹我见过的。”众人都笑。", 16)
Truncated(text='黛玉来了。', start=0, end=5, tokens=6, truncated=True)
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

import armarius._core as _core
from armarius.errors import ContractError
from armarius.strict import shown, whole
from armarius.text.graphemes import grapheme_floor
from armarius.text.tokens import TokenCounter

__all__ = ["Truncated", "truncate"]

# A token rarely stands for more than this many characters; where it does (blanks, rules of `=`), the window
# that was looked at turns out not to settle the answer and the whole text is looked at.
_CHARACTERS_PER_TOKEN = 16
_SLACK = 64


@dataclass(frozen=True, slots=True)
class Truncated:
    """What stays of a text.

    Attributes:
        text: The piece; equals the original's `[start:end]`.
        start: Offset of its first code point in the original.
        end: Offset behind its last code point.
        tokens: Its exact count by the counter used, at most what was allowed.
        truncated: Whether anything is missing.
    """

    text: str
    start: int
    end: int
    tokens: int
    truncated: bool


@cache
def _default_counter() -> TokenCounter:
    return TokenCounter.for_encoding("o200k_base")


def truncate(
    text: str,
    max_tokens: int,
    *,
    keep: Literal["head", "tail", "around"] = "head",
    anchor: int | None = None,
    boundary: Literal["sentence", "paragraph", "character"] = "sentence",
    counter: TokenCounter | None = None,
) -> Truncated:
    r"""The longest piece of `text` of at most `max_tokens` tokens that is cut at a `boundary`.

    Never inside a user-perceived character. A sentence ends behind 。！？… and . ! ? with the quotes and
    brackets that close it, and where a line ends; not behind abbreviations, initials, decimals or dots
    in names. When not even one sentence (or paragraph) fits, the next finer boundary is used. A head ends
    before the blanks that follow its last sentence, a tail starts behind those that precede its first.

    Args:
        text: Any str; a text that fits is returned whole.
        max_tokens: At least 0; with 0, or when no character fits, the piece is empty.
        keep: `head`, `tail`, or `around`: what stands around `anchor`. There the text before it gets up to
            half of the budget, the text behind it the rest; when that reaches the end of the text,
            the start moves back as far as the budget allows.
        anchor: Offset in code points, required with `keep="around"` and ignored otherwise.
        boundary: Where the cut may be made.
        counter: What counts; o200k_base when None.

    Raises:
        ContractError: `max_tokens` is negative; `keep` or `boundary` is another word; `anchor` is missing or
            outside the text.
        ContractError: A lone surrogate.

    Cost: follows the budget, not the text: only a window around the piece is read and counted. Counters of
    tokenizer files count that window some twenty times.
    """
    max_tokens = whole("max_tokens", max_tokens)
    if not isinstance(text, str):
        raise ContractError(f"text must be a text, got {shown(text)}")
    if not isinstance(counter, TokenCounter | None):
        raise ContractError(f"counter must be a TokenCounter, got {shown(counter)}")
    try:
        return _truncated(text, max_tokens, keep, anchor, boundary, counter or _default_counter())
    except UnicodeEncodeError as problem:
        raise ContractError(f"text: {problem.object[problem.start]!a} is a lone surrogate, which is no text") from None


def _truncated(
    text: str, max_tokens: int, keep: str, anchor: int | None, boundary: str, counter: TokenCounter
) -> Truncated:
    length = len(text)
    if keep == "around" and (type(anchor) is not int or not 0 <= anchor <= length):
        raise ContractError(f"keep='around' needs an anchor between 0 and {length}, got {shown(anchor)}")
    core = counter._core
    middle = {"head": 0, "tail": length}.get(keep, anchor or 0)
    reach = (max_tokens + _SLACK) * _CHARACTERS_PER_TOKEN
    low, high = grapheme_floor(text, max(0, middle - reach)), min(length, middle + reach)
    window = text if (low, high) == (0, length) else text[low:high]
    cut = _core.truncate(window, max_tokens, keep, middle - low, boundary, core)
    inside = cut.settled and (low == 0 or cut.start > 0) and (high == length or cut.end < high - low)
    if not inside and window is not text:
        low = 0
        cut = _core.truncate(text, max_tokens, keep, middle, boundary, core)
    start, end = low + cut.start, low + cut.end
    return Truncated(text[start:end], start, end, cut.tokens, (start, end) != (0, length))
