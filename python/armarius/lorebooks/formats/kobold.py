"""KoboldAI: Lite's world info (a list, or in a save), and the stories of versions 1 and 2."""

from collections.abc import Callable, Mapping
from typing import Any

from armarius.lorebooks.formats.fields import (
    FieldRow,
    FieldTable,
    Values,
    content,
    field,
    keys,
    level,
    secondary,
    typed_keys,
)
from armarius.lorebooks.formats.format import Format, Reader, TreePath, appender, in_order, written_id
from armarius.lorebooks.record import Condition, Entry, Key, Matching, Priority


def _table(*, lite: bool) -> FieldTable:
    # A trailing comma makes an empty key in Lite; KoboldAI keeps the blanks around a key.
    def comma_keys(name: str, raw: Mapping[str, Any], path: TreePath, reader: Reader) -> tuple[Key, ...]:
        return typed_keys(reader.comma_keys(raw.get(name), (*path, name), trim=lite, blanks=lite), ("plain",))

    def read_require(raw: Mapping[str, Any], path: TreePath, reader: Reader, into: Values) -> None:
        if not reader.flag(raw.get("selective"), (*path, "selective")):
            return
        require = []
        if raw.get("keysecondary"):
            require.append(Condition("any", comma_keys("keysecondary", raw, path, reader)))
        if raw.get("keyanti"):
            require.append(Condition("none", comma_keys("keyanti", raw, path, reader)))
        if not lite and not raw.get("keysecondary"):
            require.append(Condition("any", ()))  # selective without a second key is never used
        into["require"] = tuple(require)

    def save_require(entry: Entry, raw: Mapping[str, Any]) -> Values | None:
        found = {one.how: ",".join(key.text for key in one.keys) for one in entry.match.require}
        if len(found) < len(entry.match.require) or found.keys() - {"any", "none"}:
            return None
        return {"keysecondary": found.get("any", ""), "keyanti": found.get("none", ""), "selective": bool(found)}

    return FieldTable(
        content("content"),
        field("comment", "name"),
        field("wigroup", "folder"),
        level("widisabled", "constant"),
        keys("key", comma=",", trim=lite, blanks=lite),
        FieldRow(("keysecondary", "keyanti", "selective"), ("match.require",), save_require, read_require),
        field(
            "probability", "chance.probability", "number", load=lambda chance: None if chance in (0, 100) else chance,
            save=lambda chance: 100 if chance is None else chance,
        ),
        base=Entry("", share=Priority(order=0)),
    )  # fmt: skip


_LITE, _KOBOLDAI = _table(lite=True), _table(lite=False)
_KNOWN = _LITE.names | {"folder", "num", "uid", "init"}


def _read_rows(rows: Any, path: TreePath, reader: Reader, table: FieldTable, folders: Mapping[str, str]) -> None:  # noqa: ANN401
    for index, raw, where in reader.objects(enumerate(rows), path):
        reader.report_unknown(raw, _KNOWN, where)
        values = table.read(raw, where, reader)
        values["folder"] = folders.get(str(raw.get("folder")), values["folder"])
        reader.add(written_id(raw.get("uid"), index), values, where, raw)


def _read_save(table: FieldTable) -> Callable[[Any, Reader], None]:
    def read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
        reader.settings["story"] = _story(tree)
        folders = {}
        for key, raw in (tree["wifolders_d"] if isinstance(tree.get("wifolders_d"), dict) else {}).items():
            if isinstance(raw, dict) and isinstance(raw.get("name"), str):
                folders[str(key)] = raw["name"]
        saved = tree.get("savedsettings")
        if isinstance(saved, dict) and isinstance(saved.get("case_sensitive_wi"), bool):
            reader.settings["case"] = saved["case_sensitive_wi"]
        if isinstance(tree.get("wisearchdepth"), int):
            reader.settings["search_depth"] = tree["wisearchdepth"]
        _read_rows(tree["worldinfo"], ("worldinfo",), reader, table, folders)
        _report_story(tree, reader)

    return read


def _story(tree: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Opening and actions of a story, which is what its book searches."""
    actions = tree.get("actions")
    if isinstance(actions, dict):  # version 2: {action_count, actions: {"0": {"Selected Text": …}}}
        inner = actions.get("actions")
        listed = [one for _, one in in_order(inner)] if isinstance(inner, dict) else []
        actions = [one.get("Selected Text", "") if isinstance(one, dict) else "" for one in listed]
    texts = tuple(one for one in actions if isinstance(one, str)) if isinstance(actions, list) else ()
    prompt = tree.get("prompt")
    return (prompt if isinstance(prompt, str) else "", texts)


def _report_story(tree: dict[str, Any], reader: Reader) -> None:
    for name in ("prompt", "memory", "authorsnote", "anotetemplate"):
        reader.report_unused(tree, name, (), "of the story; kept, not used")


_V2 = FieldTable(
    field("content", "text"),
    field("manual_text", "text", ""),
    field("title", "name"),
    level("", "constant"),
    keys("key"),
    secondary(keys("keysecondary"), "selective"),
    base=Entry("", match=Matching(case=True), share=Priority(order=0)),
)
_V2_KNOWN = _V2.names | {"uid", "folder", "comment", "token_length", "type", "wpp", "use_wpp", "v1_uid", "object_type"}


def _read_v2(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    reader.settings["story"] = _story(tree)
    entries = tree["worldinfo_v2"].get("entries")
    rows = in_order(entries) if isinstance(entries, dict | list) else []
    for key, raw, path in reader.objects(rows, ("worldinfo_v2", "entries")):
        reader.report_unknown(raw, _V2_KNOWN, path)
        wpp, folder, uid = raw.get("wpp"), raw.get("folder"), raw.get("uid", key)
        if raw.get("use_wpp"):
            reader.report((*path, "wpp"), wpp, "the text is made from it in KoboldAI; kept, the text is read")
        if raw.get("type") not in (None, "wi", "constant"):
            reader.report((*path, "type"), raw["type"], "has a part of its own in KoboldAI; kept, an entry like others")
        values = _V2.read({**raw, "content": raw.get("content") or raw.get("manual_text")}, path, reader)
        values["folder"] = "" if folder in (None, "root") else str(folder)
        values["type"] = str(wpp["type"]).lower() if isinstance(wpp, dict) and wpp.get("type") else ""
        reader.add(str(uid if isinstance(uid, int | str) else key), values, path, raw)
    _report_story(tree, reader)


def _is_story(tree: Any) -> bool:  # noqa: ANN401
    return (
        isinstance(tree, dict) and isinstance(tree.get("worldinfo"), list) and ("actions" in tree or "prompt" in tree)
    )


def _is_lite_save(tree: Any) -> bool:  # noqa: ANN401
    return _is_story(tree) and ("savedsettings" in tree or "wisearchdepth" in tree or "wiinsertlocation" in tree)


def _new_row(entry: Entry) -> dict[str, Any]:
    return {
        "key": "", "keysecondary": "", "keyanti": "", "content": "", "comment": "", "folder": None, "selective": False,
        "constant": False, "probability": 100, "wigroup": "", "widisabled": False,
    }  # fmt: skip


STORY_V2 = Format(
    name="koboldai-story-v2",
    claims=lambda tree: isinstance(tree, dict) and isinstance(tree.get("worldinfo_v2"), dict),
    profile="koboldai",
    read=_read_v2,
    write=_V2.write,
)
LITE_SAVE = Format(
    name="kobold-lite-save",
    claims=_is_lite_save,
    profile="kobold-lite",
    read=_read_save(_LITE),
    write=_LITE.write,
)
STORY = Format(
    name="koboldai-story",
    claims=_is_story,
    profile="koboldai",
    read=_read_save(_KOBOLDAI),
    write=_KOBOLDAI.write,
)
LITE = Format(
    name="kobold-lite-world-info",
    short="kobold",
    claims=lambda tree: (
        isinstance(tree, list) and any(isinstance(row, dict) and "key" in row and "content" in row for row in tree[:50])
    ),
    profile="kobold-lite",
    read=lambda tree, reader: _read_rows(tree, (), reader, _LITE, {}),
    write=_LITE.write,
    begin=lambda name, description: [],
    add=appender((), _new_row),
)
