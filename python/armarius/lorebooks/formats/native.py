"""SillyTavern's fields, which three formats spell in their own ways: from and to the parts of an entry.

A format hands over a flat object with SillyTavern's own names (`selectiveLogic`, `preventRecursion`, …) and takes such
names back when an edit is written.
"""

from collections.abc import Mapping
from typing import Any

from armarius.lorebooks.formats.decorators import split, with_text
from armarius.lorebooks.formats.reading import Path, Reader
from armarius.lorebooks.record import (
    Chance,
    Condition,
    Entry,
    How,
    Key,
    Matching,
    Place,
    Range,
    Scope,
    Share,
    Slot,
    Timing,
    Wake,
)
from armarius.lorebooks.slashes import is_expression

__all__ = ["DEFAULTS", "EFFECTIVE", "SOURCES", "native_changes", "native_entry"]

LOGIC: tuple[How, ...] = ("any", "not_all", "none", "all")
SLOTS: tuple[Slot, ...] = (
    "before",
    "after",
    "note_top",
    "note_bottom",
    "at_depth",
    "examples_before",
    "examples_after",
    "outlet",
)
ROLES = ("system", "user", "assistant")
SOURCES = {
    "matchPersonaDescription": "persona",
    "matchCharacterDescription": "character",
    "matchCharacterPersonality": "personality",
    "matchCharacterDepthPrompt": "depth_prompt",
    "matchScenario": "scenario",
    "matchCreatorNotes": "creator_notes",
}
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
EFFECTIVE = frozenset(DEFAULTS) - {"automationId", "vectorized"} | {"uid", "displayIndex", "characterFilter"}
_NO_MATCHING, _NO_WAKE, _NO_CHANCE = Matching(), Wake(), Chance()
_BEFORE = Place("before")
_NO_TIMING, _NO_SHARE, _NO_SCOPE = Timing(), Share(), Scope()


def keys_of(texts: list[str]) -> tuple[Key, ...]:
    """Keys, expressions told by their slashes."""
    return tuple([Key(text, "regex") if text[:1] == "/" and is_expression(text) else Key(text) for text in texts])


def native_entry(raw: Mapping[str, Any], id_: str, path: Path, reader: Reader) -> Entry:
    """An entry from a flat object; what is missing has the default of an old file."""
    get = raw.get
    content = get("content")
    decorators, text = split(content if isinstance(content, str) else reader.text(content, (*path, "content")))
    name = get("comment")
    if not isinstance(name, str):
        name = reader.text(name, (*path, "comment"))
    level: Any = "when_detected"
    if get("disable") and reader.flag(get("disable"), (*path, "disable")):
        level = "never"
    elif get("constant") and reader.flag(get("constant"), (*path, "constant")):
        level = "always"
    return Entry(
        id=id_,
        name=name,
        text=text,
        level=level,
        decorators=decorators,
        match=_match(raw, path, reader),
        wake=reader.shared(_wake(raw, path, reader)),
        chance=reader.shared(_chance(raw, path, reader)),
        timing=reader.shared(_timing(raw, path, reader)),
        share=reader.shared(_share(raw, path, reader)),
        place=reader.shared(_place(raw, path, reader)),
        scope=reader.shared(_scope(raw, path, reader)),
    )


def _match(raw: Mapping[str, Any], path: Path, reader: Reader) -> Matching:
    get = raw.get
    require: tuple[Condition, ...] = ()
    if get("keysecondary") and reader.flag(get("selective"), (*path, "selective")):
        second = keys_of(reader.keys(get("keysecondary"), (*path, "keysecondary")))
        logic = reader.whole(get("selectiveLogic"), (*path, "selectiveLogic"), 0) or 0
        if second:
            require = (Condition(LOGIC[logic] if 0 <= logic < len(LOGIC) else "any", second),)
    depth = get("scanDepth")
    if depth is not None:
        depth = reader.whole(depth, (*path, "scanDepth"))
    whole, case = get("matchWholeWords"), get("caseSensitive")
    return Matching(
        keys=keys_of(reader.keys(get("key"), (*path, "key"))),
        require=require,
        case=None if case is None else reader.flag(case, (*path, "caseSensitive")),
        boundary=None if whole is None else ("word" if reader.flag(whole, (*path, "matchWholeWords")) else "substring"),
        range=None if depth is None else Range(depth),
        sources=tuple([source for field, source in SOURCES.items() if get(field) is True]),
    )


def _wake(raw: Mapping[str, Any], path: Path, reader: Reader) -> Wake:
    get = raw.get
    exclude, prevent, delay = get("excludeRecursion"), get("preventRecursion"), get("delayUntilRecursion")
    if not (exclude or prevent or delay):
        return _NO_WAKE
    return Wake(
        by_entries=False if reader.flag(exclude, (*path, "excludeRecursion")) else None,
        wakes_others=False if reader.flag(prevent, (*path, "preventRecursion")) else None,
        level=int(delay) if isinstance(delay, bool) else reader.whole(delay, (*path, "delayUntilRecursion"), 0) or 0,
        by_text=not delay,
    )


def _chance(raw: Mapping[str, Any], path: Path, reader: Reader) -> Chance:
    get = raw.get
    use, scored = get("useProbability", True), get("useGroupScoring")
    if get("probability", 100) == 100 and not get("group") and scored is None:
        return _NO_CHANCE
    probability = reader.number(get("probability"), (*path, "probability")) if use else None
    groups = reader.text(get("group"), (*path, "group"))
    return Chance(
        probability=None if probability == 100 else probability,
        groups=tuple(part for one in groups.split(",") if (part := one.strip())),
        weight=reader.number(get("groupWeight"), (*path, "groupWeight"), 100) or 0,
        preferred=reader.flag(get("groupOverride"), (*path, "groupOverride")),
        scored=None if scored is None else reader.flag(scored, (*path, "useGroupScoring")),
    )


def _timing(raw: Mapping[str, Any], path: Path, reader: Reader) -> Timing:
    get = raw.get
    if not (get("delay") or get("sticky") or get("cooldown")):
        return _NO_TIMING
    return Timing(
        delay=reader.whole(get("delay"), (*path, "delay")) or None,
        sticky=reader.whole(get("sticky"), (*path, "sticky")) or None,
        cooldown=reader.whole(get("cooldown"), (*path, "cooldown")) or None,
    )


def _share(raw: Mapping[str, Any], path: Path, reader: Reader) -> Share:
    order = raw.get("order", 100)
    if type(order) is not int:
        order = reader.number(order, (*path, "order"), 100)
    exempt = bool(raw.get("ignoreBudget")) and reader.flag(raw["ignoreBudget"], (*path, "ignoreBudget"))
    if order == 100 and not exempt:
        return _NO_SHARE
    return Share(order=100 if order is None else order, exempt=exempt)


def _place(raw: Mapping[str, Any], path: Path, reader: Reader) -> Place:
    get = raw.get
    if get("position", 0) == 0 and get("role") in (None, 0):
        return _BEFORE
    slot = reader.whole(get("position"), (*path, "position"), 0) or 0
    role = get("role")
    if isinstance(role, str) and role in ROLES:
        role = ROLES.index(role)
    number = reader.whole(role, (*path, "role"), 0) or 0
    return Place(
        slot=SLOTS[slot] if 0 <= slot < len(SLOTS) else "before",
        depth=reader.whole(get("depth"), (*path, "depth"), 4) if slot == 4 else None,
        role=ROLES[number] if 0 <= number < len(ROLES) else "system",
        name=reader.text(get("outletName"), (*path, "outletName")) if slot == 7 else "",
    )


def _scope(raw: Mapping[str, Any], path: Path, reader: Reader) -> Scope:
    chosen, triggers = raw.get("characterFilter"), raw.get("triggers")
    if not chosen and not triggers:
        return _NO_SCOPE
    names: list[str] = []
    tags: list[str] = []
    excluding = False
    if isinstance(chosen, dict):
        names = reader.keys(chosen.get("names"), (*path, "characterFilter", "names"))
        tags = reader.keys(chosen.get("tags"), (*path, "characterFilter", "tags"))
        excluding = bool(chosen.get("isExclude"))
        if tags:
            reader.lose((*path, "characterFilter", "tags"), tags, "internal ids of tags; kept, they name nobody here")
    return Scope(tuple(names), tuple(tags), excluding, tuple(reader.keys(triggers, (*path, "triggers"))))


def native_changes(leaf: str, entry: Entry, content: str) -> dict[str, Any] | None:
    """What a field of an entry is in SillyTavern's names; None when they cannot say it.

    Args:
        leaf: Dotted, from `LEAVES`.
        entry: With the new value.
        content: The text as it stands in the file, whose decorators stay.
    """
    match, wake, chance, share, place, scope = (
        entry.match,
        entry.wake,
        entry.chance,
        entry.share,
        entry.place,
        entry.scope,
    )
    if leaf == "text":
        return {"content": with_text(content, share.prefix + entry.text + share.suffix)}
    if leaf == "name":
        return {"comment": entry.name, "addMemo": bool(entry.name)}
    if leaf == "level":
        if entry.level == "manual_only":
            return None
        return {"disable": entry.level == "never"} | (
            {} if entry.level == "never" else {"constant": entry.level == "always"}
        )
    if leaf == "match.keys":
        return {"key": [key.text for key in match.keys]} if all(key.kind != "wildcard" for key in match.keys) else None
    if leaf == "match.require":
        if len(match.require) > 1:
            return None
        if not match.require:
            return {"keysecondary": [], "selectiveLogic": 0}
        (one,) = match.require
        return {
            "keysecondary": [key.text for key in one.keys],
            "selectiveLogic": LOGIC.index(one.how),
            "selective": True,
        }
    if leaf == "match.range":
        if match.range is not None and match.range.unit != "messages":
            return None
        return {"scanDepth": None if match.range is None else match.range.count}
    if leaf == "match.sources":
        if set(match.sources) - set(SOURCES.values()):
            return None
        return {field: source in match.sources for field, source in SOURCES.items()}
    if leaf == "share.order" and entry.share.order != int(entry.share.order):
        return None
    if leaf == "chance.groups" and any("," in group for group in chance.groups):
        return None
    if leaf == "place.depth" and place.slot != "at_depth":
        return {}
    if leaf == "place.role" and place.role not in ROLES:
        return None
    if leaf == "place.slot" and place.slot not in (*SLOTS, ""):
        return None
    boundaries = {"word": True, "substring": False, "auto": None, None: None}
    simple: dict[str, tuple[str, Any]] = {
        "match.case": ("caseSensitive", match.case),
        "match.boundary": ("matchWholeWords", boundaries[match.boundary]),
        "wake.by_entries": ("excludeRecursion", wake.by_entries is False),
        "wake.wakes_others": ("preventRecursion", wake.wakes_others is False),
        "wake.level": ("delayUntilRecursion", wake.level),
        "wake.by_text": ("delayUntilRecursion", 0 if wake.by_text else max(1, wake.level)),
        "chance.probability": ("probability", 100 if chance.probability is None else chance.probability),
        "chance.groups": ("group", ", ".join(chance.groups)),
        "chance.weight": ("groupWeight", chance.weight),
        "chance.preferred": ("groupOverride", chance.preferred),
        "chance.scored": ("useGroupScoring", chance.scored),
        "timing.delay": ("delay", entry.timing.delay),
        "timing.sticky": ("sticky", entry.timing.sticky),
        "timing.cooldown": ("cooldown", entry.timing.cooldown),
        "share.order": ("order", int(share.order)),
        "share.exempt": ("ignoreBudget", share.exempt),
        "share.prefix": ("content", with_text(content, share.prefix + entry.text + share.suffix)),
        "share.suffix": ("content", with_text(content, share.prefix + entry.text + share.suffix)),
        "place.slot": ("position", SLOTS.index(place.slot or "before")) if place.slot in (*SLOTS, "") else ("", None),
        "place.depth": ("depth", place.depth),
        "place.role": ("role", ROLES.index(place.role) if place.role in ROLES else 0),
        "place.name": ("outletName", place.name),
        "scope.triggers": ("triggers", list(scope.triggers)),
    }
    if leaf.startswith("scope.") and leaf in ("scope.characters", "scope.tags", "scope.excluding"):
        chosen = {"isExclude": scope.excluding, "names": list(scope.characters), "tags": list(scope.tags)}
        return {"characterFilter": chosen}
    if leaf not in simple:
        return None
    field, value = simple[leaf]
    changes = {field: value}
    if leaf == "chance.probability":
        changes["useProbability"] = True
    return changes
