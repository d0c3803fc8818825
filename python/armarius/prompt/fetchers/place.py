"""Where a request stands in the story: the chapter that it writes, goes on with or asks the plan of, and those before.

The chapter is the one that the request is to write (写第202章, 写下一章), else that of the open document, else the one
after the last. The chapters before are those of the edition of the open document, in the order of the project's map;
without an open document, all of the main edition.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from armarius.codex.cards import visible
from armarius.corpus.plans import plans_of
from armarius.corpus.story import StoryPart, chapters_before, chapters_until, of_edition
from armarius.documents.document import Document
from armarius.documents.project_map import ProjectMap
from armarius.types import FetchRequest

MOST_BEFORE: Final = 50  # chapters before, the nearest first
_AT_ONCE: Final = 5  # chapters


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request goes on.

    Attributes:
        numbers: The chapters to be written, ascending; empty where the place has no number.
        volume: Of them, where known.
        earlier: The chapters before, the nearest first.
        named: The request names the chapter, which need not be that of the open document.
        tells: The story so far is told, and not the plan alone.
    """

    numbers: tuple[int, ...]
    volume: int | None
    earlier: Sequence[StoryPart]
    named: bool = False
    tells: bool = True


def place_of(documents: Mapping[str, Document], project_map: ProjectMap, request: FetchRequest) -> Place | None:
    """Where the request goes on, or what it asks the plan of; None for others."""
    recipe, tells = request.recipe, request.recipe.wants("ending")
    opened = request.document or request.text  # a text without a name has no place in the story
    edition = of_edition(project_map, request.document) if request.document else None
    if recipe.chapters and (recipe.wants("target") or not tells):
        number = recipe.chapters[0]
        if not (tells or recipe.plans) and _is_written(documents, project_map, number):
            return None
        part, before = chapters_until(documents, project_map, edition or "", number, recipe.volume)
        earlier = list(islice(before, MOST_BEFORE)) if tells else ()
        volume = recipe.volume if recipe.volume is not None else volume_of(project_map, part, edition)
        return Place(recipe.chapters[:_AT_ONCE], volume, earlier, named=True, tells=tells)
    if not tells or (opened and edition is None):
        return None
    volume = volume_of(project_map, None, edition)
    if recipe.next and request.chapter is not None and edition is not None:
        _, before = chapters_until(documents, project_map, edition, request.chapter + 1)
        return Place((request.chapter + 1,), volume, list(islice(before, MOST_BEFORE)), named=True)
    before = chapters_before(documents, project_map, request.document, request.chapter)
    earlier = list(islice(before, MOST_BEFORE))
    here = request.chapter
    if not request.document and earlier and earlier[0].number is not None:
        here = earlier[0].number + 1
        volume = volume_of(project_map, earlier[0], None)
    return Place(() if here is None else (here,), volume, earlier)


def planned(documents: Mapping[str, Document], project_map: ProjectMap, request: FetchRequest) -> str:
    """What the outlines say of the chapter that a request goes on with or asks about; "" where they plan none."""
    place = place_of(documents, project_map, request)
    if place is None:
        return ""
    said = plans_of(documents, project_map, place.numbers, place.volume)
    plans = [one for number in place.numbers for one in said[number]]
    plans = [one for one in plans if not one.ranged] or plans
    return "\n".join(one.text(visible(documents[one.path], request.bounds)) for one in plans)


def volume_of(project_map: ProjectMap, part: StoryPart | None, path: str | None) -> int | None:
    """The volume of a part of the story, or of a file."""
    file = project_map.get(part.path if part is not None else path or "")
    return None if file is None else file.volume


def _is_written(documents: Mapping[str, Document], project_map: ProjectMap, number: int) -> bool:
    story = [one for path in project_map.story() if (one := documents.get(path)) is not None]
    return any(one.chapter == number for one in story) or any(
        one.chapter == number for document in story if document.chapter is None for one in document.paragraphs
    )
