"""Texts near in meaning, when there is a model."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from armarius.documents.document import Document
from armarius.documents.segments import Paragraph
from armarius.errors import ContextWarning, message_of
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.semantic.outliers import Near, Nearby
from armarius.warnings_table import EMBEDDING_UNAVAILABLE

__all__ = ["VectorSearch", "nearby", "standing_out", "with_live"]

# The question to what is near in meaning; may raise.
VectorSearch = Callable[[str], Nearby]


def nearby(vectors: VectorSearch, query: str, warnings: list[ContextWarning]) -> Nearby | None:
    """What a search by meaning finds; a failing one is added to `warnings`."""
    try:
        answer = vectors(query)
    except Exception as error:  # noqa: BLE001 - no source failure may fail the call
        warnings.append(EMBEDDING_UNAVAILABLE(why=message_of(error)))
        return None
    if answer.trouble:
        warnings.append(EMBEDDING_UNAVAILABLE(why=answer.trouble))
    return answer


def with_live(vectors: VectorSearch, saved: Document | None, live: Document) -> VectorSearch:
    """`vectors`, what they say of a saved document moved to where the same paragraph stands in the live one.

    Vectors are made of what is saved: of a paragraph that has changed since they say nothing.
    """
    if saved is None:
        return vectors
    places: dict[str, Paragraph] = {}
    for one in live.paragraphs:
        places.setdefault(live.text[one.start : one.end], one)
    moves = {one.index: places.get(saved.text[one.start : one.end]) for one in saved.paragraphs}
    starts = {one.start: one.index for one in saved.paragraphs}

    def search(query: str) -> Nearby:
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


def standing_out(tables: CorpusTables, answer: Nearby) -> dict[int, Near]:
    """Keys of the texts in which something stands out, best first, each with its paragraph."""
    near: dict[int, Near] = {}
    for one in answer.found:
        key = _text_at(tables, one) if _is_seen(tables, one) else None
        if key is not None:
            near.setdefault(key, one)
    return near


def _is_seen(tables: CorpusTables, near: Near) -> bool:
    document = tables.document(near.path) if tables.bounds else None
    return document is None or bool(document.text[near.start : near.end].strip())


def _text_at(tables: CorpusTables, near: Near) -> int | None:
    """The text that a paragraph lies in; the first one when it lies in none, as a title does."""
    texts = tables.texts_of(near.path)
    inside = (text.key for text in texts if text.start <= near.start < text.end)
    return next(inside, texts[0].key if texts else None)
