"""How the index learns the habits of its names: from all prose it holds, kept up with every change, and remembered.

What is learnt is a function of the prose and the cast alone (`habits.Tally` is a sum over documents), so that an index
built in one go and one that grew save by save find the same mentions.
"""

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from armarius.errors import ContextWarning, StoreError
from armarius.index.snapshot import World
from armarius.names import Habits, Tally, habits_of
from armarius.store.protocol import (
    Change,
    Put,
    Remove,
    Store,
)
from armarius.warnings_table import HABITS_UNLEARNT

__all__ = ["Course", "Schooling"]

logger = logging.getLogger("armarius")

_PROSE: Final = ("chapter", "note")  # kinds whose text is learnt from: names stand there as they are used
_NOTE: Final = "habits"  # what was learnt, and from what
_COUNTS: Final = "habits counted"  # the counts behind it: large, so written only after a whole count and at the end
_BATCH: Final = 32  # documents counted at once


class Schooling:
    """Counts kept from one refresh to the next.

    Attributes:
        tally: None when they have to be counted again, or read from the store.
        state: Digests of the cast and the prose that were counted.
        trouble: Why names are found without habits; None when they are not.
    """

    def __init__(self) -> None:
        self.tally: Tally | None = None
        self.state: tuple[str, str] = ("", "")
        self.trouble: ContextWarning | None = None
        self._kept: tuple[str, str] = ("", "")

    def keep(self, store: Store) -> None:
        """Write the counts, so that the next process goes on from them."""
        if self.tally is None or self._kept == self.state:
            return
        with self.harmless():
            counts = {"cast": self.state[0], "prose": self.state[1], "counts": self.tally.to_dict()}
            store.set_note(_COUNTS, json.dumps(counts, ensure_ascii=False, separators=(",", ":")))
            self._kept = self.state

    def recall(self, store: Store, world: World) -> World:
        """The world with what the store remembers of the habits of its cast, if it does."""
        head = _read(store, _NOTE)
        if head.get("cast") == world.cast:
            with self.harmless():
                return world.with_habits(_habits(head) or Habits())
        return world

    def forget(self, store: Store) -> None:
        """Write that nothing is known: the next refresh counts anew."""
        self._kept = ("", "")
        for note in (_NOTE, _COUNTS):
            store.set_note(note, "")

    @contextmanager
    def harmless(self) -> Iterator[None]:
        """Habits make answers better, no answer depends on them: what fails here is told and fails nothing else.

        Raises:
            StoreError: The index cannot be used.
        """
        try:
            yield
        except StoreError:
            raise
        except Exception as error:  # whatever it is: an answer with bare names is better than none
            self.tally = None
            self.trouble = HABITS_UNLEARNT(kind=type(error).__name__, error=error)
            logger.warning("%s", self.trouble, exc_info=True)

    @contextmanager
    def course(self, store: Store) -> Iterator["Course"]:
        """One refresh; counts of a refresh that was not finished are thrown away."""
        course = Course(self, store)
        try:
            yield course
        finally:
            if not course.is_finished:
                self.tally = None


class Course:
    """What one refresh learns."""

    def __init__(self, schooling: Schooling, store: Store) -> None:
        self._schooling = schooling
        self._store = store
        self._prose: dict[str, str] | None = None  # path to content hash
        self._taught = self._anew = self._failed = False
        self.is_finished = False

    def teach(self, world: World, changes: Sequence[Change]) -> World:
        """The world with the habits of the prose as it is after `changes`; call before they are written.

        When learning fails, the world has none for the rest of this refresh, and `Schooling.trouble` says why.

        Cost: `Tally.add` of every changed document, before and after the change, or of all prose, in batches, when the
        cast changed or the counts are not remembered; then one look at every count and a digest of all paths. A new
        matcher when the habits are others.
        """
        if not self._failed:
            self._failed = True
            with self._schooling.harmless():
                world = self._learn(world, changes)
                self._failed = False
        return world.with_habits(Habits()) if self._failed else world

    def _learn(self, world: World, changes: Sequence[Change]) -> World:
        store, schooling = self._store, self._schooling
        if self._prose is None:
            self._prose = {row.path: row.content_hash for row in store.documents(kinds=_PROSE)}
        before = (world.cast, _digest(self._prose))
        new = [c.document for c in changes if isinstance(c, Put) and c.document.kind in _PROSE]
        gone = [path for path in map(_path, changes) if path in self._prose]
        if not (new or gone or self._taught):
            head = _read(store, _NOTE)
            habits = _habits(head)
            if habits is not None and (head.get("cast"), head.get("prose")) == before:
                return world.with_habits(habits)
        tally = schooling.tally if schooling.state == before else _counted(store, world, before)
        if tally is None:
            tally, self._anew = Tally(world.codex.entities), True
            for texts in self._texts(list(self._prose)):
                tally.add(texts)
        schooling.tally = None  # until the counts are whole again
        for texts in self._texts(gone):
            tally.subtract(texts)
        tally.add([document.text for document in new])
        for path in gone:
            del self._prose[path]
        self._prose |= {document.path: document.content_hash for document in new}
        schooling.tally, schooling.state = tally, (world.cast, _digest(self._prose))
        self._taught = True
        return world.with_habits(habits_of(tally))

    def finish(self, world: World) -> None:
        """Remember what was learnt, now that everything is written."""
        if self._failed:
            self._schooling.forget(self._store)
            return
        self._schooling.trouble = None
        with self._schooling.harmless():
            if self._taught:
                cast, prose = self._schooling.state
                head = {"cast": cast, "prose": prose, "habits": world.habits.to_dict()}
                self._store.set_note(_NOTE, json.dumps(head, ensure_ascii=False, separators=(",", ":")))
            if self._anew:
                self._schooling.keep(self._store)
            self.is_finished = True

    def _texts(self, paths: Sequence[str]) -> Iterator[list[str]]:
        for at in range(0, len(paths), _BATCH):
            documents = (self._store.document(path) for path in paths[at : at + _BATCH])
            yield [document.text for document in documents if document is not None]


def _read(store: Store, note: str) -> dict[str, Any]:
    try:
        value = json.loads(store.note(note) or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _habits(head: Mapping[str, Any]) -> Habits | None:
    """What a note says, None when it is damaged."""
    try:
        return Habits.from_dict(head["habits"])
    except (KeyError, TypeError, ValueError):
        return None


def _counted(store: Store, world: World, state: tuple[str, str]) -> Tally | None:
    """The counts that the store remembers, if they are of this cast and this prose."""
    counts = _read(store, _COUNTS)
    if (counts.get("cast"), counts.get("prose")) != state:
        return None
    try:
        return Tally.from_dict(world.codex.entities, counts["counts"])
    except (KeyError, TypeError, ValueError):
        return None


def _path(change: Change) -> str:
    if isinstance(change, Put):
        return change.document.path
    return change.path if isinstance(change, Remove) else ""


def _digest(prose: Mapping[str, str]) -> str:
    whole = "\n".join(f"{path}\t{prose[path]}" for path in sorted(prose))
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
