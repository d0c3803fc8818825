"""SillyTavern's world info: `{entries: {"<uid>": entry}}`.

A JavaScript object with whole-number keys is read in ascending order whatever the file says.
"""

from typing import Any

from armarius.lorebooks.formats.format import Format
from armarius.lorebooks.formats.native import DEFAULTS, EFFECTIVE, native_changes, native_entry
from armarius.lorebooks.formats.reading import Path, Reader
from armarius.lorebooks.record import Entry

__all__ = ["FORMAT", "in_order", "note_unused"]


def in_order(entries: Any) -> list[tuple[str | int, Any]]:  # noqa: ANN401
    """The entries of an object as JavaScript reads them, or of a list."""
    if isinstance(entries, list):
        return list(enumerate(entries))
    numbers = [key for key in entries if key.isascii() and key.isdigit() and (key == "0" or key[0] != "0")]
    numbers.sort(key=lambda key: (len(key), key))
    known = set(numbers)
    return [(key, entries[key]) for key in (*numbers, *(key for key in entries if key not in known))]


def _values(tree: Any) -> list[Any]:  # noqa: ANN401
    entries = tree.get("entries") if isinstance(tree, dict) else None
    found = list(entries.values()) if isinstance(entries, dict) else entries if isinstance(entries, list) else []
    return [one for one in found[:50] if isinstance(one, dict)]


def _claims(tree: Any) -> bool:  # noqa: ANN401
    values = _values(tree)
    if values:
        return any("key" in one for one in values)
    return isinstance(tree, dict) and isinstance(tree.get("entries"), dict)


def note_unused(raw: dict[str, Any], path: Path, reader: Reader) -> None:
    """Fields that work in SillyTavern and nowhere here."""
    if raw.get("automationId"):
        reader.lose((*path, "automationId"), raw["automationId"], "starts a script of SillyTavern; kept")
    if raw.get("vectorized") is True:
        reader.lose((*path, "vectorized"), True, "woken by likeness in SillyTavern; kept, only keys wake it here")


def _read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    reader.name = reader.text(tree.get("name"), ("name",))
    reader.description = tree["description"] if isinstance(tree.get("description"), str) else ""
    for key, raw in in_order(tree["entries"]):
        path: Path = ("entries", key)
        if reader.damaged(raw, path):
            continue
        uid = raw.get("uid", key)
        if isinstance(uid, bool) or not isinstance(uid, int | str):
            reader.lose((*path, "uid"), uid, f"no id; read as {key}")
            uid = key
        elif str(uid) != str(key) and isinstance(key, str):
            reader.lose((*path, "uid"), uid, f"differs from its place {key}; the uid is its id")
        note_unused(raw, path, reader)
        reader.kept(raw, _KNOWN, path)
        reader.add(native_entry(raw, str(uid), path, reader), path, raw)
    reader.kept(tree, frozenset({"entries", "name", "description"}), ())


_KNOWN = EFFECTIVE | {"automationId", "vectorized", "extensions", "decorators", "hash", "world"}


def _write(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    changes = native_changes(leaf, entry, str(raw.get("content") or ""))
    if changes is None:
        return False
    raw.update(changes)
    return True


def _begin(name: str, description: str) -> dict[str, Any]:
    return {"entries": {}, **({"name": name} if name else {}), **({"description": description} if description else {})}


def _add(tree: Any, entry: Entry) -> Path:  # noqa: ANN401
    entries = tree["entries"]
    uid = int(entry.id) if entry.id.isdigit() and len(entry.id) < 10 and entry.id not in entries else None
    if uid is None:
        uid = max((int(key) for key in entries if str(key).isdigit()), default=-1) + 1
    raw = {"uid": uid, **{key: list(value) if isinstance(value, list) else value for key, value in DEFAULTS.items()}}
    entries[str(uid)] = raw | {"displayIndex": len(entries)}
    return ("entries", str(uid))


FORMAT = Format(
    name="sillytavern-world-info",
    short="sillytavern",
    claims=_claims,
    book=lambda tree: (),
    profile=lambda tree: "sillytavern",
    read=_read,
    write=_write,
    begin=_begin,
    add=_add,
)
