"""NovelAI's lorebook, alone or in a scenario or a story. What an entry leaves out its category says."""

from typing import Any

from armarius.lorebooks.formats.format import Format, at
from armarius.lorebooks.formats.native import keys_of
from armarius.lorebooks.formats.reading import Path, Reader, empty
from armarius.lorebooks.record import Entry, Matching, Place, Range, Share, Wake

__all__ = ["FORMATS"]

_KNOWN = frozenset(
    {
        "text", "contextConfig", "lastUpdatedAt", "displayName", "id", "keys", "searchRange", "enabled",
        "forceActivation", "keyRelative", "nonStoryActivatable", "category", "loreBiasGroups", "advancedConditions",
    }
)  # fmt: skip
_CONFIG = {
    "prefix": "", "suffix": "\n", "tokenBudget": 1, "reservedTokens": 0, "budgetPriority": 400,
    "trimDirection": "trimBottom", "insertionType": "newline", "maximumTrimType": "sentence", "insertionPosition": -1,
}  # fmt: skip
_TRIM = {"trimBottom": "end", "trimTop": "start", "doNotTrim": "none"}


def _merged(raw: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """An entry over the defaults of its category; `contextConfig` field by field."""
    config = {
        key: value
        for part in (_CONFIG, defaults.get("contextConfig"), raw.get("contextConfig"))
        if isinstance(part, dict)
        for key, value in part.items()
    }
    usable = {
        key: value
        for key, value in defaults.items()
        if key in ("searchRange", "enabled", "forceActivation", "keyRelative", "nonStoryActivatable")
    }
    return {**usable, **raw, "contextConfig": config}


def _categories(book: dict[str, Any], path: Path, reader: Reader) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    listed = book.get("categories")
    for index, raw in enumerate(listed if isinstance(listed, list) else []):
        where: Path = (*path, "categories", index)
        if reader.damaged(raw, where):
            continue
        if isinstance(raw.get("id"), str):
            found[raw["id"]] = raw
        if raw.get("createSubcontext"):
            reader.lose((*where, "createSubcontext"), True, "its entries form one block in NovelAI; kept, none here")
        for name in ("categoryBiasGroups",):
            if not empty(raw.get(name)):
                reader.lose((*where, name), raw[name], "biases of the model; kept, without effect here")
    return found


def _reader(path: Path) -> Any:  # noqa: ANN401
    def read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
        book = at(tree, path)
        if not isinstance(book, dict):
            reader.lose(path, book, "an object was expected; no entry was read")
            return
        settings = book.get("settings")
        if isinstance(settings, dict) and settings.get("orderByKeyLocations"):
            reader.lose(
                (*path, "settings", "orderByKeyLocations"), True, "entries of one priority stand in list order here"
            )
        categories = _categories(book, path, reader)
        entries = book.get("entries")
        if not isinstance(entries, list):
            reader.lose((*path, "entries"), entries, "a list was expected; no entry was read")
            entries = []
        for index, raw in enumerate(entries):
            where: Path = (*path, "entries", index)
            if not reader.damaged(raw, where):
                _take(raw, index, where, categories, reader)
        for name, value in book.items():
            if name not in ("lorebookVersion", "entries", "settings", "categories", "order") and not empty(value):
                reader.lose((*path, name), value, "kept, without effect here")
        if path:
            _rest(tree, reader)

    return read


def _rest(tree: dict[str, Any], reader: Reader) -> None:
    reader.name = reader.text(tree.get("title") or at(tree, ("metadata", "title")), ("title",))
    for name in ("context", "ephemeralContext", "placeholders", "prompt", "author", "description", "tags"):
        if not empty(tree.get(name)):
            reader.lose((name,), tree[name], "kept, not used")


def _take(raw: dict[str, Any], index: int, path: Path, categories: dict[str, dict[str, Any]], reader: Reader) -> None:
    category = categories.get(str(raw.get("category") or ""), {})
    defaults = category.get("categoryDefaults") if category.get("useCategoryDefaults") else None
    whole = _merged(raw, defaults if isinstance(defaults, dict) else {})
    level: Any = "when_detected"
    if not reader.flag(whole.get("enabled"), (*path, "enabled"), True) or category.get("enabled") is False:
        level = "never"
    elif reader.flag(whole.get("forceActivation"), (*path, "forceActivation")):
        level = "always"
    for name in ("loreBiasGroups", "advancedConditions"):
        if not empty(raw.get(name)):
            reader.lose((*path, name), raw[name], "kept, without effect here")
    relative = reader.flag(whole.get("keyRelative"), (*path, "keyRelative"))
    if relative:
        reader.lose((*path, "keyRelative"), True, "stands at its key in NovelAI; here at its place among the entries")
    reader.kept(raw, _KNOWN, path)
    id_, folder = raw.get("id"), category.get("name")
    range_ = reader.whole(whole.get("searchRange"), (*path, "searchRange"), 1000)
    entry = Entry(
        id=id_ if isinstance(id_, str) and id_ else str(index),
        name=reader.text(raw.get("displayName"), (*path, "displayName")),
        text=reader.text(raw.get("text"), (*path, "text")),
        level=level,
        folder=folder if isinstance(folder, str) else "",
        match=Matching(
            keys=keys_of(reader.keys(whole.get("keys", []), (*path, "keys"))),
            range=Range(1000 if range_ is None else range_, "characters"),
        ),
        wake=Wake(by_entries=reader.flag(whole.get("nonStoryActivatable"), (*path, "nonStoryActivatable"))),
        share=_share(whole["contextConfig"], (*path, "contextConfig"), reader),
        place=Place(
            "key" if relative else "at_depth", reader.whole(whole["contextConfig"].get("insertionPosition"), path)
        ),
    )
    reader.add(entry, path, raw)


def _share(config: dict[str, Any], path: Path, reader: Reader) -> Share:
    priority = reader.number(config.get("budgetPriority"), (*path, "budgetPriority"), 400) or 0
    budget = reader.number(config.get("tokenBudget"), (*path, "tokenBudget"), 1)
    share = budget is not None and 0 <= budget < 1
    tokens = int(budget) if budget is not None and budget > 1 else None
    return Share(
        order=priority,
        keep_priority=priority,
        max_tokens=tokens,
        max_share=budget if share else None,
        reserved=reader.number(config.get("reservedTokens"), (*path, "reservedTokens"), 0) or 0,
        trim=(_TRIM.get(str(config.get("trimDirection")), "end"), str(config.get("maximumTrimType", ""))),
        prefix=reader.text(config.get("prefix"), (*path, "prefix")),
        suffix=reader.text(config.get("suffix"), (*path, "suffix")),
    )


def _write(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    if leaf in ("name", "text"):
        raw["displayName" if leaf == "name" else "text"] = getattr(entry, leaf)
    elif leaf == "level":
        if entry.level == "manual_only":
            return False
        raw["enabled"] = entry.level != "never"
        if entry.level != "never":
            raw["forceActivation"] = entry.level == "always"
    elif leaf == "match.keys":
        if any(key.kind == "wildcard" for key in entry.match.keys):
            return False
        raw["keys"] = [key.text for key in entry.match.keys]
    elif leaf == "match.range":
        if entry.match.range is None or entry.match.range.unit != "characters":
            return False
        raw["searchRange"] = entry.match.range.count
    elif leaf == "wake.by_entries":
        raw["nonStoryActivatable"] = bool(entry.wake.by_entries)
    elif leaf in _SHARES:
        config = raw.setdefault("contextConfig", {})
        if not isinstance(config, dict):
            return False
        share = entry.share
        said: dict[str, dict[str, Any]] = {
            "share.order": {"budgetPriority": share.order},
            "share.keep_priority": {
                "budgetPriority": share.order if share.keep_priority is None else share.keep_priority
            },
            "share.max_tokens": {"tokenBudget": share.max_tokens or 1},
            "share.max_share": {"tokenBudget": 1 if share.max_share is None else share.max_share},
            "share.reserved": {"reservedTokens": share.reserved},
            "share.prefix": {"prefix": share.prefix},
            "share.suffix": {"suffix": share.suffix},
        }
        config |= said[leaf]
    elif leaf == "place.depth" and isinstance(entry.place.depth, int):
        raw.setdefault("contextConfig", {})["insertionPosition"] = entry.place.depth
    else:
        return leaf in ("place.slot", "place.depth") and entry.place.slot in ("", "at_depth", "before")
    return True


_SHARES = frozenset(
    f"share.{name}" for name in ("order", "keep_priority", "max_tokens", "max_share", "reserved", "prefix", "suffix")
)


def _add(tree: Any, entry: Entry) -> Path:  # noqa: ANN401
    tree["entries"].append(
        {
            "text": "", "contextConfig": dict(_CONFIG), "lastUpdatedAt": 0, "displayName": "", "id": entry.id,
            "keys": [], "searchRange": 1000, "enabled": True, "forceActivation": False, "keyRelative": False,
            "nonStoryActivatable": False, "category": "", "loreBiasGroups": [], "advancedConditions": [],
        }
    )  # fmt: skip
    return ("entries", len(tree["entries"]) - 1)


def _format(name: str, mark: str, path: Path, short: str = "") -> Format:
    return Format(
        name=name,
        short=short,
        claims=lambda tree: isinstance(tree, dict) and mark in tree,
        book=lambda tree: path if isinstance(at(tree, path), dict) else None,
        profile=lambda tree: "novelai",
        read=_reader(path),
        write=_write,
        begin=(
            lambda name, description: {
                "lorebookVersion": 6,
                "entries": [],
                "settings": {"orderByKeyLocations": False},
                "categories": [],
            }
        )
        if short
        else None,
        add=_add if short else None,
    )


FORMATS = (
    _format("novelai-lorebook", "lorebookVersion", (), "novelai"),
    _format("novelai-scenario", "scenarioVersion", ("lorebook",)),
    _format("novelai-story", "storyContainerVersion", ("content", "lorebook")),
)
