"""Records of a project's world: entities, relations, facts with their chapters; ids by id, name or alias."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from armarius.errors import ContextWarning, NameTaken, UnknownId
from armarius.headings import ResultList
from armarius.text.unicode import fold
from armarius.validation import shown

ContextLevel = Literal["always", "when_detected", "manual_only", "never"]
CONTEXT_LEVELS: tuple[ContextLevel, ...] = ("always", "when_detected", "manual_only", "never")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an entity or relation was read: project-relative path, section heading, 1-based line (0 unknown)."""

    path: str
    section: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement that holds from chapter `since` (inclusive) until `until` (exclusive); None is open."""

    text: str
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Overruled:
    """A value that differs from the merged one: of a weaker folder of a series, of a record, or of a page under one.

    Attributes:
        field: `type`, `level`, `description`, or the key of an attribute.
        value: The overruled value.
        origin: Where that value is written.
        by: Where the value that holds is written.
    """

    field: str
    value: str
    origin: Origin
    by: Origin


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of the codex.

    `type` is one of character, location, event, item, faction, foreshadowing, inspiration, or any
    other word (labelled 实体). `attributes` keep the user's own keys. One entity may have several
    origins: a profile section and an entry of `codex.json` with the same name are merged. `overruled` has the differing
    values of other folders of a series (`docs/decisions/0049`), of records and of pages.
    """

    id: str
    name: str
    type: str = "other"
    aliases: tuple[str, ...] = ()
    description: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    level: ContextLevel = "when_detected"
    facts: tuple[Fact, ...] = ()
    origins: tuple[Origin, ...] = ()
    overruled: tuple[Overruled, ...] = ()


@dataclass(frozen=True, slots=True)
class RejectedName:
    """A heading or a name in a list that was taken for no entity: where it stands (1-based line), and why."""

    name: str
    path: str
    line: int
    reason: str


class Entities(ResultList[Entity]):
    """The entities of a project, in the order first described.

    Args:
        entities: All of them.
        rejected: Names that were taken for no entity, in path order.
        count: Returns the number of mentions by id.
    """

    noun = ("entity", "entities")
    columns = ("name", "type", "aliases", "level", "from")

    def __init__(
        self,
        entities: Iterable[Entity] = (),
        rejected: tuple[RejectedName, ...] = (),
        count: Callable[[], Mapping[str, int]] = dict,
    ) -> None:
        super().__init__(entities)
        self.rejected = rejected
        self._count = count

    @cached_property
    def mentions(self) -> Mapping[str, int]:
        """Number of mentions by id in what prompts are made of; 0 is absent.

        Cost: reads one stored row per document, once.
        """
        return self._count()

    @classmethod
    def brief(cls, entity: Entity, /) -> str:
        """The name."""
        return entity.name

    @classmethod
    def cells(cls, entity: Entity, /) -> tuple[str, ...]:
        """Everything but the texts."""
        places = ", ".join(map(str, entity.origins))
        return entity.name, entity.type, ", ".join(entity.aliases), entity.level, places


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a `delete` did; `str()` is a sentence.

    Attributes:
        id: Of what was deleted.
        what: `record` of a file of records, `section` of a page, or `folder` of a book.
        path: The file or folder that it was removed from, relative to the project.
        left: Where it is described still, `path:line` each: another `delete` acts on those, or refuses.
    """

    id: str
    what: Literal["record", "section", "folder"]
    path: str
    left: tuple[str, ...] = ()

    def __str__(self) -> str:
        left = f"; still described in {', '.join(self.left)}" if self.left else ""
        return f"{self.what} {self.id!r} removed from {self.path}{left}"


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed edge between two entity ids.

    `type` stays in the user's words, read from `source` to `target`: a pair term (父子: the source is
    the father, the target the son) or a verb phrase (居于, "mentor of").
    """

    source: str
    target: str
    type: str
    since: int | None = None
    until: int | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Codex:
    """All entities and relations of a project, merged.

    Attributes:
        entities: Unique ids, in the order first described.
        relations: Both ends are ids of `entities`.
        warnings: `CODEX_INVALID`, one per error, with file, entry and field.
        title: Of the codex file, or "".
        language: Of the codex file, or "".
        others: Ids of entities that only other folders of a series describe.
        rejected: Names that were taken for no entity, in path order.
        without: Ids with the names that records take from them: no short forms of theirs either.
        called: Ids with the aliases that only the story says: short forms of their names.
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    warnings: tuple[ContextWarning, ...] = ()
    title: str = ""
    language: str = ""
    others: frozenset[str] = frozenset()
    rejected: tuple[RejectedName, ...] = ()
    without: frozenset[tuple[str, str]] = frozenset()
    called: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class GraphEntities:
    """Entities and relations of a graph that no file describes.

    Attributes:
        entities: By id.
        relations: Those that no file states.
        warnings: `KG_UNAVAILABLE`, `KG_TRUNCATED`, or a limited depth.
        failure: The reason when the store failed, else ""; without paths.
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    warnings: tuple[ContextWarning, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule that every prompt states; `priority` from 0, higher first; `source` says who set it."""

    id: str
    text: str
    source: Literal["user", "kg"] = "user"
    priority: int = 0


@dataclass(frozen=True, slots=True)
class PassageSummary:
    """What the paragraphs `first` to `last` of a document say, inclusive, numbered as `Paragraph.index`."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a document; `content_hash` is that of the text that was summarised."""

    id: str
    document: str
    text: str
    content_hash: str = ""
    passages: tuple[PassageSummary, ...] = ()

    def __post_init__(self) -> None:
        """Passages as a file has them become objects."""
        items: Any = self.passages or ()
        read = tuple(PassageSummary(**item) if isinstance(item, dict) else item for item in items)
        object.__setattr__(self, "passages", read)


@dataclass(frozen=True, slots=True)
class Pin:
    """A target that is in every prompt with room for it, or with `mute` in none, perhaps only with `document` open."""

    id: str
    target: str
    mute: bool = False
    document: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """A remembered statement about the project or its user; `confidence` in [0, 1]."""

    id: str
    text: str
    kind: Literal["semantic", "episodic", "procedural"] = "semantic"
    confidence: float = 1.0


_MOST = 3


def qualified(root: str, name: str) -> str:
    """An id or a path, prefixed by the folder `root` of a series."""
    return f"{root}/{name}" if root else name


class NameIndex:
    """Ids of entities by id, name or alias; names are compared folded.

    Args:
        entities: All of them.
        also: Ids that were changed in merging folders of a series, old to new.
        others: Ids of entities that only other folders describe: the project's own entities with that name come first.
    """

    def __init__(
        self, entities: Iterable[Entity], *, also: Mapping[str, str] | None = None, others: Collection[str] = ()
    ) -> None:
        self.entities = {entity.id: entity for entity in entities}
        self._also = also or {}
        self._others = frozenset(others)

    @cached_property
    def _names(self) -> dict[str, set[str]]:
        names: dict[str, set[str]] = {}
        for entity in self.entities.values():
            names.setdefault(fold(entity.name), set()).add(entity.id)
        return names

    @cached_property
    def _aliases(self) -> dict[str, set[str]]:
        aliases: dict[str, set[str]] = {}
        for entity in self.entities.values():
            for alias in entity.aliases:
                aliases.setdefault(fold(alias), set()).add(entity.id)
        return aliases

    def find(self, reference: str, root: str = "") -> str | None:
        """The id that `reference` means, by id, then name, then alias; None when unknown or ambiguous.

        Args:
            reference: An id, a name or an alias.
            root: The folder of a series that contains the reference; its ids are tried first.
        """
        id_ = qualified(root, reference)
        if root and (id_ in self.entities or id_ in self._also):
            return id_ if id_ in self.entities else self._also[id_]
        ids = self._find_ids(reference) if root else self.meant(reference)
        return next(iter(ids)) if len(ids) == 1 else None

    def meant(self, reference: str) -> tuple[str, ...]:
        """The ids that `reference` means: by id, else by name, else by alias; empty when unknown."""
        if not isinstance(reference, str):
            return ()
        if reference in self.entities:
            return (reference,)
        ids = self._find_ids(reference)
        return tuple(sorted((ids - self._others) or ids))

    def one(self, reference: str) -> Entity | None:
        """The entity that `reference` means, by id, name or alias; None when unknown.

        Raises:
            UnknownId: Several entities have that name; `near` holds their ids.
        """
        ids = self.meant(reference)
        if len(ids) > 1:
            raise ambiguous_name(reference, ids)
        return self.entities[ids[0]] if ids else None

    def bearers(self, called: str, id_: str) -> tuple[Entity, ...]:
        """The entities other than `id_` with a name or an alias; none when `id_` has it too."""
        key = fold(called)
        ids = self._names.get(key, set()) | self._aliases.get(key, set())
        return () if id_ in ids else tuple(self.entities[item] for item in sorted(ids))

    def _find_ids(self, reference: str) -> set[str]:
        key = fold(reference)
        return self._names.get(key) or self._aliases.get(key) or set()


@dataclass(frozen=True, slots=True)
class SharedName:
    """A name or an alias that several entities have.

    Attributes:
        name: As the first of them writes it.
        entities: The entities with that name, compared folded.
    """

    name: str
    entities: tuple[Entity, ...]

    def __str__(self) -> str:
        return f"{shown(self.name)} is a name of {_name_list(self.entities)}"

    def to_wire(self) -> dict[str, Any]:
        """As plain JSON: the name, and the id, name and origin of each entity."""
        who = [{"id": entity.id, "name": entity.name, "from": places(entity)} for entity in self.entities]
        return {"name": self.name, "entities": who}


def shared_names(entities: Iterable[Entity], existing: Iterable[Entity] = ()) -> tuple[SharedName, ...]:
    """Names that one of `entities` shares with another or with one of `existing`; in their order. Cost: linear."""
    called: dict[str, tuple[str, dict[str, Entity]]] = {}
    for entity in entities:
        for name in (entity.name, *entity.aliases):
            called.setdefault(fold(name), (name, {}))[1].setdefault(entity.id, entity)
    for entity in existing:
        for name in (entity.name, *entity.aliases):
            if (entry := called.get(fold(name))) is not None:
                entry[1].setdefault(entity.id, entity)
    return tuple(SharedName(name, tuple(who.values())) for name, who in called.values() if len(who) > 1)


def refuse_duplicate_names(who: NameIndex, id_: str, name: str, aliases: Iterable[str]) -> None:
    """Refuse a name or an alias that another entity has; the only such check.

    Args:
        who: Index of all entities. Names that `id_` already has are not checked.
        id_: Of the entity, new or one of them.
        name: Its new name.
        aliases: Its new aliases.

    Raises:
        NameTaken: Lists the ids of the other entities, and where they are described.
    """
    if others := who.bearers(name, id_):
        if id_ not in who.entities:
            raise already_exists(name, others)
        raise NameTaken(f"entity {shown(id_)}: name: {shown(name)} is a name of {_name_list(others)}")
    for number, alias in enumerate(aliases):
        if others := who.bearers(alias, id_):
            raise NameTaken(f"entity {shown(id_)}: aliases[{number}]: {shown(alias)} is a name of {_name_list(others)}")


def already_exists(called: str, entities: Sequence[Entity]) -> NameTaken:
    """The error for creating an entity that exists."""
    return NameTaken(f"entity {shown(called)}: there is one already, {_name_list(entities)}; update it instead")


def places(entity: Entity) -> str:
    """Where an entity is described, file and line."""
    return ", ".join(map(str, entity.origins))


def _name_list(entities: Sequence[Entity]) -> str:
    parts = [
        f"{shown(row.id)}{'' if row.name == row.id else f' ({shown(row.name)[1:-1]})'}, from {places(row)}"
        for row in entities[:_MOST]
    ]
    return " and ".join(parts) + (f" and {len(entities) - _MOST} more" if len(entities) > _MOST else "")


def ambiguous_name(reference: str, ids: Sequence[str], where: str = "") -> UnknownId:
    """The error for a name that several entities have."""
    more = f" and {len(ids) - _MOST} more" if len(ids) > _MOST else ""
    which = f"{' or '.join(ids[:_MOST])}{more}"
    return UnknownId(f"{where}{shown(reference)} is a name of {len(ids)} entities; say which: {which}", tuple(ids))
