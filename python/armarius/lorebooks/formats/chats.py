"""Programs of chats: SillyTavern, tavern-helper, RisuAI, Agnai.

SillyTavern: the fields of its entries, and its world info `{entries: {"<uid>": entry}}`. Character books and the
worldbook of tavern-helper spell the same fields in their own ways: they hand over a flat object with SillyTavern's
names (`selectiveLogic`, `preventRecursion`, …) and take changes under such names.
RisuAI: a lorebook, or the rows of a module. A row may be a folder; keys are strings with commas.
Agnai: keywords have wild cards; fields of cards are kept and not used there, nor here.
"""

from collections.abc import Callable, Mapping
from operator import not_
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
    content,
    field,
    in_order,
    join_keys,
    keep_priority,
    keys,
    level,
    put,
    sample,
    secondary,
    typed_keys,
    written_id,
)  # fmt: skip
from armarius.lorebooks.record import Condition, Entry, How, Matching, Place, Range, Slot, split_decorators

DEFAULTS: dict[str, Any] = {
    "key": [], "keysecondary": [], "comment": "", "content": "", "constant": False, "vectorized": False,
    "selective": True, "selectiveLogic": 0, "addMemo": False, "order": 100, "position": 0, "disable": False,
    "ignoreBudget": False, "excludeRecursion": False, "preventRecursion": False, "matchPersonaDescription": False,
    "matchCharacterDescription": False, "matchCharacterPersonality": False, "matchCharacterDepthPrompt": False,
    "matchScenario": False, "matchCreatorNotes": False, "delayUntilRecursion": 0, "probability": 100,
    "useProbability": True, "depth": 4, "outletName": "", "group": "", "groupOverride": False, "groupWeight": 100,
    "scanDepth": None, "caseSensitive": None, "matchWholeWords": None, "useGroupScoring": None, "automationId": "",
    "role": 0, "sticky": None, "cooldown": None, "delay": None, "triggers": [],
}  # fmt: skip
"""What a new entry of SillyTavern 1.18 holds."""
_LOGIC: tuple[How, ...] = ("any", "not_all", "none", "all")
_SLOTS: tuple[Slot, ...] = (
    "before", "after", "note_top", "note_bottom", "at_depth", "examples_before", "examples_after", "outlet",
)  # fmt: skip
_AT_DEPTH, _OUTLET = _SLOTS.index("at_depth"), _SLOTS.index("outlet")
_ROLES = ("system", "user", "assistant")
_SOURCES = {
    "matchPersonaDescription": "persona", "matchCharacterDescription": "character",
    "matchCharacterPersonality": "personality", "matchCharacterDepthPrompt": "depth_prompt",
    "matchScenario": "scenario", "matchCreatorNotes": "creator_notes",
}  # fmt: skip
Raw = Mapping[str, Any]
_SPLIT = {True: "word", False: "substring", None: None}


def _read_require(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
    if raw.get("keysecondary") and reader.flag(raw.get("selective"), (*path, "selective")):
        second = typed_keys(reader.keys(raw["keysecondary"], (*path, "keysecondary")))
        logic = reader.whole(raw.get("selectiveLogic"), (*path, "selectiveLogic"), 0) or 0
        into["require"] = (Condition(_LOGIC[logic if logic in range(len(_LOGIC)) else 0], second),) if second else ()


def _save_require(entry: Entry, raw: Raw) -> Values | None:
    if len(entry.match.require) > 1:
        return None
    if not entry.match.require:
        return {"keysecondary": [], "selectiveLogic": 0}
    (condition,) = entry.match.require
    return {"keysecondary": join_keys(condition.keys), "selectiveLogic": _LOGIC.index(condition.how), "selective": True}


def _read_sources(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
    into["sources"] = tuple([source for name, source in _SOURCES.items() if raw.get(name) is True])


def _save_sources(entry: Entry, raw: Raw) -> Values | None:
    sources = set(entry.match.sources)
    flags = {name: source in sources for name, source in _SOURCES.items()}
    return flags if sources <= set(_SOURCES.values()) else None


def _read_probability(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
    if raw.get("useProbability", True):
        probability = reader.number(raw.get("probability"), (*path, "probability"))
        into["probability"] = None if probability == 100 else probability


def _save_probability(entry: Entry, raw: Raw) -> Values:
    probability = entry.chance.probability
    return {"probability": 100 if probability is None else probability, "useProbability": True}


def _save_by_text(entry: Entry, raw: Raw) -> Values:
    return {"delayUntilRecursion": 0 if entry.wake.by_text else max(1, entry.wake.level)}


def _read_place(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
    position = reader.whole(raw.get("position"), (*path, "position"), 0) or 0
    role = raw.get("role")
    if isinstance(role, str) and role in _ROLES:
        role = _ROLES.index(role)
    number = reader.whole(role, (*path, "role"), 0) or 0
    into["slot"] = _SLOTS[position if position in range(len(_SLOTS)) else 0]
    into["role"] = _ROLES[number if number in range(len(_ROLES)) else 0]
    if position == _AT_DEPTH:
        into["depth"] = reader.whole(raw.get("depth"), (*path, "depth"), 4)
    elif position == _OUTLET:
        into["name"] = reader.text(raw.get("outletName"), (*path, "outletName"))


def _save_depth(entry: Entry, raw: Raw) -> Values:
    return {"depth": entry.place.depth} if entry.place.slot == "at_depth" else {}


def _save_slot(entry: Entry, raw: Raw) -> Values | None:
    slot = entry.place.slot or "before"
    return {"position": _SLOTS.index(slot)} if slot in _SLOTS else None


def _read_characters(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
    chosen, path = raw.get("characterFilter"), (*path, "characterFilter")
    if isinstance(chosen, dict):
        into["characters"] = tuple(reader.keys(chosen.get("names"), (*path, "names")))
        into["tags"] = tuple(reader.keys(chosen.get("tags"), (*path, "tags")))
        into["excluding"] = bool(chosen.get("isExclude"))
        if into["tags"]:
            tags = list(into["tags"])
            reader.report((*path, "tags"), tags, "tags")


def _save_characters(entry: Entry, raw: Raw) -> Values:
    scope = entry.scope
    chosen = {"isExclude": scope.excluding, "names": list(scope.characters), "tags": list(scope.tags)}
    return {"characterFilter": chosen}


def native_table(*more: FieldRow) -> FieldTable:
    """The table of SillyTavern's fields; what is missing has the default of an old file."""

    def refusal(name: str, leaf: str) -> FieldRow:
        """A flag that forbids what is otherwise as the book says."""
        return field(name, leaf, "flag", False, load=lambda no: False if no else None, save=lambda yes: yes is False)

    return FieldTable(
        content("content", decorators=True),
        field("comment", "name"),
        field("addMemo", "name", "", save=bool),
        level("disable", "constant", quiet=True),
        keys("key", ("plain", "regex")),
        FieldRow(("keysecondary", "selective", "selectiveLogic"), ("match.require",), _save_require, _read_require),
        field("caseSensitive", "match.case", "flag"),
        field(
            "matchWholeWords", "match.boundary", "flag", load=_SPLIT.get,
            save={"word": True, "substring": False}.get,
        ),
        field(
            "scanDepth", "match.range", "whole", load=lambda count: None if count is None else Range(count),
            save=lambda to: None if to is None else to.count if to.unit == "messages" else UNSAID,
        ),
        FieldRow(tuple(_SOURCES), ("match.sources",), _save_sources, _read_sources),
        refusal("excludeRecursion", "wake.by_entries"),
        refusal("preventRecursion", "wake.wakes_others"),
        field("delayUntilRecursion", "wake.level", "whole", 0),
        field("delayUntilRecursion", "wake.by_text", "raw", load=not_)._replace(save=_save_by_text),
        FieldRow(("probability", "useProbability"), ("chance.probability",), _save_probability, _read_probability),
        field(
            "group", "chance.groups", load=lambda text: tuple(key for part in text.split(",") if (key := part.strip())),
            save=lambda groups: UNSAID if "," in "".join(groups) else ", ".join(groups),
        ),
        field("groupWeight", "chance.weight", "number", 100, load=lambda number: number or 0),
        field("groupOverride", "chance.preferred", "flag", False),
        field("useGroupScoring", "chance.scored", "flag"),
        *(field(name, f"timing.{name}", "whole", load=lambda n: n or None) for name in ("delay", "sticky", "cooldown")),
        field("order", "share.order", "number", 100, save=lambda to: int(to) if to == int(to) else UNSAID),
        field("ignoreBudget", "share.exempt", "flag", False, quiet=True),
        FieldRow(("position",), ("place.slot",), _save_slot, _read_place),
        FieldRow(("depth",), ("place.depth",), _save_depth),
        field("role", "place.role", "", save=lambda role: _ROLES.index(role) if role in _ROLES else UNSAID),
        field("outletName", "place.name", ""),
        FieldRow(
            ("characterFilter",), ("scope.characters", "scope.tags", "scope.excluding"), _save_characters,
            _read_characters,
        ),
        field("triggers", "scope.triggers", "keys", load=tuple, save=list),
        *more,
        base=Entry("", place=Place("before")),
        when={
            "wake": lambda raw: (
                raw.get("excludeRecursion") or raw.get("preventRecursion") or raw.get("delayUntilRecursion")
            ),
            "chance": lambda raw: (
                raw.get("probability", 100) != 100 or raw.get("group") or raw.get("useGroupScoring") is not None
            ),
            "timing": lambda raw: raw.get("delay") or raw.get("sticky") or raw.get("cooldown"),
            "place": lambda raw: raw.get("position", 0) != 0 or raw.get("role") not in (None, 0),
            "scope": lambda raw: raw.get("characterFilter") or raw.get("triggers"),
        },
    )  # fmt: skip


_TABLE = native_table()
_KNOWN = frozenset(DEFAULTS) | {"uid", "displayIndex", "characterFilter", "extensions", "decorators", "hash", "world"}


def _claims_tree(tree: Any) -> bool:  # noqa: ANN401
    values = sample(tree, "entries")
    return (
        any("key" in value for value in values)
        if values
        else isinstance(tree, dict) and isinstance(tree.get("entries"), dict)
    )


def _read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    reader.head(tree)
    for key, raw, path in reader.objects(in_order(tree["entries"]), ("entries",)):
        uid = raw.get("uid", key)
        if isinstance(uid, bool) or not isinstance(uid, int | str):
            reader.report((*path, "uid"), uid, "no_id", id=str(key))
            uid = key
        elif str(uid) != str(key) and isinstance(key, str):
            reader.report((*path, "uid"), uid, "uid", place=key)
        if raw.get("automationId"):
            reader.report((*path, "automationId"), raw["automationId"], "script")
        if raw.get("vectorized") is True:
            reader.report((*path, "vectorized"), True, "likeness")
        reader.report_unknown(raw, _KNOWN, path)
        reader.add(str(uid), _TABLE.read(raw, path, reader), path, raw)
    reader.report_unknown(tree, frozenset({"entries", "name", "description"}), ())


def _begin(name: str, description: str) -> dict[str, Any]:
    return {"entries": {}, **({"name": name} if name else {}), **({"description": description} if description else {})}


def _add(tree: Any, entry: Entry) -> TreePath:  # noqa: ANN401
    entries = tree["entries"]
    uid = int(entry.id) if entry.id.isdigit() and len(entry.id) < 10 and entry.id not in entries else None
    if uid is None:
        uid = max((int(key) for key in entries if str(key).isdigit()), default=-1) + 1
    raw = {"uid": uid, **{key: list(value) if isinstance(value, list) else value for key, value in DEFAULTS.items()}}
    entries[str(uid)] = raw | {"displayIndex": len(entries)}
    return ("entries", str(uid))


WORLD_INFO = Format(
    name="sillytavern-world-info",
    short="sillytavern",
    claims=_claims_tree,
    profile="sillytavern",
    read=_read,
    write=_TABLE.write,
    begin=_begin,
    add=_add,
)

# tavern-helper: SillyTavern's name and where its value stands; how a value of the file is read, and written.
_POSITIONS = (
    "before_character_definition", "after_character_definition", "before_author_note", "after_author_note", "at_depth",
    "before_example_messages", "after_example_messages", "outlet",
)  # fmt: skip
_LOGICS = ("and_any", "not_all", "not_any", "and_all")


_SPELLINGS = {
    "comment": "name", "content": "content", "disable": "enabled", "key": "strategy.keys",
    "keysecondary": "strategy.keys_secondary.keys", "selectiveLogic": "strategy.keys_secondary.logic",
    "scanDepth": "strategy.scan_depth", "position": "position.type", "role": "position.role",
    "depth": "position.depth", "order": "position.order", "outletName": "position.outlet",
    "excludeRecursion": "recursion.prevent_incoming", "preventRecursion": "recursion.prevent_outgoing",
    "delayUntilRecursion": "recursion.delay_until", "probability": "probability", "sticky": "effect.sticky",
    "cooldown": "effect.cooldown", "delay": "effect.delay",
}  # fmt: skip
_LOADS: dict[str, Callable[[Any], Any]] = {
    "disable": lambda value: value is False,
    "selectiveLogic": lambda value: _LOGICS.index(value) if value in _LOGICS else None,
    "scanDepth": lambda value: None if value == "same_as_global" else value,
    "position": lambda value: _POSITIONS.index(value) if value in _POSITIONS else None,
}
_SAVES: dict[str, Callable[[Any], Any]] = {
    "disable": not_,
    "selectiveLogic": _LOGICS.__getitem__,
    "scanDepth": lambda value: "same_as_global" if value is None else value,
    "position": _POSITIONS.__getitem__,
    "role": _ROLES.__getitem__,
    "delayUntilRecursion": lambda value: value or None,
}
_HELPER_KNOWN = frozenset(
    {"name", "uid", "enabled", "content", "strategy", "position", "recursion", "probability", "effect", "content_hash"}
)


def _helper_claims(tree: Any) -> bool:  # noqa: ANN401
    values = sample(tree, "entries")
    return any(isinstance(value.get("strategy"), dict) and isinstance(value.get("position"), dict) for value in values)


def _helper_flat(raw: dict[str, Any], path: TreePath, reader: Reader) -> dict[str, Any]:
    parts: dict[str, dict[str, Any]] = {"": raw}
    for name in ("strategy", "position", "recursion", "effect", "strategy.keys_secondary"):
        within, _, last = name.rpartition(".")
        part = parts[within].get(last)
        if part is not None and not isinstance(part, dict):
            reader.report((*path, *name.split(".")), part, "object")
        parts[name] = part if isinstance(part, dict) else {}
    flat: dict[str, Any] = {"selective": True, "constant": parts["strategy"].get("type") == "constant"}
    for native, name in _SPELLINGS.items():
        within, _, last = name.rpartition(".")
        value = parts[within].get(last)
        flat[native] = _LOADS[native](value) if native in _LOADS else value
    if flat["position"] is None and (kind := parts["position"].get("type")) is not None:
        reader.report((*path, "position", "type"), kind, "no_place")
    if parts["strategy"].get("type") == "vectorized":
        reader.report((*path, "strategy", "type"), "vectorized", "vectorized")
    return flat


def _helper_read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    for key, raw, path in reader.objects(in_order(tree["entries"]), ("entries",)):
        uid = raw.get("uid", key)
        reader.report_unknown(raw, _HELPER_KNOWN, path)
        values = _TABLE.read(_helper_flat(raw, path, reader), path, reader)
        reader.add(str(uid if isinstance(uid, int | str) else key), values, path, raw)
    reader.report_unknown(tree, frozenset({"entries"}), ())


def _helper_write(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    changes = _TABLE.changes(raw, leaf, entry)
    for native, value in (changes or {}).items():
        if native in _SPELLINGS:
            if not put(raw, _SPELLINGS[native], _SAVES[native](value) if native in _SAVES else value):
                return False
        elif native == "constant":
            strategy = raw.setdefault("strategy", {})
            if value or strategy.get("type") == "constant":
                strategy["type"] = "constant" if value else "selective"
        elif native not in ("addMemo", "selective", "useProbability"):
            return False
    return changes is not None


TAVERN_HELPER = Format(
    name="tavernhelper-worldbook",
    claims=_helper_claims,
    profile="sillytavern",
    read=_helper_read,
    write=_helper_write,
)


_OLD_MODES = ("multiple", "child", "constant")


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
        there = any(line.partition(" ")[0] == f"@@{decorator.name}" for decorator in split_decorators(text)[0])
        return {} if there else {"content": f"{line}\n{text}"}

    return FieldRow(("content",), (leaf,), save)


def _save_risu_slot(entry: Entry, raw: Raw) -> Values | None:
    return {} if entry.place.slot in ("", "before", "after", "at_depth") else None


def _save_use_regex(entry: Entry, raw: Raw) -> Values:
    return {"useRegex": True} if any(key.kind == "regex" for key in entry.match.keys) else {}


def _risu_table(*, expressions: bool) -> FieldTable:
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
        FieldRow((), ("place.slot",), _save_risu_slot),
        *(_decorator(leaf, line_of) for leaf, line_of in _DECORATORS.items()),
        base=Entry("", match=Matching(patterns=expressions or None)),
    )


_RISU = {expressions: _risu_table(expressions=expressions) for expressions in (False, True)}
_RISU_KNOWN = _RISU[True].names | {"mode", "id", "folder", "bookVersion"}


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
        reader.report_unknown(raw, _RISU_KNOWN, where)
        if mode in _OLD_MODES:
            reader.report((*where, "mode"), mode, "old_mode")
        expressions = reader.flag(raw.get("useRegex"), (*where, "useRegex"))
        if expressions and raw.get("key"):
            reader.report((*where, "useRegex"), True, "slashes")
        values = _RISU[expressions].read(raw, where, reader)
        values["folder"] = str(folders.get(within, "")) if isinstance(within, str) else ""
        if mode == "constant":
            values["level"] = "always"
        reader.add(id_ if isinstance(id_, str) and id_ else str(index), values, where, raw)


_NEW_ROW = {
    "key": "", "comment": "", "content": "", "mode": "normal", "insertorder": 100, "alwaysActive": False,
    "secondkey": "", "selective": False, "bookVersion": 2, "id": "",
}  # fmt: skip


def _read_module(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    module = tree.get("module") if isinstance(tree.get("module"), dict) else tree
    path: TreePath = ("module",) if module is not tree else ()
    reader.head(module, path)
    _read_rows(module.get("lorebook", []), (*path, "lorebook"), reader)
    for name in ("regex", "trigger", "cjs", "assets", "backgroundEmbedding"):
        reader.report_unused(module, name, path, "module")


RISU_LOREBOOK = Format(
    name="risu-lorebook",
    short="risu",
    claims=lambda tree: isinstance(tree, dict) and tree.get("type") == "risu" and isinstance(tree.get("data"), list),
    profile="risu",
    read=lambda tree, reader: _read_rows(tree["data"], ("data",), reader),
    write=_RISU[True].write,
    begin=lambda name, description: {"type": "risu", "ver": 1, "data": []},
    add=appender(("data",), _NEW_ROW),
)
RISU_MODULE = Format(
    name="risu-module",
    claims=lambda tree: isinstance(tree, dict) and tree.get("type") == "risuModule",
    profile="risu",
    read=_read_module,
    write=_RISU[True].write,
)


_AGNAI = FieldTable(
    field("name", "name"),
    content("entry"),
    level("enabled", "", enabled=True),
    keys("keywords", ("plain", "wildcard")),
    field("weight", "share.order", "number", 0),
    keep_priority("priority", read=True),
)
_CARD_FIELDS = ("comment", "selective", "secondaryKeys", "constant", "position")
_AGNAI_KNOWN = _AGNAI.names | {"id", *_CARD_FIELDS}
_OF_A_CARD = "agnai"


def _read_agnai(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    reader.head(tree)
    for name in ("scanDepth", "tokenBudget", "recursiveScanning", "extensions"):
        if tree.get(name) not in (None, {}, ""):
            reader.report((name,), tree[name], _OF_A_CARD)
    entries = reader.listed(tree.get("entries"), ("entries",))
    for index, raw, path in reader.objects(enumerate(entries), ("entries",)):
        for name in _CARD_FIELDS:
            reader.report_unused(raw, name, path, _OF_A_CARD)
        reader.report_unknown(raw, _AGNAI_KNOWN, path)
        reader.add(written_id(raw.get("id"), index), _AGNAI.read(raw, path, reader), path, raw)


_NEW_MEMORY = {"name": "", "entry": "", "keywords": [], "priority": 100, "weight": 100, "enabled": True, "id": ""}
AGNAI = Format(
    name="agnai-memory-book",
    short="agnai",
    claims=lambda tree: isinstance(tree, dict) and tree.get("kind") == "memory",
    profile="agnai",
    read=_read_agnai,
    write=_AGNAI.write,
    begin=lambda name, description: {"kind": "memory", "name": name, "description": description, "entries": []},
    add=appender(("entries",), _NEW_MEMORY),
)
