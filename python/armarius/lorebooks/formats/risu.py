"""RisuAI's rows and Agnai's memory book.

RisuAI: a lorebook, or the rows of a module. A row may be a folder; keys are strings with commas.
Agnai: keywords have wild cards; fields of cards are kept and not used there, nor here.
"""

from collections.abc import Callable, Mapping
from typing import Any

from armarius.lorebooks.formats.fields import (
    FieldRow,
    FieldTable,
    Values,
    content,
    field,
    keep_priority,
    keys,
    level,
    secondary,
    split_decorators,
)
from armarius.lorebooks.formats.format import Format, Reader, TreePath, appender, written_id
from armarius.lorebooks.record import Entry, Matching

_OLD_MODES = ("multiple", "child", "constant")
Raw = Mapping[str, Any]


def _range_line(entry: Entry) -> str:
    range_ = entry.match.range
    return f"@@scan_depth {range_.count}" if range_ is not None and range_.unit == "messages" else ""


# What only a decorator can say: the field to its line, "" where there is none.
_DECORATORS: dict[str, Callable[[Entry], str]] = {
    "match.range": _range_line,
    "wake.by_entries": lambda entry: "@@no_recursive_search" if entry.wake.by_entries is False else "",
    "wake.wakes_others": lambda entry: "@@unrecursive" if entry.wake.wakes_others is False else "",
    "chance.probability": lambda entry: (
        "" if entry.chance.probability is None else f"@@probability {entry.chance.probability:g}"
    ),
    "share.keep_priority": lambda entry: (
        "" if entry.share.keep_priority is None else f"@@priority {entry.share.keep_priority:g}"
    ),
    "timing.once": lambda entry: "@@dont_activate_after_match" if entry.timing.once else "",
    "timing.keep": lambda entry: "@@keep_activate_after_match" if entry.timing.keep else "",
    "place.depth": lambda entry: f"@@depth {entry.place.depth}" if entry.place.slot == "at_depth" else "",
    "place.role": lambda entry: f"@@role {entry.place.role}" if entry.place.slot == "at_depth" else "",
}


def _decorator(leaf: str, line_of: Callable[[Entry], str]) -> FieldRow:
    def save(entry: Entry, raw: Raw) -> Values | None:
        line, text = line_of(entry), str(raw.get("content") or "")
        if not line:
            return None
        there = any(line.partition(" ")[0] == f"@@{one.name}" for one in split_decorators(text)[0])
        return {} if there else {"content": f"{line}\n{text}"}

    return FieldRow(("content",), (leaf,), save)


def _save_slot(entry: Entry, raw: Raw) -> Values | None:
    return {} if entry.place.slot in ("", "before", "after", "at_depth") else None


def _save_use_regex(entry: Entry, raw: Raw) -> Values:
    return {"useRegex": True} if any(key.kind == "regex" for key in entry.match.keys) else {}


def _table(*, expressions: bool) -> FieldTable:
    def comma_keys(name: str) -> FieldRow:
        return keys(name, ("plain", "regex") if expressions else ("plain",), comma=", ", trim=True)

    return FieldTable(
        content("content", decorators=True),
        field("comment", "name"),
        level("", "alwaysActive"),
        comma_keys("key"),
        FieldRow(("useRegex",), ("match.keys",), _save_use_regex),
        field("useRegex", "match.patterns", "", save=bool),
        secondary(comma_keys("secondkey"), "selective", ", "),
        field("insertorder", "share.order", "number", 100),
        FieldRow((), ("place.slot",), _save_slot),
        *(_decorator(leaf, line_of) for leaf, line_of in _DECORATORS.items()),
        base=Entry("", match=Matching(patterns=expressions or None)),
    )


_TABLES = {expressions: _table(expressions=expressions) for expressions in (False, True)}
_KNOWN = _TABLES[True].names | {"mode", "id", "folder", "bookVersion"}


def _read_rows(rows: Any, path: TreePath, reader: Reader) -> None:  # noqa: ANN401
    rows = reader.listed(rows, path)
    folders = {
        row["key"]: row.get("comment") or row["key"]
        for row in rows
        if isinstance(row, dict) and row.get("mode") == "folder" and isinstance(row.get("key"), str)
    }
    for index, raw, where in reader.objects(enumerate(rows), path):
        mode, id_, within = raw.get("mode"), raw.get("id"), raw.get("folder")
        if mode == "folder" and not raw.get("alwaysActive"):
            continue  # only names a folder; one that is always active is in RisuAI's result, with no text
        reader.report_unknown(raw, _KNOWN, where)
        if mode in _OLD_MODES:
            reader.report((*where, "mode"), mode, "an old mode; kept, read as a normal row")
        expressions = reader.flag(raw.get("useRegex"), (*where, "useRegex"))
        if expressions and raw.get("key"):
            what = "RisuAI's expressions keep their slash and hardly match; read as meant"
            reader.report((*where, "useRegex"), True, what)
        values = _TABLES[expressions].read(raw, where, reader)
        values["folder"] = str(folders.get(within, "")) if isinstance(within, str) else ""
        if mode == "constant":
            values["level"] = "always"
        reader.add(id_ if isinstance(id_, str) and id_ else str(index), values, where, raw)


def _new_row(entry: Entry) -> dict[str, Any]:
    return {
        "key": "", "comment": "", "content": "", "mode": "normal", "insertorder": 100, "alwaysActive": False,
        "secondkey": "", "selective": False, "bookVersion": 2, "id": entry.id,
    }  # fmt: skip


def _read_module(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    module = tree.get("module") if isinstance(tree.get("module"), dict) else tree
    path: TreePath = ("module",) if module is not tree else ()
    reader.name = reader.text(module.get("name"), (*path, "name"))
    reader.description = module["description"] if isinstance(module.get("description"), str) else ""
    _read_rows(module.get("lorebook", []), (*path, "lorebook"), reader)
    for name in ("regex", "trigger", "cjs", "assets", "backgroundEmbedding"):
        reader.report_unused(module, name, path, "of the module; kept, without effect here")


LOREBOOK = Format(
    name="risu-lorebook",
    short="risu",
    claims=lambda tree: isinstance(tree, dict) and tree.get("type") == "risu" and isinstance(tree.get("data"), list),
    profile="risu",
    read=lambda tree, reader: _read_rows(tree["data"], ("data",), reader),
    write=_TABLES[True].write,
    begin=lambda name, description: {"type": "risu", "ver": 1, "data": []},
    add=appender(("data",), _new_row),
)
MODULE = Format(
    name="risu-module",
    claims=lambda tree: isinstance(tree, dict) and tree.get("type") == "risuModule",
    profile="risu",
    read=_read_module,
    write=_TABLES[True].write,
)


_TABLE = FieldTable(
    field("name", "name"),
    content("entry"),
    level("enabled", "", enabled=True),
    keys("keywords", ("plain", "wildcard")),
    field("weight", "share.order", "number", 0),
    keep_priority("priority", read=True),
)
_OF_CARDS = ("comment", "selective", "secondaryKeys", "constant", "position")
_AGNAI_KNOWN = _TABLE.names | {"id", *_OF_CARDS}
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
        reader.report_unknown(raw, _AGNAI_KNOWN, path)
        reader.add(written_id(raw.get("id"), index), _TABLE.read(raw, path, reader), path, raw)


def _new_entry(entry: Entry) -> dict[str, Any]:
    return {"name": "", "entry": "", "keywords": [], "priority": 100, "weight": 100, "enabled": True, "id": entry.id}


AGNAI = Format(
    name="agnai-memory-book",
    short="agnai",
    claims=lambda tree: isinstance(tree, dict) and tree.get("kind") == "memory",
    profile="agnai",
    read=_read,
    write=_TABLE.write,
    begin=lambda name, description: {"kind": "memory", "name": name, "description": description, "entries": []},
    add=appender(("entries",), _new_entry),
)
