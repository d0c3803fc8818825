"""The worldbook of tavern-helper: SillyTavern's fields under other names, in objects of their own."""

from typing import Any

from armarius.lorebooks.formats.format import Format
from armarius.lorebooks.formats.native import native_changes, native_entry
from armarius.lorebooks.formats.reading import Path, Reader
from armarius.lorebooks.formats.sillytavern import in_order
from armarius.lorebooks.record import Entry

__all__ = ["FORMAT"]

_LOGIC = ("and_any", "not_all", "not_any", "and_all")
_POSITIONS = (
    "before_character_definition",
    "after_character_definition",
    "before_author_note",
    "after_author_note",
    "at_depth",
    "before_example_messages",
    "after_example_messages",
    "outlet",
)
_ROLES = ("system", "user", "assistant")
_KNOWN = frozenset(
    {"name", "uid", "enabled", "content", "strategy", "position", "recursion", "probability", "effect", "content_hash"}
)


def _claims(tree: Any) -> bool:  # noqa: ANN401
    entries = tree.get("entries") if isinstance(tree, dict) else None
    values = list(entries.values())[:50] if isinstance(entries, dict) else []
    return any(
        isinstance(one, dict) and isinstance(one.get("strategy"), dict) and isinstance(one.get("position"), dict)
        for one in values
    )


def _part(raw: dict[str, Any], name: str, path: Path, reader: Reader) -> dict[str, Any]:
    part = raw.get(name)
    if part is None or isinstance(part, dict):
        return part or {}
    reader.lose((*path, name), part, "an object was expected; kept")
    return {}


def _flat(raw: dict[str, Any], path: Path, reader: Reader) -> dict[str, Any]:
    strategy, position = _part(raw, "strategy", path, reader), _part(raw, "position", path, reader)
    recursion, effect = _part(raw, "recursion", path, reader), _part(raw, "effect", path, reader)
    second = _part(strategy, "keys_secondary", (*path, "strategy"), reader)
    flat: dict[str, Any] = {
        "comment": raw.get("name"),
        "content": raw.get("content"),
        "disable": raw.get("enabled") is False,
        "constant": strategy.get("type") == "constant",
        "vectorized": strategy.get("type") == "vectorized",
        "key": strategy.get("keys"),
        "keysecondary": second.get("keys"),
        "selective": True,
        "order": position.get("order"),
        "depth": position.get("depth"),
        "role": position.get("role"),
        "outletName": position.get("outlet"),
        "excludeRecursion": recursion.get("prevent_incoming"),
        "preventRecursion": recursion.get("prevent_outgoing"),
        "delayUntilRecursion": recursion.get("delay_until"),
        "probability": raw.get("probability"),
        **{name: effect.get(name) for name in ("sticky", "cooldown", "delay")},
    }
    if (logic := second.get("logic")) in _LOGIC:
        flat["selectiveLogic"] = _LOGIC.index(logic)
    if (depth := strategy.get("scan_depth")) != "same_as_global":
        flat["scanDepth"] = depth
    if (kind := position.get("type")) in _POSITIONS:
        flat["position"] = _POSITIONS.index(kind)
    elif kind is not None:
        reader.lose((*path, "position", "type"), kind, "no place that is known; read as before the character")
    if flat["vectorized"]:
        reader.lose((*path, "strategy", "type"), "vectorized", "woken by likeness; kept, only keys wake it here")
    return flat


def _read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    for key, raw in in_order(tree["entries"]):
        path: Path = ("entries", key)
        if reader.damaged(raw, path):
            continue
        uid = raw.get("uid", key)
        reader.kept(raw, _KNOWN, path)
        entry = native_entry(
            _flat(raw, path, reader), str(uid) if isinstance(uid, int | str) else str(key), path, reader
        )
        reader.add(entry, path, raw)
    reader.kept(tree, frozenset({"entries"}), ())


def _write(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    changes = native_changes(leaf, entry, str(raw.get("content") or ""))
    if changes is None:
        return False
    for native, value in changes.items():
        if native in _TARGETS:
            path, made = _TARGETS[native]
            place = raw
            for part in path[:-1]:
                place = place.setdefault(part, {})
                if not isinstance(place, dict):
                    return False
            place[path[-1]] = made(value)
        elif native == "constant":
            strategy = raw.setdefault("strategy", {})
            if value or strategy.get("type") == "constant":
                strategy["type"] = "constant" if value else "selective"
        elif native not in ("addMemo", "selective", "useProbability"):
            return False
    return True


def _same(value: Any) -> Any:  # noqa: ANN401
    return value


_TARGETS: dict[str, tuple[tuple[str, ...], Any]] = {
    "comment": (("name",), _same),
    "content": (("content",), _same),
    "disable": (("enabled",), lambda value: not value),
    "key": (("strategy", "keys"), _same),
    "keysecondary": (("strategy", "keys_secondary", "keys"), _same),
    "selectiveLogic": (("strategy", "keys_secondary", "logic"), lambda value: _LOGIC[value]),
    "scanDepth": (("strategy", "scan_depth"), lambda value: "same_as_global" if value is None else value),
    "position": (("position", "type"), lambda value: _POSITIONS[value]),
    "role": (("position", "role"), lambda value: _ROLES[value]),
    "depth": (("position", "depth"), _same),
    "order": (("position", "order"), _same),
    "outletName": (("position", "outlet"), _same),
    "excludeRecursion": (("recursion", "prevent_incoming"), _same),
    "preventRecursion": (("recursion", "prevent_outgoing"), _same),
    "delayUntilRecursion": (("recursion", "delay_until"), lambda value: value or None),
    "probability": (("probability",), _same),
    "sticky": (("effect", "sticky"), _same),
    "cooldown": (("effect", "cooldown"), _same),
    "delay": (("effect", "delay"), _same),
}

FORMAT = Format(
    name="tavernhelper-worldbook",
    claims=_claims,
    book=lambda tree: (),
    profile=lambda tree: "sillytavern",
    read=_read,
    write=_write,
)
