"""Verification of a stored project: every row against its hash."""

import json
import zlib
from uuid import UUID

from armarius.errors import StoreCorrupt
from armarius.store.postgres.packing import document_hash, learnt_hash, read_documents, read_pieces, unpack
from armarius.store.postgres.transaction import Transaction
from armarius.store.postgres.writing import digest_of

__all__ = ["problems"]


def problems(tx: Transaction, project: UUID, *, pgvector: bool) -> list[str]:
    """Everything that is wrong, as sentences. Reads all of the project."""
    found = [*_documents(tx, project), *_learnt(tx, project), *_files(tx, project), *_values(tx, project)]
    if tx.rows("SELECT 1 FROM {s}.vector_sets WHERE project = %s", (project,)):
        from armarius.store.postgres.vectors_upkeep import vector_problems

        found += vector_problems(tx, project, pgvector=pgvector)
    return found


def _documents(tx: Transaction, project: UUID) -> list[str]:
    found = []
    rows = tx.rows(
        "SELECT path, version, hash, length, paragraphs FROM {s}.documents WHERE project = %s ORDER BY path", (project,)
    )
    for path, version, kept, length, paragraphs in rows:
        try:
            document = read_documents(tx, project, "d.path = %s", (path,))[0]
            if document_hash(document, version) != kept:
                found.append(f"{path}: stored content does not match its hash")
            if (len(document.text), len(document.paragraphs)) != (length, paragraphs):
                found.append(f"{path}: length or number of paragraphs is wrong")
        except StoreCorrupt as error:
            found.append(str(error))
    query = (
        "SELECT DISTINCT p.path FROM {s}.pieces p WHERE p.project = %s AND p.area = 'text' AND NOT EXISTS "
        "(SELECT 1 FROM {s}.documents d WHERE d.project = p.project AND d.path = p.path) ORDER BY 1"
    )
    return found + [f"{path}: text of no document" for (path,) in tx.rows(query, (project,))]


def _learnt(tx: Transaction, project: UUID) -> list[str]:
    rows = tx.rows(
        "SELECT l.path, l.kind, l.about, l.hash, d.path IS NOT NULL FROM {s}.learnt l LEFT JOIN {s}.documents d "
        "ON d.project = l.project AND d.path = l.path WHERE l.project = %s ORDER BY l.path, l.kind",
        (project,),
    )
    found = []
    for path, kind, about, kept, there in rows:
        data = read_pieces(tx, project, "learnt", path, kind)
        if not there:
            found.append(f"{path}: {kind} learnt from a document that is not there")
        elif data is None or learnt_hash(path, kind, about, data) != kept:
            found.append(f"{path}: {kind} learnt from it do not match their hash")
    return found


def _files(tx: Transaction, project: UUID) -> list[str]:
    found = []
    rows = tx.rows("SELECT path, hash, size FROM {s}.files WHERE project = %s ORDER BY path", (project,))
    for path, kept, size in rows:
        packed = read_pieces(tx, project, "file", path)
        try:
            data = unpack(path, packed or b"")
        except StoreCorrupt as error:
            found.append(f"{error}; this is what was written, and cannot be made again")
            continue
        if digest_of(data) != kept or len(data) != size:
            found.append(f"{path}: what was written does not match its hash, and cannot be made again")
    return found


def _values(tx: Transaction, project: UUID) -> list[str]:
    found = []
    for area, kind in (("graph", ""), ("records", "memory"), ("records", "constraint")):
        data = read_pieces(tx, project, area, "", kind)
        try:
            if data is not None:
                if zlib.crc32(data[4:]) != int.from_bytes(data[:4], "little"):
                    raise StoreCorrupt("the checksum does not fit")
                json.loads(unpack("", data[4:]))
        except (StoreCorrupt, ValueError) as error:
            found.append(f"{area}{' of ' + kind if kind else ''}: damaged: {error}")
    return found
