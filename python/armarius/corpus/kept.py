"""What a store keeps of a document for retrieval: one row of `Learnt`, read when the corpus is first asked.

`data` is three pieces, the lengths of the first two and a checksum of them ahead: texts as JSON, names as JSON, the
part of the corpus as the core writes it. A row is derived: one that is about another text, other
names or another form, or that is damaged, is worked out again.
"""

import json
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armarius._core import CorpusPart
from armarius.corpus.part import DocumentPart, Named, TextPart, parts_of
from armarius.documents.document import Document
from armarius.store.rows import Learnt

if TYPE_CHECKING:
    from armarius.text.matcher import EntityMatcher

__all__ = [
    "FORM",
    "KIND",
    "Kept",
    "KeptParts",
    "about",
    "is_about_text",
    "json_of",
    "names_in",
    "pack",
    "part_rows",
    "unpack",
]

KIND = "corpus"
_CORE = int.from_bytes(CorpusPart("", "note", "", [], []).to_bytes()[4:6], "little")
FORM = f"3.{_CORE}"
"""Raise the first number when what is worked out from a document changes; the second is that of the core's part."""

_HEAD = struct.Struct("<III")  # bytes of the texts, bytes of the names, CRC-32 of both


@dataclass(frozen=True, slots=True)
class Kept:
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
class KeptParts:
    """Where rows can be read, and for which names.

    Attributes:
        names: Digest of the names that were looked for.
        read: Rows of these paths, None for all; those that are not there are left out.
    """

    names: str
    read: Callable[[Sequence[str] | None], Mapping[str, Learnt]]

    def of(self, document: Document, row: Learnt | None) -> Kept | None:
        """What a row says of a document, None when it is about another one or damaged."""
        if row is None or row.about != about(self.names, document.content_hash):
            return None
        try:
            return unpack(row.data)
        except ValueError:
            return None


def about(names: str, content_hash: str) -> str:
    """What a row is about."""
    return f"{FORM} {names} {content_hash}"


def is_about_text(said: str, content_hash: str) -> bool:
    """Whether a row is about this text, whichever names were looked for in it."""
    return said.startswith(f"{FORM} ") and said.endswith(f" {content_hash}")


def part_rows(documents: Sequence[Document], matcher: "EntityMatcher", names: str) -> list[Learnt]:
    """Rows of documents, for these names."""
    parts = parts_of(documents, matcher)
    return [
        Learnt(document.path, KIND, about(names, document.content_hash), pack(part))
        for document, part in zip(documents, parts, strict=True)
    ]


def pack(part: DocumentPart) -> bytes:
    """The data of a row."""
    texts = [(one.number, one.section, one.start, one.end) for one in part.texts]
    names = [[(one.entity, one.term, one.count, one.start) for one in text.names] for text in part.texts]
    head, tail = json_of(texts), json_of(names)
    return _HEAD.pack(len(head), len(tail), zlib.crc32(head + tail)) + head + tail + part.part.to_bytes()


def unpack(data: bytes) -> Kept:
    """What `pack` gave; names and part are not read yet.

    Raises:
        ValueError: The bytes are something else.
    """
    if len(data) < _HEAD.size:
        raise ValueError(f"no part of a document: {len(data)} bytes")
    head, tail, checksum = _HEAD.unpack_from(data)
    middle, end = _HEAD.size + head, _HEAD.size + head + tail
    if end > len(data) or zlib.crc32(data[_HEAD.size : end]) != checksum:
        raise ValueError("no part of a document: the checksum does not fit")
    try:
        rows: list[tuple[int | None, str, int, int]] = json.loads(data[_HEAD.size : middle])
        texts = tuple(TextPart(number, section, start, end, ()) for number, section, start, end in rows)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"no part of a document: {error}") from error
    return Kept(texts, data[middle:end], data, end)


def names_in(names: bytes) -> list[tuple[Named, ...]]:
    """The names of each text.

    Raises:
        ValueError: The bytes are something else.
    """
    try:
        return [tuple(Named(*row) for row in rows) for rows in json.loads(names)]
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"no names of a document: {error}") from error


def json_of(value: object) -> bytes:
    """As it stands in a row."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
