"""Summaries over a wire: kept by document; a host writes them, and asks which are stale."""

from typing import TYPE_CHECKING, Any

from armarius.codex.model import Summary
from armarius.verbs.method import Method, Params, known
from armarius.verbs.wire import wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["METHODS"]


class OfDocument(Params):
    """Names a document."""

    document: str


class NewSummary(OfDocument):
    """A document's summary, as it is now."""

    text: str


def _list(engine: "ContextEngine", _: Params) -> dict[str, Any]:
    summaries = engine.summaries
    return {"items": [wire(one) for one in summaries.list()], "stale": list(summaries.stale())}


def _delete(engine: "ContextEngine", asked: OfDocument) -> dict[str, str]:
    known(lambda: engine.summaries.delete(asked.document), "documentId")
    return {"documentId": asked.document}


METHODS: tuple[Method[Any], ...] = (
    Method("summaries:list", Params, {"items": list[Summary], "stale": list[str]}, _list),
    Method(
        "summaries:get",
        OfDocument,
        Summary,
        lambda engine, asked: wire(known(lambda: engine.summaries.get(asked.document), "documentId")),
    ),
    Method(
        "summaries:set",
        NewSummary,
        Summary,
        lambda engine, asked: wire(engine.summaries.set(asked.document, asked.text)),
    ),
    Method("summaries:delete", OfDocument, {"documentId": str}, _delete),
)
