"""Texts near in meaning, when there is a model: their ranking, beside those by words."""

from bisect import bisect_right
from collections.abc import Callable

from armarius.errors import ContextWarning, message_of
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.signals.rankings import Ranking
from armarius.semantic.outliers import Near, Nearby
from armarius.warnings_table import EMBEDDING_UNAVAILABLE

__all__ = ["VectorSearch", "nearby"]

# The question to paragraphs that stand out as near in meaning, best first; may raise.
VectorSearch = Callable[[str], Nearby]


def nearby(vectors: VectorSearch, tables: CorpusTables, query: str, warnings: list[ContextWarning]) -> list[Ranking]:
    """A list of texts near in meaning, or none; a failing search is added to `warnings`."""
    try:
        answer = vectors(query)
    except Exception as error:  # noqa: BLE001 - no source failure may fail the call
        warnings.append(EMBEDDING_UNAVAILABLE(why=message_of(error)))
        return []
    if answer.trouble:
        warnings.append(EMBEDDING_UNAVAILABLE(why=answer.trouble))
    near: dict[int, Near] = {}
    blocks: dict[int, tuple[int, ...]] = {}
    for one in answer.found:
        place = _text_at(tables, one)
        if place is not None and place[0] not in near:
            near[place[0]], blocks[place[0]] = one, (place[1],)
    return [Ranking("vector", 0.0, tuple(near), blocks, near)] if near else []


def _text_at(tables: CorpusTables, near: Near) -> tuple[int, int] | None:
    """The text and the block of it that a paragraph lies in; the first block when it lies in none, as a title does."""
    texts = tables.texts_of(near.path)
    for text in texts:
        number = bisect_right(text.blocks, near.start, key=lambda block: block.start) - 1
        if number >= 0 and near.start < text.blocks[number].end:
            return text.key, number
    return (texts[0].key, 0) if texts else None
