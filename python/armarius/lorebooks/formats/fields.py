"""Field tables: a row reads members of a raw object into a field of an entry, and writes them back.

A format is a `Table` of rows; what no row can say stays a pair of functions (`Row`). A row names the member of the raw
object (`contextConfig.prefix` inside an object of it) and the dotted field of the entry, one of `LEAVES`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from armarius.lorebooks.formats.format import Reader, TreePath
from armarius.lorebooks.js_regex import is_expression
from armarius.lorebooks.record import Condition, Decorator, Entry, Key, KeyKind, Matching, value_of

UNSAID: Final = object()
"""What the `save` of a field gives for a value that the format cannot say."""
Raw = Mapping[str, Any]
Values = dict[str, Any]
_BASE: Final = Entry("")
_PARTS: Final = ("match", "wake", "chance", "timing", "share", "place", "scope")


def unread(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
    """The `read` of a row that only writes."""


class FieldRow(NamedTuple):
    """Some members of a raw object and the fields of an entry that they say, as a pair of functions.

    Attributes:
        names: The members.
        leaves: The fields, dotted; all that are read are of the part of the first.
        save: The entry and the raw object as it is to the members with their values; None when they cannot say it.
        read: Takes a raw object, its path and the reader, and puts the values of the fields, by their names in the
            part, into the last argument; those that are left out are as in the base of the table.
    """

    names: tuple[str, ...]
    leaves: tuple[str, ...]
    save: Callable[[Entry, Raw], Values | None]
    read: Callable[[Raw, TreePath, Reader, Values], None] = unread


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
        readers: dict[str, list[Any]] = {part: [] for part in ("", *_PARTS)}
        for row in rows:
            for leaf in row.leaves:
                self._by_leaf.setdefault(leaf, []).append(row)
            if row.read is not unread:
                part, dot, _ = row.leaves[0].partition(".")
                readers[part if dot else ""].append(row.read)
        self._plain = readers.pop("")
        self._parts = [
            (part, reads, (when or {}).get(part), getattr(base, part), _said(getattr(base, part)))
            for part, reads in readers.items()
            if reads or _said(getattr(base, part))
        ]

    def read(self, raw: Raw, path: TreePath, reader: Reader) -> Values:
        """The fields that a raw object says, as `Reader.add` takes them."""
        values: Values = {}
        for read in self._plain:
            read(raw, path, reader, values)
        for part, reads, when, base, said in self._parts:
            if not reads or (when is not None and not when(raw)):
                values[part] = base
                continue
            found = dict(said)
            for read in reads:
                read(raw, path, reader, found)
            values[part] = Matching(**found) if part == "match" else reader.part(type(base), found)
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


def _said(part: Any) -> Values:  # noqa: ANN401
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

    return FieldRow((name,), (leaf,), saved, read if kind else unread)


def keep_priority(name: str, *, read: bool) -> FieldRow:
    """The keep priority, for which the order stands where there is none."""
    row = field(name, "share.keep_priority", "number" if read else "", 0)

    def save(entry: Entry, raw: Raw) -> Values:
        return {name: entry.share.order if entry.share.keep_priority is None else entry.share.keep_priority}

    return row._replace(save=save)


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
        found, old = split_decorators(before)
        if found:
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
    flags = [(name, default, said) for name, default, said in ((off, enabled, "never"), (on, False, "always")) if name]

    def read(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
        for name, default, said in flags:
            value = raw.get(name)
            if value is not None and (value or not quiet) and reader.flag(value, (*path, name)) != default:
                into["level"] = said
                return

    def save(entry: Entry, raw: Raw) -> Values | None:
        said = entry.level
        if said == "manual_only" or (said == "never" and not off) or (said == "always" and not on):
            return None
        changes: Values = {off: (said == "never") != enabled} if off else {}
        return changes | {on: said == "always"} if on and said != "never" else changes

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
        made = joined(entry.match.keys, comma)
        return None if made is None or any(key.kind not in kinds for key in entry.match.keys) else {name: made}

    return FieldRow((name,), ("match.keys",), save, read)


def secondary(second: FieldRow, flag: str, comma: str = "") -> FieldRow:
    """Secondary keys of which any must be there, where a flag says so; `second` reads them."""
    (name,) = second.names

    def read(raw: Raw, path: TreePath, reader: Reader, into: Values) -> None:
        if reader.flag(raw.get(flag), (*path, flag)) and raw.get(name):
            found: Values = {}
            second.read(raw, path, reader, found)
            into["require"] = (Condition("any", found["keys"]),) if found["keys"] else ()

    def save(entry: Entry, raw: Raw) -> Values | None:
        require = entry.match.require
        made = joined([key for one in require for key in one.keys], comma)
        if made is None or len(require) > 1 or any(one.how != "any" for one in require):
            return None
        return {name: made, flag: bool(require)}

    return FieldRow((name, flag), ("match.require",), save, read)


def joined(some: Iterable[Key], comma: str = "") -> str | list[str] | None:
    """Keys as one text with commas, or as a list; None where a comma in a key would make two of it."""
    texts = [key.text for key in some]
    if not comma:
        return texts
    return None if any("," in text for text in texts) else comma.join(texts)


def typed_keys(texts: Iterable[str], kinds: tuple[KeyKind, ...] = ("plain", "regex")) -> tuple[Key, ...]:
    """Keys from texts: slashes mark expressions, `*` and `?` wild cards."""
    if "regex" in kinds:
        return tuple([Key(text, "regex") if text[:1] == "/" and is_expression(text) else Key(text) for text in texts])
    wild = "wildcard" in kinds
    return tuple([Key(text, "wildcard") if wild and ("*" in text or "?" in text) else Key(text) for text in texts])


def split_decorators(text: str) -> tuple[tuple[Decorator, ...], str]:
    """The decorators `@@name a,b` at the top of a text, and the text without them and the blank lines around them.

    Source: Character Card Specification V3, "Decorators"; the lines are kept in the file and never sent.
    """
    bare = text.lstrip("\r\n \t")
    if not bare.startswith("@@"):
        return (), text
    found: list[Decorator] = []
    lines = bare.split("\n")
    for at, line in enumerate(lines):
        said = line.strip()
        if said.startswith("@@") and len(said) > 2:
            name, _, rest = said.lstrip("@").partition(" ")
            args = tuple(part.strip() for part in rest.split(",")) if rest.strip() else ()
            found.append(Decorator(name.strip(), args, said.startswith("@@@")))
        elif said:
            return tuple(found), "\n".join(lines[at:])
    return tuple(found), ""
