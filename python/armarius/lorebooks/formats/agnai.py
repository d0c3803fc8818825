"""Agnai's memory book. Its keywords have wild cards; fields of cards are kept and not used there, nor here."""

from typing import Any

from armarius.lorebooks.formats.format import Format
from armarius.lorebooks.formats.reading import Path, Reader
from armarius.lorebooks.record import Entry, Key, Matching, Share

__all__ = ["FORMAT"]

_KNOWN = frozenset({"name", "entry", "keywords", "priority", "weight", "enabled", "id"})
_CARD = ("comment", "selective", "secondaryKeys", "constant", "position")


def _read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    reader.name = reader.text(tree.get("name"), ("name",))
    reader.description = tree["description"] if isinstance(tree.get("description"), str) else ""
    for name in ("scanDepth", "tokenBudget", "recursiveScanning", "extensions"):
        if tree.get(name) not in (None, {}, ""):
            reader.lose((name,), tree[name], "kept for cards; Agnai does not use it")
    entries = tree.get("entries")
    if not isinstance(entries, list):
        reader.lose(("entries",), entries, "a list was expected; no entry was read")
        return
    for index, raw in enumerate(entries):
        path: Path = ("entries", index)
        if reader.damaged(raw, path):
            continue
        for name in _CARD:
            if raw.get(name) not in (None, "", [], False):
                reader.lose((*path, name), raw[name], "kept for cards; Agnai does not use it")
        reader.kept(raw, _KNOWN | frozenset(_CARD), path)
        reader.add(_entry(raw, index, path, reader), path, raw)


def _entry(raw: dict[str, Any], index: int, path: Path, reader: Reader) -> Entry:
    words = reader.keys(raw.get("keywords"), (*path, "keywords"))
    weight = reader.number(raw.get("weight"), (*path, "weight"), 0)
    id_ = raw.get("id")
    return Entry(
        id=str(id_) if isinstance(id_, int | str) and not isinstance(id_, bool) and id_ != "" else str(index),
        name=reader.text(raw.get("name"), (*path, "name")),
        text=reader.text(raw.get("entry"), (*path, "entry")),
        level="when_detected" if reader.flag(raw.get("enabled"), (*path, "enabled"), True) else "never",
        match=Matching(keys=tuple(Key(word, "wildcard" if set("*?") & set(word) else "plain") for word in words)),
        share=Share(order=weight or 0, keep_priority=reader.number(raw.get("priority"), (*path, "priority"), 0)),
    )


def _write(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    share = entry.share
    if leaf == "name":
        raw["name"] = entry.name
    elif leaf in ("text", "share.prefix", "share.suffix"):
        raw["entry"] = share.prefix + entry.text + share.suffix
    elif leaf == "level":
        if entry.level in ("always", "manual_only"):
            return False
        raw["enabled"] = entry.level != "never"
    elif leaf == "match.keys":
        if any(key.kind == "regex" for key in entry.match.keys):
            return False
        raw["keywords"] = [key.text for key in entry.match.keys]
    elif leaf == "share.order":
        raw["weight"] = share.order
    elif leaf == "share.keep_priority":
        raw["priority"] = share.order if share.keep_priority is None else share.keep_priority
    else:
        return False
    return True


def _add(tree: Any, entry: Entry) -> Path:  # noqa: ANN401
    raw = {"name": "", "entry": "", "keywords": [], "priority": 100, "weight": 100, "enabled": True, "id": entry.id}
    tree["entries"].append(raw)
    return ("entries", len(tree["entries"]) - 1)


FORMAT = Format(
    name="agnai-memory-book",
    short="agnai",
    claims=lambda tree: isinstance(tree, dict) and tree.get("kind") == "memory",
    book=lambda tree: (),
    profile=lambda tree: "agnai",
    read=_read,
    write=_write,
    begin=lambda name, description: {"kind": "memory", "name": name, "description": description, "entries": []},
    add=_add,
)
