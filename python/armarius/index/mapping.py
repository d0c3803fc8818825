"""The map of a project, kept with the index: the evidence of each document is a derived row.

A document that the files around it make something else than its own text does is read again from its text, before it
is stored where possible.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from armarius.arguments import Kind
from armarius.config import Config
from armarius.documents.decide import decide
from armarius.documents.document import Document, document_of
from armarius.documents.features import Features, pack, unpack
from armarius.documents.project_map import ProjectMap
from armarius.index.settings import LiveConfig
from armarius.index.source import ReadBatch
from armarius.store.derived import DerivedCache
from armarius.store.protocol import Store
from armarius.store.rows import DerivedRow, FileRow, Put, Remove

_VERSION: Final = "15"  # raised when the same text gives other features
_FEATURES: Final = DerivedCache("features", _VERSION, pack, unpack)


@dataclass(slots=True)
class _Known:
    """A document of the index: the hash of its text, its evidence, and the kind and number that it is stored with."""

    content_hash: str
    features: Features
    kind: Kind
    chapter: int | None


class Mapper:
    """The features of all documents, and the map that they give. Not thread-safe, but `map` is replaced whole.

    Args:
        config: Its `[documents]` and `[kinds]` state kinds.

    Attributes:
        map: As of the last refresh.
    """

    def __init__(self, config: LiveConfig) -> None:
        self.map = ProjectMap()
        self._config = config
        self._known: dict[str, _Known] = {}
        self._rules: Mapping[str, Sequence[tuple[str, str]]] | None = None  # that the map was decided by
        self._unkept: list[str] = []
        self._followed: tuple[Store, int] | None = None

    def follow(self, store: Store, files: Mapping[str, FileRow], generation: int) -> None:
        """Make the features those of the documents in `store`, whichever process wrote them.

        Cost: nothing at the generation followed last; else one comparison of a hash per document. Rows are read where
        one differs, texts where there is no row.
        """
        if self._followed == (store, generation):
            return
        for path in [path for path in self._known if path not in files]:
            self._drop(path)
        new = {path: row for path, row in files.items() if self._hash_of(path) != row.content_hash}
        if new:
            rows = {row.path: row for row in store.documents() if row.path in new}
            kept = _FEATURES.load(store, {path: row.content_hash for path, row in rows.items()})
            for path, features in kept.items():
                row = rows[path]
                self._keep(path, _Known(row.content_hash, features, row.kind, row.chapter))
            for document in store.documents_of([path for path in rows if path not in kept]):
                self._take(document)
                self._unkept.append(document.path)
        self._decide()
        self._followed = (store, generation)

    def take(self, found: ReadBatch) -> None:
        """Take over new, changed and removed documents; those that are of another kind are replaced in `found`."""
        for change in found.changes:
            if isinstance(change, Put):
                self._take(change.document)
            elif isinstance(change, Remove):
                self._drop(change.path)
        self._decide()
        found.changes = [
            Put(self._as_stored(change.document), change.stamp) if isinstance(change, Put) else change
            for change in found.changes
        ]

    def again(self, store: Store, waiting: Collection[str]) -> ReadBatch:
        """The documents that are decided otherwise than they were stored.

        Args:
            store: Holds all documents but `waiting`.
            waiting: Paths that wait to be stored, as decided.
        """
        other = [path for path, one in self._known.items() if self._is_other(path, one.kind, one.chapter)]
        if not other:
            return ReadBatch()
        files = store.files()
        documents = store.documents_of(sorted({*other}.difference(waiting)))
        return ReadBatch([Put(self._as_stored(one), files[one.path].stamp) for one in documents])

    def as_decided(self, document: Document) -> Document:
        """`document` with the kind and the number of the map; the same object when it has them.

        A text that says something else of itself than the one that was mapped keeps what it says.
        """
        path, known = document.path, self._known.get(document.path)
        if known is None or not self._is_other(path, document.kind, document.chapter):
            return document
        said = known.features.kind, known.features.chapter
        if known.content_hash != document.content_hash and (document.kind, document.chapter) != said:
            return document
        kind, chapter = self.map.files[path].kind, self._chapter(path)
        if document.chapter is None and "outline" not in (document.kind, kind) and not self._inside(path)[0]:
            paragraphs = document.paragraphs  # only an outline is split otherwise
            if chapter is not None:
                paragraphs = tuple(replace(one, chapter=chapter) for one in paragraphs)
            return replace(document, kind=kind, chapter=chapter, paragraphs=paragraphs, features=None)
        made = document_of(
            path, document.text, document.encoding, document.content_hash, config=Config(), decided=(kind, chapter)
        )
        if self._inside(path)[0]:  # numbers mean the project's own chapters
            paragraphs = tuple(replace(one, chapter=None) for one in made.paragraphs)
            made = replace(made, paragraphs=paragraphs, past=document.past)
        return made

    def rows(self, documents: Iterable[Document]) -> list[DerivedRow]:
        """The rows to store for documents that were taken."""
        return [
            _FEATURES.row(one.path, one.content_hash, self._known[one.path].features)
            for one in documents
            if one.path in self._known
        ]

    def unkept(self) -> list[DerivedRow]:
        """Rows that the store lacks for documents that it holds; returned once."""
        paths, self._unkept = self._unkept, []
        known = ((path, self._known.get(path)) for path in paths)
        return [_FEATURES.row(path, one.content_hash, one.features) for path, one in known if one is not None]

    def forget(self) -> None:
        """Drop everything: the store was replaced or rolled back."""
        self._known, self._rules, self._unkept, self._followed = {}, None, [], None

    def _take(self, document: Document) -> None:
        features = document.features or self._anew(document).features
        assert features is not None
        self._keep(document.path, _Known(document.content_hash, features, document.kind, document.chapter))

    def _keep(self, path: str, known: _Known) -> None:
        before = self._known.get(path)
        if before is None or before.features != known.features:
            self._rules = None
        self._known[path] = known

    def _drop(self, path: str) -> None:
        if self._known.pop(path, None) is not None:
            self._rules = None

    def _anew(self, document: Document) -> Document:
        """A document of the store as its own text, and its path in its folder, make it."""
        name, path = self._inside(document.path)
        config = self._config.folders[name] if name else self._config
        return document_of(path, document.text, document.encoding, document.content_hash, config=config.now)

    def _as_stored(self, document: Document) -> Document:
        found = self.as_decided(document)
        one = self._known[document.path]
        one.kind, one.chapter = found.kind, found.chapter
        return found

    def _hash_of(self, path: str) -> str:
        one = self._known.get(path)
        return "" if one is None else one.content_hash

    def _is_other(self, path: str, kind: Kind, chapter: int | None) -> bool:
        one = self.map.get(path)
        if one is None or one.kind == "code":
            return False
        return (one.kind, self._chapter(path)) != (kind, chapter)

    def _chapter(self, path: str) -> int | None:
        one = self.map.files[path]
        return one.number if one.kind == "chapter" and not self._inside(path)[0] else None

    def _inside(self, path: str) -> tuple[str, str]:
        """The folder of a series that a document lies in, "" for the project, and its path there."""
        name, slash, inside = path.partition("/")
        return (name, inside) if slash and name in self._config.folders else ("", path)

    def _decide(self) -> None:
        rules = {"": self._config.now.kinds, **{name: one.now.kinds for name, one in self._config.folders.items()}}
        if rules == self._rules:
            return
        self._rules = rules
        features: dict[str, dict[str, Features]] = {name: {} for name in rules}
        for path in sorted(self._known):
            name, inside = self._inside(path)
            features[name][inside] = self._known[path].features
        found = ProjectMap.joined({name: decide(features[name], rules[name]) for name in rules})
        if found != self.map:
            self.map = found
