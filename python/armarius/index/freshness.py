"""`Snapshot`: codex and matcher of an index at one moment; `Freshness`: whether a store equals what it is made from.

`Commits` writes what it lacks, in batches; `IndexStatus` and `Progress` tell how far that is.
"""

import hashlib
import os
import sys
import time
import weakref
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, ParamSpec, Self

from armarius._core import EventQueue
from armarius.codex.model import Codex, Entity, NameIndex
from armarius.codex.protocol import Authored
from armarius.corpus.part import FORM
from armarius.corpus.part import KIND as PART
from armarius.documents.document import Skipped
from armarius.errors import ContextWarning
from armarius.headings import is_terminal
from armarius.index.source import DocumentSource, LiveConfig, SourceChanges
from armarius.store.protocol import (
    Change,
    EntityIds,
    FileRow,
    Note,
    Put,
    Remove,
    Restamp,
    Store,
)
from armarius.text.matcher import EntityMatcher, ShortName, kind_of
from armarius.text.unicode import caseless
from armarius.warnings import NAME_UNUSABLE

if TYPE_CHECKING:
    from armarius.index.watcher import Followed, Watcher


@dataclass(frozen=True, slots=True)
class Progress:
    """Number of committed files, of all that differ; everything up to `path` survives a crash."""

    done: int
    total: int
    path: str


@dataclass(slots=True)
class Outcome:
    """Result of a refresh."""

    written: int = 0
    removed: int = 0
    skipped: tuple[Skipped, ...] = ()
    cancelled: bool = False
    seconds: float = 0.0

    def count(self, changes: Iterable[Change]) -> None:
        """Count committed changes."""
        for change in changes:
            self.written += isinstance(change, Put)
            self.removed += isinstance(change, Remove)


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """An index at one moment.

    Attributes:
        state: "ready", "building", "cancelled" or "stale" (a refresh failed, see `warnings`).
        progress: Progress of the current or last build.
        watching: Whether the folder is watched.
        documents: Indexed documents.
        paragraphs: Indexed paragraphs.
        mentions: Mentions of all entities.
        entities: Entities of the codex.
        bytes: Size on disk.
        generation: Grows with every change of any process.
        path: Location of the index: a file, for the embedded store.
        skipped: Files that could not be read as documents, with the reason.
        warnings: Warnings of the codex (once all texts have been read), the configuration and the index.
    """

    state: Literal["ready", "building", "cancelled", "stale"]
    progress: Progress
    watching: bool
    documents: int
    paragraphs: int
    mentions: int
    entities: int
    bytes: int
    generation: int
    path: str
    skipped: tuple[Skipped, ...]
    warnings: tuple[ContextWarning, ...]


@contextmanager
def progress_bar(what: str = "indexing") -> Iterator[Callable[[Any], None] | None]:
    """A callback that draws `done` of `total` as a bar on standard error; None if that is not a terminal."""
    if not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def advance(progress: Any) -> None:  # noqa: ANN401 - whatever has `done` and `total`
            bar.update(task, completed=progress.done, total=progress.total, visible=progress.done < progress.total)

        yield advance


BATCH = 32  # documents in one transaction; what is committed survives a crash and can be asked


@dataclass(slots=True)
class Commits:
    """Collects changes and commits them in batches. The last batch also commits the remaining changes.

    Attributes:
        store: The store to write.
        generation: Generation of the store after the last commit.
        progress: Progress of the refresh.
        report: Called after every committed batch of documents.
        is_cancelled: Called before every batch of documents.
        pending_notes: Changes that mark the index as incomplete between two batches.
        outcome: Counts of the committed changes.
        restamped: Whether a `Restamp` was committed.
        alone: No other writer committed since the refresh began.
        whole: All changes, if one transaction held them; else None.
    """

    store: Store
    generation: int
    progress: Progress
    report: Callable[[Progress], None]
    is_cancelled: Callable[[], bool]
    pending_notes: Callable[[], Sequence[Change]]
    outcome: Outcome = field(default_factory=Outcome)
    restamped: bool = False
    alone: bool = True
    whole: Sequence[Change] | None = ()
    _first: list[Change] = field(default_factory=list)
    _batch: list[Change] = field(default_factory=list)
    _documents: list[Put | Remove | Restamp] = field(default_factory=list)

    def before(self, changes: Iterable[Change]) -> None:
        """Add changes to the next batch, before its documents."""
        self._first += changes

    def documents(self, changes: Sequence[Put | Remove | Restamp], learnt: Iterable[Change]) -> bool:
        """Add a batch with its derived rows. False when the refresh was cancelled."""
        if not self.flush():
            return False
        self._documents += changes
        self._batch += (*changes, *learnt)
        return True

    def flush(self) -> bool:
        """Commit the collected batch; more will follow. False when the refresh was cancelled."""
        is_whole = all(isinstance(change, Restamp) for change in self._batch)  # stamps leave an index complete
        return not self._documents or self._commit(() if is_whole else self.pending_notes())

    def finish(self, changes: Iterable[Change]) -> bool:
        """Commit the remaining changes and `changes`. False when the refresh was cancelled."""
        return self._commit(tuple(changes))

    def _commit(self, more: Sequence[Change]) -> bool:
        if self._documents and self.is_cancelled():
            self.outcome.cancelled = True
            return False
        changes = [*self._first, *self._batch, *more]
        stamps = [*map(type, changes)].count(Restamp)
        if changes:
            self.whole = changes if self.whole == () else None
            before, self.generation = self.generation, self.store.apply(changes)
            # A commit of stamps alone adds no generation; if the generation rose, another writer committed.
            self.alone = self.alone and self.generation - before <= (len(changes) > stamps)
        self.outcome.count(changes)
        self.restamped = self.restamped or stamps > 0
        documents = self._documents
        self._first, self._batch, self._documents = [], [], []
        if documents:
            last = documents[-1]
            path = last.document.path if isinstance(last, Put) else last.path
            self.progress = Progress(self.progress.done + len(documents), self.progress.total, path)
            self.report(self.progress)
        return True


Given = ParamSpec("Given")

RULES = 5  # raised when the same names are found elsewhere in the same text


@dataclass(frozen=True)
class Snapshot:
    """A codex and its matcher.

    Attributes:
        codex: As built from the documents and the authored files.
        matcher: Matches the names of all entities of every context level, and the short names.
        short_names: What these names are shortened to.
        unusable: Warnings about names that cannot be matched.
        match_digest: Digest of everything that decides what is a mention; stored mentions with another are outdated.
        codex_digest: Digest of the whole codex.
    """

    codex: Codex
    matcher: EntityMatcher
    short_names: tuple[ShortName, ...]
    match_digest: str
    codex_digest: str
    unusable: tuple[ContextWarning, ...] = ()

    @cached_property
    def who(self) -> NameIndex:
        """Resolves an id, a name or an alias to an entity."""
        return NameIndex(self.codex.entities, others=self.codex.others)

    @property
    def warnings(self) -> tuple[ContextWarning, ...]:
        """Warnings of the codex, and about names that cannot be matched."""
        return tuple(dict.fromkeys((*self.codex.warnings, *self.unusable)))

    def with_entities(self, entities: Sequence[Entity]) -> "Snapshot":
        """The same snapshot with further entities, from a graph."""
        return snapshot_of(replace(self.codex, entities=(*self.codex.entities, *entities)))

    def rows(self) -> list[Change]:
        """What the store keeps of the codex: the ids of its entities, and its digest."""
        ids = EntityIds(tuple(entity.id for entity in self.codex.entities))
        return [ids, Note(CODEX, self.codex_digest)]


def snapshot_of(codex: Codex) -> Snapshot:
    """The snapshot of a codex. Cost: a matcher of all names, and a digest of the codex."""
    entities: Sequence[Entity] = codex.entities
    if codex.called:
        entities = [
            replace(item, aliases=tuple(name for name in item.aliases if (item.id, caseless(name)) not in codex.called))
            for item in entities
        ]
    short: tuple[ShortName, ...] = ()
    if entities:
        from armarius.codex.people import short_names  # where there is somebody

        terms = short_names(entities)
        short = tuple(term for term in terms if (term.entity_id, caseless(term.text)) not in codex.without)
    matcher, faults = EntityMatcher.from_valid(codex.entities, short_names=short)
    unusable = tuple(NAME_UNUSABLE(fault=fault) for fault in faults)
    return Snapshot(codex, matcher, short, _match_digest(codex), _codex_digest(codex), unusable)


def _match_digest(codex: Codex) -> str:
    names = ((entity.id, entity.name, entity.aliases, kind_of(entity)) for entity in codex.entities)
    return _digest([RULES, *names, *sorted(codex.without), sorted(codex.called)])


def _codex_digest(codex: Codex) -> str:
    return _digest([*map(_entity_key, codex.entities), codex.relations])


def _entity_key(entity: Entity) -> tuple[object, ...]:
    """Everything that is said of an entity; plain rows, for the `repr` of a record is written in Python."""
    facts = [(fact.text, fact.since, fact.until) for fact in entity.facts]
    origins = [(origin.path, origin.section, origin.line) for origin in entity.origins]
    named = (entity.id, entity.name, entity.type, entity.aliases, entity.description, entity.attributes, entity.level)
    return (*named, facts, origins, entity.overruled)


def snapshot_after(snapshot: Snapshot | None, codex: Codex) -> Snapshot:
    """The snapshot of a codex that was built again; the matcher stays while the names are the same."""
    if snapshot is not None and snapshot.match_digest == _match_digest(codex):
        return replace(snapshot, codex=codex, codex_digest=_codex_digest(codex))
    return snapshot_of(codex)


def _digest(value: Sequence[object]) -> str:
    return hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


CODEX: Final = "codex"  # note: its digest
NAMES: Final = "names"  # note: digest of the matched names; "" while documents were matched with different ones
READER: Final = "reader"  # note: version and settings of the document reader
MAPPED: Final = "mapped"  # note: digests of what the map was decided from, and of the map
_QUICK_SECONDS: Final = 0.02  # processor time; a comparison that is faster runs before every answer, watched or not


@dataclass(frozen=True, slots=True)
class IndexContents:
    """The files and notes of a store at one generation.

    Attributes:
        store: The store.
        generation: Generation of the store.
        files: Rows by path, in path order.
        notes: By key, those that say what the rows were made from; None where there is none.
    """

    store: Store
    generation: int
    files: Mapping[str, FileRow]
    notes: Mapping[str, str | None]

    @classmethod
    def of(cls, store: Store) -> Self:
        """The contents of the store as it is now."""
        generation, keys = store.generation(), (CODEX, NAMES, READER, PART, MAPPED)
        return cls(store, generation, store.files(), {key: store.note(key) for key in keys})

    def after(self, changes: Sequence[Change], generation: int) -> Self:
        """The contents after `changes`, without reading the store. `changes` must hold no `Restamp`.

        Cost: linear in the changes, and a copy of `files`.
        """
        files, count = dict(self.files), len(self.files)
        notes = dict(self.notes)
        for change in changes:
            if isinstance(change, Put):
                files[change.document.path] = FileRow(change.stamp, change.document.content_hash)
            elif isinstance(change, Remove):
                files.pop(change.path, None)
            elif isinstance(change, Note) and change.key in notes:
                notes[change.key] = change.value
        if len(files) > count:
            files = dict(sorted(files.items()))
        return replace(self, generation=generation, files=files, notes=notes)


def moved_paths(before: Mapping[str, FileRow], after: Mapping[str, str]) -> dict[str, str]:
    """Where texts lie that left their paths, by the path that they left.

    A text that is at a new path as well as, changed, at its old one is a copy. Equal texts are paired by path.

    Args:
        before: The files that the index had.
        after: The content hash of each path that differs now, "" of one that is gone.
    """
    left, came = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for path, content in sorted(after.items()):
        former = before[path].content_hash if path in before else ""
        if former != content:
            left[former].append(path)
            came[content].append(path)
    same = left.keys() & came.keys() - {""}
    pairs = (pair for content in same for pair in zip(left[content], came[content], strict=False))
    return {old: new for old, new in pairs if not after[old] or after[old] in left or new in before}


class Freshness:
    """Knows whether a store equals what it is made from; everything else of the index asks it. Not thread-safe.

    Args:
        source: Source of the documents.
        authored: The user's codex and records.
        config: The live configuration.
        is_followed: Whether a watcher follows the texts and saw no change.

    Attributes:
        equal: The store and generation that the last comparison, or the refresh after it, left equal to everything;
            else None.
        is_quick: Whether a comparison of the texts that finds no change costs little: less than 20 ms of processor time
            (10,000 files, and any number where the kernel keeps a queue of events).
    """

    def __init__(
        self, source: DocumentSource, authored: Authored, config: LiveConfig, is_followed: Callable[[], bool]
    ) -> None:
        self.equal: tuple[Store, int] | None = None
        self.is_quick = True
        self._source, self._authored, self._config, self._is_followed = source, authored, config, is_followed
        self._contents: IndexContents | None = None
        self._stamp = ""  # of the texts, at the last comparison of all of them
        self._texts: tuple[str, int] | None = None  # a stamp of the texts, and the generation that equals them
        self._codex: str | None = None  # stamp of the files that the snapshot was made from
        self._kept: str | None = None  # stamp of those whose codex and records the store holds
        self._world: tuple[Store | None, str, str] = (None, "", "")  # where the snapshot was read, and its digests
        self._mapped: tuple[Store, str | None, str] | None = None  # the store whose map is held, its note, the settings

    def contents(self, store: Store) -> IndexContents:
        """The contents of the store; read again when its generation changed."""
        contents = self._contents
        if contents is None or contents.store is not store or contents.generation != store.generation():
            contents = self._contents = IndexContents.of(store)
        return contents

    def may_be_believed(self) -> bool:
        """Whether an answer needs no comparison: it would be slow, and a watcher saw no change."""
        return not self.is_quick and self._is_followed() and not self.is_codex_changed()

    def differs(self, store: Store) -> int:
        """Number of documents that differ from the index; -1 if something else may. Cost: one comparison."""
        contents, started = self.contents(store), time.thread_time()
        self._stamp = self._source.stamp()
        certain = doubtful = 0
        is_same = bool(self._stamp) and self._texts == (self._stamp, contents.generation)
        if not is_same:
            difference = self._source.compare(contents.files)
            certain, doubtful = difference.certain, difference.doubtful
            if self._stamp and not (difference.to_read or difference.removed):
                self._texts = self._stamp, contents.generation
        if is_same or os.name == "nt":  # there each comparison is a walk; elsewhere a walk is the price of a change
            self.is_quick = time.thread_time() - started < _QUICK_SECONDS
        others = doubtful or self.is_of_another(contents) or self.is_codex_changed() or self._config.is_stale()
        count = certain or (-1 if others or not self.has_map(contents) else 0)
        self.equal = None if count else (store, contents.generation)
        return count

    def compare(self, contents: IndexContents, *, only: Collection[str], force: bool) -> SourceChanges:
        """What of the texts, or of these paths, differs from the store; `force`: all of it."""
        self.equal, self._stamp = None, self._source.stamp()
        return self._source.compare(contents.files, only=only, force=force)

    def is_read(self, contents: IndexContents) -> bool:
        """Whether the documents were read by the present reader, settings and form of rows."""
        return (contents.notes[READER], contents.notes[PART]) == (self._config.note, FORM) or not contents.files

    def is_codex_changed(self) -> bool:
        """Whether a file of the codex or of records changed since it was read. Cost: one stat of each."""
        return self._authored.stamp() != self._codex

    def is_of_another(self, contents: IndexContents) -> bool:
        """Whether there is no snapshot of this store, or another process has written a newer codex."""
        store, graph, names = self._world
        is_same = contents.notes[CODEX] in (None, graph) and contents.notes[NAMES] in (None, "", names)
        return store is not contents.store or not is_same

    def is_kept(self, contents: IndexContents) -> bool:
        """Whether the store holds the codex of the snapshot, and the records."""
        return self._kept == self._codex and contents.notes[CODEX] == self._world[1]

    def has_map(self, contents: IndexContents) -> bool:
        """Whether the map that is held is that of the store, by the present configuration."""
        return self._mapped == (contents.store, contents.notes[MAPPED], self._config.note)

    def read_codex(self, make: Callable[[], Snapshot], store: Store | None = None) -> Snapshot:
        """The snapshot of the codex files as they are now, and of the profiles of `store`, if it was read again."""
        stamp = self._authored.stamp()
        made = make()
        self._codex, self._world = stamp, (store or self._world[0], made.codex_digest, made.match_digest)
        self._kept = None if store is not None else self._kept
        return made

    def read_map(self, contents: IndexContents) -> None:
        """The map was read from the store."""
        self._mapped = contents.store, contents.notes[MAPPED], self._config.note

    def wrote(self, contents: IndexContents, commits: Commits, mapped: str | None, *, all_texts: bool) -> None:
        """A refresh has ended.

        Args:
            contents: What the store held before it.
            commits: What it wrote.
            mapped: The note of the map.
            all_texts: It compared all texts.
        """
        done = not commits.outcome.cancelled
        self._kept = self._codex if done else None
        self._mapped = (contents.store, mapped, self._config.note) if done and commits.alone else None
        if done and commits.alone and all_texts:
            self.equal = contents.store, commits.generation
            self._texts = (self._stamp, commits.generation) if self._stamp else self._texts
        if commits.restamped:  # perhaps without a generation
            self._contents = None
        elif commits.whole and commits.alone:
            self._contents = contents.after(commits.whole, commits.generation)

    def look_again(self) -> None:
        """Read the store again: all writes inside one transaction have one generation."""
        self._contents = None

    def forget_codex(self) -> None:
        """A refresh failed: codex and map are read again."""
        self._codex = self._kept = self._mapped = None

    def forget(self) -> None:
        """The store was rolled back: everything is read again."""
        self.forget_codex()
        self._contents = self._texts = None
        self._world = (None, "", "")


class IndexWatch:
    """The watched folders of one index, if any."""

    def __init__(self) -> None:
        self.folders: dict[str, Followed] = {}  # by the first part of their paths

    @property
    def on(self) -> bool:
        """Whether the folders are watched."""
        return bool(self.folders)

    @property
    def queues(self) -> Mapping[str, EventQueue]:
        """The queues of the watchers by the first part of the paths of their folders."""
        return {name: folder.watcher.queue for name, folder in self.folders.items() if folder.watcher.queue}

    @property
    def trouble(self) -> str:
        """Why there are no events, "" if there are."""
        return next((folder.watcher.trouble for folder in self.folders.values() if folder.watcher.trouble), "")

    def is_current(self) -> bool:
        """Whether there are events and no path is marked."""
        return self.on and not any(folder.watcher.blind or folder.pending for folder in self.folders.values())

    def start(
        self, folders: Mapping[str, Path], changed: Callable[[set[str] | None], None], by: "Watcher | None" = None
    ) -> None:
        """Watch folders. Idempotent.

        Args:
            folders: Folders by the first part of their paths; "" for the project's own.
            changed: See `Followed`.
            by: Watcher of the project's own folder; every other folder has a watcher of its own.
        """
        if not self.folders:
            from armarius.index.watcher import Watcher  # a project that is not watched needs none

            self.folders = {
                name: (Watcher(root) if by is None or name else by).follow(
                    root, partial(_report_qualified, name, changed)
                )
                for name, root in folders.items()
            }

    def stop(self) -> None:
        """Stop watching. Idempotent."""
        folders, self.folders = self.folders, {}
        for folder in folders.values():
            folder.stop()


def weak_callback(method: Callable[Given, None]) -> Callable[Given, None]:
    """A callable that holds only a weak reference to its object, and does nothing once that is gone."""
    reference = weakref.WeakMethod(method)

    def call(*args: Given.args, **kwargs: Given.kwargs) -> None:
        alive = reference()
        if alive is not None:
            alive(*args, **kwargs)

    return call


def _report_qualified(name: str, changed: Callable[[set[str] | None], None], paths: set[str] | None) -> None:
    changed({f"{name}/{path}" for path in paths} if name and paths is not None else paths)
