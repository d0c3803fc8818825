"""Which paragraphs of a project describe an entity: those of the section that its profile was read from."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence

from armarius.codex.model import Entity
from armarius.documents.document import Document

__all__ = ["described_by"]


def described_by(
    ids: Collection[str], entities: Sequence[Entity], documents: Mapping[str, Document]
) -> Iterator[tuple[str, int, list[str]]]:
    """The paragraphs that describe entities of `ids` and nobody else, headings included: path, index, which ones.

    A paragraph belongs to the profile that begins last before it, in a section that holds it. Where several begin in
    one paragraph, a list or a table, it belongs to all of them: it is among these when all of them are.

    Args:
        ids: Of entities.
        entities: Of the project.
        documents: By path.

    Cost: one pass over the documents that describe them.
    """
    paths = {origin.path for entity in entities if entity.id in ids for origin in entity.origins}
    for path in sorted(paths & documents.keys()):
        document = documents[path]
        begins = _begins(document, entities)
        open_: list[tuple[tuple[str, ...], set[str]]] = []
        for paragraph in document.paragraphs:
            here = paragraph.heading_path
            if paragraph.index in begins:
                open_.append((here, begins[paragraph.index]))
            while open_ and here[: len(open_[-1][0])] != open_[-1][0]:
                open_.pop()
            if open_ and open_[-1][1] <= set(ids) and paragraph.role != "front_matter":
                yield path, paragraph.index, sorted(open_[-1][1])


def _begins(document: Document, entities: Sequence[Entity]) -> dict[int, set[str]]:
    """Whose profiles begin in which paragraphs."""
    lines, at, seen = [], 0, 1
    for paragraph in document.paragraphs:
        seen += document.text.count("\n", at, paragraph.start)
        at = paragraph.start
        lines.append(seen)
    found: dict[int, set[str]] = {}
    for entity in entities:
        for origin in entity.origins:
            if origin.path == document.path and lines:
                found.setdefault(max(bisect_right(lines, origin.line) - 1, 0), set()).add(entity.id)
    return found
