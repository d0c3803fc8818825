"""What may be known in a chapter: later chapters are not retrieved unless the question asks for them."""

from dataclasses import dataclass, replace

from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.signals.rankings import Ranking
from armarius.retrieval.understand.query import Understanding

__all__ = ["Timeline"]


@dataclass(frozen=True, slots=True)
class Timeline:
    """The point in the story that the user stands at.

    Attributes:
        chapter: The current chapter; None lets everything through.
        asked: Chapters that the question names: those it may see, later or not.
    """

    chapter: int | None
    asked: frozenset[int] = frozenset()

    @classmethod
    def of(cls, asked: Understanding, chapter: int | None) -> "Timeline":
        """The timeline of a question."""
        return cls(chapter, frozenset(asked.chapters))

    def is_later(self, number: int | None) -> bool:
        """Whether a text with this chapter number is withheld; texts without a number never are."""
        return self.chapter is not None and number is not None and number > self.chapter and number not in self.asked

    def split(self, tables: CorpusTables, lists: list[Ranking]) -> tuple[list[Ranking], list[int]]:
        """The lists without later texts, and the later texts in the order they would have come."""
        if self.chapter is None:
            return lists, []
        later: dict[int, None] = {}
        kept = []
        for ranking in lists:
            keys = []
            for key in ranking.keys:
                if self.is_later(tables.texts[key].number):
                    later.setdefault(key)
                else:
                    keys.append(key)
            kept.append(replace(ranking, keys=tuple(keys)))
        return kept, list(later)
