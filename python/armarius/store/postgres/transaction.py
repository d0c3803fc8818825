"""One open transaction of a project, and the row that says what the project is of."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from uuid import UUID

import psycopg

from armarius.errors import StoreConflict, StoreError
from armarius.store.postgres.pool import Connection

__all__ = ["ProjectRow", "Transaction", "row_query"]

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
    graph: int = 0
    records: int = 0
    noted: int = 0
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
        row: As it stood then, or as this transaction has made it.
        taken: Whether it has taken a generation: without, it leaves nothing behind.
    """

    def __init__(self, connection: Connection, schema: str, project: UUID, row: ProjectRow, *, writes: bool) -> None:
        self.connection = connection
        self.row = row
        self.writes = writes
        self.taken = False
        self._schema = schema
        self._project = project
        self._changed: set[str] = set()
        self._stirred = self._kept = False

    def execute(self, query: str, values: Sequence[Any] = ()) -> "psycopg.Cursor[tuple[Any, ...]]":
        """One statement; `{s}` in it is the schema of the tables."""
        return self.connection.execute(query.replace("{s}", self._schema), values)

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What one statement finds."""
        return self.execute(query, values).fetchall()

    def many(self, query: str, values: Sequence[Sequence[Any]]) -> None:
        """One statement for each of these, in one round trip."""
        if values:
            with self.connection.cursor() as cursor:
                cursor.executemany(query.replace("{s}", self._schema), values)

    def compare(self, expect: int | None) -> None:
        """Refuse to go on from another generation.

        Raises:
            StoreConflict: The project is not at generation `expect`.
        """
        if expect is not None and expect != self.row.generation:
            raise StoreConflict(f"the project is at generation {self.row.generation}, not {expect}")

    def make_row(self, tenant: str, name: str) -> None:
        """Lock the row of a project that has none yet: nobody can lock what is not there, who makes it comes first."""
        self.execute(
            "INSERT INTO {s}.projects (project, tenant, name, born, generation, token, touched) "
            "VALUES (%s, %s, %s, %s, 0, 0, now()) ON CONFLICT (project) DO NOTHING",
            (self._project, tenant, name, secrets.randbits(62) + 1),
        )
        self.row = ProjectRow(*self.rows(row_query("{s}") + " FOR UPDATE", (self._project,))[0])

    def next(self) -> int:
        """The generation of what is written in this transaction; the first call takes it.

        Raises:
            StoreError: It only reads.
        """
        if not self.writes:
            raise StoreError("written while reading")
        if not self.taken:
            query = (
                "UPDATE {s}.projects SET generation = generation + 1, token = %s, touched = now() WHERE project = %s "
                f"RETURNING {_ROW}"
            )
            row = ProjectRow(*self.rows(query, (secrets.randbits(62), self._project))[0])
            self.row = replace(row, vectors=self.row.vectors)
            self.taken = True
        return self.row.generation

    def change(self, parts: Iterable[str]) -> None:
        """These parts of the project are of this generation now: columns of the row, `documents` and `sizes`."""
        found = set(parts)
        self._changed |= found
        self.row = replace(self.row, **dict.fromkeys(found - _COUNTED.keys(), self.next()))

    def stir(self) -> int:
        """Vectors change, which is no generation: nobody's texts are other ones. The number of this change."""
        if not self.writes:
            raise StoreError("written while reading")
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
                self.execute(f"UPDATE {{s}}.projects p SET {', '.join(columns)} WHERE p.project = %s", (self._project,))
            self.connection.execute("COMMIT")
