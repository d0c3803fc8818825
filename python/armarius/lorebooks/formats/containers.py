"""What holds a book (JSON, picture, archive, module) and which format it is of: by what is in it, never by its name.

A container gives trees, and takes changed ones back. The first format that claims a tree has it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from armarius.errors import BookError
from armarius.io.read import Archive, looks_like_archive
from armarius.lorebooks.formats import cards, risu, sillytavern, stories
from armarius.lorebooks.formats.file_encoding import (
    MODULE_HEAD,
    PNG_SIGNATURE,
    JsonLayout,
    chunk_text,
    chunk_with_text,
    decode_module,
    dump_json,
    encoding_of,
    from_base64,
    join_chunks,
    load_json,
    module_with_json,
    png_chunks,
)
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
        return _picture(data, name)
    if data.startswith(MODULE_HEAD):
        return _module(data, name)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") or encoding_of(data) != "utf-8":
        tree, layout = load_json(data, name)
        return Container("json", data, {"": tree}, lambda trees: dump_json(trees.get("", tree), layout))
    if looks_like_archive(data):
        return _archive(data, name)
    raise BookError(f"{name}: no card, lorebook or vault: neither JSON, PNG, archive nor module")


def _picture(data: bytes, name: str) -> Container:
    chunks, rest = png_chunks(data, name)
    trees: dict[str, Any] = {}
    layouts: dict[str, JsonLayout] = {}
    losses: list[UnsupportedField] = []
    for chunk in chunks:
        try:
            found = chunk_text(chunk)
        except BookError as error:
            losses.append(UnsupportedField(chunk.kind.decode("latin-1"), None, f"kept, not read: {error}"))
            continue
        if found is None:
            continue
        keyword, text = found
        if keyword in trees:
            losses.append(UnsupportedField(keyword, None, "a second chunk of this name is kept and not read"))
            continue
        try:
            where = f"{name}: chunk {keyword}"
            trees[keyword], layouts[keyword] = load_json(from_base64(text, where), where)
        except BookError as error:
            losses.append(UnsupportedField(keyword, None, f"kept, not read: {error}"))
    if not trees:
        why = f": {losses[0].reason}" if losses else ""
        raise BookError(f"{name}: a picture without a card or lorebook{why}")
    if "ccv3" in trees and "chara" in trees and _data(trees["ccv3"]) != _data(trees["chara"]):
        losses.append(UnsupportedField("chara", None, "differs from ccv3, which is read; kept"))

    def repacked(changed: Mapping[str, Any]) -> bytes:
        seen: set[str] = set()
        made = []
        for chunk in chunks:
            try:
                found = chunk_text(chunk)
            except BookError:  # reported when it was read
                found = None
            if found is not None and found[0] in changed and found[0] not in seen:
                seen.add(found[0])
                chunk = chunk_with_text(chunk, dump_json(changed[found[0]], layouts[found[0]]))
            made.append(chunk)
        return join_chunks(made, rest)

    return Container("png", data, trees, repacked, tuple(losses))


def _data(tree: Any) -> Any:  # noqa: ANN401
    return tree.get("data") if isinstance(tree, dict) else None


def _module(data: bytes, name: str) -> Container:
    plain, unknown = decode_module(data, name)
    tree, layout = load_json(plain, name)
    losses = (_unread(name, unknown),) if unknown else ()
    return Container(
        "risum",
        data,
        {"": tree},
        lambda trees: module_with_json(data, dump_json(trees[""], layout), name) if "" in trees else data,
        losses,
    )


def _unread(name: str, unknown: int) -> UnsupportedField:
    return UnsupportedField(
        name, unknown, "so many bytes have codes that are not known: shown as \ufffd or 1, kept as they are"
    )


def _archive(data: bytes, name: str) -> Container:
    archive = Archive(data, name)
    outside = tuple(UnsupportedField(one, None, "leads out of the archive; not read") for one in archive.outside)
    if "card.json" in archive.names:
        return _charx(data, name, archive, outside)
    trees, losses = archived_texts(archive)
    if not trees:
        raise BookError(f"{name}: an archive without card.json and without Novelcrafter entries")

    def repacked(changed: Mapping[str, Any]) -> bytes:
        return archive.changed({path: str(text).encode() for path, text in changed.items()})

    return Container("novelcrafter", data, trees, repacked, (*outside, *losses))


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
            losses.append(UnsupportedField("module.risum", None, f"kept, not read: {error}"))

    def repacked(changed: Mapping[str, Any]) -> bytes:
        members = {}
        if "card.json" in changed:
            members["card.json"] = dump_json(changed["card.json"], layout)
        if "module.risum" in changed and module is not None:
            members["module.risum"] = module.repacked({"": changed["module.risum"]})
        return archive.changed(members)

    return Container("charx", data, trees, repacked, tuple(losses))


FORMATS: tuple[Format, ...] = (
    VAULT,
    stories.NOVELAI_LOREBOOK,
    stories.NOVELAI_SCENARIO,
    stories.NOVELAI_STORY,
    risu.LOREBOOK,
    risu.MODULE,
    risu.AGNAI,
    cards.CARD_V2,
    cards.CARD_V3,
    cards.LOREBOOK_V3,
    stories.KOBOLD_STORY_V2,
    stories.LITE_SAVE,
    stories.KOBOLD_STORY,
    sillytavern.TAVERN_HELPER,
    cards.CHARACTER_BOOK,
    sillytavern.FORMAT,
    cards.CARD_V1,
    stories.AI_DUNGEON,
    stories.LITE,
    NOVELCRAFTER,
)


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
    return next(one for one in FORMATS if one.name == name)


def by_short(short: str) -> Format | None:
    """The format that an export asks for."""
    return next((one for one in FORMATS if short and short in (one.short, one.name) and one.begin), None)


def card_format(tree: Any) -> Format | None:  # noqa: ANN401
    """The format of a tree that is a character card; None where it is none."""
    format_ = _claimed(tree)
    return format_ if format_ is not None and format_.members is not None else None


def _claimed(tree: Any) -> Format | None:  # noqa: ANN401
    return next((one for one in FORMATS if one.claims(tree)), None)


def found_in(container: Container, name: str) -> EmbeddedText:
    """The format of a container, and which of its trees holds the book.

    Raises:
        BookError: Nothing that is known claims it.
    """
    trees = container.trees
    if container.kind == "novelcrafter":
        return EmbeddedText(NOVELCRAFTER, "", NOVELCRAFTER.name)
    if container.kind == "charx":
        card = _claimed(trees["card.json"])
        if card is None:
            raise BookError(f"{name}: card.json is no card that is known")
        module = trees.get("module.risum")
        if module is not None and (format_ := _claimed(module)) is not None:
            lost = UnsupportedField(
                "data.character_book", None, "module.risum holds the book that counts; kept, not read"
            )
            return EmbeddedText(format_, "module.risum", "charx", (lost,))
        return EmbeddedText(card, "card.json", "charx")
    label = next((one for one in ("", "ccv3", "chara", "naidata") if one in trees), "")
    format_ = _claimed(trees[label])
    if format_ is None:
        raise BookError(f"{name}: {_what(trees[label])}: no format that is known")
    return EmbeddedText(format_, label, format_.name)


def _what(tree: Any) -> str:  # noqa: ANN401
    if isinstance(tree, dict):
        return f"an object with {', '.join(list(tree)[:5]) or 'nothing in it'}"
    return f"a list of {len(tree)}" if isinstance(tree, list) else f"JSON of {type(tree).__name__}"
