"""Counting once: a counter with a memory, so that only new text is tokenised."""

from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Protocol

from armarius.text.tokens import TokenCounter

__all__ = ["CachedCounter", "Counter"]

_FIRSTS = 10_000  # characters
_LONG = 1_000  # code points
_LONG_KEPT = 1_500_000  # code points of them in all


class Counter(Protocol):
    """Text to tokens. `armarius.TokenCounter` is one; a host may bring its own."""

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

    def count_batch(self, texts: list[str], /) -> list[int]:
        """Tokens of each text."""
        ...


class CachedCounter:
    """A counter that remembers.

    Pieces of a prompt recur from request to request; each is counted once. The memory is bounded: when it is full, the
    half that is known longest goes; of long texts, most of them windows that come but once, the last are kept. Safe to
    share between threads: at worst a text is counted twice (docs/decisions/0182).

    Attributes:
        counter: What counts.
        adds_up: Whether counts of pieces are known to be the count of the whole.
    """

    _MEMORY_CHARACTERS = 2_500_000  # three long novels' worth; of Chinese 5 MB, and 100 bytes a text

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self._known: dict[str, int] = {}
        self._held = self._held_long = 0
        self._long: deque[str] = deque()
        self.adds_up = isinstance(counter, TokenCounter) and counter.additive
        self._safe: dict[str, bool] = {}  # first characters, and whether a piece may begin with them

    def count(self, text: str) -> int:
        """Tokens of `text`; remembered."""
        known = self._known.get(text)
        return self.counts([text])[0] if known is None else known

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order; the unknown ones are counted in one batch."""
        known = self._known
        try:
            return [known[text] for text in texts]
        except KeyError:
            counted = {text: known.get(text, -1) for text in texts}
        missing = [text for text, tokens in counted.items() if tokens < 0]
        found = self.counter.count_batch(missing)
        counted.update(zip(missing, found, strict=True))
        self._remember(missing, found)
        return [counted[text] for text in texts]

    def _remember(self, texts: Sequence[str], tokens: Sequence[int]) -> None:
        more = sum(map(len, texts))
        if self._held + more > self._MEMORY_CHARACTERS:
            self._forget_half()
        self._held += more
        known, long = self._known, self._long
        for text, count in zip(texts, tokens, strict=True):
            # A copy: the text itself holds its UTF-8 beside its characters once the core has read it.
            key = (text + "\n")[:-1]
            known[key] = count
            if len(key) > _LONG:
                long.append(key)
                self._held_long += len(key)
        while self._held_long > _LONG_KEPT and long:
            gone = long.popleft()
            self._held_long -= len(gone)
            if known.pop(gone, None) is not None:
                self._held -= len(gone)

    def _forget_half(self) -> None:
        """Those known longest stand first. Threads that come here at once forget more than they must."""
        known = self._known
        for gone in list(islice(known, len(known) // 2 + 1)):
            known.pop(gone, None)
        self._long = deque(text for text in list(self._long) if text in known)
        self._held, self._held_long = sum(map(len, list(known))), sum(map(len, self._long))

    def of_pieces(self, pieces: Sequence[str]) -> int:
        """Tokens of the pieces as one text, exactly; each but the last must end with a line end.

        Counts add up where a piece begins safely (docs/decisions/0021); one that does not is counted with what stands
        before it. A counter of which that is not known counts the whole.

        Cost: a look-up per piece that was counted before.
        """
        if not self.adds_up:
            return self.count_uncached("".join(pieces)) if pieces else 0
        safe = self._safe
        runs: list[str] = []
        for piece in pieces:
            known = safe.get(piece[:1])
            if runs and not (self._starts_safely(piece[:1]) if known is None else known):
                runs[-1] += piece
            else:
                runs.append(piece)
        return sum(self.counts(runs))

    def _starts_safely(self, first: str) -> bool:
        assert isinstance(self.counter, TokenCounter)
        if len(self._safe) >= _FIRSTS:
            self._safe.clear()
        known = self._safe[first] = self.counter.starts_safely(first)
        return known

    def count_uncached(self, text: str) -> int:
        """Tokens of `text`, counted now and not remembered: prompts, which differ every time."""
        return self.counter.count(text)
