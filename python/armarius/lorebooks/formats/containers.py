"""What holds a book: a JSON text, a picture, an archive, a module. Each gives trees, and takes changed ones back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from armarius.errors import BookError
from armarius.io.read import Archive, looks_like_archive
from armarius.lorebooks.formats import json_text, png, risum
from armarius.lorebooks.formats.json_text import Manner
from armarius.lorebooks.losses import Loss

__all__ = ["Container", "Kind", "open_container"]

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
    losses: tuple[Loss, ...] = ()


def open_container(data: bytes, name: str) -> Container:
    """Open a file by what is in it.

    Raises:
        BookError: Nothing that can hold a book, or above a limit.

    Cost: linear in the size; of an archive only the members that are needed are unpacked.
    """
    if data.startswith(png.SIGNATURE):
        return _picture(data, name)
    if data.startswith(risum.HEAD):
        return _module(data, name)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") or json_text.encoding_of(data) != "utf-8":
        tree, manner = json_text.load(data, name)
        return Container("json", data, {"": tree}, lambda trees: json_text.dump(trees.get("", tree), manner))
    if looks_like_archive(data):
        return _archive(data, name)
    raise BookError(f"{name}: no card, lorebook or vault: neither JSON, PNG, archive nor module")


def _picture(data: bytes, name: str) -> Container:
    chunks, rest = png.chunks_of(data, name)
    trees: dict[str, Any] = {}
    manners: dict[str, Manner] = {}
    losses: list[Loss] = []
    for chunk in chunks:
        try:
            found = png.text_of(chunk)
        except BookError as error:
            losses.append(Loss(chunk.kind.decode("latin-1"), None, f"kept, not read: {error}"))
            continue
        if found is None:
            continue
        keyword, text = found
        if keyword in trees:
            losses.append(Loss(keyword, None, "a second chunk of this name is kept and not read"))
            continue
        try:
            where = f"{name}: chunk {keyword}"
            trees[keyword], manners[keyword] = json_text.load(png.decoded(text, where), where)
        except BookError as error:
            losses.append(Loss(keyword, None, f"kept, not read: {error}"))
    if not trees:
        why = f": {losses[0].reason}" if losses else ""
        raise BookError(f"{name}: a picture without a card or lorebook{why}")
    if "ccv3" in trees and "chara" in trees and _data(trees["ccv3"]) != _data(trees["chara"]):
        losses.append(Loss("chara", None, "differs from ccv3, which is read; kept"))

    def repacked(changed: Mapping[str, Any]) -> bytes:
        seen: set[str] = set()
        made = []
        for chunk in chunks:
            try:
                found = png.text_of(chunk)
            except BookError:  # reported when it was read
                found = None
            if found is not None and found[0] in changed and found[0] not in seen:
                seen.add(found[0])
                chunk = png.with_text(chunk, json_text.dump(changed[found[0]], manners[found[0]]))
            made.append(chunk)
        return png.joined(made, rest)

    return Container("png", data, trees, repacked, tuple(losses))


def _data(tree: Any) -> Any:  # noqa: ANN401
    return tree.get("data") if isinstance(tree, dict) else None


def _module(data: bytes, name: str) -> Container:
    plain, unknown = risum.decoded(data, name)
    tree, manner = json_text.load(plain, name)
    losses = (_unread(name, unknown),) if unknown else ()
    return Container(
        "risum",
        data,
        {"": tree},
        lambda trees: risum.with_json(data, json_text.dump(trees[""], manner), name) if "" in trees else data,
        losses,
    )


def _unread(name: str, unknown: int) -> Loss:
    return Loss(name, unknown, "so many bytes have codes that are not known: shown as \ufffd or 1, kept as they are")


def _archive(data: bytes, name: str) -> Container:
    archive = Archive(data, name)
    outside = tuple(Loss(one, None, "leads out of the archive; not read") for one in archive.outside)
    if "card.json" in archive.names:
        return _charx(data, name, archive, outside)
    from armarius.lorebooks.formats import novelcrafter

    trees, losses = novelcrafter.texts(archive)
    if not trees:
        raise BookError(f"{name}: an archive without card.json and without Novelcrafter entries")

    def repacked(changed: Mapping[str, Any]) -> bytes:
        return archive.changed({path: str(text).encode() for path, text in changed.items()})

    return Container("novelcrafter", data, trees, repacked, (*outside, *losses))


def _charx(data: bytes, name: str, archive: Archive, outside: tuple[Loss, ...]) -> Container:
    tree, manner = json_text.load(archive.read("card.json"), f"{name}: card.json")
    trees = {"card.json": tree}
    losses = list(outside)
    module = None
    if "module.risum" in archive.names:
        try:
            module = _module(archive.read("module.risum"), "module.risum")
            trees["module.risum"] = module.trees[""]
            losses += module.losses
        except BookError as error:
            losses.append(Loss("module.risum", None, f"kept, not read: {error}"))

    def repacked(changed: Mapping[str, Any]) -> bytes:
        members = {}
        if "card.json" in changed:
            members["card.json"] = json_text.dump(changed["card.json"], manner)
        if "module.risum" in changed and module is not None:
            members["module.risum"] = module.repacked({"": changed["module.risum"]})
        return archive.changed(members)

    return Container("charx", data, trees, repacked, tuple(losses))
