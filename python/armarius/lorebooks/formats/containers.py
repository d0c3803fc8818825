"""What holds a book (JSON, picture, archive, module) and which format it is of: by what is in it, never by its name.

A container gives trees, and takes changed ones back. The first format that claims a tree has it.
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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from armarius.errors import BookError
from armarius.headings import Reason
from armarius.io.files import MAX_BYTES, Archive, check_size, looks_like_archive
from armarius.lorebooks.formats import cards, chats, stories
from armarius.lorebooks.formats.format import Format
from armarius.lorebooks.formats.notes import NOVELCRAFTER, VAULT, archived_texts
from armarius.lorebooks.record import UnsupportedField

Kind = Literal["json", "png", "charx", "risum", "novelcrafter"]


@dataclass(frozen=True, slots=True)
class Container:
    """A file that was opened, unchanged.

    Attributes:
        kind: What it is.
        data: Its bytes.
        trees: What its JSON texts say, by name: `""` of a JSON file, `ccv3` and `chara` of a picture, `card.json` and
            `module.risum` of an archive, and the path of each text of a Novelcrafter export.
        losses: What is in it and not read.
        repacked: The file with other trees for some of the names.
    """

    kind: Kind
    data: bytes
    trees: Mapping[str, Any]
    repacked: Callable[[Mapping[str, Any]], bytes] = field(repr=False)
    losses: tuple[UnsupportedField, ...] = ()


def open_container(data: bytes, name: str) -> Container:
    """Open a file by what is in it.

    Raises:
        BookError: Nothing that can hold a book, or above a limit.

    Cost: linear in the size; of an archive only the members that are needed are unpacked.
    """
    if data.startswith(PNG_SIGNATURE):
        return _read_png(data, name)
    if data.startswith(MODULE_HEAD):
        return _module(data, name)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") or encoding_of(data) != "utf-8":
        tree, layout = load_json(data, name)
        return Container("json", data, {"": tree}, lambda trees: dump_json(trees.get("", tree), layout))
    if looks_like_archive(data):
        return _archive(data, name)
    raise BookError(f"{name}: no card, lorebook or vault: neither JSON, PNG, archive nor module")


def _read_png(data: bytes, name: str) -> Container:
    chunks, rest = png_chunks(data, name)
    trees: dict[str, Any] = {}
    layouts: dict[str, JsonLayout] = {}
    losses: list[UnsupportedField] = []
    numbers: dict[str, int] = {}  # of the chunks that were read
    for number, chunk in enumerate(chunks):
        try:
            pair = chunk_text(chunk)
        except BookError as error:
            losses.append(UnsupportedField(chunk.kind.decode("latin-1"), None, Reason("loss.unread", error=str(error))))
            continue
        if pair is None:
            continue
        keyword, text = pair
        if keyword in trees:
            losses.append(UnsupportedField(keyword, None, Reason("loss.second_chunk")))
            continue
        try:
            where = f"{name}: chunk {keyword}"
            trees[keyword], layouts[keyword] = load_json(from_base64(text, where), where)
            numbers[keyword] = number
        except BookError as error:
            losses.append(UnsupportedField(keyword, None, Reason("loss.unread", error=str(error))))
    if not trees:
        why = f": {losses[0].reason}" if losses else ""
        raise BookError(f"{name}: a picture without a card or lorebook{why}")
    if "ccv3" in trees and "chara" in trees and _data(trees["ccv3"]) != _data(trees["chara"]):
        losses.append(UnsupportedField("chara", None, Reason("loss.ccv3")))

    def repack(changed: Mapping[str, Any]) -> bytes:
        made = list(chunks)
        for label in changed.keys() & numbers.keys():
            at = numbers[label]
            made[at] = chunk_with_text(made[at], dump_json(changed[label], layouts[label]))
        return join_chunks(made, rest)

    return Container("png", data, trees, repack, tuple(losses))


def _data(tree: Any) -> Any:  # noqa: ANN401
    return tree.get("data") if isinstance(tree, dict) else None


def _module(data: bytes, name: str) -> Container:
    plain, unknown = decode_module(data, name)
    tree, layout = load_json(plain, name)
    losses = (UnsupportedField(name, unknown, Reason("loss.bytes")),) if unknown else ()
    return Container(
        "risum",
        data,
        {"": tree},
        lambda trees: module_with_json(data, dump_json(trees[""], layout), name) if "" in trees else data,
        losses,
    )


def _archive(data: bytes, name: str) -> Container:
    archive = Archive(data, name)
    outside = tuple(UnsupportedField(path, None, Reason("loss.outside")) for path in archive.outside)
    if "card.json" in archive.names:
        return _charx(data, name, archive, outside)
    trees, losses = archived_texts(archive)
    if not trees:
        raise BookError(f"{name}: an archive without card.json and without Novelcrafter entries")

    def repack(changed: Mapping[str, Any]) -> bytes:
        return archive.changed({path: str(text).encode() for path, text in changed.items()})

    return Container("novelcrafter", data, trees, repack, (*outside, *losses))


def _charx(data: bytes, name: str, archive: Archive, outside: tuple[UnsupportedField, ...]) -> Container:
    tree, layout = load_json(archive.read("card.json"), f"{name}: card.json")
    trees = {"card.json": tree}
    losses = list(outside)
    module = None
    if "module.risum" in archive.names:
        try:
            module = _module(archive.read("module.risum"), "module.risum")
            trees["module.risum"] = module.trees[""]
            losses += module.losses
        except BookError as error:
            losses.append(UnsupportedField("module.risum", None, Reason("loss.unread", error=str(error))))

    def repack(changed: Mapping[str, Any]) -> bytes:
        members = {}
        if "card.json" in changed:
            members["card.json"] = dump_json(changed["card.json"], layout)
        if "module.risum" in changed and module is not None:
            members["module.risum"] = module.repacked({"": changed["module.risum"]})
        return archive.changed(members)

    return Container("charx", data, trees, repack, tuple(losses))


FORMATS: tuple[Format, ...] = (
    VAULT, stories.NOVELAI_LOREBOOK, stories.NOVELAI_SCENARIO, stories.NOVELAI_STORY, chats.RISU_LOREBOOK,
    chats.RISU_MODULE, chats.AGNAI, cards.CARD_V2, cards.CARD_V3, cards.LOREBOOK_V3, stories.KOBOLD_STORY_V2,
    stories.LITE_SAVE, stories.KOBOLD_STORY, chats.TAVERN_HELPER, cards.CHARACTER_BOOK, chats.WORLD_INFO,
    cards.CARD_V1, stories.AI_DUNGEON, stories.LITE, NOVELCRAFTER,
)  # fmt: skip
"""In the order in which they are asked: the first that claims a tree has it."""


class EmbeddedText(NamedTuple):
    """The book of a container.

    Attributes:
        format: Of the tree that holds it.
        label: The tree's name in the container; "" for all of them together.
        name: What the file is, as `detect` says it: `charx` for an archive with a card.
        losses: Between the trees.
    """

    format: Format
    label: str
    name: str
    losses: tuple[UnsupportedField, ...] = ()


def by_name(name: str) -> Format:
    """The format of a name."""
    return next(fmt for fmt in FORMATS if fmt.name == name)


def by_short(short: str) -> Format | None:
    """The format that an export asks for."""
    return next((fmt for fmt in FORMATS if short and short in (fmt.short, fmt.name) and fmt.begin), None)


def card_format(tree: Any) -> Format | None:  # noqa: ANN401
    """The format of a tree that is a character card; None for any other."""
    format_ = _format_of_tree(tree)
    return format_ if format_ is not None and format_.members is not None else None


def _format_of_tree(tree: Any) -> Format | None:  # noqa: ANN401
    return next((fmt for fmt in FORMATS if fmt.claims(tree)), None)


def find_book(container: Container, name: str) -> EmbeddedText:
    """The format of a container, and which of its trees holds the book.

    Raises:
        BookError: Nothing that is known claims it.
    """
    trees = container.trees
    if container.kind == "novelcrafter":
        return EmbeddedText(NOVELCRAFTER, "", NOVELCRAFTER.name)
    if container.kind == "charx":
        card = _format_of_tree(trees["card.json"])
        if card is None:
            raise BookError(f"{name}: card.json is no card that is known")
        module = trees.get("module.risum")
        if module is not None and (format_ := _format_of_tree(module)) is not None:
            lost = UnsupportedField("data.character_book", None, Reason("loss.risum"))
            return EmbeddedText(format_, "module.risum", "charx", (lost,))
        return EmbeddedText(card, "card.json", "charx")
    label = next((key for key in ("", "ccv3", "chara", "naidata") if key in trees), "")
    format_ = _format_of_tree(trees[label])
    if format_ is None:
        raise BookError(f"{name}: {_describe_tree(trees[label])}: no format that is known")
    return EmbeddedText(format_, label, format_.name)


def _describe_tree(tree: Any) -> str:  # noqa: ANN401
    if isinstance(tree, dict):
        return f"an object with {', '.join(list(tree)[:5]) or 'nothing in it'}"
    return f"a list of {len(tree)}" if isinstance(tree, list) else f"JSON of {type(tree).__name__}"


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
        tree = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise BookError(f"{name}: not JSON: {error.msg} in line {error.lineno}") from None
    except RecursionError:
        raise BookError(f"{name}: nested more than {MAX_DEPTH} deep") from None
    except ValueError as error:
        raise BookError(f"{name}: not JSON: {error}") from None
    if isinstance(tree, dict | list) and _is_too_deep(tree):
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


def _is_too_deep(tree: Any) -> bool:  # noqa: ANN401
    """Whether lists and objects are nested deeper than is read; looked at level by level."""
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for node in level
            for inner in (node.values() if isinstance(node, dict) else node)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _refuse_constant(constant: str) -> None:
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
    return key, _inflate_text(content, f"chunk {key}") if packed else content


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


def _inflate_text(content: bytes, name: str) -> bytes:
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
        BookError: It is invalid or too large.
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
