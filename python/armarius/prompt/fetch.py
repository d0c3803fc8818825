"""Ask all fetchers, a host's in threads of their own, and turn failures into warnings."""

import queue
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from armarius.deadline import remaining, wait_until
from armarius.types import (
    LAYERS,
    Candidate,
    Confirming,
    Fetched,
    Fetcher,
    FetchRequest,
    LayerName,
    Omission,
)
from armarius.warnings import IMMEDIATE_FAILED, RETRIEVED_FAILED, RULES_FAILED, SETTINGS_FAILED, WarningRow

__all__ = ["FetchOutcome", "confirmed", "fetch_all"]

_FAILED: dict[LayerName, WarningRow] = {
    "rules": RULES_FAILED,
    "settings": SETTINGS_FAILED,
    "retrieved": RETRIEVED_FAILED,
    "immediate": IMMEDIATE_FAILED,
}


Source = TypeVar("Source", bound=Fetcher)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class FetchOutcome:
    """The answer of one fetcher, or its failure as an omission and a warning."""

    name: str
    layer: LayerName
    fetched: Fetched


def fetch_all(fetchers: Sequence[Fetcher], request: FetchRequest, *, timeout: float) -> list[FetchOutcome]:
    """Ask every fetcher at once.

    Args:
        fetchers: A host's are asked in threads of their own, side by side; our own, which answer from memory, here.
        request: Handed to each as it is.
        timeout: Seconds from now after which a fetcher counts as failed, less where the call is due before. Its thread
            is left to end by itself; what it says then is dropped.

    Returns:
        One answer per fetcher, in their order. A fetcher that raised or timed out has no
        candidates, an omission with the reason `source failed`, and a warning.

    Cost: one thread per fetcher of a host's, about 0.1 ms each.
    """
    timeout = remaining(timeout)
    answers = _ask_all(fetchers, request, lambda fetcher: _ask(fetcher, request), timeout)
    pairs = zip(fetchers, answers, strict=True)
    return [_failed(fetcher, _late(timeout)) if answer is None else answer for fetcher, answer in pairs]


def confirmed(
    fetchers: Sequence[Fetcher], candidates: Sequence[Candidate], request: FetchRequest, *, timeout: float
) -> tuple[set[str], list[FetchOutcome]]:
    """Ids of those `candidates`, from an earlier prompt, that a fetcher would word the same today.

    A fetcher that cannot say confirms nothing.

    Args:
        fetchers: Those that are `Confirming` are asked, in threads of their own.
        candidates: Handed to each as they are.
        request: Likewise.
        timeout: As for `fetch_all`.

    Returns:
        The ids, and for each fetcher that raised or timed out an answer with the warning of its layer alone.
    """
    timeout = remaining(timeout)
    able = [fetcher for fetcher in fetchers if isinstance(fetcher, Confirming)]
    found: set[str] = set()
    failed = []
    answers = _ask_all(able, request, lambda fetcher: _confirm(fetcher, candidates, request), timeout)
    for fetcher, answer in zip(able, answers, strict=True):
        if isinstance(answer, set):
            found |= answer
        else:
            warnings = _failed(fetcher, answer or _late(timeout)).fetched.warnings
            failed.append(FetchOutcome(fetcher.name, fetcher.layer, Fetched((), (), warnings)))
    return found, failed


def _is_inline(fetcher: Fetcher, request: FetchRequest) -> bool:
    """Whether a fetcher answers this request from memory, at once: our own do or say so, a host's has a thread."""
    inline = getattr(fetcher, "inline", False)
    if not callable(inline):
        return bool(inline)
    try:
        return bool(inline(request))
    except Exception:  # noqa: BLE001 - no source failure may fail the call
        return False


def _ask_all(
    sources: Sequence[Source], request: FetchRequest, ask: Callable[[Source], Answer], timeout: float
) -> list[Answer | None]:
    """The answer of each source, in order; None for one that is late.

    Those that answer at once are asked here, while the others run in threads of their own.
    """
    deadline = time.monotonic() + timeout
    inline = [_is_inline(source, request) for source in sources]
    done: queue.SimpleQueue[tuple[int, Answer]] = queue.SimpleQueue()
    for at, source in enumerate(sources):
        if not inline[at]:
            threading.Thread(
                target=lambda at=at, source=source: done.put((at, ask(source))), name="armarius-fetcher", daemon=True
            ).start()
    answers: dict[int, Answer] = {at: ask(source) for at, source in enumerate(sources) if inline[at]}

    def next_answer(seconds: float) -> bool:
        try:
            at, answer = done.get(timeout=seconds)
        except queue.Empty:
            return False
        answers[at] = answer
        return True

    while len(answers) < len(sources) and wait_until(next_answer, max(0.0, deadline - time.monotonic())):
        pass
    return [answers.get(at) for at in range(len(sources))]


def _confirm(fetcher: Confirming, candidates: Sequence[Candidate], request: FetchRequest) -> set[str] | str:
    """The ids, or why there are none."""
    try:
        ids: Collection[str] = fetcher.confirm(candidates, request)
        return set(ids)
    except Exception as error:  # noqa: BLE001 - no source failure may fail the call
        return f"{type(error).__name__}: {error}"


def _late(timeout: float) -> str:
    return f"no answer within {round(timeout, 2):g} s"


def _ask(fetcher: Fetcher, request: FetchRequest) -> FetchOutcome:
    try:
        fetched = fetcher.fetch(request)
        fetched = Fetched(tuple(fetched.candidates), tuple(fetched.omitted), tuple(fetched.warnings), fetched.offer)
        strays = sorted({candidate.layer for candidate in fetched.candidates} - set(LAYERS))
        if strays:
            return _failed(fetcher, f"candidates for unknown layers: {', '.join(strays)}")
    except Exception as error:  # noqa: BLE001 - no source failure may fail the call
        return _failed(fetcher, f"{type(error).__name__}: {error}")
    return FetchOutcome(fetcher.name, fetcher.layer, fetched)


def _failed(fetcher: Fetcher, why: str) -> FetchOutcome:
    warning = _FAILED[fetcher.layer](fetcher=fetcher.name, why=why)
    omission = Omission(fetcher.name, fetcher.layer, fetcher.name, "source failed", why)
    return FetchOutcome(fetcher.name, fetcher.layer, Fetched((), (omission,), (warning,)))
