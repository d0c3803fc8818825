"""Programs of story writers: KoboldAI (Lite's world info, stories of versions 1 and 2), AI Dungeon, NovelAI.

AI Dungeon: world info and story cards, `[{keys, entry}]`, later `[{keys, value, type, title}]`. NovelAI: alone or in a
scenario or a story; what an entry leaves out its category says.
"""

from collections.abc import Callable, Mapping
from typing import Any

from armarius.lorebooks.formats.format import (
    UNSAID,
    FieldRow,
    FieldTable,
    Format,
    Reader,
    TreePath,
    Values,
    appender,
    at,
    content,
    field,
    in_order,
    inner_object,
    keep_priority,
    keys,
    level,
    sample,
    secondary,
    typed_keys,
    written_id,
)
from armarius.lorebooks.record import Condition, Entry, Key, Matching, Priority, Range


def _kobold_table(*, lite: bool) -> FieldTable:
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
        texts = {condition.how: ",".join(key.text for key in condition.keys) for condition in entry.match.require}
        if len(texts) < len(entry.match.require) or texts.keys() - {"any", "none"}:
            return None
        return {"keysecondary": texts.get("any", ""), "keyanti": texts.get("none", ""), "selective": bool(texts)}

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


_LITE, _KOBOLDAI = _kobold_table(lite=True), _kobold_table(lite=False)
_KOBOLD_KNOWN = _LITE.names | {"folder", "num", "uid", "init"}


def _read_rows(rows: Any, path: TreePath, reader: Reader, table: FieldTable, folders: Mapping[str, str]) -> None:  # noqa: ANN401
    for index, raw, where in reader.objects(enumerate(rows), path):
        reader.report_unknown(raw, _KOBOLD_KNOWN, where)
        values = table.read(raw, where, reader)
        values["folder"] = folders.get(str(raw.get("folder")), values["folder"])
        reader.add(written_id(raw.get("uid"), index), values, where, raw)


def _read_save(table: FieldTable) -> Callable[[Any, Reader], None]:
    def read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
        reader.settings["story"] = _story(tree)
        folders = {}
        for key, raw in inner_object(tree, "wifolders_d").items():
            if isinstance(raw, dict) and isinstance(raw.get("name"), str):
                folders[str(key)] = raw["name"]
        saved = inner_object(tree, "savedsettings")
        if isinstance(saved.get("case_sensitive_wi"), bool):
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
        listed = in_order(inner_object(actions, "actions"))
        actions = [action.get("Selected Text", "") if isinstance(action, dict) else "" for _, action in listed]
    texts = tuple(action for action in actions if isinstance(action, str)) if isinstance(actions, list) else ()
    prompt = tree.get("prompt")
    return (prompt if isinstance(prompt, str) else "", texts)


def _report_story(tree: dict[str, Any], reader: Reader) -> None:
    for name in ("prompt", "memory", "authorsnote", "anotetemplate"):
        reader.report_unused(tree, name, (), "story")


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
            reader.report((*path, "wpp"), wpp, "wpp")
        if raw.get("type") not in (None, "wi", "constant"):
            reader.report((*path, "type"), raw["type"], "koboldai")
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


_NEW_KOBOLD_ROW = {
    "key": "", "keysecondary": "", "keyanti": "", "content": "", "comment": "", "folder": None, "selective": False,
    "constant": False, "probability": 100, "wigroup": "", "widisabled": False,
}  # fmt: skip
KOBOLD_STORY_V2 = Format(
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
KOBOLD_STORY = Format(
    name="koboldai-story",
    claims=_is_story,
    profile="koboldai",
    read=_read_save(_KOBOLDAI),
    write=_KOBOLDAI.write,
)
LITE = Format(
    name="kobold-lite-world-info",
    short="kobold",
    claims=lambda tree: isinstance(tree, list) and any("key" in row and "content" in row for row in sample(tree)),
    profile="kobold-lite",
    read=lambda tree, reader: _read_rows(tree, (), reader, _LITE, {}),
    write=_LITE.write,
    begin=lambda name, description: [],
    add=appender((), _NEW_KOBOLD_ROW),
)


def _ai_dungeon_table(text: str) -> FieldTable:
    return FieldTable(
        field("title", "name"),
        content(text),
        field("type", "type"),
        keys("keys", comma=","),
        base=Entry("", share=Priority(order=0)),
    )


_TABLES = {True: _ai_dungeon_table("value"), False: _ai_dungeon_table("entry")}
_AI_DUNGEON_KNOWN = _TABLES[True].names | {"entry", "id", "hidden", "useForCharacterCreation", "description"}


def _claims_tree(tree: Any) -> bool:  # noqa: ANN401
    return isinstance(tree, list) and any("keys" in row and ("entry" in row or "value" in row) for row in sample(tree))


def _read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    for index, raw, path in reader.objects(enumerate(tree), ()):
        reader.report_unused(raw, "description", path, "private_note")
        reader.report_unknown(raw, _AI_DUNGEON_KNOWN, path)
        values = _TABLES["value" in raw].read(raw, path, reader)
        reader.add(written_id(raw.get("id"), index), values, path, raw)


_NEW_CARD = {"keys": "", "value": "", "type": "", "title": "", "description": "", "useForCharacterCreation": False}
AI_DUNGEON = Format(
    name="ai-dungeon-world-info",
    short="ai-dungeon",
    claims=_claims_tree,
    profile="ai-dungeon",
    read=_read,
    write=lambda raw, leaf, entry: _TABLES["value" in raw].write(raw, leaf, entry),
    begin=lambda name, description: [],
    add=appender((), _NEW_CARD),
)


_CONFIG = {
    "prefix": "", "suffix": "\n", "tokenBudget": 1, "reservedTokens": 0, "budgetPriority": 400,
    "trimDirection": "trimBottom", "insertionType": "newline", "maximumTrimType": "sentence", "insertionPosition": -1,
}  # fmt: skip
_TRIM = {"trimBottom": "end", "trimTop": "start", "doNotTrim": "none"}
_OF_CATEGORIES = frozenset({"searchRange", "enabled", "forceActivation", "keyRelative", "nonStoryActivatable"})
_OF_STORIES = ("context", "ephemeralContext", "placeholders", "prompt", "author", "description", "tags")
Raw = Mapping[str, Any]


def _read_share(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
    config, path = raw["contextConfig"], (*path, "contextConfig")
    into["order"] = into["keep_priority"] = reader.number(config["budgetPriority"], (*path, "budgetPriority"), 400) or 0
    budget = reader.number(config["tokenBudget"], (*path, "tokenBudget"), 1) or 0  # 1 is no limit, below it a share
    into["max_tokens"] = int(budget) if budget > 1 else None
    into["max_share"] = budget if 0 <= budget < 1 else None
    into["trim"] = (_TRIM.get(str(config["trimDirection"]), "end"), str(config["maximumTrimType"]))


def _read_slot(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
    into["slot"] = "at_depth"
    if reader.flag(raw.get("keyRelative"), (*path, "keyRelative")):
        into["slot"] = "key"
        reader.report((*path, "keyRelative"), True, "at_key")


def _save_slot(entry: Entry, raw: Raw) -> Values | None:
    return {} if entry.place.slot in ("", "at_depth", "before") else None


def _save_depth(entry: Entry, raw: Raw) -> Values | None:
    depth = entry.place.depth
    return _save_slot(entry, raw) if depth is None else {"contextConfig.insertionPosition": depth}


_TABLE = FieldTable(
    field("displayName", "name"),
    field("text", "text"),
    level("enabled", "forceActivation", enabled=True),
    keys("keys", ("plain", "regex")),
    field(
        "searchRange", "match.range", "whole", 1000, load=lambda count: Range(count, "characters"),
        save=lambda to: to.count if to is not None and to.unit == "characters" else UNSAID,
    ),
    field("nonStoryActivatable", "wake.by_entries", "flag", False, save=bool),
    FieldRow(("contextConfig",), ("share.trim",), lambda entry, raw: None, _read_share),
    field("contextConfig.budgetPriority", "share.order", ""),
    keep_priority("contextConfig.budgetPriority", read=False),
    field("contextConfig.tokenBudget", "share.max_tokens", "", save=lambda tokens: tokens or 1),
    field("contextConfig.tokenBudget", "share.max_share", "", save=lambda share: 1 if share is None else share),
    field("contextConfig.reservedTokens", "share.reserved", "number", 0),
    field("contextConfig.prefix", "share.prefix"),
    field("contextConfig.suffix", "share.suffix"),
    FieldRow(("keyRelative",), ("place.slot",), _save_slot, _read_slot),
    field("contextConfig.insertionPosition", "place.depth", "whole")._replace(save=_save_depth),
)  # fmt: skip
_NOVELAI_KNOWN = _TABLE.names | {"lastUpdatedAt", "id", "category", "loreBiasGroups", "advancedConditions"}


def _apply_defaults(raw: dict[str, Any], category: Mapping[str, Any]) -> dict[str, Any]:
    """An entry over the defaults of its category; `contextConfig` member by member."""
    defaults = inner_object(category, "categoryDefaults") if category.get("useCategoryDefaults") else {}
    config = {**_CONFIG, **inner_object(defaults, "contextConfig"), **inner_object(raw, "contextConfig")}
    usable = {key: value for key, value in defaults.items() if key in _OF_CATEGORIES}
    return {**usable, **raw, "contextConfig": config}


def _categories(book: dict[str, Any], path: TreePath, reader: Reader) -> dict[str, dict[str, Any]]:
    categories: dict[str, dict[str, Any]] = {}
    listed = book.get("categories")
    rows = enumerate(listed if isinstance(listed, list) else [])
    for _, raw, where in reader.objects(rows, (*path, "categories")):
        if isinstance(raw.get("id"), str):
            categories[raw["id"]] = raw
        if raw.get("createSubcontext"):
            reader.report((*where, "createSubcontext"), True, "subcontext")
        reader.report_unused(raw, "categoryBiasGroups", where, "biases")
    return categories


def _reader(path: TreePath) -> Callable[[Any, Reader], None]:
    def read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
        book = at(tree, path)
        if not isinstance(book, dict):
            reader.report(path, book, "no_entries")
            return
        if path:
            reader.name = reader.text(tree.get("title") or at(tree, ("metadata", "title")), ("title",))
        if inner_object(book, "settings").get("orderByKeyLocations"):
            where = (*path, "settings", "orderByKeyLocations")
            reader.report(where, True, "by_key")
        categories = _categories(book, path, reader)
        entries = reader.listed(book.get("entries"), (*path, "entries"))
        for index, raw, where in reader.objects(enumerate(entries), (*path, "entries")):
            _read_entry(raw, index, where, categories, reader)
        names = frozenset({"lorebookVersion", "entries", "settings", "categories", "order"})
        reader.report_unknown(book, names, path)
        for name in _OF_STORIES if path else ():
            reader.report_unused(tree, name, (), "not_used")

    return read


def _read_entry(raw: dict[str, Any], index: int, path: TreePath, categories: Mapping[str, Any], reader: Reader) -> None:
    category = categories.get(str(raw.get("category") or ""), {})
    for name in ("loreBiasGroups", "advancedConditions"):
        reader.report_unused(raw, name, path)
    reader.report_unknown(raw, _NOVELAI_KNOWN, path)
    folder, id_ = category.get("name"), raw.get("id")
    values = _TABLE.read(_apply_defaults(raw, category), path, reader)
    values["folder"] = folder if isinstance(folder, str) else ""
    if category.get("enabled") is False:
        values["level"] = "never"
    reader.add(id_ if isinstance(id_, str) and id_ else str(index), values, path, raw)


def _begin(name: str, description: str) -> dict[str, Any]:
    return {"lorebookVersion": 6, "entries": [], "settings": {"orderByKeyLocations": False}, "categories": []}


_NEW_ENTRY = {
    "text": "", "contextConfig": _CONFIG, "lastUpdatedAt": 0, "displayName": "", "id": "", "keys": [],
    "searchRange": 1000, "enabled": True, "forceActivation": False, "keyRelative": False,
    "nonStoryActivatable": False, "category": "", "loreBiasGroups": [], "advancedConditions": [],
}  # fmt: skip


def _format(name: str, mark: str, path: TreePath, short: str = "") -> Format:
    return Format(
        name=name,
        short=short,
        claims=lambda tree: isinstance(tree, dict) and mark in tree,
        profile="novelai",
        read=_reader(path),
        write=_TABLE.write,
        begin=_begin if short else None,
        add=appender(("entries",), _NEW_ENTRY) if short else None,
    )


NOVELAI_LOREBOOK = _format("novelai-lorebook", "lorebookVersion", (), "novelai")
NOVELAI_SCENARIO = _format("novelai-scenario", "scenarioVersion", ("lorebook",))
NOVELAI_STORY = _format("novelai-story", "storyContainerVersion", ("content", "lorebook"))
