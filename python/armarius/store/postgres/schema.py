"""The schema: numbered migrations, one transaction each, under a lock; projects listed, deleted and copied whole.

A document as rows, and the pieces of values that are too large for one.
"""

import hashlib
import json
import re
import secrets
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any
from uuid import UUID

from armarius.documents.document import Document
from armarius.documents.segments import Paragraph
from armarius.errors import ContractError, SchemaTooNew, StoreCorrupt, StoreError, StoreFull
from armarius.store.postgres.pool import NO_TABLES, Connection, Pool
from armarius.store.postgres.session import Transaction
from armarius.store.sqlite.schema import ROLES, unpack_front_matter
from armarius.validation import shown, text

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
                raise SchemaTooNew(_version_error(pool, version))
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
        raise SchemaTooNew(_version_error(pool, version))
    if version < SCHEMA_VERSION:
        what = f"tables of version {version}, this armarius needs {SCHEMA_VERSION}" if version else "no tables"
        raise StoreError(f"{pool.place}: {what}; run: armarius server migrate")
    return ServerState("", version, meta.get("vectors", "bytea"))


def server_state(pool: Pool, schema: str) -> ServerState:
    """Versions and sizes. Cost: counts every project."""
    with pool.lent() as connection:
        server = str(_first_row(connection, "SELECT current_setting('server_version')")[0])
        meta = _meta(connection, schema)
        if "schema" not in meta:
            return ServerState(server, 0, "")
        projects, characters = _first_row(
            connection, f"SELECT count(*), coalesce(sum(characters), 0) FROM {schema}.projects"
        )
        size = _first_row(
            connection,
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c JOIN pg_namespace n "
            "ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind = 'r'",
            (schema,),
        )[0]
    return ServerState(server, int(meta["schema"]), meta["vectors"], int(projects), int(characters), int(size))


def _make(connection: Connection, schema: str, number: int, *, pgvector: bool) -> None:
    """One step, inside the transaction of the caller."""
    vector = "bytea"
    if pgvector and _first_row(connection, "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'")[0]:
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


def _first_row(connection: Connection, query: str, values: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    row = connection.execute(query, values).fetchone()
    assert row is not None, "an aggregate has a row"
    return row


def _version_error(pool: Pool, version: int) -> str:
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


PIECE = 256 * 1024
"""No value of a row is longer, in bytes."""

_PATH, _NAME = 1024, 512


def project_key(tenant: str, project_id: str) -> UUID:
    """BLAKE2b-128 of tenant, NUL and project id: no look-up, and the same on every server; the tenant "" is nobody.

    Raises:
        ContractError: Either cannot be a name.
    """
    check_name(project_id, "project id")
    if text("tenant", tenant):
        check_name(tenant, "tenant")
    return UUID(bytes=hashlib.blake2b(f"{tenant}\0{project_id}".encode(), digest_size=16).digest())


def check_name(name: str, what: str) -> str:
    """A name of at most 512 bytes of UTF-8, without NUL; `what` it is stands in the message.

    Raises:
        ContractError: It is invalid.
    """
    return _check_name(name, what, _NAME)


def check_path(path: str) -> str:
    """A relative posix path of at most 1,024 bytes without `.` and `..`, as a project may hold it.

    Raises:
        ContractError: It is invalid.
    """
    _check_name(path, "path", _PATH)
    if path.startswith("/") or "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise ContractError(f"path: {path!r:.200} is no relative path with / between its parts")
    return path


def _check_name(name: object, what: str, limit: int) -> str:
    if not isinstance(name, str) or not name:
        raise ContractError(f"{what}: expected a non-empty string, got {shown(name)}")
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        raise ContractError(f"{what}: {name!r:.200} holds half a character (a lone surrogate)") from None
    if "\0" in name:
        raise ContractError(f"{what}: {name!r:.200} holds a NUL")
    if size > limit:
        raise ContractError(f"{what}: {size:,} bytes of UTF-8, at most {limit:,}: {name:.40}…")
    return name


Area = str
DOCUMENT = "path, kind, chapter, content_hash, head, version, hash"
_LEVEL = 1  # zlib: 46 % of Chinese text at 60 MB/s; level 6 saves 2 % more at a third of the speed


def head_of(document: Document) -> bytes:
    """Title, encoding and front matter.

    Raises:
        ContractError: They are more than 256 KiB, compressed.
    """
    head = [document.title, document.encoding, document.front_matter]
    data = zlib.compress(json.dumps(head, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass"), _LEVEL)
    if len(data) > PIECE:
        raise ContractError(f"{document.path}: title and front matter take {len(data):,} bytes, at most {PIECE:,}")
    return data


def read_head(path: str, data: bytes) -> tuple[str, str, dict[str, str | tuple[str, ...]]]:
    """Title, encoding and front matter, of `head_of`."""
    try:
        title, encoding, matter = json.loads(unpack(path, data))
        return title, encoding, unpack_front_matter(json.dumps(matter, ensure_ascii=False))
    except ValueError as error:
        raise StoreCorrupt(f"{path}: its head is damaged: {error}") from error


def pack_text(document: Document) -> bytes:
    """Text and paragraphs: a CRC-32 of the rest, then one compressed value."""
    headings: dict[tuple[str, ...], int] = {}
    rows = []
    for p in document.paragraphs:
        heading = headings.setdefault(p.heading_path, len(headings))
        rows.append((p.start, p.end, heading, ROLES.index(p.role), p.chapter))
    layout = json.dumps([list(headings), rows], ensure_ascii=False, separators=(",", ":"))
    layout_bytes, text = (part.encode("utf-8", "surrogatepass") for part in (layout, document.text))
    packed = zlib.compress(len(layout_bytes).to_bytes(4, "little") + layout_bytes + text, _LEVEL)
    return zlib.crc32(packed).to_bytes(4, "little") + packed


@dataclass(frozen=True, slots=True)
class _PackedText:
    """Text and paragraphs as the rows hold them; see `documents.document.Unread`."""

    path: str
    data: bytes
    paragraphs: int

    def read(self) -> tuple[str, tuple[Paragraph, ...]]:
        data = unpack(self.path, self.data[4:])
        end = 4 + int.from_bytes(data[:4], "little")
        try:
            headings, rows = json.loads(data[4:end].decode("utf-8", "surrogatepass"))
            paths = [tuple(heading) for heading in headings]
            paragraphs = tuple(
                Paragraph(index, start, stop, paths[heading], ROLES[role], chapter)
                for index, (start, stop, heading, role, chapter) in enumerate(rows)
            )
            return data[end:].decode("utf-8", "surrogatepass"), paragraphs
        except (ValueError, IndexError, TypeError) as error:
            raise StoreCorrupt(f"{self.path}: its paragraphs are damaged: {error!r}") from error


def whole_document(row: Sequence[Any], paragraphs: int, data: bytes) -> Document:
    """A document from a row of `DOCUMENT` and its text; that is unpacked when somebody looks at it.

    Raises:
        StoreCorrupt: The text does not match its checksum.
    """
    path, kind, chapter, content_hash, head, *_ = row
    if zlib.crc32(data[4:]) != int.from_bytes(data[:4], "little"):
        raise StoreCorrupt(f"{path}: its text is damaged: the checksum does not fit")
    title, encoding, matter = read_head(path, head)
    return Document.unread(
        _PackedText(path, data, paragraphs), path=path, kind=kind, title=title, chapter=chapter, front_matter=matter,
        encoding=encoding, content_hash=content_hash,
    )  # fmt: skip


def read_documents(tx: Transaction, where: str, values: Sequence[Any]) -> list[Document]:
    """Documents in path order; `where` is a condition on `d`, a constant of this package."""
    rows = tx.rows(
        f"SELECT {', '.join('d.' + name for name in DOCUMENT.split(', '))}, d.paragraphs, "
        "(SELECT array_agg(p.data ORDER BY p.piece) FROM {s}.pieces p WHERE p.project = d.project "
        "AND p.area = 'text' AND p.path = d.path AND p.kind = '') "
        f"FROM {{s}}.documents d WHERE d.project = %s AND {where} ORDER BY d.path",
        (tx.project, *values),
    )
    return [whole_document(row, row[-2], b"".join(row[-1] or ())) for row in rows]


def read_pieces(tx: Transaction, area: Area, path: str, kind: str = "") -> bytes | None:
    """A large value, None when there is none."""
    rows = tx.rows(
        "SELECT data FROM {s}.pieces WHERE project = %s AND area = %s AND path = %s AND kind = %s ORDER BY piece",
        (tx.project, area, path, kind),
    )
    return b"".join(row[0] for row in rows) if rows else None


def replace_pieces(tx: Transaction, values: Iterable[tuple[Area, str, str, bytes]]) -> None:
    """Keep large values, each with area, path and kind, in the place of what is there. Two round trips."""
    rows = list(values)
    tx.execute_many(
        "DELETE FROM {s}.pieces WHERE project = %s AND area = %s AND path = %s AND kind = %s",
        [(tx.project, area, path, kind) for area, path, kind, _ in rows],
    )
    # `data` in numbered pieces of at most 256 KiB; one empty piece of nothing
    tx.execute_many(
        "INSERT INTO {s}.pieces (project, area, path, kind, piece, data) VALUES (%s, %s, %s, %s, %s, %s)",
        [
            (tx.project, area, path, kind, number, piece)
            for area, path, kind, data in rows
            for number, piece in ((at // PIECE, data[at : at + PIECE]) for at in range(0, max(1, len(data)), PIECE))
        ],
    )


def unpack(path: str, data: bytes) -> bytes:
    """What was compressed.

    Raises:
        StoreCorrupt: It is damaged.
    """
    try:
        return zlib.decompress(data)
    except zlib.error as error:
        raise StoreCorrupt(f"{path or 'the project'}: damaged: {error}") from error


def document_hash(document: Document, version: int) -> bytes:
    """BLAKE2b-128 over everything that is stored of a document except its stamp."""
    digest = hashlib.blake2b(digest_size=16)
    head = (
        version, document.path, document.kind, document.title, document.chapter, document.encoding,
        document.content_hash, json.dumps(document.front_matter, ensure_ascii=False, sort_keys=True),
        [(p.start, p.end, p.role, p.chapter, p.heading_path) for p in document.paragraphs],
    )  # fmt: skip
    digest.update(repr(head).encode("utf-8", "surrogatepass"))
    digest.update(document.text.encode("utf-8", "surrogatepass"))
    return digest.digest()


def learnt_hash(path: str, kind: str, about: str, data: bytes) -> bytes:
    """BLAKE2b-128 of a learnt row."""
    digest = hashlib.blake2b(repr((path, kind, about)).encode("utf-8", "surrogatepass"), digest_size=16)
    digest.update(data)
    return digest.digest()


def read_entities(tx: Transaction) -> frozenset[str]:
    """The ids of all entities."""
    data = read_pieces(tx, "entities", "", "")
    try:
        return frozenset() if data is None else frozenset(json.loads(zlib.decompress(data[4:])))
    except (ValueError, TypeError, zlib.error) as error:
        raise StoreCorrupt(f"entities: damaged: {error}") from error
