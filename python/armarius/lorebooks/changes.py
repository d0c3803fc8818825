"""What an import changes in a book that is there: entry by entry, field by field, was and now."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from armarius.lorebooks.book import Book
from armarius.lorebooks.record import LEAVES, Entry, value_of

__all__ = ["Change", "changes_between"]


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
