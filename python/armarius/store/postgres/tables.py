"""Whole projects in the tables: list, delete, copy."""

import secrets
from datetime import datetime
from uuid import UUID

from armarius.store.postgres.pool import Connection

__all__ = ["TABLES", "copy_project", "delete_project", "has_project", "list_projects"]

TABLES = {
    "projects": "",
    "files": "path, version, hash, size",
    "documents": "path, version, kind, chapter, length, paragraphs, content_hash, stamp, head, hash",
    "gone": "path, version",
    "learnt": "path, kind, about, hash",
    "notes": "key, version, value",
    "pieces": "area, path, kind, piece, data",
    "vector_sets": "number, state, fingerprint",
    "vectors": "number, path, paragraph, chapter, text, state, checksum, embedding",
}
"""Table to its columns after `project`."""

_ROW = (
    "tenant, generation, forgotten, files, authored, configured, graph, records, noted, vectors, token, characters, "
    "bytes, touched"
)


def list_projects(
    connection: Connection, schema: str, tenant: str | None, after: str, limit: int
) -> list[tuple[str, str, int, int, int, datetime]]:
    """Name, tenant, generation, characters, bytes and last write of projects, by name; of any tenant when None."""
    query = (
        f"SELECT name, tenant, generation, characters, bytes, touched FROM {schema}.projects "
        "WHERE (%s OR tenant = %s) AND name > %s ORDER BY name, tenant LIMIT %s"
    )
    rows = connection.execute(query, (tenant is None, tenant or "", after, limit)).fetchall()
    return [(name, owner, version, count, size, at) for name, owner, version, count, size, at in rows]


def has_project(connection: Connection, schema: str, project: UUID, *, lock: bool = False) -> bool:
    """Whether there is such a project; with `lock`, nobody else writes it until the transaction ends."""
    query = f"SELECT 1 FROM {schema}.projects WHERE project = %s{' FOR UPDATE' if lock else ''}"
    return connection.execute(query, (project,)).fetchone() is not None


def delete_project(connection: Connection, schema: str, project: UUID) -> None:
    """Every row, inside the transaction of the caller, who has locked the project."""
    for table in reversed(TABLES):
        connection.execute(f"DELETE FROM {schema}.{table} WHERE project = %s", (project,))


def copy_project(connection: Connection, schema: str, project: UUID, new: UUID, name: str) -> None:
    """Every row under another key and name, inside the transaction of the caller."""
    connection.execute(
        f"INSERT INTO {schema}.projects (project, name, born, {_ROW}) "
        f"SELECT %s, %s, %s, {_ROW} FROM {schema}.projects WHERE project = %s",
        (new, name, secrets.randbits(62) + 1, project),
    )
    for table, columns in TABLES.items():
        if columns:
            connection.execute(
                f"INSERT INTO {schema}.{table} (project, {columns}) "
                f"SELECT %s, {columns} FROM {schema}.{table} WHERE project = %s",
                (new, project),
            )
