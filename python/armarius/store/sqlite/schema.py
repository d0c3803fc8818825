"""The schema of an index file. An index of an earlier schema is built again."""

from pathlib import Path
from typing import Final

import apsw

from armarius.errors import SchemaTooNew, StoreBusy, StoreCorrupt
from armarius.store.sqlite.fulltext import FULL_TEXT

__all__ = ["APPLICATION_ID", "SCHEMA_VERSION", "check_header", "create", "keep_meta", "meta"]

APPLICATION_ID: Final = 0x41524D31  # "ARM1" in the header of the file: an empty file or another program's is not ours
SCHEMA_VERSION: Final = 6


def create(connection: apsw.Connection, project_id: str) -> None:
    """Make the tables of an index in an empty file, bound to a project, at generation 0."""
    connection.execute("PRAGMA journal_mode = MEMORY")  # a crash leaves a draft that nobody opens
    connection.execute("BEGIN")
    connection.execute(Path(__file__).with_name("schema.sql").read_text("utf-8"))
    connection.execute(FULL_TEXT)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    keep_meta(connection, "project_id", project_id)
    keep_meta(connection, "generation", "0")
    connection.execute("COMMIT")


def check_header(connection: apsw.Connection, path: Path, project_id: str) -> None:
    """Refuse what is not the index of this project and this schema.

    Raises:
        StoreCorrupt: It is no index, or that of another project: its folder is this project's alone.
        SchemaTooNew: A newer armarius wrote it.
        StoreBusy: An earlier armarius has it open.
    """
    application = connection.pragma("application_id")
    if application != APPLICATION_ID:
        raise StoreCorrupt(f"{path}: not an armarius index (application_id {application:#x})")
    version = connection.pragma("user_version")
    if version > SCHEMA_VERSION:
        raise SchemaTooNew(f"{path}: schema {version}, this armarius knows up to {SCHEMA_VERSION}")
    if version < SCHEMA_VERSION:
        raise StoreBusy(f"{path}: an earlier armarius has it open, and this one must build it again")
    if (owner := meta(connection, "project_id")) != project_id:
        raise StoreCorrupt(f"{path}: index of project {owner!r}, not {project_id!r}")


def meta(connection: apsw.Connection, key: str) -> str | None:
    """What the engine keeps about the index itself, or None."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def keep_meta(connection: apsw.Connection, key: str, value: str) -> None:
    """Keep it."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
