"""Fakes: a fetcher, a counter, a graph in memory that can fail, and a project in memory. For tests and as examples.

An engine over them needs no folder:

    source, authored = FakeSource({"chapters/ch001.md": "…"}), FakeAuthored()
    index = ProjectIndex.over(source, authored, open_store, project_id="novel")
"""

import hashlib
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from armarius.codex.codex_json import CODEX_FILE, CodexFile, parse_codex_json
from armarius.codex.model import Entity, Relation
from armarius.codex.protocol import BookName, Check
from armarius.codex.record_file import RecordText
from armarius.documents.decode import Undecodable
from armarius.documents.document import Document, FileStamp, Skipped, make_document
from armarius.errors import ContextWarning, DocumentSkipped, UnknownDocument, UnknownId
from armarius.graph import Graph, walk
from armarius.graph.protocol import checked_entity, checked_relation, relation_key, sort_relations
from armarius.index.source import ReadBatch, SourceChanges, is_wanted
from armarius.store.protocol import FileRow, Remove
from armarius.trust.settings import Config, parse_config
from armarius.types import Candidate, Fetched, FetchRequest, LayerName, Omission
from armarius.validation import whole


@dataclass(slots=True)
class FakeFetcher:
    """A fetcher that returns preset candidates or raises a preset error, and records its requests.

    Args:
        candidates: Returned unchanged; each goes into its own layer.
        layer: The layer of the fetcher.
        error: Raised instead of an answer.
        delay: Seconds to sleep before answering.
    """

    candidates: Sequence[Candidate] = ()
    layer: LayerName = "retrieved"
    name: str = "fake"
    omitted: Sequence[Omission] = ()
    warnings: Sequence[ContextWarning] = ()
    error: Exception | None = None
    delay: float = 0.0
    requests: list[FetchRequest] = field(default_factory=list)

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """Return the preset candidates, or raise the preset error."""
        self.requests.append(request)
        if self.delay:
            time.sleep(self.delay)
        if self.error is not None:
            raise self.error
        return Fetched(self.candidates, self.omitted, self.warnings)


@dataclass(slots=True)
class FixedCounter:
    """A counter with one token per character or per word, so that counts can be checked by hand.

    Args:
        per: `character` is additive over any join; `word` is additive over joins by white space.
        error: Raised instead of a count.
        texts: List that receives every counted text, in order.
    """

    per: Literal["character", "word"] = "character"
    name: str = "fixed"
    exact: bool = True
    error: Exception | None = None
    texts: list[str] = field(default_factory=list)

    def count(self, text: str, /) -> int:
        """Tokens of one text."""
        self.texts.append(text)
        if self.error is not None:
            raise self.error
        return len(text) if self.per == "character" else len(text.split())

    def count_batch(self, texts: Sequence[str], /) -> list[int]:
        """Tokens of each text."""
        return [self.count(text) for text in texts]


class FakeGraph:
    """A `GraphStore` in memory with a preset error or delay, which records its calls.

    Args:
        error: Raised by every method.
        delay: Seconds to sleep before every answer.

    Attributes:
        asked: Method and first argument of every call, in order; `stamp` is not among them.
    """

    def __init__(self, *, error: Exception | None = None, delay: float = 0.0) -> None:
        self.error = error
        self.delay = delay
        self.asked: list[tuple[str, object]] = []
        self._lock = threading.RLock()
        self._changes = 0
        self._entities: dict[str, Entity] = {}
        self._relations: dict[tuple[str, str, str], Relation] = {}

    def neighbors(self, entity_id: str, /, *, limit: int = 1000) -> Sequence[Relation]:
        """See `GraphStore`."""
        limit = whole("limit", limit, least=1)
        self._record_call("neighbors", entity_id)
        with self._lock:
            return sort_relations(self._relations_of([entity_id]))[:limit]

    def subgraph(self, entity_ids: Sequence[str], /, *, depth: int = 1, limit: int = 1000) -> Graph:
        """See `GraphStore`."""
        self._record_call("subgraph", list(entity_ids))
        with self._lock:
            return walk(
                entity_ids,
                depth=depth,
                limit=limit,
                entities=lambda ids: [self._entities[id_] for id_ in ids if id_ in self._entities],
                touching=self._relations_of,
            )

    def upsert_entity(self, entity: Entity, /) -> None:
        """See `GraphStore`."""
        self._record_call("upsert_entity", entity)
        entity = checked_entity(entity)
        with self._lock:
            self._entities[entity.id] = entity
            self._changes += 1

    def upsert_relation(self, relation: Relation, /) -> None:
        """See `GraphStore`."""
        self._record_call("upsert_relation", relation)
        relation = checked_relation(relation)
        with self._lock:
            for end in (relation.source, relation.target):
                if end not in self._entities:
                    raise UnknownId(f"no entity has the id {end!r}")
            self._relations[relation_key(relation)] = relation
            self._changes += 1

    def delete_entity(self, entity_id: str, /) -> None:
        """See `GraphStore`."""
        self._record_call("delete_entity", entity_id)
        with self._lock:
            for relation in self._relations_of([entity_id]):
                self._relations.pop(relation_key(relation), None)
            self._entities.pop(entity_id, None)
            self._changes += 1

    def snapshot(self) -> Graph:
        """See `GraphStore`."""
        self._record_call("snapshot", None)
        with self._lock:
            return Graph.of(self._entities.values(), self._relations.values())

    def stamp(self) -> int:
        """See `GraphStore`."""
        return self._changes

    def _relations_of(self, ids: Sequence[str]) -> list[Relation]:
        return [edge for edge in self._relations.values() if edge.source in ids or edge.target in ids]

    def _record_call(self, method: str, argument: object) -> None:
        self.asked.append((method, argument))
        if self.delay:
            time.sleep(self.delay)
        if self.error is not None:
            raise self.error


class FakeSource:
    """A `DocumentSource` over texts in memory. Thread-safe.

    Args:
        texts: Texts by path; a str is stored as UTF-8.
        config: Configuration for reading documents.

    Attributes:
        reads: Paths of the texts that were read, in order.
    """

    def __init__(self, texts: Mapping[str, str | bytes] | None = None, *, config: Config | None = None) -> None:
        self.reads: list[str] = []
        self._config = config
        self._lock = threading.Lock()
        self._texts: dict[str, bytes] = {}
        self._stamps: dict[str, str] = {}
        self._changes = 0
        for path, text in (texts or {}).items():
            self.write(path, text)

    def write(self, path: str, text: str | bytes) -> None:
        """Create or replace a text."""
        with self._lock:
            self._changes += 1
            self._texts[path] = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
            self._stamps[path] = str(self._changes)

    def remove(self, path: str) -> None:
        """Delete a text."""
        with self._lock:
            self._changes += 1
            del self._texts[path], self._stamps[path]

    def stamp(self) -> str:
        """See `DocumentSource`."""
        return f"memory {self._changes}"

    def compare(
        self, files: Mapping[str, FileRow], *, only: Collection[str] = (), force: bool = False
    ) -> SourceChanges:
        """See `DocumentSource`."""
        with self._lock:
            stamps = {path: stamp for path, stamp in self._stamps.items() if is_wanted(path, only)}
            sizes = {path: len(self._texts[path]) for path in stamps}
        to_read = [
            FileStamp(path, sizes[path], stamps[path], 0)
            for path in sorted(stamps)
            if force or path not in files or files[path].stamp != stamps[path]
        ]
        gone = tuple(sorted(path for path in files if path not in stamps and is_wanted(path, only)))
        return SourceChanges(tuple(to_read), gone, force=force)

    def read(self, difference: SourceChanges, files: Mapping[str, FileRow]) -> Iterator[ReadBatch]:
        """See `DocumentSource`."""
        batch = ReadBatch([Remove(path) for path in difference.removed])
        for stamp in difference.to_read:
            read: Document | Skipped | None = None
            try:
                read = self.document(stamp.path)
            except DocumentSkipped as error:
                read = Skipped(error.path, error.reason)
            except UnknownDocument:
                pass
            batch.take(stamp.path, stamp.stamp, read, files.get(stamp.path), force=difference.force)
        yield batch

    def document(self, path: str, copy: Document | None = None) -> Document:
        """See `DocumentSource`."""
        data = self._texts.get(path)
        if data is None:
            raise UnknownDocument(f"no such document: {path!r}")
        if copy is not None and hashlib.blake2b(data, digest_size=16).hexdigest() == copy.content_hash:
            return copy
        self.reads.append(path)
        try:
            return make_document(path, data, config=self._config)
        except Undecodable as error:
            raise DocumentSkipped(path, str(error)) from None


class FakeAuthored:
    """An `Authored` in memory. Thread-safe.

    Args:
        config: Content of `armarius.toml`.
        codex: Content of `codex.json`; None if there is none.
    """

    def __init__(self, *, config: str = "", codex: str | None = None) -> None:
        self._config = config
        self._codex = codex
        self._profile: Mapping[str, Any] | None = None
        self._lock = threading.RLock()
        self._books: dict[str, str] = {}
        self._changes = 0
        self._configured = 0

    def configure(self, config: str) -> None:
        """Replace `armarius.toml`."""
        with self._lock:
            self._config, self._configured = config, self._configured + 1

    def declare(self, codex: str | None) -> None:
        """Replace `codex.json`; None deletes it."""
        with self._lock:
            self._codex, self._changes = codex, self._changes + 1

    def stamp(self) -> str:
        """See `Authored`."""
        return str(self._changes)

    def config_stamp(self) -> str:
        """See `Authored`."""
        return str(self._configured)

    def config(self) -> Config:
        """See `Authored`."""
        return parse_config(self._config)

    def change_config(self, change: Callable[[str], str]) -> None:
        """See `Authored`."""
        with self._lock:
            self.configure(change(self._config))

    def declared(self) -> CodexFile:
        """See `Authored`."""
        return CodexFile() if self._codex is None else parse_codex_json(CODEX_FILE, self._codex)

    def records(self, book: BookName, *, tables: Iterable[str], check: Check) -> "_MemoryRecords":
        """See `Authored`."""
        return _MemoryRecords(self, book, tables=tables, check=check)

    @property
    def profile_name(self) -> str:
        """See `Authored`."""
        return "the budget profile"

    def profile(self) -> Mapping[str, Any] | None:
        """See `Authored`."""
        return self._profile

    def change_profile(self, change: Callable[[Mapping[str, Any] | None], Mapping[str, Any]]) -> None:
        """See `Authored`."""
        with self._lock:
            self._profile = change(self._profile)


class _MemoryRecords(RecordText):
    """A book of records as a text in memory."""

    def __init__(self, owner: FakeAuthored, book: str, *, tables: Iterable[str], check: Check) -> None:
        super().__init__(f"{book}.toml", tables=tables, check=check)
        self._owner = owner

    def stamp(self) -> int:
        """See `RecordStore`."""
        return self._owner._changes

    def _text(self) -> str | None:
        return self._owner._books.get(self.name)

    def _rewrite(self, change: Callable[[str], str]) -> None:
        with self._owner._lock:
            self._owner._books[self.name] = change(self._text() or "")
            self._owner._changes += 1
