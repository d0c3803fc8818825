"""All rows of a project, whatever table they are in: deleted, or copied under another key."""

import secrets
from uuid import UUID

from armarius.store.postgres.pool import Connection

__all__ = ["TABLES", "copy_project", "delete_project"]

TABLES = {
    "projects": "",
    "files": "path, version, hash, size",
    "documents": "path, version, kind, chapter, length, paragraphs, content_hash, stamp, head, hash",
    "gone": "path, version",
    "learnt": "path, kind, about, hash",
    "notes": "key, version, value",
    "pieces": "area, path, kind, piece, data",
    "vector_sets": "number, state, fingerprint",
    "vectors": "number, path, paragraph, text, state, checksum, embedding",
}
"""Table to its columns after `project`."""

_ROW = (
    "tenant, generation, forgotten, files, authored, configured, graph, records, noted, vectors, token, characters, "
    "bytes, touched"
)


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
