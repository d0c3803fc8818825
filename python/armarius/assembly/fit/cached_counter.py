"""Counting once: a counter with a memory, so that only new text is tokenised."""

from collections.abc import Sequence
from typing import Protocol

from armarius.text.tokens import TokenCounter

__all__ = ["CachedCounter", "Counter"]

_FIRSTS = 10_000  # characters


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

    Pieces of a prompt recur from request to request; each is counted once. The memory is bounded
    and dropped whole when full. Safe to share between threads: at worst a text is counted twice.

    Attributes:
        counter: What counts.
        adds_up: Whether counts of pieces are known to be the count of the whole.
    """

    _MEMORY_CHARACTERS = 16_000_000

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self._known: dict[str, int] = {}
        self._held = 0
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
            missing = [text for text in dict.fromkeys(texts) if text not in known]
        found = self.counter.count_batch(missing)
        fresh = dict(zip(missing, found, strict=True))
        self._held += sum(map(len, missing))
        if self._held > self._MEMORY_CHARACTERS:
            self._known, self._held = {}, 0
        self._known.update(fresh)
        return [fresh[text] if text in fresh else known[text] for text in texts]

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
