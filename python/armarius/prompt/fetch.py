"""Asking all fetchers side by side, and turning what goes wrong into warnings."""

import queue
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from armarius.deadline import patiently, remaining
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
from armarius.warnings import IMMEDIATE_FAILED, RETRIEVED_FAILED, RULES_FAILED, SETTINGS_FAILED, Row

__all__ = ["FetchOutcome", "confirmed", "fetch_all"]

_FAILED: dict[LayerName, Row] = {
    "rules": RULES_FAILED,
    "settings": SETTINGS_FAILED,
    "retrieved": RETRIEVED_FAILED,
    "immediate": IMMEDIATE_FAILED,
}


Source = TypeVar("Source")
Said = TypeVar("Said")


@dataclass(frozen=True, slots=True)
class FetchOutcome:
    """What one fetcher said, or what became of it."""

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
    here = [_is_inline(fetcher, request) for fetcher in fetchers]
    hosts = [fetcher for fetcher, inline in zip(fetchers, here, strict=True) if not inline]
    begun = _begin(hosts, lambda fetcher: _ask(fetcher, request), timeout)
    own = {id(fetcher): _ask(fetcher, request) for fetcher, inline in zip(fetchers, here, strict=True) if inline}
    theirs = begun()
    answers = own | {id(fetcher): theirs[at] for at, fetcher in enumerate(hosts) if at in theirs}
    return [answers.get(id(fetcher)) or _failed(fetcher, _late(timeout)) for fetcher in fetchers]


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
    able = [(fetcher, fetcher) for fetcher in fetchers if isinstance(fetcher, Confirming)]
    here = [_is_inline(fetcher, request) for fetcher, _ in able]
    hosts = [(at, one) for at, one in enumerate(able) if not here[at]]
    begun = _begin(hosts, lambda one: _confirm(one[1][1], candidates, request), timeout)
    said = {at: _confirm(one[1], candidates, request) for at, one in enumerate(able) if here[at]}
    said |= {hosts[at][0]: answer for at, answer in begun().items()}
    found: set[str] = set()
    unsure = []
    for index, (fetcher, _) in enumerate(able):
        answer = said.get(index, _late(timeout))
        if isinstance(answer, str):
            warnings = _failed(fetcher, answer).fetched.warnings
            unsure.append(FetchOutcome(fetcher.name, fetcher.layer, Fetched((), (), warnings)))
        else:
            found |= answer
    return found, unsure


def _is_inline(fetcher: Fetcher, request: FetchRequest) -> bool:
    """Whether a fetcher answers this request from memory, at once: our own do or say so, a host's has a thread."""
    inline = getattr(fetcher, "inline", False)
    if not callable(inline):
        return bool(inline)
    try:
        return bool(inline(request))
    except Exception:  # noqa: BLE001 - no source failure may fail the call
        return False


def _begin(sources: Sequence[Source], ask: Callable[[Source], Said], timeout: float) -> Callable[[], dict[int, Said]]:
    """Begin to ask; the result waits for what each of `sources` says until `timeout` seconds from now."""
    done: queue.SimpleQueue[tuple[int, Said]] = queue.SimpleQueue()
    deadline = time.monotonic() + timeout
    for index, source in enumerate(sources):
        threading.Thread(
            target=lambda i=index, s=source: done.put((i, ask(s))), name="armarius-fetcher", daemon=True
        ).start()

    def answers() -> dict[int, Said]:
        said: dict[int, Said] = {}

        def comes(seconds: float) -> bool:
            try:
                index, answer = done.get(timeout=seconds)
            except queue.Empty:
                return False
            said[index] = answer
            return True

        while len(said) < len(sources) and patiently(comes, max(0.0, deadline - time.monotonic())):
            pass
        return said

    return answers


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
