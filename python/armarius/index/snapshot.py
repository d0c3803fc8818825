"""What a project knows of its world at one moment: codex, matcher, and what the index keeps of both."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace

from armarius.codex.authored.codex import AuthoredCodex
from armarius.codex.authored.collection import Constraints, Memories
from armarius.codex.authored.protocol import Authored
from armarius.codex.load import build_codex
from armarius.codex.model import Codex, Constraint, Entity, Memory
from armarius.documents.document import Document
from armarius.errors import ContextWarning
from armarius.index.series import SeriesAuthored
from armarius.names import NameModel
from armarius.store.rows import EntityRow, Graph, Record, Records, RelationRow
from armarius.text.matcher import EntityMatcher, kind_of
from armarius.warnings_table import NAME_UNUSABLE

__all__ = ["Snapshot", "read_records", "read_snapshot"]

_FIELDS = tuple(field.name for field in fields(Entity))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A codex and its matcher.

    Attributes:
        codex: As built from the documents and the authored files.
        matcher: Over every entity, whatever its context level, with the habits; every answer is made with it.
        name_model: What the project's prose taught about these names.
        people_digest: Digest of what habits are learnt about: ids, names, aliases, kinds, and what is said of persons.
        match_digest: Digest of all that decides what is a mention: mentions found with another one are out of date.
        codex_digest: Digest of the whole codex.
        warnings: Of the codex, and of entities whose names cannot be matched.
    """

    codex: Codex
    matcher: EntityMatcher
    name_model: NameModel
    people_digest: str
    match_digest: str
    codex_digest: str
    warnings: tuple[ContextWarning, ...] = ()

    def with_name_model(self, name_model: NameModel) -> "Snapshot":
        """The same codex, its names found by other habits."""
        if name_model == self.name_model:
            return self
        if name_model.policy == self.name_model.policy:  # other figures, the same mentions
            return replace(self, name_model=name_model)
        matcher, _ = EntityMatcher.from_valid(self.codex.entities, name_model=name_model)
        return replace(
            self, matcher=matcher, name_model=name_model, match_digest=_digest([self.people_digest, name_model.policy])
        )

    def with_entities(self, entities: Sequence[Entity]) -> "Snapshot":
        """The same world with further entities, of a graph that no file describes."""
        codex = replace(self.codex, entities=(*self.codex.entities, *entities))
        matcher, faults = EntityMatcher.from_valid(codex.entities, name_model=self.name_model)
        warnings = tuple(NAME_UNUSABLE(fault=fault) for fault in faults)
        return replace(
            self,
            codex=codex,
            matcher=matcher,
            match_digest=_digest([self.match_digest, [_naming(entity) for entity in entities]]),
            codex_digest=_digest([self.codex_digest, entities]),
            warnings=tuple(dict.fromkeys((*self.warnings, *warnings))),
        )

    def rows(self) -> Graph:
        """Entities and relations as the store keeps them."""
        entities = [EntityRow(e.id, e.name, e.type, e.level, _payload(e)) for e in self.codex.entities]
        relations = [RelationRow(r.source, r.target, r.type, r.since, r.until) for r in self.codex.relations]
        return Graph(tuple(entities), tuple(relations))


def read_snapshot(authored: Authored, documents: Iterable[Document]) -> Snapshot:
    """The world of a project from its documents (chapters and code are passed over) and what was authored.

    It has no habits yet; see `Snapshot.with_name_model`.
    """
    documents, series = (
        authored.series(list(documents)) if isinstance(authored, SeriesAuthored) else (list(documents), [])
    )
    codex = build_codex(documents, authored.declared(), authored=AuthoredCodex(authored).read(), series=series)
    matcher, faults = EntityMatcher.from_valid(codex.entities)
    warnings = (*codex.warnings, *(NAME_UNUSABLE(fault=fault) for fault in faults))
    name_model, people_digest = NameModel(), _digest([_naming(entity) for entity in codex.entities])
    return Snapshot(
        codex=codex,
        matcher=matcher,
        name_model=name_model,
        people_digest=people_digest,
        match_digest=_digest([people_digest, name_model.policy]),
        codex_digest=_digest([codex.entities, codex.relations]),
        warnings=warnings,
    )


def _payload(entity: Entity) -> str:
    """As JSON of `asdict`, without the deep copy that a hundred thousand entities feel."""
    stated = {name: getattr(entity, name) for name in _FIELDS}
    return json.dumps(stated, ensure_ascii=False, sort_keys=True, default=asdict)


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
