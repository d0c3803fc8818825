"""What a user knows about the world of a project: entities, relations, and facts that hold from a chapter on."""

from dataclasses import dataclass, field
from typing import Literal

from armarius.errors import ContextWarning

ContextLevel = Literal["always", "when_detected", "manual_only", "never"]
CONTEXT_LEVELS: tuple[ContextLevel, ...] = ("always", "when_detected", "manual_only", "never")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an entity or relation was read: project-relative path, section heading, 1-based line (0 unknown)."""

    path: str
    section: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement that holds from chapter `since` (inclusive) until `until` (exclusive); None is open."""

    text: str
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Overruled:
    """What another folder of a series says of an entity, against what holds.

    Attributes:
        field: `type`, `level`, `description`, or the key of an attribute.
        value: What it says.
        origin: Where.
        by: Where what holds is said.
    """

    field: str
    value: str
    origin: Origin
    by: Origin


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing the user knows about.

    `type` is one of character, location, event, item, faction, foreshadowing, inspiration, or any
    other word (labelled 实体). `attributes` keep the user's own keys. One entity may have several
    origins: a profile section and an entry of `codex.json` with the same name are merged. `overruled` is what folders
    of a series say otherwise (`docs/decisions/0049`).
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
    """Everything a project says about its world, merged.

    Attributes:
        entities: Unique ids, in the order first described.
        relations: Both ends are ids of `entities`.
        warnings: `CODEX_INVALID`, one per fault, naming file, entry and field; what is not faulty is here.
        title: Of the codex file, or "".
        language: Of the codex file, or "".
        others: Ids of those whom other folders of a series alone describe.
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    warnings: tuple[ContextWarning, ...] = ()
    title: str = ""
    language: str = ""
    others: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule that every prompt states; `priority` from 0, higher first; `source` says who set it."""

    id: str
    text: str
    source: Literal["user", "kg"] = "user"
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """What a document is summed up by; `content_hash` is that of the document it was written for."""

    id: str
    document: str
    text: str
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class Pin:
    """Something that is in every prompt with room, or with `mute` in none; perhaps only while `document` is open."""

    id: str
    target: str
    mute: bool = False
    document: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """Something learnt about the project or its user; `confidence` in [0, 1]."""

    id: str
    text: str
    kind: Literal["semantic", "episodic", "procedural"] = "semantic"
    confidence: float = 1.0
