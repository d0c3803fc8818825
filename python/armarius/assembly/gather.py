"""Asking all fetchers side by side, and turning what goes wrong into warnings."""

import contextlib
import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from armarius.errors import ContextWarning
from armarius.fetchers.base import LAYERS, Candidate, Confirming, Fetched, Fetcher, FetchRequest, LayerName, Omission

__all__ = ["Answer", "confirmed", "gather"]

_CODES: dict[LayerName, str] = {
    "rules": "RULES_UNAVAILABLE",
    "settings": "MEMORY_UNAVAILABLE",
    "retrieved": "RAG_UNAVAILABLE",
    "immediate": "EDITOR_UNAVAILABLE",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What one fetcher said, or what became of it."""

    name: str
    layer: LayerName
    fetched: Fetched


def gather(fetchers: Sequence[Fetcher], request: FetchRequest, *, timeout: float) -> list[Answer]:
    """Ask every fetcher at once.

    Args:
        fetchers: Asked in threads of their own; one fetcher is asked in the caller's.
        request: Handed to each as it is.
        timeout: Seconds from now after which a fetcher counts as failed. Its thread is left to
            end by itself; what it says then is dropped.

    Returns:
        One answer per fetcher, in their order. A fetcher that raised or timed out has no
        candidates, an omission with the reason `source failed`, and a warning.

    Cost: one thread per fetcher beyond the first, about 0.1 ms each.
    """
    if not fetchers:
        return []
    done: queue.SimpleQueue[tuple[int, Answer]] = queue.SimpleQueue()
    deadline = time.monotonic() + timeout
    for index, fetcher in enumerate(fetchers[1:], start=1):
        name = f"armarius-{fetcher.name}"
        threading.Thread(
            target=lambda i=index, f=fetcher: done.put((i, _ask(f, request))), name=name, daemon=True
        ).start()
    threading.Thread(target=lambda: done.put((0, _ask(fetchers[0], request))), daemon=True).start()
    answers: dict[int, Answer] = {}
    while len(answers) < len(fetchers):
        try:
            index, answer = done.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            break
        answers[index] = answer
    late = f"no answer within {timeout:g} s"
    return [answers[i] if i in answers else _failed(fetcher, late) for i, fetcher in enumerate(fetchers)]


def confirmed(fetchers: Sequence[Fetcher], candidates: Sequence[Candidate], request: FetchRequest) -> set[str]:
    """Ids of those `candidates`, from an earlier prompt, that a fetcher would word the same today.

    A fetcher that cannot say, or fails, confirms nothing.
    """
    found: set[str] = set()
    for fetcher in fetchers:
        if isinstance(fetcher, Confirming):
            with contextlib.suppress(Exception):
                found |= set(fetcher.confirm(candidates, request))
    return found


def _ask(fetcher: Fetcher, request: FetchRequest) -> Answer:
    try:
        fetched = fetcher.fetch(request)
        fetched = Fetched(tuple(fetched.candidates), tuple(fetched.omitted), tuple(fetched.warnings))
        strays = sorted({candidate.layer for candidate in fetched.candidates} - set(LAYERS))
        if strays:
            return _failed(fetcher, f"candidates for unknown layers: {', '.join(strays)}")
    except Exception as error:  # noqa: BLE001 - no source failure may fail the call
        return _failed(fetcher, f"{type(error).__name__}: {error}")
    return Answer(fetcher.name, fetcher.layer, fetched)


def _failed(fetcher: Fetcher, why: str) -> Answer:
    warning = ContextWarning(_CODES[fetcher.layer], f"{fetcher.name}: {why}")
    omission = Omission(fetcher.name, fetcher.layer, fetcher.name, "source failed", why)
    return Answer(fetcher.name, fetcher.layer, Fetched((), (omission,), (warning,)))
