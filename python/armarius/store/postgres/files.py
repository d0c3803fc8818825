"""Files that a host wrote, byte for byte: texts, codex, records, configuration. The only copy."""

import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from armarius.errors import StoreCorrupt
from armarius.store.postgres.packing import replace_pieces, unpack
from armarius.store.postgres.session import Transaction
from armarius.store.postgres.writing import digest_of


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file without its bytes.

    Attributes:
        version: The generation that wrote it.
        hash: BLAKE2b-128 of the bytes, hexadecimal: `Document.content_hash`.
        size: In bytes.
    """

    version: int
    hash: str
    size: int


def list_files(tx: Transaction, project: UUID) -> dict[str, FileEntry]:
    """Every file of a project by path, in path order."""
    rows = tx.rows("SELECT path, version, hash, size FROM {s}.files WHERE project = %s ORDER BY path", (project,))
    return {path: FileEntry(version, hash_.hex(), size) for path, version, hash_, size in rows}


def count_files(tx: Transaction, project: UUID) -> tuple[int, int]:
    """How many files a project has, and their bytes."""
    query = "SELECT count(*), coalesce(sum(size), 0) FROM {s}.files WHERE project = %s"
    files, size = tx.rows(query, (project,))[0]
    return int(files), int(size)


def read_files(tx: Transaction, project: UUID, paths: Collection[str]) -> dict[str, bytes]:
    """The bytes of these files; those that are not there are left out.

    Raises:
        StoreCorrupt: They are not what was written.
    """
    if not paths:
        return {}
    rows = tx.rows(
        "SELECT f.path, f.hash, (SELECT array_agg(p.data ORDER BY p.piece) FROM {s}.pieces p WHERE "
        "p.project = f.project AND p.area = 'file' AND p.path = f.path AND p.kind = '') FROM {s}.files f "
        "WHERE f.project = %s AND f.path = ANY(%s) ORDER BY f.path",
        (project, sorted(paths)),
    )
    found = {}
    for path, kept, pieces in rows:
        data = unpack(path, b"".join(pieces or ()))
        if digest_of(data) != kept:
            raise StoreCorrupt(f"{path}: what was written does not match its hash")
        found[path] = data
    return found


def put_files(
    tx: Transaction,
    project: UUID,
    files: Mapping[str, bytes],
    remove: Collection[str],
    part_of: Callable[[str], str],
) -> bool:
    """Keep these bytes and forget these paths; what is there already is not written again.

    Args:
        tx: A writing transaction.
        project: The key.
        files: By path.
        remove: Unknown paths are ignored.
        part_of: Which part of the project a path belongs to: a column of its row.

    Returns:
        Whether anything changed.
    """
    touched = sorted({*files, *remove})
    known = {
        path: bytes(kept)
        for path, kept in tx.rows(
            "SELECT path, hash FROM {s}.files WHERE project = %s AND path = ANY(%s)", (project, touched)
        )
    }
    new = {path: data for path, data in files.items() if known.get(path) != digest_of(data)}
    gone = sorted(path for path in known if path in remove and path not in files)
    if not new and not gone:
        return False
    version = tx.next()
    if gone:
        tx.execute("DELETE FROM {s}.files WHERE project = %s AND path = ANY(%s)", (project, gone))
        tx.execute("DELETE FROM {s}.pieces WHERE project = %s AND area = 'file' AND path = ANY(%s)", (project, gone))
    tx.many(
        "INSERT INTO {s}.files (project, path, version, hash, size) VALUES (%s, %s, %s, %s, %s) ON CONFLICT "
        "(project, path) DO UPDATE SET version = excluded.version, hash = excluded.hash, size = excluded.size",
        [(project, path, version, digest_of(data), len(data)) for path, data in new.items()],
    )
    replace_pieces(tx, project, [("file", path, "", zlib.compress(data, 1)) for path, data in new.items()])
    tx.change({"sizes", *(part_of(path) for path in (*new, *gone))})
    return True
