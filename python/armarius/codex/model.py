"""Records of a project's world: entities, relations, facts with the chapters that they hold for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from armarius.display import ResultList
from armarius.errors import ContextWarning

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
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    warnings: tuple[ContextWarning, ...] = ()
    title: str = ""
    language: str = ""
    others: frozenset[str] = frozenset()
    rejected: tuple[RejectedName, ...] = ()
    without: frozenset[tuple[str, str]] = frozenset()


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
        given: Any = self.passages or ()
        read = tuple(PassageSummary(**one) if isinstance(one, dict) else one for one in given)
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
