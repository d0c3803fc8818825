"""The schema: numbered migrations, one transaction each, so that a crash leaves a whole version."""

from pathlib import Path

import apsw

from armarius.errors import SchemaTooNew, ScopeViolation, StoreCorrupt
from armarius.io import open_file
from armarius.store.sqlite.connection import first_row, translated

__all__ = ["APPLICATION_ID", "SCHEMA_VERSION", "check_header", "is_outdated", "keep_meta", "meta", "migrate"]

APPLICATION_ID = 0x41524D31  # "ARM1" in the header of the file: an empty file or another program's is not ours


def _migrations() -> list[tuple[int, str]]:
    folder = Path(__file__).with_name("migrations")
    return sorted((int(item.name[:4]), item.read_text("utf-8")) for item in folder.glob("*.sql"))


SCHEMA_VERSION = max(number for number, _ in _migrations())
# Indexes of earlier schemas are derived like any other: they are made again instead of being brought up.
_OLDEST = min(number for number, _ in _migrations())
_VERSION = slice(60, 64)  # where SQLite keeps `user_version` in the header of a file, big-endian


def migrate(connection: apsw.Connection, path: Path, project_id: str) -> None:
    """Bring an index to the current schema and bind it to the project.

    Raises:
        SchemaTooNew: A newer armarius wrote it.
        ScopeViolation: It is the index of another project.
        StoreCorrupt: It is a database, and not an index.
    """
    with translated(path):
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = _pragma(connection, "user_version")
            check_header(connection, path)
            for number, script in _migrations():
                if number > version:
                    connection.execute(script)
                    connection.execute(f"PRAGMA user_version = {number}")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("INSERT OR IGNORE INTO meta VALUES ('project_id', ?)", (project_id,))
            owner = meta(connection, "project_id")
            if owner != project_id:
                raise ScopeViolation(f"{path}: index of project {owner!r}, not {project_id!r}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk rolls back by itself, and must be what is told
                connection.execute("ROLLBACK")
            raise


def check_header(connection: apsw.Connection, path: Path) -> None:
    """Refuse what is not an index of this or an earlier version; an empty database passes."""
    version, application = _pragma(connection, "user_version"), _pragma(connection, "application_id")
    if version > SCHEMA_VERSION:
        raise SchemaTooNew(f"{path}: schema {version}, this armarius knows up to {SCHEMA_VERSION}")
    tables = first_row(connection, "SELECT count(*) FROM sqlite_master")[0]
    if (version or tables) and application != APPLICATION_ID:
        raise StoreCorrupt(f"{path}: not an armarius index (application_id {application:#x})")


def is_outdated(path: Path, *, below: Path | None = None) -> bool:
    """Whether an earlier armarius made the file, whose schema is not brought up; looks at its header alone."""
    try:
        with open_file(path, below=below) as file:
            header = file.read(_VERSION.stop)
    except OSError as error:
        raise StoreCorrupt(f"{path}: {error.strerror}") from error
    return 0 < int.from_bytes(header[_VERSION]) < _OLDEST


def meta(connection: apsw.Connection, key: str) -> str | None:
    """What the engine keeps about the index itself, or None."""
    row = first_row(connection, "SELECT value FROM meta WHERE key = ?", (key,))
    return None if row is None else str(row[0])


def keep_meta(connection: apsw.Connection, key: str, value: str) -> None:
    """Keep it."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def _pragma(connection: apsw.Connection, name: str) -> int:
    return int(first_row(connection, f"PRAGMA {name}")[0])
