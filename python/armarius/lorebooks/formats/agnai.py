"""Agnai's memory book. Its keywords have wild cards; fields of cards are kept and not used there, nor here."""

from typing import Any

from armarius.lorebooks.formats.fields import FieldTable, content, field, keep_priority, keys, level
from armarius.lorebooks.formats.format import Format, Reader, appender, written_id
from armarius.lorebooks.record import Entry

_TABLE = FieldTable(
    field("name", "name"),
    content("entry"),
    level("enabled", "", enabled=True),
    keys("keywords", ("plain", "wildcard")),
    field("weight", "share.order", "number", 0),
    keep_priority("priority", read=True),
)
_OF_CARDS = ("comment", "selective", "secondaryKeys", "constant", "position")
_KNOWN = _TABLE.names | {"id", *_OF_CARDS}
_UNUSED = "kept for cards; Agnai does not use it"


def _read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    reader.name = reader.text(tree.get("name"), ("name",))
    reader.description = tree["description"] if isinstance(tree.get("description"), str) else ""
    for name in ("scanDepth", "tokenBudget", "recursiveScanning", "extensions"):
        if tree.get(name) not in (None, {}, ""):
            reader.report((name,), tree[name], _UNUSED)
    entries = reader.listed(tree.get("entries"), ("entries",))
    for index, raw, path in reader.objects(enumerate(entries), ("entries",)):
        for name in _OF_CARDS:
            reader.report_unused(raw, name, path, _UNUSED)
        reader.report_unknown(raw, _KNOWN, path)
        reader.add(written_id(raw.get("id"), index), _TABLE.read(raw, path, reader), path, raw)


def _new_entry(entry: Entry) -> dict[str, Any]:
    return {"name": "", "entry": "", "keywords": [], "priority": 100, "weight": 100, "enabled": True, "id": entry.id}


FORMAT = Format(
    name="agnai-memory-book",
    short="agnai",
    claims=lambda tree: isinstance(tree, dict) and tree.get("kind") == "memory",
    profile="agnai",
    read=_read,
    write=_TABLE.write,
    begin=lambda name, description: {"kind": "memory", "name": name, "description": description, "entries": []},
    add=appender(("entries",), _new_entry),
)
