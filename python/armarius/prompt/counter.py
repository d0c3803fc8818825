"""Tokens counted once, text cut to a count; the stable prefix and the window around the cursor.

Provider caches pay only for an unchanged beginning. Rules and settings come first and depend on nothing but
themselves; retrieved items that stand in the previous prompt keep their place; the window around the cursor starts on a
grid, so that typing extends it at its end.
"""

import hashlib
import logging
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse, islice, repeat
from operator import add, itemgetter
from typing import Final, Literal, Protocol, cast

from armarius.deadline import Recent
from armarius.prompt.render import SEPARATOR
from armarius.text.tokens import TokenCounter, truncate
from armarius.text.unicode import AT_END, NEXT, grapheme_floor
from armarius.types import LAYERS, LayerName

logger = logging.getLogger("armarius")

_FIRSTS = 10_000  # characters
_BUT_LAST: Final = itemgetter(slice(None, -1))


class Counter(Protocol):
    """Text to tokens. `armarius.TokenCounter` is one; a host may bring its own.

    One with a method `count_batch(texts)` as well, a list of counts in the order of a list of texts, is asked by that
    where there are many.
    """

    @property
    def name(self) -> str:
        """Named in the result."""

    @property
    def exact(self) -> bool:
        """False when the model's tokenizer is unpublished and the count an approximation."""

    def count(self, text: str, /) -> int:
        """Tokens of one text."""


class CachedCounter:
    """A counter that remembers.

    Pieces of a prompt recur from request to request; each is counted once. The memory is bounded: when it is full, the
    half that is known longest goes. Safe to share between threads: at worst a text is counted twice
    (docs/decisions/0182).

    Attributes:
        counter: What counts.
        adds_up: Whether counts of pieces are known to be the count of the whole.
        windows: Where texts were cut around a cursor, of the last ones: by text, cursor, tokens and earlier start.
    """

    _MEMORY_CHARACTERS = 2_500_000  # three long novels' worth; of Chinese 5 MB
    _MEMORY_TEXTS = 20_000  # each takes 200 bytes, however short it is

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self._known: dict[str, int] = {}
        self._sections: dict[str, int] = {}  # by the text before the separator, which is at hand and hashed
        self._held = 0
        self.adds_up = isinstance(counter, TokenCounter) and counter.additive
        self.windows: dict[tuple[str, int, int, int | None], tuple[int, int]] = {}
        self._safe: dict[str, bool] = {}  # first characters, and whether a piece may begin with them

    def count(self, text: str) -> int:
        """Tokens of `text`; remembered."""
        tokens = self._known.get(text)
        return self._count_cached(self._known, [text], "")[0] if tokens is None else tokens

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order; the unknown ones are counted in one batch."""
        cache = self._known
        try:
            return list(map(cache.__getitem__, texts))
        except KeyError:
            return self._count_cached(cache, texts, "")

    def section(self, text: str) -> int:
        """Tokens of `text` and the separator after it; remembered."""
        tokens = self._sections.get(text)
        return self._count_cached(self._sections, [text], SEPARATOR)[0] if tokens is None else tokens

    def sections(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text with the separator after it, as sections of a prompt stand; as `counts` otherwise."""
        cache = self._sections
        try:
            return list(map(cache.__getitem__, texts))
        except KeyError:
            return self._count_cached(cache, texts, SEPARATOR)

    def _count_cached(self, cache: dict[str, int], texts: Sequence[str], end: str) -> list[int]:
        counted = dict(zip(texts, map(cache.get, texts), strict=True))
        missing = list(filterfalse(counted.get, counted))
        read = list(map(add, missing, repeat(end)))
        batch: Callable[[list[str]], list[int]] | None = getattr(self.counter, "count_batch", None)
        sizes = [self.counter.count(text) for text in read] if batch is None else batch(read)
        more = sum(map(len, missing))
        while self._held and (
            self._held + more > self._MEMORY_CHARACTERS
            or len(self._known) + len(self._sections) + len(missing) > self._MEMORY_TEXTS
        ):
            self._evict_half()  # one batch may be more
        self._held += more
        # Copies: a text also holds its UTF-8 once the core has read it.
        cache.update(zip(map(_BUT_LAST, map(add, missing, repeat("\n"))), sizes, strict=True))
        sizes_of = cast("dict[str, int]", counted) | dict(zip(missing, sizes, strict=True))
        return list(map(sizes_of.__getitem__, texts))

    def _evict_half(self) -> None:
        """Those known longest stand first. Threads that come here at once forget more than they must."""
        memories = (self._known, self._sections)
        for cache in memories:
            for gone in list(islice(cache, (len(cache) + 1) // 2)):
                cache.pop(gone, None)
        self._held = sum(sum(map(len, list(cache))) for cache in memories)

    def _starts_safely(self, first: str) -> bool:
        assert isinstance(self.counter, TokenCounter)
        if len(self._safe) >= _FIRSTS:
            self._safe.clear()
        verdict = self._safe[first] = self.counter.starts_safely(first)
        return verdict

    def of_layers(self, layers: Mapping[LayerName, Sequence[tuple[str, bool]]]) -> dict[LayerName, int]:
        """Tokens of each layer on its own, exactly, from its pieces; each but the last must end with a line end.

        Counts add up where a piece begins safely (docs/decisions/0021); one that does not is counted with what stands
        before it. A counter of which that is not known counts the whole.

        Args:
            layers: Pieces, each with whether the separator follows it.

        Cost: a look-up per piece that was counted before; for counters that do not add up, a count of the prompt.
        """
        if not self.adds_up:
            return {name: self.counter.count(_join_parts([pieces])) if pieces else 0 for name, pieces in layers.items()}
        frame: list[str] = []
        sections: list[str] = []
        ends = []
        for pieces in layers.values():
            last: list[str] | None = None
            for text, is_section in pieces:
                first = text[:1] or SEPARATOR[:is_section]
                safe = self._safe.get(first)
                if last is not None and not (self._starts_safely(first) if safe is None else safe):
                    frame.append(_piece_text(last.pop(), last is sections) + _piece_text(text, is_section))
                    last = frame
                else:
                    last = sections if is_section else frame
                    last.append(text)
            ends.append((len(frame), len(sections)))
        tokens, section_tokens = self.counts(frame), self.sections(sections)
        totals, before = {}, (0, 0)
        for layer, end in zip(layers, ends, strict=True):
            totals[layer] = sum(tokens[before[0] : end[0]]) + sum(section_tokens[before[1] : end[1]])
            before = end
        return totals

    def of_prompt(
        self, layers: Mapping[LayerName, Sequence[tuple[str, bool]]]
    ) -> tuple[int, dict[LayerName, int] | None]:
        """Tokens of the prompt as it is sent, and of its layers where they add up to that.

        A layer begins with its tag, which no counter that adds up joins with what stands before it. In Python's
        development mode the prompt is counted as a whole, too; if the two differed, that would be logged and the whole
        would count.

        Cost: as `of_layers`.
        """
        if not self.adds_up:
            return self.counter.count(_join_parts(layers.values())), None
        by_layer = self.of_layers(layers)
        total = sum(by_layer.values())
        if sys.flags.dev_mode and (whole := self.counter.count(_join_parts(layers.values()))) != total:
            logger.error("%s: pieces count %d, the prompt %d", self.counter.name, total, whole)
            return whole, None
        return total, by_layer


def _piece_text(text: str, is_section: bool) -> str:
    return text + SEPARATOR if is_section else text


def _join_parts(layers: Iterable[Sequence[tuple[str, bool]]]) -> str:
    return "".join([_piece_text(*piece) for pieces in layers for piece in pieces])


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
    at = offset_within(text, max_tokens, keep=keep, counter=counter)
    if keep == "head":
        if at == len(text):
            return 0, at
        ends = [match.end() for match in AT_END.finditer(text, at * 2 // 3, at)]
        return 0, ends[-1] if ends else at
    if at == 0:
        return 0, len(text)
    match = AT_END.search(text, at, at + (len(text) - at) // 3)
    return (match.end() if match else at), len(text)


def offset_within(text: str, max_tokens: int, *, keep: Literal["head", "tail"], counter: Counter) -> int:
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
        self._last = Recent[str](self._KEYS)

    def unchanged(self, key: tuple[str, ...], now: str, before: str | None = None, *, remember: bool = True) -> bool:
        """Whether `now` is what the previous request of `key` had.

        Args:
            key: Project, skill, provider, model, tokenizer.
            now: The hash of this request.
            before: The hash of a previous result the caller holds, used when nothing is remembered.
            remember: Whether the next request is compared with this one.
        """
        last = self._last.get(key) or before
        if remember:
            self._last.keep(key, now)
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
    lead = max(max_tokens * _LEAD_PERCENT // 100, max_tokens - _count_behind(text, anchor, max_tokens, counter))
    start = -1
    if before is not None and 0 <= before <= anchor:
        tokens = counter.count(text[before:anchor])
        if tokens <= lead and (before == 0 or tokens * 100 >= max_tokens * _KEEP_LEAD_PERCENT):
            start = before
    if start < 0:
        least = offset_within(text[:anchor], lead, keep="tail", counter=counter)
        start = _snap_to_grid(text, least, anchor)
    _, length = cut(text[start:], max_tokens, keep="head", counter=counter)
    if start + length < anchor:
        # A sentence end before the cursor would hide what was just typed.
        length = offset_within(text[start:], max_tokens, keep="head", counter=counter)
    return start, start + length


def _count_behind(text: str, anchor: int, max_tokens: int, counter: Counter) -> int:
    """Tokens behind the cursor, as far as they matter: what is clearly more than is left for them is enough."""
    share = max_tokens - max_tokens * _LEAD_PERCENT // 100
    some = text[anchor : anchor + max_tokens // 2]
    if not some.isascii() and 5 * (tokens := counter.count(some)) >= 6 * share:
        return tokens
    return counter.count(text[anchor : anchor + 2 * max_tokens]) if some else 0


def _snap_to_grid(text: str, least: int, anchor: int) -> int:
    if least == 0:
        return 0
    step = 1 << max(3, ((anchor - least) // 4).bit_length() - 1)
    point = -(-least // step) * step
    end = min(anchor, point + step)
    if point >= anchor:
        return least
    match = _LINE_START.search(text, point, end) or NEXT.search(text, point, end)
    return match.end() if match and match.end() < anchor else grapheme_floor(text, point)
