"""Stored form of a document for search: one derived row, read when the corpus is first used.

Three pieces: texts as JSON, names as JSON, the part of the corpus as the core writes it. A row of another text, other
names or another form is computed again.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from armarius._core import CorpusPart
from armarius.corpus.part import DocumentPart, NamedEntities, TextPart, parts_of
from armarius.documents.document import Document
from armarius.store.derived import DerivedCache, join_pieces, split_pieces
from armarius.store.rows import DerivedRow

if TYPE_CHECKING:
    from armarius.text.matcher import EntityMatcher

KIND: Final = "corpus"
_CORE = int.from_bytes(CorpusPart("", "note", "", [], []).to_bytes()[4:6], "little")
FORM: Final = f"5.{_CORE}"
"""Raise the first number when what is worked out from a document changes; the second is that of the core's part."""


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A row, read as far as it is needed at once.

    Attributes:
        texts: Without their names.
        names: For `names_in`.
        data: The whole row; the part begins at `part`, for `Corpus.recover`.
    """

    texts: tuple[TextPart, ...]
    names: bytes
    data: bytes
    part: int


@dataclass(frozen=True, slots=True)
class StoredParts:
    """Where rows can be read, and for which names.

    Attributes:
        names: Digest of the names that were looked for.
        read: Rows of these paths, None for all; those that are not there are left out.
    """

    names: str
    read: Callable[[Sequence[str] | None], Mapping[str, DerivedRow]]

    def of(self, document: Document, row: DerivedRow | None) -> StoredPart | None:
        """What a row says of a document, None when it is about another one or damaged."""
        return PARTS.value(row, fingerprint(self.names, document.content_hash))


def fingerprint(names: str, content_hash: str) -> str:
    """What a row rests on."""
    return f"{names} {content_hash}"


def part_rows(documents: Sequence[Document], matcher: "EntityMatcher", names: str) -> list[DerivedRow]:
    """Rows of documents, for these names."""
    parts = zip(documents, parts_of(documents, matcher), strict=True)
    return [PARTS.row(one.path, fingerprint(names, one.content_hash), part) for one, part in parts]


def pack(part: DocumentPart) -> bytes:
    """The data of a row."""
    texts = [(one.number, one.section, one.start, one.end) for one in part.texts]
    names = [[(one.entity, one.term, one.count, one.start) for one in text.names] for text in part.texts]
    return join_pieces(_json(texts), _json(names), part.part.to_bytes())


def unpack(data: bytes) -> StoredPart:
    """What `pack` gave; names and part are not read yet.

    Raises:
        ValueError: The bytes are something else.
    """
    try:
        head, names, part = split_pieces(data, 3)
        rows: list[tuple[int | None, str, int, int]] = json.loads(head)
        texts = tuple(TextPart(number, section, start, end, ()) for number, section, start, end in rows)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"no part of a document: {error}") from error
    return StoredPart(texts, names, data, len(data) - len(part))


def names_in(names: bytes) -> list[tuple[NamedEntities, ...]]:
    """The names of each text.

    Raises:
        ValueError: The bytes are something else.
    """
    try:
        return [tuple(NamedEntities(*row) for row in rows) for rows in json.loads(names)]
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"no names of a document: {error}") from error


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


PARTS: Final = DerivedCache(KIND, FORM, pack, unpack)
