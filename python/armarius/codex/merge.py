"""Merge drafts of several files: one entity per id or name; relations only between known ids."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any, TypeVar

from armarius.codex.cards import one_line
from armarius.codex.codex_json import CodexFile
from armarius.codex.draft import Draft, DraftRelation, Profiles, StatedLine
from armarius.codex.model import CONTEXT_LEVELS, Entity, Fact, NameIndex, Overruled, Relation, qualified
from armarius.codex.profile_fields import is_wrong_level, role_of
from armarius.documents.document import Document
from armarius.errors import CodexError
from armarius.headings import frame
from armarius.text.unicode import caseless, fold, slug
from armarius.validation import shown

__all__ = ["SeriesFolder", "file_of", "past_items", "profiles_of", "qualified"]

Timed = TypeVar("Timed", Fact, Relation, DraftRelation)


@dataclass(frozen=True, slots=True)
class SeriesFolder:
    """Another folder of a series.

    Attributes:
        root: Prefix of its ids and paths.
        past: An earlier book: its chapters are not chapters of the project.
        documents: Their paths begin with `root`.
        declared: Content of its `codex.json` and imported lorebooks; paths are relative to it.
        authored: Content of its `.armarius/codex.toml`.
    """

    root: str
    past: bool
    documents: tuple[Document, ...] = ()
    declared: CodexFile = field(default_factory=CodexFile)
    authored: CodexFile = field(default_factory=CodexFile)


def file_of(folder: SeriesFolder, file: CodexFile) -> CodexFile:
    """`file` with ids and paths of the project; chapters of an earlier book are removed (`ended`)."""
    root = folder.root
    return CodexFile(
        title=file.title,
        language=file.language,
        drafts=[_draft(folder, draft) for draft in file.drafts],
        relations=[
            replace(edge, root=root, origin=replace(edge.origin, path=qualified(root, edge.origin.path)))
            for edge in (past_items(file.relations) if folder.past else file.relations)
        ],
        errors=[CodexError(qualified(root, str(error))) for error in file.errors],
    )


def profiles_of(folder: SeriesFolder, page: Profiles) -> Profiles:
    """Profiles of one of its files, with ids and paths of the project."""
    lines = [replace(line, path=qualified(folder.root, line.path)) for line in page.lines]
    return Profiles([_draft(folder, draft) for draft in page.drafts], lines)


def past_items(items: Iterable[Timed]) -> Iterator[Timed]:
    """Facts or relations of an earlier book: those that ended never hold, the others hold from the start."""
    return (replace(item, since=None, until=None if item.until is None else 0) for item in items)


def _draft(folder: SeriesFolder, draft: Draft) -> Draft:
    return replace(
        draft,
        root=folder.root,
        origin=replace(draft.origin, path=qualified(folder.root, draft.origin.path)),
        id=qualified(folder.root, draft.id) if draft.id else None,
        # "always" in an earlier book means "when_detected" in this one.
        level="when_detected" if folder.past and draft.level == "always" else draft.level,
        facts=list(past_items(draft.facts)) if folder.past else draft.facts,
    )


_PERSON, _TYPES = "character", frozenset(frame().types)
# Precedence of sources, highest first.
_AUTHORED, _DECLARED, _PROFILE = 0, 1, 2
_RANKS = 3  # within one folder; all sources of a later folder rank lower
_ALONE = {"": False}


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a merge.

    `problems` are messages about relations with unknown ends and values that are no level; `others`, `without` and
    `called` as in `Codex`.
    """

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    problems: tuple[str, ...]
    others: frozenset[str] = frozenset()
    without: frozenset[tuple[str, str]] = frozenset()
    called: frozenset[tuple[str, str]] = frozenset()


def merge(
    profiles: Iterable[Draft] = (),
    declared: Iterable[Draft] = (),
    relations: Sequence[DraftRelation] = (),
    *,
    authored: Iterable[Draft] = (),
    lines: Iterable[StatedLine] = (),
    roots: Mapping[str, bool] = _ALONE,
) -> Merged:
    """Merge the entities and relations of profiles, codex files and authored records.

    Drafts are one entity when they have the same id, or the same name (compared folded) and compatible types. For each
    field authored records override the codex file, which overrides profiles; an earlier profile overrides a later one.
    Where a page says a field and no codex file does, the page overrides the record, unless the record was made over
    just that value (`Draft.over`): an edit of the page is never hidden by a record from before.
    Aliases, attributes, facts and origins are united. A stronger folder overrides a weaker one; its overridden
    values, and those of a record and a page that differ, are kept in `Entity.overruled`. Ids are unique only within a
    folder: drafts of two folders are one entity when they have the same name, or the same id and a common name.

    Args:
        profiles: Drafts of every folder, each with its `root`.
        declared: As well.
        relations: As well.
        authored: As well.
        lines: Lines of pages about relations.
        roots: The folders, the strongest first, and whether each is an earlier book.

    Returns:
        Entities in the order first described (profiles, codex file, authored records); relations in the order given,
        then those of profiles, without duplicates.
    """
    profiles, declared, authored = list(profiles), list(declared), list(authored)
    listed = {caseless(name) for draft in (*declared, *authored) for name in (draft.name, *draft.aliases)}
    for profile in profiles:  # what somebody is called that a file lists is that one's name
        profile.called = [name for name in profile.called if caseless(name) not in listed]
    groups = _Groups()
    order = {root: place for place, root in enumerate(roots)}
    ranked = [
        (_RANKS * order[draft.root] + rank, draft)
        for rank, drafts_of_rank in ((_PROFILE, profiles), (_DECLARED, declared), (_AUTHORED, authored))
        for draft in drafts_of_rank
    ]
    for rank, draft in sorted(ranked, key=lambda row: row[0] // _RANKS):
        groups.add(rank, draft)
    entities, drafts = groups.finish()
    others = frozenset(entity.id for entity in entities) - groups.own
    index = NameIndex(entities, also=groups.also, others=others)
    edges: list[Relation] = []
    problems: list[str] = []
    for item in relations:
        source, target = index.find(item.source, item.root), index.find(item.target, item.root)
        if source is None or target is None:
            key, value = ("source", item.source) if source is None else ("target", item.target)
            problems.append(f"{item.origin.path}: {item.where}: {key}: no entity with the id or name {value!r}")
        else:
            edges.append(Relation(source, target, item.type, item.since, item.until, item.origin))
    problems += _wrong_levels([draft for parts in drafts for draft in parts])
    if entities:
        from armarius.codex.profile_relations import link_relations, name_link_targets, pair_of, relations_of

        for entity, parts in zip(entities, drafts, strict=True):
            for draft in parts:
                stated = relations_of(entity, draft, index)
                edges += past_items(stated) if roots[draft.root] else stated
        for line in lines:
            pair = pair_of(line.line, line.path, line.section, index)
            edges += [pair] if pair is not None else []
        edges += link_relations(zip(entities, drafts, strict=True), index, edges)
        entities = name_link_targets(entities, drafts, index)
    unique = {(item.source, item.target, item.type, item.since, item.until): item for item in reversed(edges)}
    kept = {id(item) for item in unique.values()}
    without = frozenset(
        (id_, caseless(name))
        for draft in (*declared, *authored)
        for name in draft.without
        if (id_ := index.find(draft.id or draft.name, draft.root)) is not None
    )
    called = frozenset(
        (entity.id, caseless(name))
        for entity, parts in zip(entities, drafts, strict=True)
        for draft in parts
        for name in draft.called
    )
    kept_relations = tuple(item for item in edges if id(item) in kept)
    return Merged(entities, kept_relations, tuple(problems), others, without, called)


class _Group:
    """Drafts of one entity with their ranks and types; files that give it an id, by folder, "" for no profile."""

    __slots__ = ("ids", "parts", "types")

    def __init__(self) -> None:
        self.parts: list[tuple[int, Draft]] = []
        self.ids: dict[str, set[str]] = {}
        self.types: set[str] = set()

    def add(self, rank: int, draft: Draft) -> None:
        self.parts.append((rank, draft))
        if draft.id:
            self.ids.setdefault(draft.root, set()).add(_file_of(rank, draft))
        if draft.type:
            self.types.add(draft.type)


def _file_of(rank: int, draft: Draft) -> str:
    return draft.origin.path if rank % _RANKS == _PROFILE else ""


class _Named:
    """The groups of one name, in order; a draft with an id visits those that have none of its file."""

    __slots__ = ("_all", "_file", "_free")

    def __init__(self) -> None:
        self._all: dict[int, _Group] = {}  # by their identity
        self._file: tuple[str, str] | None = None
        self._free: list[_Group] = []  # groups without an id of this file

    def add(self, group: _Group) -> None:
        if id(group) not in self._all:
            self._all[id(group)] = group
            self._free.append(group)

    def that_fit(self, rank: int, draft: Draft) -> Iterable[_Group]:
        """Groups that a draft with a new id may join: two registers give one person two ids, one register does not."""
        if not draft.id:
            return self._all.values()
        file = draft.root, _file_of(rank, draft)
        groups = self._free if file == self._file else self._all.values()
        clash = {"", file[1]}
        self._file = file
        self._free = [
            group for group in groups if not (ids := group.ids.get(draft.root)) or (file[1] and clash.isdisjoint(ids))
        ]
        return self._free


class _Groups:
    """Groups of drafts; the strongest folder is added first.

    Attributes:
        also: New ids of entities of other folders, by old id; complete at the end.
        own: Ids that the project itself describes.
    """

    def __init__(self) -> None:
        self.also: dict[str, str] = {}
        self.own: set[str] = set()
        self.groups: list[_Group] = []
        self.by_id: dict[str, _Group] = {}
        self.by_name: dict[str, _Named] = {}

    def add(self, rank: int, draft: Draft) -> None:
        group = self.by_id.get(draft.id) if draft.id else None
        named = self.by_name.setdefault(fold(draft.name), _Named())
        if group is None:
            group = self._same_name(draft, named.that_fit(rank, draft)) or self._same_id(draft)
        if group is None:
            group = _Group()
            self.groups.append(group)
        group.add(rank, draft)
        if draft.id:
            self.by_id.setdefault(draft.id, group)
        named.add(group)

    def _same_name(self, draft: Draft, named: Iterable[_Group]) -> _Group | None:
        fitting = None
        for group in named:
            if draft.type in group.types:
                return group
            if fitting is None and (
                draft.type is None or all(_types_match(draft.type, kind) for kind in sorted(group.types))
            ):
                fitting = group
        return fitting

    def _same_id(self, draft: Draft) -> _Group | None:
        """The project's group with the id of a draft of another folder and one of its names."""
        if not draft.root or not draft.id:
            return None
        group = self.by_id.get(draft.id.removeprefix(f"{draft.root}/"))
        if group is None or not all(_types_match(draft.type or kind, kind) for kind in sorted(group.types)):
            return None
        names = {fold(name) for _, part in group.parts for name in (part.name, *part.aliases)}
        return group if names & {fold(name) for name in (draft.name, *draft.aliases)} else None

    def finish(self) -> tuple[tuple[Entity, ...], list[list[Draft]]]:
        ids = {part.id for group in self.groups for _, part in group.parts if part.id}
        entities: list[Entity] = []
        for group in self.groups:
            by_age = [part for _, part in group.parts]
            parts = by_age
            if len(parts) > 1:
                parts = [part for _, part in sorted(group.parts, key=lambda row: row[0])]
            strongest = parts[0].root
            id_ = next((part.id for part in parts if part.id and part.root == strongest), None)
            if id_ is None:
                id_ = _new_id(parts[0], ids)
                ids.add(id_)
            if not strongest:
                self.own.add(id_)
            self.also |= {part.id: id_ for part in parts if part.root and part.id}
            for part in parts:
                if part.root:
                    self.also.setdefault(qualified(part.root, slug(part.name)), id_)
            entities.append(_merge_drafts(id_, parts, group.parts, by_age))
        drafts = [[part for rank, part in group.parts if rank % _RANKS == _PROFILE] for group in self.groups]
        return tuple(entities), drafts


def _types_match(type_: str, other: str) -> bool:
    """Whether entities of one name and these types may be one: a faction and a place, but not a person and a place."""
    return (type_ == _PERSON) == (other == _PERSON) or not {type_, other} <= _TYPES


def _join_sheets(parts: list[Draft], ranked: Sequence[tuple[int, Draft]]) -> list[Draft]:
    """The parts, the strongest first; where that is a sheet, the texts of the folder's other sheets are added to it."""
    first = parts[0]
    sheets = [part for rank, part in ranked if rank % _RANKS == _PROFILE and part.root == first.root]
    if len(sheets) < 2 or all(part is not first for part in sheets):
        return parts
    whole = replace(first, attributes=dict(first.attributes))
    for part in sheets:
        if part.description.strip() and part.description.strip() not in whole.description:
            whole.description = "\n".join(filter(None, (whole.description, part.description)))
        for key, value in part.attributes.items():
            if value not in whole.attributes.get(key, ""):
                whole.add_attribute(key, value)
    return [whole, *parts[1:]]


def _merge_drafts(id_: str, parts: list[Draft], ranked: Sequence[tuple[int, Draft]], by_age: list[Draft]) -> Entity:
    """Merge drafts, the strongest first; a page comes before a record that was not made over what it says."""
    first, ranks = parts[0], {id(part): rank % _RANKS for rank, part in ranked}
    pages = [part for part in parts if ranks[id(part)] == _PROFILE and part.root == first.root]
    if ranks[id(first)] != _AUTHORED or not pages:
        return _unite(id_, _join_sheets(parts, ranked), by_age)
    others = [part for part in parts if ranks[id(part)] != _AUTHORED or part.root != first.root]
    values = _values(_unite(id_, _join_sheets(others, ranked), by_age))
    declared = {key for part in others if ranks[id(part)] == _DECLARED for key in _values(part)}
    stated = {key: page.origin for page in reversed(pages) for key in _values(page)}
    texts: dict[str, str] = {}
    overruled = []
    for key, value in _values(first).items():
        if key in stated and key not in declared and one_line(values[key]) != one_line(value):
            if one_line(first.over.get(key, "")) == one_line(values[key]):
                overruled.append(Overruled(key, values[key], stated[key], first.origin))
            else:
                overruled.append(Overruled(key, value, first.origin, stated[key]))
                texts[key] = values[key]
    if texts:
        attributes = {key: texts.get(key, value) for key, value in first.attributes.items()}
        fields: Any = {key: texts[key] for key in _FIELDS if key in texts}
        parts = [replace(first, **fields, attributes=attributes), *parts[1:]]
    united = _unite(id_, parts, by_age)
    return replace(united, overruled=(*overruled, *united.overruled)) if overruled else united


_FIELDS = ("type", "level", "description")


def _values(item: Draft | Entity) -> dict[str, str]:
    """The fields that are stated, each attribute by its key; an empty attribute of a record takes one away."""
    return {key: value for key in _FIELDS if (value := getattr(item, key))} | item.attributes


def _unite(id_: str, parts: list[Draft], by_age: list[Draft]) -> Entity:
    """Merge drafts, the strongest first; origins in reading order."""
    first = parts[0]
    united = Draft(first.name, first.origin)
    gone = {name for part in parts for name in part.without}
    stated: set[Fact] = set()
    for part in parts:
        united.add_aliases([part.name, *part.aliases, *part.called])
        for key, value in part.attributes.items():
            united.attributes.setdefault(key, value)
        united.facts += [fact for fact in part.facts if fact not in stated]
        stated.update(part.facts)
    return Entity(
        id=id_,
        name=first.name,
        type=next((part.type for part in parts if part.type), "other"),
        aliases=tuple(name for name in united.aliases if name not in gone),
        description=next((part.description for part in parts if part.description.strip()), "").strip(),
        attributes={key: value for key, value in united.attributes.items() if value},
        level=next((part.level for part in parts if part.level), "when_detected"),
        facts=tuple(united.facts),
        origins=tuple(dict.fromkeys(part.origin for part in by_age)),
        overruled=tuple(_find_overruled(parts)),
    )


def _find_overruled(parts: Sequence[Draft]) -> Iterator[Overruled]:
    """Values of weaker folders that differ from the merged ones."""
    if len({part.root for part in parts}) == 1:
        return
    heard: dict[str, tuple[str, Draft]] = {}
    for part in parts:
        stated = {"type": part.type, "level": part.level, "description": part.description.strip(), **part.attributes}
        for key, value in stated.items():
            if not value:
                continue
            text, by = heard.setdefault(key, (value, part))
            if text != value and by.root != part.root:
                yield Overruled(key, value, part.origin, by.origin)


def _new_id(draft: Draft, ids: set[str]) -> str:
    """A deterministic id from the name; for a second entity of that name with its type, then a number."""
    base = qualified(draft.root, slug(draft.name))
    candidates = chain((base, f"{base}.{draft.type or 'other'}"), (f"{base}.{number}" for number in count(2)))
    return next(candidate for candidate in candidates if candidate not in ids)


def _wrong_levels(drafts: Sequence[Draft]) -> Iterator[str]:
    """Invalid context levels, which are read as attributes."""
    labels = {label for draft in drafts for label in draft.attributes}
    if not (labels := {label for label in labels if role_of(label) == "level"}):
        return
    for draft in drafts:
        for label in labels & draft.attributes.keys():
            if is_wrong_level(label, value := draft.attributes[label]):
                where = f"{draft.origin.path}:{draft.origin.line}" if draft.origin.line else draft.origin.path
                levels = ", ".join(CONTEXT_LEVELS)
                yield f"{where}: {draft.name}: {label}: expected one of {levels}, got {shown(value)}"
