"""KoboldAI: Lite's world info (a list, or in a save), and the stories of versions 1 and 2."""

from collections.abc import Callable
from typing import Any

from armarius.lorebooks.formats.format import Format
from armarius.lorebooks.formats.reading import Path, Reader, empty
from armarius.lorebooks.formats.sillytavern import in_order
from armarius.lorebooks.record import Chance, Condition, Entry, Key, Matching, Share

__all__ = ["FORMATS"]

_ROW = frozenset(
    {
        "key", "keysecondary", "keyanti", "content", "comment", "folder", "selective", "constant", "probability",
        "wigroup", "widisabled", "num", "uid", "init",
    }
)  # fmt: skip
_STORY = ("prompt", "memory", "authorsnote", "anotetemplate")


def _rows(rows: Any, path: Path, reader: Reader, *, lite: bool, folders: dict[str, str]) -> None:  # noqa: ANN401
    for index, raw in enumerate(rows if isinstance(rows, list) else []):
        where: Path = (*path, index)
        if reader.damaged(raw, where):
            continue
        reader.kept(raw, _ROW, where)
        reader.add(_entry(raw, index, where, reader, lite=lite, folders=folders), where, raw)


def _entry(
    raw: dict[str, Any], index: int, path: Path, reader: Reader, *, lite: bool, folders: dict[str, str]
) -> Entry:
    get = raw.get

    def keys(field: str) -> tuple[Key, ...]:
        # A trailing comma makes an empty key in Lite; KoboldAI keeps the blanks around a key.
        return reader.comma_keys(get(field, ""), (*path, field), trim=lite, blanks=lite)

    require: list[Condition] = []
    selective = reader.flag(get("selective"), (*path, "selective"))
    if selective and get("keysecondary"):
        require.append(Condition("any", keys("keysecondary")))
    if selective and get("keyanti"):
        require.append(Condition("none", keys("keyanti")))
    never = reader.flag(get("widisabled"), (*path, "widisabled"))
    if selective and not lite and not get("keysecondary"):
        require.append(Condition("any", ()))  # selective without a second key is never used
    chance = reader.number(get("probability"), (*path, "probability"))
    folder = get("folder")
    uid = get("uid")
    return Entry(
        id=str(uid) if isinstance(uid, int | str) and not isinstance(uid, bool) and uid != "" else str(index),
        name=reader.text(get("comment"), (*path, "comment")),
        text=reader.text(get("content"), (*path, "content")),
        level="never" if never else "always" if reader.flag(get("constant"), (*path, "constant")) else "when_detected",
        folder=folders.get(str(folder), reader.text(get("wigroup"), (*path, "wigroup"))),
        match=Matching(keys=keys("key"), require=tuple(require)),
        chance=Chance(probability=chance) if chance not in (None, 0, 100) else Chance(),
        share=Share(order=0),
    )


def _write(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    if leaf in ("text", "share.prefix", "share.suffix"):
        raw["content"] = entry.share.prefix + entry.text + entry.share.suffix
    elif leaf == "name":
        raw["comment"] = entry.name
    elif leaf == "folder":
        raw["wigroup"] = entry.folder
    elif leaf == "level":
        if entry.level == "manual_only":
            return False
        raw["widisabled"] = entry.level == "never"
        if entry.level != "never":
            raw["constant"] = entry.level == "always"
    elif leaf == "match.keys":
        if any("," in key.text or key.kind != "plain" for key in entry.match.keys):
            return False
        raw["key"] = ",".join(key.text for key in entry.match.keys)
    elif leaf == "match.require":
        return _conditions(raw, entry)
    elif leaf == "chance.probability":
        raw["probability"] = 100 if entry.chance.probability is None else entry.chance.probability
    else:
        return False
    return True


def _conditions(raw: dict[str, Any], entry: Entry) -> bool:
    fields = {"any": "keysecondary", "none": "keyanti"}
    hows = [one.how for one in entry.match.require]
    if len(set(hows)) != len(hows) or set(hows) - set(fields):
        return False
    raw["keysecondary"] = raw["keyanti"] = ""
    for one in entry.match.require:
        raw[fields[one.how]] = ",".join(key.text for key in one.keys)
    raw["selective"] = bool(entry.match.require)
    return True


def _read_list(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    _rows(tree, (), reader, lite=True, folders={})


def _read_save(lite: bool) -> Callable[[Any, Reader], None]:
    def read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
        folders = {}
        for key, raw in (tree["wifolders_d"] if isinstance(tree.get("wifolders_d"), dict) else {}).items():
            if isinstance(raw, dict) and isinstance(raw.get("name"), str):
                folders[str(key)] = raw["name"]
        reader.facts["story"] = _story(tree)
        saved = tree.get("savedsettings")
        if isinstance(saved, dict) and isinstance(saved.get("case_sensitive_wi"), bool):
            reader.facts["case"] = saved["case_sensitive_wi"]
        if isinstance(tree.get("wisearchdepth"), int):
            reader.facts["search_depth"] = tree["wisearchdepth"]
        _rows(tree.get("worldinfo"), ("worldinfo",), reader, lite=lite, folders=folders)
        for name in _STORY:
            if not empty(tree.get(name)):
                reader.lose((name,), tree[name], "of the story; kept, not used")

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


_V2 = frozenset(
    {
        "uid", "title", "key", "keysecondary", "folder", "constant", "manual_text", "content", "comment",
        "token_length", "selective", "type", "wpp", "use_wpp", "v1_uid", "object_type",
    }
)  # fmt: skip


def _read_v2(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    info = tree["worldinfo_v2"]
    reader.facts["story"] = _story(tree)
    entries = info.get("entries") if isinstance(info, dict) else None
    for key, raw in in_order(entries) if isinstance(entries, dict | list) else ():
        path: Path = ("worldinfo_v2", "entries", key)
        if reader.damaged(raw, path):
            continue
        reader.kept(raw, _V2, path)
        if raw.get("use_wpp"):
            reader.lose((*path, "wpp"), raw.get("wpp"), "the text is made from it in KoboldAI; kept, the text is read")
        if raw.get("type") not in (None, "wi", "constant"):
            reader.lose((*path, "type"), raw["type"], "has a part of its own in KoboldAI; kept, an entry like others")
        reader.add(_v2_entry(raw, str(key), path, reader), path, raw)
    for name in _STORY:
        if not empty(tree.get(name)):
            reader.lose((name,), tree[name], "of the story; kept, not used")


def _v2_entry(raw: dict[str, Any], key: str, path: Path, reader: Reader) -> Entry:
    selective = reader.flag(raw.get("selective"), (*path, "selective"))
    second = reader.keys(raw.get("keysecondary"), (*path, "keysecondary")) if selective else []
    uid = raw.get("uid", key)
    wpp = raw.get("wpp")
    return Entry(
        id=str(uid) if isinstance(uid, int | str) else key,
        name=reader.text(raw.get("title"), (*path, "title")),
        text=reader.text(raw.get("content") or raw.get("manual_text"), (*path, "content")),
        level="always" if reader.flag(raw.get("constant"), (*path, "constant")) else "when_detected",
        folder="" if raw.get("folder") in (None, "root") else str(raw["folder"]),
        type=str(wpp["type"]).lower() if isinstance(wpp, dict) and wpp.get("type") else "",
        match=Matching(
            keys=tuple(Key(one) for one in reader.keys(raw.get("key"), (*path, "key"))),
            require=(Condition("any", tuple(Key(one) for one in second)),) if second else (),
            case=True,
        ),
        share=Share(order=0),
    )


def _write_v2(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    if leaf == "text":
        raw["content"] = raw["manual_text"] = entry.text
    elif leaf == "name":
        raw["title"] = entry.name
    elif leaf == "level":
        if entry.level in ("never", "manual_only"):
            return False
        raw["constant"] = entry.level == "always"
    elif leaf == "match.keys":
        if any(key.kind != "plain" for key in entry.match.keys):
            return False
        raw["key"] = [key.text for key in entry.match.keys]
    elif leaf == "match.require":
        if len(entry.match.require) > 1 or any(one.how != "any" for one in entry.match.require):
            return False
        raw["keysecondary"] = [key.text for one in entry.match.require for key in one.keys]
        raw["selective"] = bool(entry.match.require)
    else:
        return False
    return True


def _is_lite_row(row: Any) -> bool:  # noqa: ANN401
    return isinstance(row, dict) and "key" in row and "content" in row


def _is_story(tree: Any) -> bool:  # noqa: ANN401
    return (
        isinstance(tree, dict) and isinstance(tree.get("worldinfo"), list) and ("actions" in tree or "prompt" in tree)
    )


def _is_lite_save(tree: Any) -> bool:  # noqa: ANN401
    return _is_story(tree) and ("savedsettings" in tree or "wisearchdepth" in tree or "wiinsertlocation" in tree)


def _add(tree: Any, entry: Entry) -> Path:  # noqa: ANN401
    tree.append(
        {
            "key": "", "keysecondary": "", "keyanti": "", "content": "", "comment": "", "folder": None,
            "selective": False, "constant": False, "probability": 100, "wigroup": "", "widisabled": False,
        }
    )  # fmt: skip
    return (len(tree) - 1,)


FORMATS = (
    Format(
        name="koboldai-story-v2",
        claims=lambda tree: isinstance(tree, dict) and isinstance(tree.get("worldinfo_v2"), dict),
        book=lambda tree: ("worldinfo_v2",),
        profile=lambda tree: "koboldai",
        read=_read_v2,
        write=_write_v2,
    ),
    Format(
        name="kobold-lite-save",
        claims=_is_lite_save,
        book=lambda tree: ("worldinfo",),
        profile=lambda tree: "kobold-lite",
        read=_read_save(True),
        write=_write,
    ),
    Format(
        name="koboldai-story",
        claims=_is_story,
        book=lambda tree: ("worldinfo",),
        profile=lambda tree: "koboldai",
        read=_read_save(False),
        write=_write,
    ),
    Format(
        name="kobold-lite-world-info",
        short="kobold",
        claims=lambda tree: isinstance(tree, list) and any(_is_lite_row(row) for row in tree[:50]),
        book=lambda tree: (),
        profile=lambda tree: "kobold-lite",
        read=_read_list,
        write=_write,
        begin=lambda name, description: [],
        add=_add,
    ),
)
