"""`CachedCounter`: a token counter with a memory, so that only new text is counted."""

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Protocol

from armarius.prompt.render import SEPARATOR
from armarius.text.tokens import TokenCounter
from armarius.types import LayerName

logger = logging.getLogger("armarius")

_FIRSTS = 10_000  # characters


class Counter(Protocol):
    """Text to tokens. `armarius.TokenCounter` is one; a host may bring its own.

    One with a method `count_batch(texts)` as well, a list of counts in the order of a list of texts, is asked by that
    where there are many.
    """

    @property
    def name(self) -> str:
        """Named in the result."""
        ...

    @property
    def exact(self) -> bool:
        """False when the model's tokenizer is unpublished and the count an approximation."""
        ...

    def count(self, text: str, /) -> int:
        """Tokens of one text."""
        ...


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
        known = self._known.get(text)
        return self.counts([text])[0] if known is None else known

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order; the unknown ones are counted in one batch."""
        known = self._known
        try:
            return list(map(known.__getitem__, texts))
        except KeyError:
            return self._counted(known, texts, "")

    def section(self, text: str) -> int:
        """Tokens of `text` and the separator after it; remembered."""
        known = self._sections.get(text)
        return self.sections([text])[0] if known is None else known

    def sections(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text with the separator after it, as sections of a prompt stand; as `counts` otherwise."""
        known = self._sections
        try:
            return list(map(known.__getitem__, texts))
        except KeyError:
            return self._counted(known, texts, SEPARATOR)

    def _counted(self, known: dict[str, int], texts: Sequence[str], end: str) -> list[int]:
        counted = {text: known.get(text, -1) for text in texts}
        missing = [text for text, tokens in counted.items() if tokens < 0]
        read = [text + end for text in missing] if end else missing
        batch: Callable[[list[str]], list[int]] | None = getattr(self.counter, "count_batch", None)
        found = [self.counter.count(text) for text in read] if batch is None else batch(read)
        counted.update(zip(missing, found, strict=True))
        # Copies: a text also holds its UTF-8 once the core has read it.
        keys = [text[: -len(end)] for text in read] if end else [(text + "\n")[:-1] for text in read]
        self._remember(known, keys, found)
        return list(map(counted.__getitem__, texts))

    def _remember(self, known: dict[str, int], keys: Sequence[str], tokens: Sequence[int]) -> None:
        more = sum(map(len, keys))
        while self._held and (
            self._held + more > self._MEMORY_CHARACTERS
            or len(self._known) + len(self._sections) + len(keys) > self._MEMORY_TEXTS
        ):
            self._forget_half()  # one batch may be more
        self._held += more
        known.update(zip(keys, tokens, strict=True))

    def _forget_half(self) -> None:
        """Those known longest stand first. Threads that come here at once forget more than they must."""
        memories = (self._known, self._sections)
        for known in memories:
            for gone in list(islice(known, (len(known) + 1) // 2)):
                known.pop(gone, None)
        self._held = sum(sum(map(len, list(known))) for known in memories)

    def of_pieces(self, pieces: Sequence[tuple[str, bool]]) -> int:
        """Tokens of the pieces as one text, exactly; each but the last must end with a line end.

        Counts add up where a piece begins safely (docs/decisions/0021); one that does not is counted with what stands
        before it. A counter of which that is not known counts the whole.

        Args:
            pieces: Each with whether the separator follows it.

        Cost: a look-up per piece that was counted before.
        """
        if not self.adds_up:
            return self.count_uncached("".join([_whole(*piece) for piece in pieces])) if pieces else 0
        safe = self._safe
        frame: list[str] = []
        sections: list[str] = []
        last = frame
        for text, is_section in pieces:
            first = text[:1] or SEPARATOR[:is_section]
            known = safe.get(first)
            if (frame or sections) and not (self._starts_safely(first) if known is None else known):
                joined = _whole(last.pop(), last is sections) + _whole(text, is_section)
                frame.append(joined)
                last = frame
            else:
                last = sections if is_section else frame
                last.append(text)
        return sum(self.counts(frame)) + sum(self.sections(sections))

    def _starts_safely(self, first: str) -> bool:
        assert isinstance(self.counter, TokenCounter)
        if len(self._safe) >= _FIRSTS:
            self._safe.clear()
        known = self._safe[first] = self.counter.starts_safely(first)
        return known

    def of_layers(self, layers: Mapping[LayerName, Sequence[tuple[str, bool]]]) -> dict[LayerName, int]:
        """Tokens of each layer on its own, from its pieces.

        Cost: a look-up per piece; for counters that do not add up, a count of the prompt.
        """
        return {layer: self.of_pieces(pieces) for layer, pieces in layers.items()}

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
            return self.count_uncached(_joined(layers)), None
        by_layer = self.of_layers(layers)
        total = sum(by_layer.values())
        if sys.flags.dev_mode and (whole := self.count_uncached(_joined(layers))) != total:
            logger.error("%s: pieces count %d, the prompt %d", self.counter.name, total, whole)
            return whole, None
        return total, by_layer

    def count_uncached(self, text: str) -> int:
        """Tokens of `text`, counted now and not remembered: prompts, which differ every time."""
        return self.counter.count(text)


def _whole(text: str, is_section: bool) -> str:
    return text + SEPARATOR if is_section else text


def _joined(layers: Mapping[LayerName, Sequence[tuple[str, bool]]]) -> str:
    return "".join([_whole(*piece) for pieces in layers.values() for piece in pieces])
