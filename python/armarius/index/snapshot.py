"""What a project knows of its world at one moment: codex, matcher, and what the index keeps of both."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from armarius.codex.authored.codex import AuthoredCodex
from armarius.codex.authored.collection import Constraints, Memories
from armarius.codex.authored.protocol import Authored
from armarius.codex.load import build_codex
from armarius.codex.model import Codex, Constraint, Entity, Memory
from armarius.documents.document import Document
from armarius.errors import ContextWarning
from armarius.names import Habits
from armarius.store.rows import EntityRow, Graph, Record, Records, RelationRow
from armarius.text.matcher import EntityMatcher, kind_of
from armarius.warnings_table import NAME_UNUSABLE

__all__ = ["World", "read_records", "read_world"]


@dataclass(frozen=True, slots=True)
class World:
    """A codex and its matcher.

    Attributes:
        codex: As built from the documents and the authored files.
        matcher: Over every entity, whatever its context level, with the habits; every answer is made with it.
        habits: What the project's prose taught about these names.
        cast: Digest of what habits are learnt about: ids, names, aliases, kinds, and what is said of persons.
        names: Digest of all that decides what is a mention: mentions found with another one are out of date.
        graph: Digest of the whole codex.
        warnings: Of the codex, and of entities whose names cannot be matched.
    """

    codex: Codex
    matcher: EntityMatcher
    habits: Habits
    cast: str
    names: str
    graph: str
    warnings: tuple[ContextWarning, ...] = ()

    def with_habits(self, habits: Habits) -> "World":
        """The same codex, its names found by other habits."""
        if habits == self.habits:
            return self
        if habits.policy == self.habits.policy:  # other figures, the same mentions
            return replace(self, habits=habits)
        matcher, _ = EntityMatcher.of_usable(self.codex.entities, habits=habits)
        return replace(self, matcher=matcher, habits=habits, names=_digest([self.cast, habits.policy]))

    def with_cast(self, entities: Sequence[Entity]) -> "World":
        """The same world with further entities, of a graph that no file describes."""
        codex = replace(self.codex, entities=(*self.codex.entities, *entities))
        matcher, faults = EntityMatcher.of_usable(codex.entities, habits=self.habits)
        warnings = tuple(NAME_UNUSABLE(fault=fault) for fault in faults)
        return replace(
            self,
            codex=codex,
            matcher=matcher,
            graph=_digest([self.graph, entities]),
            warnings=tuple(dict.fromkeys((*self.warnings, *warnings))),
        )

    def rows(self) -> Graph:
        """Entities and relations as the store keeps them."""
        entities = [
            EntityRow(e.id, e.name, e.type, e.level, json.dumps(asdict(e), ensure_ascii=False, sort_keys=True))
            for e in self.codex.entities
        ]
        relations = [RelationRow(r.source, r.target, r.type, r.since, r.until) for r in self.codex.relations]
        return Graph(tuple(entities), tuple(relations))


def read_world(authored: Authored, documents: Iterable[Document]) -> World:
    """The world of a project from its documents (chapters and code are passed over) and what was authored.

    It has no habits yet; see `World.with_habits`.
    """
    codex = build_codex(documents, authored.declared(), authored=AuthoredCodex(authored).read())
    matcher, faults = EntityMatcher.of_usable(codex.entities)
    warnings = (*codex.warnings, *(NAME_UNUSABLE(fault=fault) for fault in faults))
    habits, cast = Habits(), _digest([_naming(entity) for entity in codex.entities])
    names, graph = _digest([cast, habits.policy]), _digest([codex.entities, codex.relations])
    return World(codex, matcher, habits, cast, names, graph, warnings)


def _naming(entity: Entity) -> tuple[object, ...]:
    kind = kind_of(entity)
    said = (entity.description, tuple(entity.attributes.items())) if kind == "person" else ()
    return (entity.id, entity.name, entity.aliases, kind, said)


def read_records(authored: Authored) -> tuple[Records, Records]:
    """The authored memories and constraints as the store keeps them, by id."""
    memories, constraints = Memories(authored).list(), Constraints(authored).list()
    return Records("memory", _records(memories)), Records("constraint", _records(constraints))


def _records(items: Iterable[Memory | Constraint]) -> tuple[Record, ...]:
    rows = [Record(item.id, json.dumps(asdict(item), ensure_ascii=False, sort_keys=True)) for item in items]
    return tuple(sorted(rows, key=lambda record: record.id))


def _digest(value: Sequence[object]) -> str:
    return hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
