"""What the store calls inside its own transactions, so that no vector outlives its text."""

from collections.abc import Set as AbstractSet

import apsw

from armarius.documents.document import Document
from armarius.store.embedded_texts import embedded_texts, text_hash
from armarius.store.sqlite import vectors_sets as sets
from armarius.store.sqlite import vectors_table as table
from armarius.store.sqlite.connection import all_rows
from armarius.store.sqlite.packing import PARAGRAPH_BITS, read_document_rows
from armarius.store.sqlite.vectors_owners import ENTITIES, owners_of

__all__ = ["DOCUMENT", "carry_document", "forget_entities", "hashes_of", "vector_problems"]

DOCUMENT = "SELECT id, path, kind, title, chapter, encoding, content_hash, front_matter, text FROM documents"


def carry_document(connection: apsw.Connection, number: int, document: Document | None) -> None:
    """Keep, move, forget and queue the vectors of a document that is being replaced or removed (None).

    Called by the store inside the transaction that writes the document, so that no vector outlives its text.
    """
    for vector_set in sets.all_sets(connection).values():
        table.carry(connection, vector_set, owners_of(number), hashes_of(number, document))


def forget_entities(connection: apsw.Connection, kept: AbstractSet[str]) -> None:
    """Forget the vectors of every entity that is not in `kept`; before their refs can be given to others."""
    for vector_set in sets.all_sets(connection).values():
        rows = all_rows(
            connection,
            "SELECT v.owner, v.text, e.id FROM vectors v LEFT JOIN entities e ON e.ref = -v.owner "
            "WHERE v.vector_set = ? AND v.owner < 0 AND v.state <> 3",
            (vector_set.id,),
        )
        table.carry(connection, vector_set, ENTITIES, {owner: text for owner, text, name in rows if name in kept})


def vector_problems(connection: apsw.Connection) -> list[str]:
    """What is wrong with the vectors, as sentences: texts that are not the documents', and damaged vectors."""
    found = []
    for vector_set in sets.all_sets(connection).values():
        for row in all_rows(connection, DOCUMENT):
            owners = owners_of(row[0])
            query = "SELECT owner, text FROM vectors WHERE vector_set = ? AND owner BETWEEN ? AND ? AND state <> 3"
            rows = all_rows(connection, query, (vector_set.id, owners[0], owners[-1]))
            if dict(rows) != hashes_of(row[0], read_document_rows(connection, row)):
                found.append(f"{row[1]}: vectors of {vector_set.fingerprint.name} belong to another text")
        found += table.problems(connection, vector_set)
    return found


def hashes_of(number: int, document: Document | None) -> dict[int, bytes]:
    """Owner to hash of its embedded text."""
    base = number << PARAGRAPH_BITS
    texts = embedded_texts(document) if document else {}
    return {base + index: text_hash(text) for index, text in texts.items()}
