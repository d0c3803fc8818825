"""Statistics on how prose uses each name, kept up to date with every change.

Each document is counted once for a cast, and its counts are stored with it (`DerivedRow`). The name model is a
function of their sum: an index built in one go and one that grew save by save find the same mentions, and a process
that comes after another reads the counts of the documents that changed, not the documents.
"""

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

from armarius.codex.model import Codex
from armarius.documents.document import Document
from armarius.documents.kinds import PROSE_KINDS
from armarius.errors import ContextWarning, StoreError
from armarius.index.snapshot import Snapshot, people_digest_of, snapshot_of
from armarius.names import Counts, Lessons, NameCounts, NameModel, model_of
from armarius.store.derived import DerivedCache
from armarius.store.protocol import Store
from armarius.store.rows import Change, DerivedRow, Note, Put, Remove
from armarius.warnings import HABITS_UNLEARNT

RULES: Final = 3  # raised when the same prose teaches something else
_NOTE: Final = "habits"


def note_of(people_digest: str, prose: str, habits: str) -> Note:
    """The note: digests of cast and prose, and what was learnt from them, as JSON."""
    head = {"cast": people_digest, "prose": prose, "rules": RULES}
    return Note(_NOTE, f'{to_json(head)[:-1]},"habits":{habits}}}')


def forgotten() -> Note:
    """The note of which the next refresh learns anew."""
    return Note(_NOTE, "")


def remembered(store: Store) -> dict[str, Any]:
    """What the note says; nothing where it is damaged."""
    try:
        value = json.loads(store.note(_NOTE) or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def to_json(value: object) -> str:
    """As short as it can be."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def habits_of(head: Mapping[str, Any]) -> NameModel | None:
    """What a note says, None when it is damaged."""
    try:
        return NameModel.from_dict(head["habits"])
    except (KeyError, TypeError, ValueError):
        return None


def digest_of(prose: Mapping[str, str]) -> str:
    """Of what is learnt from: path to content hash."""
    whole = "\n".join(f"{path}\t{prose[path]}" for path in sorted(prose))
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


logger = logging.getLogger("armarius")

_COUNTS: Final = DerivedCache[bytes, bytes]("names", f"{RULES}", bytes, bytes)  # read by the core, all at once
KIND: Final = _COUNTS.kind
_BATCH: Final = 32  # documents counted at once


@dataclass(frozen=True, slots=True)
class _Counted:
    """The counts of one document, with the hash of its text."""

    content_hash: str
    data: bytes


class NameLearner:
    """The sum of all documents' counts, kept between refreshes.

    Attributes:
        trouble: Why names are matched without statistics; None when they are used.
    """

    def __init__(self) -> None:
        self.trouble: ContextWarning | None = None
        self._people_digest = ""
        self._tally: NameCounts | None = None
        self._lessons: Lessons | None = None
        self._counted: dict[str, _Counted] = {}
        self._known: tuple[Store, int, dict[str, str]] | None = None
        self._habits: tuple[NameModel, str] | None = None

    def recall(self, store: Store, codex: Codex) -> Snapshot:
        """The snapshot of a codex, with the stored name model if it is of the same cast."""
        people_digest, head = people_digest_of(codex), remembered(store)
        if (head.get("cast"), head.get("rules")) == (people_digest, RULES):
            with self.harmless():
                return snapshot_of(codex, people_digest, habits_of(head))
        return snapshot_of(codex, people_digest)

    @contextmanager
    def harmless(self) -> Iterator[None]:
        """Turn errors into a warning: statistics improve matching, but are optional.

        Raises:
            StoreError: The index cannot be used.
        """
        try:
            yield
        except StoreError:
            raise
        except Exception as error:  # any error: names are then matched without statistics
            self._tally = None
            self.trouble = HABITS_UNLEARNT(kind=type(error).__name__, error=error)
            logger.warning("%s", self.trouble, exc_info=True)

    def sum_of(
        self, store: Store, snapshot: Snapshot, prose: Mapping[str, str], new: Sequence[Document]
    ) -> list[DerivedRow]:
        """Update the sum to this prose, and return the rows of counts to store.

        Args:
            store: Holds all of `prose` except `new`.
            snapshot: Has the names to count.
            prose: Path to content hash.
            new: Documents of `prose` that are not in the store yet.

        Cost: `NameCounts.count` of `new` and of every document without stored counts; a read of the stored counts of
            the others that are not in the sum yet.
        """
        if self._tally is None or self._people_digest != snapshot.people_digest:
            self._people_digest = snapshot.people_digest
            self._tally, self._counted = NameCounts(snapshot.codex.entities, matcher=snapshot.bare_matcher), {}
            self._lessons = Lessons(self._tally)
        tally, self._tally = self._tally, None  # until the sum is whole again
        changed = [path for path, one in self._counted.items() if prose.get(path) != one.content_hash]
        old = {path: self._counted.pop(path).data for path in changed}
        unseen = [document for document in new if document.path not in self._counted]
        missing = prose.keys() - self._counted.keys() - {document.path for document in unseen}
        if missing:
            self._read(tally, store, {path: prose[path] for path in missing})
        kept = [self._row(document.path) for document in new if document.path in self._counted]
        for batch in _batches(unseen):
            kept += self._count(tally, batch, old)
        for batch in _batches([path for path in prose if path not in self._counted]):
            kept += self._count(tally, store.documents_of(batch), old)
        for data in old.values():
            tally.subtract(Counts.from_bytes(data))
        self._tally = tally
        return kept

    def name_model(self) -> NameModel:
        """The name model of the sum. Cost: linear in what changed since the last call."""
        return NameModel() if self._tally is None else model_of(self._tally, self._lessons)

    def prose(self, store: Store) -> dict[str, str]:
        """Path to content hash of chapters and notes. Cost: one query over all documents, unless `know` cached it."""
        known, self._known = self._known, None
        if known is not None and known[0] is store and known[1] == store.generation():
            return known[2]
        return {row.path: row.content_hash for row in store.documents(kinds=PROSE_KINDS)}

    def know(self, store: Store, generation: int, prose: dict[str, str]) -> None:
        """Cache the result of `prose` for this generation of the store."""
        self._known = store, generation, prose

    def habits(self, name_model: NameModel) -> str:
        """A model as JSON, cached for the last model."""
        if self._habits is None or self._habits[0] is not name_model:
            self._habits = name_model, to_json(name_model.to_dict())
        return self._habits[1]

    def _read(self, tally: NameCounts, store: Store, prose: Mapping[str, str]) -> None:
        """Add the stored counts of these paths, where they are of these content hashes."""
        fingerprints = {path: _fingerprint(self._people_digest, content) for path, content in prose.items()}
        known = _COUNTS.load(store, fingerprints)
        counts, sound = Counts.added(list(known.values()))
        tally.add(counts)
        for path, data in compress(known.items(), sound):
            self._counted[path] = _Counted(prose[path], data)

    def _count(self, tally: NameCounts, documents: Sequence[Document], old: dict[str, bytes]) -> list[DerivedRow]:
        """Count documents into the sum; counts in `old` of the same paths are replaced and removed from `old`."""
        kept = []
        for document, counts in zip(documents, tally.count([one.text for one in documents]), strict=True):
            if document.path in old:
                tally.replace(Counts.from_bytes(old.pop(document.path)), counts)
            else:
                tally.add(counts)
            self._counted[document.path] = _Counted(document.content_hash, counts.to_bytes())
            kept.append(self._row(document.path))
        return kept

    def _row(self, path: str) -> DerivedRow:
        one = self._counted[path]
        return _COUNTS.row(path, _fingerprint(self._people_digest, one.content_hash), one.data)


class Pass:
    """The update of name statistics during one refresh."""

    def __init__(self, learner: NameLearner, store: Store) -> None:
        self._learner = learner
        self._store = store
        self._prose: dict[str, str] | None = None  # path to content hash
        self._taught = self._failed = False

    def learn(self, snapshot: Snapshot, changes: Sequence[Change]) -> tuple[Snapshot, list[DerivedRow]]:
        """The snapshot with the name model of the prose after `changes`, and the rows to store with them.

        On failure the snapshot has no statistics for the rest of this refresh, and `NameLearner.trouble` says why.

        Cost: `NameLearner.sum_of`, and a new matcher when the model changed. None if prose and cast are those of the
            stored model.
        """
        kept: list[DerivedRow] = []
        if not self._failed:
            self._failed = True
            with self._learner.harmless():
                snapshot, kept = self._learn(snapshot, changes)
                self._failed = False
        return (snapshot.with_name_model(NameModel()) if self._failed else snapshot), kept

    def _learn(self, snapshot: Snapshot, changes: Sequence[Change]) -> tuple[Snapshot, list[DerivedRow]]:
        if self._prose is None:
            self._prose = self._learner.prose(self._store)
        new = [c.document for c in changes if isinstance(c, Put) and c.document.kind in PROSE_KINDS]
        gone = [path for path in map(_path, changes) if path in self._prose]
        if not (new or gone or self._taught):
            head = remembered(self._store)
            name_model = habits_of(head)
            now = (snapshot.people_digest, digest_of(self._prose), RULES)
            if name_model is not None and (head.get("cast"), head.get("prose"), head.get("rules")) == now:
                return snapshot.with_name_model(name_model), []
        for path in gone:
            del self._prose[path]
        self._prose |= {document.path: document.content_hash for document in new}
        self._taught = True
        kept = self._learner.sum_of(self._store, snapshot, self._prose, new)
        return snapshot.with_name_model(self._learner.name_model()), kept

    def finish(self, snapshot: Snapshot) -> list[Note]:
        """The note of the name model, to be written with the last batch."""
        if self._failed:
            return [forgotten()]  # the next refresh learns anew
        self._learner.trouble = None
        if self._taught and self._prose is not None:
            with self._learner.harmless():
                habits = self._learner.habits(snapshot.name_model)
                return [note_of(snapshot.people_digest, digest_of(self._prose), habits)]
            return [forgotten()]
        return []

    def written(self, generation: int) -> None:
        """Cache the prose of this generation; call only if no other process has written meanwhile."""
        if self._prose is not None:
            self._learner.know(self._store, generation, self._prose)


def _batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for at in range(0, len(items), _BATCH):
        yield items[at : at + _BATCH]


def _path(change: Change) -> str:
    if isinstance(change, Put):
        return change.document.path
    return change.path if isinstance(change, Remove) else ""


def _fingerprint(people_digest: str, content_hash: str) -> str:
    return f"{people_digest} {content_hash}"
