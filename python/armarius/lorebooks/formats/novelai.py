"""NovelAI's lorebook, alone or in a scenario or a story. What an entry leaves out its category says."""

from collections.abc import Callable, Mapping
from typing import Any

from armarius.lorebooks.formats.fields import UNSAID, FieldRow, FieldTable, Values, field, keep_priority, keys, level
from armarius.lorebooks.formats.format import Format, Reader, TreePath, appender, at
from armarius.lorebooks.record import Entry, Range

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
        what = "stands at its key in NovelAI; here at its place among the entries"
        reader.report((*path, "keyRelative"), True, what)


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
_KNOWN = _TABLE.names | {"lastUpdatedAt", "id", "category", "loreBiasGroups", "advancedConditions"}


def _merged(raw: dict[str, Any], category: Mapping[str, Any]) -> dict[str, Any]:
    """An entry over the defaults of its category; `contextConfig` member by member."""
    defaults = category.get("categoryDefaults") if category.get("useCategoryDefaults") else None
    defaults = defaults if isinstance(defaults, dict) else {}
    config: dict[str, Any] = {}
    for part in (_CONFIG, defaults.get("contextConfig"), raw.get("contextConfig")):
        config |= part if isinstance(part, dict) else {}
    usable = {key: value for key, value in defaults.items() if key in _OF_CATEGORIES}
    return {**usable, **raw, "contextConfig": config}


def _categories(book: dict[str, Any], path: TreePath, reader: Reader) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    listed = book.get("categories")
    rows = enumerate(listed if isinstance(listed, list) else [])
    for _, raw, where in reader.objects(rows, (*path, "categories")):
        if isinstance(raw.get("id"), str):
            found[raw["id"]] = raw
        if raw.get("createSubcontext"):
            reader.report((*where, "createSubcontext"), True, "its entries form one block in NovelAI; kept, none here")
        reader.report_unused(raw, "categoryBiasGroups", where, "biases of the model; kept, without effect here")
    return found


def _reader(path: TreePath) -> Callable[[Any, Reader], None]:
    def read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
        book = at(tree, path)
        if not isinstance(book, dict):
            reader.report(path, book, "an object was expected; no entry was read")
            return
        if path:
            reader.name = reader.text(tree.get("title") or at(tree, ("metadata", "title")), ("title",))
        settings = book.get("settings")
        if isinstance(settings, dict) and settings.get("orderByKeyLocations"):
            where = (*path, "settings", "orderByKeyLocations")
            reader.report(where, True, "entries of one priority stand in list order here")
        categories = _categories(book, path, reader)
        entries = reader.listed(book.get("entries"), (*path, "entries"))
        for index, raw, where in reader.objects(enumerate(entries), (*path, "entries")):
            _read_entry(raw, index, where, categories, reader)
        known = frozenset({"lorebookVersion", "entries", "settings", "categories", "order"})
        reader.report_unknown(book, known, path)
        for name in _OF_STORIES if path else ():
            reader.report_unused(tree, name, (), "kept, not used")

    return read


def _read_entry(raw: dict[str, Any], index: int, path: TreePath, categories: Mapping[str, Any], reader: Reader) -> None:
    category = categories.get(str(raw.get("category") or ""), {})
    for name in ("loreBiasGroups", "advancedConditions"):
        reader.report_unused(raw, name, path)
    reader.report_unknown(raw, _KNOWN, path)
    folder, id_ = category.get("name"), raw.get("id")
    values = _TABLE.read(_merged(raw, category), path, reader)
    values["folder"] = folder if isinstance(folder, str) else ""
    if category.get("enabled") is False:
        values["level"] = "never"
    reader.add(id_ if isinstance(id_, str) and id_ else str(index), values, path, raw)


def _begin(name: str, description: str) -> dict[str, Any]:
    return {"lorebookVersion": 6, "entries": [], "settings": {"orderByKeyLocations": False}, "categories": []}


def _new_entry(entry: Entry) -> dict[str, Any]:
    return {
        "text": "", "contextConfig": dict(_CONFIG), "lastUpdatedAt": 0, "displayName": "", "id": entry.id, "keys": [],
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
        add=appender(("entries",), _new_entry) if short else None,
    )


LOREBOOK = _format("novelai-lorebook", "lorebookVersion", (), "novelai")
SCENARIO = _format("novelai-scenario", "scenarioVersion", ("lorebook",))
STORY = _format("novelai-story", "storyContainerVersion", ("content", "lorebook"))
