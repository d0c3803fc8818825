"""Vectors in the index: sets, owners, slots, and what still has to be embedded.

A set belongs to one embedder; one set answers and at most one is being filled. An owner is a paragraph (its id) or an
entity (minus its ref). Its vector lies in a slot of the set's vec0 table. Slots are reused in place, because deleting
and inserting grows a vec0 file without end; a free slot has `live` 0. A row without a slot is pending (to be embedded),
empty (its text has no vector) or gone (its owner was removed: kept, so that an index in memory can follow). Every
function runs inside the caller's transaction.
"""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter

import apsw
import numpy as np
from numpy.typing import NDArray

from armarius.documents.document import Document
from armarius.errors import EmbeddingError, StoreCorrupt
from armarius.store.sqlite.ann import AnnFile
from armarius.store.sqlite.connection import all_rows, first_row, keep_meta, meta
from armarius.store.sqlite.schema import DOCUMENT, PARAGRAPH_BITS, read_document_rows
from armarius.store.vectors_protocol import (
    Fingerprint,
    Owner,
    SetState,
    VectorCounts,
    Vectors,
    VectorSet,
    embedded_texts,
    text_hash,
    usable_rows,
)


@dataclass(frozen=True, slots=True)
class SetRow(VectorSet):
    """One row of `vector_sets`. `sequence` is the number of its last change."""

    sequence: int
    ann: AnnFile | None


def table_of(vector_set: VectorSet) -> str:
    """The vec0 table of a set."""
    return f"vectors_{vector_set.id}"


def all_sets(connection: apsw.Connection) -> dict[SetState, SetRow]:
    """The sets by state."""
    rows = all_rows(connection, "SELECT id, state, fingerprint, sequence, ann FROM vector_sets")
    by_state: dict[SetState, SetRow] = {}
    for number, state, fingerprint, sequence, ann in rows:
        try:
            saved = AnnFile(**json.loads(ann)) if ann else None
            by_state[state] = SetRow(number, state, Fingerprint.from_json(fingerprint), sequence, saved)
        except (EmbeddingError, ValueError, TypeError) as error:
            raise StoreCorrupt(f"vector set {number} cannot be read: {error}") from error
    return by_state


def create(connection: apsw.Connection, fingerprint: Fingerprint, state: SetState) -> SetRow:
    """A new, empty set."""
    # ids are never reused: a freshly dropped table's name must not come back with another dimension
    set_id = int(meta(connection, "vector_set") or 0) + 1
    keep_meta(connection, "vector_set", str(set_id))
    connection.execute(
        "INSERT INTO vector_sets (id, state, fingerprint, sequence) VALUES (?, ?, ?, 0)",
        (set_id, state, fingerprint.to_json()),
    )
    entry = SetRow(set_id, state, fingerprint, 0, None)
    connection.execute(
        f"CREATE VIRTUAL TABLE {table_of(entry)} USING vec0(slot INTEGER PRIMARY KEY, live INTEGER, "
        f"embedding float[{fingerprint.dimension}] distance_metric=cosine)"
    )
    return entry


def drop(connection: apsw.Connection, vector_set: VectorSet) -> None:
    """Forget a set and its vectors."""
    connection.execute(f"DROP TABLE IF EXISTS {table_of(vector_set)}")
    for table in ("vectors", "vector_slots", "vectors_saved"):
        connection.execute(f"DELETE FROM {table} WHERE vector_set = ?", (vector_set.id,))  # noqa: S608 - fixed names
    connection.execute("DELETE FROM vector_sets WHERE id = ?", (vector_set.id,))


def switch_sets(connection: apsw.Connection) -> None:
    """The set being filled takes the place of the one that answers, at once."""
    sets = all_sets(connection)
    if "building" not in sets:
        return
    if "serving" in sets:
        drop(connection, sets["serving"])
    connection.execute("UPDATE vector_sets SET state = 'serving' WHERE id = ?", (sets["building"].id,))


def next_change(connection: apsw.Connection, set_id: int) -> int:
    """The number of the change being made; rows of one transaction may share it."""
    query = "UPDATE vector_sets SET sequence = sequence + 1 WHERE id = ? RETURNING sequence"
    return int(first_row(connection, query, (set_id,))[0])


def remember_ann(connection: apsw.Connection, set_id: int, saved: AnnFile) -> None:
    """Note which file holds the approximate index of a set."""
    text = json.dumps(asdict(saved), sort_keys=True)
    connection.execute("UPDATE vector_sets SET ann = ? WHERE id = ?", (text, set_id))


_INDEX = (1 << PARAGRAPH_BITS) - 1

ENTITIES = range(-(1 << 62), 0)
"""Owners that are entities."""


def owners_of(document: int) -> range:
    """Owners that are paragraphs of a document, by its id."""
    return range(document << PARAGRAPH_BITS, (document + 1) << PARAGRAPH_BITS)


def owners_named(connection: apsw.Connection, numbers: Sequence[int]) -> dict[int, Owner]:
    """Who these are; those that are gone are left out."""
    owners: dict[int, Owner] = {}
    paths: dict[int, str | None] = {}
    for number in numbers:
        if number < 0:
            row = first_row(connection, "SELECT id FROM entities WHERE ref = ?", (-number,))
            if row is not None:
                owners[number] = str(row[0])
            continue
        document = number >> PARAGRAPH_BITS
        if document not in paths:
            row = first_row(connection, "SELECT path FROM documents WHERE id = ?", (document,))
            paths[document] = None if row is None else str(row[0])
        if (path := paths[document]) is not None:
            owners[number] = (path, number & _INDEX)
    return owners


def number_of(connection: apsw.Connection, owner: Owner) -> int | None:
    """The number of an owner; None when it is gone."""
    if isinstance(owner, str):
        row = first_row(connection, "SELECT ref FROM entities WHERE id = ?", (owner,))
        return None if row is None else -int(row[0])
    path, index = owner
    row = first_row(connection, "SELECT id FROM documents WHERE path = ?", (path,))
    return None if row is None or not 0 <= index <= _INDEX else (int(row[0]) << PARAGRAPH_BITS) + index


EMBEDDED, PENDING, EMPTY, GONE = range(4)
_AT_ONCE = 4096


def carry(connection: apsw.Connection, vector_set: VectorSet, old: range, texts: Mapping[int, bytes]) -> None:
    """Replace the owners in the range `old` by `texts` (owner to text hash).

    Unchanged texts keep their vectors, also under a new owner if the paragraph moved. New texts become pending.
    """
    rows = all_rows(
        connection,
        "SELECT owner, text, slot, checksum, state FROM vectors WHERE vector_set = ? AND owner BETWEEN ? AND ? "
        "AND state <> ?",
        (vector_set.id, old[0], old[-1], GONE),
    )
    leaving = {owner: row for owner, *row in rows if texts.get(owner) != row[0]}
    kept = {owner for owner, *_ in rows} - leaving.keys()
    arriving = sorted(owner for owner in texts if owner not in kept)
    if not leaving and not arriving:
        return
    change = next_change(connection, vector_set.id)
    movable: dict[bytes, list[list[int | None]]] = {}
    for row in leaving.values():
        if row[3] == EMBEDDED:
            movable.setdefault(row[0], []).append(row)
    put = []
    saved = first_row(connection, "SELECT 1 FROM vectors_saved WHERE vector_set = ? LIMIT 1", (vector_set.id,))
    for owner in arriving:
        if matches := movable.get(texts[owner]):
            row = matches.pop()
            slot, checksum = row[1], row[2]
        else:
            slot, checksum = _take_saved(connection, vector_set, texts[owner]) if saved else (None, None)
        state = PENDING if slot is None else EMBEDDED
        put.append((vector_set.id, owner, texts[owner], slot, checksum, state, change))
    free = [row[1] for rows_left in movable.values() for row in rows_left]
    gone = [(vector_set.id, owner, b"", None, None, GONE, change) for owner in leaving if owner not in texts]
    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?, ?, ?)", [*put, *gone])
    connection.executemany("INSERT INTO vector_slots VALUES (?, ?)", [(vector_set.id, slot) for slot in free])
    connection.executemany(f"UPDATE {table_of(vector_set)} SET live = 0 WHERE slot = ?", [(slot,) for slot in free])  # noqa: S608


def store(
    connection: apsw.Connection, vector_set: VectorSet, entries: Sequence[tuple[int, bytes]], vectors: Vectors
) -> int:
    """Keep vectors for entries that are still pending with the same text; the number kept.

    Args:
        connection: Inside a write transaction.
        vector_set: Where to.
        entries: Owner and hash of its text; length n.
        vectors: float32, shape (n, dimension), finite; a zero row marks its owner as having no vector.
    """
    change = next_change(connection, vector_set.id)
    kept = 0
    query = "SELECT text, state FROM vectors WHERE vector_set = ? AND owner = ?"
    for (owner, text), vector in zip(entries, vectors, strict=True):
        empty = not vector.any()
        if first_row(connection, query, (vector_set.id, owner)) != (text, PENDING):
            continue
        data = np.ascontiguousarray(vector, "<f4").tobytes()
        slot = None if empty else _write(connection, vector_set, data)
        checksum = None if empty else _checksum(text, data)
        connection.execute(
            "UPDATE vectors SET slot = ?, checksum = ?, state = ?, change = ? WHERE vector_set = ? AND owner = ?",
            (slot, checksum, EMPTY if empty else EMBEDDED, change, vector_set.id, owner),
        )
        kept += 1
    return kept


def counts(connection: apsw.Connection, set_id: int) -> VectorCounts:
    """See `VectorStore`."""
    query = "SELECT state, count(*) FROM vectors WHERE vector_set = ? GROUP BY state"
    totals = dict(all_rows(connection, query, (set_id,)))
    return VectorCounts(totals.get(EMBEDDED, 0), totals.get(PENDING, 0), totals.get(EMPTY, 0))


def changes_since(connection: apsw.Connection, set_id: int, change: int) -> list[tuple[int, int | None]]:
    """Vectors that were added, moved or removed after `change`, by owner: the owner, and the slot unless removed."""
    query = "SELECT owner, slot FROM vectors WHERE vector_set = ? AND change > ? ORDER BY owner"
    return all_rows(connection, query, (set_id, change))


def read_vectors(connection: apsw.Connection, vector_set: VectorSet, slots: Sequence[int]) -> Vectors:
    """The vectors in `slots`, in that order. float32, shape (n, dimension).

    Cost: about 10 microseconds each; above 4,096 all chunks of the table are read (3 MB per 1,024).
    """
    out = np.zeros((len(slots), vector_set.fingerprint.dimension), np.float32)
    place = {slot: row for row, slot in enumerate(slots)}
    if len(slots) > _AT_ONCE:
        for ids, block in _chunks(connection, vector_set):
            rows = [(place[slot], i) for i, slot in enumerate(ids.tolist()) if slot in place]
            if rows:
                into, of = map(list, zip(*rows, strict=True))
                out[into] = block[of]
        return out
    # where sqlite-vec keeps them: asking the virtual table takes a quarter of a millisecond for each
    query = (
        f"SELECT chunk_id, rowid, chunk_offset FROM {table_of(vector_set)}_rowids "  # noqa: S608
        "WHERE rowid IN (SELECT value FROM json_each(?)) ORDER BY chunk_id"
    )
    size = 4 * vector_set.fingerprint.dimension
    places = all_rows(connection, query, (json.dumps(list(slots)),))
    try:
        for chunk, members in groupby(places, key=itemgetter(0)):
            with connection.blob_open(
                "main", f"{table_of(vector_set)}_vector_chunks00", "vectors", chunk, False
            ) as blob:
                for _, slot, at in members:
                    blob.seek(at * size)
                    out[place[slot]] = np.frombuffer(blob.read(size), "<f4")
    except (ValueError, apsw.SQLError) as error:
        raise StoreCorrupt(f"{table_of(vector_set)}: a vector lies outside of its chunk: {error}") from error
    return out


def problems(connection: apsw.Connection, vector_set: VectorSet) -> list[str]:
    """What is wrong with the vectors of a set, as sentences; compares every vector with its checksum."""
    rows = all_rows(connection, "SELECT slot FROM vectors WHERE vector_set = ? AND slot IS NOT NULL", (vector_set.id,))
    expected = {slot for (slot,) in rows}
    faults = [] if len(expected) == len(rows) else [f"{table_of(vector_set)}: a slot has two owners"]
    sound = [fit for *_, fit in _vectors_with_texts(connection, vector_set)]
    if len(sound) != len(expected):
        faults.append(f"{table_of(vector_set)}: {len(sound)} vectors of {len(expected)}")
    if not all(sound):
        faults.append(f"{table_of(vector_set)}: {sound.count(False)} vectors do not match their checksum")
    return faults


def save_from(old: apsw.Connection, into: apsw.Connection) -> None:
    """Keep the vectors of an index that is not believed, by their texts, as far as they match their checksums.

    Args:
        old: The index.
        into: A new one, without documents: `carry` takes a saved vector when its text comes.
    """
    into.execute("BEGIN")
    try:
        for vector_set in all_sets(old).values():
            new = create(into, vector_set.fingerprint, vector_set.state)
            insert = f"INSERT OR IGNORE INTO vectors_saved VALUES ({new.id}, ?, ?, ?)"  # noqa: S608 - a number
            query = "SELECT text, checksum, vector FROM vectors_saved WHERE vector_set = ?"
            into.executemany(insert, old.execute(query, (vector_set.id,)))
            rows = _vectors_with_texts(old, vector_set)
            into.executemany(insert, ((text, checksum, data) for text, checksum, data, fit in rows if fit))
    finally:  # keep the vectors that were read before a failure
        if into.in_transaction:
            into.execute("COMMIT")


def _take_saved(connection: apsw.Connection, vector_set: VectorSet, text: bytes) -> tuple[int | None, int | None]:
    """Slot and checksum of a saved vector that is written into the table; None, None without one."""
    query = "SELECT checksum, vector FROM vectors_saved WHERE vector_set = ? AND text = ?"
    row = first_row(connection, query, (vector_set.id, text))
    if row is None or len(row[1]) != 4 * vector_set.fingerprint.dimension or _checksum(text, row[1]) != row[0]:
        return None, None
    return _write(connection, vector_set, row[1]), row[0]


def _vectors_with_texts(connection: apsw.Connection, vector_set: VectorSet) -> Iterator[tuple[bytes, int, bytes, bool]]:
    """Of every vector that has an owner: hash of the text, checksum, bytes, and whether they fit each other."""
    query = "SELECT slot, text, checksum FROM vectors WHERE vector_set = ? AND slot IS NOT NULL"
    by_slot = {slot: (text, checksum) for slot, text, checksum in all_rows(connection, query, (vector_set.id,))}
    for slots, block in _chunks(connection, vector_set):
        usable = usable_rows(block)
        for slot, row, fit in zip(slots.tolist(), block, usable, strict=True):
            if slot in by_slot:
                (text, checksum), data = by_slot[slot], row.tobytes()
                yield text, checksum, data, bool(fit) and _checksum(text, data) == checksum


def _checksum(text: bytes, vector: bytes) -> int:
    return zlib.crc32(vector, zlib.crc32(text))


def _write(connection: apsw.Connection, vector_set: VectorSet, data: bytes) -> int:
    free = first_row(
        connection,
        "DELETE FROM vector_slots WHERE vector_set = ?1 AND slot = "
        "(SELECT min(slot) FROM vector_slots WHERE vector_set = ?1) RETURNING slot",
        (vector_set.id,),
    )
    if free is not None:
        connection.execute(f"UPDATE {table_of(vector_set)} SET live = 1, embedding = ? WHERE slot = ?", (data, free[0]))  # noqa: S608
        return int(free[0])
    connection.execute(f"INSERT INTO {table_of(vector_set)} (live, embedding) VALUES (1, ?)", (data,))  # noqa: S608
    return int(connection.last_insert_rowid())


def chunk_numbers(connection: apsw.Connection, vector_set: VectorSet) -> list[int]:
    """The chunks of the set's vec0 table, each read by `read_chunk`."""
    query = f"SELECT chunk_id FROM {table_of(vector_set)}_chunks ORDER BY chunk_id"  # noqa: S608
    return [number for (number,) in all_rows(connection, query)]


def read_chunk(connection: apsw.Connection, vector_set: VectorSet, number: int) -> tuple[NDArray[np.int64], Vectors]:
    """A chunk of at most 1,024 vectors: slots int64 (n,), vectors float32 (n, dimension); free slots are among them.

    Reads the layout of sqlite-vec 0.1 directly: row by row a vector takes a quarter of a millisecond.
    """
    query = (
        f"SELECT c.rowids, c.validity, v.vectors FROM {table_of(vector_set)}_chunks c "  # noqa: S608
        f"JOIN {table_of(vector_set)}_vector_chunks00 v ON v.rowid = c.chunk_id WHERE c.chunk_id = ?"
    )
    row = first_row(connection, query, (number,))
    if row is None:
        return np.empty(0, np.int64), np.empty((0, vector_set.fingerprint.dimension), np.float32)
    try:
        valid = np.unpackbits(np.frombuffer(row[1], np.uint8), bitorder="little").astype(bool)
        block = np.frombuffer(row[2], "<f4").reshape(-1, vector_set.fingerprint.dimension)
        return np.frombuffer(row[0], "<i8")[valid], block[valid]
    except (ValueError, IndexError) as error:
        raise StoreCorrupt(f"{table_of(vector_set)}: chunk {number} of the vectors is damaged: {error}") from error


def _chunks(connection: apsw.Connection, vector_set: VectorSet) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
    for number in chunk_numbers(connection, vector_set):
        yield read_chunk(connection, vector_set, number)


def carry_document(connection: apsw.Connection, number: int, document: Document | None) -> None:
    """Keep, move, forget and queue the vectors of a document that is being replaced or removed (None).

    Called by the store inside the transaction that writes the document, so that no vector outlives its text.
    """
    for vector_set in all_sets(connection).values():
        carry(connection, vector_set, owners_of(number), hashes_of(number, document))


def forget_entities(connection: apsw.Connection, kept: AbstractSet[str]) -> None:
    """Forget the vectors of every entity that is not in `kept`; before their refs can be given to others."""
    for vector_set in all_sets(connection).values():
        rows = all_rows(
            connection,
            "SELECT v.owner, v.text, e.id FROM vectors v LEFT JOIN entities e ON e.ref = -v.owner "
            "WHERE v.vector_set = ? AND v.owner < 0 AND v.state <> 3",
            (vector_set.id,),
        )
        carry(connection, vector_set, ENTITIES, {owner: text for owner, text, name in rows if name in kept})


def vector_problems(connection: apsw.Connection) -> list[str]:
    """What is wrong with the vectors, as sentences: texts that are not the documents', and damaged vectors."""
    faults = []
    for vector_set in all_sets(connection).values():
        for row in all_rows(connection, DOCUMENT):
            owners = owners_of(row[0])
            query = "SELECT owner, text FROM vectors WHERE vector_set = ? AND owner BETWEEN ? AND ? AND state <> 3"
            rows = all_rows(connection, query, (vector_set.id, owners[0], owners[-1]))
            if dict(rows) != hashes_of(row[0], read_document_rows(connection, row)):
                faults.append(f"{row[1]}: vectors of {vector_set.fingerprint.name} belong to another text")
        faults += problems(connection, vector_set)
    return faults


def hashes_of(number: int, document: Document | None) -> dict[int, bytes]:
    """Owner to hash of its embedded text."""
    base = number << PARAGRAPH_BITS
    texts = embedded_texts(document) if document else {}
    return {base + index: text_hash(text) for index, text in texts.items()}
