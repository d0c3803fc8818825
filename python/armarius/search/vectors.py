"""Vector search during retrieval: a thread with a timeout, the open document's text, outliers."""

import threading
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace

from armarius.deadline import remaining, wait_until
from armarius.documents.document import Document
from armarius.documents.segments import Paragraph
from armarius.errors import ContextWarning, message_of
from armarius.search.corpus import Corpus
from armarius.types import Near, VectorHits
from armarius.warnings import EMBEDDING_UNAVAILABLE

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

    @classmethod
    def of(cls, search: "VectorSearch | VectorGuard") -> "VectorGuard":
        """`search` behind a clock."""
        return search if isinstance(search, cls) else cls(search)  # type: ignore[arg-type]

    def over(self, change: Callable[[VectorSearch], VectorSearch]) -> "VectorGuard":
        """The same behind the same clock, with `change` made to its search."""
        other = copy(self)
        other._search = change(self._search)
        return other

    def begin(self, query: str) -> Callable[[list[ContextWarning]], VectorHits | None]:
        """Begin to ask; the result waits for the answer, and adds to a list of warnings why there is none."""
        if not self._free.acquire(blocking=False):
            return lambda warnings: _failed(warnings, "earlier questions are not answered yet")
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
            return lambda warnings: _failed(warnings, why)

        def over(seconds: float) -> bool:
            thread.join(seconds)
            return bool(answers)

        def wait(warnings: list[ContextWarning]) -> VectorHits | None:
            seconds = remaining(self._timeout, share=_SHARE)
            if not wait_until(over, seconds):
                return _failed(warnings, f"no answer within {round(seconds, 2):g} s")
            (answer,) = answers
            if isinstance(answer, Exception):
                return _failed(warnings, message_of(answer))
            if answer.trouble:
                warnings.append(EMBEDDING_UNAVAILABLE(why=answer.trouble))
            return answer

        return wait


def _failed(warnings: list[ContextWarning], why: str) -> VectorHits | None:
    warnings.append(EMBEDDING_UNAVAILABLE(why=why))
    return None


def with_live(
    vectors: VectorSearch | VectorGuard, saved: Document | None, live: Document
) -> VectorSearch | VectorGuard:
    """`vectors`, what they say of a saved document moved to where the same paragraph stands in the live one.

    Vectors are made of what is saved: of a paragraph that has changed since they say nothing.
    """
    if saved is None:
        return vectors
    if isinstance(vectors, VectorGuard):
        return vectors.over(lambda search: _with_live(search, saved, live))
    return _with_live(vectors, saved, live)


def _with_live(vectors: VectorSearch, saved: Document, live: Document) -> VectorSearch:
    places: dict[str, Paragraph] = {}
    for one in live.paragraphs:
        places.setdefault(live.text[one.start : one.end], one)
    moves = {one.index: places.get(saved.text[one.start : one.end]) for one in saved.paragraphs}
    starts = {one.start: one.index for one in saved.paragraphs}

    def search(query: str) -> VectorHits:
        answer = vectors(query)
        found = []
        for near in answer.found:
            moved = moves.get(starts.get(near.start, -1))
            if near.path != saved.path:
                found.append(near)
            elif moved is not None:
                found.append(replace(near, start=moved.start, end=moved.end))
        return replace(
            answer, found=tuple(found), paragraphs=tuple(_moved(answer.paragraphs)), lines=tuple(_moved(answer.lines))
        )

    def _moved(placed: Sequence[tuple[str, int, float]]) -> Iterator[tuple[str, int, float]]:
        for path, index, similarity in placed:
            moved = moves.get(index)
            if path != saved.path:
                yield path, index, similarity
            elif moved is not None:
                yield path, moved.index, similarity

    return search


def outliers(corpus: Corpus, answer: VectorHits) -> dict[int, Near]:
    """Keys of the texts in which something stands out, best first, each with its paragraph."""
    near: dict[int, Near] = {}
    for one in answer.found:
        key = _text_at(corpus, one) if _is_seen(corpus, one) else None
        if key is not None:
            near.setdefault(key, one)
    return near


def _is_seen(corpus: Corpus, near: Near) -> bool:
    document = corpus.document(near.path) if corpus.scope else None
    return document is None or bool(document.text[near.start : near.end].strip())


def _text_at(corpus: Corpus, near: Near) -> int | None:
    """The text that a paragraph lies in; the first one when it lies in none, as a title does."""
    texts = corpus.texts_of(near.path)
    inside = (text.key for text in texts if text.start <= near.start < text.end)
    return next(inside, texts[0].key if texts else None)
