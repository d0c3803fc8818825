"""Entries compiled for a search: their keys as numbers of an index that finds all at once, their settings as values.

Plain keys go into two automata (case folded and not); a text is read once for all of them. Expressions are searched one
by one, when an entry needs them.

`Rules` are the settings of the search in rounds for each profile; `SETTINGS` has them by the names of the program.
"""

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from armarius._core import KeyPattern, KeySet
from armarius.errors import ContractError
from armarius.lorebooks.active.records import SILLYTAVERN, SPECIFICATION, Random, compile_key, decorate, expand_text
from armarius.lorebooks.book import Book
from armarius.lorebooks.record import Entry, How, Key, expression_of
from armarius.validation import cleaned, near, suggestion


@dataclass(frozen=True, slots=True)
class Rules:
    """How books are searched in rounds.

    Attributes:
        depth: Messages that are searched; None is all of them.
        names: Whether the speaker's name is searched too.
        recursion: Whether active entries wake others.
        case: Whether case counts.
        words: Ends of a key: `ascii` as SillyTavern judges them, `script` by the script of the key, `none`.
        scoring: Whether the most keys found win a group.
        min_activations: Older messages are searched until so many are active; 0 is off.
        min_depth: At most so many messages then; 0 is no limit.
        max_steps: Rounds; 0 is until nothing new. Excludes `min_activations`.
        budget: Tokens; None is no limit.
        full: `stop`: at the first that does not fit; `drop`: those of the lowest keep priority, at the end.
        comments: Whether `{{// }}` is taken out of what is searched.
        decorators: Names of those that have an effect.
        plural: An English plural -s of a key counts.
        book_facts: Whether range, budget and recursion of the book count.
        chat_marks: The searched text has SillyTavern's marks, newest message first.
    """

    depth: int | None = 2
    names: bool = True
    recursion: bool = True
    case: bool = False
    words: Literal["ascii", "script", "none"] = "script"
    scoring: bool = False
    min_activations: int = 0
    min_depth: int = 0
    max_steps: int = 0
    budget: int | None = None
    full: Literal["stop", "drop"] = "drop"
    comments: bool = True
    decorators: frozenset[str] = frozenset()
    plural: bool = False
    book_facts: bool = True
    chat_marks: bool = False


_MAX_STEPS = 100


def read_settings(rules: Rules, settings: Mapping[str, Any], names: Mapping[str, str]) -> Rules:
    """Rules with settings of the program's own names.

    Args:
        rules: Of the profile.
        settings: By the program's names; others are passed over.
        names: The program's name to the field.

    Raises:
        ContractError: A value is of the wrong kind.
    """
    changes: dict[str, Any] = {}
    for name, value in settings.items():
        field = names.get(name)
        if field is None:
            continue
        wanted = bool if isinstance(getattr(rules, field), bool) else int
        if value is not None and (not isinstance(value, wanted) or (wanted is int and isinstance(value, bool))):
            raise ContractError(f"settings.{name}: expected {wanted.__name__}, got {value!r}")
        if wanted is int and value is not None and not 0 <= value <= 1_000_000_000:
            raise ContractError(f"settings.{name}: expected a count, got {value!r}")
        if field == "budget" and not value:
            continue
        changes[field] = min(value, _MAX_STEPS) if field == "max_steps" and value is not None else value
    return replace(rules, **changes) if changes else rules


def unknown_settings(settings: Mapping[str, Any], names: frozenset[str]) -> None:
    """Refuse a setting that no profile of the search knows.

    Raises:
        ContractError: Its name, and near ones.
    """
    for name in settings:
        if name not in names:
            close = near(name, sorted(names))
            raise ContractError(f"settings: no profile here knows {name!r}{suggestion(close)}")


ROUNDS: Final[Mapping[str, Rules]] = {
    "sillytavern": Rules(
        words="ascii", full="stop", comments=False, decorators=SILLYTAVERN, book_facts=False, chat_marks=True
    ),
    "character-card-spec": Rules(depth=None, names=False, decorators=SPECIFICATION),
    "obsidian": Rules(depth=4, names=False),
    "novelcrafter": Rules(depth=None, names=False, recursion=False, plural=True),
    "armarius": Rules(depth=8, decorators=SPECIFICATION, full="drop"),
}
"""What holds when nothing is set: of SillyTavern 1.18, the specification V3, DeepLore, Novelcrafter, and our own."""

_OWN = {
    "depth": "depth", "names": "names", "recursion": "recursion", "case": "case", "scoring": "scoring",
    "budget": "budget", "max_steps": "max_steps", "min_activations": "min_activations",
}  # fmt: skip
SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "sillytavern": {
        "world_info_depth": "depth",
        "world_info_include_names": "names",
        "world_info_recursive": "recursion",
        "world_info_case_sensitive": "case",
        "world_info_match_whole_words": "words",
        "world_info_use_group_scoring": "scoring",
        "world_info_min_activations": "min_activations",
        "world_info_min_activations_depth_max": "min_depth",
        "world_info_max_recursion_steps": "max_steps",
        "world_info_budget_cap": "budget",
    },
    "character-card-spec": {"scan_depth": "depth", "token_budget": "budget", "recursive_scanning": "recursion"},
    "obsidian": {**_OWN, "scanDepth": "depth"},
    "novelcrafter": _OWN,
    "armarius": _OWN,
}
"""Setting by its own name to the field of `Rules`."""


ANY: Final = 0
ASCII_WORD: Final = 1
EDGE: Final = 2
WORD: Final = 3
BREAK: Final = 4
"""What must stand before and after a key: see `Ends` in rust/books/keys.rs."""

KeyRef = int | KeyPattern
"""A plain key by its number, or an expression."""
NEVER: Final = -1
"""Of a key that is never found: an invalid expression."""
_KEPT = 512
_WILD = re.compile(r"[\\^$+.()|\[\]{}_]")


def fold(text: str) -> str:
    """Case folded as those engines do."""
    return text.lower()


class KeyIndex:
    """The keys of some books under one profile; filled, then `close`d, then asked."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int, bool], int] = {}
        self._sets: list[tuple[bool, KeySet, list[int]]] = []
        self._known: dict[str, tuple[int, ...]] = {}

    def plain(self, text: str, ends: int, *, case: bool) -> int:
        """The number of a plain key."""
        text = cleaned(text)
        return self._numbers.setdefault((text if case else fold(text), ends, case), len(self._numbers))

    def expression(self, text: str, *, bare: bool = False) -> KeyRef:
        """An expression with slashes; `bare`: without them it is one all the same."""
        parts = expression_of(text)
        if parts is None:
            if not bare:
                return NEVER
            parts = (text, "")
        regex = compile_key(*parts)
        return NEVER if regex is None else regex

    def wildcard(self, text: str) -> KeyRef:
        """Agnai's keyword: `*` any run of word characters, `?` one; other signs are taken out."""
        body = _WILD.sub("", text.strip())
        if not body:
            return NEVER
        pattern = "".join({"*": r"\w*", "?": r"\w"}.get(char) or re.escape(char) for char in body)
        regex = compile_key(rf"\b(?:{pattern})\b", "i")
        return NEVER if regex is None else regex

    def close(self) -> None:
        """Build the automata. Cost: linear in the letters of all keys."""
        for case in (False, True):
            keys = [(text, ends, number) for (text, ends, cased), number in self._numbers.items() if cased == case]
            if keys:
                made = KeySet([text for text, _, _ in keys], [ends for _, ends, _ in keys])
                self._sets.append((case, made, [number for _, _, number in keys]))

    def found(self, text: str) -> tuple[int, ...]:
        """The numbers of the keys that stand in a text. Cost: one pass; none for a text that was just asked about."""
        hits = self._known.get(text)
        if hits is None:
            numbers: list[int] = []
            for case, keys, named in self._sets:
                numbers += [named[at] for at, _ in keys.found(text if case else fold(text))]
            if len(self._known) >= _KEPT:
                self._known.clear()
            hits = self._known[text] = tuple(numbers)
        return hits


_NOWHERE = Random()


class CompiledEntry:
    """One entry, ready."""

    __slots__ = (
        "address", "book", "bound", "by_entries", "conditions", "constant", "depth", "entry", "forced", "groups",
        "keys", "level", "never", "original", "patterned", "rank", "scored", "seal", "sources", "timed", "wakes",
    )  # fmt: skip

    def __init__(self, book: Book, original: Entry, rules: Rules, index: KeyIndex, names: tuple[str, str]) -> None:
        ready = decorate(original, rules.decorators)
        entry = ready.entry
        match, wake, timing = entry.match, entry.wake, entry.timing
        self.book, self.entry, self.original = book, entry, original
        self.address = f"{book.id}/{entry.id}"
        self.rank = 0
        self.forced = ready.forced
        self.never = entry.level in ("never", "manual_only") or book.switched_off
        self.constant = entry.level == "always" and not (match.patterns and rules.book_facts)
        self.keys = _refs(match.keys, entry, book, rules, index, names)
        self.conditions: list[tuple[How, list[KeyRef], Sequence[Key]]] = [
            (rule.how, _refs(rule.keys, entry, book, rules, index, names), rule.keys)
            for rule in match.require
            if not (match.patterns and rules.book_facts)
        ]
        self.patterned = any(not isinstance(ref, int) for ref in self.keys)
        range_ = match.range if match.range is not None else book.settings.get("range") if rules.book_facts else None
        self.depth = range_.count if range_ is not None and range_.unit == "messages" else None
        self.sources = match.sources
        self.by_entries = wake.by_entries is not False
        self.wakes = wake.wakes_others is not False
        self.level = wake.level or (0 if wake.by_text else 1)
        self.groups = entry.chance.groups
        self.scored = entry.chance.scored
        self.timed = bool(timing.sticky or timing.cooldown or timing.once or timing.keep)
        scope = entry.scope
        scoped = scope.triggers or scope.characters or scope.tags or scope.greeting is not None
        self.bound = bool(self.timed or scoped or timing.delay or timing.after or timing.every)
        self.seal = seal_of(original) if self.timed else 0

    def key_text(self, ref: KeyRef) -> str:
        """The key of a reference as it was written; of several references for one key, the first key."""
        keys = self.entry.match.keys
        return keys[self.keys.index(ref) if len(keys) == len(self.keys) else 0].text.strip()


def seal_of(entry: Entry) -> int:
    """A number that another entry, or this one edited, does not have."""
    fields = (entry.text, entry.level, entry.decorators, entry.match, entry.wake, entry.chance, entry.timing)
    return zlib.crc32(repr((fields, entry.share, entry.place, entry.scope)).encode("utf-8", "replace"))


def _refs(
    keys: Sequence[Key], entry: Entry, book: Book, rules: Rules, index: KeyIndex, names: tuple[str, str]
) -> list[KeyRef]:
    case = entry.match.case
    if case is None:
        case = book.settings.get("case", rules.case) if rules.book_facts else rules.case
    refs: list[KeyRef] = []
    for key in keys:
        text = key.text
        if "{{" in text or "<" in text:
            text = expand_text(text, *names, _NOWHERE)
        if entry.match.patterns and rules.book_facts:
            refs.append(index.expression(text.strip(), bare=True))
        elif key.kind == "regex":
            ref = index.expression(text.strip())
            refs.append(_add_plain_key(text, entry, rules, index, case) if ref == NEVER else ref)
        elif key.kind == "wildcard":
            refs.append(index.wildcard(text))
        elif text:
            refs.append(_add_plain_key(text, entry, rules, index, case))
            if rules.plural and text.strip()[-1:].isascii() and text.strip()[-1:].isalpha():
                refs.append(_add_plain_key(text.strip() + "s", entry, rules, index, case))
    return refs


def _add_plain_key(text: str, entry: Entry, rules: Rules, index: KeyIndex, case: bool) -> int:
    text = text.strip()
    words, boundary = rules.words, entry.match.boundary
    if boundary == "substring":
        words = "none"
    elif boundary in ("word", "auto") and words == "none":
        words = "script"
    elif boundary == "word" and rules.chat_marks:
        words = "ascii"
    ends = {"none": ANY, "script": WORD, "ascii": ASCII_WORD}[words]
    if words == "ascii" and len(text.split()) > 1:
        ends = ANY  # white space inside: found anywhere
    if not text and not rules.chat_marks:
        return NEVER
    return index.plain(text, ends, case=case)


class CompiledBooks:
    """Entries of some books under some rules, with the index of their keys.

    Attributes:
        lore: By rank: a higher order first, then as in the books.
        by_key: Number of a primary key to the entries that have it.
        always: Entries that need no key, or have one that is not found by number.
        deepest: The largest range of an entry's own.
        levels: Rounds of recursion that some entries wait for, ascending.
        timed: Whether an earlier turn can matter.
    """

    def __init__(self, books: Sequence[Book], rules: Rules, names: Callable[[str], tuple[str, str]]) -> None:
        self.index = KeyIndex()
        lore = [
            CompiledEntry(book, entry, rules, self.index, names(book.id)) for book in books for entry in book.entries
        ]
        lore.sort(key=lambda item: -item.entry.share.order)
        self.lore = lore
        self.by_key: dict[int, list[int]] = {}
        self.always: list[int] = []
        for rank, item in enumerate(lore):
            item.rank = rank
            if not item.never and (item.constant or item.forced or item.patterned or item.timed):
                self.always.append(rank)
            for ref in item.keys:
                if isinstance(ref, int):
                    self.by_key.setdefault(ref, []).append(rank)
        self.index.close()
        self.deepest = max((item.depth for item in lore if item.depth is not None), default=0)
        self.levels = sorted({item.level for item in lore if item.level > 0 and not item.never})
        self.timed = any(item.timed for item in lore)
