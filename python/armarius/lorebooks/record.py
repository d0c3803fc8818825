"""Records of a lorebook: `Entry` with its parts, `UnsupportedField` and `Conflict`.

An entry is not an entity: books hold several entries about one person with the same keys, and entries without keys.
`Entry.entity` may refer to an entity. The parts of an entry are its keys (`match`), recursion (`wake`), probability and
groups (`chance`), timing, order and budget (`share`), position (`place`) and the characters that it is limited to
(`scope`). All records are immutable: `dataclasses.replace` makes a changed copy, `Book.with_entry` a book with it.

Edits of a book map entry id and dotted field to a value; they are stored as JSON next to the original. If a new version
of the file changed the same field, it is a conflict; the edit stays.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, get_args

from armarius.arguments import ProfileName
from armarius.codex.model import ContextLevel
from armarius.errors import ContractError, UnknownId
from armarius.validation import near, shown, suggestion

KeyKind = Literal["plain", "regex", "wildcard"]
How = Literal["any", "all", "none", "not_all"]
Unit = Literal["messages", "characters", "actions", "tokens"]
Boundary = Literal["auto", "word", "substring"]
Slot = Literal[
    "before", "after", "note_top", "note_bottom", "at_depth", "examples_before", "examples_after", "outlet", "key"
]


def checked_profile(value: object) -> ProfileName:
    """`value` as the name of a profile.

    Raises:
        ContractError: Any other value.
    """
    if isinstance(value, str) and value in get_args(ProfileName):
        return value  # type: ignore[return-value]
    raise ContractError(f"profile: expected one of {', '.join(get_args(ProfileName))}, got {shown(value)}")


@dataclass(frozen=True, slots=True)
class Key:
    """One key as it was written.

    Attributes:
        text: A regular expression keeps its slashes and flags: `/dra.on/i`.
        kind: `wildcard`: `*` is any run of word characters and `?` exactly one.
    """

    text: str
    kind: KeyKind = "plain"


LONGEST_EXPRESSION: Final = 10_000
"""Code points of an expression; a longer text is plain."""
_WHOLE = re.compile(r"/([\s\S]+?)/([gimsuy]*)\Z")
_BARE_SLASH = re.compile(r"(?:^|[^\\])/")


def expression_of(text: str) -> tuple[str, str] | None:
    """Pattern and flags of `/pattern/flags`; None when it is plain text: an unescaped slash is inside."""
    if len(text) > LONGEST_EXPRESSION:
        return None
    match = _WHOLE.match(text)
    if match is None or _BARE_SLASH.search(match[1]):
        return None
    return match[1], match[2]


@dataclass(frozen=True, slots=True)
class Condition:
    """A second list of keys: any, all or none of them must be there, or not all."""

    how: How
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """How far back the text is searched; 0 finds nothing where the unit is messages."""

    count: int
    unit: Unit = "messages"


@dataclass(frozen=True, slots=True)
class Matching:
    """When an entry is found.

    Attributes:
        keys: Any of them.
        require: All of these conditions, in addition.
        case: Whether case counts; None as the book or the profile says.
        boundary: What stands at the ends of a key; None as the book or the profile says.
        range: How far back; None as the book or the profile says.
        sources: Other texts that are searched too: `persona`, `character`, `personality`, `depth_prompt`, `scenario`,
            `creator_notes`, `memory`, `note`.
        patterns: Every key is an expression, with or without slashes; None where the slashes say so.
    """

    keys: tuple[Key, ...] = ()
    require: tuple[Condition, ...] = ()
    case: bool | None = None
    boundary: Boundary | None = None
    range: Range | None = None
    sources: tuple[str, ...] = ()
    patterns: bool | None = None


@dataclass(frozen=True, slots=True)
class Recursion:
    """Recursive scanning: whether the scanned text or other entries activate an entry, and whether it activates others.

    Attributes:
        by_text: The scanned text activates the entry.
        by_entries: The text of other active entries activates it; None uses the book's setting.
        wakes_others: Its text activates other entries; None uses the book's setting.
        level: First recursion step that activates the entry; the scanned text then does not. 0 allows both.
    """

    by_text: bool = True
    by_entries: bool | None = None
    wakes_others: bool | None = None
    level: int = 0


@dataclass(frozen=True, slots=True)
class Probability:
    """Probability and inclusion groups.

    Attributes:
        probability: Percent; None is always.
        groups: Inclusion groups: one entry of each is active.
        weight: Weight in the random choice of its group.
        preferred: The entry wins its group without a random choice.
        scored: The entry with most keys found wins the group; None uses the profile's setting.
    """

    probability: float | None = None
    groups: tuple[str, ...] = ()
    weight: float = 100
    preferred: bool = False
    scored: bool | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """When an entry may be active, in messages.

    Attributes:
        delay: Not while there are fewer messages.
        sticky: Stays active for so many more messages.
        cooldown: Then is not active for so many.
        after: Only after so many messages, as the engine of the profile counts them.
        every: Only every so many.
        once: Never again after it was active.
        keep: Always after it was active.
    """

    delay: int | None = None
    sticky: int | None = None
    cooldown: int | None = None
    after: int | None = None
    every: int | None = None
    once: bool = False
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Priority:
    """Order and budget.

    Attributes:
        order: Insertion order: higher values stand later.
        keep_priority: Entries of lower priority are omitted first; None is `order`.
        max_tokens: Limit of its text, in tokens.
        max_share: The same limit as a fraction of the budget.
        reserved: Tokens reserved for the entry; a fraction of the budget if at most 1.
        exempt: The entry ignores the budget.
        trim: Which end of a text above the limit is cut (`end`, `start` or `none`), and in which unit.
        prefix: Text before the entry; never trimmed.
        suffix: Text after the entry; never trimmed.
    """

    order: float = 100
    keep_priority: float | None = None
    max_tokens: int | None = None
    max_share: float | None = None
    reserved: float = 0
    exempt: bool = False
    trim: tuple[str, str] | None = None
    prefix: str = ""
    suffix: str = ""

    @property
    def keep(self) -> float:
        """The keep priority, or the order that stands for it."""
        return self.order if self.keep_priority is None else self.keep_priority


@dataclass(frozen=True, slots=True)
class Place:
    """Where an active entry goes; the table in docs/lorebooks.md says what that is in a prompt of four layers.

    Attributes:
        slot: `before` and `after` the character, `at_depth` messages from the end, …; "" as the profile says.
        depth: Messages from the end, or lines; negative from the end where the format counts so.
        role: `system`, `user` or `assistant`.
        name: Of an outlet, or an address of the format's own.
    """

    slot: Slot | Literal[""] = ""
    depth: int | None = None
    role: str = "system"
    name: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """Characters, tags and kinds of generation that an entry is limited to; empty is no limit.

    Attributes:
        characters: Names of characters.
        tags: Of characters.
        excluding: Those are the ones it is not for.
        triggers: Kinds of generation.
        greeting: Number of the opening message.
    """

    characters: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    excluding: bool = False
    triggers: tuple[str, ...] = ()
    greeting: int | None = None


@dataclass(frozen=True, slots=True)
class Decorator:
    """A line `@@name a,b` at the top of an entry's text: a setting of the entry, never sent.

    Attributes:
        fallback: It was written `@@@name`: tried when the one before was not accepted.
    """

    name: str
    args: tuple[str, ...] = ()
    fallback: bool = False


@dataclass(frozen=True, slots=True)
class EntrySource:
    """Where an entry comes from: format, file, and the path to it inside."""

    format: str
    file: str = ""
    path: tuple[str | int, ...] = ()


_MATCHING, _RECURSION, _PROBABILITY, _TIMING = Matching(), Recursion(), Probability(), Timing()
_PRIORITY, _PLACE, _SCOPE, _SOURCE = Priority(), Place(), Scope(), EntrySource("armarius")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a lorebook.

    Attributes:
        id: Unique in its book; from the format where it has one, never from the position then.
        name: For people; in a prompt part of the header, no part of the text.
        text: What is sent, without decorators.
        level: `always`, `when_detected`, `manual_only` (nothing but the caller wakes it) or `never`.
        entity: Id of the entity it is about, if any.
        book: Id of its book.
        folder: The writer's own division.
        type: What kind of thing it is about, where the format says so.
        decorators: The settings at the top of the text, in order; the profile says which have an effect.
        original: The object it was read from, verbatim; not to be changed.
    """

    id: str
    name: str = ""
    text: str = ""
    level: ContextLevel = "when_detected"
    entity: str | None = None
    book: str = ""
    folder: str = ""
    type: str = ""
    decorators: tuple[Decorator, ...] = ()
    match: Matching = _MATCHING
    wake: Recursion = _RECURSION
    chance: Probability = _PROBABILITY
    timing: Timing = _TIMING
    share: Priority = _PRIORITY
    place: Place = _PLACE
    scope: Scope = _SCOPE
    source: EntrySource = _SOURCE
    original: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False, hash=False)

    def changed(self, **values: Any) -> "Entry":  # noqa: ANN401 - each value has the type of its field
        """A copy with other values; `match__keys=(…)` changes a part's field.

        Raises:
            TypeError: There is no such field.
        """
        whole = {name: value for name, value in values.items() if "__" not in name}
        for name, value in values.items():
            if "__" in name:
                part, _, leaf = name.partition("__")
                whole[part] = replace(whole.get(part, getattr(self, part)), **{leaf: value})
        return replace(self, **whole)

    def to_wire(self) -> dict[str, Any]:
        """As JSON: the fields that most formats have."""
        plain = {name: getattr(self, name) for name in ("id", "name", "text", "level", "folder", "type")}
        return {**plain, "keys": [{"text": key.text, "kind": key.kind} for key in self.match.keys]}


PARTS: Final = ("match", "wake", "chance", "timing", "share", "place", "scope")
"""The parts of an entry."""
LEAVES: Final[tuple[str, ...]] = (
    *("name", "text", "level", "entity", "folder", "type"),
    *(f"{part}.{leaf}" for part in PARTS for leaf in getattr(Entry(""), part).__slots__),
)
"""Every field that says something, dotted: what an edit may change and an export must express."""


def value_of(entry: Entry, leaf: str) -> Any:  # noqa: ANN401 - each leaf has its own type
    """The value of a dotted field."""
    part, _, name = leaf.partition(".")
    value = getattr(entry, part)
    return getattr(value, name) if name else value


def book_id(name: str) -> str:
    """The id of a book by its name: letters and digits of any script, the rest as `-`."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    made = "".join(char if char.isalnum() else "-" for char in folded)
    return "-".join(part for part in made.split("-") if part)[:64] or "book"


class UnsupportedField(NamedTuple):
    """A field without effect (it is kept in the file), a repaired value, or two spellings that disagree.

    Attributes:
        path: Path in the file: `entries.6.automationId`.
        value: The value in the file.
        reason: One sentence.
    """

    path: str
    value: Any
    reason: str

    def __str__(self) -> str:
        value = repr(self.value)
        return f"{self.path} = {value if len(value) <= 60 else value[:59] + '…'}: {self.reason}"


class Conflict(NamedTuple):
    """A field that was changed here and in the file that is imported again.

    Attributes:
        entry: Id of the entry.
        field: Dotted, as `match.keys`.
        base: What the file said when it was imported before.
        ours: What it was changed to here; it stays.
        theirs: What the file says now.
    """

    entry: str
    field: str
    base: Any
    ours: Any
    theirs: Any


def dotted_path(path: Iterable[str | int]) -> str:
    """A path inside a file as text."""
    return ".".join(str(part) for part in path)


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
        return [{"how": condition.how, "keys": to_json("match.keys", condition.keys)} for condition in value]
    if leaf == "match.range":
        return {"count": value.count, "unit": value.unit}
    return list(value) if isinstance(value, tuple) else value


def from_json(leaf: str, value: Any) -> Any:  # noqa: ANN401
    """The value of a field from JSON.

    Raises:
        KeyError, TypeError, ValueError: The data are invalid.
    """
    if leaf == "match.keys":
        return tuple(Key(str(key["text"]), _check_option(key["kind"], KeyKind)) for key in value)
    if leaf == "match.require":
        return tuple(Condition(_check_option(row["how"], How), from_json("match.keys", row["keys"])) for row in value)
    if leaf == "match.range" and value is not None:
        return Range(int(value["count"]), _check_option(value["unit"], Unit))
    if leaf in _TUPLES:
        return None if value is None else tuple(str(item) for item in value)
    default = value_of(Entry(""), leaf)
    if value is not None and default is not None and type(value) is not type(default):
        numbers = isinstance(value, int | float) and isinstance(default, int | float)
        if not numbers or isinstance(value, bool) or isinstance(default, bool):
            raise TypeError(f"{leaf}: expected {type(default).__name__}")
    if isinstance(value, list | dict):
        raise TypeError(f"{leaf}: a plain value was expected")
    return value


def _check_option(value: Any, kind: Any) -> Any:  # noqa: ANN401 - a Literal
    options = get_args(kind)
    if value not in options:
        raise ValueError(f"expected one of {', '.join(options)}")
    return value


def apply_edits(
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
        edit = waiting.pop(entry.id, {})
        if edit is None:
            if entry.id in base and base[entry.id] != entry:
                conflicts.append(Conflict(entry.id, "", base[entry.id].text, None, entry.text))
            continue
        made.append(_apply_edit(entry, edit, base.get(entry.id), conflicts, losses))
    for id_, edit in waiting.items():
        if edit is None:
            continue
        if id_ in base:  # it was in the file and is not any more: what was changed in it here stays as an entry
            conflicts.append(Conflict(id_, "", base[id_].text, edit, None))
            made.append(_apply_edit(replace(base[id_], book=book), edit, None, conflicts, losses))
        else:
            made.append(_apply_edit(Entry(id_, book=book), edit, None, conflicts, losses))
    return tuple(made), conflicts, losses


def decide_conflicts(
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
    fields = {f"{id_}.{leaf}": (id_, leaf) for id_, edit in edits.items() for leaf in edit or ()}
    named = {**fields, **{id_: (id_, "") for id_ in edits}}
    kept = {id_: dict(edit) if isinstance(edit, dict) else edit for id_, edit in edits.items()}
    pairs = [(item.entry, item.field) for item in conflicts] if "all" in theirs else []
    for wanted in theirs:
        if wanted in named:
            pairs.append(named[wanted])
        elif wanted != "all":
            close = near(wanted, sorted(named))
            raise UnknownId(f"theirs: nothing here differs from the file at {shown(wanted)}{suggestion(close)}", close)
    for id_, leaf in pairs:
        if not leaf:
            kept.pop(id_, None)
        elif (edit := kept.get(id_)) is not None:
            edit.pop(leaf, None)
    gone = set(pairs)
    return kept, [item for item in conflicts if not {(item.entry, item.field), (item.entry, "")} & gone]


def _apply_edit(
    entry: Entry, edit: Mapping[str, Any], base: Entry | None, conflicts: list[Conflict], losses: list[UnsupportedField]
) -> Entry:
    values: dict[str, Any] = {}
    for leaf, raw in edit.items():
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


def differences(
    settings: Mapping[str, Any], entries: Iterable[Entry], new_settings: Mapping[str, Any], new_entries: Iterable[Entry]
) -> tuple[Change, ...]:
    """What differs between two states of a book, in the order of the new one; settings first, what is gone last.

    Cost: linear in the number of entries.
    """
    changes = [
        Change("changed", "", "", key, settings.get(key), new_settings.get(key))
        for key in dict.fromkeys((*settings, *new_settings))
        if settings.get(key) != new_settings.get(key)
    ]
    before = {entry.id: entry for entry in entries}
    for entry in new_entries:
        old = before.pop(entry.id, None)
        if old is None:
            changes.append(Change("new", entry.id, entry.name, "", None, entry.text))
            continue
        for leaf in (*LEAVES, "decorators"):
            was, now = value_of(old, leaf), value_of(entry, leaf)
            if was != now:
                changes.append(Change("changed", entry.id, entry.name, leaf, was, now))
    changes += [Change("gone", entry.id, entry.name, "", entry.text, None) for entry in before.values()]
    return tuple(changes)


def split_decorators(text: str) -> tuple[tuple[Decorator, ...], str]:
    """The decorators `@@name a,b` at the top of a text, and the text without them and the blank lines around them.

    Source: Character Card Specification V3, "Decorators"; the lines are kept in the file and never sent.
    """
    bare = text.lstrip("\r\n \t")
    if not bare.startswith("@@"):
        return (), text
    marks: list[Decorator] = []
    lines = bare.split("\n")
    for at, line in enumerate(lines):
        body = line.strip()
        if body.startswith("@@") and len(body) > 2:
            name, _, rest = body.lstrip("@").partition(" ")
            args = tuple(part.strip() for part in rest.split(",")) if rest.strip() else ()
            marks.append(Decorator(name.strip(), args, body.startswith("@@@")))
        elif body:
            return tuple(marks), "\n".join(lines[at:])
    return tuple(marks), ""
