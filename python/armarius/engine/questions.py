"""Questions to a project that need no prompt: what answers them, where the words stand, what is said of whom."""

from collections.abc import Sequence

from armarius.codex.model import Entity
from armarius.documents.classify import Kind
from armarius.documents.document import Document, Documents
from armarius.hits import Hit, Hits
from armarius.project import Project
from armarius.retrieval.contradictions.detect import said_of
from armarius.retrieval.contradictions.statements import Statement
from armarius.retrieval.excerpt import excerpt
from armarius.retrieval.hits import Retrieval
from armarius.retrieval.retrieve import retrieve

__all__ = ["Questions"]

Chapters = tuple[int | None, int | None]


class Questions:
    """Answers, each from one moment of `project`. Threads may share it."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def retrieve(self, query: str, *, limit: int = 5, document: str = "", chapter: int | None = None) -> Retrieval:
        """The documents and sections that answer a question, best first, each with every reason for it.

        Args:
            query: The user's words.
            limit: At most so many hits.
            document: The current document: its chapter is the current chapter, for 前一章 and for the timeline.
            chapter: The current chapter, when there is no document.

        Returns:
            A sequence of hits with `understanding`, `outcome` and `omitted`; later chapters than the current
            one are omitted unless the question names them.

        Raises:
            UnknownDocument: No such document.
            ValueError: `limit` is negative.

        Cost: about 1 ms per question on 120 chapters; the first question reads the project.
        """
        view = self._project.view()
        current = view.document(document).chapter if document else chapter
        return retrieve(view.corpus, query, limit=limit, chapter=current, sources=view.sources)

    def excerpt(self, hit: Hit) -> str:
        """The text behind a hit: its section, or the paragraphs its evidence points at; "" when the file is gone."""
        document = self._project.view().documents.get(hit.path)
        return "" if document is None else excerpt(document, hit)

    def search(
        self, text: str, *, limit: int = 10, kinds: Sequence[Kind] = (), chapters: Chapters = (None, None)
    ) -> Hits:
        """Paragraphs that hold the words of `text` as written, best first.

        Args:
            text: Anything; no query language. Quoted phrases stay whole.
            limit: At most so many.
            kinds: Only documents of these kinds; empty is all.
            chapters: Inclusive bounds on the chapter, None is open.

        Raises:
            ValueError: `limit` is below 1.
        """
        self._project.index.freshen()
        return self._project.index.search(text, limit=limit, kinds=kinds, chapters=chapters)

    def evidence(self, name: str, *, attribute: str | None = None, chapter: int | None = None) -> list[Statement]:
        """Everything the project says about an entity, or about one attribute of it; competing statements marked.

        Args:
            name: Name, alias or id of an entity, or any name that `detect` finds it by, such as a short one.
            attribute: 年龄, 住处, "eye colour", …; None takes what the settings say, and whatever is disputed.
            chapter: Later chapters are left out.

        Returns:
            Statements with their sources, settings first; `competes_with` names sources that say otherwise and
            `attributes` what about. No verdict is made.

        Raises:
            UnknownId: No entity goes by that name; names near ones.
        """
        view = self._project.view()
        entity = view.entity(name)
        with view.corpus.tables() as tables:
            return said_of(tables, entity.id, attribute, chapter=chapter)

    def entities(self) -> tuple[Entity, ...]:
        """Every known entity, by whichever file."""
        return self._project.view().codex.entities

    def documents(self) -> Documents:
        """Every document of the project, by path."""
        return Documents(self._project.view().documents.values())

    def document(self, path: str) -> Document:
        """One document; raises UnknownDocument."""
        return self._project.view().document(path)
