"""What is derived of a document, a row each: mentions, descriptions, evidence of its kind; the map is a note.

Mentions are found again when names change. A document that the files around it make something else than its own text
does is read again from its text, before it is stored where possible.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Final, cast

from armarius._core import __version__
from armarius.arguments import Kind
from armarius.codex.authored import AuthoredCodex
from armarius.codex.draft import Profiles
from armarius.codex.draft import pack as pack_profiles
from armarius.codex.draft import unpack as unpack_profiles
from armarius.codex.load import build_codex, profiles_in
from armarius.codex.merge import SeriesFolder
from armarius.codex.model import Codex
from armarius.codex.names_in_story import Story, Uses, names_sought, uses_in
from armarius.codex.protocol import Authored
from armarius.corpus.part import FORM, names_met, part_row
from armarius.corpus.part import KIND as PART
from armarius.documents.classify import stated_kind
from armarius.documents.decide import Rules, decide, diff, stored_as
from armarius.documents.document import Document, document_of, with_kind
from armarius.documents.features import Features, pack, unpack
from armarius.documents.kinds import CARD_KINDS, STORY_KINDS
from armarius.documents.project_map import ProjectMap
from armarius.documents.segments import inside
from armarius.index.freshness import BATCH, MAPPED, NAMES, IndexContents, Snapshot
from armarius.index.source import LiveConfig, ReadBatch
from armarius.store.protocol import (
    Change,
    DerivedCache,
    DerivedRow,
    Note,
    Put,
    Remove,
    Store,
)
from armarius.trust.settings import People, PeopleTable

if TYPE_CHECKING:
    from armarius.index.series import SeriesAuthored


def _pack_json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")


# Entity to the number of its mentions in paragraphs.
_MENTIONS: Final = DerivedCache[Mapping[str, int], dict[str, int]]("mentions", "3", _pack_json, json.loads)
MENTIONS: Final = _MENTIONS.kind


def read_names(snapshot: Snapshot, documents: Sequence[Document]) -> list[DerivedRow]:
    """The derived rows that depend on names: numbers of mentions, and rows for retrieval.

    Cost: one search of the texts on all cores.
    """
    rows, digest = list[DerivedRow](), snapshot.match_digest
    for document, hits in zip(documents, names_met(documents, snapshot.matcher), strict=True):
        counts = Counter(map(itemgetter(0), chain.from_iterable(hits)))
        rows += [_MENTIONS.row(document.path, digest, counts), part_row(document, hits, digest)]
    return rows


def read_names_again(snapshot: Snapshot, contents: IndexContents, written: Mapping[str, str]) -> list[Change]:
    """Compute the mentions of all documents again if names or the row format changed.

    Args:
        snapshot: Has the names to match.
        contents: Contents of the store, without uncommitted changes.
        written: Path of each document of this refresh to the digest of the names that were matched in it.
    """
    names = snapshot.match_digest
    same, formed = contents.notes[NAMES] == names, contents.notes[PART] == FORM
    if same and formed and all(digest == names for digest in written.values()):
        return []
    changes: list[Change] = []
    paths = [path for path in contents.files if written.get(path) != names]
    for at in range(0, len(paths), BATCH):
        changes += read_names(snapshot, contents.store.documents_of(paths[at : at + BATCH]))
    return [*changes, Note(NAMES, names), *([] if formed else [Note(PART, FORM)])]


def mentions_by_document(store: Store) -> dict[str, Counter[str]]:
    """Number of mentions in paragraphs by path and entity."""
    rows = store.learnt(MENTIONS).items()
    counts = ((path, _MENTIONS.value(row, row.about.partition(" ")[2])) for path, row in rows)
    return {path: Counter(count) for path, count in counts if count is not None}


def count_by_entity(store: Store, without: Collection[str]) -> Counter[str]:
    """Number of mentions by entity in all documents but these."""
    total = Counter[str]()
    for path, counts in mentions_by_document(store).items():
        if path not in without:
            total.update(counts)
    return total


_RULES: Final = 18  # raised when the same text of the same version describes something else
_WITH_PROFILES: Final = (*CARD_KINDS, "tool")  # of a tool file that nobody declared, people
_PROFILES: Final = DerivedCache("profiles", f"{__version__}.{_RULES}", pack_profiles, unpack_profiles)
PROFILES: Final = _PROFILES.kind
_BATCH: Final = 32  # documents counted at once


def _read_uses(data: bytes) -> dict[str, Uses]:
    try:
        return {name: (inside, initial, small) for name, (inside, initial, small) in json.loads(data).items()}
    except (TypeError, AttributeError) as error:
        raise ValueError(f"no uses of names: {error}") from error


_USES: Final = DerivedCache[dict[str, Uses], dict[str, Uses]]("uses", "2", _pack_json, _read_uses)


class ProfileCache:
    """The profiles found in settings, outlines and notes, as of the last refresh.

    Args:
        authored: The user's codex files and records.
        config: What it says of people.
    """

    def __init__(self, authored: Authored, config: LiveConfig) -> None:
        self._authored, self._config = authored, config
        self._people: Sequence[People] = ()
        self._profiles: dict[str, Profiles] = {}
        self._unkept: list[DerivedRow] = []
        self._story = _Story()
        self._sought: tuple[str, ...] | None = None  # None after a change of profiles

    def load(self, store: Store) -> None:
        """Load the profiles of all documents from the store.

        Cost: linear in the documents of these kinds; documents without a current row are parsed.
        """
        self._profiles, self._unkept, self._sought = {}, [], None
        self._story = _Story({row.path: (row.content_hash, row.length) for row in store.documents(kinds=STORY_KINDS)})
        cards = store.documents(kinds=_WITH_PROFILES)
        fingerprints = {row.path: self._fingerprint(row.path, row.kind, row.content_hash) for row in cards}
        kept = _PROFILES.load(store, fingerprints)
        for path, profiles in kept.items():
            self._take(path, profiles)
        unread = [path for path in fingerprints if path not in kept]
        for document in store.documents_of(unread):
            self.take(document)
            self._unkept += self.rows([document])

    def take(self, document: Document) -> bool:
        """Parse a new or changed document. True if it has profiles, or its previous version had."""
        dropped = self.drop(document.path)
        if document.kind in STORY_KINDS:
            self._story.take(document)
        root, path = self._split_path(document.path)
        profiles = profiles_in(document, path, self._tables(document.path), self._rules(root))
        return self._take(document.path, profiles) or dropped

    def drop(self, path: str) -> bool:
        """Drop a removed document. True if it had profiles."""
        self._story.drop(path)
        if self._profiles.pop(path, None) is None:
            return False
        self._sought = None
        return True

    def count(self, store: Store) -> bool:
        """Count how the story uses the names that only headings claim. True if that makes other entities.

        Args:
            store: Has the documents that were not taken since the last call.

        Cost: nothing without such names; else the new documents of the story, and all of it when the names changed.
        """
        before = self._story.verdict
        if self._sought is None:
            self._sought = names_sought(self._profiles.values())
        self._unkept += self._story.count(store, self._sought)
        return self._story.verdict != before or self._people != self._people_tables

    @property
    def _people_tables(self) -> Sequence[People]:
        return self._config.now.people, self._config.now.proposed_people

    def _tables(self, path: str) -> Sequence[PeopleTable]:
        return [table for people in self._people_tables for table in people.tables if table.path == path]

    def _fingerprint(self, path: str, kind: str, content_hash: str) -> str:
        tables, (root, inside_it) = self._tables(path), self._split_path(path)
        stated = kind == "tool" and stated_kind(inside_it, self._rules(root))
        return f"{kind} {content_hash}{f' {tables!r}' if tables else ''}{' declared' if stated else ''}"

    def _rules(self, root: str) -> Rules:
        """The kinds that the configuration of a folder declares."""
        return self._config.folders.get(root, self._config).now.kinds

    def codex(self) -> Codex:
        """The codex of the documents and the user's files; see `build_codex`."""
        profiles: dict[str, dict[str, Profiles]] = {}
        for path, entry in self._profiles.items():
            root, inside = self._split_path(path)
            profiles.setdefault(root, {})[inside] = entry
        series: Sequence[SeriesFolder] = ()
        if self._config.folders:
            series = cast("SeriesAuthored", self._authored).codex_files()
        authored, self._people = AuthoredCodex(self._authored).read(), self._people_tables
        return build_codex(
            (), self._authored.declared(), authored=authored, series=series, profiles=profiles, story=self._story.story,
            people=self._people,
        )  # fmt: skip

    def rows(self, documents: Iterable[Document]) -> list[DerivedRow]:
        """The rows to store for documents that were taken."""
        documents = list(documents)
        return [
            _PROFILES.row(
                doc.path,
                self._fingerprint(doc.path, doc.kind, doc.content_hash),
                self._profiles.get(doc.path, Profiles()),
            )
            for doc in documents
            if doc.kind in _WITH_PROFILES
        ] + self._story.rows([doc.path for doc in documents])

    def unsaved_rows(self) -> Sequence[DerivedRow]:
        """Rows that the store lacks for documents that it already holds; returned once."""
        rows, self._unkept = self._unkept, []
        return rows

    def _take(self, path: str, profiles: Profiles) -> bool:
        if not profiles:
            return False
        self._profiles[path], self._sought = profiles, None
        return True

    def _split_path(self, path: str) -> tuple[str, str]:
        """The folder of a series that a document lies in, and its path inside it, which takes part in what it says."""
        return inside(path, self._config.folders)


class _Story:
    """The documents of the story, and how each uses the names that are sought.

    Args:
        documents: Path to content hash and length in code points.
    """

    def __init__(self, documents: dict[str, tuple[str, int]] | None = None) -> None:
        self.story = Story()
        self.verdict: tuple[object, ...] = ()
        self._counts: tuple[object, ...] = ()  # what it was made from: a tenth of the time of a saved file
        self._documents = documents or {}
        self._names: tuple[str, ...] = ()
        self._uses: dict[str, dict[str, Uses]] = {}
        self._digest = ""  # of the names
        self._new: dict[str, Document] = {}  # not in the store yet
        self._changed = True

    def take(self, document: Document) -> None:
        self._documents[document.path] = document.content_hash, len(document.text)
        self._new[document.path] = document
        self._changed = True

    def drop(self, path: str) -> None:
        if path not in self._documents:
            return
        _, length = self._documents.pop(path)
        self._changed = True
        self._new.pop(path, None)
        if (uses := self._uses.pop(path, None)) is not None:
            self.story.add(length, uses, -1)

    def count(self, store: Store, names: tuple[str, ...]) -> list[DerivedRow]:
        """Count what is not counted; returns the rows of documents that the store holds."""
        if names != self._names:
            self._names, self._uses, self.story = names, {}, Story()
            self._digest = hashlib.blake2b("\n".join(names).encode(errors="surrogatepass"), digest_size=8).hexdigest()
        elif not self._changed:
            return []
        missing = [path for path in self._documents if path not in self._uses]
        kept: list[DerivedRow] = []
        if names and missing:
            stored = {path: self._print(path) for path in missing if path not in self._new}
            self._add(_USES.load(store, stored))
            self._count([self._new[path] for path in missing if path in self._new])
            rest = [path for path in stored if path not in self._uses]
            for at in range(0, len(rest), _BATCH):
                self._count(store.documents_of(rest[at : at + _BATCH]))
            kept = self.rows([path for path in rest if path in self._uses])
        else:
            self._add({path: {} for path in missing})
        self._new, self._changed = {}, False
        if (counts := (names, *self.story.counts())) != self._counts:
            self._counts, self.verdict = counts, self.story.verdict(names)
        return kept

    def rows(self, paths: Iterable[str]) -> list[DerivedRow]:
        if not self._names:
            return []
        return [_USES.row(path, self._print(path), self._uses[path]) for path in paths if path in self._uses]

    def _count(self, documents: Sequence[Document]) -> None:
        for at in range(0, len(documents), _BATCH):
            batch = documents[at : at + _BATCH]
            results = uses_in([doc.text for doc in batch], self._names)
            self._add({doc.path: uses for doc, uses in zip(batch, results, strict=True)})

    def _add(self, by_path: dict[str, dict[str, Uses]]) -> None:
        for path, uses in by_path.items():
            self._uses[path] = uses
            self.story.add(self._documents[path][1], uses)

    def _print(self, path: str) -> str:
        return f"{self._digest} {self._documents[path][0]}"


_VERSION: Final = "38"  # raised when the same text gives other features, or these another map
_FEATURES: Final = DerivedCache("features", _VERSION, pack, unpack)
_MAP: Final = "map"  # note: the map


def as_mapped(document: Document, mapped: ProjectMap, folders: Container[str]) -> Document:
    """`document` with the kind and the number of the map; the same object when it has them.

    Args:
        document: Of the folder, or of the index.
        mapped: The map.
        folders: The other folders of a series.
    """
    file = mapped.get(document.path)
    if file is None or file.kind == "code" or stored_as(file, folders) == (document.kind, document.chapter):
        return document
    return with_kind(document, *stored_as(file, folders), own=not inside(document.path, folders)[0])


class KindEvidence:
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
        features = document.features or self._own_document(document).features
        assert features is not None
        self._known[document.path] = document.content_hash, features
        return features

    def one(self, store: Store, path: str, content_hash: str) -> Features | None:
        """The evidence of a document of the store; None without a row."""
        entry = self._known.get(path)
        if entry is not None and entry[0] == content_hash:
            return entry[1]
        return _FEATURES.load(store, {path: content_hash}).get(path)

    def all(self, store: Store, hashes: Mapping[str, str]) -> dict[str, Features]:
        """The evidence of documents that are in the store or were taken, by path; texts without a row are read."""
        self._known = {path: entry for path, entry in self._known.items() if entry[0] == hashes.get(path)}
        new = {path: content for path, content in hashes.items() if path not in self._known}
        self._known |= {path: (new[path], features) for path, features in _FEATURES.load(store, new).items()}
        if lacking := [path for path in new if path not in self._known]:
            for document in store.documents_of(lacking):
                self.take(document)
                self._unkept += self.rows([document])
        return {path: features for path, (_, features) in sorted(self._known.items())}

    def rows(self, documents: Iterable[Document]) -> list[DerivedRow]:
        """The rows to store for documents that were taken."""
        return [_FEATURES.row(doc.path, doc.content_hash, self._known[doc.path][1]) for doc in documents]

    def unsaved_rows(self) -> list[DerivedRow]:
        """Rows that the store lacks of documents that it holds; returned once."""
        rows, self._unkept = self._unkept, []
        return rows

    def _own_document(self, document: Document) -> Document:
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

    def __init__(self, evidence: KindEvidence, known: IndexContents, last: ProjectMap | None) -> None:
        self._evidence, self._store, self.noted = evidence, known.store, known.notes[MAPPED]
        self._folders = evidence.config.folders
        configs = {"": evidence.config, **self._folders}
        self._rules = {name: config.now.kinds for name, config in configs.items()}
        self._lines = {name: config.now.lines for name, config in configs.items()}
        self._hashes = {path: row.content_hash for path, row in known.files.items()}
        self.before = self._stored_map() if last is None else last
        self._written: dict[str, tuple[Kind, int | None]] = {}
        self._is_due = self.before is None
        self.map = ProjectMap() if self.before is None else self.before

    def take(self, batch: ReadBatch) -> None:
        """Take over new, changed and removed documents; those of another kind are replaced in `batch`."""
        for change in batch.changes:
            if isinstance(change, Put):
                path, content = change.document.path, self._hashes.get(change.document.path)
                same = not self._is_due and content is not None and self._evidence.one(self._store, path, content)
                self._is_due |= self._evidence.take(change.document) != same
                self._hashes[path] = change.document.content_hash
            elif isinstance(change, Remove):
                self._is_due = True
                self._hashes.pop(change.path, None)
        self._decide_map()
        batch.changes = [
            Put(self._apply_map(change.document), change.stamp) if isinstance(change, Put) else change
            for change in batch.changes
        ]

    def kind_changes(self) -> ReadBatch:
        """The documents that are decided otherwise than they are stored."""
        self._decide_map()
        if self.map is self.before:
            return ReadBatch()
        if self.before is None:
            stored = {row.path: (row.kind, row.chapter) for row in self._store.documents()}
        else:
            stored = {path: stored_as(file, self._folders) for path, file in self.before.files.items()}
        other = diff(self.map, stored | self._written, self._folders)
        files = self._store.files() if other else {}
        return ReadBatch([Put(self._apply_map(doc), files[doc.path].stamp) for doc in self._store.documents_of(other)])

    def notes(self) -> list[Change]:
        """The notes that the store lacks: the map, and what it was decided from."""
        noted, changes = (self.noted or "").rpartition(" ")[2], list[Change]()
        if self.map is not self.before:
            text = self.map.to_text()
            noted, changes = _digest_of(text), [Note(_MAP, text)]
        before, self.noted = self.noted, f"{self._digest()} {noted}"
        return changes if self.noted == before else [*changes, Note(MAPPED, self.noted)]

    def _decide_map(self) -> None:
        if self._is_due:
            decided = decide(self._evidence.all(self._store, self._hashes), self._rules, self._lines)
            self.map, self._is_due = self.map if decided == self.map else decided, False

    def _apply_map(self, document: Document) -> Document:
        result = as_mapped(document, self.map, self._folders)
        self._written[result.path] = result.kind, result.chapter
        return result

    def _stored_map(self) -> ProjectMap | None:
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
        return _digest_of("\n".join([_VERSION, repr((self._rules, self._lines)), *rows]))


def _digest_of(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
