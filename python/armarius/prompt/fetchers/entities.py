"""Entities from wherever a host keeps them: one method, any objects, answers now or later."""

import asyncio
import inspect
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from armarius.arguments import OPEN, Chapters
from armarius.codex.cards import entity_card, short_card
from armarius.codex.model import CONTEXT_LEVELS, Codex, ContextLevel, Entity, Fact, Origin
from armarius.documents.document import Document
from armarius.errors import ContextWarning, ContractError
from armarius.headings import Language
from armarius.types import FetchRequest
from armarius.warnings import CODEX_INVALID

__all__ = ["described_by"]


class EntitySource(Protocol):
    """A knowledge graph: the codex of the project, or a host's own service."""

    def entity_list(self, project_id: str, filter: str, /) -> Any:  # noqa: A002, ANN401 - named by the specification
        """The entities of a project with one context level.

        Args:
            project_id: The project.
            filter: `always`, `when_detected`, `manual_only` or `never`.

        Returns:
            An iterable of objects or mappings, or an awaitable of one, with `id` and `name` and, where there are any,
            `type`, `aliases`, `description`, `attributes`, `facts` and a level (`level`, `ai_context_level` or
            `aiContextLevel`). A tuple returned twice as the same object is taken to be unchanged.
        """
        ...


class CodexSource:
    """A codex as an entity source. Immutable: after a change make another."""

    def __init__(self, codex: Codex) -> None:
        self._by_level: dict[str, tuple[Entity, ...]] = {
            level: tuple(entity for entity in codex.entities if entity.level == level) for level in CONTEXT_LEVELS
        }

    def entity_list(self, project_id: str, filter: str, /) -> tuple[Entity, ...]:  # noqa: A002
        """The entities of one level, in the order of the codex; the same tuple on every call.

        Raises:
            ValueError: No such level.
        """
        if filter not in self._by_level:
            raise ContractError(f"filter must be one of {', '.join(CONTEXT_LEVELS)}, got {filter!r}")
        return self._by_level[filter]


@dataclass(frozen=True, slots=True)
class Listed:
    """What a source listed: usable entities, and a line for each entry that was not."""

    entities: tuple[Entity, ...]
    faults: tuple[str, ...] = ()


def list_entities(source: EntitySource, project_id: str, level: ContextLevel) -> Listed:
    """Ask `source` and read its answer; whatever the source raises passes through."""
    answer = resolve(source.entity_list(project_id, level))
    if isinstance(answer, tuple) and {Entity}.issuperset(map(type, answer)):
        return Listed(answer)
    if not isinstance(answer, Iterable) or isinstance(answer, str | bytes | Mapping):
        raise TypeError(f"entity_list must return an iterable of entities, got {type(answer).__name__}")
    entities: list[Entity] = []
    faults: list[str] = []
    for index, item in enumerate(answer):
        try:
            entities.append(as_entity(item, level))
        except (TypeError, ValueError) as error:
            faults.append(f"entity_list[{index}]: {error}")
    return Listed(tuple(entities), tuple(faults))


class Cards:
    """Cards that were written before. Threads may share it.

    A card depends on nothing but its entity, the language and, where it has facts, on the chapter and the chapters of
    the request.
    """

    _MOST = 1_024

    def __init__(self) -> None:
        self._known: dict[tuple[int, int | None, Chapters, Language], tuple[Entity, str, str | None]] = {}

    def of(self, entity: Entity, request: FetchRequest) -> tuple[str, str | None]:
        """The card of `entity` as it may be shown to `request`, and its short form."""
        moment, chapters = (request.moment, request.chapters) if entity.facts else (None, OPEN)
        key = id(entity), moment, chapters, request.language
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= self._MOST:
                self._known = {}
            known = entity, card_of(entity, request), short_card(entity, request.language)
            self._known[key] = known  # the entity is held: its id stays its own
        return known[1], known[2]


def card_of(entity: Entity, request: FetchRequest) -> str:
    """The card of `entity` as it may be shown to `request`: with the facts that hold where it stands."""
    return entity_card(entity, chapter=request.moment, chapters=request.chapters, language=request.language)


def resolve(answer: Any) -> Any:  # noqa: ANN401 - whatever the host returns
    """`answer`, awaited if it is awaitable.

    Fetchers run in worker threads, where a coroutine gets an event loop of its own; called inside a running loop, it
    gets one in another thread.
    """
    if not inspect.isawaitable(answer):
        return answer

    async def wait() -> Any:  # noqa: ANN401
        return await answer

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, wait()).result()


def file_warnings(source: object) -> list[ContextWarning]:
    """What `source` says is wrong with its file, if it is kept in one: `CODEX_INVALID` with file and line."""
    problems = getattr(source, "problems", None)
    return [CODEX_INVALID(problem=problem) for problem in problems()] if callable(problems) else []


def as_entity(item: object, level: ContextLevel = "when_detected") -> Entity:
    """Any object or mapping with `id` and `name` as an `Entity`.

    Args:
        item: Unknown fields are ignored, fields that are None count as absent.
        level: The level when `item` names none.

    Raises:
        TypeError: `id` or `name` is missing or no string.
        ValueError: An unknown level.
    """
    if isinstance(item, Entity):
        return item

    def get(*names: str) -> Any:  # noqa: ANN401
        for name in names:
            value = item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
            if value is not None:
                return value
        return None

    id_, name = get("id"), get("name")
    for key, value in (("id", id_), ("name", name)):
        if not isinstance(value, str) or not value.strip():
            raise TypeError(f"{key}: expected a non-empty string, got {value!r}")
    stated = get("level", "ai_context_level", "aiContextLevel") or level
    if stated not in CONTEXT_LEVELS:
        raise ValueError(f"entity {id_!r}: level must be one of {', '.join(CONTEXT_LEVELS)}, got {stated!r}")
    attributes = get("attributes") or {}
    aliases = get("aliases") or ()
    return Entity(
        id=id_,
        name=name,
        type=str(get("type") or "other"),
        aliases=tuple(alias for alias in aliases if isinstance(alias, str) and alias.strip()),
        description=str(get("description") or ""),
        attributes={str(key): str(value) for key, value in dict(attributes).items()},
        level=stated,
        facts=tuple(_fact(fact) for fact in get("facts") or ()),
        origins=tuple(origin for origin in get("origins") or () if isinstance(origin, Origin)),
    )


def _fact(item: object) -> Fact:
    if isinstance(item, Fact):
        return item
    if isinstance(item, str):
        return Fact(item)
    if isinstance(item, Mapping) and isinstance(item.get("text"), str):
        since, until = item.get("since"), item.get("until")
        if all(value is None or type(value) is int for value in (since, until)):
            return Fact(item["text"], since, until)
    raise TypeError(f"facts: expected text with since and until as chapter numbers, got {item!r}")


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
