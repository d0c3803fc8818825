"""One `apply`: changes folded to what is left of each, written in few round trips; and what a generation added."""

import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from armarius.errors import StoreCorrupt
from armarius.store.postgres.schema import (
    check_name,
    check_path,
    document_hash,
    head_of,
    learnt_hash,
    pack_text,
    read_documents,
    replace_pieces,
    unpack,
)
from armarius.store.postgres.session import Transaction
from armarius.store.protocol import Changed, DerivedRow, Folded, Put

_REMEMBERED = 10_000  # removed paths; who looks after a longer time reads everything again


def write(tx: Transaction, folded: Folded) -> None:
    """Write what the changes come to; rows take the generation of the transaction.

    Raises:
        ContractError: A path, key or id is invalid.
    """
    for path in (*folded.put, *folded.removed):
        check_path(path)
    for name, what in (*((key, "note") for key in folded.notes), *((kind, "kind") for _, kind in folded.learnt)):
        check_name(name, what)
    version = tx.next()
    _write_documents(tx, folded, version)
    _carry_vectors(tx, folded)
    _write_learnt(tx, folded)
    tx.execute_many(
        "UPDATE {s}.documents SET stamp = %s WHERE project = %s AND path = %s AND %s IN ('', content_hash)",
        [(row.stamp, tx.project, row.path, row.content_hash) for row in folded.stamps.values()],
    )
    tx.execute_many(
        "INSERT INTO {s}.notes (project, key, version, value) VALUES (%s, %s, %s, %s) ON CONFLICT (project, key) "
        "DO UPDATE SET version = excluded.version, value = excluded.value",
        [(tx.project, key, version, value.encode("utf-8", "surrogatepass")) for key, value in folded.notes.items()],
    )
    if folded.entities is not None:
        replace_pieces(tx, [("entities", "", "", _pack(sorted(folded.entities)))])
    if folded.touched:
        tx.change(["documents"])


def _write_documents(tx: Transaction, folded: Folded, version: int) -> None:
    touched = folded.touched
    if not touched:
        return
    query = "SELECT path FROM {s}.documents WHERE project = %s AND path = ANY(%s)"
    there = {path for (path,) in tx.rows(query, (tx.project, touched))}
    for query in (
        "DELETE FROM {s}.pieces WHERE project = %s AND area IN ('text', 'learnt') AND path = ANY(%s)",
        "DELETE FROM {s}.learnt WHERE project = %s AND path = ANY(%s)",
        "DELETE FROM {s}.documents WHERE project = %s AND path = ANY(%s)",
        "DELETE FROM {s}.gone WHERE project = %s AND path = ANY(%s)",
    ):
        tx.execute(query, (tx.project, touched))
    tx.execute_many(
        "INSERT INTO {s}.documents (project, path, version, kind, chapter, length, paragraphs, content_hash, stamp, "
        "head, hash) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [_row(tx.project, put, version) for put in folded.put.values()],
    )
    replace_pieces(tx, [("text", path, "", pack_text(put.document)) for path, put in folded.put.items()])
    gone = sorted(folded.removed & there)
    tx.execute_many(
        "INSERT INTO {s}.gone (project, path, version) VALUES (%s, %s, %s)",
        [(tx.project, path, version) for path in gone],
    )
    if gone:
        _sweep(tx)


def _carry_vectors(tx: Transaction, folded: Folded) -> None:
    """No vector outlives its text. What handles vectors is loaded only where there are some."""
    if not folded.touched and folded.entities is None:
        return
    numbers = [row[0] for row in tx.rows("SELECT number FROM {s}.vector_sets WHERE project = %s", (tx.project,))]
    if not numbers:
        return
    from armarius.store.postgres.vectors import carry_documents, forget_entities

    documents = {path: put.document for path, put in folded.put.items()}
    for number in numbers:
        carry_documents(tx, number, documents, folded.touched)
    if folded.entities is not None:
        forget_entities(tx, folded.entities)


def _row(project: UUID, put: Put, version: int) -> tuple[object, ...]:
    doc = put.document
    return (
        project, doc.path, version, doc.kind, doc.chapter, len(doc.text), len(doc.paragraphs), doc.content_hash,
        put.stamp, head_of(doc), document_hash(doc, version),
    )  # fmt: skip


def _write_learnt(tx: Transaction, folded: Folded) -> None:
    paths = {path for path, _ in folded.learnt} - folded.put.keys()
    if paths:
        query = "SELECT path FROM {s}.documents WHERE project = %s AND path = ANY(%s)"
        paths = {path for (path,) in tx.rows(query, (tx.project, sorted(paths)))}
    rows = [row for (path, _), row in folded.learnt.items() if path in folded.put or path in paths]
    tx.execute_many(
        "INSERT INTO {s}.learnt (project, path, kind, about, hash) VALUES (%s, %s, %s, %s, %s) "
        "ON CONFLICT (project, path, kind) DO UPDATE SET about = excluded.about, hash = excluded.hash",
        [
            (tx.project, row.path, row.kind, row.about, learnt_hash(row.path, row.kind, row.about, row.data))
            for row in rows
        ],
    )
    replace_pieces(tx, [("learnt", row.path, row.kind, row.data) for row in rows])


def _sweep(tx: Transaction) -> None:
    """Drop the older half of what is remembered when it is too much."""
    if tx.rows("SELECT count(*) FROM {s}.gone WHERE project = %s", (tx.project,))[0][0] <= _REMEMBERED:
        return
    query = "SELECT version FROM {s}.gone WHERE project = %s ORDER BY version DESC LIMIT 1 OFFSET %s"
    until = tx.rows(query, (tx.project, _REMEMBERED // 2))[0][0]
    tx.execute("DELETE FROM {s}.gone WHERE project = %s AND version <= %s", (tx.project, until))
    tx.execute("UPDATE {s}.projects SET forgotten = %s WHERE project = %s", (until, tx.project))


def _pack(rows: Iterable[object]) -> bytes:
    """JSON, compressed, a CRC-32 of it ahead."""
    data = zlib.compress(json.dumps(list(rows), ensure_ascii=False).encode("utf-8", "surrogatepass"), 1)
    return zlib.crc32(data).to_bytes(4, "little") + data


def digest_of(value: bytes) -> bytes:
    """BLAKE2b-128 of what a host wrote."""
    return hashlib.blake2b(value, digest_size=16).digest()


def digest_of_write(files: Mapping[str, bytes], remove: Collection[str], expect: int) -> bytes:
    """The same for a write of the same files and paths from the same generation."""
    return digest_of(
        repr((expect, sorted(remove), [(path, digest_of(files[path])) for path in sorted(files)])).encode()
    )


def changed(tx: Transaction, since: int) -> Changed:
    """See `Store.changed`."""
    now = tx.row.generation
    whole = not tx.row.forgotten <= since <= now
    after = 0 if whole else since
    if after == now:
        return Changed(now, (), (), {}, whole=False)
    documents = read_documents(tx, "d.version > %s", (after,))
    gone: list[tuple[str]] = []
    if not whole:
        query = "SELECT path FROM {s}.gone WHERE project = %s AND version > %s ORDER BY path"
        gone = [(str(path),) for (path,) in tx.rows(query, (tx.project, after))]
    query = "SELECT key, value FROM {s}.notes WHERE project = %s AND version > %s ORDER BY key"
    notes = {key: value.decode("utf-8", "surrogatepass") for key, value in tx.rows(query, (tx.project, after))}
    return Changed(now, tuple(documents), tuple(path for (path,) in gone), notes, whole)


def read_learnt(tx: Transaction, kind: str, paths: Sequence[str] | None) -> dict[str, DerivedRow]:
    """See `Store.learnt`."""
    if paths is not None and not paths:
        return {}
    where = "" if paths is None else "AND l.path = ANY(%s) "
    rows = tx.rows(
        "SELECT l.path, l.about, (SELECT array_agg(p.data ORDER BY p.piece) FROM {s}.pieces p WHERE "
        "p.project = l.project AND p.area = 'learnt' AND p.path = l.path AND p.kind = l.kind) "
        f"FROM {{s}}.learnt l WHERE l.project = %s AND l.kind = %s {where}ORDER BY l.path",
        (tx.project, kind, *(() if paths is None else (list(set(paths)),))),
    )
    return {path: DerivedRow(path, kind, about, b"".join(data or ())) for path, about, data in rows}


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


def list_files(tx: Transaction) -> dict[str, FileEntry]:
    """Every file of a project by path, in path order."""
    rows = tx.rows("SELECT path, version, hash, size FROM {s}.files WHERE project = %s ORDER BY path", (tx.project,))
    return {path: FileEntry(version, hash_.hex(), size) for path, version, hash_, size in rows}


def count_files(tx: Transaction) -> tuple[int, int]:
    """How many files a project has, and their bytes."""
    query = "SELECT count(*), coalesce(sum(size), 0) FROM {s}.files WHERE project = %s"
    files, size = tx.rows(query, (tx.project,))[0]
    return int(files), int(size)


def read_files(tx: Transaction, paths: Collection[str]) -> dict[str, bytes]:
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
        (tx.project, sorted(paths)),
    )
    contents = {}
    for path, kept, pieces in rows:
        data = unpack(path, b"".join(pieces or ()))
        if digest_of(data) != kept:
            raise StoreCorrupt(f"{path}: what was written does not match its hash")
        contents[path] = data
    return contents


def put_files(
    tx: Transaction,
    files: Mapping[str, bytes],
    remove: Collection[str],
    part_of: Callable[[str], str],
) -> bool:
    """Keep these bytes and forget these paths; what is there already is not written again.

    Args:
        tx: A writing transaction.
        files: By path.
        remove: Unknown paths are ignored.
        part_of: Which part of the project a path belongs to: a column of its row.

    Returns:
        Whether anything changed.
    """
    touched = sorted({*files, *remove})
    query = "SELECT path, hash FROM {s}.files WHERE project = %s AND path = ANY(%s)"
    hashes = {path: bytes(kept) for path, kept in tx.rows(query, (tx.project, touched))}
    new = {path: data for path, data in files.items() if hashes.get(path) != digest_of(data)}
    gone = sorted(path for path in hashes if path in remove and path not in files)
    if not new and not gone:
        return False
    version = tx.next()
    if gone:
        tx.execute("DELETE FROM {s}.files WHERE project = %s AND path = ANY(%s)", (tx.project, gone))
        tx.execute("DELETE FROM {s}.pieces WHERE project = %s AND area = 'file' AND path = ANY(%s)", (tx.project, gone))
    tx.execute_many(
        "INSERT INTO {s}.files (project, path, version, hash, size) VALUES (%s, %s, %s, %s, %s) ON CONFLICT "
        "(project, path) DO UPDATE SET version = excluded.version, hash = excluded.hash, size = excluded.size",
        [(tx.project, path, version, digest_of(data), len(data)) for path, data in new.items()],
    )
    replace_pieces(tx, [("file", path, "", zlib.compress(data, 1)) for path, data in new.items()])
    tx.change({"sizes", *(part_of(path) for path in (*new, *gone))})
    return True
