"""What readers share: values taken as they were meant, each repair reported, entries collected under unique ids."""

import re
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeVar

from armarius.lorebooks.limits import MAX_ENTRIES, MAX_KEYS
from armarius.lorebooks.losses import Loss, dotted
from armarius.lorebooks.record import Entry, EntrySource, Key

__all__ = ["Path", "Reader", "empty"]

_Part = TypeVar("_Part", bound=Hashable)
Path = tuple[str | int, ...]
# An id stands on one line, in files, prompts and terminals.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def empty(value: Any) -> bool:  # noqa: ANN401
    """Whether a value says nothing, so that nothing is lost with it."""
    return value is None or value is False or value in ("", 0) or value in ([], {})


class Reader:
    """Collects what one book is read into.

    Args:
        file: Name of the file, for messages.
        format: Name of the format.

    Attributes:
        entries: In the order of the book.
        losses: Row by row.
        name, description: Of the book.
        facts: What the book says for all its entries, by the names of `Book.settings`.
    """

    def __init__(self, file: str, format: str) -> None:  # noqa: A002
        self.file, self.format = file, format
        self.entries: list[Entry] = []
        self.losses: list[Loss] = []
        self.name, self.description = "", ""
        self.facts: dict[str, Any] = {}
        self._ids: set[str] = set()
        self._parts: dict[Hashable, Any] = {}
        self._full = False

    def lose(self, path: Iterable[str | int], value: object, reason: str) -> None:
        """Report a row."""
        self.losses.append(Loss(dotted(path), value, reason))

    def kept(self, raw: Mapping[str, Any], known: frozenset[str], path: Path) -> None:
        """Report every field of `raw` that says something and is not `known`."""
        for key in raw.keys() - known:
            if not empty(raw[key]):
                self.lose((*path, key), raw[key], "kept, without effect here")

    def add(self, entry: Entry, path: Path, original: Mapping[str, Any]) -> None:
        """Take an entry in; one whose id was taken gets another, which is reported."""
        if len(self.entries) >= MAX_ENTRIES:
            if not self._full:
                self.lose(path, None, f"more than {MAX_ENTRIES:,} entries: this one and what follows is kept, not read")
            self._full = True
            return
        id_ = _CONTROL.sub("\ufffd", entry.id or dotted(path))
        if entry.id and id_ != entry.id:
            self.lose(path, entry.id, "control characters in an id; each read as U+FFFD")
        if id_ in self._ids:
            number = 2
            while f"{id_}#{number}" in self._ids:
                number += 1
            self.lose(path, id_, f"another entry has this id; read as {id_}#{number}")
            id_ = f"{id_}#{number}"
        self._ids.add(id_)
        object.__setattr__(entry, "id", id_)  # just made, nobody else holds it
        object.__setattr__(entry, "source", EntrySource(self.format, self.file, path))
        object.__setattr__(entry, "original", original)
        self.entries.append(entry)

    def shared(self, part: _Part) -> _Part:
        """The first part that equals this one: most entries of a book have the same wake, share and place."""
        made: _Part = self._parts.setdefault((type(part), part), part)
        return made

    def damaged(self, raw: object, path: Path) -> bool:
        """Whether this is no object, and so no entry; reported."""
        if isinstance(raw, dict):
            return False
        self.lose(path, raw, "no entry: an object was expected; kept")
        return True

    def text(self, value: object, path: Path) -> str:
        """A text; a number is taken as one."""
        if isinstance(value, str):
            return value
        if value is None:
            return ""
        taken = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
        self.lose(path, value, f"a text was expected; read as {taken!r}")
        return taken

    def number(self, value: object, path: Path, default: float | None = None) -> float | None:
        """A number; a string that says one is taken as one. None and what says none is `default`."""
        if value is None or value == "":
            return default
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, int | float):
            return value
        if isinstance(value, str):
            try:
                number = float(value)
            except ValueError:
                number = float("nan")
            if number == number and abs(number) != float("inf"):
                self.lose(path, value, "a number was expected; the string was read as one")
                return int(number) if number.is_integer() else number
        self.lose(path, value, f"a number was expected; read as {default}")
        return default

    def whole(self, value: object, path: Path, default: int | None = None) -> int | None:
        """As `number`, without a fraction, and no larger than a plausible count."""
        number = self.number(value, path, default)
        return number if number is None else max(-1_000_000_000, min(1_000_000_000, int(number)))

    def flag(self, value: object, path: Path, default: bool = False) -> bool:
        """Yes or no; what stands for it is taken as it, and reported."""
        if isinstance(value, bool):
            return value
        if value is None:
            return default
        taken = bool(value) and value not in ("false", "False", "0")
        self.lose(path, value, f"true or false was expected; read as {str(taken).lower()}")
        return taken

    def keys(self, value: object, path: Path) -> list[str]:
        """A list of keys; a string where a list belongs is read as one with commas."""
        if isinstance(value, list):
            if len(value) <= MAX_KEYS and all(type(one) is str for one in value):
                return value
            found = []
            for at, one in enumerate(value):
                if isinstance(one, str):
                    found.append(one)
                elif one is not None:
                    self.lose((*path, at), one, "a text was expected as a key; kept, without effect")
        elif isinstance(value, str):
            self.lose(path, value, "a list was expected; the string was read as keys between commas")
            found = [part for part in value.split(",") if part.strip()]
        else:
            if value is not None:
                self.lose(path, value, "a list was expected; kept, without effect")
            return []
        if len(found) > MAX_KEYS:
            self.lose(path, len(found), f"more than {MAX_KEYS:,} keys; those above are kept, without effect")
        return found[:MAX_KEYS]

    def comma_keys(self, value: object, path: Path, *, trim: bool, blanks: bool) -> tuple[Key, ...]:
        """Keys of a string with commas; `blanks` keeps pieces without a letter."""
        if isinstance(value, list):
            self.lose(path, value, "a string with commas was expected; the list was read as it is")
            pieces = self.keys(value, path)
        else:
            text = self.text(value, path)
            pieces = text.split(",") if text else []
        if len(pieces) > MAX_KEYS:
            self.lose(path, len(pieces), f"more than {MAX_KEYS:,} keys; those above are kept, without effect")
            pieces = pieces[:MAX_KEYS]
        pieces = [piece.strip() for piece in pieces] if trim else pieces
        return tuple(Key(piece) for piece in pieces if piece or blanks)
