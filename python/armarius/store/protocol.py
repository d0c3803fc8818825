"""`Store`: the protocol of the index of one project, independent of the engine.

A store is bound to one project; an engine with many projects must put the project id first in its keys. A store ranks
only by the text score of one query, reads no files, and holds only data that can be rebuilt from the project.
`armarius.testing.StoreConformance` tests an implementation.

`apply` is the only write: it makes a list of changes in one transaction. Two methods read what other processes wrote:
`generation`, one row, tells whether there are changes, and `changed` returns them from one snapshot.

Lists have the order that their method documents; ties break on (path, paragraph). Every method may raise:

    StoreBusy     another process holds the index for longer than the timeout
    StoreCorrupt  damaged or replaced; `reopen` repairs it
    StoreFull     the disk is full or cannot be written
    StoreError    closed, or anything else that went wrong
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, Literal, Protocol, Self, TypeVar, runtime_checkable

from armarius.arguments import Kind
from armarius.documents.document import Document
from armarius.documents.segments import Role
from armarius.types import Evidence, Hit, PassageKey

if TYPE_CHECKING:
    from armarius.store.vectors_protocol import VectorStore


@dataclass(frozen=True, slots=True)
class Put:
    """Insert or replace a document, and delete the derived rows of its earlier version."""

    document: Document
    stamp: str


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete a document and its derived rows; unknown paths are ignored."""

    path: str


@dataclass(frozen=True, slots=True)
class Restamp:
    """Set the stamp of a file with unchanged content. Unknown paths are ignored.

    With a `content_hash`, only a document with that hash is stamped: another process may have replaced it.
    """

    path: str
    stamp: str
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Set a key and value of the index."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class EntityIds:
    """Replace the ids of all entities; only these have vectors."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """A value computed from one document, deleted when the document changes; unknown paths are ignored.

    Attributes:
        path: Path of the document.
        kind: Kind of value; a document has at most one row of a kind.
        about: Fingerprint of the inputs, such as a digest of the names; the row is outdated when they changed.
        data: The serialised value, opaque to the store.
    """

    path: str
    kind: str
    about: str
    data: bytes


Change = Put | Remove | Restamp | Note | EntityIds | DerivedRow


@dataclass(slots=True)
class Folded:
    """What a list of changes comes to: the last word holds.

    Attributes:
        put: Documents, by path.
        removed: Paths.
        stamps: Stamps of documents that the store already has, by path.
        learnt: Derived rows by path and kind.
        notes: Notes by key.
        entities: Their new ids; None leaves them unchanged.
    """

    put: dict[str, Put] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    stamps: dict[str, Restamp] = field(default_factory=dict)
    learnt: dict[tuple[str, str], DerivedRow] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    entities: set[str] | None = None

    @property
    def touched(self) -> list[str]:
        """Paths of documents that are replaced or removed."""
        return sorted(self.put.keys() | self.removed)


def fold(changes: Sequence[Change]) -> Folded:
    """The net effect of a list of changes.

    Raises:
        TypeError: An item is not a change.
    """
    folded = Folded()
    for change in changes:
        match change:
            case Put(document):
                path = document.path
                folded.put[path] = change
                folded.removed.discard(path)
                _forget(folded, path)
            case Remove(path):
                folded.put.pop(path, None)
                folded.removed.add(path)
                _forget(folded, path)
            case Restamp(path, stamp, content):
                put = folded.put.get(path)
                if put is not None and content in ("", put.document.content_hash):
                    folded.put[path] = Put(put.document, stamp)
                elif put is None and path not in folded.removed:
                    folded.stamps[path] = change
            case Note(key, value):
                folded.notes[key] = value
            case EntityIds(ids):
                folded.entities = set(ids)
            case DerivedRow():
                if change.path not in folded.removed:
                    folded.learnt[change.path, change.kind] = change
            case _:
                raise TypeError(f"no change of a store: {change!r:.80}")
    return folded


def _forget(folded: Folded, path: str) -> None:
    """What was said of an earlier document of this path."""
    folded.stamps.pop(path, None)
    for key in [key for key in folded.learnt if key[0] == path]:
        del folded.learnt[key]


@dataclass(frozen=True, slots=True)
class Changed:
    """The changes since a generation, from one snapshot.

    Attributes:
        generation: Generation of the snapshot; pass it as `since` the next time.
        documents: New or changed documents, in path order.
        removed: Removed paths, sorted.
        notes: Notes written since.
        whole: The store has no history back to `since`: `documents` and `notes` are complete, and the caller must
            drop everything else.
    """

    generation: int
    documents: tuple[Document, ...]
    removed: tuple[str, ...]
    notes: Mapping[str, str]
    whole: bool


@dataclass(frozen=True, slots=True)
class FileRow:
    """The stamp at which a file was read ("" forces the next comparison to read it), and its content hash."""

    stamp: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document without its text; `length` in code points."""

    path: str
    kind: Kind
    title: str
    chapter: int | None
    length: int
    paragraphs: int
    encoding: str
    content_hash: str
    front_matter: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph with its text and position; spans are code points into the document's text."""

    path: str
    paragraph: int
    kind: Kind
    title: str
    chapter: int | None
    heading_path: tuple[str, ...]
    role: Role
    start: int
    end: int
    text: str

    @property
    def key(self) -> PassageKey:
        """(path, paragraph)."""
        return (self.path, self.paragraph)

    def hit(self, score: float, evidence: tuple[Evidence, ...], snippet: str = "") -> Hit:
        """This paragraph as a search hit."""
        return Hit(
            path=self.path,
            span=(self.start, self.end),
            heading=self.heading_path,
            score=score,
            evidence=evidence,
            title=self.title,
            kind=self.kind,
            chapter=self.chapter,
            paragraph=self.paragraph,
            role=self.role,
            text=self.text,
            snippet=snippet,
        )


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A full-text query; terms are plain text, without query syntax.

    Attributes:
        terms: With `match="all"` the paragraph must contain every term as written (after folding). With "any", terms
            are split into grams (character pairs, words), the most frequent are dropped, and any may match.
        kinds: Only documents of these kinds; empty means all.
        chapters: Inclusive bounds on the paragraph's chapter; None is open. Paragraphs without a chapter match only
            if both are None.
        limit: Maximum number, best first; None returns all unranked: by (path, paragraph), with scores of 0.
        grams: With "any": maximum number of grams, rarest first.
    """

    terms: tuple[str, ...]
    match: Literal["all", "any"] = "all"
    kinds: tuple[Kind, ...] = ()
    chapters: tuple[int | None, int | None] = (None, None)
    limit: int | None = 10
    grams: int = 24


@dataclass(frozen=True, slots=True)
class TextHit:
    """A paragraph that a query found; a higher score is better, comparable within one query only."""

    path: str
    paragraph: int
    score: float


@dataclass(frozen=True, slots=True)
class StoreState:
    """Sizes; `bytes` on disk; `generation` grows with every committed change of any process."""

    documents: int
    paragraphs: int
    entities: int
    bytes: int
    generation: int


@runtime_checkable
class Store(Protocol):
    """An index of one project. Thread-safe; readers never wait for a writer."""

    @property
    def project_id(self) -> str:
        """The project every key belongs to."""

    @property
    def location(self) -> str:
        """Location for display: a file, or a server without its password."""

    @property
    def vectors(self) -> "VectorStore | None":
        """The vectors of its texts; None when this engine keeps none."""

    def close(self) -> None:
        """Release everything. Idempotent; any other call afterwards raises StoreError."""

    def reopen(self) -> Self:
        """Close this store and open it again; a damaged or missing index is replaced by an empty one."""

    def state(self) -> StoreState:
        """Sizes and generation. Cost: counts all rows; use `generation` for the generation alone."""

    def generation(self) -> int:
        """A number that grows with every `apply` of any process, except those with no change or only `Restamp`s.

        Cost: one row.
        """

    def changed(self, since: int) -> Changed:
        """All changes after generation `since`, from one snapshot; `since=0` returns everything."""

    def apply(self, changes: Sequence[Change], *, expect: int | None = None) -> int:
        """Make all changes in order, or none. After it returns, they survive a crash of the process.

        Args:
            changes: One transaction; readers see all of them or none. An empty list writes nothing.
            expect: The generation that the changes are based on.

        Returns:
            The generation after the changes.

        Raises:
            StoreConflict: The store is not at `expect`; nothing is changed.
        """

    def note(self, key: str) -> str | None:
        """The value of a note, or None."""

    def learnt(self, kind: str, paths: Sequence[str] | None = None) -> dict[str, DerivedRow]:
        """Derived rows of this kind, by path in path order: of all documents, or of these paths."""

    def files(self) -> dict[str, FileRow]:
        """Stamp and hash of every indexed file, by path."""

    def documents(self, *, kinds: Sequence[Kind] = (), chapter: int | None = None) -> list[DocumentRow]:
        """Documents in path order, of these kinds (empty: all) and this chapter (None: any)."""

    def document(self, path: str) -> Document | None:
        """A whole document as indexed, or None."""

    def documents_of(self, paths: Sequence[str]) -> list[Document]:
        """Whole documents in the order of `paths`; unknown paths are left out."""

    def passages(self, keys: Sequence[PassageKey]) -> list[Passage]:
        """Paragraphs in the order of `keys`; unknown keys are left out."""

    def search(self, query: TextQuery) -> list[TextHit]:
        """Paragraphs that match, best first; all of them by key when the query has no limit.

        A query without indexable terms finds nothing.
        """

    def verify(self) -> list[str]:
        """Faults of the index, one sentence each; [] when it is sound. Cost: reads the whole index."""


@runtime_checkable
class Lagging(Protocol):
    """A store that defers work which only some queries need. Those queries do it first, so results are complete."""

    def lags(self) -> bool:
        """Whether there is deferred work. Cost: one row."""

    def fill(self, go_on: Callable[[], bool] = ...) -> None:
        """Do the deferred work, in transactions of about 0.1 s; stops when `go_on`, called before each, returns False.

        Raises:
            StoreError: As `apply`; committed transactions stay.
        """


Value = TypeVar("Value")
Packed = TypeVar("Packed")

_FEW: Final = 32  # up to so many rows are read by path; beyond, all rows of the kind are read
_LENGTH: Final = struct.Struct("<I")


@dataclass(eq=False)
class DerivedCache(Generic[Packed, Value]):
    """One kind of derived row: its serialisation and its validity.

    Args:
        kind: Kind of the rows; see `Store.learnt`.
        version: Version of algorithm and format; raise it when either changes.
        pack: Serialises a value.
        unpack: Parses the bytes; raises ValueError for another format.
    """

    kind: str
    version: str
    pack: Callable[[Packed], bytes]
    unpack: Callable[[bytes], Value]

    def row(self, path: str, fingerprint: str, value: Packed) -> DerivedRow:
        """The row of a document; `fingerprint` identifies all inputs of the value and ends with the content hash."""
        return DerivedRow(path, self.kind, f"{self.version} {fingerprint}", self.pack(value))

    def value(self, row: DerivedRow | None, fingerprint: str, *, or_others: bool = False) -> Value | None:
        """The value of a row; None if there is no row, its inputs changed, or it is damaged.

        Args:
            row: The row of one document.
            fingerprint: As for `row`.
            or_others: Compare only the given end of the fingerprint, such as the content hash.
        """
        if row is None or not row.about.startswith(f"{self.version} "):
            return None
        fits = row.about.endswith(f" {fingerprint}") if or_others else row.about == f"{self.version} {fingerprint}"
        if not fits:
            return None
        try:
            return self.unpack(row.data)
        except ValueError:
            return None

    def load(self, store: Store, fingerprints: Mapping[str, str], *, or_others: bool = False) -> dict[str, Value]:
        """The valid values by path, in path order, given the fingerprints by path.

        Raises:
            StoreError: The store cannot be read.

        Cost: one row per document; all rows of the kind for more than 32 documents.
        """
        if not fingerprints:
            return {}
        rows = store.learnt(self.kind, None if len(fingerprints) > _FEW else [*fingerprints])
        values = {
            path: self.value(row, fingerprints[path], or_others=or_others)
            for path, row in rows.items()
            if path in fingerprints
        }
        return {path: value for path, value in values.items() if value is not None}


def join_pieces(*pieces: bytes) -> bytes:
    """Concatenate values after their lengths (uint32, little-endian, without the last)."""
    return b"".join([*map(_LENGTH.pack, map(len, pieces[:-1])), *pieces])


def split_pieces(data: bytes, count: int) -> tuple[bytes, ...]:
    """The inverse of `join_pieces`.

    Raises:
        ValueError: The bytes are not `count` pieces.
    """
    at = _LENGTH.size * (count - 1)
    if len(data) < at:
        raise ValueError(f"{len(data)} bytes are not {count} pieces")
    pieces = []
    for (size,) in _LENGTH.iter_unpack(data[:at]):
        pieces.append(data[at : at + size])
        at += size
    if at > len(data):
        raise ValueError(f"{len(data)} bytes are less than {count} pieces")
    return (*pieces, data[at:])
