"""Encodings of a book's JSON in a file: text, chunks of a PNG, bytes of a RisuAI module.

JSON is parsed within limits and written back with its original layout.

PNG: ISO/IEC 15948, chapter 5 for chunks, 11.3.4 for tEXt, zTXt and iTXt. Cards have base64 of UTF-8 JSON in tEXt; image
editors convert it to the other types, and some decode the base64. All other chunks are kept unchanged.

Module: 111, 0, length (32 bit, little endian), data, then blocks `1, length, data`, at the end 0. Each byte of the JSON
is replaced by another with one fixed table. The table here is incomplete: it was derived from modules with known text.
Unknown bytes are shown as U+FFFD (a digit as 1), reported, and kept unchanged.
"""

import base64
import binascii
import json
import re
import struct
import zlib
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from armarius.errors import BookError
from armarius.io.read import MAX_BYTES, check_size

MAX_DEPTH: Final = 128
"""How deep lists and objects may be nested."""
MAX_OBJECTS: Final = 1_000_000
"""Opening brackets in one JSON text."""
_MARKS = {"utf-8": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
_INDENT = re.compile(r"\A\s*[\[{]\r?\n([ \t]+)")


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """How a JSON text was laid out.

    Attributes:
        indent: Of its second line; None for a text without lines.
        tight: No space behind `,` and `:`.
        bom: A byte order mark stood before it.
        encoding: UTF-8, or UTF-16 in one of its orders.
        end: White space behind it.
    """

    indent: str | None = None
    tight: bool = False
    bom: bool = False
    end: str = ""
    encoding: str = "utf-8"


def load_json(data: bytes, name: str) -> tuple[Any, JsonLayout]:
    """A JSON text and its layout; numbers keep their kind, integers their size.

    Raises:
        BookError: Too large, too deep, not UTF-8 or UTF-16, not JSON; with the place.

    Cost: three passes over the text, one of them the parser's.
    """
    check_size(len(data), name)
    encoding = encoding_of(data)
    mark = _MARKS[encoding]
    bom = data.startswith(mark)
    if encoding == "utf-8" and data.count(b"{") + data.count(b"[") > MAX_OBJECTS:
        raise BookError(f"{name}: more than {MAX_OBJECTS:,} lists and objects")
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise BookError(f"{name}: not {encoding.upper()} text at byte {error.start}") from None
    if encoding != "utf-8" and text.count("{") + text.count("[") > MAX_OBJECTS:
        raise BookError(f"{name}: more than {MAX_OBJECTS:,} lists and objects")
    try:
        tree = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise BookError(f"{name}: not JSON: {error.msg} in line {error.lineno}") from None
    except RecursionError:
        raise BookError(f"{name}: nested more than {MAX_DEPTH} deep") from None
    except ValueError as error:
        raise BookError(f"{name}: not JSON: {error}") from None
    if isinstance(tree, dict | list) and _too_deep(tree):
        raise BookError(f"{name}: nested more than {MAX_DEPTH} deep")
    indent = _INDENT.match(text)
    stripped = text.rstrip()
    layout = JsonLayout(
        indent=indent[1] if indent else None,
        tight=indent is None and '": ' not in text[:4096],
        bom=bom,
        end=text[len(stripped) :],
        encoding=encoding,
    )
    return tree, layout


def dump_json(tree: Any, layout: JsonLayout = JsonLayout(indent="  ", end="\n")) -> bytes:  # noqa: ANN401
    """A tree as bytes. Lone surrogates, which UTF-8 cannot hold, are written as escapes.

    Raises:
        BookError: It holds what JSON cannot, or is nested too deeply.
    """
    separators = (",", ":") if layout.tight else (",", ": ") if layout.indent is not None else (", ", ": ")
    try:
        text = json.dumps(tree, ensure_ascii=False, indent=layout.indent, separators=separators, allow_nan=False)
        try:
            data = text.encode(layout.encoding)
        except UnicodeEncodeError:
            text = json.dumps(tree, indent=layout.indent, separators=separators, allow_nan=False)
            data = text.encode(layout.encoding)
    except (TypeError, ValueError, RecursionError) as error:
        raise BookError(f"cannot be written as JSON: {error}") from None
    return (_MARKS[layout.encoding] if layout.bom else b"") + data + layout.end.encode(layout.encoding)


def encoding_of(data: bytes) -> str:
    """UTF-16 if the data begins with a byte order mark, or with a zero byte before or after a bracket; else UTF-8."""
    head = data[:2]
    if head == _MARKS["utf-16-le"] or head in (b"{\0", b"[\0"):
        return "utf-16-le"
    return "utf-16-be" if head == _MARKS["utf-16-be"] or head in (b"\0{", b"\0[") else "utf-8"


def _too_deep(tree: Any) -> bool:  # noqa: ANN401
    """Whether lists and objects are nested deeper than is read; looked at level by level."""
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _no_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON value")


PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_MAX_CHUNKS = 100_000
_URL_SAFE = bytes.maketrans(b"-_", b"+/")


class PngChunk(NamedTuple):
    """One chunk: type, data, and the check sum as it was written."""

    kind: bytes
    data: bytes
    crc: bytes


def png_chunks(data: bytes, name: str) -> tuple[list[PngChunk], bytes]:
    """The chunks of a PNG, and what stands behind the last whole one.

    Raises:
        BookError: A length that leads behind the end of the file; nothing of it is read.

    Cost: one pass; chunks are copied once.
    """
    chunks: list[PngChunk] = []
    at = len(PNG_SIGNATURE)
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        end = at + 12 + length
        if end > len(data):
            raise BookError(f"{name}: chunk {len(chunks)} says {length:,} bytes, {len(data) - at - 12:,} are there")
        chunks.append(PngChunk(data[at + 4 : at + 8], data[at + 8 : end - 4], data[end - 4 : end]))
        at = end
        if chunks[-1].kind == b"IEND":
            break
        if len(chunks) > _MAX_CHUNKS:
            raise BookError(f"{name}: more than {_MAX_CHUNKS:,} chunks")
    return chunks, data[at:]


def chunk_text(chunk: PngChunk) -> tuple[str, bytes] | None:
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


def _head(chunk: PngChunk) -> tuple[int, bool]:
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


def from_base64(content: bytes, name: str) -> bytes:
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


def chunk_with_text(chunk: PngChunk, content: bytes) -> PngChunk:
    """The chunk with other content, its keyword as it was spelt."""
    head, packed = _head(chunk)
    before = chunk_text(chunk)
    bare = before is not None and before[1].lstrip()[:1] == b"{"
    made = content if bare else base64.b64encode(content)
    data = chunk.data[:head] + (zlib.compress(made) if packed else made)
    return PngChunk(chunk.kind, data, struct.pack(">I", zlib.crc32(chunk.kind + data)))


def join_chunks(chunks: list[PngChunk], rest: bytes) -> bytes:
    """The file again."""
    parts = [PNG_SIGNATURE]
    for chunk in chunks:
        parts += [struct.pack(">I", len(chunk.data)), chunk.kind, chunk.data, chunk.crc]
    return b"".join([*parts, rest])


MODULE_HEAD: Final = b"\x6f\x00"
_START = 6
_UNKNOWN = 0xFF  # no byte of UTF-8
_PLAIN = bytes.fromhex(
    "0a20222c2d2f303132343a4041434d5052565b5c5d5f6162636465666768696b6c6d6e6f7072737475767778797b7d8081828488898c8d8e8f"
    "949597999b9c9da1a3a4a7a8a9adafb0b1b2b3b4b7b8b9babbbdbee3e4e5e6e7e8e9ef"
)
_CODES = bytes.fromhex(
    "6e6120000cafd2c1561697ffb4e8db3b4347f415cf34d31d3ce2058e2a570ecd4c2df2402c79480fb27ab5a76ce67bfe87dc02ebb1dd99a6b0"
    "837cbe5cc32146d0125f8f44ea28359e69cc0ac7ad4af377e9d4da9511bcd88c98f97d"
)
_TO_PLAIN = bytearray([_UNKNOWN]) * 256
_TO_CODE: dict[int, int] = dict(zip(_PLAIN, _CODES, strict=True))
for _plain, _code in _TO_CODE.items():
    _TO_PLAIN[_code] = _plain
_STRING = re.compile(rb'("(?:[^"\\]|\\.)*")', re.DOTALL)


def decode_module(data: bytes, name: str) -> tuple[bytes, int]:
    """The JSON of a module as UTF-8, and how many of its bytes are not in the table.

    Raises:
        BookError: Its length leads behind its end.
    """
    if len(data) < _START or not data.startswith(MODULE_HEAD):
        raise BookError(f"{name}: not a module")
    (length,) = struct.unpack_from("<I", data, len(MODULE_HEAD))
    check_size(length, name)
    if _START + length > len(data):
        raise BookError(f"{name}: says {length:,} bytes, {len(data) - _START:,} are there")
    plain = data[_START : _START + length].translate(bytes(_TO_PLAIN))
    unknown = plain.count(_UNKNOWN)
    if not unknown:
        return plain, 0
    parts = _STRING.split(plain)  # strings at the odd places
    for at in range(0, len(parts), 2):
        parts[at] = parts[at].replace(bytes([_UNKNOWN]), b"1")  # 0 may not lead
    return b"".join(parts).decode("utf-8", "replace").encode(), unknown


def encode_module(plain: bytes, name: str) -> bytes:
    """JSON in the codes of a module.

    Raises:
        BookError: A byte has no known code.
    """
    try:
        return bytes(_TO_CODE[byte] for byte in plain)
    except KeyError as error:
        raise BookError(f"{name}: byte {error.args[0]:#04x} has no known code; export as another format") from None


def module_with_json(data: bytes, plain: bytes, name: str) -> bytes:
    """The module with other JSON; its blocks stay.

    Raises:
        BookError: As `encode_module`.
    """
    (length,) = struct.unpack_from("<I", data, len(MODULE_HEAD))
    code = encode_module(plain, name)
    return MODULE_HEAD + struct.pack("<I", len(code)) + code + data[_START + length :]
