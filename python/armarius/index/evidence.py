"""The map of a project in its index: the evidence of each document is a derived row, the map a note.

A document that the files around it make something else than its own text does is read again from its text, before it
is stored where possible.
"""

import hashlib
from collections.abc import Container, Iterable, Mapping
from typing import Final

from armarius.arguments import Kind
from armarius.documents.decide import Rules, decide, diff, stored_as
from armarius.documents.document import Document, decided_as, document_of
from armarius.documents.features import Features, pack, unpack
from armarius.documents.project_map import ProjectMap
from armarius.documents.segments import inside
from armarius.index.freshness import MAPPED, IndexContents
from armarius.index.settings import LiveConfig
from armarius.index.source import ReadBatch
from armarius.store.derived import DerivedCache
from armarius.store.protocol import Store
from armarius.store.rows import Change, DerivedRow, Note, Put, Remove

_VERSION: Final = "23"  # raised when the same text gives other features, or these another map
_FEATURES: Final = DerivedCache("features", _VERSION, pack, unpack)
_MAP: Final = "map"  # note: the map


def as_mapped(document: Document, mapped: ProjectMap, folders: Container[str]) -> Document:
    """`document` with the kind and the number of the map; the same object when it has them.

    Args:
        document: Of the folder, or of the index.
        mapped: The map.
        folders: The other folders of a series.
    """
    one = mapped.get(document.path)
    if one is None or one.kind == "code" or stored_as(one, folders) == (document.kind, document.chapter):
        return document
    return decided_as(document, *stored_as(one, folders), own=not inside(document.path, folders)[0])


class Evidence:
    """The evidence of documents, which is read once for a text.

    Args:
        config: Its `[documents]` and `[kinds]` state kinds.
    """

    def __init__(self, config: LiveConfig) -> None:
        self.config = config
        self._unkept: list[DerivedRow] = []
        self._known: dict[str, tuple[str, Features]] = {}  # path to the hash of the text, and the evidence

    def take(self, document: Document) -> Features:
        """The evidence of a document, made from its text where it has none."""
        features = document.features or self._anew(document).features
        assert features is not None
        self._known[document.path] = document.content_hash, features
        return features

    def one(self, store: Store, path: str, content_hash: str) -> Features | None:
        """The evidence of a document of the store; None without a row."""
        known = self._known.get(path)
        if known is not None and known[0] == content_hash:
            return known[1]
        return _FEATURES.load(store, {path: content_hash}).get(path)

    def all(self, store: Store, hashes: Mapping[str, str]) -> dict[str, Features]:
        """The evidence of documents that are in the store or were taken, by path; texts without a row are read."""
        self._known = {path: one for path, one in self._known.items() if one[0] == hashes.get(path)}
        new = {path: content for path, content in hashes.items() if path not in self._known}
        self._known |= {path: (new[path], one) for path, one in _FEATURES.load(store, new).items()}
        for document in store.documents_of([path for path in new if path not in self._known]):
            self.take(document)
            self._unkept += self.rows([document])
        return {path: features for path, (_, features) in sorted(self._known.items())}

    def rows(self, documents: Iterable[Document]) -> list[DerivedRow]:
        """The rows to store for documents that were taken."""
        return [_FEATURES.row(one.path, one.content_hash, self._known[one.path][1]) for one in documents]

    def unkept(self) -> list[DerivedRow]:
        """Rows that the store lacks of documents that it holds; returned once."""
        rows, self._unkept = self._unkept, []
        return rows

    def _anew(self, document: Document) -> Document:
        """A document of the store as its own text, and its path in its folder, make it."""
        name, path = inside(document.path, self.config.folders)
        config = self.config.folders[name] if name else self.config
        return document_of(path, document.text, document.encoding, document.content_hash, config=config.now)


class Decision:
    """The map of one refresh.

    Args:
        evidence: Of the documents.
        known: The store as the refresh finds it.
        last: The map, if it is known to be that of the store; else it is read from there.

    Attributes:
        map: As decided so far.
        before: As the store has it; None without.
        noted: The note of what it was decided from.
    """

    def __init__(self, evidence: Evidence, known: IndexContents, last: ProjectMap | None) -> None:
        self._evidence, self._store, self.noted = evidence, known.store, known.notes[MAPPED]
        self._hashes = {path: row.content_hash for path, row in known.files.items()}
        self.before = self._recalled() if last is None else last
        self._written: dict[str, tuple[Kind, int | None]] = {}
        self._is_due = self.before is None
        self.map = ProjectMap() if self.before is None else self.before

    def take(self, found: ReadBatch) -> None:
        """Take over new, changed and removed documents; those that are of another kind are replaced in `found`."""
        for change in found.changes:
            if isinstance(change, Put):
                path, content = change.document.path, self._hashes.get(change.document.path)
                same = not self._is_due and content is not None and self._evidence.one(self._store, path, content)
                self._is_due |= self._evidence.take(change.document) != same
                self._hashes[path] = change.document.content_hash
            elif isinstance(change, Remove):
                self._is_due = True
                self._hashes.pop(change.path, None)
        self._decide()
        found.changes = [
            Put(self._mapped(change.document), change.stamp) if isinstance(change, Put) else change
            for change in found.changes
        ]

    def again(self) -> ReadBatch:
        """The documents that are decided otherwise than they are stored."""
        self._decide()
        if self.map is self.before:
            return ReadBatch()
        if self.before is None:
            stored = {row.path: (row.kind, row.chapter) for row in self._store.documents()}
        else:
            stored = {path: stored_as(one, self._folders) for path, one in self.before.files.items()}
        other = diff(self.map, stored | self._written, self._folders)
        files = self._store.files() if other else {}
        return ReadBatch([Put(self._mapped(one), files[one.path].stamp) for one in self._store.documents_of(other)])

    def notes(self) -> list[Change]:
        """The notes that the store lacks: the map, and what it was decided from."""
        noted, changes = (self.noted or "").rpartition(" ")[2], list[Change]()
        if self.map is not self.before:
            text = self.map.to_text()
            noted, changes = _digest_of(text), [Note(_MAP, text)]
        before, self.noted = self.noted, f"{self._digest()} {noted}"
        return changes if self.noted == before else [*changes, Note(MAPPED, self.noted)]

    @property
    def _folders(self) -> Mapping[str, LiveConfig]:
        return self._evidence.config.folders

    @property
    def _rules(self) -> Mapping[str, Rules]:
        config = self._evidence.config
        return {"": config.now.kinds, **{name: one.now.kinds for name, one in config.folders.items()}}

    def _decide(self) -> None:
        if self._is_due:
            decided = decide(self._evidence.all(self._store, self._hashes), self._rules)
            self.map, self._is_due = self.map if decided == self.map else decided, False

    def _mapped(self, document: Document) -> Document:
        found = as_mapped(document, self.map, self._folders)
        self._written[found.path] = found.kind, found.chapter
        return found

    def _recalled(self) -> ProjectMap | None:
        """The map that the store has of its documents; None where it is of others, or damaged."""
        if not self._hashes:
            return ProjectMap()
        of_all, _, of_map = (self.noted or "").partition(" ")
        if of_all != self._digest() or of_map != _digest_of(text := self._store.note(_MAP) or ""):
            return None
        return ProjectMap.from_text(text)

    def _digest(self) -> str:
        """Of all that decides the map."""
        rows = [f"{path} {content}" for path, content in sorted(self._hashes.items())]
        return _digest_of("\n".join([_VERSION, repr(self._rules), *rows]))


def _digest_of(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
