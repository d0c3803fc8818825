"""RisuAI's rows: its lorebook, and the rows of a module. A row may be a folder; keys are strings with commas."""

from collections.abc import Callable
from typing import Any

from armarius.lorebooks.formats.decorators import split, with_text
from armarius.lorebooks.formats.format import Format, at
from armarius.lorebooks.formats.native import keys_of
from armarius.lorebooks.formats.reading import Path, Reader, empty
from armarius.lorebooks.record import Condition, Entry, Key, Matching, Place, Share

__all__ = ["FORMATS", "read_rows"]

_KNOWN = frozenset(
    {
        "key", "secondkey", "comment", "content", "mode", "alwaysActive", "insertorder", "useRegex", "id", "selective",
        "folder", "bookVersion",
    }
)  # fmt: skip
_OLD_MODES = ("multiple", "child", "constant")
FOLDER = "\uf000folder:"


def read_rows(rows: Any, path: Path, reader: Reader) -> None:  # noqa: ANN401
    """Read the rows that stand at `path`."""
    if not isinstance(rows, list):
        reader.lose(path, rows, "a list was expected; no entry was read")
        return
    folders = {
        row["key"]: row.get("comment") or row["key"]
        for row in rows
        if isinstance(row, dict) and row.get("mode") == "folder" and isinstance(row.get("key"), str)
    }
    for index, raw in enumerate(rows):
        where: Path = (*path, index)
        if reader.damaged(raw, where):
            continue
        folder = raw.get("mode") == "folder"
        if folder and not raw.get("alwaysActive"):
            continue  # only names a folder; one that is always active is in RisuAI's result, with no text
        reader.kept(raw, _KNOWN, where)
        if raw.get("mode") in _OLD_MODES:
            reader.lose((*where, "mode"), raw["mode"], "an old mode; kept, read as a normal row")
        reader.add(_entry(raw, index, where, folders, reader), where, raw)


def _entry(raw: dict[str, Any], index: int, path: Path, folders: dict[str, Any], reader: Reader) -> Entry:
    get = raw.get
    decorators, text = split(reader.text(get("content"), (*path, "content")))
    expressions = reader.flag(get("useRegex"), (*path, "useRegex"))

    def keys(field: str) -> tuple[Key, ...]:
        found = reader.comma_keys(get(field, ""), (*path, field), trim=True, blanks=False)
        return keys_of([key.text for key in found]) if expressions else found

    if expressions and get("key"):
        reader.lose((*path, "useRegex"), True, "RisuAI's expressions keep their slash and hardly match; read as meant")
    second = keys("secondkey") if reader.flag(get("selective"), (*path, "selective")) and get("secondkey") else ()
    always = reader.flag(get("alwaysActive"), (*path, "alwaysActive")) or get("mode") == "constant"
    order = reader.number(get("insertorder"), (*path, "insertorder"), 100)
    id_, within = get("id"), get("folder")
    return Entry(
        id=id_ if isinstance(id_, str) and id_ else str(index),
        name=reader.text(get("comment"), (*path, "comment")),
        text=text,
        level="always" if always else "when_detected",
        folder=str(folders.get(within, "")) if isinstance(within, str) else "",
        decorators=decorators,
        match=Matching(
            keys=keys("key"), require=(Condition("any", second),) if second else (), patterns=expressions or None
        ),
        share=Share(order=100 if order is None else order),
        place=Place(),
    )


def _write(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    if leaf in ("text", "share.prefix", "share.suffix"):
        text = entry.share.prefix + entry.text + entry.share.suffix
        raw["content"] = with_text(str(raw.get("content") or ""), text)
    elif leaf == "name":
        raw["comment"] = entry.name
    elif leaf == "level":
        if entry.level in ("never", "manual_only"):
            return False
        raw["alwaysActive"] = entry.level == "always"
    elif leaf == "match.keys":
        if any("," in key.text or key.kind == "wildcard" for key in entry.match.keys):
            return False
        raw["key"] = ", ".join(key.text for key in entry.match.keys)
        if any(key.kind == "regex" for key in entry.match.keys):
            raw["useRegex"] = True
    elif leaf == "match.require":
        require = entry.match.require
        if len(require) > 1 or any(one.how != "any" or any("," in key.text for key in one.keys) for one in require):
            return False
        raw["secondkey"] = ", ".join(key.text for one in require for key in one.keys)
        raw["selective"] = bool(require)
    elif leaf == "match.patterns":
        raw["useRegex"] = bool(entry.match.patterns)
    elif leaf == "share.order":
        raw["insertorder"] = entry.share.order
    else:
        return _decorate(raw, leaf, entry)
    return True


def _decorate(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    """What only a decorator can say."""
    lines: dict[str, tuple[bool, str]] = {
        "match.range": (
            entry.match.range is not None and entry.match.range.unit == "messages",
            f"@@scan_depth {entry.match.range.count if entry.match.range else 0}",
        ),
        "wake.by_entries": (entry.wake.by_entries is False, "@@no_recursive_search"),
        "wake.wakes_others": (entry.wake.wakes_others is False, "@@unrecursive"),
        "chance.probability": (entry.chance.probability is not None, f"@@probability {entry.chance.probability:g}")
        if entry.chance.probability is not None
        else (False, ""),
        "share.keep_priority": (
            entry.share.keep_priority is not None,
            f"@@priority {entry.share.keep_priority or 0:g}",
        ),
        "timing.once": (entry.timing.once, "@@dont_activate_after_match"),
        "timing.keep": (entry.timing.keep, "@@keep_activate_after_match"),
        "place.depth": (entry.place.slot == "at_depth", f"@@depth {entry.place.depth}"),
        "place.role": (entry.place.slot == "at_depth", f"@@role {entry.place.role}"),
    }
    if leaf == "place.slot":
        return entry.place.slot in ("", "before", "after", "at_depth")
    if leaf not in lines or not lines[leaf][0]:
        return False
    content = str(raw.get("content") or "")
    name = lines[leaf][1].partition(" ")[0]
    if not any(f"@@{one.name}" == name for one in split(content)[0]):
        raw["content"] = lines[leaf][1] + "\n" + content
    return True


def _adder(path: Path) -> Callable[[Any, Entry], Path]:
    def add(tree: Any, entry: Entry) -> Path:  # noqa: ANN401
        rows = at(tree, path)
        rows.append(
            {
                "key": "", "comment": "", "content": "", "mode": "normal", "insertorder": 100, "alwaysActive": False,
                "secondkey": "", "selective": False, "bookVersion": 2, "id": entry.id,
            }
        )  # fmt: skip
        return (*path, len(rows) - 1)

    return add


def _read_module(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    module = tree.get("module") if isinstance(tree.get("module"), dict) else tree
    path: Path = ("module",) if module is not tree else ()
    reader.name = reader.text(module.get("name"), (*path, "name"))
    reader.description = module["description"] if isinstance(module.get("description"), str) else ""
    read_rows(module.get("lorebook", []), (*path, "lorebook"), reader)
    for name in ("regex", "trigger", "cjs", "assets", "backgroundEmbedding"):
        if not empty(module.get(name)):
            reader.lose((*path, name), module[name], "of the module; kept, without effect here")


def _is_module(tree: Any) -> bool:  # noqa: ANN401
    return isinstance(tree, dict) and tree.get("type") == "risuModule"


FORMATS = (
    Format(
        name="risu-lorebook",
        short="risu",
        claims=lambda tree: (
            isinstance(tree, dict) and tree.get("type") == "risu" and isinstance(tree.get("data"), list)
        ),
        book=lambda tree: (),
        profile=lambda tree: "risu",
        read=lambda tree, reader: read_rows(tree["data"], ("data",), reader),
        write=_write,
        begin=lambda name, description: {"type": "risu", "ver": 1, "data": []},
        add=_adder(("data",)),
    ),
    Format(
        name="risu-module",
        claims=_is_module,
        book=lambda tree: ("module", "lorebook") if "module" in tree else ("lorebook",),
        profile=lambda tree: "risu",
        read=_read_module,
        write=_write,
    ),
)
