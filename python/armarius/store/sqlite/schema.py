"""The schema: numbered migrations, one transaction each, so that a crash leaves a whole version."""

from pathlib import Path

import apsw

from armarius.errors import SchemaTooNew, ScopeViolation, StoreCorrupt
from armarius.store.sqlite.connection import first_row, translated

__all__ = ["APPLICATION_ID", "SCHEMA_VERSION", "check_header", "migrate"]

APPLICATION_ID = 0x41524D31  # "ARM1" in the header of the file: an empty file or another program's is not ours


def _migrations() -> list[tuple[int, str]]:
    folder = Path(__file__).with_name("migrations")
    return sorted((int(item.name[:4]), item.read_text("utf-8")) for item in folder.glob("*.sql"))


SCHEMA_VERSION = max(number for number, _ in _migrations())


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
            connection.execute("INSERT OR IGNORE INTO notes VALUES ('project_id', ?)", (project_id,))
            owner = first_row(connection, "SELECT value FROM notes WHERE key = 'project_id'")[0]
            if owner != project_id:
                raise ScopeViolation(f"{path}: index of project {owner!r}, not {project_id!r}")
            connection.execute("COMMIT")
        except BaseException:
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


def _pragma(connection: apsw.Connection, name: str) -> int:
    return int(first_row(connection, f"PRAGMA {name}")[0])
