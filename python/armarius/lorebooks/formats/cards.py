"""Character cards V1 to V3 and the character books that stand alone.

The book is `data.character_book`; SillyTavern keeps its own fields in each entry's `extensions`, in snake_case but for
three. A card's prompt fields are kept and reported; the character itself may become an entity.
"""

from typing import Any

from armarius.lorebooks.formats.card_members import book_facts, carrier, filler
from armarius.lorebooks.formats.format import Format, ProfileName
from armarius.lorebooks.formats.native import native_changes, native_entry
from armarius.lorebooks.formats.reading import Path, Reader
from armarius.lorebooks.record import Entry, Range

__all__ = ["FORMATS"]

_EXTENSIONS = {
    "position": "position", "depth": "depth", "role": "role", "outletName": "outlet_name",
    "excludeRecursion": "exclude_recursion", "preventRecursion": "prevent_recursion",
    "delayUntilRecursion": "delay_until_recursion", "probability": "probability", "useProbability": "useProbability",
    "selectiveLogic": "selectiveLogic", "group": "group", "groupOverride": "group_override",
    "groupWeight": "group_weight", "useGroupScoring": "use_group_scoring", "scanDepth": "scan_depth",
    "caseSensitive": "case_sensitive", "matchWholeWords": "match_whole_words", "sticky": "sticky",
    "cooldown": "cooldown", "delay": "delay", "automationId": "automation_id", "vectorized": "vectorized",
    "displayIndex": "display_index", "triggers": "triggers", "ignoreBudget": "ignore_budget", "addMemo": "addMemo",
    "matchPersonaDescription": "match_persona_description",
    "matchCharacterDescription": "match_character_description",
    "matchCharacterPersonality": "match_character_personality",
    "matchCharacterDepthPrompt": "match_character_depth_prompt", "matchScenario": "match_scenario",
    "matchCreatorNotes": "match_creator_notes",
}  # fmt: skip
_OWN = {
    "key": "keys",
    "keysecondary": "secondary_keys",
    "selective": "selective",
    "constant": "constant",
    "content": "content",
    "comment": "comment",
    "order": "insertion_order",
}
_KNOWN = frozenset(
    {*_OWN.values(), "enabled", "position", "case_sensitive", "id", "name", "extensions", "priority", "use_regex"}
)
_BOOK_KNOWN = frozenset(
    {"name", "description", "scan_depth", "token_budget", "recursive_scanning", "entries", "extensions"}
)
_PROMPTS = (
    "description", "personality", "scenario", "first_mes", "mes_example", "creator_notes", "system_prompt",
    "post_history_instructions", "alternate_greetings", "group_only_greetings", "creator_notes_multilingual", "assets",
)  # fmt: skip
_CAMEL = {snake: camel for camel, snake in _EXTENSIONS.items() if snake != camel}
_WITHOUT_EFFECT = frozenset({"automation_id", "vectorized"})
_CARRY = carrier(_KNOWN, frozenset(_EXTENSIONS.values()) - _WITHOUT_EFFECT)


def _flat(raw: dict[str, Any], path: Path, reader: Reader) -> dict[str, Any]:
    """A card's entry with SillyTavern's own names."""
    flat: dict[str, Any] = {native: raw[own] for native, own in _OWN.items() if own in raw}
    own_extensions = raw.get("extensions")
    extensions: dict[str, Any] = own_extensions if isinstance(own_extensions, dict) else {}
    if own_extensions is not None and not isinstance(own_extensions, dict):
        reader.lose((*path, "extensions"), own_extensions, "an object was expected; kept")
    for native, snake in _EXTENSIONS.items():
        if extensions.get(snake) is not None:
            flat[native] = extensions[snake]
    for key, value in extensions.items():
        if key in _CAMEL.values() and key not in _EXTENSIONS.values() and value not in (None, "", []):
            reader.lose((*path, "extensions", key), value, f"not read: {_EXTENSIONS[key]} is the spelling of cards")
        elif key in _WITHOUT_EFFECT and value:
            reader.lose((*path, "extensions", key), value, "works in SillyTavern; kept, without effect here")
        elif key not in _CAMEL and key not in _EXTENSIONS and value not in (None, "", [], {}, False):
            reader.lose((*path, "extensions", key), value, "kept, without effect here")
    flat["disable"] = not reader.flag(raw.get("enabled"), (*path, "enabled"), True)
    if "position" not in flat:
        flat["position"] = 0 if raw.get("position") == "before_char" else 1
    if "caseSensitive" not in flat and raw.get("case_sensitive") is not None:
        flat["caseSensitive"] = raw["case_sensitive"]
    elif raw.get("case_sensitive") is not None and raw["case_sensitive"] != flat["caseSensitive"]:
        reader.lose((*path, "case_sensitive"), raw["case_sensitive"], "extensions.case_sensitive differs and decides")
    if not flat.get("comment"):
        flat["comment"] = raw.get("name") or flat.get("comment") or ""
    return flat


def read_book(book: dict[str, Any], path: Path, reader: Reader) -> None:
    """Read a character book that stands at `path`."""
    reader.name = reader.text(book.get("name"), (*path, "name"))
    reader.description = book["description"] if isinstance(book.get("description"), str) else ""
    depth = reader.whole(book.get("scan_depth"), (*path, "scan_depth"))
    budget = reader.whole(book.get("token_budget"), (*path, "token_budget"))
    recursive = book.get("recursive_scanning")
    reader.facts |= {
        "range": None if depth is None else Range(depth),
        "budget": budget,
        "recursion": None if recursive is None else reader.flag(recursive, (*path, "recursive_scanning")),
    }
    full_word = (book.get("extensions") or {}) if isinstance(book.get("extensions"), dict) else {}
    if isinstance(full_word.get("risu_fullWordMatching"), bool):
        reader.facts["full_words"] = full_word["risu_fullWordMatching"]
    for key, value in full_word.items():
        if key != "risu_fullWordMatching" and value not in (None, "", [], {}, False):
            reader.lose((*path, "extensions", key), value, "kept, without effect here")
    reader.kept(book, _BOOK_KNOWN, path)
    entries = book.get("entries")
    if isinstance(entries, dict) and entries:
        reader.lose((*path, "entries"), len(entries), "a list was expected; the entries of the object were read")
    elif not isinstance(entries, list):
        reader.lose((*path, "entries"), entries, "a list was expected; no entry was read")
        return
    for index, raw in entries.items() if isinstance(entries, dict) else enumerate(entries):
        where: Path = (*path, "entries", index)
        if reader.damaged(raw, where):
            continue
        reader.kept(raw, _KNOWN, where)
        reader.add(_entry(raw, index, where, reader), where, raw)


def _entry(raw: dict[str, Any], index: int | str, path: Path, reader: Reader) -> Entry:
    id_ = raw.get("id")
    if isinstance(id_, bool) or not isinstance(id_, int | str) or id_ == "":
        id_ = index
    entry = native_entry(_flat(raw, path, reader), str(id_), path, reader)
    priority = reader.number(raw.get("priority"), (*path, "priority"))
    if priority is not None:
        entry = entry.changed(share__keep_priority=priority)
    if isinstance(raw.get("use_regex"), bool):
        entry = entry.changed(match__patterns=raw["use_regex"])
    return entry


def _write(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    if leaf == "share.keep_priority":
        raw["priority"] = entry.share.keep_priority
        return True
    if leaf == "match.patterns":
        raw["use_regex"] = bool(entry.match.patterns)
        return True
    if leaf == "name":
        raw["name" if "comment" not in raw or "name" in raw else "comment"] = entry.name
        if "comment" in raw:
            raw["comment"] = entry.name
        return True
    changes = native_changes(leaf, entry, str(raw.get("content") or ""))
    if changes is None or "characterFilter" in changes:
        return False
    for native, value in changes.items():
        if native == "disable":
            raw["enabled"] = not value
        elif native in _OWN:
            raw[_OWN[native]] = value
        elif native in _EXTENSIONS:
            extensions = raw.setdefault("extensions", {})
            if not isinstance(extensions, dict):
                return False
            extensions[_EXTENSIONS[native]] = value
            if native == "position":
                raw["position"] = "before_char" if value == 0 else "after_char"
            if native == "caseSensitive" and "case_sensitive" in raw:
                raw["case_sensitive"] = value
    return True


def _read_card(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    data = tree.get("data")
    if not isinstance(data, dict):
        reader.lose(("data",), data, "an object was expected; kept")
        return
    for key in _PROMPTS:
        if data.get(key) not in (None, "", [], {}):
            reader.lose(("data", key), data[key], "a prompt of the card; kept, not used")
    _note_extensions(data, reader)
    book = data.get("character_book")
    if isinstance(book, dict):
        read_book(book, ("data", "character_book"), reader)
    elif book is not None:
        reader.lose(("data", "character_book"), book, "an object was expected; kept")
    reader.facts["character"] = reader.text(data.get("nickname") or data.get("name"), ("data", "name"))
    reader.name = reader.name or reader.text(data.get("name"), ("data", "name"))


def _note_extensions(data: dict[str, Any], reader: Reader) -> None:
    extensions = data.get("extensions")
    for key, value in extensions.items() if isinstance(extensions, dict) else ():
        if value not in (None, "", [], {}, False):
            reader.lose(("data", "extensions", key), value, "kept, without effect here")


def _read_v1(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    reader.name = reader.facts["character"] = reader.text(tree.get("name"), ("name",))
    for key in _PROMPTS:
        if tree.get(key) not in (None, "", [], {}):
            reader.lose((key,), tree[key], "a prompt of the card; kept, not used")


def _book_of(tree: Any) -> Path | None:  # noqa: ANN401
    data = tree.get("data")
    return ("data", "character_book") if isinstance(data, dict) and "character_book" in data else None


def _profile(tree: Any) -> ProfileName:  # noqa: ANN401
    """SillyTavern's where its fields stand in the entries, RisuAI's where it says so, else the specification's."""
    data = tree.get("data") if isinstance(tree.get("data"), dict) else tree
    book = data.get("character_book") if isinstance(data.get("character_book"), dict) else data
    entries = book.get("entries")
    for raw in (entries if isinstance(entries, list) else [])[:50]:
        if isinstance(raw, dict) and isinstance(raw.get("extensions"), dict) and "selectiveLogic" in raw["extensions"]:
            return "sillytavern"
    extensions = book.get("extensions")
    if isinstance(extensions, dict) and any(str(key).startswith("risu") for key in extensions):
        return "risu"
    return "character-card-spec" if tree.get("spec") in ("chara_card_v3", "lorebook_v3") else "sillytavern"


def _new_entry(entry: Entry) -> dict[str, Any]:
    extensions: dict[str, Any] = {"position": 0, "selectiveLogic": 0}
    return {
        "id": int(entry.id) if entry.id.isdigit() and len(entry.id) < 10 else entry.id,
        "keys": [],
        "secondary_keys": [],
        "comment": "",
        "content": "",
        "constant": False,
        "selective": True,
        "insertion_order": 100,
        "enabled": True,
        "position": "before_char",
        "use_regex": False,
        "extensions": extensions,
    }


def _begin(spec: str) -> Any:  # noqa: ANN401
    version = {"chara_card_v2": "2.0", "chara_card_v3": "3.0"}.get(spec, "3.0")

    def begin(name: str, description: str) -> dict[str, Any]:
        book = {"name": name, "description": description, "extensions": {}, "entries": []}
        if spec == "lorebook_v3":
            return {"spec": spec, "data": book}
        texts = ("description", "personality", "scenario", "first_mes", "mes_example", "creator_notes", "system_prompt")
        data: dict[str, Any] = {"name": name, **dict.fromkeys(texts, ""), "post_history_instructions": ""}
        data |= {"alternate_greetings": [], "tags": [], "creator": "", "character_version": "", "extensions": {}}
        if spec == "chara_card_v3":
            data["group_only_greetings"] = []
        return {"spec": spec, "spec_version": version, "data": data | {"character_book": book}}

    return begin


def _adder(path: Path) -> Any:  # noqa: ANN401
    def add(tree: Any, entry: Entry) -> Path:  # noqa: ANN401
        book = tree
        for part in path:
            book = book[part]
        entries = book["entries"]
        if isinstance(entries, dict):
            key = str(max((int(one) for one in entries if one.isdecimal()), default=-1) + 1)
            entries[key] = _new_entry(entry)
            return (*path, "entries", key)
        entries.append(_new_entry(entry))
        return (*path, "entries", len(entries) - 1)

    return add


def _card(name: str, short: str, spec: str) -> Format:
    return Format(
        name=name,
        short=short,
        claims=lambda tree: isinstance(tree, dict) and tree.get("spec") == spec and isinstance(tree.get("data"), dict),
        book=_book_of,
        profile=_profile,
        read=_read_card,
        write=_write,
        begin=_begin(spec),
        add=_adder(("data", "character_book")),
        members=("data",),
        fill=filler(spec),
        carry=_CARRY,
    )


def _claims_book(tree: Any) -> bool:  # noqa: ANN401
    entries = tree.get("entries") if isinstance(tree, dict) else None
    return isinstance(entries, list) and any(
        isinstance(one, dict) and "keys" in one and ("content" in one or "insertion_order" in one)
        for one in entries[:50]
    )


_V1 = ("name", "description", "first_mes")

FORMATS = (
    _card("character-card-v2", "card-v2", "chara_card_v2"),
    _card("character-card-v3", "card-v3", "chara_card_v3"),
    Format(
        name="lorebook-v3",
        short="lorebook-v3",
        claims=lambda tree: isinstance(tree, dict) and tree.get("spec") == "lorebook_v3" and "data" in tree,
        book=lambda tree: ("data",),
        profile=_profile,
        read=lambda tree, reader: (
            read_book(tree["data"], ("data",), reader)
            if isinstance(tree["data"], dict)
            else reader.lose(("data",), tree["data"], "an object was expected; kept")
        ),
        write=_write,
        begin=_begin("lorebook_v3"),
        add=_adder(("data",)),
        fill=lambda tree, origin: book_facts(tree["data"], origin),
        carry=_CARRY,
    ),
    Format(
        name="character-book",
        short="character-book",
        claims=_claims_book,
        book=lambda tree: (),
        profile=_profile,
        read=lambda tree, reader: read_book(tree, (), reader),
        write=_write,
        begin=lambda name, description: {"name": name, "description": description, "extensions": {}, "entries": []},
        add=_adder(()),
        fill=lambda tree, origin: book_facts(tree, origin),
        carry=_CARRY,
    ),
    Format(
        name="character-card-v1",
        claims=lambda tree: isinstance(tree, dict) and "spec" not in tree and all(key in tree for key in _V1),
        book=lambda tree: None,
        profile=lambda tree: "sillytavern",
        read=_read_v1,
        members=(),
        write=lambda raw, leaf, entry: False,
    ),
)
