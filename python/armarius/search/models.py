"""Models of a host in retrieval: vectors (a thread with a timeout, the open document's text, outliers), a reranker.

A reranker compares a question with each of some dozens of texts more closely than any index can. It is asked about the
best of what retrieval found, once a request and for a limited time; what it says moves paragraphs within the offer and
nothing else. Late, broken, or not a number: the order is that without it, with RERANK_UNAVAILABLE.
"""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Protocol, runtime_checkable

from armarius.deadline import remaining, wait_until
from armarius.documents.document import Document
from armarius.errors import ContextWarning, ContractError, message_of
from armarius.headings import Reason
from armarius.search.corpus import Corpus
from armarius.types import Evidence, Near, PassageRow, PassageStream, VectorHits
from armarius.validation import seconds, whole
from armarius.warnings import EMBEDDING_UNAVAILABLE, RERANK_UNAVAILABLE

# The question to what is near in meaning; may raise.
VectorSearch = Callable[[str], VectorHits]


_MOST_OVERDUE = 4
_SHARE = 0.75  # of what is left of a call: a reranker and hosts' own sources come after


class VectorGuard:
    """A search by meaning behind a clock. Threads may share it.

    A question is embedded in a thread of its own; one that is overdue is left to end by itself, and while four are, no
    more are asked.

    Args:
        search: May raise anything, and be slow.
        timeout_s: Seconds that an answer waits for it, from where it is needed.
    """

    def __init__(self, search: VectorSearch, *, timeout_s: float = 5.0) -> None:
        self._search = search
        self._timeout = timeout_s
        self._free = threading.BoundedSemaphore(_MOST_OVERDUE)

    def with_live(self, saved: Document | None, live: Document) -> "VectorGuard":
        """The same, what it says of a saved document moved to where the same paragraph stands in the live one.

        Vectors are made of what is saved: of a paragraph that has changed since they say nothing.
        """
        if saved is None:
            return self
        search, path = self._search, saved.path
        places = {live.text[block.start : block.end]: block.index for block in reversed(live.paragraphs)}
        moves = {block.index: places.get(saved.text[block.start : block.end]) for block in saved.paragraphs}

        def move_hits(placed: Sequence[tuple[str, int, float]]) -> tuple[tuple[str, int, float], ...]:
            rows = [(name, index if name != path else moves.get(index), alike) for name, index, alike in placed]
            return tuple((name, index, alike) for name, index, alike in rows if index is not None)

        def moved_search(query: str) -> VectorHits:
            answer = search(query)
            pairs = [(hit, hit.paragraph if hit.path != path else moves.get(hit.paragraph)) for hit in answer.found]
            near = tuple(replace(hit, paragraph=index) for hit, index in pairs if index is not None)
            return replace(answer, found=near, paragraphs=move_hits(answer.paragraphs), lines=move_hits(answer.lines))

        other = copy(self)
        other._search = moved_search
        return other

    def begin(self, query: str) -> Callable[[list[ContextWarning]], VectorHits | None]:
        """Begin to ask; the result waits for the answer, and adds to a list of warnings why there is none."""
        if not self._free.acquire(blocking=False):
            return lambda warnings: _warn_failure(warnings, "earlier questions are not answered yet")
        answers: list[VectorHits | Exception] = []

        def ask() -> None:
            try:
                answers.append(self._search(query))
            except Exception as error:  # noqa: BLE001 - no source failure may fail the call
                answers.append(error)
            finally:
                self._free.release()

        thread = threading.Thread(target=ask, name="armarius-vectors", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no thread to be had
            self._free.release()
            why = message_of(error)
            return lambda warnings: _warn_failure(warnings, why)

        def over(seconds: float) -> bool:
            thread.join(seconds)
            return bool(answers)

        def wait(warnings: list[ContextWarning]) -> VectorHits | None:
            seconds = remaining(self._timeout, share=_SHARE)
            if not wait_until(over, seconds):
                return _warn_failure(warnings, f"no answer within {round(seconds, 2):g} s")
            (answer,) = answers
            if isinstance(answer, Exception):
                return _warn_failure(warnings, message_of(answer))
            if answer.trouble:
                warnings.append(EMBEDDING_UNAVAILABLE(why=answer.trouble))
            return answer

        return wait


def _warn_failure(warnings: list[ContextWarning], why: str) -> VectorHits | None:
    warnings.append(EMBEDDING_UNAVAILABLE(why=why))
    return None


def outliers(corpus: Corpus, answer: VectorHits) -> dict[int, Near]:
    """Keys of the texts in which something stands out, best first, each with its paragraph.

    A paragraph that lies in no text, as a title does, counts for the first text of its document.
    """
    near: dict[int, Near] = {}
    for item in answer.found:
        document, texts = corpus.document(item.path), corpus.texts_of(item.path)
        if document is None or not texts or item.paragraph >= len(document.paragraphs):
            continue
        block = document.paragraphs[item.paragraph]
        if document.text[block.start : block.end].strip():
            inside = (text.key for text in texts if text.start <= block.start < text.end)
            near.setdefault(next(inside, texts[0].key), item)
    return near


_MOST_LATE = 4  # calls that have not come back, before it is not asked any more until one does


@runtime_checkable
class Reranker(Protocol):
    """How well each text answers a question. A plain function will do; it is called from threads, several at once."""

    def __call__(self, question: str, texts: Sequence[str], /) -> Sequence[float]:
        """One finite number per text, in their order, higher is better; of any scale. May raise."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """A reranker and how far it is followed.

    Attributes:
        reranker: Asked once for each question.
        paragraphs: How many of the best are handed to it.
        timeout_s: Seconds that a prompt waits for it.
    """

    reranker: Reranker
    paragraphs: int = 50
    timeout_s: float = 2.0
    _late: set[object] = field(default_factory=set, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not callable(self.reranker):
            raise ContractError(f"rerank: {type(self.reranker).__name__} cannot be called with a question and texts")
        whole("paragraphs", self.paragraphs, least=1)
        seconds("timeout_s", self.timeout_s)

    @classmethod
    def of(cls, reranker: "Reranker | Reranking | None") -> "Reranking | None":
        """What a host gave, with the limits of this class where it gave none.

        Raises:
            ContractError: It can neither be called nor is it a `Reranking`.
        """
        return reranker if reranker is None or isinstance(reranker, cls) else cls(reranker)  # type: ignore[arg-type]

    def apply(self, offer: PassageStream, question: str) -> tuple[PassageStream, tuple[ContextWarning, ...]]:
        """The offer in the reranker's order; unchanged, with a warning, where it does not answer.

        Paragraphs that the question asks for by their chapter stay first. Equal scores keep the order they had. The
        worths are those of the offer, handed out anew: the first row has the highest.

        Cost: one call of the reranker; none for fewer than two paragraphs.
        """
        head: list[PassageRow] = []  # they come first, and may be a whole chapter
        rows: list[PassageRow] = []
        for row in offer.rows:
            (head if row.asked else rows).append(row)
            if len(rows) == self.paragraphs:
                break
        if len(rows) < 2:
            return offer, ()
        scores = self._ask(question, [row.text for row in rows])
        if isinstance(scores, str):
            return offer, (RERANK_UNAVAILABLE(why=scores),)
        order = sorted(range(len(rows)), key=lambda at: -scores[at])  # stable: ties as they were
        moved = [rows[at]._replace(score=row.score) for at, row in zip(order, rows, strict=True)]
        return _RerankedStream(offer, [*head, *moved], {rows[at].source: at for at in order}, len(head)), ()

    def _ask(self, question: str, texts: Sequence[str]) -> list[float] | str:
        """A finite number for each text, or why there are none."""
        if len(self._late) >= _MOST_LATE:
            return f"{len(self._late)} earlier calls have not come back"
        done: queue.SimpleQueue[Sequence[float] | Exception] = queue.SimpleQueue()
        ticket = object()

        def call() -> None:
            try:
                done.put(self.reranker(question, texts))
            except Exception as error:  # noqa: BLE001 - no source failure may fail the call
                done.put(error)
            finally:
                self._late.discard(ticket)

        threading.Thread(target=call, name="armarius-reranker", daemon=True).start()
        came: list[Sequence[float] | Exception] = []

        def comes(seconds: float) -> bool:
            try:
                came.append(done.get(timeout=seconds))
            except queue.Empty:
                return False
            return True

        seconds = remaining(self.timeout_s)
        if not wait_until(comes, seconds):
            self._late.add(ticket)
            if not done.empty():  # it came back just now
                self._late.discard(ticket)
            return f"no answer within {round(seconds, 2):g} s"
        import numpy as np  # of vectors and models alone: a prompt without them does not load it

        answer = came[0]
        if isinstance(answer, Exception):
            return f"{type(answer).__name__}: {message_of(answer)}"
        try:
            scores = np.asarray(answer, np.float64)
        except (TypeError, ValueError):
            return "it answered with no numbers"
        if scores.shape != (len(texts),):
            return f"it answered with shape {scores.shape} for {len(texts)} texts"
        if not np.isfinite(scores).all():
            return "it answered with NaN or infinity"
        return [float(score) for score in scores]


class _RerankedStream:
    """A stream with its first rows in another order; see `armarius.types.PassageStream`."""

    def __init__(self, offer: PassageStream, head: list[PassageRow], before: dict[str, int], asked: int) -> None:
        self._offer = offer
        self._head = head
        self.shares, self.group, self.withheld = offer.shares, offer.group, offer.withheld
        self._worths = {row.source: row.score for row in head}
        self._places = {row.source: (before[row.source] + asked, at) for at, row in enumerate(head) if not row.asked}

    @property
    def rows(self) -> Iterator[PassageRow]:
        yield from self._head
        yield from islice(self._offer.rows, len(self._head), None)

    @property
    def stretches(self) -> Iterator[Sequence[PassageRow]]:
        return self._offer.stretches

    def row(self, path: str, paragraph: int, /) -> PassageRow | None:
        result = self._offer.row(path, paragraph)
        return None if result is None else result._replace(score=self._worths.get(result.source, result.score))

    def evidence(self, row: PassageRow, /) -> Evidence:
        return self._rerank_evidence(row, self._offer.evidence(row))

    def explain(self, row: PassageRow, /) -> tuple[Evidence, ...]:
        first, *more = self._offer.explain(row)
        return (self._rerank_evidence(row, first), *more)

    def neighbour(self, row: PassageRow, step: int, /) -> PassageRow | None:
        result = self._offer.neighbour(row, step)
        return None if result is None else self.row(result.path, result.paragraph)

    def _rerank_evidence(self, row: PassageRow, evidence: Evidence) -> Evidence:
        was, now = self._places.get(row.source, (0, 0))
        if was == now:
            return evidence
        return replace(evidence, detail=Reason("reranked", reason=evidence.detail, was=was + 1, now=now + 1))
