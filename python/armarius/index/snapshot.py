"""What a project knows of its world at one moment: codex, matcher, and how the index keeps both."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from armarius.codex.authored.codex import AuthoredCodex
from armarius.codex.authored.collection import Constraints, Memories
from armarius.codex.load import build_codex, read_codex_file
from armarius.codex.model import Codex, Constraint, Entity, Memory
from armarius.config import CONFIG_NAME
from armarius.documents.document import Document
from armarius.errors import ContextWarning
from armarius.names import Habits
from armarius.store.protocol import (
    Collection,
    EntityRow,
    MentionRow,
    Record,
    RelationRow,
)
from armarius.text.matcher import EntityMatcher, kind_of
from armarius.warnings_table import NAME_UNUSABLE

__all__ = ["World", "authored_stamp", "config_stamp", "read_records", "read_world"]

# Written by the user or through the API; not documents, and part of what the index is made from.
_AUTHORED = ("codex.json", ".armarius/codex.toml", ".armarius/memories.toml", ".armarius/constraints.toml")


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

    def mentions(self, documents: Sequence[Document]) -> list[tuple[MentionRow, ...]]:
        """The mentions of each document by (start, -end, entity), in one crossing.

        Cost: one pass over the texts on all cores, and one object per mention.
        """
        import numpy as np  # a tenth of a second, and only a build needs it

        packed = self.matcher.find_packed([document.text for document in documents])
        found = np.frombuffer(packed, dtype="<u4").reshape(-1, 4)
        ids = self.matcher.entity_ids
        ends = np.searchsorted(found[:, 0], np.arange(len(documents) + 1))
        rows = []
        for i, document in enumerate(documents):
            mine = found[ends[i] : ends[i + 1]]
            starts = np.array([p.start for p in document.paragraphs], dtype=np.int64)
            limits = np.array([p.end for p in document.paragraphs], dtype=np.int64)
            at = np.searchsorted(starts, mine[:, 2], side="right") - 1
            inside = (at >= 0) & (mine[:, 3] <= limits[at]) if len(starts) else np.zeros(len(mine), dtype=bool)
            places = np.where(inside, at, -1)
            rows.append(
                tuple(
                    MentionRow(ids[entity], place, start, end)
                    for (_, entity, start, end), place in zip(mine.tolist(), places.tolist(), strict=True)
                )
            )
        return rows

    def rows(self) -> tuple[list[EntityRow], list[RelationRow]]:
        """Entities and relations as the store keeps them."""
        entities = [
            EntityRow(e.id, e.name, e.type, e.level, json.dumps(asdict(e), ensure_ascii=False, sort_keys=True))
            for e in self.codex.entities
        ]
        relations = [RelationRow(r.source, r.target, r.type, r.since, r.until) for r in self.codex.relations]
        return entities, relations


def read_world(root: Path, documents: Iterable[Document]) -> World:
    """The world of a project from its documents (chapters and code are passed over) and its authored files.

    It has no habits yet; see `World.with_habits`.
    """
    codex = build_codex(documents, read_codex_file(root), authored=AuthoredCodex(root).read())
    matcher, faults = EntityMatcher.of_usable(codex.entities)
    warnings = (*codex.warnings, *(NAME_UNUSABLE(fault=fault) for fault in faults))
    habits, cast = Habits(), _digest([_naming(entity) for entity in codex.entities])
    names, graph = _digest([cast, habits.policy]), _digest([codex.entities, codex.relations])
    return World(codex, matcher, habits, cast, names, graph, warnings)


def _naming(entity: Entity) -> tuple[object, ...]:
    kind = kind_of(entity)
    said = (entity.description, tuple(entity.attributes.items())) if kind == "person" else ()
    return (entity.id, entity.name, entity.aliases, kind, said)


def read_records(root: Path) -> dict[Collection, list[Record]]:
    """The authored memories and constraints as the store keeps them, by id."""
    memories, constraints = Memories(root).list(), Constraints(root).list()
    return {"memory": _records(memories), "constraint": _records(constraints)}


def _records(items: Iterable[Memory | Constraint]) -> list[Record]:
    rows = [Record(item.id, json.dumps(asdict(item), ensure_ascii=False, sort_keys=True)) for item in items]
    return sorted(rows, key=lambda record: record.id)


def authored_stamp(root: Path) -> str:
    """Differs after any change of the authored files."""
    return "|".join(_stamp(root / name) for name in _AUTHORED)


def config_stamp(root: Path) -> str:
    """Differs after any change of the configuration."""
    return _stamp(root / CONFIG_NAME)


def _stamp(path: Path) -> str:
    try:
        info = path.stat()
    except OSError:
        return ""
    return f"{info.st_size}:{info.st_mtime_ns}:{info.st_ctime_ns}:{info.st_ino}"


def _digest(value: Sequence[object]) -> str:
    return hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
