"""AI Dungeon's world info and story cards: `[{keys, entry}]`, later `[{keys, value, type, title}]`."""

from typing import Any

from armarius.lorebooks.formats.format import Format
from armarius.lorebooks.formats.reading import Path, Reader
from armarius.lorebooks.record import Entry, Matching, Share

__all__ = ["FORMAT"]

_KNOWN = frozenset({"keys", "entry", "value", "id", "title", "type", "hidden", "useForCharacterCreation"})


def _claims(tree: Any) -> bool:  # noqa: ANN401
    return isinstance(tree, list) and any(
        isinstance(row, dict) and "keys" in row and ("entry" in row or "value" in row) for row in tree[:50]
    )


def _read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    for index, raw in enumerate(tree):
        path: Path = (index,)
        if reader.damaged(raw, path):
            continue
        for key in raw.keys() - _KNOWN:
            if raw[key] not in (None, "", [], False):
                reason = "a private note; kept, never sent" if key == "description" else "kept, without effect here"
                reader.lose((index, key), raw[key], reason)
        field = "value" if "value" in raw else "entry"
        id_ = raw.get("id")
        entry = Entry(
            id=str(id_) if isinstance(id_, int | str) and not isinstance(id_, bool) and id_ != "" else str(index),
            name=reader.text(raw.get("title"), (index, "title")),
            text=reader.text(raw.get(field), (index, field)),
            type=reader.text(raw.get("type"), (index, "type")),
            match=Matching(keys=reader.comma_keys(raw.get("keys"), (index, "keys"), trim=False, blanks=False)),
            share=Share(order=0),
        )
        reader.add(entry, path, raw)


def _write(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    if leaf in ("text", "share.prefix", "share.suffix"):
        raw["value" if "value" in raw else "entry"] = entry.share.prefix + entry.text + entry.share.suffix
    elif leaf == "name":
        raw["title"] = entry.name
    elif leaf == "type":
        raw["type"] = entry.type
    elif leaf == "match.keys":
        if any("," in key.text or key.kind != "plain" for key in entry.match.keys):
            return False
        raw["keys"] = ",".join(key.text for key in entry.match.keys)
    else:
        return False
    return True


def _add(tree: Any, entry: Entry) -> Path:  # noqa: ANN401
    tree.append({"keys": "", "value": "", "type": "", "title": "", "description": "", "useForCharacterCreation": False})
    return (len(tree) - 1,)


FORMAT = Format(
    name="ai-dungeon-world-info",
    short="ai-dungeon",
    claims=_claims,
    book=lambda tree: (),
    profile=lambda tree: "ai-dungeon",
    read=_read,
    write=_write,
    begin=lambda name, description: [],
    add=_add,
)
