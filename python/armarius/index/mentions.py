"""Mentions of entities in documents: one packed row per document, computed again when names change."""

import json
import struct
import zlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from armarius.corpus.part import FORM, part_rows
from armarius.corpus.part import KIND as PART
from armarius.documents.document import Document
from armarius.index.commits import BATCH
from armarius.index.freshness import NAMES, IndexContents
from armarius.index.snapshot import Snapshot
from armarius.store.derived import DerivedCache, join_pieces, split_pieces
from armarius.store.protocol import Store
from armarius.store.rows import Change, DerivedRow, Note

_ROW = struct.Struct("<IiII")  # index into the ids, paragraph, start, end
_LEVEL = 1


@dataclass(frozen=True, slots=True)
class DocumentMention:
    """One occurrence of an entity: `document.text[start:end]`, inside paragraph `paragraph` (-1: between two)."""

    entity: str
    paragraph: int
    start: int
    end: int


# Number of mentions inside paragraphs; then entity ids (JSON) and rows of mentions, compressed.
_MENTIONS: Final = DerivedCache[tuple[int, bytes], tuple[bytes, ...]](
    "mentions", "2", lambda one: join_pieces(b"%d" % one[0], one[1]), lambda data: split_pieces(data, 2)
)
KIND: Final = _MENTIONS.kind


def find_mentions(snapshot: Snapshot, documents: Sequence[Document]) -> list[DerivedRow]:
    """The mentions in each document, by (start, -end, entity).

    Cost: one pass over the texts on all cores; 16 bytes a mention before compression.
    """
    ids = snapshot.matcher.entity_ids
    found = snapshot.matcher.find_rows(
        [document.text for document in documents],
        [[(one.start, one.end) for one in document.paragraphs] for document in documents],
    )
    rows = []
    for document, (inside, entities, table) in zip(documents, found, strict=True):
        names = json.dumps([ids[entity] for entity in entities]).encode()
        body = zlib.compress(join_pieces(names, table), _LEVEL)
        rows.append(_MENTIONS.row(document.path, snapshot.match_digest, (inside, body)))
    return rows


def read_names(snapshot: Snapshot, documents: Sequence[Document]) -> list[DerivedRow]:
    """The derived rows that depend on names: mentions, and rows for retrieval."""
    if not documents:
        return []
    return [*find_mentions(snapshot, documents), *part_rows(documents, snapshot.matcher, snapshot.match_digest)]


def read_names_again(snapshot: Snapshot, held: IndexContents, written: Mapping[str, str]) -> list[Change]:
    """Compute the mentions of all documents again if names or the row format changed.

    Args:
        snapshot: Has the names to match.
        held: Contents of the store, without uncommitted changes.
        written: Path of each document of this refresh to the digest of the names that were matched in it.
    """
    names = snapshot.match_digest
    same, formed = held.notes[NAMES] == names, held.notes[PART] == FORM
    if same and formed and all(one == names for one in written.values()):
        return []
    changes: list[Change] = []
    paths = [path for path in held.files if written.get(path) != names]
    for at in range(0, len(paths), BATCH):
        changes += read_names(snapshot, held.store.documents_of(paths[at : at + BATCH]))
    return [*changes, Note(NAMES, names), *([] if formed else [Note(PART, FORM)])]


def unpack_mentions(row: DerivedRow) -> list[DocumentMention]:
    """The mentions in a row of `find_mentions`.

    Raises:
        ValueError: The row has another format.
    """
    try:
        ids, table = split_pieces(zlib.decompress(split_pieces(row.data, 2)[1]), 2)
        names = json.loads(ids)
        return [
            DocumentMention(names[at], paragraph, start, end) for at, paragraph, start, end in _ROW.iter_unpack(table)
        ]
    except (struct.error, zlib.error, IndexError, TypeError) as error:
        raise ValueError(f"no packed mentions: {error}") from error


def count_by_entity(store: Store, without: Collection[str]) -> Counter[str]:
    """Number of mentions by entity in all documents but these."""
    rows = (row for path, row in store.learnt(KIND).items() if path not in without)
    return Counter(one.entity for row in rows for one in unpack_mentions(row))


def count_mentions(store: Store) -> int:
    """Number of mentions inside paragraphs in the whole index."""
    rows = store.learnt(KIND).values()
    packed = (_MENTIONS.value(row, row.about.partition(" ")[2]) for row in rows)
    return sum(int(one[0]) for one in packed if one is not None)
