"""Edits of a book, stored as JSON next to the original, and their merge with a new version of the file.

Edits map entry id and dotted field to a value. If the file changed the same field, it is a conflict; the edit stays.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from armarius.errors import UnknownId
from armarius.lorebooks.book import Book
from armarius.lorebooks.record import LEAVES, Condition, Conflict, Entry, Key, Range, UnsupportedField, value_of
from armarius.text.unicode import near, suggestion
from armarius.validation import shown

_TUPLES = frozenset(
    {"match.sources", "chance.groups", "scope.characters", "scope.tags", "scope.triggers", "share.trim"}
)


def to_json(leaf: str, value: Any) -> Any:  # noqa: ANN401
    """The value of a field as JSON; None where there is none."""
    if value is None:
        return None
    if leaf == "decorators":
        return [f"@@{mark.name} {','.join(mark.args)}".strip() for mark in value]
    if leaf == "match.keys":
        return [{"text": key.text, "kind": key.kind} for key in value]
    if leaf == "match.require":
        return [{"how": one.how, "keys": to_json("match.keys", one.keys)} for one in value]
    if leaf == "match.range":
        return {"count": value.count, "unit": value.unit}
    return list(value) if isinstance(value, tuple) else value


def from_json(leaf: str, value: Any) -> Any:  # noqa: ANN401
    """The value of a field from JSON.

    Raises:
        KeyError, TypeError, ValueError: It is none.
    """
    if leaf == "match.keys":
        return tuple(Key(str(key["text"]), _one_of(key["kind"], ("plain", "regex", "wildcard"))) for key in value)
    if leaf == "match.require":
        hows = ("any", "all", "none", "not_all")
        return tuple(Condition(_one_of(one["how"], hows), from_json("match.keys", one["keys"])) for one in value)
    if leaf == "match.range" and value is not None:
        units = ("messages", "characters", "actions", "tokens")
        return Range(int(value["count"]), _one_of(value["unit"], units))
    if leaf in _TUPLES:
        return None if value is None else tuple(str(one) for one in value)
    default = value_of(Entry(""), leaf)
    if value is not None and default is not None and type(value) is not type(default):
        numbers = isinstance(value, int | float) and isinstance(default, int | float)
        if not numbers or isinstance(value, bool) or isinstance(default, bool):
            raise TypeError(f"{leaf}: expected {type(default).__name__}")
    if isinstance(value, list | dict):
        raise TypeError(f"{leaf}: a plain value was expected")
    return value


def _one_of(value: Any, known: tuple[str, ...]) -> Any:  # noqa: ANN401
    if value not in known:
        raise ValueError(f"expected one of {', '.join(known)}")
    return value


def applied(
    read: tuple[Entry, ...],
    edits: Mapping[str, Any],
    base: Mapping[str, Entry],
    book: str,
) -> tuple[tuple[Entry, ...], list[Conflict], list[UnsupportedField]]:
    """Entries as they were read, with edits over them.

    Args:
        read: Of the file as it is now.
        edits: By entry id; None deletes one.
        base: Entries of the file as it was when the edits were made; where both sides changed a field there is a
            conflict, and the edit stays.
        book: Id of the book.
    """
    conflicts: list[Conflict] = []
    losses: list[UnsupportedField] = []
    made: list[Entry] = []
    waiting = dict(edits)
    for entry in read:
        said = waiting.pop(entry.id, {})
        if said is None:
            if entry.id in base and base[entry.id] != entry:
                conflicts.append(Conflict(entry.id, "", base[entry.id].text, None, entry.text))
            continue
        made.append(_changed(entry, said, base.get(entry.id), conflicts, losses))
    for id_, said in waiting.items():
        if said is None:
            continue
        if id_ in base:  # it was in the file and is not any more: what was changed in it here stays as an entry
            conflicts.append(Conflict(id_, "", base[id_].text, said, None))
            made.append(_changed(replace(base[id_], book=book), said, None, conflicts, losses))
        else:
            made.append(_changed(Entry(id_, book=book), said, None, conflicts, losses))
    return tuple(made), conflicts, losses


def decided(
    edits: Mapping[str, Any], conflicts: Sequence[Conflict], theirs: Sequence[str]
) -> tuple[dict[str, Any], list[Conflict]]:
    """The edits without those that give way to the file, and the conflicts that are left.

    Args:
        edits: As in `applied`.
        conflicts: Of these edits.
        theirs: Ids of entries that were changed here, `entry.field`, or `all` for every conflict. A conflict that was
            passed over at an earlier import is a change like any other by now, so any change can be named.

    Raises:
        UnknownId: One of them names nothing that was changed here; names near ones.
    """
    fields = {f"{id_}.{leaf}": (id_, leaf) for id_, said in edits.items() for leaf in said or ()}
    named = {**fields, **{id_: (id_, "") for id_ in edits}}
    kept = {id_: dict(said) if isinstance(said, dict) else said for id_, said in edits.items()}
    taken = [(one.entry, one.field) for one in conflicts] if "all" in theirs else []
    for wanted in theirs:
        if wanted in named:
            taken.append(named[wanted])
        elif wanted != "all":
            close = near(wanted, sorted(named))
            raise UnknownId(f"theirs: nothing here differs from the file at {shown(wanted)}{suggestion(close)}", close)
    for id_, leaf in taken:
        if not leaf:
            kept.pop(id_, None)
        elif (said := kept.get(id_)) is not None:
            said.pop(leaf, None)
    gone = set(taken)
    return kept, [one for one in conflicts if not {(one.entry, one.field), (one.entry, "")} & gone]


def _changed(
    entry: Entry, said: Mapping[str, Any], base: Entry | None, conflicts: list[Conflict], losses: list[UnsupportedField]
) -> Entry:
    values: dict[str, Any] = {}
    for leaf, raw in said.items():
        try:
            if leaf not in LEAVES:
                raise KeyError(leaf)
            value = from_json(leaf, raw)
        except (KeyError, TypeError, ValueError) as error:
            losses.append(UnsupportedField(f"{entry.id}.{leaf}", raw, f"an edit that cannot be read: {error}"))
            continue
        now = value_of(entry, leaf)
        if base is not None and value_of(base, leaf) != now and now != value:
            conflicts.append(Conflict(entry.id, leaf, value_of(base, leaf), value, now))
        values[leaf.replace(".", "__")] = value
    return entry.changed(**values) if values else entry


class Change(NamedTuple):
    """An entry that is new or gone, or one field that says something else.

    Attributes:
        kind: `new` and `gone` are whole entries; `changed` is one field.
        entry: Id of the entry; "" for a setting of the book.
        name: Of the entry, "" where it has none.
        field: Dotted, as `match.keys`; "" for a whole entry.
        was: The value before the import, edits made here included; the text of an entry that is gone.
        now: The value after it; the text of a new entry.
    """

    kind: Literal["new", "changed", "gone"]
    entry: str
    name: str
    field: str
    was: Any
    now: Any

    def values(self) -> tuple[Any, Any]:
        """Both values as JSON, in the form of `book.json`."""
        field = self.field if self.entry else ""
        return to_json(field, self.was), to_json(field, self.now)


def changes_between(before: Book, after: Book) -> tuple[Change, ...]:
    """What differs, in the order of the book after the import; settings first, what is gone last.

    Cost: linear in the number of entries.
    """
    settings = _settings(before.settings, after.settings)
    return (*settings, *_entries({one.id: one for one in before.entries}, after.entries))


def _settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[Change]:
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            yield Change("changed", "", "", key, before.get(key), after.get(key))


def _entries(before: dict[str, Entry], after: Iterable[Entry]) -> Iterable[Change]:
    for entry in after:
        old = before.pop(entry.id, None)
        if old is None:
            yield Change("new", entry.id, entry.name, "", None, entry.text)
            continue
        for leaf in (*LEAVES, "decorators"):
            was, now = value_of(old, leaf), value_of(entry, leaf)
            if was != now:
                yield Change("changed", entry.id, entry.name, leaf, was, now)
    for entry in before.values():
        yield Change("gone", entry.id, entry.name, "", entry.text, None)
