"""Character cards V1 to V3 and the character books that stand alone.

The book is `data.character_book`; SillyTavern keeps its own fields in each entry's `extensions`, in snake_case but for
three. A card's prompt fields are kept and reported; the character itself may become an entity. From one card to another
go prompts, greetings, settings of the book, extensions, and members that nobody here knows.

Source: Character Card Specification V2 and V3; both tell programs to keep members that they do not know.
"""

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from armarius.arguments import ProfileName
from armarius.documents.data import card_members
from armarius.lorebooks.formats.chats import DEFAULTS, native_table
from armarius.lorebooks.formats.format import (
    FieldOrigin,
    Format,
    Reader,
    TreePath,
    at,
    field,
    inner_object,
    put,
    sample,
    written_id,
)
from armarius.lorebooks.record import Entry, Range, dotted_path

_OWN = {
    "key": "keys", "keysecondary": "secondary_keys", "selective": "selective", "constant": "constant",
    "content": "content", "comment": "comment", "order": "insertion_order", "priority": "priority",
    "use_regex": "use_regex",
}  # fmt: skip
_AS_IN_SILLYTAVERN = frozenset({"useProbability", "selectiveLogic", "addMemo"})
_EXTENSIONS = {
    name: name if name in _AS_IN_SILLYTAVERN else re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)
    for name in (*DEFAULTS, "displayIndex")
    if name not in _OWN and name != "disable"
}
_MEMBERS = _OWN | {native: f"extensions.{snake}" for native, snake in _EXTENSIONS.items()}
_KNOWN = frozenset({*_OWN.values(), "enabled", "position", "case_sensitive", "id", "name", "extensions"})
_BOOK_KNOWN = frozenset(
    {"name", "description", "scan_depth", "token_budget", "recursive_scanning", "entries", "extensions"}
)
_PROMPTS = (
    "description", "personality", "scenario", "first_mes", "mes_example", "creator_notes", "system_prompt",
    "post_history_instructions", "alternate_greetings", "group_only_greetings", "creator_notes_multilingual", "assets",
)  # fmt: skip
_IN_CODEX = frozenset({"description", "personality", "scenario"})
_WITHOUT_EFFECT = frozenset({"automation_id", "vectorized"})
_WITH_EFFECT = frozenset(_EXTENSIONS.values()) - _WITHOUT_EFFECT
_TABLE = native_table(
    field("priority", "share.keep_priority", "number"),
    field("use_regex", "match.patterns", "raw", load=lambda on: on if isinstance(on, bool) else None, save=bool),
)


def _flatten_entry(raw: dict[str, Any], path: TreePath, reader: Reader) -> dict[str, Any]:
    """A card's entry with SillyTavern's own names."""
    flat: dict[str, Any] = {native: raw[own] for native, own in _OWN.items() if own in raw}
    extensions = inner_object(raw, "extensions")
    if not extensions and raw.get("extensions") not in (None, {}):
        reader.report((*path, "extensions"), raw["extensions"], "object")
    for native, snake in _EXTENSIONS.items():
        if extensions.get(snake) is not None:
            flat[native] = extensions[snake]
    within = (*path, "extensions")
    for key, value in extensions.items():
        if key in _EXTENSIONS and key not in _EXTENSIONS.values():
            if value not in (None, "", []):
                reader.report((*within, key), value, "spelling", name=_EXTENSIONS[key])
        elif key in _WITHOUT_EFFECT:
            if value:
                reader.report((*within, key), value, "sillytavern")
        elif key not in _WITH_EFFECT:
            reader.report_unused(extensions, key, within)
    flat["disable"] = not reader.flag(raw.get("enabled"), (*path, "enabled"), True)
    if "position" not in flat:
        flat["position"] = 0 if raw.get("position") == "before_char" else 1
    if "caseSensitive" not in flat and raw.get("case_sensitive") is not None:
        flat["caseSensitive"] = raw["case_sensitive"]
    elif raw.get("case_sensitive") is not None and raw["case_sensitive"] != flat["caseSensitive"]:
        reader.report((*path, "case_sensitive"), raw["case_sensitive"], "case")
    if not flat.get("comment"):
        flat["comment"] = raw.get("name") or flat.get("comment") or ""
    return flat


def _read_book(book: Any, path: TreePath, reader: Reader, card: Mapping[str, Any] | None = None) -> None:  # noqa: ANN401
    """Read a character book that stands at `path`; without a name of its own it has that of the card."""
    if not isinstance(book, dict):
        reader.report(path, book, "object")
        return
    reader.head(book, path)
    if card is not None and not reader.name:
        reader.name = reader.text(card.get("name"), ("data", "name"))
    depth = reader.whole(book.get("scan_depth"), (*path, "scan_depth"))
    recursive = book.get("recursive_scanning")
    reader.settings |= {
        "range": None if depth is None else Range(depth),
        "budget": reader.whole(book.get("token_budget"), (*path, "token_budget")),
        "recursion": None if recursive is None else reader.flag(recursive, (*path, "recursive_scanning")),
    }
    extensions = inner_object(book, "extensions")
    if isinstance(extensions.get("risu_fullWordMatching"), bool):
        reader.settings["full_words"] = extensions["risu_fullWordMatching"]
    reader.report_unknown(extensions, frozenset({"risu_fullWordMatching"}), (*path, "extensions"))
    reader.report_unknown(book, _BOOK_KNOWN, path)
    entries = book.get("entries")
    if isinstance(entries, dict) and entries:
        reader.report((*path, "entries"), len(entries), "entries_object")
        rows: Iterable[tuple[str | int, Any]] = entries.items()
    else:
        rows = enumerate(reader.listed(entries, (*path, "entries")))
    for place, raw, where in reader.objects(rows, (*path, "entries")):
        reader.report_unknown(raw, _KNOWN, where)
        values = _TABLE.read(_flatten_entry(raw, where, reader), where, reader)
        reader.add(written_id(raw.get("id"), place), values, where, raw)


def _write(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    if leaf == "name":
        raw["name" if "comment" not in raw or "name" in raw else "comment"] = entry.name
        if "comment" in raw:
            raw["comment"] = entry.name
        return True
    changes = _TABLE.changes(raw, leaf, entry)
    if changes is None or "characterFilter" in changes:
        return False
    for native, value in changes.items():
        if native == "disable":
            raw["enabled"] = not value
        elif not put(raw, _MEMBERS[native], value):
            return False
        if native == "position":
            raw["position"] = "before_char" if value == 0 else "after_char"
        if native == "caseSensitive" and "case_sensitive" in raw:
            raw["case_sensitive"] = value
    return True


def _read_card(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    data = tree["data"]
    _report_prompts(data, ("data",), reader)
    reader.report_unknown(inner_object(data, "extensions"), frozenset(), ("data", "extensions"))
    if data.get("character_book") is not None:
        _read_book(data["character_book"], ("data", "character_book"), reader, data)
    reader.settings["character"] = reader.text(data.get("nickname") or data.get("name"), ("data", "name"))
    reader.name = reader.name or reader.text(data.get("name"), ("data", "name"))


def _read_v1(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    reader.name = reader.settings["character"] = reader.text(tree.get("name"), ("name",))
    _report_prompts(tree, (), reader)


def _report_prompts(card: Mapping[str, Any], path: TreePath, reader: Reader) -> None:
    for key in _PROMPTS:
        reader.report_unused(card, key, path, "codex" if key in _IN_CODEX else "prompt")


def _profile(tree: Any) -> ProfileName:  # noqa: ANN401
    """SillyTavern's where its fields stand in the entries, RisuAI's where it says so, else the specification's."""
    data = inner_object(tree, "data") or tree
    book = inner_object(data, "character_book") or data
    if any("selectiveLogic" in inner_object(raw, "extensions") for raw in sample(book, "entries")):
        return "sillytavern"
    if any(key.startswith("risu") for key in inner_object(book, "extensions")):
        return "risu"
    return "character-card-spec" if tree.get("spec") in ("chara_card_v3", "lorebook_v3") else "sillytavern"


def _new_book(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "description": description, "extensions": {}, "entries": []}


def _new_card(spec: str) -> Callable[[str, str], dict[str, Any]]:
    def begin(name: str, description: str) -> dict[str, Any]:
        texts = ("description", "personality", "scenario", "first_mes", "mes_example", "creator_notes", "system_prompt")
        data: dict[str, Any] = {"name": name, **dict.fromkeys(texts, ""), "post_history_instructions": ""}
        data |= {"alternate_greetings": [], "tags": [], "creator": "", "character_version": "", "extensions": {}}
        if spec == "chara_card_v3":
            data["group_only_greetings"] = []
        version = "2.0" if spec == "chara_card_v2" else "3.0"
        return {"spec": spec, "spec_version": version, "data": data | {"character_book": _new_book(name, description)}}

    return begin


def _new_entry(entry: Entry) -> dict[str, Any]:
    return {
        "id": int(entry.id) if entry.id.isdigit() and len(entry.id) < 10 else entry.id, "keys": [],
        "secondary_keys": [], "comment": "", "content": "", "constant": False, "selective": True,
        "insertion_order": 100, "enabled": True, "position": "before_char", "use_regex": False,
        "extensions": {"position": 0, "selectiveLogic": 0},
    }  # fmt: skip


def _entry_adder(path: TreePath) -> Callable[[Any, Entry], TreePath]:
    def add(tree: Any, entry: Entry) -> TreePath:  # noqa: ANN401
        entries = at(tree, path)["entries"]
        if isinstance(entries, list):
            entries.append(_new_entry(entry))
            return (*path, "entries", len(entries) - 1)
        key = str(max((int(name) for name in entries if name.isdecimal()), default=-1) + 1)
        entries[key] = _new_entry(entry)
        return (*path, "entries", key)

    return add


# Members of a card other than its entries, copied from one card to another.
_SINCE_V3 = {
    "assets", "nickname", "creator_notes_multilingual", "source", "group_only_greetings", "creation_date",
    "modification_date",
}  # fmt: skip
_NOT_COPIED = frozenset({"character_book", "extensions", "spec", "spec_version", "data"})


def _fill_card(spec: str) -> Callable[[Any, FieldOrigin], frozenset[str]]:
    """The `Format.fill` of a card: the members of the card that the book came with, and what the book says itself."""

    def fill(tree: Any, origin: FieldOrigin) -> frozenset[str]:  # noqa: ANN401
        data = tree["data"]
        paths = set(_fill_book(data["character_book"], origin))
        for name, value in origin.card.items():
            if name not in _NOT_COPIED and (spec == "chara_card_v3" or name not in _SINCE_V3):
                data[name] = copy.deepcopy(value)
                paths.add(dotted_path((*origin.card_at, name)))
        paths.update(_copy_extensions(data, origin.card, origin.card_at))
        return frozenset(paths)

    return fill


def _fill_book(book: dict[str, Any], origin: FieldOrigin) -> frozenset[str]:
    """Write what a book says for all its entries into a character book; the paths of the source that it says."""
    settings = origin.settings
    depth, budget, recursion = settings.get("range"), settings.get("budget"), settings.get("recursion")
    paths = {"book.budget"} if budget is not None else set()
    if depth is not None and depth.unit == "messages":
        book["scan_depth"] = depth.count
    if budget is not None:
        book["token_budget"] = budget
    if recursion is not None:
        book["recursive_scanning"] = recursion
    if settings.get("full_words") is not None:
        book["extensions"]["risu_fullWordMatching"] = settings["full_words"]
    for name in origin.book.keys() - _BOOK_KNOWN:
        book[name] = copy.deepcopy(origin.book[name])
        paths.add(dotted_path((*origin.book_at, name)))
    paths.update(_copy_extensions(book, origin.book, origin.book_at))
    return frozenset(paths)


def _copy_extensions(target: dict[str, Any], source: Mapping[str, Any], at: TreePath) -> Iterator[str]:
    """Copy the extensions of a card or a book; the path of each."""
    for name, value in inner_object(source, "extensions").items():
        target["extensions"][name] = copy.deepcopy(value)
        yield dotted_path((*at, "extensions", name))


def _carry_members(raw: dict[str, Any], original: Mapping[str, Any]) -> tuple[str, ...]:
    """The `Format.carry` of a character book: members and extensions of an entry that have no field here."""
    carried = [name for name in original if name not in _KNOWN]
    for name in carried:
        raw[name] = copy.deepcopy(original[name])
    for name, value in inner_object(original, "extensions").items():
        if name not in _WITH_EFFECT:
            raw.setdefault("extensions", {})[name] = copy.deepcopy(value)
            carried.append(f"extensions.{name}")
    return tuple(carried)


def _card(name: str, short: str, spec: str) -> Format:
    return Format(
        name=name,
        short=short,
        claims=lambda tree: isinstance(tree, dict) and tree.get("spec") == spec and isinstance(tree.get("data"), dict),
        book=lambda tree: ("data", "character_book") if "character_book" in inner_object(tree, "data") else None,
        profile=_profile,
        read=_read_card,
        write=_write,
        begin=_new_card(spec),
        add=_entry_adder(("data", "character_book")),
        members=("data",),
        fill=_fill_card(spec),
        carry=_carry_members,
    )


def _claims_book(tree: Any) -> bool:  # noqa: ANN401
    has_list = isinstance(tree, dict) and isinstance(tree.get("entries"), list)
    return has_list and any(
        "keys" in entry and ("content" in entry or "insertion_order" in entry) for entry in sample(tree["entries"])
    )


CARD_V2 = _card("character-card-v2", "card-v2", "chara_card_v2")
CARD_V3 = _card("character-card-v3", "card-v3", "chara_card_v3")
LOREBOOK_V3 = Format(
    name="lorebook-v3",
    short="lorebook-v3",
    claims=lambda tree: isinstance(tree, dict) and tree.get("spec") == "lorebook_v3" and "data" in tree,
    book=lambda tree: ("data",),
    profile=_profile,
    read=lambda tree, reader: _read_book(tree["data"], ("data",), reader),
    write=_write,
    begin=lambda name, description: {"spec": "lorebook_v3", "data": _new_book(name, description)},
    add=_entry_adder(("data",)),
    fill=lambda tree, origin: _fill_book(tree["data"], origin),
    carry=_carry_members,
)
CHARACTER_BOOK = Format(
    name="character-book",
    short="character-book",
    claims=_claims_book,
    profile=_profile,
    read=lambda tree, reader: _read_book(tree, (), reader),
    write=_write,
    begin=_new_book,
    add=_entry_adder(()),
    fill=_fill_book,
    carry=_carry_members,
)
CARD_V1 = Format(
    name="character-card-v1",
    claims=lambda tree: isinstance(tree, dict) and "spec" not in tree and card_members(tree) is not None,
    profile="sillytavern",
    read=_read_v1,
    members=(),
    write=lambda raw, leaf, entry: False,
)
