"""The text chunks of a PNG that hold a card or a lorebook; every other chunk stays as it is.

Source: PNG (ISO/IEC 15948) chapter 5 for chunks, 11.3.4 for tEXt. Cards write base64 of UTF-8 JSON.
"""

import base64
import binascii
import struct
import zlib
from typing import Final, NamedTuple

from armarius.books.limits import check_size
from armarius.errors import BookError

__all__ = ["SIGNATURE", "Chunk", "chunks_of", "decoded", "joined", "text_of", "with_text"]

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_MAX_CHUNKS = 100_000


class Chunk(NamedTuple):
    """One chunk: type, data, and the check sum as it was written."""

    kind: bytes
    data: bytes
    crc: bytes


def chunks_of(data: bytes, name: str) -> tuple[list[Chunk], bytes]:
    """The chunks of a PNG, and what stands behind the last whole one.

    Raises:
        BookError: A length that leads behind the end of the file; nothing of it is read.

    Cost: one pass; chunks are copied once.
    """
    chunks: list[Chunk] = []
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        end = at + 12 + length
        if end > len(data):
            raise BookError(f"{name}: chunk {len(chunks)} says {length:,} bytes, {len(data) - at - 12:,} are there")
        chunks.append(Chunk(data[at + 4 : at + 8], data[at + 8 : end - 4], data[end - 4 : end]))
        at = end
        if chunks[-1].kind == b"IEND":
            break
        if len(chunks) > _MAX_CHUNKS:
            raise BookError(f"{name}: more than {_MAX_CHUNKS:,} chunks")
    return chunks, data[at:]


def text_of(chunk: Chunk) -> tuple[str, bytes] | None:
    """Keyword in lower case and content of a tEXt chunk that holds a card or a lorebook; None for any other."""
    if chunk.kind != b"tEXt":
        return None
    keyword, _, content = chunk.data.partition(b"\0")
    key = keyword.decode("latin-1").lower()
    if key not in ("chara", "ccv3", "naidata"):
        return None
    return key, content


def decoded(content: bytes, name: str) -> bytes:
    """The content of such a chunk, out of base64.

    Raises:
        BookError: It is none, or too large.
    """
    check_size(len(content), name)
    try:
        return base64.b64decode(content, validate=False)
    except (binascii.Error, ValueError):
        raise BookError(f"{name}: not base64") from None


def with_text(chunk: Chunk, content: bytes) -> Chunk:
    """The chunk with other content, its keyword as it was spelt."""
    keyword = chunk.data.partition(b"\0")[0]
    data = keyword + b"\0" + base64.b64encode(content)
    return Chunk(chunk.kind, data, struct.pack(">I", zlib.crc32(chunk.kind + data)))


def joined(chunks: list[Chunk], rest: bytes) -> bytes:
    """The file again."""
    parts = [SIGNATURE]
    for chunk in chunks:
        parts += [struct.pack(">I", len(chunk.data)), chunk.kind, chunk.data, chunk.crc]
    return b"".join([*parts, rest])
