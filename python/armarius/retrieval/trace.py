"""An answer of retrieval with all that led to it."""

from armarius.graph.additions import Known
from armarius.retrieval.hits import Retrieval
from armarius.retrieval.order import Ordered
from armarius.retrieval.ranking import Ranked
from armarius.retrieval.understand.subjects import People

__all__ = ["Found"]


class Found:
    """One answer with everything that led to it, for those who go on from there (passages, explanations)."""

    __slots__ = ("answer", "known", "ordered", "people", "ranked")

    def __init__(
        self,
        answer: Retrieval,
        people: People,
        ranked: Ranked,
        ordered: list[Ordered],
        known: Known = Known(),  # noqa: B008 - frozen
    ) -> None:
        self.answer = answer
        self.known = known
        self.people = people
        self.ranked = ranked
        self.ordered = ordered
