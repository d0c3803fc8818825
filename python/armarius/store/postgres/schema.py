"""The schema: numbered migrations, one transaction each, under a lock; projects listed, deleted and copied whole."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any
from uuid import UUID

from armarius.errors import ContractError, SchemaTooNew, StoreError, StoreFull
from armarius.store.postgres.pool import NO_TABLES, Connection, Pool
from armarius.validation import shown

SCHEMA_VERSION = 1
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
OLDEST = 16
"""The oldest PostgreSQL that is supported."""
_LOCK = 0x41524D31  # "ARM1"; per transaction: a session lock would stay behind in a pooler
_SIDE_BY_SIDE = 1  # a worker serves a schema that is newer by so much: migrations only add


@dataclass(frozen=True, slots=True)
class ServerState:
    """What a server is and holds.

    Attributes:
        server: Its version, such as "18.4".
        schema: Version of the tables; 0 where there are none.
        vectors: "pgvector", or "bytea" where the extension was missing when the tables were made; "" without tables.
        projects: How many there are.
        characters: Of all documents.
        bytes: Of all tables and indexes, on disk.
    """

    server: str
    schema: int
    vectors: str
    projects: int = 0
    characters: int = 0
    bytes: int = 0


def schema_name(name: str) -> str:
    """The name of a schema of tables, such as one for each tenant: small letters, digits and `_`.

    Raises:
        ContractError: It is no name of a schema.
    """
    if not _SCHEMA.fullmatch(name):
        raise ContractError(f"schema: {shown(name)} is no name of small letters, digits and _")
    return name


def migrate(pool: Pool, schema: str, *, pgvector: bool = True) -> ServerState:
    """Bring the tables to the version of this armarius; they are made when there are none. Needs the right to do so.

    Args:
        pool: Of a connection without a pooler between.
        schema: Of the tables.
        pgvector: Whether vectors are kept as pgvector does, where the server has it.

    Eight processes that do it at once do it one after the other: `IF NOT EXISTS` alone fails for seven of them.

    Raises:
        SchemaTooNew: A newer armarius made them.
        StoreError: The server is older than PostgreSQL 16.
        StoreUnavailable, StoreError: See `armarius.store.protocol`.
    """
    if wrong := too_old(server_state(pool, schema).server):
        raise StoreError(f"{pool.place}: {wrong}")
    for number in range(1, SCHEMA_VERSION + 1):
        with pool.lent() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
            connection.execute(f"CREATE TABLE IF NOT EXISTS {schema}.meta (key text PRIMARY KEY, value text NOT NULL)")
            version = int(_meta(connection, schema).get("schema", 0))
            if version > SCHEMA_VERSION + _SIDE_BY_SIDE:
                raise SchemaTooNew(_too_new(pool, version))
            if version < number:
                _make(connection, schema, number, pgvector=pgvector)
    return server_state(pool, schema)


def too_old(server: str) -> str:
    """What is wrong with a version of PostgreSQL; "" when nothing is."""
    return (
        f"PostgreSQL {server}: {OLDEST} or newer is needed"
        if int(re.sub(r"\D.*", "", server) or OLDEST) < OLDEST
        else ""
    )


def check_schema(pool: Pool, schema: str) -> ServerState:
    """What there is, refused when this armarius cannot serve it.

    Raises:
        StoreError: There are no tables, or older ones: says how to make them.
        SchemaTooNew: They are of a newer armarius, by more than one version.
    """
    with pool.lent() as connection:
        meta = _meta(connection, schema)
    version = int(meta.get("schema", 0))
    if version > SCHEMA_VERSION + _SIDE_BY_SIDE:
        raise SchemaTooNew(_too_new(pool, version))
    if version < SCHEMA_VERSION:
        what = f"tables of version {version}, this armarius needs {SCHEMA_VERSION}" if version else "no tables"
        raise StoreError(f"{pool.place}: {what}; run: armarius server migrate")
    return ServerState("", version, meta.get("vectors", "bytea"))


def server_state(pool: Pool, schema: str) -> ServerState:
    """Versions and sizes. Cost: counts every project."""
    with pool.lent() as connection:
        server = str(_first(connection, "SELECT current_setting('server_version')")[0])
        meta = _meta(connection, schema)
        if "schema" not in meta:
            return ServerState(server, 0, "")
        projects, characters = _first(
            connection, f"SELECT count(*), coalesce(sum(characters), 0) FROM {schema}.projects"
        )
        size = _first(
            connection,
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c JOIN pg_namespace n "
            "ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind = 'r'",
            (schema,),
        )[0]
    return ServerState(server, int(meta["schema"]), meta["vectors"], int(projects), int(characters), int(size))


def _make(connection: Connection, schema: str, number: int, *, pgvector: bool) -> None:
    """One step, inside the transaction of the caller."""
    vector = "bytea"
    if pgvector and _first(connection, "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'")[0]:
        try:
            with connection.transaction():
                # in `public`: a database has an extension once, not per schema
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
            vector = "public.vector"
        except StoreFull:  # needs an administrator; else vectors are stored as bytes
            pass
    script = files("armarius.store.postgres").joinpath(f"migrations/{number:04}.sql").read_bytes().decode()
    connection.execute(script.format(schema=schema, vector=vector))
    kept = {"schema": str(number)} | ({"vectors": "pgvector" if vector != "bytea" else "bytea"} if number == 1 else {})
    for key, value in kept.items():
        connection.execute(
            f"INSERT INTO {schema}.meta (key, value) VALUES (%s, %s) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )


def _meta(connection: Connection, schema: str) -> dict[str, str]:
    """What the tables say of themselves; empty where there are none."""
    try:
        return dict(connection.execute(f"SELECT key, value FROM {schema}.meta").fetchall())
    except StoreError as error:
        if isinstance(error.__cause__, NO_TABLES):
            return {}
        raise


def _first(connection: Connection, query: str, values: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    row = connection.execute(query, values).fetchone()
    assert row is not None, "an aggregate has a row"
    return row


def _too_new(pool: Pool, version: int) -> str:
    return f"{pool.place}: tables of version {version}, this armarius knows up to {SCHEMA_VERSION}"


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

_ROW = "tenant, generation, forgotten, files, authored, configured, vectors, token, characters, bytes, touched"


def list_projects(
    connection: Connection, schema: str, tenant: str | None, after: str, limit: int
) -> list[tuple[str, str, int, int, int, datetime]]:
    """Name, tenant, generation, characters, bytes and last write of projects, by name; of any tenant when None."""
    query = (
        f"SELECT name, tenant, generation, characters, bytes, touched FROM {schema}.projects "
        "WHERE (%s OR tenant = %s) AND name > %s ORDER BY name, tenant LIMIT %s"
    )
    return connection.execute(query, (tenant is None, tenant or "", after, limit)).fetchall()


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
