"""What a project is given: the graph that every project has, written to `.armarius/codex.toml`; edits of its pages.

Reading asks the codex of the index. Writing edits the authored records, from which the codex is made again: what is
written here survives a deleted index, can be read and edited by hand, and is under the user's version control. What a
profile or `codex.json` says is the user's: a write that contradicts it is refused with the place to change.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from armarius.codex.authored import AuthoredCodex
from armarius.codex.in_place import Pages, Parse, changed_meanwhile
from armarius.codex.load import AUTHORED_FILE, profiles_in
from armarius.codex.model import Entity, Origin, Relation
from armarius.codex.record_file import FOLDER
from armarius.documents.decode import Undecodable, decode, encode
from armarius.documents.document import document_of
from armarius.errors import CodexError, DescribedElsewhere, StoreConflict, UnknownId
from armarius.graph.protocol import (
    Graph,
    checked_entity,
    checked_ids,
    checked_relation,
    relation_key,
    walk,
)
from armarius.index.project_index import ProjectIndex
from armarius.io import folder_lock, read_file, remove_file, rewrite_file, write_atomic
from armarius.io.write import Step, changed_files
from armarius.trust.settings import Config
from armarius.validation import valid_text, whole

_FIELDS = ("name", "type", "aliases", "description", "attributes", "level", "facts")


class ProjectGraph:
    """`GraphStore` over one open project. Get it as `engine.graph`.

    Where files state a relation for several stretches of chapters, one that covers them all stands here; retrieval
    knows each.

    Args:
        index: Open; the caller closes it.
        codex: The authored records, with the whole codex.

    Raises:
        CodexError: From a write, when a file of the user's says otherwise, or the codex cannot hold a value.
        StoreFull: From a write, when `.armarius/` cannot be written.
        StoreError: The index cannot be used.
    """

    def __init__(self, index: ProjectIndex, codex: AuthoredCodex) -> None:
        self._index = index
        self._codex = codex
        self._lock = threading.RLock()

    def neighbors(self, entity_id: str, /, *, limit: int = 1000) -> Sequence[Relation]:
        """See `GraphStore`. Cost: a look at every relation."""
        entity_id, limit = valid_text("entity_id", entity_id), whole("limit", limit, least=1)
        self._index.freshen()
        return tuple(self._relations_of([entity_id]))[:limit]

    def subgraph(self, entity_ids: Sequence[str], /, *, depth: int = 1, limit: int = 1000) -> Graph:
        """See `GraphStore`. Cost: a look at every relation for each level."""
        entity_ids = checked_ids(entity_ids)
        self._index.freshen()
        return walk(entity_ids, depth=depth, limit=limit, entities=self._entities, touching=self._relations_of)

    def snapshot(self) -> Graph:
        """See `GraphStore`."""
        self._index.freshen()
        codex = self._index.snapshot.codex
        return Graph.of(map(_drop_origins, codex.entities), _merge_spans(codex.relations))

    def upsert_entity(self, entity: Entity, /) -> None:
        """See `GraphStore`; a field is changed in the page that says it, and elsewhere by a record over the file.

        A graph knows its entities by their ids: two of one name are two.

        Cost: a write reads, checks and rewrites the whole file, as does `upsert_relation`: use `upsert_all` for many.
        """
        entity = checked_entity(entity)
        with self._lock:
            record = next((row for row in self._codex.list() if row.id == entity.id), None)
            if record is None:
                stated = {key: getattr(entity, key) for key in _FIELDS[1:]}
                self._codex.create(entity.name, id=entity.id, force=True, **stated)
                return
            changes = {key: getattr(entity, key) for key in _FIELDS if getattr(record, key) != getattr(entity, key)}
            if "attributes" in changes:
                changes["attributes"] = dict.fromkeys(record.attributes, "") | dict(entity.attributes)
            if changes:
                self._codex.update(entity.id, force=True, **changes)

    def upsert_relation(self, relation: Relation, /) -> None:
        """See `GraphStore`."""
        relation = checked_relation(relation)
        with self._lock:
            _check_ends([relation], {entity.id for entity in self._codex.list()})
            stated = [edge for edge in self._codex.relations() if relation_key(edge) == relation_key(relation)]
            chapters = (relation.since, relation.until)
            if stated and all((edge.since, edge.until) == chapters for edge in stated):
                return
            for edge in stated:
                if _is_users(edge.origin):
                    raise CodexError(f"relation {relation.type!r}: stated in {_place(edge.origin)}: change it there")
            self._codex.put_relation(relation)

    def upsert_all(self, graph: Graph, /) -> None:
        """Every entity and relation of `graph`, as by the other two; what is new is one write.

        Raises:
            KeyError, ValueError: As the other two; nothing is written.
            CodexError: Likewise; what was new is written.

        Cost: one write of the file, and one for each record that is there and differs.
        """
        entities = list({entity.id: checked_entity(entity) for entity in graph.entities}.values())
        relations = list({relation_key(edge): checked_relation(edge) for edge in graph.relations}.values())
        with self._lock:
            ids = {entity.id for entity in self._codex.list()}
            _check_ends(relations, ids | {entity.id for entity in entities})
            stated = {relation_key(relation) for relation in self._codex.relations()} | self._codex.related()
            self._codex.extend(
                [entity for entity in entities if entity.id not in ids],
                [relation for relation in relations if relation_key(relation) not in stated],
            )
            for entity in entities:
                if entity.id in ids:
                    self.upsert_entity(entity)
            for relation in relations:
                if relation_key(relation) in stated:
                    self.upsert_relation(relation)

    def delete_entity(self, entity_id: str, /) -> None:
        """See `GraphStore`; the authored records alone can be deleted here.

        Raises:
            CodexError: A profile or `codex.json` describes it; names the place. Nothing is deleted.
        """
        entity_id = valid_text("entity_id", entity_id)
        with self._lock:
            record = next((row for row in self._codex.list() if row.id == entity_id), None)
            if record is None:
                return
            if places := [_place(origin) for origin in record.origins if _is_users(origin)]:
                raise DescribedElsewhere(f"entity {entity_id!r} is described in {', '.join(places)}: delete it there")
            self._codex.delete(entity_id, relations=True)

    def _entities(self, ids: Sequence[str]) -> list[Entity]:
        wanted = set(ids)
        return [_drop_origins(entity) for entity in self._index.snapshot.codex.entities if entity.id in wanted]

    def _relations_of(self, ids: Sequence[str]) -> list[Relation]:
        ends, edges = set(ids), self._index.snapshot.codex.relations
        return _merge_spans(edge for edge in edges if edge.source in ends or edge.target in ends)


def _check_ends(relations: Iterable[Relation], ids: Collection[str]) -> None:
    for relation in relations:
        for end in (relation.source, relation.target):
            if end not in ids:
                raise UnknownId(f"no entity has the id {end!r}")


def _drop_origins(entity: Entity) -> Entity:
    """An entity without the files that describe it."""
    return replace(entity, origins=(), overruled=())


def _merge_spans(edges: Iterable[Relation]) -> list[Relation]:
    """One relation for each source, target and type, over all chapters that any edge states, in order."""
    relations: dict[tuple[str, str, str], Relation] = {}
    for edge in edges:
        key = relation_key(edge)
        since, until = edge.since, edge.until
        if key in relations:
            before = relations[key]
            since = None if since is None or before.since is None else min(since, before.since)
            until = None if until is None or before.until is None else max(until, before.until)
        relations[key] = Relation(*key, since, until)
    return [relations[key] for key in sorted(relations)]


def _is_users(origin: Origin | None) -> bool:
    return origin is not None and origin.path != AUTHORED_FILE


def _place(origin: Origin | None) -> str:
    return "" if origin is None else f"{origin.path}:{origin.line}" if origin.line else origin.path


_UNDO = f"{FOLDER}/undo.json"
_MOST_UNDO = 1024 * 1024 * 1024  # bytes


class FolderPages(Pages):
    """The Markdown pages of a folder, for edits in place; see `Pages`."""

    def __init__(self, index: ProjectIndex, config: Config) -> None:
        self._index = index
        self._config = config
        self._most = config.max_bytes

    def read(self, path: str) -> tuple[str, Parse] | None:  # noqa: D102 - as `Pages`
        root, parse = self._index.root, self._parse(path)
        try:
            if root is None or parse is None:
                return None
            return decode(read_file(root / path, limit=self._most, below=root)).text, parse
        except (OSError, Undecodable):
            return None

    def change(self, path: str, change: Callable[[str, Parse], str]) -> None:  # noqa: D102 - as `Pages`
        root, parse = self._index.root, self._parse(path)
        if root is None or parse is None:
            raise changed_meanwhile(path)

        def edit(data: bytes) -> bytes:
            after = encode(change(decode(data).text, parse), data)
            if after is None or len(after) > self._most:
                long = f"more than {self._most:,} bytes are not read"
                raise CodexError(f"{path}: not written: {'its encoding cannot say that' if after is None else long}")
            return after

        try:
            with folder_lock(root / FOLDER, below=root):
                rewrite_file(root / path, edit, limit=self._most, below=root)
        except (OSError, Undecodable, StoreConflict):
            raise changed_meanwhile(path) from None
        self._index.refresh({path})

    @contextmanager
    def step(self) -> Iterator[None]:  # noqa: D102 - as `Pages`
        root = self._index.root
        if root is None:
            yield
            return
        with folder_lock(root / FOLDER, below=root), changed_files() as changes:
            try:
                yield
            finally:
                if any(not path.is_relative_to(root / FOLDER) for path in changes):
                    write_atomic(root / _UNDO, Step.of(changes, root).to_json(), below=root, mode=0o600)
                    changes.pop(root / _UNDO, None)

    def undo(self) -> tuple[str, ...]:  # noqa: D102 - as `Pages`
        root = self._index.root
        if root is None or not (root / _UNDO).is_file():
            return ()
        with folder_lock(root / FOLDER, below=root):
            try:
                step = Step.from_json(read_file(root / _UNDO, limit=_MOST_UNDO, below=root))
            except ValueError as error:
                raise CodexError(f"{_UNDO}: not read: {error}") from None
            step.undo(root)
            remove_file(root / _UNDO, below=root)
        self._index.refresh()
        return tuple(step.files)

    def _parse(self, path: str) -> Parse | None:
        rows = list(self._index.ask(lambda store: store.documents_of([path])))
        if not rows and (self._index.root is None or (self._index.root / path).exists()):
            return None  # a file that is not read
        document = self._index.placed(rows[0] if rows else document_of(path, "", "utf-8", "", config=self._config))
        return lambda text: profiles_in(replace(document, text=text), path, rules=self._config.kinds)
