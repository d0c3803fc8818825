"""Rules of story writers: one text, searched from its end. KoboldAI, Kobold Lite, AI Dungeon, NovelAI.

Each is followed by behaviour or, where its source is closed, by its documentation (AI Dungeon, NovelAI).
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from armarius.lorebooks.active.compiled import ANY, EDGE, KeyIndex, KeyRef
from armarius.lorebooks.active.macros import expanded
from armarius.lorebooks.active.result import Activation, Active, SkippedEntry, State
from armarius.lorebooks.active.scan import Random, Scan
from armarius.lorebooks.book import Book
from armarius.lorebooks.record import Entry, Key
from armarius.positions import cleaned

KNOWN = {
    "kobold-lite": frozenset({"case_sensitive_wi", "wi_searchdepth", "wisearchdepth"}),
    "koboldai": frozenset({"depth_actions", "widepth", "wirmvwhtsp"}),
    "ai-dungeon": frozenset(),
    "novelai": frozenset(),
}
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]?")
_DEPTH_ACTIONS = 3


class _Row:
    def __init__(self, book: Book, entry: Entry, refs: Callable[[Sequence[Key], Book, Entry], list[KeyRef]]) -> None:
        self.book, self.entry = book, entry
        self.keys = refs(entry.match.keys, book, entry)
        self.require = [(one.how, refs(one.keys, book, entry), one.keys) for one in entry.match.require]


class CompiledStory:
    """Entries of some books with their keys, for one of these profiles."""

    timed = False

    def __init__(self, profile: str, books: Sequence[Book], scan: Scan) -> None:
        self.profile = profile
        self.index = KeyIndex()
        trim = profile == "kobold-lite" or bool(scan.settings.get("wirmvwhtsp"))

        def refs(keys: Sequence[Key], book: Book, entry: Entry) -> list[KeyRef]:
            case = entry.match.case
            if case is None:
                case = bool(scan.settings.get("case_sensitive_wi", book.settings.get("case", False)))
            found: list[KeyRef] = []
            for key in keys:
                text = key.text.strip() if trim else key.text
                if key.kind == "regex" and profile == "novelai":
                    found.append(self.index.expression(text.strip()))
                elif key.kind == "wildcard":
                    found.append(self.index.wildcard(text))
                elif text or profile == "kobold-lite":  # an empty key stands in every text there
                    text = text.strip() if profile == "novelai" else text
                    found.append(self.index.plain(text, EDGE if profile == "novelai" else ANY, case=case))
            return found

        self.rows = [_Row(book, entry, refs) for book in books for entry in book.entries]
        self.index.close()


def search_story(ready: CompiledStory, scan: Scan, luck: Random, state: State) -> Activation:
    """One turn."""
    text = cleaned(_searched(ready.profile, scan, ready.rows))
    if ready.profile == "novelai":
        return _novelai(ready, text, scan, luck, state)
    numbers = frozenset(ready.index.found(text))
    active: list[tuple[_Row, str]] = []
    left: list[SkippedEntry] = []
    for row in ready.rows:
        entry = row.entry
        if entry.level in ("never", "manual_only") or row.book.switched_off:
            continue
        if entry.level == "always":
            active.append((row, "always"))
            continue
        found = _first(row, numbers, text)
        if found is None:
            continue
        if (why := _refused(ready, row, numbers, text)) or (why := _unlucky(ready.profile, row, luck)):
            left.append(SkippedEntry(row.book.id, entry, why))
        else:
            active.append((row, f"key {_spelt(row, found)}"))
    return _answer(active, left, scan, luck, state)


def _searched(profile: str, scan: Scan, rows: Sequence[_Row]) -> str:
    if profile == "koboldai":
        depth = int(scan.settings.get("depth_actions") or scan.settings.get("widepth") or _DEPTH_ACTIONS)
        if scan.story is not None:
            prompt, actions = scan.story
        else:
            prompt, actions = "", tuple(line.content for line in scan.lines())
        return "".join((*([prompt] if len(actions) < depth else []), *actions[-depth:]))
    text = scan.whole()
    if profile == "kobold-lite":
        book = rows[0].book.settings if rows else {}
        settings = scan.settings
        depth = settings.get("wi_searchdepth", settings.get("wisearchdepth", book.get("search_depth", 0)))
        return text[-int(depth) :] if depth else text
    return text


def _first(row: _Row, numbers: frozenset[int], text: str) -> KeyRef | None:
    return next((ref for ref in row.keys if _has(ref, numbers, text)), None)


def _has(ref: KeyRef, numbers: frozenset[int], text: str) -> bool:
    return ref in numbers if isinstance(ref, int) else ref.search(text) >= 0


def _spelt(row: _Row, ref: KeyRef) -> str:
    keys = row.entry.match.keys
    return keys[row.keys.index(ref)].text if len(keys) == len(row.keys) else keys[0].text


def _refused(ready: CompiledStory, row: _Row, numbers: frozenset[int], text: str) -> str:
    for how, refs, keys in row.require:
        names = " or ".join(key.text for key in keys) or "of none"
        there = any(_has(ref, numbers, text) for ref in refs)
        if how == "none":
            if there:
                return f"excluded by key {names}"
        elif how == "not_all":
            if refs and all(_has(ref, numbers, text) for ref in refs):
                return f"excluded: all of {names} are there"
        elif not (all(_has(ref, numbers, text) for ref in refs) if how == "all" else there):
            return f"secondary key {names} missing"
        elif row.entry.match.case and ready.profile == "koboldai" and how == "any":
            # Story 2: the second key stands in a sentence of the first.
            sentences = [frozenset(ready.index.found(one)) for one in _SENTENCE.findall(text)]
            if not any(set(row.keys) & one and set(refs) & one for one in sentences):
                return f"secondary key {names} in no sentence of the first"
    return ""


def _unlucky(profile: str, row: _Row, luck: Random) -> str:
    probability = row.entry.chance.probability
    if probability is None or probability >= 100 or profile == "koboldai":
        return ""
    roll = int(luck.roll("chance", row.book.id, row.entry.id) * 100) + 1
    return "" if roll < probability else f"lost the draw ({probability:g} %, rolled {roll})"


def _novelai(ready: CompiledStory, text: str, scan: Scan, luck: Random, state: State) -> Activation:
    """Each entry looks so many characters back; cascading ones look into active entries and other texts instead."""
    extra = [cleaned(scan.sources[name]) for name in ("memory", "note") if scan.sources.get(name)]
    within: dict[int, frozenset[int]] = {}
    active: list[tuple[_Row, str]] = []
    waiting = []
    for row in ready.rows:
        if row.entry.level in ("never", "manual_only") or row.book.switched_off:
            continue
        if row.entry.level == "always":
            active.append((row, "always"))
        elif row.entry.wake.by_entries:
            waiting.append(row)
        else:
            count = row.entry.match.range.count if row.entry.match.range is not None else 1000
            near = text[-count:] if count > 0 else ""
            if count not in within:
                within[count] = frozenset(ready.index.found(near))
            found = _first(row, within[count], near)
            if found is not None:
                active.append((row, f"key {_spelt(row, found)}"))
    looked = [text, *extra, *(row.entry.text for row, _ in active)]
    while waiting and looked:
        numbers: set[int] = set()
        for one in looked:
            numbers.update(ready.index.found(cleaned(one)))
        joined = cleaned("\n".join(looked))
        looked, still = [], []
        for row in waiting:
            found = _first(row, frozenset(numbers), joined)
            if found is None:
                still.append(row)
            else:
                active.append((row, f"key {_spelt(row, found)}"))
                looked.append(row.entry.text)
        waiting = still
    place = {id(row): at for at, row in enumerate(ready.rows)}
    active.sort(key=lambda one: (-one[0].entry.share.order, place[id(one[0])]))
    return _answer(active, [], scan, luck, state)


def _answer(
    active: list[tuple[_Row, str]], left: list[SkippedEntry], scan: Scan, luck: Random, state: State
) -> Activation:
    made: list[Active] = []
    used = 0
    for order, (row, reason) in enumerate(active):
        sent: Any = expanded(row.entry.text, *scan.names(row.book.id), luck, row.book.id, row.entry.id)
        share = row.entry.share
        sent = f"{share.prefix}{sent}{share.suffix}" if sent else ""
        size = scan.count(sent) if scan.budget is not None else 0
        if scan.budget is not None and used + size > scan.budget:
            left.append(SkippedEntry(row.book.id, row.entry, "budget"))
            continue
        used += size
        made.append(Active(row.book.id, row.entry, row.entry.place, reason, sent, order))
    return Activation(tuple(made), tuple(left), state)
