"""Sets of vectors in the index: one per embedder, one that answers and at most one that is being filled.

Every function runs inside the caller's transaction.
"""

import json
from dataclasses import asdict, dataclass

import apsw

from armarius.errors import EmbeddingError, StoreCorrupt
from armarius.store.fingerprint import Fingerprint
from armarius.store.sqlite.ann_file import AnnFile
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.schema import keep_meta, meta
from armarius.store.vectors_protocol import SetState, VectorSet

__all__ = ["SetRow", "all_sets", "create", "drop", "next_change", "remember_ann", "switch", "table_of"]


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
    found: dict[SetState, SetRow] = {}
    for number, state, fingerprint, sequence, ann in rows:
        try:
            saved = AnnFile(**json.loads(ann)) if ann else None
            found[state] = SetRow(number, state, Fingerprint.from_json(fingerprint), sequence, saved)
        except (EmbeddingError, ValueError, TypeError) as error:
            raise StoreCorrupt(f"vector set {number} cannot be read: {error}") from error
    return found


def create(connection: apsw.Connection, fingerprint: Fingerprint, state: SetState) -> SetRow:
    """A new, empty set."""
    # ids are never reused: a freshly dropped table's name must not come back with another dimension
    set_id = int(meta(connection, "vector_set") or 0) + 1
    keep_meta(connection, "vector_set", str(set_id))
    connection.execute(
        "INSERT INTO vector_sets (id, state, fingerprint, sequence) VALUES (?, ?, ?, 0)",
        (set_id, state, fingerprint.to_json()),
    )
    found = SetRow(set_id, state, fingerprint, 0, None)
    connection.execute(
        f"CREATE VIRTUAL TABLE {table_of(found)} USING vec0(slot INTEGER PRIMARY KEY, live INTEGER, "
        f"embedding float[{fingerprint.dimension}] distance_metric=cosine)"
    )
    return found


def drop(connection: apsw.Connection, vector_set: VectorSet) -> None:
    """Forget a set and its vectors."""
    connection.execute(f"DROP TABLE IF EXISTS {table_of(vector_set)}")
    for table in ("vectors", "vector_slots", "vectors_saved"):
        connection.execute(f"DELETE FROM {table} WHERE vector_set = ?", (vector_set.id,))  # noqa: S608 - fixed names
    connection.execute("DELETE FROM vector_sets WHERE id = ?", (vector_set.id,))


def switch(connection: apsw.Connection) -> None:
    """The set being filled takes the place of the one that answers, at once."""
    sets = all_sets(connection)
    if "building" not in sets:
        return
    if "serving" in sets:
        drop(connection, sets["serving"])
    connection.execute("UPDATE vector_sets SET state = 'serving' WHERE id = ?", (sets["building"].id,))


def next_change(connection: apsw.Connection, set_id: int) -> int:
    """The number of the change being made; rows of one transaction may share it."""
    return int(
        first_row(
            connection, "UPDATE vector_sets SET sequence = sequence + 1 WHERE id = ? RETURNING sequence", (set_id,)
        )[0]
    )


def remember_ann(connection: apsw.Connection, set_id: int, saved: AnnFile | None) -> None:
    """Note which file holds the approximate index of a set."""
    text = json.dumps(asdict(saved), sort_keys=True) if saved else None
    connection.execute("UPDATE vector_sets SET ann = ? WHERE id = ?", (text, set_id))
