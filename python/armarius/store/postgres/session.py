"""The transactions of one project: what a thread reads is of one moment, what it writes is all or nothing.

    with session.moment():          # a request: one generation, however many questions
        …
    with session.writing() as tx:   # the row of the project is the lock, the counter and the comparison
        tx.execute("INSERT INTO …", …)

A thread has at most one transaction of a project open, and everything it asks meanwhile is asked there.
"""

import random
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from armarius.errors import StoreConflict, StoreCorrupt, StoreError, StoreUnavailable
from armarius.store.postgres.pool import AGAIN, Connection, Pool

if TYPE_CHECKING:
    import psycopg

_COUNTED = {
    "documents": "characters = (SELECT coalesce(sum(length), 0) FROM {s}.documents d WHERE d.project = p.project)",
    "sizes": "bytes = (SELECT coalesce(sum(size), 0) FROM {s}.files f WHERE f.project = p.project)",
}
"""Parts that are no columns of the row, and what is counted again when they change."""


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """The row of a project: what changed last, and in which generation. All 0 where there is none."""

    generation: int = 0
    born: int = 0
    forgotten: int = 0
    files: int = 0
    authored: int = 0
    configured: int = 0
    vectors: int = 0
    characters: int = 0
    token: int = 0


_ROW = ", ".join(field.name for field in fields(ProjectRow))


def row_query(schema: str) -> str:
    """The statement that reads a `ProjectRow`."""
    return f"SELECT {_ROW} FROM {schema}.projects WHERE project = %s"


class Transaction:
    """One open transaction.

    Args:
        connection: Inside it.
        schema: Of the tables.
        project: The key.
        row: As it stood when the snapshot was taken.
        writes: Whether it may write.

    Attributes:
        project: As given.
        row: As it stood then, or as this transaction has made it.
        token: Is in the row that it writes: proves who wrote it.
        taken: Whether it has taken a generation: without, it leaves nothing behind.
    """

    def __init__(self, connection: Connection, schema: str, project: UUID, row: ProjectRow, *, writes: bool) -> None:
        self.connection, self.row, self.writes = connection, row, writes
        self.taken = False
        self._schema = schema
        self.project = project
        self._changed: set[str] = set()
        self._stirred = self._kept = False
        self.token = secrets.randbits(62) + 1

    def execute(self, query: str, values: Sequence[Any] = ()) -> "psycopg.Cursor[tuple[Any, ...]]":
        """One statement; `{s}` in it is the schema of the tables."""
        return self.connection.execute(query.replace("{s}", self._schema), values)

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What one statement finds."""
        return self.execute(query, values).fetchall()

    def execute_many(self, query: str, values: Sequence[Sequence[Any]]) -> None:
        """One statement for each of these, in one round trip."""
        if values:
            self.connection.execute_many(query.replace("{s}", self._schema), values)

    def compare(self, expect: int | None, token: int = 0) -> None:
        """Refuse to go on from another generation, unless an earlier try of the same changes made it.

        Args:
            expect: The generation that the changes were made from.
            token: Of the earlier try; 0 is none.

        Raises:
            StoreConflict: The project is not at generation `expect`.
        """
        if token and (self.row.generation - 1, self.row.token) == (expect, token):
            return
        if expect is not None and expect != self.row.generation:
            raise StoreConflict(f"the project is at generation {self.row.generation}, not {expect}")

    def make_row(self, tenant: str, name: str) -> None:
        """Lock the row of a project that has none yet: nobody can lock what is not there, who makes it comes first."""
        self.execute(
            "INSERT INTO {s}.projects (project, tenant, name, born, generation, token, touched) "
            "VALUES (%s, %s, %s, %s, 0, 0, now()) ON CONFLICT (project) DO NOTHING",
            (self.project, tenant, name, secrets.randbits(62) + 1),
        )
        self.row = ProjectRow(*self.rows(row_query("{s}") + " FOR UPDATE", (self.project,))[0])

    def next(self) -> int:
        """The generation of what is written in this transaction; the first call takes it."""
        if not self.taken:
            query = (
                "UPDATE {s}.projects SET generation = generation + 1, token = %s, touched = now() WHERE project = %s "
                f"RETURNING {_ROW}"
            )
            row = ProjectRow(*self.rows(query, (self.token, self.project))[0])
            self.row = replace(row, vectors=self.row.vectors)
            self.taken = True
        return self.row.generation

    def change(self, parts: Iterable[str]) -> None:
        """These parts of the project are of this generation now: columns of the row, `documents` and `sizes`."""
        names = set(parts)
        self._changed |= names
        self.row = replace(self.row, **dict.fromkeys(names - _COUNTED.keys(), self.next()))

    def count_vectors(self) -> int:
        """Vectors change, which is no generation: nobody's texts are other ones. The number of this change."""
        if not self._stirred:
            self._stirred = True
            self.row = replace(self.row, vectors=self.row.vectors + 1)
        return self.row.vectors

    def keep(self) -> None:
        """What was written has to do with no text and no vector, and is to stay all the same."""
        self._kept = True

    def commit(self) -> None:
        """Say in the row what has changed, and commit, in one round trip; where nothing has, nothing is left."""
        if not (self.taken or self._stirred or self._kept):
            self.connection.execute("ROLLBACK")
            return
        columns = [_COUNTED.get(part, f"{part} = generation") for part in sorted(self._changed)]
        columns += ["vectors = vectors + 1"] * self._stirred
        with self.connection.pipeline():
            if columns:
                self.execute(f"UPDATE {{s}}.projects p SET {', '.join(columns)} WHERE p.project = %s", (self.project,))
            self.connection.execute("COMMIT")


_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# one for a whole transaction, so that a pooler may lend the connection to somebody else afterwards
_TIMES = (
    "SELECT set_config('lock_timeout', '10s', true), set_config('idle_in_transaction_session_timeout', '300s', true)"
)
_TRIES = 5
_LOOK_AGAIN = 0.1
_PATIENCE = 1.0
Answer = TypeVar("Answer")


class PostgresSession:
    """Transactions of one project. Thread-safe.

    Args:
        pool: Connections.
        schema: Schema of the tables.
        project: Primary key of the project.
        tenant: Tenant of the project.
        project_id: Id of the project within its tenant.

    Attributes:
        latest: The newest project row that was read.
        settled: Generation of everything cached in memory. While the server has it, a request reads the row once.
        asked: Number of reads of the row.
    """

    def __init__(self, pool: Pool, schema: str, project: UUID, *, tenant: str, project_id: str) -> None:
        self.pool, self.schema, self.project, self.tenant = pool, schema, project, tenant
        self.project_id = project_id
        self.latest = ProjectRow()
        self.settled = -1
        self.asked = 0
        self._lock = threading.Lock()
        self._local = threading.local()
        self._replaced = False

    def forget(self) -> None:
        """Drop everything that was read: the project may have been replaced."""
        with self._lock:
            self.latest, self.settled, self._replaced = ProjectRow(), -1, False

    def look(self) -> ProjectRow:
        """The current project row; inside a moment, the row at its begin. One round trip."""
        self._check()
        bound = self._bound_tx
        if bound is not None:
            return bound.row
        if not self._depth:
            return self._read_row()
        seen: ProjectRow | None = getattr(self._local, "seen", None)
        if seen is None:
            seen = self._read_row()
            if seen.generation == self.settled:
                self._local.seen = seen
            else:
                seen = self._begin_moment().row
        return seen

    @contextmanager
    def moment(self) -> Iterator[None]:
        """What this thread reads inside is of one generation; nothing is asked before somebody asks.

        Cost: one round trip when nothing has changed since the last one.
        """
        outer = self._depth
        self._local.depth = outer + 1
        try:
            yield
            if not outer and (row := self._bound_tx.row if self._bound_tx is not None else None) is not None:
                self.settled = row.generation
        finally:
            self._local.depth = outer
            if not outer:
                self._end_moment()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A transaction that sees one snapshot; the one of this thread, when there is one."""
        self._check()
        if self._bound_tx is None and self._depth:
            self._begin_moment()
        bound = self._bound_tx
        if bound is not None:
            yield bound
            return
        with self.pool.lent() as connection:
            self._local.bound = self._begin_transaction(connection, _READ)
            try:
                yield self._local.bound
            finally:
                self._local.bound = None
                _end(connection, "COMMIT")

    @contextmanager
    def writing(self, expect: int | None = None, token: int = 0) -> Iterator[Transaction]:
        """The project locked, until all of it is committed or none; inside another one of this thread a part of that.

        Args:
            expect: The generation that the changes were made from.
            token: Of an earlier transaction that made the same changes from `expect`, and of which nobody could tell.

        Raises:
            StoreConflict: The project is not at generation `expect`.
            StoreUnavailable: Nothing is written; or, where `written` is None, that cannot be known.
        """
        self._check()
        bound = self._bound_tx
        if bound is not None and bound.writes:
            bound.compare(expect, token)
            yield bound
            return
        if bound is not None:
            self._end_moment()
        with self.pool.lent() as connection:
            tx = self._locked(connection)
            try:
                tx.compare(expect, token)
                self._local.bound = tx
                yield tx
            except BaseException:
                self._local.bound = None
                _end(connection, "ROLLBACK")
                raise
            self._local.bound = None
            lost = self._commit(tx)
        if lost is not None and not (tx.taken and self._is_committed(tx.row)):
            raise lost
        if tx.row.born:
            self._keep_row(tx.row)
        if self._depth:
            self._local.seen = None  # what is read from now on in this moment is what has just been written, or newer

    def written(self, work: Callable[[Transaction], Answer], expect: int | None = None) -> Answer:
        """`work` in a writing transaction, made again where the server asks for that (40001, 40P01): 5 tries."""
        for tries in range(_TRIES):
            try:
                with self.writing(expect) as tx:
                    return work(tx)
            except StoreError as error:
                again = isinstance(error.__cause__, AGAIN) and tries + 1 < _TRIES and self._bound_tx is None
                if not again:
                    raise
                time.sleep(random.uniform(0.005, 0.02) * 2**tries)  # noqa: S311 - no secret
        raise AssertionError("the last try raises")

    def _locked(self, connection: Connection) -> Transaction:
        tx = self._begin_transaction(connection, "BEGIN", _TIMES, locked=True)
        if not tx.row.born:
            tx.make_row(self.tenant, self.project_id)
        return tx

    def _begin_transaction(self, connection: Connection, *words: str, locked: bool = False) -> Transaction:
        with connection.pipeline():
            for word in words:
                connection.execute(word)
            cursor = connection.execute(self._row_query + (" FOR UPDATE" if locked else ""), (self.project,))
        try:
            row = self._keep_values(cursor.fetchone())
        except BaseException:
            _end(connection, "ROLLBACK")
            raise
        return Transaction(connection, self.schema, self.project, row, writes=locked)

    def _commit(self, tx: Transaction) -> StoreError | None:
        """Commit; the error with which the connection was lost meanwhile, when nobody has said what became of it."""
        try:
            tx.commit()
        except StoreError as error:
            if tx.connection.closed:
                return error
            _end(tx.connection, "ROLLBACK")
            raise
        return None

    def _is_committed(self, row: ProjectRow) -> bool:
        """The connection was lost in COMMIT: what became of it? Waits for the server, as long as for a connection.

        Raises:
            StoreUnavailable: Nobody can tell.
        """
        until = time.monotonic() + self.pool.wait_s
        while True:
            with suppress(StoreError), self.pool.lent(fresh=True) as connection:
                now = self._locked(connection).row  # the server may be at it still: the lock is given when it has ended
                _end(connection, "ROLLBACK")
                if now.token == row.token:
                    return True
                if now.generation < row.generation:
                    return False
                break  # another writer was faster than this look
            if time.monotonic() > until:
                break
            time.sleep(_LOOK_AGAIN)
        raise StoreUnavailable(
            f"{self.pool.place}: the connection was lost while generation {row.generation} was being written; "
            "whether it is there cannot be known: the same write again is safe",
            written=None,
        )

    def _begin_moment(self) -> Transaction:
        stack = ExitStack()
        connection = stack.enter_context(self.pool.lent())
        try:
            self._local.bound = self._begin_transaction(connection, _READ)
        except BaseException:
            stack.close()
            raise
        self._local.stack = stack
        bound: Transaction = self._local.bound
        return bound

    def _end_moment(self) -> None:
        self._local.seen = None
        stack: ExitStack | None = getattr(self._local, "stack", None)
        if stack is None:
            return
        bound, self._local.bound, self._local.stack = self._local.bound, None, None
        with stack:
            _end(bound.connection, "COMMIT")

    def _read_row(self) -> ProjectRow:
        self.asked += 1
        patience = _PATIENCE if self.latest.born else None  # who has something to answer with does not wait long
        with self.pool.lent(answer_s=patience) as connection:
            return self._keep_values(connection.execute(self._row_query, (self.project,)).fetchone())

    def _keep_values(self, values: tuple[Any, ...] | None) -> ProjectRow:
        return self._keep_row(ProjectRow() if values is None else ProjectRow(*values))

    def _keep_row(self, row: ProjectRow) -> ProjectRow:
        with self._lock:
            if self.latest.born and row.born != self.latest.born:
                self._replaced = True
                self._check()
            if row.generation >= self.latest.generation:
                self.latest = row
        return row

    @property
    def is_writing(self) -> bool:
        """Whether this thread is inside a transaction that has taken a generation: its row is not complete yet."""
        bound = self._bound_tx
        return bound is not None and bound.taken

    @property
    def _row_query(self) -> str:
        return row_query(self.schema)

    @property
    def _bound_tx(self) -> Transaction | None:
        return getattr(self._local, "bound", None)

    @property
    def _depth(self) -> int:
        return getattr(self._local, "depth", 0)

    def _check(self) -> None:
        if self._replaced:
            raise StoreCorrupt(f"{self.project_id}: deleted, or deleted and made again")


def _end(connection: Connection, word: str) -> None:
    """End a transaction with COMMIT or ROLLBACK; the pool discards a broken connection on return."""
    if not connection.closed:
        with suppress(StoreError):
            connection.execute(word)
