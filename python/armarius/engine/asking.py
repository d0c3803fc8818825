"""What the project holds: hits, statements, paragraphs, mentions, documents."""

from collections.abc import Sequence

from armarius.codex import Entity
from armarius.documents.classify import Kind
from armarius.documents.document import Document
from armarius.engine.parts import Parts
from armarius.errors import ContractError
from armarius.index.search import SearchHit
from armarius.retrieval.contradictions.detect import said_of
from armarius.retrieval.contradictions.statements import Statement
from armarius.retrieval.excerpt import excerpt
from armarius.retrieval.hits import Hit, Retrieval
from armarius.text.matcher import EntityMatcher, Match, Mention

__all__ = ["Asking"]


class Asking(Parts):
    """Retrieve, search, detect."""

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
        known = view.retriever.ask_graph(query, view.documents, view.codex, view.matcher, chapter=current)
        with view.retriever.at(view.documents, view.codex, view.matcher) as retriever:
            return retriever.retrieve(query, limit=limit, chapter=current, known=known)

    def excerpt(self, hit: Hit) -> str:
        """The text behind a hit: its section, or the paragraphs its evidence points at; "" when the file is gone."""
        document = self._project.view().documents.get(hit.path)
        return "" if document is None else excerpt(document, hit)

    def entities(self) -> tuple[Entity, ...]:
        """Every known entity, by whichever file."""
        return self._project.view().codex.entities

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
            ContractError: No entity goes by that name.
        """
        view = self._project.view()
        entity = next((one for one in view.codex.entities if name in (one.id, one.name)), None) or next(
            (one for one in view.codex.entities if name in one.aliases), None
        )
        if entity is None:
            whole = [one.entity_id for one in view.matcher.find_all(name) if one.term == name.strip()]
            entity = next((one for one in view.codex.entities if one.id in whole), None)
        if entity is None:
            raise ContractError(f"no entity is called {name!r}")
        with view.retriever.at(view.documents, view.codex, view.matcher) as retriever:
            assert retriever.library is not None
            return said_of(retriever.library, entity.id, attribute, chapter=chapter)

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        kinds: Sequence[Kind] = (),
        chapters: tuple[int | None, int | None] = (None, None),
    ) -> list[SearchHit]:
        """Paragraphs that hold the words of `text` as written, best first; see `ProjectIndex.search`."""
        self._index.freshen()
        return self._index.search(text, limit=limit, kinds=kinds, chapters=chapters)

    def detect(self, text: str) -> list[Match]:
        """Which known entities `text` names: one match each, the earliest, by position; see `EntityMatcher.detect`."""
        return self.matcher.detect(text)

    def mentions(self, text: str) -> list[Mention]:
        """Every mention of a known entity in `text`; see `EntityMatcher.find_all`."""
        return self.matcher.find_all(text)

    @property
    def matcher(self) -> EntityMatcher:
        """What finds names in every answer: the codex, with what the project's prose taught about its names."""
        return self._project.matcher()

    def documents(self) -> tuple[Document, ...]:
        """Every document of the project, by path."""
        return tuple(self._project.view().documents.values())

    def document(self, path: str) -> Document:
        """One document; raises UnknownDocument."""
        return self._project.view().document(path)
