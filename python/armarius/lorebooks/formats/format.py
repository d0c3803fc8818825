"""`Format`; `Reader`, which collects entries, their values checked, each repair reported; `FieldTable`."""

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from armarius.arguments import ProfileName
from armarius.headings import Reason
from armarius.lorebooks.record import (
    PARTS,
    Condition,
    Entry,
    EntrySource,
    Key,
    KeyKind,
    UnsupportedField,
    book_id,
    dotted_path,
    expression_of,
    split_decorators,
    value_of,
)

MAX_ENTRIES: Final = 200_000
"""Entries of one book."""
MAX_KEYS: Final = 1_000
"""Keys of one entry; what is above is kept and has no effect."""
TreePath = tuple[str | int, ...]
Raw = Mapping[str, Any]
Values = dict[str, Any]
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # an id stands on one line, in files and prompts


def at(tree: Any, path: TreePath) -> Any:  # noqa: ANN401
    """What stands at a path of a tree; None where the way is broken."""
    for part in path:
        if isinstance(tree, Mapping):
            tree = tree.get(part)
        elif isinstance(tree, list) and isinstance(part, int) and -1 < part < len(tree):
            tree = tree[part]
        else:
            return None
    return tree


def is_empty(value: Any) -> bool:  # noqa: ANN401
    """Whether a value says nothing, so that nothing is lost with it."""
    return value is None or value is False or value in ("", 0) or value in ([], {})


def inner_object(raw: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A member that is an object; {} for anything else."""
    value = raw.get(name)
    return value if isinstance(value, dict) else {}


def sample(tree: Any, name: str = "") -> list[dict[str, Any]]:  # noqa: ANN401
    """The objects among the first 50 entries of a list or an object, or of the member of that name."""
    entries = (tree.get(name) if isinstance(tree, dict) else None) if name else tree
    some = list(entries.values()) if isinstance(entries, dict) else entries if isinstance(entries, list) else []
    return [item for item in some[:50] if isinstance(item, dict)]


def in_order(entries: Any) -> list[tuple[str | int, Any]]:  # noqa: ANN401
    """The entries of a list, or of an object as JavaScript reads them: whole-number keys first, ascending."""
    if isinstance(entries, list):
        return list(enumerate(entries))
    numbers = [key for key in entries if key.isascii() and key.isdigit() and (key == "0" or key[0] != "0")]
    numbers.sort(key=lambda key: (len(key), key))
    indices = set(numbers)
    return [(key, entries[key]) for key in (*numbers, *(key for key in entries if key not in indices))]


def written_id(value: object, place: str | int) -> str:
    """The id of an entry in its file, a number or a text; else its position."""
    usable = isinstance(value, int | str) and not isinstance(value, bool) and value != ""
    return str(value if usable else place)


def appender(path: TreePath, new: Mapping[str, Any]) -> Callable[[Any, Entry], TreePath]:
    """A `Format.add` that appends a copy of the raw object `new`, with the entry's id if it has one, to a list."""

    def add(tree: Any, entry: Entry) -> TreePath:  # noqa: ANN401
        rows = at(tree, path)
        rows.append(copy.deepcopy({**new, **({"id": entry.id} if "id" in new else {})}))
        return (*path, len(rows) - 1)

    return add


class Reader:
    """Collects the entries and settings of one book.

    Args:
        file: Name of the file, for messages.
        format: Name of the format.
        id_: Id of the book; "" derives it from its name.

    Attributes:
        entries: In book order.
        losses: Unsupported fields.
        name, description: Of the book; the name must be set before the first entry is added.
        settings: Settings of the whole book, see `Book.settings`.
    """

    def __init__(self, file: str, format: str, id_: str = "") -> None:  # noqa: A002
        self.file, self.format = file, format
        self.entries: list[Entry] = []
        self.losses: list[UnsupportedField] = []
        self.name, self.description = "", ""
        self.settings: dict[str, Any] = {}
        self._id = id_
        self._ids: set[str] = set()
        self._full = False

    @property
    def book_name(self) -> str:
        """The name of the book, else that of the file."""
        return self.name.strip() or Path(self.file).stem

    @property
    def book_id(self) -> str:
        """The id of the book."""
        return self._id or book_id(self.book_name)

    def head(self, raw: Mapping[str, Any], path: TreePath = ()) -> None:
        """Take name and description of the book from these members."""
        self.name = self.text(raw.get("name"), (*path, "name"))
        self.description = raw["description"] if isinstance(raw.get("description"), str) else ""

    def report(self, path: Iterable[str | int], value: object, code: str, **parts: str | int) -> None:
        """Add a row to the losses; its reason is the row `loss.CODE` of lexicon/reasons.toml."""
        self.losses.append(UnsupportedField(dotted_path(path), value, Reason(f"loss.{code}", **parts)))

    def report_unknown(self, raw: Raw, names: frozenset[str], path: TreePath) -> None:
        """Report all members of `raw` that are not empty and not known."""
        if not raw.keys() <= names:
            for key in raw:
                if key not in names:
                    self.report_unused(raw, key, path)

    def report_unused(self, raw: Raw, name: str, path: TreePath, code: str = "unused") -> None:
        """Report a member without effect, unless it is empty."""
        if not is_empty(raw.get(name)):
            self.report((*path, name), raw[name], code)

    def add(self, id_: str, values: Mapping[str, Any], path: TreePath, original: Mapping[str, Any]) -> None:
        """Add an entry with these fields; a duplicate id is replaced and reported."""
        if len(self.entries) >= MAX_ENTRIES:
            if not self._full:
                self.report(path, None, "entries", most=MAX_ENTRIES)
            self._full = True
            return
        written, id_ = id_, _CONTROL.sub("\ufffd", id_ or dotted_path(path))
        if written and id_ != written:
            self.report(path, written, "control")
        if id_ in self._ids:
            number = 2
            while f"{id_}#{number}" in self._ids:
                number += 1
            self.report(path, id_, "id", id=f"{id_}#{number}")
            id_ = f"{id_}#{number}"
        self._ids.add(id_)
        self._id = self.book_id
        source = EntrySource(self.format, self.file, path)
        self.entries.append(Entry(id_, book=self._id, source=source, original=original, **values))

    def objects(self, entries: Iterable[tuple[Any, Any]], path: TreePath) -> Iterator[tuple[Any, Values, TreePath]]:
        """The entries that are objects, each with its place and path; any other is reported."""
        for place, raw in entries:
            where = (*path, place)
            if isinstance(raw, dict):
                yield place, raw, where
            else:
                self.report(where, raw, "no_entry")

    def listed(self, value: object, path: TreePath) -> list[Any]:
        """The entries of a book; what is no list has none, and is reported."""
        if isinstance(value, list):
            return value
        self.report(path, value, "no_list")
        return []

    def text(self, value: object, path: TreePath) -> str:
        """A text; a number is taken as one."""
        if isinstance(value, str):
            return value
        if value is None:
            return ""
        result = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
        self.report(path, value, "text", taken=repr(result))
        return result

    def number(self, value: object, path: TreePath, default: float | None = None) -> float | None:
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
                self.report(path, value, "number_text")
                return int(number) if number.is_integer() else number
        self.report(path, value, "number", taken=str(default))
        return default

    def whole(self, value: object, path: TreePath, default: int | None = None) -> int | None:
        """As `number`, without a fraction, and no larger than a plausible count."""
        number = self.number(value, path, default)
        return number if number is None else max(-1_000_000_000, min(1_000_000_000, int(number)))

    def flag(self, value: object, path: TreePath, default: bool = False) -> bool:
        """Yes or no; what stands for it is taken as it, and reported."""
        if isinstance(value, bool):
            return value
        if value is None:
            return default
        result = bool(value) and value not in ("false", "False", "0")
        self.report(path, value, "flag", taken=str(result).lower())
        return result

    def keys(self, value: object, path: TreePath) -> list[str]:
        """A list of keys; a string where a list belongs is read as one with commas."""
        if isinstance(value, str):
            self.report(path, value, "keys_text")
            value = [part for part in value.split(",") if part.strip()]
        elif not isinstance(value, list):
            if value is not None:
                self.report(path, value, "keys")
            return []
        for at, item in enumerate(value):
            if not isinstance(item, str) and item is not None:
                self.report((*path, at), item, "key")
        return self._limit_keys([item for item in value if isinstance(item, str)], path)

    def _limit_keys(self, keys: list[str], path: TreePath) -> list[str]:
        if len(keys) > MAX_KEYS:
            self.report(path, len(keys), "most_keys", most=MAX_KEYS)
        return keys[:MAX_KEYS]

    def comma_keys(self, value: object, path: TreePath, *, trim: bool, blanks: bool) -> list[str]:
        """Keys of a string with commas; `blanks` keeps pieces without a letter."""
        if isinstance(value, list):
            self.report(path, value, "commas")
            pieces = self.keys(value, path)
        else:
            text = self.text(value, path)
            pieces = text.split(",") if text else []
        pieces = [piece.strip() if trim else piece for piece in self._limit_keys(pieces, path)]
        return [piece for piece in pieces if piece or blanks]


class FieldOrigin(NamedTuple):
    """What an export takes from the source other than its entries.

    Attributes:
        settings: Of the book, as `Book.settings`.
        card: The members of the card that it came with; empty when it came with none.
        card_at: Where in the file they stand.
        book: The raw book, where it is one of a card's kind; else empty.
        book_at: Where in the file it stands.
    """

    settings: Mapping[str, Any]
    card: Mapping[str, Any] = MappingProxyType({})
    card_at: TreePath = ()
    book: Mapping[str, Any] = MappingProxyType({})
    book_at: TreePath = ()


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Attributes:
        name: Name that `detect_book` returns.
        claims: Whether a tree has this format.
        profile: Profile of its activation rules, or a function of the tree.
        read: Reads a tree into a `Reader`.
        write: Writes one field of an entry into its raw object; False if the format does not support it.
        short: Name for exports; "" if the format cannot be exported to.
        begin: A new tree without entries, from name and description of the book.
        add: Adds a raw object with the format's defaults for an entry, and returns its path.
        raw: The raw object at the path of an entry.
        put: Writes a changed raw object back, if it is not part of the tree.
        book: Path of the book in the tree of a card; None if the card has no book.
        members: Path of the card in the tree, if its prompts and settings can be exported; None if it is not a card.
        fill: Writes book settings and card members into a new tree, and returns the source paths that were written.
        carry: Copies members without a field in `Entry` from a related format, and returns their names.
    """

    name: str
    claims: Callable[[Any], bool]
    profile: ProfileName | Callable[[Any], ProfileName]
    read: Callable[[Any, Reader], None]
    write: Callable[[dict[str, Any], str, Entry], bool]
    short: str = ""
    begin: Callable[[str, str], Any] | None = None
    add: Callable[[Any, Entry], TreePath] | None = None
    raw: Callable[[Any, TreePath], Any] = at
    put: Callable[[Any, TreePath, Any], None] | None = None
    book: Callable[[Any], TreePath | None] = lambda tree: ()
    members: TreePath | None = None
    fill: Callable[[Any, FieldOrigin], frozenset[str]] | None = None
    carry: Callable[[dict[str, Any], Mapping[str, Any]], tuple[str, ...]] | None = None


UNSAID: Final = object()
"""What the `save` of a field gives for a value that the format cannot say."""
_BASE: Final = Entry("")


class FieldRow(NamedTuple):
    """Some members of a raw object and the fields of an entry that they say, as a pair of functions.

    Attributes:
        names: The members.
        leaves: The fields, dotted; all that are read are of the part of the first.
        save: The entry and the raw object as it is to the members with their values; None when they cannot say it.
        read: Takes a raw object, its path and the reader, and puts the values of the fields, by their names in the
            part, into the last argument; those that are left out are as in the base of the table. None only writes.
    """

    names: tuple[str, ...]
    leaves: tuple[str, ...]
    save: Callable[[Entry, Raw], Values | None]
    read: Callable[[Raw, TreePath, Reader, Values], None] | None = None


class FieldTable:
    """The rows of a format.

    Args:
        rows: Of several for one field the last one read counts, and all are written.
        base: An entry with the values of fields that are not read.
        when: Name of a part to a test of the raw object; where it fails the part is not read and is that of `base`.

    Attributes:
        names: The members of a raw object that the rows know.
    """

    def __init__(
        self, *rows: FieldRow, base: Entry = _BASE, when: Mapping[str, Callable[[Raw], Any]] | None = None
    ) -> None:
        self.names = frozenset(name.partition(".")[0] for row in rows for name in row.names)
        self._by_leaf: dict[str, list[FieldRow]] = {}
        readers: dict[str, list[Any]] = {part: [] for part in ("", *PARTS)}
        for row in rows:
            for leaf in row.leaves:
                self._by_leaf.setdefault(leaf, []).append(row)
            if row.read is not None:
                part, dot, _ = row.leaves[0].partition(".")
                readers[part if dot else ""].append(row.read)
        self._plain = readers.pop("")
        self._parts = [
            (part, reads, (when or {}).get(part), getattr(base, part), _changed_values(getattr(base, part)))
            for part, reads in readers.items()
            if reads or _changed_values(getattr(base, part))
        ]

    def read(self, raw: Raw, path: TreePath, reader: Reader) -> Values:
        """The fields that a raw object says, as `Reader.add` takes them."""
        values: Values = {}
        for read in self._plain:
            read(raw, path, reader, values)
        for part, reads, when, base, defaults in self._parts:
            if not reads or (when is not None and not when(raw)):
                values[part] = base
                continue
            fields = dict(defaults)
            for read in reads:
                read(raw, path, reader, fields)
            values[part] = type(base)(**fields)
        return values

    def changes(self, raw: Raw, leaf: str, entry: Entry) -> Values | None:
        """The members that say a field of an entry; None when the format cannot say it."""
        if leaf not in self._by_leaf:
            return None
        made: Values = {}
        for row in self._by_leaf[leaf]:
            changes = row.save(entry, raw)
            if changes is None:
                return None
            made.update(changes)
        return made

    def write(self, raw: Values, leaf: str, entry: Entry) -> bool:
        """Write a field of an entry into its raw object; False when the format cannot say it."""
        changes = self.changes(raw, leaf, entry)
        return changes is not None and all(put(raw, name, value) for name, value in changes.items())


def _changed_values(part: Any) -> Values:  # noqa: ANN401
    """What a part says other than a new one."""
    new = type(part)()
    return {name: value for name in part.__slots__ if (value := getattr(part, name)) != getattr(new, name)}


def put(raw: Values, name: str, value: Any) -> bool:  # noqa: ANN401
    """Set a member, also inside objects, which are made where there are none; False when one of them is no object."""
    *within, last = name.split(".")
    for part in within:
        raw = raw.setdefault(part, {})
        if not isinstance(raw, dict):
            return False
    raw[last] = value
    return True


def field(
    name: str,
    leaf: str,
    kind: Literal["text", "number", "whole", "flag", "keys", "raw", ""] = "text",
    default: Any = None,  # noqa: ANN401
    *,
    load: Callable[[Any], Any] | None = None,
    save: Callable[[Any], Any] | None = None,
    quiet: bool = False,
) -> FieldRow:
    """One member that is one field.

    Args:
        name: Of the member.
        leaf: Of the field.
        kind: The method of `Reader` that reads a value; `raw` takes it as it is, "" does not read.
        default: What a missing value is read as.
        load: The value that was read to the field's; None takes it as it is.
        save: The field's value to the member's, or to `UNSAID`; likewise.
        quiet: Any value that is falsy is taken as missing.
    """
    within, _, last = name.rpartition(".")
    at, part = name.split("."), leaf.rpartition(".")[2]
    plain = {"text": str, "number": int, "flag": bool}.get(kind)
    checked: Any = getattr(Reader, kind, None)  # None for `raw`
    missing = {"text": "", "keys": ()}.get(kind, default)
    args = () if kind in ("text", "keys") else (default,)

    def read(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
        value = raw[within].get(last) if within else raw.get(last)
        if value is None or (quiet and not value):
            value = missing
        elif checked is not None and type(value) is not plain:
            value = checked(reader, value, (*path, *at), *args)
        into[part] = value if load is None else load(value)

    def saved(entry: Entry, raw: Raw) -> Values | None:
        value = value_of(entry, leaf) if save is None else save(value_of(entry, leaf))
        return None if value is UNSAID else {name: value}

    return FieldRow((name,), (leaf,), saved, read if kind else None)


def keep_priority(name: str, *, read: bool) -> FieldRow:
    """The keep priority, for which the order stands where there is none."""
    row = field(name, "share.keep_priority", "number" if read else "", 0)
    return row._replace(save=lambda entry, raw: {name: entry.share.keep})


def content(name: str, *, decorators: bool = False) -> FieldRow:
    """The text, written with prefix and suffix around it; `decorators` at its top are settings and stay in the file."""

    def read(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
        text = raw.get(name)
        if type(text) is not str:
            text = reader.text(text, (*path, name))
        if decorators:
            into["decorators"], text = split_decorators(text)
        into["text"] = text

    def save(entry: Entry, raw: Raw) -> Values:
        text = entry.share.prefix + entry.text + entry.share.suffix
        before = str(raw.get(name) or "") if decorators else ""
        marks, old = split_decorators(before)
        if marks:
            text = (before[: len(before) - len(old)] if old else before.rstrip("\n") + "\n") + text
        return {name: text}

    return FieldRow((name,), ("text", "share.prefix", "share.suffix"), save, read)


def level(off: str, on: str, *, enabled: bool = False, quiet: bool = False) -> FieldRow:
    """The level as up to two flags.

    Args:
        off: The one that makes it `never`; "" for none.
        on: The one that makes it `always`; "" for none.
        enabled: `off` says that the entry is enabled, which one without it is.
        quiet: Any value that is falsy is taken as missing.
    """
    flags = [(name, default, word) for name, default, word in ((off, enabled, "never"), (on, False, "always")) if name]

    def read(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
        for name, default, word in flags:
            value = raw.get(name)
            if value is not None and (value or not quiet) and reader.flag(value, (*path, name)) != default:
                into["level"] = word
                return

    def save(entry: Entry, raw: Raw) -> Values | None:
        word = entry.level
        if word == "manual_only" or (word == "never" and not off) or (word == "always" and not on):
            return None
        changes: Values = {off: (word == "never") != enabled} if off else {}
        return changes | {on: word == "always"} if on and word != "never" else changes

    return FieldRow(tuple(name for name, _, _ in flags), ("level",), save, read)


def keys(
    name: str,
    kinds: tuple[KeyKind, ...] = ("plain",),
    *,
    comma: str = "",
    trim: bool = False,
    blanks: bool = False,
) -> FieldRow:
    """The keys: a list, or one text.

    Args:
        name: Of the member.
        kinds: Of keys that the format has; the text of a key says its kind.
        comma: What joins them to one text, split at the comma; "" for a list.
        trim: Of one text: white space at the ends of a key is taken away.
        blanks: Of one text: empty keys count.
    """

    def read(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
        if comma:
            texts = reader.comma_keys(raw.get(name, ""), (*path, name), trim=trim, blanks=blanks)
        else:
            texts = reader.keys(raw.get(name), (*path, name))
        into["keys"] = typed_keys(texts, kinds)

    def save(entry: Entry, raw: Raw) -> Values | None:
        made = join_keys(entry.match.keys, comma)
        return None if made is None or any(key.kind not in kinds for key in entry.match.keys) else {name: made}

    return FieldRow((name,), ("match.keys",), save, read)


def secondary(second: FieldRow, flag: str, comma: str = "") -> FieldRow:
    """Secondary keys of which any must be there, where a flag says so; `second` reads them."""
    (name,) = second.names

    def read(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
        if reader.flag(raw.get(flag), (*path, flag)) and raw.get(name) and second.read is not None:
            values: Values = {}
            second.read(raw, path, reader, values)
            into["require"] = (Condition("any", values["keys"]),) if values["keys"] else ()

    def save(entry: Entry, raw: Raw) -> Values | None:
        require = entry.match.require
        made = join_keys([key for condition in require for key in condition.keys], comma)
        if made is None or len(require) > 1 or any(condition.how != "any" for condition in require):
            return None
        return {name: made, flag: bool(require)}

    return FieldRow((name, flag), ("match.require",), save, read)


def join_keys(some: Iterable[Key], comma: str = "") -> str | list[str] | None:
    """Keys as one text with commas, or as a list; None where a comma in a key would make two of it."""
    texts = [key.text for key in some]
    if not comma:
        return texts
    return None if any("," in text for text in texts) else comma.join(texts)


def typed_keys(texts: Iterable[str], kinds: tuple[KeyKind, ...] = ("plain", "regex")) -> tuple[Key, ...]:
    """Keys from texts: slashes mark expressions, `*` and `?` wild cards."""
    if "regex" in kinds:
        return tuple([Key(text, "regex") if text[:1] == "/" and expression_of(text) else Key(text) for text in texts])
    if "wildcard" in kinds:
        return tuple([Key(text, "wildcard") if "*" in text or "?" in text else Key(text) for text in texts])
    return tuple(map(Key, texts))
