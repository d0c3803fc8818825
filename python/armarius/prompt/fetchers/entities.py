"""Entities of a host (`EntitySource`) as cards, and which texts describe entities that a request must not show."""

import inspect
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any, Final, Protocol

from armarius.arguments import OPEN, Chapters, Hidden
from armarius.codex.cards import entity_card, short_card
from armarius.codex.model import CONTEXT_LEVELS, Codex, ContextLevel, Entity, Fact, Origin, Relation
from armarius.documents.document import Document
from armarius.documents.segments import Paragraph
from armarius.errors import ContextWarning, ContractError
from armarius.headings import HEADINGS, Language
from armarius.text.matcher import EntityMatcher
from armarius.text.unicode import fold
from armarius.types import Candidate, Evidence, FetchRequest, LayerName
from armarius.warnings import CODEX_INVALID

_PATH: Final = attrgetter("path")


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
class ListedEntities:
    """What a source listed: usable entities, and a line for each entry that was not."""

    entities: tuple[Entity, ...]
    faults: tuple[str, ...] = ()


def list_entities(source: EntitySource, project_id: str, level: ContextLevel) -> ListedEntities:
    """Ask `source` and read its answer; errors of the source are raised."""
    answer = source.entity_list(project_id, level)
    answer = answer if isinstance(answer, tuple) else resolve(answer)
    if isinstance(answer, tuple) and {Entity}.issuperset(map(type, answer)):
        return ListedEntities(answer)
    if not isinstance(answer, Iterable) or isinstance(answer, str | bytes | Mapping):
        raise TypeError(f"entity_list must return an iterable of entities, got {type(answer).__name__}")
    entities: list[Entity] = []
    faults: list[str] = []
    for index, item in enumerate(answer):
        try:
            entities.append(as_entity(item, level))
        except (TypeError, ValueError) as error:
            faults.append(f"entity_list[{index}]: {error}")
    return ListedEntities(tuple(entities), tuple(faults))


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
        entry = self._known.get(key)
        if entry is None:
            if len(self._known) >= self._MOST:
                self._known = {}
            entry = entity, card_of(entity, request), short_card(entity, request.language)
            self._known[key] = entry  # the entity is held: its id stays its own
        return entry[1], entry[2]


def card_candidate(
    entity: Entity,
    request: FetchRequest,
    source: str,
    score: float,
    why: tuple[Evidence, ...],
    card: tuple[str, str | None] | None = None,
    *,
    layer: LayerName = "retrieved",
    pinned: bool = False,
) -> Candidate:
    """The candidate of an entity's card, which is written here where it is not at hand with its short form."""
    content, short = card or (card_of(entity, request), short_card(entity, request.language))
    return Candidate(
        id=f"entity:{entity.id}",
        layer=layer,
        source=source,
        content=content,
        score=score,
        evidence=why,
        group=HEADINGS[request.language]["always" if layer == "rules" else "detected"],
        short=short,
        pinned=pinned,
        documents=tuple(dict.fromkeys(map(_PATH, entity.origins))),
        project_id=request.project_id,
    )


def relation_source(relation: Relation) -> str:
    """The source, and so the id, of the candidate that states a relation."""
    return f"kg:relation:{relation.source}-{relation.target}"


def card_of(entity: Entity, request: FetchRequest) -> str:
    """The card of `entity` as it may be shown to `request`: with the facts that hold where it stands."""
    return entity_card(entity, chapter=request.moment, chapters=request.chapters, language=request.language)


def resolve(answer: Any) -> Any:  # noqa: ANN401 - what a host returns
    """`answer`, awaited if it is awaitable.

    Fetchers run in worker threads, where a coroutine gets an event loop of its own; called inside a running loop, it
    gets one in another thread.
    """
    if not inspect.isawaitable(answer):
        return answer

    import asyncio

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
    read = getattr(source, "problems", None)
    problems = read() if callable(read) else ()
    return [CODEX_INVALID(problem=problem) for problem in problems] if problems else []


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


_ITEM: Final = re.compile(r"\s*(?:[-+*•·|]|\d{1,3}[.)、])")
_LINE: Final = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class About:
    """A stretch of a document that tells of `ids` and nobody else.

    Attributes:
        start: First code point.
        end: One past the last.
        ids: Of entities.
        paragraph: Index of the paragraph that it lies in.
        whole: It is that paragraph.
    """

    start: int
    end: int
    ids: frozenset[str]
    paragraph: int
    whole: bool


class Described:
    """Which entities each document describes, kept until document or codex change. Threads may share it."""

    def __init__(self) -> None:
        self._cast = _Cast((), EntityMatcher(()))

    def of(
        self, document: Document, entities: Sequence[Entity], matcher: EntityMatcher, saved: Document | None = None
    ) -> tuple[About, ...]:
        """What `document`, which may have cards, tells of one entity alone.

        Args:
            document: Any.
            entities: Of the project.
            matcher: Finds them.
            saved: The same document as the entities were read from it, where an editor is ahead.

        Cost: one search of the document, the first time.
        """
        cast = self._cast
        if cast.entities is not entities or cast.matcher is not matcher:
            cast = self._cast = _Cast(entities, matcher)
        entry = cast.known.get(document.path)
        if entry is None or entry[0] is not document:
            origins: Sequence[tuple[int, str]] = cast.origins.get(document.path, ())
            if saved is not None and saved is not document:
                moved = _line_mapping(saved.text, document.text)
                origins = [(moved(line), id_) for line, id_ in origins]
            entry = cast.known[document.path] = document, tuple(_stretches_of(document, origins, cast.names, matcher))
        return entry[1]


class _Cast:
    """Entities by where they are described and by what they are called, and what documents tell of them."""

    def __init__(self, entities: Sequence[Entity], matcher: EntityMatcher) -> None:
        self.entities, self.matcher = entities, matcher
        self.known: dict[str, tuple[Document, tuple[About, ...]]] = {}
        self.origins: dict[str, list[tuple[int, str]]] = {}
        self.names: dict[str, set[str]] = {}
        for entity in entities:
            for origin in entity.origins:
                self.origins.setdefault(origin.path, []).append((origin.line, entity.id))
            for name in (entity.name, *entity.aliases):
                self.names.setdefault(fold(name).strip(), set()).add(entity.id)


def hidden_spans(
    described: Mapping[str, Sequence[About]],
    muted: Collection[str],
    never: Collection[str] = (),
    pins: Collection[str] = (),
) -> Hidden:
    """Where documents tell of `muted` alone.

    Args:
        described: The descriptions in them, by path.
        muted: Ids of entities.
        never: Those of them that nothing brings.
        pins: Paragraphs (`path#n`) that are to be seen nevertheless, but for what tells of `never`.
    """
    ids, barred = frozenset(muted), frozenset(never)
    ranges: dict[str, list[tuple[int, int]]] = {}
    for path, abouts in sorted(described.items()):
        for about in abouts:
            if about.ids <= ids and (about.ids <= barred or f"{path}#{about.paragraph}" not in pins):
                ranges.setdefault(path, []).append((about.start, about.end))
    return tuple([(path, tuple(spans)) for path, spans in ranges.items()])


def _stretches_of(
    document: Document, origins: Sequence[tuple[int, str]], names: Mapping[str, set[str]], matcher: EntityMatcher
) -> Iterator[About]:
    lines = _first_lines(document)
    begins: dict[int, set[str]] = {}
    for line, id_ in origins if lines else ():
        begins.setdefault(max(bisect_right(lines, line) - 1, 0), set()).add(id_)
    for part in document.paragraphs:
        if part.role == "heading" and part.index not in begins and (named := _heading_entities(document, part, names)):
            begins[part.index] = named
    mentions = matcher.find_all(document.text)
    starts = [hit.start for hit in mentions]

    def named_in(start: int, end: int) -> frozenset[str]:
        return frozenset(hit.entity_id for hit in mentions[bisect_left(starts, start) : bisect_left(starts, end)])

    heads = {
        part.index: set(ids)
        for part in document.paragraphs
        if part.role == "heading" and len(part.heading_path) > 1 and (ids := named_in(part.start, part.end))
    }
    owned = zip(document.paragraphs, _owners(document, begins), _owners(document, heads), strict=True)
    for part, owners, headed in owned:
        span = part.start, part.end
        if owners:
            yield About(*span, frozenset(owners), part.index, whole=True)
        if len(owners) > 1 and part.index in begins:
            mine = [(line, id_) for line, id_ in origins if bisect_right(lines, line) - 1 == part.index]
            yield from _rows(document, part, lines[part.index], mine)
        elif len(owners) != 1 and part.role == "body":
            by_line = document.kind == "outline" or _ITEM.match(document.text, *span) is not None
            for start, end in _items(document.text, *span) if by_line else [span]:
                if ids := named_in(start, end) or frozenset(() if owners else headed):
                    yield About(start, end, ids, part.index, whole=(start, end) == span)
        elif not owners and part.index in heads:
            yield About(*span, frozenset(headed), part.index, whole=True)


def _owners(document: Document, begins: Mapping[int, set[str]]) -> list[set[str]]:
    """The entities that own each paragraph as part of a profile; an empty set for none."""
    open_: list[tuple[tuple[str, ...], set[str]]] = []
    rows: list[set[str]] = []
    for paragraph in document.paragraphs:
        here = paragraph.heading_path
        if paragraph.index in begins:
            open_.append((here, begins[paragraph.index]))
        while open_ and here[: len(open_[-1][0])] != open_[-1][0]:
            open_.pop()
        rows.append(open_[-1][1] if open_ else set())
    first = min(begins, default=None)
    top = None if first is None else document.paragraphs[first]
    if top is not None and len(top.heading_path) <= (top.role == "heading"):
        group = begins[top.index]
        if len(group) == 1 and all(owners == group for owners in rows[top.index :]):
            return [group] * len(rows)  # the file is about it, front matter and all
    return [
        set() if part.role == "front_matter" else owners for part, owners in zip(document.paragraphs, rows, strict=True)
    ]


def _rows(document: Document, paragraph: Paragraph, first: int, begins: Sequence[tuple[int, str]]) -> Iterator[About]:
    """The lines of a list or table, each of the profile that begins last before it."""
    by_line: dict[int, set[str]] = {}
    for line, id_ in begins:
        by_line.setdefault(line, set()).add(id_)
    ordered = sorted(by_line)
    owned = [
        (match.span(), by_line[ordered[at - 1]])
        for match in _LINE.finditer(document.text, paragraph.start, paragraph.end)
        if (at := bisect_right(ordered, first + document.text.count("\n", paragraph.start, match.start())))
    ]
    for ids, run in groupby(owned, key=lambda row: row[1]):
        spans = [span for span, _ in run]
        yield About(spans[0][0], spans[-1][1], frozenset(ids), paragraph.index, whole=False)


def _items(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The lines of a list, each with those that are indented below it."""
    begun: tuple[int, int, int] | None = None  # start, end, indent
    for match in _LINE.finditer(text, start, end):
        if not match[0].strip():
            continue
        indent = len(match[0]) - len(match[0].lstrip())
        if begun is not None and indent > begun[2]:
            begun = begun[0], match.end(), begun[2]
            continue
        if begun is not None:
            yield begun[:2]
        begun = match.start(), match.end(), indent
    if begun is not None:
        yield begun[:2]


def _heading_entities(document: Document, heading: Paragraph, names: Mapping[str, set[str]]) -> set[str]:
    """The entities that have a heading as their name; the title of a file counts when the file has that name too."""
    title = fold(heading.heading_path[-1]).strip() if heading.heading_path else ""
    if len(heading.heading_path) < 2 and fold(PurePosixPath(document.path).stem) != title:
        return set()
    return names.get(title, set())


def _first_lines(document: Document) -> list[int]:
    """The line that each paragraph begins in, from 1."""
    lines, at, seen = [], 0, 1
    for paragraph in document.paragraphs:
        seen += document.text.count("\n", at, paragraph.start)
        at = paragraph.start
        lines.append(seen)
    return lines


def _line_mapping(before: str, now: str) -> Callable[[int], int]:
    """Where a line of `before` is in `now`, from 1: counted from the nearer end of the text, else by what it says."""
    old, new = before.split("\n"), now.split("\n")
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - head) if old[-1 - at] != new[-1 - at]), most - head)
    between = new[head : len(new) - tail]

    def line(number: int) -> int:
        if number <= head:
            return number
        if number > len(old) - tail:
            return number + len(new) - len(old)
        text = old[number - 1]
        return head + 1 + between.index(text) if text in between else min(number, head + max(len(between), 1))

    return line
