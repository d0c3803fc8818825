"""The text chunks of a PNG that hold a card or a lorebook; every other chunk stays as it is.

Source: PNG (ISO/IEC 15948) chapter 5 for chunks, 11.3.4 for tEXt, zTXt and iTXt. Cards write base64 of UTF-8 JSON in
tEXt; tools that write pictures anew turn that into the others, and some leave the base64 out.
"""

import base64
import binascii
import struct
import zlib
from typing import Final, NamedTuple

from armarius.errors import BookError
from armarius.lorebooks.limits import MAX_BYTES, check_size

__all__ = ["SIGNATURE", "Chunk", "chunks_of", "decoded", "joined", "text_of", "with_text"]

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_MAX_CHUNKS = 100_000
_URL_SAFE = bytes.maketrans(b"-_", b"+/")


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
    """Keyword in lower case and content of a text chunk that holds a card or a lorebook; None for any other.

    Raises:
        BookError: Compressed content that is damaged or larger than what is read.
    """
    if chunk.kind not in (b"tEXt", b"zTXt", b"iTXt"):
        return None
    key = chunk.data.partition(b"\0")[0].decode("latin-1").lower()
    if key not in ("chara", "ccv3", "naidata"):
        return None
    head, packed = _head(chunk)
    content = chunk.data[head:]
    return key, _unpacked(content, f"chunk {key}") if packed else content


def _head(chunk: Chunk) -> tuple[int, bool]:
    """Where the content of a text chunk begins, and whether it is compressed."""
    at = chunk.data.find(b"\0") + 1
    if chunk.kind == b"tEXt" or not at:
        return (at or len(chunk.data)), False
    if chunk.kind == b"zTXt":
        return at + 1, True
    packed = chunk.data[at : at + 1] == b"\1"
    language = chunk.data.find(b"\0", at + 2)
    translated = chunk.data.find(b"\0", language + 1) if language >= 0 else -1
    return (translated + 1 if translated >= 0 else len(chunk.data)), packed


def _unpacked(content: bytes, name: str) -> bytes:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(content, MAX_BYTES)
    except zlib.error as error:
        raise BookError(f"{name}: damaged: {error}") from None
    if unpacking.unconsumed_tail:
        raise BookError(f"{name}: more than {MAX_BYTES:,} bytes unpacked")
    return text


def decoded(content: bytes, name: str) -> bytes:
    """The content of such a chunk, out of base64.

    Raises:
        BookError: It is none, or too large.
    """
    check_size(len(content), name)
    if content.lstrip()[:1] == b"{":  # the JSON as it is
        return content
    plain = content.translate(_URL_SAFE, b" \t\r\n=")
    try:
        return base64.b64decode(plain + b"=" * (-len(plain) % 4), validate=False)
    except (binascii.Error, ValueError):
        raise BookError(f"{name}: not base64") from None


def with_text(chunk: Chunk, content: bytes) -> Chunk:
    """The chunk with other content, its keyword as it was spelt."""
    head, packed = _head(chunk)
    before = text_of(chunk)
    bare = before is not None and before[1].lstrip()[:1] == b"{"
    made = content if bare else base64.b64encode(content)
    data = chunk.data[:head] + (zlib.compress(made) if packed else made)
    return Chunk(chunk.kind, data, struct.pack(">I", zlib.crc32(chunk.kind + data)))


def joined(chunks: list[Chunk], rest: bytes) -> bytes:
    """The file again."""
    parts = [SIGNATURE]
    for chunk in chunks:
        parts += [struct.pack(">I", len(chunk.data)), chunk.kind, chunk.data, chunk.crc]
    return b"".join([*parts, rest])
