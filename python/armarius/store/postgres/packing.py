"""A document as rows, and back; keys of projects and paths. Large values are compressed and kept in pieces."""

import hashlib
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from armarius.documents.document import Document
from armarius.documents.segments import Paragraph
from armarius.errors import ContractError, StoreCorrupt
from armarius.store.postgres.session import Transaction
from armarius.store.sqlite.schema import ROLES, unpack_front_matter
from armarius.validation import shown, text

PIECE = 256 * 1024
"""No value of a row is longer, in bytes."""

_PATH, _NAME = 1024, 512


def project_key(tenant: str, project_id: str) -> UUID:
    """BLAKE2b-128 of tenant, NUL and project id: no look-up, and the same on every server; the tenant "" is nobody.

    Raises:
        ContractError: Either cannot be a name.
    """
    check_name(project_id, "project id")
    if text("tenant", tenant):
        check_name(tenant, "tenant")
    return UUID(bytes=hashlib.blake2b(f"{tenant}\0{project_id}".encode(), digest_size=16).digest())


def check_name(name: str, what: str) -> str:
    """A name of at most 512 bytes of UTF-8, without NUL; `what` it is stands in the message.

    Raises:
        ContractError: It is invalid.
    """
    return _checked(name, what, _NAME)


def check_path(path: str) -> str:
    """A relative posix path of at most 1,024 bytes without `.` and `..`, as a project may hold it.

    Raises:
        ContractError: It is invalid.
    """
    _checked(path, "path", _PATH)
    if path.startswith("/") or "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise ContractError(f"path: {path!r:.200} is no relative path with / between its parts")
    return path


def _checked(name: object, what: str, limit: int) -> str:
    if not isinstance(name, str) or not name:
        raise ContractError(f"{what}: expected a non-empty string, got {shown(name)}")
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        raise ContractError(f"{what}: {name!r:.200} holds half a character (a lone surrogate)") from None
    if "\0" in name:
        raise ContractError(f"{what}: {name!r:.200} holds a NUL")
    if size > limit:
        raise ContractError(f"{what}: {size:,} bytes of UTF-8, at most {limit:,}: {name:.40}…")
    return name


Area = str
DOCUMENT = "path, kind, chapter, content_hash, head, version, hash"
_LEVEL = 1  # zlib: 46 % of Chinese text at 60 MB/s; level 6 saves 2 % more at a third of the speed


def head_of(document: Document) -> bytes:
    """Title, encoding and front matter.

    Raises:
        ContractError: They are more than 256 KiB, compressed.
    """
    head = [document.title, document.encoding, document.front_matter]
    data = zlib.compress(json.dumps(head, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass"), _LEVEL)
    if len(data) > PIECE:
        raise ContractError(f"{document.path}: title and front matter take {len(data):,} bytes, at most {PIECE:,}")
    return data


def read_head(path: str, data: bytes) -> tuple[str, str, dict[str, str | tuple[str, ...]]]:
    """Title, encoding and front matter, of `head_of`."""
    try:
        title, encoding, matter = json.loads(unpack(path, data))
        return title, encoding, unpack_front_matter(json.dumps(matter, ensure_ascii=False))
    except ValueError as error:
        raise StoreCorrupt(f"{path}: its head is damaged: {error}") from error


def pack_text(document: Document) -> bytes:
    """Text and paragraphs: a CRC-32 of the rest, then one compressed value."""
    headings: dict[tuple[str, ...], int] = {}
    rows = []
    for p in document.paragraphs:
        heading = headings.setdefault(p.heading_path, len(headings))
        rows.append((p.start, p.end, heading, ROLES.index(p.role), p.chapter))
    layout = json.dumps([list(headings), rows], ensure_ascii=False, separators=(",", ":"))
    layout_bytes, text = (part.encode("utf-8", "surrogatepass") for part in (layout, document.text))
    packed = zlib.compress(len(layout_bytes).to_bytes(4, "little") + layout_bytes + text, _LEVEL)
    return zlib.crc32(packed).to_bytes(4, "little") + packed


@dataclass(frozen=True, slots=True)
class _Packed:
    """Text and paragraphs as the rows hold them; see `documents.document.Unread`."""

    path: str
    data: bytes
    paragraphs: int

    def read(self) -> tuple[str, tuple[Paragraph, ...]]:
        data = unpack(self.path, self.data[4:])
        end = 4 + int.from_bytes(data[:4], "little")
        try:
            headings, rows = json.loads(data[4:end].decode("utf-8", "surrogatepass"))
            paths = [tuple(heading) for heading in headings]
            paragraphs = tuple(
                Paragraph(index, start, stop, paths[heading], ROLES[role], chapter)
                for index, (start, stop, heading, role, chapter) in enumerate(rows)
            )
            return data[end:].decode("utf-8", "surrogatepass"), paragraphs
        except (ValueError, IndexError, TypeError) as error:
            raise StoreCorrupt(f"{self.path}: its paragraphs are damaged: {error!r}") from error


def whole_document(row: Sequence[Any], paragraphs: int, data: bytes) -> Document:
    """A document from a row of `DOCUMENT` and its text; that is unpacked when somebody looks at it.

    Raises:
        StoreCorrupt: The text does not match its checksum.
    """
    path, kind, chapter, content_hash, head, *_ = row
    if zlib.crc32(data[4:]) != int.from_bytes(data[:4], "little"):
        raise StoreCorrupt(f"{path}: its text is damaged: the checksum does not fit")
    title, encoding, matter = read_head(path, head)
    return Document.unread(
        _Packed(path, data, paragraphs), path=path, kind=kind, title=title, chapter=chapter, front_matter=matter,
        encoding=encoding, content_hash=content_hash,
    )  # fmt: skip


def read_documents(tx: Transaction, project: object, where: str, values: Sequence[Any]) -> list[Document]:
    """Documents in path order; `where` is a condition on `d`, a constant of this package."""
    rows = tx.rows(
        f"SELECT {', '.join('d.' + name for name in DOCUMENT.split(', '))}, d.paragraphs, "
        "(SELECT array_agg(p.data ORDER BY p.piece) FROM {s}.pieces p WHERE p.project = d.project "
        "AND p.area = 'text' AND p.path = d.path AND p.kind = '') "
        f"FROM {{s}}.documents d WHERE d.project = %s AND {where} ORDER BY d.path",
        (project, *values),
    )
    return [whole_document(row, row[-2], b"".join(row[-1] or ())) for row in rows]


def read_pieces(tx: Transaction, project: object, area: Area, path: str, kind: str = "") -> bytes | None:
    """A large value, None when there is none."""
    rows = tx.rows(
        "SELECT data FROM {s}.pieces WHERE project = %s AND area = %s AND path = %s AND kind = %s ORDER BY piece",
        (project, area, path, kind),
    )
    return b"".join(row[0] for row in rows) if rows else None


def replace_pieces(tx: Transaction, project: object, values: Iterable[tuple[Area, str, str, bytes]]) -> None:
    """Keep large values, each with area, path and kind, in the place of what is there. Two round trips."""
    rows = list(values)
    tx.many(
        "DELETE FROM {s}.pieces WHERE project = %s AND area = %s AND path = %s AND kind = %s",
        [(project, area, path, kind) for area, path, kind, _ in rows],
    )
    # `data` in numbered pieces of at most 256 KiB; one empty piece of nothing
    tx.many(
        "INSERT INTO {s}.pieces (project, area, path, kind, piece, data) VALUES (%s, %s, %s, %s, %s, %s)",
        [
            (project, area, path, kind, number, piece)
            for area, path, kind, data in rows
            for number, piece in ((at // PIECE, data[at : at + PIECE]) for at in range(0, max(1, len(data)), PIECE))
        ],
    )


def unpack(path: str, data: bytes) -> bytes:
    """What was compressed.

    Raises:
        StoreCorrupt: It is damaged.
    """
    try:
        return zlib.decompress(data)
    except zlib.error as error:
        raise StoreCorrupt(f"{path or 'the project'}: damaged: {error}") from error


def document_hash(document: Document, version: int) -> bytes:
    """BLAKE2b-128 over everything that is stored of a document except its stamp."""
    digest = hashlib.blake2b(digest_size=16)
    head = (
        version, document.path, document.kind, document.title, document.chapter, document.encoding,
        document.content_hash, json.dumps(document.front_matter, ensure_ascii=False, sort_keys=True),
        [(p.start, p.end, p.role, p.chapter, p.heading_path) for p in document.paragraphs],
    )  # fmt: skip
    digest.update(repr(head).encode("utf-8", "surrogatepass"))
    digest.update(document.text.encode("utf-8", "surrogatepass"))
    return digest.digest()


def learnt_hash(path: str, kind: str, about: str, data: bytes) -> bytes:
    """BLAKE2b-128 of a learnt row."""
    digest = hashlib.blake2b(repr((path, kind, about)).encode("utf-8", "surrogatepass"), digest_size=16)
    digest.update(data)
    return digest.digest()
