"""AI Dungeon's world info and story cards: `[{keys, entry}]`, later `[{keys, value, type, title}]`."""

from typing import Any

from armarius.lorebooks.formats.fields import FieldTable, content, field, keys
from armarius.lorebooks.formats.format import Format, Reader, appender, written_id
from armarius.lorebooks.record import Entry, Priority


def _table(text: str) -> FieldTable:
    return FieldTable(
        field("title", "name"),
        content(text),
        field("type", "type"),
        keys("keys", comma=","),
        base=Entry("", share=Priority(order=0)),
    )


_TABLES = {True: _table("value"), False: _table("entry")}
_KNOWN = _TABLES[True].names | {"entry", "id", "hidden", "useForCharacterCreation", "description"}


def _claims(tree: Any) -> bool:  # noqa: ANN401
    return isinstance(tree, list) and any(
        isinstance(row, dict) and "keys" in row and ("entry" in row or "value" in row) for row in tree[:50]
    )


def _read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    for index, raw, path in reader.objects(enumerate(tree), ()):
        reader.report_unused(raw, "description", path, "a private note; kept, never sent")
        reader.report_unknown(raw, _KNOWN, path)
        values = _TABLES["value" in raw].read(raw, path, reader)
        reader.add(written_id(raw.get("id"), index), values, path, raw)


def _new_row(entry: Entry) -> dict[str, Any]:
    return {"keys": "", "value": "", "type": "", "title": "", "description": "", "useForCharacterCreation": False}


FORMAT = Format(
    name="ai-dungeon-world-info",
    short="ai-dungeon",
    claims=_claims,
    profile="ai-dungeon",
    read=_read,
    write=lambda raw, leaf, entry: _TABLES["value" in raw].write(raw, leaf, entry),
    begin=lambda name, description: [],
    add=appender((), _new_row),
)
