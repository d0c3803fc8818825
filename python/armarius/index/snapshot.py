"""`Snapshot`: codex and matcher of an index at one moment; authored records and drafts that they come from."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property

from armarius.codex.authored.collection import Constraints, Memories
from armarius.codex.authored.protocol import Authored
from armarius.codex.identity import NameIndex
from armarius.codex.model import Codex, Constraint, Entity, Fact, Memory, Origin, Overruled
from armarius.errors import ContextWarning
from armarius.names.people import short_names
from armarius.store.protocol import Store
from armarius.store.rows import Change, EntityRow, GraphRows, Note, Record, Records, RelationRow
from armarius.text.matcher import EntityMatcher, ShortName, kind_of
from armarius.text.unicode import caseless
from armarius.warnings import NAME_UNUSABLE

RULES = 4  # raised when the same names are found elsewhere in the same text
_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in (Entity, Fact, Origin, Overruled)}
_ENCODER = json.JSONEncoder(
    ensure_ascii=False,
    sort_keys=True,
    default=lambda part: {name: getattr(part, name) for name in _FIELDS[type(part)]},
)


@dataclass(frozen=True)
class Snapshot:
    """A codex and its matcher.

    Attributes:
        codex: As built from the documents and the authored files.
        matcher: Matches the names of all entities of every context level, and the short names.
        short_names: What these names are shortened to.
        unusable: Warnings about names that cannot be matched.
        match_digest: Digest of everything that decides what is a mention; stored mentions with another are outdated.
        codex_digest: Digest of the whole codex.
    """

    codex: Codex
    matcher: EntityMatcher
    short_names: tuple[ShortName, ...]
    match_digest: str
    codex_digest: str
    unusable: tuple[ContextWarning, ...] = ()

    @cached_property
    def who(self) -> NameIndex:
        """Resolves an id, a name or an alias to an entity."""
        return NameIndex(self.codex.entities, others=self.codex.others)

    @property
    def warnings(self) -> tuple[ContextWarning, ...]:
        """Warnings of the codex, and about names that cannot be matched."""
        return tuple(dict.fromkeys((*self.codex.warnings, *self.unusable)))

    def with_entities(self, entities: Sequence[Entity]) -> "Snapshot":
        """The same snapshot with further entities, from a graph."""
        return snapshot_of(replace(self.codex, entities=(*self.codex.entities, *entities)))

    def rows(self) -> GraphRows:
        """Entities and relations as the store keeps them."""
        entities = [EntityRow(e.id, e.name, e.type, e.level, _payload(e)) for e in self.codex.entities]
        relations = [RelationRow(r.source, r.target, r.type, r.since, r.until) for r in self.codex.relations]
        return GraphRows(tuple(entities), tuple(relations))


def snapshot_of(codex: Codex) -> Snapshot:
    """The snapshot of a codex. Cost: a matcher of all names, and a digest of the codex."""
    derived, gone = short_names(codex.entities), codex.without
    short = tuple(one for one in derived if (one.entity_id, caseless(one.text)) not in gone)
    matcher, faults = EntityMatcher.from_valid(codex.entities, short_names=short)
    unusable = tuple(NAME_UNUSABLE(fault=fault) for fault in faults)
    return Snapshot(codex, matcher, short, _match_digest(codex), _codex_digest(codex), unusable)


def _match_digest(codex: Codex) -> str:
    names = ((one.id, one.name, one.aliases, kind_of(one)) for one in codex.entities)
    return _digest([RULES, *names, *sorted(codex.without)])


def _codex_digest(codex: Codex) -> str:
    return _digest([*map(_told, codex.entities), codex.relations])


def _told(entity: Entity) -> tuple[object, ...]:
    """Everything that is said of an entity; plain rows, for the `repr` of a record is written in Python."""
    facts = [(fact.text, fact.since, fact.until) for fact in entity.facts]
    origins = [(origin.path, origin.section, origin.line) for origin in entity.origins]
    named = (entity.id, entity.name, entity.type, entity.aliases, entity.description, entity.attributes, entity.level)
    return (*named, facts, origins, entity.overruled)


def _payload(entity: Entity) -> str:
    """As JSON of `asdict`, without the deep copy that a hundred thousand entities feel."""
    return _ENCODER.encode({name: getattr(entity, name) for name in _FIELDS[Entity]})


def read_records(authored: Authored) -> tuple[Records, Records]:
    """The authored memories and constraints as the store keeps them, by id."""
    memories, constraints = Memories(authored).list(), Constraints(authored).list()
    return Records("memory", _records(memories)), Records("constraint", _records(constraints))


def snapshot_after(known: Snapshot | None, codex: Codex) -> Snapshot:
    """The snapshot of a codex that was built again; the matcher stays while the names are the same."""
    if known is not None and known.match_digest == _match_digest(codex):
        return replace(known, codex=codex, codex_digest=_codex_digest(codex))
    return snapshot_of(codex)


def pending_changes(snapshot: Snapshot, authored: Authored, store: Store, graph: str | None) -> list[Change]:
    """The changes that make codex and records of the store equal to the snapshot and the user's files.

    Args:
        snapshot: The codex to store.
        authored: The user's records.
        store: Its records are compared one by one.
        graph: Digest of the codex that the store holds.
    """
    changes: list[Change] = [
        change for change in read_records(authored) if tuple(store.records(change.collection)) != change.records
    ]
    if graph != snapshot.codex_digest:
        changes += (snapshot.rows(), Note("graph", snapshot.codex_digest))
    return changes


def _records(items: Iterable[Memory | Constraint]) -> tuple[Record, ...]:
    rows = [Record(item.id, json.dumps(asdict(item), ensure_ascii=False, sort_keys=True)) for item in items]
    return tuple(sorted(rows, key=lambda record: record.id))


def _digest(value: Sequence[object]) -> str:
    return hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
