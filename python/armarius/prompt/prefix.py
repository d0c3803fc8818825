"""The stable prefix (hash, report, common prefix), cutting to a token count, and the window around the cursor.

Provider caches pay only for an unchanged beginning. Rules and settings come first and depend on nothing but
themselves; retrieved items that stand in the previous prompt keep their place; the window around the cursor starts on a
grid, so that typing extends it at its end.
"""

import hashlib
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal

from armarius.prompt.counter import CachedCounter, Counter
from armarius.text.tokens import TokenCounter, truncate
from armarius.text.unicode import AT_END, NEXT, grapheme_floor
from armarius.types import LAYERS, LayerName


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


# A start that was good stays until the text before the cursor fills less than this share of the window.
_KEEP_LEAD_PERCENT = 10
# Of the window before the cursor when there is enough text on both sides.
_LEAD_PERCENT = 75
_LINE_START = re.compile(r"\n+[^\S\n]*")


def stable_hash(stable: str) -> str:
    """SHA-256 (hex) of the rules and settings layers as rendered, UTF-8."""
    return hashlib.sha256(stable.encode()).hexdigest()


class PrefixMemory:
    """The last stable hash per (project, skill, provider, model, tokenizer). Threads may share it."""

    _KEYS = 4096

    def __init__(self) -> None:
        self._last: OrderedDict[tuple[str, ...], str] = OrderedDict()
        self._lock = threading.Lock()

    def unchanged(self, key: tuple[str, ...], now: str, before: str | None = None, *, remember: bool = True) -> bool:
        """Whether `now` is what the previous request of `key` had.

        Args:
            key: Project, skill, provider, model, tokenizer.
            now: The hash of this request.
            before: The hash of a previous result the caller holds, used when nothing is remembered.
            remember: Whether the next request is compared with this one.
        """
        with self._lock:
            last = self._last.get(key, before)
            if not remember:
                return last == now
            self._last[key] = now
            self._last.move_to_end(key)
            if len(self._last) > self._KEYS:
                self._last.popitem(last=False)
        return last == now


@dataclass(frozen=True, slots=True)
class PrefixReport:
    """How much of a prompt a provider's cache can reuse.

    Attributes:
        hash: Of the stable prefix (rules and settings).
        tokens: Of the stable prefix.
        shared_characters: Code points that this prompt and the previous one begin with alike.
        shared_tokens: The tokens of that beginning, by this prompt's counter.
        first_difference: Layer and code-point offset into it where the two part, or None: no
            previous prompt, or this one continues it to its end.
        minimum_tokens: The least prefix the model's provider caches, or None when unknown.
        reaches_minimum: Whether the stable prefix is that long, or None when unknown.
        anchor_moved: The window around the cursor starts elsewhere than in the previous prompt.
    """

    hash: str
    tokens: int
    shared_characters: int
    shared_tokens: int
    first_difference: tuple[LayerName, int] | None
    minimum_tokens: int | None
    reaches_minimum: bool | None
    anchor_moved: bool


def common_prefix(a: str, b: str) -> int:
    """Code points that both begin with. O(log n) comparisons of slices."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def layer_at(contents: dict[LayerName, str], offset: int) -> tuple[LayerName, int] | None:
    """The layer in which code point `offset` of the prompt lies, and where in it; None past the end."""
    for layer in LAYERS:
        if offset < len(contents[layer]):
            return layer, offset
        offset -= len(contents[layer])
    return None


def window(
    text: str, anchor: int, max_tokens: int, measured: CachedCounter, before: int | None = None
) -> tuple[int, int]:
    """The piece of `text` around `anchor`; its start stays put while its end grows.

    Args:
        text: A document, or a long enough piece of it.
        anchor: Code-point offset of the cursor.
        max_tokens: Not exceeded.
        measured: The counter.
        before: Where the previous window started in this text, if it did.

    Returns:
        (start, end) in code points, start <= anchor <= end unless even that does not fit.

    The start is the previous one as long as the text from there to the cursor fits and is not too
    little; else the first line (or sentence) after a grid point, the grid's step being the power of
    two below a quarter of what fits before the cursor. So it moves once in a quarter of a window.
    """
    counter = measured.counter
    if max_tokens <= 0:
        return anchor, anchor
    lead = max(max_tokens * _LEAD_PERCENT // 100, max_tokens - _behind(text, anchor, max_tokens, counter))
    start = -1
    if before is not None and 0 <= before <= anchor:
        tokens = counter.count(text[before:anchor])
        if tokens <= lead and (before == 0 or tokens * 100 >= max_tokens * _KEEP_LEAD_PERCENT):
            start = before
    if start < 0:
        least = reach(text[:anchor], lead, keep="tail", counter=counter)
        start = _on_grid(text, least, anchor)
    _, length = cut(text[start:], max_tokens, keep="head", counter=counter)
    if start + length < anchor:
        # A sentence end before the cursor would hide what was just typed.
        length = reach(text[start:], max_tokens, keep="head", counter=counter)
    return start, start + length


def _behind(text: str, anchor: int, max_tokens: int, counter: Counter) -> int:
    """Tokens behind the cursor, as far as they matter: what is clearly more than is left for them is enough."""
    share = max_tokens - max_tokens * _LEAD_PERCENT // 100
    some = text[anchor : anchor + max_tokens // 2]
    if not some.isascii() and 5 * (found := counter.count(some)) >= 6 * share:
        return found
    return counter.count(text[anchor : anchor + 2 * max_tokens]) if some else 0


def _on_grid(text: str, least: int, anchor: int) -> int:
    if least == 0:
        return 0
    step = 1 << max(3, ((anchor - least) // 4).bit_length() - 1)
    point = -(-least // step) * step
    end = min(anchor, point + step)
    if point >= anchor:
        return least
    found = _LINE_START.search(text, point, end) or NEXT.search(text, point, end)
    return found.end() if found and found.end() < anchor else grapheme_floor(text, point)
