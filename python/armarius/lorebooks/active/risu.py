"""RisuAI's rules: each list of keys may be answered by another message; budget by priority.

Followed by behaviour, of the program at 460ecae. Not followed: expressions that keep their slash (they are read as
meant), and marks of one entry that leak to those behind it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from armarius.lorebooks.active.compiled import ANY, KeyIndex, KeyRef
from armarius.lorebooks.active.macros import RISU, Decorated, decorated, expanded, without_comments
from armarius.lorebooks.active.result import Activation, Active, SkippedEntry, State
from armarius.lorebooks.active.scan import Random, Scan
from armarius.lorebooks.book import Book
from armarius.lorebooks.record import Entry, Key, Place
from armarius.positions import cleaned

KNOWN = frozenset({"scanDepth", "tokenBudget", "recursiveScanning", "fullWordMatching"})
_DEFAULTS: Mapping[str, Any] = {
    "scanDepth": 5,
    "tokenBudget": 800,
    "recursiveScanning": True,
    "fullWordMatching": False,
}
_TO_PLACE = {"after_desc": "after", "before_desc": "before", "personality": "before", "scenario": "before"}


class _Row:
    """One row, ready: lists of keys, each to be answered."""

    def __init__(self, book: Book, original: Entry, index: KeyIndex, full: bool, names: tuple[str, str]) -> None:
        self.book, self.original = book, original
        self.made: Decorated = decorated(original, RISU)
        entry = self.entry = self.made.entry
        self.address = f"{book.id}/{entry.id}"
        boundary = entry.match.boundary
        self.full = full if boundary is None else boundary == "word"
        self.always = entry.level == "always"
        self.never = entry.level in ("never", "manual_only") or book.switched_off
        self.keys = self._refs(entry.match.keys, index, names)
        self.require = [(one.how, self._refs(one.keys, index, names), one.keys) for one in entry.match.require]
        self.exclude_all = self._refs(self.made.exclude_all, index, names)

    def _refs(self, keys: Sequence[Key], index: KeyIndex, names: tuple[str, str]) -> list[KeyRef]:
        refs: list[KeyRef] = []
        for key in keys:
            text = expanded(key.text, *names, Random()).strip()
            if self.entry.match.patterns or key.kind == "regex":
                refs.append(index.expression(text, bare=True))
            elif text:
                # Full words are delimited by spaces only; otherwise all spaces are removed from key and text.
                spaced = f"\x02{text}\x02" if self.full else text.replace(" ", "")
                refs.append(index.plain(spaced, ANY, case=False))
        return refs


class CompiledRisu:
    """Rows of some books, ready, with the index of their keys."""

    def __init__(self, books: Sequence[Book], full: bool, names: Callable[[str], tuple[str, str]]) -> None:
        self.index = KeyIndex()
        self.rows = [_Row(book, entry, self.index, full, names(book.id)) for book in books for entry in book.entries]
        self.index.close()
        self.timed = any(row.entry.timing.once or row.entry.timing.keep for row in self.rows)
        self.words = any(row.full for row in self.rows)


def _settings(books: Sequence[Book], scan: Scan) -> dict[str, Any]:
    """The program's, then those of a card that says all three, then what the host sets."""
    said = dict(_DEFAULTS)
    facts = books[0].settings if books else {}
    if len(books) == 1 and all(facts.get(name) is not None for name in ("range", "budget", "recursion")):
        said |= {
            "scanDepth": facts["range"].count,
            "tokenBudget": facts["budget"],
            "recursiveScanning": facts["recursion"],
        }
    if facts.get("full_words") is not None:
        said["fullWordMatching"] = facts["full_words"]
    return said | {name: value for name, value in scan.settings.items() if name in KNOWN}


def full_words(books: Sequence[Book], scan: Scan) -> bool:
    """Whether keys are whole words, which the index depends on."""
    return bool(_settings(books, scan)["fullWordMatching"])


class _Text:
    """One message or text of an entry: the numbers of the keys in it, and itself."""

    def __init__(self, text: str, ready: CompiledRisu) -> None:
        self.raw = cleaned(text)
        bare = without_comments(self.raw)
        numbers = ready.index.found(bare.replace(" ", ""))
        if ready.words:
            numbers += ready.index.found("\x02" + "\x02\x02".join(bare.split(" ")) + "\x02")
        self.numbers = frozenset(numbers)

    def has(self, ref: KeyRef) -> bool:
        return ref in self.numbers if isinstance(ref, int) else ref.search(self.raw) >= 0


def search_risu(ready: CompiledRisu, books: Sequence[Book], scan: Scan, luck: Random, state: State) -> Activation:
    """One turn."""
    said = _settings(books, scan)
    messages = [_Text(line.content, ready) for line in scan.lines()]
    woken: list[_Text] = []
    active: dict[int, tuple[_Row, str]] = {}
    left: dict[int, str] = {}
    again = True
    while again:
        again = False
        for number, row in enumerate(ready.rows):
            if number in active:
                continue
            reason, why = _judged(row, said, scan, luck, state, messages, woken)
            if reason:
                active[number] = (row, reason)
                left.pop(number, None)
                wakes = row.entry.wake.wakes_others
                if said["recursiveScanning"] if wakes is None else wakes:
                    again = True
                    woken.append(_Text(row.entry.text, ready))
            elif why:
                left[number] = why
    result = _within(active, left, int(said["tokenBudget"]), scan, luck)
    done = {row.address for row, _ in active.values() if row.entry.timing.once or row.entry.timing.keep}
    kept = tuple(
        SkippedEntry(ready.rows[number].book.id, ready.rows[number].original, why)
        for number, why in sorted(left.items())
    )
    return Activation(result, kept, State(state.sticky, state.cooldown, state.done | done))


def _judged(
    row: _Row,
    said: Mapping[str, Any],
    scan: Scan,
    luck: Random,
    state: State,
    messages: Sequence[_Text],
    woken: Sequence[_Text],
) -> tuple[str, str]:
    """Why a row is active, or why it is not."""
    entry, timing = row.entry, row.entry.timing
    if row.never or not (row.always or row.keys or row.made.forced):
        return "", ""
    if row.address in state.done and (timing.keep or timing.once):
        return ("was active before, and stays", "") if timing.keep else ("", "was active, and is not again")
    if row.made.forced is not None:
        return ("@@activate", "") if row.made.forced else ("", "@@dont_activate")
    length = len(scan.lines()) + 1  # with the opening message
    if timing.after and length < timing.after:
        return "", f"only after {timing.after} messages"
    if timing.every and length % timing.every:
        return "", f"only every {timing.every} messages"
    if entry.scope.greeting is not None and scan.greeting is not None and entry.scope.greeting != scan.greeting:
        return "", f"only with greeting {entry.scope.greeting}"
    reason = "always"
    if not row.always:
        depth = entry.match.range.count if entry.match.range is not None else int(said["scanDepth"])
        texts = [*messages[max(0, len(messages) - depth) :], *(woken if entry.wake.by_entries is not False else ())]
        found = next((ref for ref in row.keys if any(text.has(ref) for text in texts)), None)
        if found is None:
            return "", ""
        if why := _refused(row, texts):
            return "", why
        reason = "key " + _spelt(row, found)
    probability = entry.chance.probability
    if probability is not None and luck.roll("chance", row.book.id, entry.id) * 100 > probability:
        return "", f"lost the draw ({probability:g} %)"
    return reason, ""


def _spelt(row: _Row, ref: KeyRef) -> str:
    keys = row.entry.match.keys
    return keys[row.keys.index(ref)].text if len(keys) == len(row.keys) else keys[0].text


def _refused(row: _Row, texts: Sequence[_Text]) -> str:
    for how, refs, keys in row.require:
        there = any(text.has(ref) for ref in refs for text in texts)
        names = " or ".join(key.text for key in keys)
        if how == "none" and there:
            return f"excluded by key {names}"
        if how != "none" and not there:
            return f"secondary key {names} missing"
    if row.exclude_all and all(text.has(ref) for ref in row.exclude_all for text in texts):
        return "excluded: every message holds all of " + ", ".join(key.text for key in row.made.exclude_all)
    return ""


def _within(
    active: dict[int, tuple[_Row, str]], left: dict[int, str], budget: int, scan: Scan, luck: Random
) -> tuple[Active, ...]:
    """By priority what fits, then in ascending order, equal ones the other way round; from the top down."""

    def priority(number: int) -> float:
        share = active[number][0].entry.share
        return share.order if share.keep_priority is None else share.keep_priority

    budget = budget if scan.budget is None else scan.budget
    used = 0
    fitting = []
    for number in sorted(active, key=priority, reverse=True):
        row, reason = active[number]
        text = expanded(row.entry.text, *scan.names(row.book.id), luck, row.book.id, row.entry.id)
        size = scan.count(text)
        if used + size > budget:
            left[number] = "budget"
            continue
        used += size
        fitting.append((row, reason, text))
    fitting.sort(key=lambda one: one[0].entry.share.order, reverse=True)
    fitting.reverse()
    fitting = _injected(fitting, luck)
    return tuple(
        Active(row.book.id, row.original, _place(row.entry), reason, text, order)
        for order, (row, reason, text) in enumerate(fitting)
    )


def _injected(rows: list[tuple[_Row, str, str]], luck: Random) -> list[tuple[_Row, str, str]]:
    """Rows that go into another one's text, by its name."""
    into = [one for one in rows if one[0].made.inject is not None and one[0].made.inject[0] == "inject_lore"]
    if not into:
        return rows
    texts = {row.address: text for row, _, text in rows}
    for row, _, text in into:
        assert row.made.inject is not None
        target = next((one for one, _, _ in rows if one.entry.name == row.made.inject[1] and one is not row), None)
        if target is not None:
            texts[target.address] = f"{texts[target.address]} {text}"
    gone = {row.address for row, _, _ in into}
    return [(row, reason, texts[row.address]) for row, reason, _ in rows if row.address not in gone]


def _place(entry: Entry) -> Place:
    place = entry.place
    if place.slot or not place.name:
        return place
    return Place(_TO_PLACE.get(place.name, ""), place.depth, place.role, re.sub(r"^pt_", "", place.name))  # type: ignore[arg-type]
