"""An answer of retrieval with all that led to it."""

from armarius.graph.additions import Known
from armarius.retrieval.fusion import Mixed
from armarius.retrieval.hits import Retrieval
from armarius.retrieval.signals.rankings import Ranking
from armarius.retrieval.understand.subjects import People

__all__ = ["Found"]


class Found:
    """One answer with everything that led to it, for those who go on from there (passages, explanations)."""

    __slots__ = ("answer", "known", "lists", "mixed", "people")

    def __init__(
        self,
        answer: Retrieval,
        people: People,
        lists: list[Ranking],
        mixed: list[Mixed],
        known: Known = Known(),  # noqa: B008 - frozen
    ) -> None:
        self.answer = answer
        self.known = known
        self.people = people
        self.lists = lists
        self.mixed = mixed
