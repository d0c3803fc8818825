"""Ask all fetchers, a host's in threads of their own; failures become warnings, pins and mutes are applied."""

import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import filterfalse
from operator import attrgetter, itemgetter
from typing import TypeVar

from armarius.arguments import Bounds
from armarius.deadline import remaining, wait_until
from armarius.types import (
    DOCUMENT,
    LAYERS,
    PASSAGE,
    THREAD,
    Candidate,
    Confirming,
    Evidence,
    Fetched,
    Fetcher,
    FetchRequest,
    LayerName,
    Omission,
    OmitReason,
    PassageRow,
    PassageStream,
    Wish,
)
from armarius.warnings import IMMEDIATE_FAILED, RETRIEVED_FAILED, RULES_FAILED, SETTINGS_FAILED, WarningRow

_FAILED: dict[LayerName, WarningRow] = {
    "rules": RULES_FAILED,
    "settings": SETTINGS_FAILED,
    "retrieved": RETRIEVED_FAILED,
    "immediate": IMMEDIATE_FAILED,
}


_LAYER, _ID, _IS_PINNED = attrgetter("layer"), attrgetter("id"), attrgetter("pinned")
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
    answers = _ask_all(fetchers, request, partial(_ask, request), timeout)
    pairs = zip(fetchers, answers, strict=True)
    return [_failed_outcome(fetcher, _late_reason(timeout)) if answer is None else answer for fetcher, answer in pairs]


def confirm_all(
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
    ids: set[str] = set()
    failed = []
    answers = _ask_all(able, request, lambda fetcher: _confirm(fetcher, candidates, request), timeout)
    for fetcher, answer in zip(able, answers, strict=True):
        if isinstance(answer, set):
            ids |= answer
        else:
            warnings = _failed_outcome(fetcher, answer or _late_reason(timeout)).fetched.warnings
            failed.append(FetchOutcome(fetcher.name, fetcher.layer, Fetched((), (), warnings)))
    return ids, failed


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
    inline = [getattr(source, "inline", False) is True or _is_inline(source, request) for source in sources]
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


def _late_reason(timeout: float) -> str:
    return f"no answer within {round(timeout, 2):g} s"


def _ask(request: FetchRequest, fetcher: Fetcher) -> FetchOutcome:
    try:
        fetched = fetcher.fetch(request)
        parts = tuple(fetched.candidates), tuple(fetched.omitted), tuple(fetched.warnings)
        fetched = Fetched(*parts, fetched.offer, fetched.confidence)
        strays = sorted(set(map(_LAYER, fetched.candidates)).difference(LAYERS))
        if strays:
            return _failed_outcome(fetcher, f"candidates for unknown layers: {', '.join(strays)}")
    except Exception as error:  # noqa: BLE001 - no source failure may fail the call
        return _failed_outcome(fetcher, f"{type(error).__name__}: {error}")
    return FetchOutcome(fetcher.name, fetcher.layer, fetched)


def _failed_outcome(fetcher: Fetcher, why: str) -> FetchOutcome:
    warning = _FAILED[fetcher.layer](fetcher=fetcher.name, why=why)
    omission = Omission(fetcher.name, fetcher.layer, fetcher.name, "source failed", why)
    return FetchOutcome(fetcher.name, fetcher.layer, Fetched((), (omission,), (warning,)))


_TEXTS = ("document", "paragraph")
# What ids and sources of what a wish of each kind means begin with; a document's paragraphs as it does, before `#`.
_MEANT = {
    "entity": ("entity:", THREAD),
    "document": (DOCUMENT, "style:", PASSAGE),
    "paragraph": (PASSAGE,),
    "source": ("",),
}
_QUERY = "request:query"
_WINDOW = "editor:"


def apply_pins(answers: Sequence[FetchOutcome], wishes: Sequence[Wish]) -> list[FetchOutcome]:
    """The answers as the wishes of a request have them. Cost: some look-ups for each candidate."""
    if not wishes:
        return list(answers)
    lookup = _WishIndex(wishes)
    ids = {candidate.id for answer in answers if answer.name != "pins" for candidate in answer.fetched.candidates}
    pins = [candidate for answer in answers if answer.name == "pins" for candidate in answer.fetched.candidates]
    pinned = {candidate.id for candidate in pins if not any(wish.mute for wish in lookup.of(candidate))}
    return [
        _apply_wishes(answer, lookup, ids, pinned)
        if (of := answer.fetched).candidates or of.omitted or of.offer is not None
        else answer
        for answer in answers
    ]


def dropped_pins(wishes: Sequence[Wish], bounds: Bounds, previous: Iterable[Candidate]) -> Iterator[str]:
    """Ids of what no longer stays from a previous prompt: what is muted, and what was there only as it was pinned."""
    lookup = _WishIndex(wishes)
    for candidate in previous:
        muted = any(wish.mute for wish in lookup.of(candidate))
        if muted or any(_quotes_hidden(evidence, bounds) for evidence in candidate.evidence):
            yield candidate.id


def _quotes_hidden(evidence: Evidence, bounds: Bounds) -> bool:
    """Whether it is a pin, or quotes what is hidden now."""
    start, end = evidence.span or (0, 0)
    return evidence.kind == "pin" or any(first < end and start < last for first, last in bounds.hides(evidence.path))


class _WishIndex:
    """The wishes of a request, by what they are about; of several about one thing the first counts."""

    def __init__(self, wishes: Sequence[Wish]) -> None:
        self.all = wishes
        self.known: dict[str, tuple[int, Wish]] = {}  # by id or source of what is meant, with the rank
        for rank, wish in enumerate(wishes):
            for begin in _MEANT.get(wish.kind, ()):
                self.known.setdefault(begin + wish.key, (rank, wish))
        keys = [key.removeprefix(PASSAGE) for key in self.known if key.startswith(PASSAGE)]
        self.paths = {path for key in keys for path in (key, key.rpartition("#")[0])}  # of texts that are meant

    def of(self, candidate: Candidate) -> list[Wish]:
        """Those that mean a candidate, the first one first; none for the window, the selection and the query."""
        source = candidate.source
        if source == _QUERY or source.startswith(_WINDOW):
            return []
        keys = {candidate.id, source, source.rpartition("#")[0] if source.startswith(PASSAGE) else source}
        return list(map(itemgetter(1), sorted(filter(None, map(self.known.get, keys)), key=itemgetter(0))))


def _apply_wishes(answer: FetchOutcome, wishes: _WishIndex, ids: set[str], pins: set[str]) -> FetchOutcome:
    fetched = answer.fetched
    candidates: list[Candidate] = []
    omitted = list(fetched.omitted)
    for candidate in fetched.candidates:
        id_, source, by = candidate.id, candidate.source, wishes.known
        about = wishes.of(candidate) if id_ in by or source in by or source.startswith(PASSAGE) else []
        if muted := [wish for wish in about if wish.mute] if about else []:
            omitted.append(Omission(candidate.id, candidate.layer, candidate.source, muted[0].reason, muted[0].why))
        elif about and answer.name != "pins":
            evidence = (*candidate.evidence, Evidence("pin", about[0].why))
            candidates.append(replace(candidate, pinned=True, evidence=evidence))
        elif answer.name != "pins" or candidate.id not in ids:  # another fetcher has it, with its own reasons
            candidates.append(candidate)
    if omitted and (pinned := {*map(_ID, filter(_IS_PINNED, candidates)), *pins}):
        omitted = [gone for gone in omitted if gone.id not in pinned]
    offer = fetched.offer
    if offer is not None and wishes.paths:
        offer = _PinnedOffer(offer, wishes)
    if offer is not None:  # of levels, which stand, `withheld` tells when it is asked
        muted_texts = [wish for wish in wishes.all if wish.mute and wish.kind in _TEXTS and wish.reason != "level"]
        omitted += [Omission(_source(wish), "retrieved", _source(wish), wish.reason, wish.why) for wish in muted_texts]
    return replace(answer, fetched=Fetched(candidates, omitted, fetched.warnings, offer, fetched.confidence))


def _source(wish: Wish) -> str:
    return DOCUMENT + wish.key if wish.kind == "document" else PASSAGE + wish.key


class _PinnedOffer:
    """An offer without what is muted, nor what is pinned and so in the prompt already; see `types.PassageStream`."""

    def __init__(self, offer: PassageStream, wishes: _WishIndex) -> None:
        self.offer, self.wishes = offer, wishes
        self.shares, self.group = offer.shares, offer.group
        self.evidence, self.explain = offer.evidence, offer.explain

    @property
    def rows(self) -> Iterator[PassageRow]:
        return filterfalse(self.wish, self.offer.rows)

    @property
    def stretches(self) -> Iterator[Sequence[PassageRow]]:
        return filter(None, (list(filterfalse(self.wish, stretch)) for stretch in self.offer.stretches))

    def row(self, path: str, paragraph: int, /) -> PassageRow | None:
        row = self.offer.row(path, paragraph)
        return row if row is None or self.wish(row) is None else row._replace(text="")

    def neighbour(self, row: PassageRow, step: int, /) -> PassageRow | None:
        other = self.offer.neighbour(row, step)
        return None if other is None or self.withheld(other) is not None else other

    def withheld(self, row: PassageRow, /) -> tuple[OmitReason, str] | None:
        wish = self.wish(row)
        return self.offer.withheld(row) if wish is None else (wish.reason if wish.mute else "duplicate", wish.why)

    def wish(self, row: PassageRow) -> Wish | None:
        if row.path not in self.wishes.paths:
            return None
        keys = PASSAGE + row.path, row.source
        return min(filter(None, map(self.wishes.known.get, keys)), key=itemgetter(0), default=(0, None))[1]
