"""Fakes for tests of code that uses armarius: a fetcher that answers as told, a counter with fixed prices."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from armarius.errors import ContextWarning
from armarius.fetchers.base import Candidate, Fetched, FetchRequest, LayerName, Omission

__all__ = ["FakeFetcher", "FixedCounter"]


@dataclass(slots=True)
class FakeFetcher:
    """A fetcher that answers what it was given, fails when told to, and keeps the requests it saw.

    Args:
        candidates: Returned as they are; their layer decides where they go.
        layer: The layer it claims to fill.
        error: Raised instead of an answer.
        delay: Seconds to sleep before answering.
    """

    candidates: Sequence[Candidate] = ()
    layer: LayerName = "retrieved"
    name: str = "fake"
    omitted: Sequence[Omission] = ()
    warnings: Sequence[ContextWarning] = ()
    error: Exception | None = None
    delay: float = 0.0
    requests: list[FetchRequest] = field(default_factory=list)

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """Answer as told."""
        self.requests.append(request)
        if self.delay:
            time.sleep(self.delay)
        if self.error is not None:
            raise self.error
        return Fetched(self.candidates, self.omitted, self.warnings)


@dataclass(slots=True)
class FixedCounter:
    """A counter that can be checked by hand: one token per character, or per word.

    Args:
        per: `character` is additive over any join; `word` is additive over joins by white space.
        error: Raised instead of a count.
        texts: Every text it was asked about, in order.
    """

    per: Literal["character", "word"] = "character"
    name: str = "fixed"
    exact: bool = True
    error: Exception | None = None
    texts: list[str] = field(default_factory=list)

    def count(self, text: str, /) -> int:
        """Tokens of one text."""
        self.texts.append(text)
        if self.error is not None:
            raise self.error
        return len(text) if self.per == "character" else len(text.split())

    def count_batch(self, texts: Sequence[str], /) -> list[int]:
        """Tokens of each text."""
        return [self.count(text) for text in texts]
