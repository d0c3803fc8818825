"""The map of a project, kept with the index: the evidence of each document is a derived row, the map a note.

A document that the files around it make something else than its own text does is read again from its text, before it
is stored where possible.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from armarius.arguments import Kind
from armarius.config import Config
from armarius.documents.decide import decide
from armarius.documents.document import Document, document_of
from armarius.documents.features import Features, pack, unpack
from armarius.documents.project_map import ProjectMap
from armarius.documents.segments import inside
from armarius.index.settings import LiveConfig
from armarius.index.source import ReadBatch
from armarius.store.derived import DerivedCache
from armarius.store.protocol import Store
from armarius.store.rows import Change, DerivedRow, FileRow, Note, Put, Remove

_VERSION: Final = "21"  # raised when the same text gives other features, or these another map
_FEATURES: Final = DerivedCache("features", _VERSION, pack, unpack)
_MAP: Final = "map"  # note: the map
_MAPPED: Final = "mapped"  # note: digests of what the map was decided from, and of the map


@dataclass(slots=True)
class _Known:
    """A document of the index: its evidence, and the kind and number that it is stored with."""

    features: Features
    kind: Kind
    chapter: int | None


class Mapper:
    """The features of all documents, and the map that they give. Not thread-safe, but `map` is replaced whole.

    Args:
        config: Its `[documents]` and `[kinds]` state kinds.
    """

    _hashes: dict[str, str]  # of all documents
    _known: dict[str, _Known]  # of those whose evidence was needed
    _rules: Mapping[str, Sequence[tuple[str, str]]] | None  # that the map was decided by
    _unkept: list[str]
    _store: Store | None
    _followed: tuple[Store, int] | None
    _noted: bool  # whether the store holds the map
    _text: str  # the note that holds it

    def __init__(self, config: LiveConfig) -> None:
        self._config = config
        self._map: ProjectMap | None = ProjectMap()
        self.forget()

    @property
    def map(self) -> ProjectMap:
        """The map as of the last refresh."""
        if self._map is None:
            self._map = ProjectMap.from_text(self._text)
        return self._map

    def follow(self, store: Store, files: Mapping[str, FileRow], generation: int) -> None:
        """Make the map that of the documents in `store`, whichever process wrote them.

        Cost: nothing at the generation followed last; else a digest of all hashes. The evidence of all documents is
        read where the map in the store is of others, or a change of the evidence comes.
        """
        if self._followed == (store, generation):
            return
        hashes = {path: row.content_hash for path, row in files.items()}
        self._store = store
        if hashes != self._hashes:
            for path in [path for path in self._known if self._hashes[path] != hashes.get(path)]:
                del self._known[path]
            self._hashes, self._noted = hashes, False
            if not self._is_recalled(store):
                self._rules = None
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
        path = document.path
        if not self._is_other(path, document.kind, document.chapter) or (known := self._one(path)) is None:
            return document
        own = known.features.kind, known.features.chapter
        if self._hashes[path] != document.content_hash and (document.kind, document.chapter) != own:
            return document
        kind, chapter = self.map.files[path].kind, self._chapter(path)
        is_own = not inside(path, self._config.folders)[0]
        if document.chapter is None and "outline" not in (document.kind, kind) and is_own:
            paragraphs = document.paragraphs  # only an outline is split otherwise
            if chapter is not None:
                paragraphs = tuple(replace(one, chapter=chapter) for one in paragraphs)
            return replace(document, kind=kind, chapter=chapter, paragraphs=paragraphs, features=None)
        made = document_of(
            path, document.text, document.encoding, document.content_hash, config=Config(), decided=(kind, chapter)
        )
        if not is_own:  # numbers mean the project's own chapters
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

    def unkept(self) -> list[Change]:
        """What the store lacks of the documents that it holds: rows, and the map of all; returned once."""
        paths, self._unkept = self._unkept, []
        known = ((path, self._known.get(path)) for path in paths)
        changes: list[Change] = [
            _FEATURES.row(path, self._hashes[path], one.features) for path, one in known if one is not None
        ]
        if not self._noted:
            if not self._text:
                self._text = self.map.to_text()
                changes.append(Note(_MAP, self._text))
            changes.append(Note(_MAPPED, f"{self._digest()} {_digest_of(self._text)}"))
            self._noted = True
        return changes

    def forget(self) -> None:
        """Drop everything: the store was replaced or rolled back."""
        self._hashes, self._known, self._rules, self._unkept = {}, {}, None, []
        self._store = self._followed = None
        self._map, self._noted, self._text = self.map, False, ""

    def _is_recalled(self, store: Store) -> bool:
        """Whether the store has a map of these documents, which is taken over."""
        noted = (store.note(_MAPPED) or "").split()
        if noted[:1] != [self._digest()]:
            return False
        text = store.note(_MAP) or ""
        if noted[1:] != [_digest_of(text)]:
            return False
        if text != self._text:
            self._map, self._text = None, text
        self._rules, self._noted = self._rules_now(), True
        return True

    def _digest(self) -> str:
        """Of all that decides the map."""
        rows = [f"{path} {content}" for path, content in sorted(self._hashes.items())]
        return _digest_of("\n".join([_VERSION, repr(self._rules_now()), *rows]))

    def _read_all(self) -> None:
        """Read the evidence of the documents that was not needed yet."""
        unread = {path: content for path, content in self._hashes.items() if path not in self._known}
        if self._store is None or not unread:
            return
        rows = {row.path: row for row in self._store.documents() if row.path in unread}
        kept = _FEATURES.load(self._store, {path: unread[path] for path in rows})
        self._known |= {path: _Known(one, rows[path].kind, rows[path].chapter) for path, one in kept.items()}
        for document in self._store.documents_of([path for path in unread if path not in kept]):
            self._take(document)
            self._unkept.append(document.path)

    def _one(self, path: str) -> _Known | None:
        """What is known of a document."""
        if path in self._known or path not in self.map.files or path not in self._hashes or self._store is None:
            return self._known.get(path)
        features = _FEATURES.load(self._store, {path: self._hashes[path]}).get(path)
        return None if features is None else _Known(features, self.map.files[path].kind, self._chapter(path))

    def _take(self, document: Document) -> None:
        features = document.features or self._anew(document).features
        assert features is not None
        path, before = document.path, self._one(document.path)
        if before is None or before.features != features:
            self._rules = None
        self._known[path] = _Known(features, document.kind, document.chapter)
        self._hashes[path], self._noted = document.content_hash, False

    def _drop(self, path: str) -> None:
        self._known.pop(path, None)
        self._hashes.pop(path, None)
        self._rules, self._noted = None, False

    def _anew(self, document: Document) -> Document:
        """A document of the store as its own text, and its path in its folder, make it."""
        name, path = inside(document.path, self._config.folders)
        config = self._config.folders[name] if name else self._config
        return document_of(path, document.text, document.encoding, document.content_hash, config=config.now)

    def _as_stored(self, document: Document) -> Document:
        found = self.as_decided(document)
        one = self._known[document.path]
        one.kind, one.chapter = found.kind, found.chapter
        return found

    def _is_other(self, path: str, kind: Kind, chapter: int | None) -> bool:
        one = self.map.get(path)
        if one is None or one.kind == "code":
            return False
        return (one.kind, self._chapter(path)) != (kind, chapter)

    def _chapter(self, path: str) -> int | None:
        one = self.map.files[path]
        return one.number if one.kind == "chapter" and not inside(path, self._config.folders)[0] else None

    def _rules_now(self) -> dict[str, Sequence[tuple[str, str]]]:
        return {"": self._config.now.kinds, **{name: one.now.kinds for name, one in self._config.folders.items()}}

    def _decide(self) -> None:
        rules = self._rules_now()
        if rules == self._rules:
            return
        self._read_all()
        self._rules, self._noted = rules, False
        features: dict[str, dict[str, Features]] = {name: {} for name in rules}
        for path in sorted(self._known):
            name, own = inside(path, self._config.folders)
            features[name][own] = self._known[path].features
        found = ProjectMap.joined({name: decide(features[name], rules[name]) for name in rules})
        if found != self.map:
            self._map, self._text = found, ""


def _digest_of(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
