"""Engines in memory: as many as fit, the one that was asked longest ago goes first."""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

from armarius.deadline import stage
from armarius.engine.build import Parts
from armarius.errors import ContractError, StoreConflict, StoreError, UnknownId
from armarius.store.postgres.keys import check_name, project_key
from armarius.store.postgres.pool import Connection, Pool
from armarius.store.postgres.session import Session
from armarius.store.postgres.tables import copy_project, delete_project, has_project, list_projects
from armarius.validation import shown

__all__ = [
    "Counters",
    "EngineCache",
    "HotEngine",
    "HotStored",
    "Keeping",
    "ProjectEntry",
    "Quota",
    "bytes_in",
    "bytes_of",
]

_BASE = 500_000
_A_CHARACTER = 14
"""What an engine takes, measured: see docs/decisions/0140."""


def bytes_of(characters: int) -> int:
    """Bytes of memory that the engine of a project of so many characters takes, about."""
    return _BASE + _A_CHARACTER * characters


class HotEngine:
    """An engine in memory; the base of what a shelf keeps.

    Attributes:
        parts: Of the engine.
        users: Threads that ask it now.
        bytes: See `bytes_of`; of the time it was asked last.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.users = self.bytes = 0

    @property
    def characters(self) -> int:
        """Of the documents that are in memory."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop what works for it in the background; who still holds it may ask on."""
        if self.parts.recall is not None:
            self.parts.recall.close()


Hot = TypeVar("Hot", bound=HotEngine)


class EngineCache(Generic[Hot]):
    """Threads may share it. Two that want the same project wait for one engine; others do not wait.

    Args:
        limit: Bytes of memory.
        most: Engines, None for any number.

    Attributes:
        hits: Asked, and there.
        misses: Asked, and made.
        evicted: Gone to make room.
    """

    def __init__(self, limit: int, most: int | None = None) -> None:
        self.limit = limit
        self.most = most
        self.hits = self.misses = self.evicted = 0
        self._lock = threading.Lock()
        self._opening: dict[Hashable, threading.Lock] = {}
        self._kept: OrderedDict[Hashable, Hot] = OrderedDict()
        self._closed = False

    @contextmanager
    def used(self, key: Hashable, make: Callable[[], Hot]) -> Iterator[Hot]:
        """The engine of a project while it is asked; made when it is not there."""
        hot = self._taken(key)
        if hot is None:
            with self._lock:
                opening = self._opening.setdefault(key, threading.Lock())
            with opening:
                hot = self._taken(key)
                if hot is None:
                    with stage("open"):
                        made = make()
                    hot = self._added(key, made)
        try:
            yield hot
        finally:
            with self._lock:
                hot.users -= 1
                hot.bytes = bytes_of(hot.characters)
            self._make_room()

    def drop(self, key: Hashable, hot: Hot | None = None) -> None:
        """Forget an engine; with `hot`, only if it is that one."""
        with self._lock:
            found = self._kept.get(key)
            if found is None or (hot is not None and found is not hot):
                return
            del self._kept[key]
        found.close()

    def close(self) -> None:
        """Forget all of them, for good."""
        with self._lock:
            self._closed = True
            found, self._kept = list(self._kept.values()), OrderedDict()
        for hot in found:
            hot.close()

    @property
    def bytes(self) -> int:
        """What they take together, about."""
        with self._lock:
            return sum(hot.bytes for hot in self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def _taken(self, key: Hashable) -> Hot | None:
        with self._lock:
            if self._closed:
                raise StoreError("the shelf is closed")
            hot = self._kept.get(key)
            if hot is not None:
                self._kept.move_to_end(key)
                hot.users += 1
                self.hits += 1
            return hot

    def _added(self, key: Hashable, hot: Hot) -> Hot:
        hot.bytes = bytes_of(hot.characters)
        hot.users = 1
        with self._lock:
            self._opening.pop(key, None)
            closed = self._closed
            if not closed:
                self.misses += 1
                self._kept[key] = hot
        if closed:
            hot.close()
            raise StoreError("the shelf is closed")
        self._make_room()
        return hot

    def _make_room(self) -> None:
        """The longest unasked first; the one that was asked last stays, however large."""
        leaving = []
        with self._lock:
            total = sum(hot.bytes for hot in self._kept.values())
            for key in list(self._kept)[:-1]:
                if total <= self.limit and (self.most is None or len(self._kept) <= self.most):
                    break
                hot = self._kept[key]
                if not hot.users:
                    total -= hot.bytes
                    leaving.append(self._kept.pop(key))
                    self.evicted += 1
        for hot in leaving:
            hot.close()


class HotStored(HotEngine):
    """An engine of a stored project.

    Attributes:
        session: Transactions of its project.
        configured: The generation whose configuration it was made with.
    """

    def __init__(self, parts: Parts, session: Session, configured: int) -> None:
        super().__init__(parts)
        self.session = session
        self.configured = configured

    @property
    def characters(self) -> int:
        """Of the documents, as the row of the project counts them."""
        return self.session.latest.characters


@dataclass(frozen=True, slots=True)
class ProjectEntry:
    """A project of a shelf.

    Attributes:
        id: What it is called.
        tenant: Whose it is.
        version: Its generation.
        characters: Of its documents.
        bytes: Of its files.
        touched: When it was written last.
    """

    id: str
    tenant: str
    version: int
    characters: int
    bytes: int
    touched: datetime


class Keeping:
    """Verbs over whole projects; the base of `Shelf`."""

    pool: Pool
    schema: str

    def forget(self, project_id: str, tenant: str) -> None:
        """Let the engine of a project go from memory."""
        raise NotImplementedError

    def projects(self, *, tenant: str | None = "", limit: int = 1_000, after: str = "") -> list[ProjectEntry]:
        """The projects of a tenant, by name.

        Args:
            tenant: Whose; None is everybody's, for who keeps the server.
            limit: At most so many.
            after: Those whose name comes after this one: the next page.
        """
        with self.pool.lent() as connection:
            return [ProjectEntry(*row) for row in list_projects(connection, self.schema, tenant, after, limit)]

    def delete(self, project_id: str, *, tenant: str = "") -> None:
        """Delete a project: every row, and its engine here; other processes notice at their next question.

        Raises:
            UnknownId: There is none.
        """
        key = project_key(tenant, project_id)
        with self._locked(key, project_id) as connection:
            delete_project(connection, self.schema, key)
        self.forget(project_id, tenant)

    def delete_tenant(self, tenant: str) -> int:
        """Delete every project of a tenant; how many there were. One transaction for each."""
        check_name(tenant, "tenant")
        names = [entry.id for entry in self.projects(tenant=tenant, limit=1_000_000_000)]
        for name in names:
            self.delete(name, tenant=tenant)
        return len(names)

    def rename(self, project_id: str, name: str, *, tenant: str = "") -> None:
        """Give a project another name, which no other has.

        Raises:
            UnknownId: There is none of the old name.
            StoreConflict: There is one of the new name.

        Cost: every row of it is written again.
        """
        old, new = project_key(tenant, project_id), project_key(tenant, check_name(name, "project id"))
        with self._locked(old, project_id) as connection:
            self._copied(connection, old, new, name)
            delete_project(connection, self.schema, old)
        self.forget(project_id, tenant)

    def copy(self, project_id: str, name: str, *, tenant: str = "") -> None:
        """Make a second project of the same contents, under another name; raises and costs what `rename` does."""
        old, new = project_key(tenant, project_id), project_key(tenant, check_name(name, "project id"))
        with self._locked(old, project_id) as connection:
            self._copied(connection, old, new, name)

    def _copied(self, connection: Connection, old: UUID, new: UUID, name: str) -> None:
        if has_project(connection, self.schema, new):
            raise StoreConflict(f"there is a project {name!r} already")
        copy_project(connection, self.schema, old, new, name)

    @contextmanager
    def _locked(self, key: UUID, project_id: str) -> Iterator[Connection]:
        with self.pool.lent() as connection, connection.transaction():
            if not has_project(connection, self.schema, key, lock=True):
                raise UnknownId(f"no project is called {project_id!r}")
            yield connection


class Counters:
    """Sums since the shelf was made. Threads may share it.

    Attributes:
        questions: Asked of any project.
        seconds: That they took together.
        stale: Of them, answered from memory while the server was away.
        writes: Committed.
        bytes: Of the files that were written.
    """

    def __init__(self) -> None:
        self.questions = self.stale = self.writes = self.bytes = 0
        self.seconds = 0.0
        self._lock = threading.Lock()

    def asked(self, seconds: float, *, stale: bool = False) -> None:
        """One question."""
        with self._lock:
            self.questions += 1
            self.seconds += seconds
            self.stale += stale

    def written(self, size: int) -> None:
        """One write."""
        with self._lock:
            self.writes += 1
            self.bytes += size


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(B|KB|KiB|MB|MiB|GB|GiB)\s*", re.IGNORECASE)
_UNITS = {"b": 1, "kb": 10**3, "kib": 2**10, "mb": 10**6, "mib": 2**20, "gb": 10**9, "gib": 2**30}
_LEAST = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Quota:
    """What a project may hold; None is any number.

    Attributes:
        files: Of one project.
        bytes: Of all files of one project.
    """

    files: int | None = None
    bytes: int | None = None


def bytes_in(memory: str | int) -> int:
    """A size such as "2 GiB" or a number of bytes.

    Raises:
        ContractError: It is none, or below 16 MiB.
    """
    if isinstance(memory, str):
        match = _SIZE.fullmatch(memory)
        if match is None:
            raise ContractError(f'memory: expected a size such as "2 GiB" or a number of bytes, got {shown(memory)}')
        memory = int(float(match[1]) * _UNITS[match[2].lower()])
    if type(memory) is not int or memory < _LEAST:
        raise ContractError(f"memory: at least 16 MiB, got {shown(memory)}")
    return memory
