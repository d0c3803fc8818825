"""`engine.summaries`: summaries of documents, which of them are stale, and their update by a host's model."""

from collections.abc import Callable

from armarius.codex.model import Summary
from armarius.documents.document import Document
from armarius.errors import ArmariusError, ContractError, UnknownId
from armarius.index.status import IndexStatus
from armarius.project import Project
from armarius.text.unicode import near, suggestion

Summarise = Callable[[Document], str]
"""A host's function from a document to its summary."""


class ProjectSummaries:
    """The summaries of a project by document, stored in `.armarius/summaries.toml`. Thread-safe.

    Args:
        project: The project of the documents.
    """

    def __init__(self, project: Project) -> None:
        self._project = project

    def list(self) -> tuple[Summary, ...]:
        """All of them, in the order of the file."""
        return self._project.summaries.list()

    def get(self, document: str) -> Summary:
        """The summary of a document; UnknownId, which is a KeyError and names near paths, when it has none."""
        return self._known(document)

    def set(self, document: str, text: str) -> Summary:
        """Keep `text` as the summary of a document as it is now.

        Raises:
            UnknownDocument: No such document.
            CodexError: The text is blank or no text.
            StoreFull: The file cannot be written; nothing has changed.
        """
        return self._project.summaries.put(document, text, self._project.view().document(document).content_hash)

    def delete(self, document: str) -> None:
        """Forget the summary of a document; UnknownId, which is a KeyError, when it has none."""
        self._project.summaries.delete(self._known(document).id)

    def stale(self) -> tuple[str, ...]:
        """Paths of summarised documents that have changed or are gone; prompts do not use their summaries."""
        documents = self._project.view().documents
        return tuple(
            one.document
            for one in self.list()
            if one.document not in documents or documents[one.document].content_hash != one.content_hash
        )

    def refresh(self, summarise: Summarise, *, limit: int | None = None) -> tuple[Summary, ...]:
        """Summarise every chapter with a missing or stale summary. Never called by assembly.

        Args:
            summarise: Called once per chapter of the main edition, in story order, not for earlier books. Its errors
                propagate; summaries written before stay. A chapter with a `summary` in its front matter is skipped.
            limit: Maximum number of chapters.

        Returns:
            The new summaries.

        Raises:
            ContractError: `summarise` is not callable, or returns a blank or non-text value.
        """
        if not callable(summarise):
            raise ContractError(f"summarise: expected a function from a document to a text, got {summarise!r:.60}")
        view = self._project.view()
        fresh = {one.document for one in self.list()} - set(self.stale())
        chapters = [view.documents[path] for path in view.map.story() if path in view.documents]
        wanted = [
            one for one in chapters if one.path not in fresh and not one.past and not one.front_matter.get("summary")
        ]
        made = []
        for document in wanted[:limit]:
            text: object = summarise(document)
            if not isinstance(text, str) or not text.strip():
                raise ContractError(f"summarise: expected a text for {document.path}, got {text!r:.60}")
            made.append(self._project.summaries.put(document.path, text.strip(), document.content_hash))
        return tuple(made)

    def _known(self, document: str) -> Summary:
        found = self._project.summaries.of(document)
        if found is None:
            close = near(document, [one.document for one in self.list()])
            raise UnknownId(f"no summary of {document!r}{suggestion(close)}", close)
        return found


def brief(project_id: str, status: Callable[[], IndexStatus]) -> str:
    """One line; of an engine that is closed or cannot say more, that."""
    try:
        now = status()
    except ArmariusError as error:
        return f"ContextEngine({project_id!r}: {error})"
    warned = f", {len(now.warnings)} warning{'s' * (len(now.warnings) != 1)}" if now.warnings else ""
    return f"ContextEngine({project_id!r}: {now.documents:,} documents, {now.entities:,} entities, {now.state}{warned})"


def rows(project_id: str, status: Callable[[], IndexStatus], recall: str, graph: str) -> list[tuple[str, str]]:
    """Name and value of what the engine holds."""
    try:
        now = status()
    except ArmariusError as error:
        return [("project", project_id), ("index", str(error))]
    return [
        ("project", project_id),
        ("documents", f"{now.documents:,} ({now.paragraphs:,} paragraphs)"),
        ("entities", f"{now.entities:,} ({now.mentions:,} mentions)"),
        ("index", f"{now.state}, {now.bytes / 1e6:.1f} MB{', watching' * now.watching}"),
        ("recall", recall),
        ("graph", graph),
        *(("warning", str(warning)) for warning in now.warnings),
    ]
