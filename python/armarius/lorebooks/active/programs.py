"""Rules of other programs than SillyTavern: Agnai, RisuAI, KoboldAI, Kobold Lite, AI Dungeon, NovelAI.

Agnai, by its behaviour at 2421510: ASCII word ends, wild cards, the last lines with their speakers, a budget that ends
early. So Chinese keywords are never found under it, which an import reports.

RisuAI, by its behaviour at 460ecae: each list of keys may be answered by another message; budget by priority. Not
followed: expressions that keep their slash (they are read as meant), and marks of one entry that leak to those behind.

The others search one text from its end; by behaviour or, where the source is closed, by documentation (AI Dungeon,
NovelAI).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from armarius.headings import Reason
from armarius.lorebooks.active.compiled import ANY, BREAK, EDGE, KeyIndex, KeyRef
from armarius.lorebooks.active.records import (
    RISU,
    Activation,
    Active,
    DecoratorEffects,
    Random,
    Scan,
    SkippedEntry,
    State,
    decorate,
    expand_text,
    without_comments,
)
from armarius.lorebooks.book import Book
from armarius.lorebooks.record import Entry, Key, Place
from armarius.validation import cleaned

_DEPTH, _LIMIT = 50, 500
_TAKEN_OUT = str.maketrans("", "", "\\^$+.()|[]{}_")


def _agnai(ready: "CompiledStory", scan: Scan, luck: Random, state: State) -> Activation:
    depth = int(scan.settings.get("memoryDepth") or _DEPTH)
    limit = scan.budget if scan.budget is not None else int(scan.settings.get("memoryContextLimit") or _LIMIT)
    lines = [f"{line.name}: {line.content}" if line.name else line.content for line in scan.lines()[-depth:]]
    text = cleaned("\n".join(lines))
    newest: dict[int, int] = {}  # key to the newest line that holds it
    for number, line in enumerate(lines):
        newest |= dict.fromkeys(ready.index.found(cleaned(line)), number)
    across = frozenset(ready.index.found(text))
    hits = []
    left: list[SkippedEntry] = []
    for number, row in enumerate(ready.rows):
        if row.never:
            continue
        book, entry = row.book, row.entry
        at = [_line(ref, newest, across, lines, text) for ref in row.keys]
        line_number = max(at, default=-1)
        if line_number >= 0:
            sent = expand_text(entry.text, *scan.names(book.id), luck, book.id, entry.id)
            key = entry.match.keys[at.index(line_number)].text if len(at) == len(entry.match.keys) else ""
            hits.append((entry.share.keep, line_number, -number, book, entry, sent, key))
    hits.sort(key=lambda hit: hit[:3], reverse=True)
    used, kept = 0, []
    for place, hit in enumerate(hits):
        size = scan.count(hit[5])
        if used + size >= limit:
            left += [SkippedEntry(lost[3].id, lost[4], Reason("lore.budget")) for lost in hits[place:]]
            break
        used += size
        kept.append(hit)
    kept.sort(key=lambda hit: (hit[4].share.order, hit[1], hit[2]))  # a higher weight stands lower, then a newer match
    active = tuple(
        Active(hit[3].id, hit[4], hit[4].place, f"key {hit[6]}", hit[5], order) for order, hit in enumerate(kept)
    )
    return Activation(active, tuple(left), state)


def _line(ref: KeyRef, newest: dict[int, int], across: frozenset[int], lines: Sequence[str], text: str) -> int:
    """The newest line with a key, -1 without one; a key that goes over a line end stands in the oldest."""
    if isinstance(ref, int):
        return newest.get(ref, 0 if ref in across else -1)
    if ref.search(text) < 0:
        return -1
    return next((at for at in range(len(lines) - 1, -1, -1) if ref.search(cleaned(lines[at])) >= 0), 0)


_DEFAULTS = {"scanDepth": 5, "tokenBudget": 800, "recursiveScanning": True, "fullWordMatching": False}
RISU_SETTINGS = frozenset(_DEFAULTS)
_TO_PLACE = {"after_desc": "after", "before_desc": "before", "personality": "before", "scenario": "before"}


class _RisuRow:
    """One row, ready: lists of keys, each to be answered."""

    def __init__(self, book: Book, original: Entry, index: KeyIndex, full: bool, names: tuple[str, str]) -> None:
        self.book, self.original = book, original
        self.made: DecoratorEffects = decorate(original, RISU)
        entry = self.entry = self.made.entry
        self.address = f"{book.id}/{entry.id}"
        boundary = entry.match.boundary
        self.full = full if boundary is None else boundary == "word"
        self.always = entry.level == "always"
        self.never = entry.level in ("never", "manual_only") or book.switched_off
        self.keys = self._refs(entry.match.keys, index, names)
        self.require = [(rule.how, self._refs(rule.keys, index, names), rule.keys) for rule in entry.match.require]
        self.exclude_all = self._refs(self.made.exclude_all, index, names)

    def _refs(self, keys: Sequence[Key], index: KeyIndex, names: tuple[str, str]) -> list[KeyRef]:
        refs: list[KeyRef] = []
        for key in keys:
            text = expand_text(key.text, *names, Random()).strip()
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
        self.rows = [
            _RisuRow(book, entry, self.index, full, names(book.id)) for book in books for entry in book.entries
        ]
        self.index.close()
        self.timed = any(row.entry.timing.once or row.entry.timing.keep for row in self.rows)
        self.words = any(row.full for row in self.rows)


def _settings(books: Sequence[Book], scan: Scan) -> dict[str, Any]:
    """The program's, then those of a card that says all three, then what the host sets."""
    settings: dict[str, Any] = dict(_DEFAULTS)
    facts = books[0].settings if books else {}
    if len(books) == 1 and all(facts.get(name) is not None for name in ("range", "budget", "recursion")):
        depth, budget, recursion = facts["range"].count, facts["budget"], facts["recursion"]
        settings |= {"scanDepth": depth, "tokenBudget": budget, "recursiveScanning": recursion}
    if facts.get("full_words") is not None:
        settings["fullWordMatching"] = facts["full_words"]
    return settings | {name: value for name, value in scan.settings.items() if name in RISU_SETTINGS}


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
    settings = _settings(books, scan)
    messages = [_Text(line.content, ready) for line in scan.lines()]
    woken: list[_Text] = []
    active: dict[int, tuple[_RisuRow, Reason]] = {}
    left: dict[int, Reason] = {}
    again = True
    while again:
        again = False
        for number, row in enumerate(ready.rows):
            if number in active:
                continue
            reason, why = _row_reasons(row, settings, scan, luck, state, messages, woken)
            if reason:
                active[number] = (row, reason)
                left.pop(number, None)
                wakes = row.entry.wake.wakes_others
                if settings["recursiveScanning"] if wakes is None else wakes:
                    again = True
                    woken.append(_Text(row.entry.text, ready))
            elif why:
                left[number] = why
    result = _fit_budget(active, left, int(settings["tokenBudget"]), scan, luck)
    done = {row.address for row, _ in active.values() if row.entry.timing.once or row.entry.timing.keep}
    kept = tuple(
        SkippedEntry(ready.rows[number].book.id, ready.rows[number].original, why)
        for number, why in sorted(left.items())
    )
    return Activation(result, kept, State(state.sticky, state.cooldown, state.done | done))


def _row_reasons(
    row: _RisuRow,
    settings: Mapping[str, Any],
    scan: Scan,
    luck: Random,
    state: State,
    messages: Sequence[_Text],
    woken: Sequence[_Text],
) -> tuple[Reason | None, Reason | None]:
    """Why a row is active, or why it is not."""
    entry, timing = row.entry, row.entry.timing
    if row.never or not (row.always or row.keys or row.made.forced):
        return None, None
    if row.address in state.done and (timing.keep or timing.once):
        return (Reason("lore.stays"), None) if timing.keep else (None, Reason("lore.once"))
    if row.made.forced is not None:
        return (Reason("lore.activate"), None) if row.made.forced else (None, Reason("lore.dont_activate"))
    length = len(scan.lines()) + 1  # with the opening message
    if timing.after and length < timing.after:
        return None, Reason("lore.after", count=timing.after)
    if timing.every and length % timing.every:
        return None, Reason("lore.every", count=timing.every)
    if entry.scope.greeting is not None and scan.greeting is not None and entry.scope.greeting != scan.greeting:
        return None, Reason("lore.greeting", greeting=entry.scope.greeting)
    reason = Reason("lore.always")
    if not row.always:
        depth = entry.match.range.count if entry.match.range is not None else int(settings["scanDepth"])
        texts = [*messages[max(0, len(messages) - depth) :], *(woken if entry.wake.by_entries is not False else ())]
        key = next((ref for ref in row.keys if any(text.has(ref) for text in texts)), None)
        if key is None:
            return None, None
        if why := _refused_risu(row, texts):
            return None, why
        reason = Reason("lore.key", key=_key_text(row, key))
    probability = entry.chance.probability
    if probability is not None and luck.roll("chance", row.book.id, entry.id) * 100 > probability:
        return None, Reason("lore.draw", probability=probability)
    return reason, None


def _key_text(row: "_RisuRow | _StoryRow", ref: KeyRef) -> str:
    keys = row.entry.match.keys
    return keys[row.keys.index(ref)].text if len(keys) == len(row.keys) else keys[0].text


def _refused_risu(row: _RisuRow, texts: Sequence[_Text]) -> Reason | None:
    for how, refs, keys in row.require:
        there = any(text.has(ref) for ref in refs for text in texts)
        names = [key.text for key in keys]
        if how == "none" and there:
            return Reason("lore.excluding", keys=names)
        if how != "none" and not there:
            return Reason("lore.secondary", keys=names)
    if row.exclude_all and all(text.has(ref) for ref in row.exclude_all for text in texts):
        return Reason("lore.excluding_all", keys=[key.text for key in row.made.exclude_all])
    return None


def _fit_budget(
    active: dict[int, tuple[_RisuRow, Reason]], left: dict[int, Reason], budget: int, scan: Scan, luck: Random
) -> tuple[Active, ...]:
    """By priority what fits, then in ascending order, equal ones the other way round; from the top down."""
    budget = budget if scan.budget is None else scan.budget
    used = 0
    fitting = []
    for number in sorted(active, key=lambda number: active[number][0].entry.share.keep, reverse=True):
        row, reason = active[number]
        text = expand_text(row.entry.text, *scan.names(row.book.id), luck, row.book.id, row.entry.id)
        size = scan.count(text)
        if used + size > budget:
            left[number] = Reason("lore.budget")
            continue
        used += size
        fitting.append((row, reason, text))
    fitting.sort(key=lambda item: item[0].entry.share.order, reverse=True)
    fitting = _inject_rows(fitting[::-1])
    return tuple(
        Active(row.book.id, row.original, _place(row.entry), reason, text, order)
        for order, (row, reason, text) in enumerate(fitting)
    )


def _inject_rows(rows: list[tuple[_RisuRow, Reason, str]]) -> list[tuple[_RisuRow, Reason, str]]:
    """Rows that go into another one's text, by its name."""
    into = [item for item in rows if item[0].made.inject is not None and item[0].made.inject[0] == "inject_lore"]
    if not into:
        return rows
    texts = {row.address: text for row, _, text in rows}
    for row, _, text in into:
        assert row.made.inject is not None
        target = next((host for host, _, _ in rows if host.entry.name == row.made.inject[1] and host is not row), None)
        if target is not None:
            texts[target.address] = f"{texts[target.address]} {text}"
    gone = {row.address for row, _, _ in into}
    return [(row, reason, texts[row.address]) for row, reason, _ in rows if row.address not in gone]


def _place(entry: Entry) -> Place:
    place = entry.place
    if place.slot or not place.name:
        return place
    return Place(_TO_PLACE.get(place.name, ""), place.depth, place.role, re.sub(r"^pt_", "", place.name))  # type: ignore[arg-type]


STORY_SETTINGS = {
    "agnai": frozenset({"memoryDepth", "memoryContextLimit"}),
    "kobold-lite": frozenset({"case_sensitive_wi", "wi_searchdepth", "wisearchdepth"}),
    "koboldai": frozenset({"depth_actions", "widepth", "wirmvwhtsp"}),
    "ai-dungeon": frozenset(),
    "novelai": frozenset(),
}
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]?")
_DEPTH_ACTIONS = 3


class _StoryRow:
    def __init__(self, book: Book, entry: Entry, refs: Callable[[Sequence[Key], Book, Entry], list[KeyRef]]) -> None:
        self.book, self.entry = book, entry
        self.never = entry.level in ("never", "manual_only") or book.switched_off
        self.keys = refs(entry.match.keys, book, entry)
        self.require = [(rule.how, refs(rule.keys, book, entry), rule.keys) for rule in entry.match.require]


class CompiledStory:
    """Entries of some books with their keys, for one of these profiles."""

    timed = False

    def __init__(self, profile: str, books: Sequence[Book], scan: Scan) -> None:
        self.profile = profile
        self.index = KeyIndex()
        trim = profile in ("agnai", "kobold-lite") or bool(scan.settings.get("wirmvwhtsp"))

        def refs(keys: Sequence[Key], book: Book, entry: Entry) -> list[KeyRef]:
            case = entry.match.case
            if case is None:
                case = bool(scan.settings.get("case_sensitive_wi", book.settings.get("case", False)))
            result: list[KeyRef] = []
            for key in keys:
                text = key.text.strip() if trim else key.text
                if key.kind == "regex" and profile in ("agnai", "novelai"):
                    result.append(self.index.expression(text.strip()))
                elif key.kind == "wildcard":
                    result.append(self.index.wildcard(text))
                elif profile == "agnai":
                    if bare := text.translate(_TAKEN_OUT).strip():
                        result.append(self.index.plain(bare, BREAK, case=False))
                elif text or profile == "kobold-lite":  # an empty key stands in every text there
                    text = text.strip() if profile == "novelai" else text
                    result.append(self.index.plain(text, EDGE if profile == "novelai" else ANY, case=case))
            return result

        self.rows = [_StoryRow(book, entry, refs) for book in books for entry in book.entries]
        self.index.close()


def search_story(ready: CompiledStory, scan: Scan, luck: Random, state: State) -> Activation:
    """One turn."""
    if ready.profile == "agnai":
        return _agnai(ready, scan, luck, state)
    text = cleaned(_searched_text(ready.profile, scan, ready.rows))
    if ready.profile == "novelai":
        return _novelai(ready, text, scan, luck, state)
    numbers = frozenset(ready.index.found(text))
    active: list[tuple[_StoryRow, Reason]] = []
    left: list[SkippedEntry] = []
    for row in ready.rows:
        if row.never:
            continue
        if row.entry.level == "always":
            active.append((row, Reason("lore.always")))
            continue
        key = _first_key(row, numbers, text)
        if key is None:
            continue
        if (why := _refused_story(ready, row, numbers, text)) or (why := _draw_reason(ready.profile, row, luck)):
            left.append(SkippedEntry(row.book.id, row.entry, why))
        else:
            active.append((row, Reason("lore.key", key=_key_text(row, key))))
    return _answer(active, left, scan, luck, state)


def _searched_text(profile: str, scan: Scan, rows: Sequence[_StoryRow]) -> str:
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


def _first_key(row: _StoryRow, numbers: frozenset[int], text: str) -> KeyRef | None:
    return next((ref for ref in row.keys if _has_key(ref, numbers, text)), None)


def _has_key(ref: KeyRef, numbers: frozenset[int], text: str) -> bool:
    return ref in numbers if isinstance(ref, int) else ref.search(text) >= 0


def _refused_story(ready: CompiledStory, row: _StoryRow, numbers: frozenset[int], text: str) -> Reason | None:
    for how, refs, keys in row.require:
        names = [key.text for key in keys] or ["-"]
        there = any(_has_key(ref, numbers, text) for ref in refs)
        if how == "none":
            if there:
                return Reason("lore.excluding", keys=names)
        elif how == "not_all":
            if refs and all(_has_key(ref, numbers, text) for ref in refs):
                return Reason("lore.excluding_all", keys=names)
        elif not (all(_has_key(ref, numbers, text) for ref in refs) if how == "all" else there):
            return Reason("lore.secondary", keys=names)
        elif row.entry.match.case and ready.profile == "koboldai" and how == "any":
            # Story 2: the second key stands in a sentence of the first.
            sentences = [frozenset(ready.index.found(sentence)) for sentence in _SENTENCE.findall(text)]
            if not any(set(row.keys) & hits and set(refs) & hits for hits in sentences):
                return Reason("lore.secondary_sentence", keys=names)
    return None


def _draw_reason(profile: str, row: _StoryRow, luck: Random) -> Reason | None:
    probability = row.entry.chance.probability
    if probability is None or probability >= 100 or profile == "koboldai":
        return None
    roll = int(luck.roll("chance", row.book.id, row.entry.id) * 100) + 1
    return None if roll < probability else Reason("lore.draw", probability=probability)


def _novelai(ready: CompiledStory, text: str, scan: Scan, luck: Random, state: State) -> Activation:
    """Each entry looks so many characters back; cascading ones look into active entries and other texts instead."""
    extra = [cleaned(scan.sources[name]) for name in ("memory", "note") if scan.sources.get(name)]
    within: dict[int, frozenset[int]] = {}
    active: list[tuple[_StoryRow, Reason]] = []
    waiting = []
    for row in ready.rows:
        if row.never:
            continue
        if row.entry.level == "always":
            active.append((row, Reason("lore.always")))
        elif row.entry.wake.by_entries:
            waiting.append(row)
        else:
            count = row.entry.match.range.count if row.entry.match.range is not None else 1000
            near = text[-count:] if count > 0 else ""
            if count not in within:
                within[count] = frozenset(ready.index.found(near))
            key = _first_key(row, within[count], near)
            if key is not None:
                active.append((row, Reason("lore.key", key=_key_text(row, key))))
    looked = [text, *extra, *(row.entry.text for row, _ in active)]
    while waiting and looked:
        numbers: set[int] = set()
        for part in looked:
            numbers.update(ready.index.found(cleaned(part)))
        joined = cleaned("\n".join(looked))
        looked, still = [], []
        for row in waiting:
            key = _first_key(row, frozenset(numbers), joined)
            if key is None:
                still.append(row)
            else:
                active.append((row, Reason("lore.key", key=_key_text(row, key))))
                looked.append(row.entry.text)
        waiting = still
    place = {id(row): at for at, row in enumerate(ready.rows)}
    active.sort(key=lambda item: (-item[0].entry.share.order, place[id(item[0])]))
    return _answer(active, [], scan, luck, state)


def _answer(
    active: list[tuple[_StoryRow, Reason]], left: list[SkippedEntry], scan: Scan, luck: Random, state: State
) -> Activation:
    made: list[Active] = []
    used = 0
    for order, (row, reason) in enumerate(active):
        sent: Any = expand_text(row.entry.text, *scan.names(row.book.id), luck, row.book.id, row.entry.id)
        share = row.entry.share
        sent = f"{share.prefix}{sent}{share.suffix}" if sent else ""
        size = scan.count(sent) if scan.budget is not None else 0
        if scan.budget is not None and used + size > scan.budget:
            left.append(SkippedEntry(row.book.id, row.entry, Reason("lore.budget")))
            continue
        used += size
        made.append(Active(row.book.id, row.entry, row.entry.place, reason, sent, order))
    return Activation(tuple(made), tuple(left), state)
