"""The story in its order: the chapters of one edition, each a file or a part of a file that holds several."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from armarius.corpus.part import chapters_of
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.project_map import ProjectMap


@dataclass(frozen=True, slots=True)
class StoryPart:
    """A chapter: `document[start:end]`; `title` is its heading where its file holds several, else ""."""

    path: str
    number: int | None
    title: str
    start: int
    end: int


def of_edition(project_map: ProjectMap, path: str) -> str | None:
    """A document of the story to which `path` belongs: itself, or for a file that is not saved yet one of its folder.

    Cost: one look-up; linear in the files where `path` is unknown.
    """
    known = project_map.get(path)
    if known is not None:
        return path if known.kind in STORY_KINDS else None
    folder = PurePosixPath(path).parent
    files = project_map.files.items()
    found = (one for one, file in files if file.kind in STORY_KINDS and PurePosixPath(one).parent == folder)
    return next(found, None)


def chapters_before(
    documents: Mapping[str, Document], project_map: ProjectMap, path: str, chapter: int | None
) -> Iterator[StoryPart]:
    """The chapters before a place of the story, the nearest first; of its edition, or without a path all of the main.

    Args:
        documents: By path.
        project_map: Of them.
        path: The open document, or "".
        chapter: The chapter in it where the text goes on; None where it has no number.

    Cost: linear in the chapters that are taken; in their paragraphs for a file of several.
    """
    edition = of_edition(project_map, path) if path else None
    if path and edition is None:
        return
    order = [one for one in project_map.story(edition) if one in documents]
    if path in order:
        inside = [part for part in story_parts(documents[path]) if part.number is not None]
        here = next((at for at, part in enumerate(inside) if part.number == chapter), 0)
        yield from reversed(inside[:here])
        order = order[: order.index(path)]
    elif path:  # not saved yet
        while order and chapter is not None and (documents[order[-1]].chapter or 0) >= chapter:
            order.pop()
    for one in reversed(order):
        yield from reversed(list(story_parts(documents[one])))


def chapters_until(
    documents: Mapping[str, Document], project_map: ProjectMap, path: str, number: int, volume: int | None = None
) -> tuple[StoryPart | None, Iterator[StoryPart]]:
    """Chapter `number` of the edition of `path`, None if it is not written, and the chapters before it, nearest first.

    Args:
        documents: By path.
        project_map: Of them.
        path: The open document, or "" for the main edition. Where numbers begin again, those of its volume are meant.
        number: As labelled.
        volume: That the request names; without one, the volume of `path`, else of the last chapter.

    Cost: linear in the chapters.
    """
    parts = [
        (one, part)
        for one in project_map.story(path or None)
        if one in documents
        for part in story_parts(documents[one])
    ]
    if volume is None:
        volume = _volume(project_map, path)
    if volume is None and parts:
        volume = _volume(project_map, parts[-1][0])
    mine = [at for at, (one, _) in enumerate(parts) if volume is None or _volume(project_map, one) in (None, volume)]
    here = next((at for at in mine if parts[at][1].number == number), None)
    if here is None and not path and (alone := [at for at, (_, one) in enumerate(parts) if one.number == number]):
        here = alone[0] if len(alone) == 1 else None
    if here is not None:
        return parts[here][1], (part for _, part in reversed(parts[:here]))
    later = [at for at in mine if (parts[at][1].number or 0) > number]
    return None, (part for _, part in reversed(parts[: later[0]] if later else parts))


def _volume(project_map: ProjectMap, path: str) -> int | None:
    file = project_map.get(path)
    return None if file is None else file.volume


def story_parts(document: Document) -> Iterator[StoryPart]:
    """The chapters of a document of the story, in its order. Cost: linear in its paragraphs."""
    if document.chapter is not None:
        if any(one.role == "body" for one in document.paragraphs):
            yield StoryPart(document.path, document.chapter, "", 0, len(document.text))
        return
    for number, title, paragraphs in chapters_of(document):
        if paragraphs:
            yield StoryPart(document.path, number, title, paragraphs[0].start, paragraphs[-1].end)
