"""Books searched in rounds: the text wakes entries, they wake others, until nothing new.

SillyTavern's way (its checkWorldInfo, followed by behaviour), with what the rules of a profile change. All entries of
a round are judged on the same text; groups, luck and budget decide among them; a later round takes none back.

A turn searches segments (`Searched`): messages, other texts, texts of active entries.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from armarius.headings import Reason
from armarius.lorebooks.active.compiled import CompiledBooks, CompiledEntry, KeyRef, Rules
from armarius.lorebooks.active.records import (
    Activation,
    Active,
    Effect,
    Random,
    Scan,
    SkippedEntry,
    State,
    expand_text,
    search_text,
    without_comments,
)
from armarius.validation import cleaned

_MAX_DEPTH = 1000
_MARK = "\n\x01"
_ORDER = ("persona", "character", "personality", "depth_prompt", "scenario", "creator_notes")


class Searched:
    """What is searched in one turn.

    Attributes:
        depth: Messages that an entry without a range of its own sees.
        recursed: Texts of active entries that wake others, oldest first.
    """

    def __init__(self, ready: CompiledBooks, rules: Rules, scan: Scan) -> None:
        self._ready, self._rules = ready, rules
        messages = []
        for line in reversed(scan.lines()):
            text = without_comments(line.content) if rules.comments else line.content
            messages.append(f"{line.name}: {text}" if rules.names and line.name else text)
        self._messages = messages  # newest first
        self.depth = len(messages) if rules.depth is None else rules.depth
        self.recursed: list[str] = []
        self._found_recursed: set[int] = set()
        self._first: dict[int, int] = {}
        self._scanned = 0
        self._sources = {name: cleaned(text) for name, text in scan.sources.items() if text}
        self._found_in = {name: frozenset(ready.index.found(text)) for name, text in self._sources.items()}
        self._woken: set[int] = set(ready.always)
        for numbers in self._found_in.values():
            self._wake(numbers)
        self._texts: dict[tuple[object, ...], str] = {}
        self._near: set[int] = set()  # found within the depth that entries share
        self._scan_messages(max(self.depth, ready.deepest))

    def _scan_messages(self, depth: int) -> None:
        """Search messages up to a depth; what was searched is not searched again."""
        last = min(depth, _MAX_DEPTH, len(self._messages))
        while self._scanned < last:
            numbers = self._ready.index.found(self._messages[self._scanned])
            for number in numbers:
                self._first.setdefault(number, self._scanned)
            self._wake(numbers)
            self._scanned += 1
        self._near = {number for number, first in self._first.items() if first < self.depth}

    def _wake(self, numbers: "frozenset[int] | tuple[int, ...]") -> None:
        by_key = self._ready.by_key
        for number in numbers:
            if (ranks := by_key.get(number)) is not None:
                self._woken.update(ranks)

    def add(self, text: str) -> None:
        """Text of entries that were just woken."""
        self.recursed.append(text)
        numbers = self._ready.index.found(cleaned(text))
        self._found_recursed.update(numbers)
        self._wake(numbers)

    def deepen(self) -> None:
        """One more message for every entry without a range of its own."""
        self.depth += 1
        self._scan_messages(self.depth)

    def candidates(self) -> list[int]:
        """Ranks of the entries that may be active, best first."""
        return sorted(self._woken)

    def first_of(self, item: CompiledEntry, recursed: bool) -> KeyRef | None:
        """The first of its keys that is found."""
        if item.depth is None and not item.patterned and not item.sources and self.depth > 0:
            for ref in item.keys:
                if ref in self._near:
                    return ref
            if not self.recursed:
                return None
        return next((ref for ref in item.keys if self.has(item, ref, recursed)), None)

    def has(self, item: CompiledEntry, ref: KeyRef, recursed: bool) -> bool:
        """Whether an entry finds a key in what it sees."""
        depth = self.depth if item.depth is None else item.depth
        if depth <= 0:
            return False
        recursed = recursed and (item.by_entries or self._rules.chat_marks)
        if not isinstance(ref, int):
            return ref.search(self._text(depth, item.sources, recursed)) >= 0
        first = self._first.get(ref)
        if first is not None and first < depth:
            return True
        if recursed and ref in self._found_recursed:
            return True
        return any(ref in self._found_in[name] for name in item.sources if name in self._found_in)

    def _text(self, depth: int, sources: tuple[str, ...], recursed: bool) -> str:
        """What an expression sees, as one text; made once for all entries that see the same."""
        key = (depth, sources, len(self.recursed) if recursed else 0)
        text = self._texts.get(key)
        if text is None:
            parts = self._messages[: min(depth, _MAX_DEPTH)]
            if not self._rules.chat_marks:
                parts = parts[::-1]
            parts = [*parts, *(self._sources[name] for name in _ORDER if name in sources and name in self._sources)]
            parts += self.recursed if recursed else []
            marked = "\x01" + _MARK.join(parts) if self._rules.chat_marks else "\n".join(parts)
            text = self._texts[key] = cleaned(marked)
        return text


class Timed:
    """The effects that hold while one turn is judged.

    Args:
        length: Messages of the chat.
    """

    def __init__(self, ready: CompiledBooks, state: State, length: int) -> None:
        self.length = length
        self._sticky, self._cooldown = dict(state.sticky), dict(state.cooldown)
        self._done = set(state.done)
        self.sticking: set[str] = set()
        self.cooling: set[str] = set()
        if not ready.timed:
            return
        items = {item.address: item for item in ready.lore if item.timed}
        for effects, holding in ((self._sticky, self.sticking), (self._cooldown, self.cooling)):
            for address, effect in list(effects.items()):
                item, is_over = items.get(address), self.length >= effect.end
                if item is not None and (
                    effect.seal != item.seal or (self.length <= effect.start and not effect.firm)
                ):  # edited, or taken back because the chat has not grown
                    del effects[address]
                elif is_over:
                    del effects[address]
                    if effects is self._sticky and item is not None and item.entry.timing.cooldown:
                        end = self.length + item.entry.timing.cooldown  # counts from the end of the sticky time
                        self._cooldown[address] = Effect(self.length, end, item.seal, firm=True)
                elif item is not None:
                    holding.add(address)

    def timing_reason(self, item: CompiledEntry) -> Reason | None:
        """Why an entry may not be active now, None when it may."""
        timing = item.entry.timing
        if timing.delay and self.length < timing.delay:
            return Reason("lore.delayed", messages=timing.delay - self.length)
        if item.address in self.cooling and item.address not in self.sticking:
            return Reason("lore.cooldown", turns=self._cooldown[item.address].end - self.length)
        if timing.once and item.address in self._done:
            return Reason("lore.once")
        return None

    def is_permanent(self, item: CompiledEntry) -> bool:
        """Whether the entry stays active after its first activation."""
        return item.entry.timing.keep and item.address in self._done

    def left(self, item: CompiledEntry) -> int:
        """Messages that a sticky entry has left."""
        return self._sticky[item.address].end - self.length

    def after(self, active: Iterable[CompiledEntry]) -> State:
        """The state for the next turn."""
        for item in active:
            timing = item.entry.timing
            if timing.sticky:
                self._sticky.setdefault(item.address, Effect(self.length, self.length + timing.sticky, item.seal))
            if timing.cooldown:
                self._cooldown.setdefault(item.address, Effect(self.length, self.length + timing.cooldown, item.seal))
            if timing.once or timing.keep:
                self._done.add(item.address)
        return State(self._sticky, self._cooldown, frozenset(self._done))


def winners(
    new: Sequence[CompiledEntry],
    active: Iterable[CompiledEntry],
    timed: Timed,
    luck: Random,
    score: Callable[[CompiledEntry], int],
    *,
    scoring: bool,
    lost: Callable[[CompiledEntry, Reason], None],
) -> list[CompiledEntry]:
    """Those of a round that keep their groups, in their order; `lost` is called with each other one and the reason."""
    groups: dict[str, list[CompiledEntry]] = {}
    for item in new:
        for group in item.groups:
            groups.setdefault(group, []).append(item)
    if not groups:
        return list(new)
    gone: set[int] = set()

    def remove(item: CompiledEntry, why: Reason) -> None:
        if item.rank not in gone:
            gone.add(item.rank)
            lost(item, why)

    sticky = set()
    for group, members in groups.items():
        if any(item.address in timed.sticking for item in members):
            sticky.add(group)
            for item in members:
                if item.address not in timed.sticking:
                    remove(item, Reason("lore.group_sticky", group=group))
    for group, members in groups.items():
        if group not in sticky:
            members[:] = _score_group(group, members, score, scoring, remove)
    rivals = [item for item in active if item.groups]
    for group, members in groups.items():
        if group in sticky:
            continue
        # The winner of an earlier round is known by its whole group text: one of two groups keeps nobody out.
        earlier = next((item for item in rivals if item.groups == (group,)), None)
        if earlier is not None:
            for item in members:
                remove(item, Reason("lore.group_before", group=group, by=_name(earlier)))
        elif len(members) > 1:
            winner = _winner(group, members, luck)
            for item in members:
                if item is not winner:
                    remove(item, Reason("lore.group", group=group, by=_name(winner)))
    return [item for item in new if item.rank not in gone]


def _score_group(
    group: str,
    members: list[CompiledEntry],
    score: Callable[[CompiledEntry], int],
    scoring: bool,
    remove: Callable[[CompiledEntry, Reason], None],
) -> list[CompiledEntry]:
    if not scoring and not any(item.scored for item in members):
        return members
    scores = [score(item) for item in members]
    best = max(scores)
    kept = []
    for item, points in zip(members, scores, strict=True):
        if points < best and (scoring if item.scored is None else item.scored):
            remove(item, Reason("lore.group_keys", group=group, points=points, best=best))
        else:
            kept.append(item)
    return kept


def _winner(group: str, members: Sequence[CompiledEntry], luck: Random) -> CompiledEntry:
    preferred = [item for item in members if item.entry.chance.preferred]
    if preferred:
        return max(preferred, key=lambda item: item.entry.share.order)
    total = sum(item.entry.chance.weight for item in members)
    roll = luck.roll("group", members[0].book.id, group) * total
    passed = 0.0
    for item in members:
        passed += item.entry.chance.weight
        if roll <= passed:
            return item
    return members[-1]


def _name(item: CompiledEntry) -> str:
    return item.entry.name or item.entry.id


Round = Literal["first", "recursion", "deeper", "over"]


def search_rounds(ready: CompiledBooks, rules: Rules, scan: Scan, luck: Random, state: State) -> Activation:
    """One turn.

    Cost: one pass over the searched messages for all plain keys; then what the entries that were found cost.
    """
    return _Search(ready, rules, scan, luck, state).run()


class _Search:
    def __init__(self, ready: CompiledBooks, rules: Rules, scan: Scan, luck: Random, state: State) -> None:
        self.ready, self.rules, self.scan, self.luck = ready, rules, scan, luck
        self.text = Searched(ready, rules, scan)
        self.timed = Timed(ready, state, len(scan.lines()))
        self.active: dict[int, tuple[CompiledEntry, Reason, str]] = {}  # rank to entry, reason, text as sent
        self.out: dict[int, Reason] = {}  # rank to why it is not active
        self.over: set[int] = set()  # ranks that are not tried again
        self.level = ready.levels[0] if ready.levels else 0
        self.waiting = list(ready.levels[1:])
        self.spent = 0  # tokens of the texts that woke others
        self.full = False

    def run(self) -> Activation:
        kind: Round = "first"
        steps = 0
        while kind != "over":
            if self.rules.max_steps and steps >= self.rules.max_steps:
                break
            steps += 1
            matches = self._find_entries(kind)
            chosen = self._choose_entries(matches)
            woken = [item for item in chosen if item.wakes]
            kind = self._next_round(kind, woken)
            if kind != "over" and woken:
                texts = [search_text(item.entry.text, *self.scan.names(item.book.id)) for item in woken]
                if text := "\n".join(part for part in texts if part):
                    self.text.add(text)
                    self.spent += self.scan.count(f"{text}\n")
        return self._answer()

    def _find_entries(self, kind: Round) -> list[tuple[CompiledEntry, Reason]]:
        """The entries that this round finds, with the reason."""
        matches = []
        for rank in self.text.candidates():
            if rank in self.active or rank in self.over:
                continue
            item = self.ready.lore[rank]
            reason = self._judge_entry(item, kind)
            if reason is not None:
                matches.append((item, reason))
        sticking = self.timed.sticking
        if sticking:
            matches.sort(key=lambda pair: pair[0].address not in sticking)
        return matches

    def _judge_entry(self, item: CompiledEntry, kind: Round) -> Reason | None:
        """Why it is active; None and a row in `out` when it is not."""
        out = self.out
        if item.never:
            # Of the many that are switched off only those matter that a key would have found.
            if self.text.first_of(item, kind != "deeper") is not None:
                out[item.rank] = (
                    Reason("lore.off") if item.entry.level == "never" else Reason("lore.level", level=item.entry.level)
                )
            return None
        if item.bound and (why := self._scope_reason(item) or self.timed.timing_reason(item)):
            out[item.rank] = why
            return None
        sticking = item.timed and item.address in self.timed.sticking
        if not sticking:
            if item.level and (kind != "recursion" or item.level > self.level):
                out[item.rank] = Reason("lore.recursion", round=item.level)
                return None
            if kind == "recursion" and self.rules.recursion and not item.by_entries:
                out.setdefault(item.rank, Reason("lore.unwoken"))
                return None
        if item.forced is not None:
            if not item.forced:
                out[item.rank] = Reason("lore.dont_activate")
            return Reason("lore.activate") if item.forced else None
        if item.constant:
            return Reason("lore.always")
        if sticking:
            return Reason("lore.sticky", turns=self.timed.left(item))
        if item.timed and self.timed.is_permanent(item):
            return Reason("lore.stays")
        return self._key_reason(item, kind)

    def _scope_reason(self, item: CompiledEntry) -> Reason | None:
        scope, scan, timing = item.entry.scope, self.scan, item.entry.timing
        if scope.triggers and scan.trigger not in scope.triggers:
            return Reason("lore.trigger", trigger=scan.trigger)
        if scope.characters and (scan.character in scope.characters) == scope.excluding:
            return Reason("lore.character")
        if scope.tags and scan.tags and bool(set(scope.tags) & set(scan.tags)) == scope.excluding:
            return Reason("lore.tags")
        if scope.greeting is not None and scan.greeting is not None and scope.greeting != scan.greeting:
            return Reason("lore.greeting", greeting=scope.greeting)
        if timing.after or timing.every:
            count = sum(1 for line in scan.lines() if line.role in ("assistant", "")) if self.rules.comments else 0
            if timing.after and count < timing.after:
                return Reason("lore.after", count=timing.after)
            if timing.every and count % timing.every:
                return Reason("lore.every", count=timing.every)
        return None

    def _key_reason(self, item: CompiledEntry, kind: Round) -> Reason | None:
        recursed = kind != "deeper"
        ref = self.text.first_of(item, recursed)
        if ref is None:
            return None
        for how, refs, keys in item.conditions:
            there = [self.text.has(item, second, recursed) for second in refs]
            if how == "any" and not any(there):
                self.out[item.rank] = Reason("lore.secondary", keys=[key.text for key in keys])
            elif how == "all" and not all(there):
                self.out[item.rank] = Reason("lore.secondary", keys=keys[there.index(False)].text)
            elif how == "none" and any(there):
                self.out[item.rank] = Reason("lore.excluding", keys=keys[there.index(True)].text)
            elif how == "not_all" and all(there):
                self.out[item.rank] = Reason("lore.excluding_all", keys=[key.text for key in keys])
            else:
                continue
            return None
        return Reason("lore.key", key=item.key_text(ref))

    def _choose_entries(self, matches: list[tuple[CompiledEntry, Reason]]) -> list[CompiledEntry]:
        """Those that keep their group, pass their draw and fit the budget; the others get a reason."""
        reasons = {item.rank: reason for item, reason in matches}
        kept = winners(
            [item for item, _ in matches],
            [item for item, _, _ in self.active.values()],
            self.timed,
            self.luck,
            self._score,
            scoring=self.rules.scoring,
            lost=lambda item, why: self.out.__setitem__(item.rank, why),
        )
        budget = self._budget() if self.rules.full == "stop" else None
        spent, new = self.spent, 0
        chosen = []
        for item in kept:
            if self.full and not item.entry.share.exempt:
                self.out[item.rank] = Reason("lore.budget")
                continue
            if not self._passes_draw(item):
                continue
            chosen.append(item)
            share = item.entry.share
            sent = item.entry.text
            if "{{" in sent or "<" in sent:
                sent = expand_text(sent, *self.scan.names(item.book.id), self.luck, item.book.id, item.entry.id)
            if budget is not None:
                new += self.scan.count(f"{sent}\n")
                if not share.exempt and spent + new >= budget:
                    self.full = True
                    self.out[item.rank] = Reason("lore.budget")
                    continue
            self.out.pop(item.rank, None)
            if sent and (share.prefix or share.suffix):
                sent = f"{share.prefix}{sent}{share.suffix}"
            self.active[item.rank] = (item, reasons[item.rank], sent)
        return chosen

    def _passes_draw(self, item: CompiledEntry) -> bool:
        probability = item.entry.chance.probability
        if probability is None or (item.timed and item.address in self.timed.sticking):
            return True
        roll = self.luck.roll("chance", item.book.id, item.entry.id) * 100
        if roll <= probability:
            return True
        self.over.add(item.rank)
        self.out[item.rank] = Reason("lore.draw", probability=probability)
        return False

    def _score(self, item: CompiledEntry) -> int:
        first = sum(self.text.has(item, ref, True) for ref in item.keys)
        if not item.keys or not item.conditions:
            return first
        how, refs, _ = item.conditions[0]
        second = sum(self.text.has(item, ref, True) for ref in refs)
        return first + (second if how == "any" or (how == "all" and second == len(refs)) else 0)

    def _next_round(self, kind: Round, woken: Sequence[CompiledEntry]) -> Round:
        rules = self.rules
        if rules.recursion and not self.full:
            if woken:
                return "recursion"
            if kind == "deeper" and self.text.recursed:
                return "recursion"
        if rules.min_activations > 0 and len(self.active) < rules.min_activations and not self.full:
            depth = self.text.depth
            if not (rules.min_depth and depth > rules.min_depth) and depth <= len(self.scan.lines()):
                self.text.deepen()
                return "deeper"
        if self.waiting:
            self.level = self.waiting.pop(0)
            return "recursion"
        return "over"

    def _budget(self) -> int | None:
        return self.rules.budget if self.scan.budget is None else self.scan.budget

    def _answer(self) -> Activation:
        budget = self._budget()
        if self.rules.full == "drop" and budget is not None:
            self._drop(budget)
        ranks = sorted(self.active, reverse=True)  # a higher order stands later; of equal ones the first stands last
        order = {rank: at for at, rank in enumerate(ranks)}
        active = tuple(
            [
                Active(item.book.id, item.original, item.entry.place, reason, text, order[rank])
                for rank, (item, reason, text) in self.active.items()
            ]
        )
        left = tuple(
            SkippedEntry(self.ready.lore[rank].book.id, self.ready.lore[rank].original, why)
            for rank, why in sorted(self.out.items())
            if rank not in self.active
        )
        return Activation(active, left, self.timed.after([item for item, _, _ in self.active.values()]))

    def _drop(self, budget: int) -> None:
        """Leave out those of the lowest keep priority until the rest fits."""
        sizes = {rank: self.scan.count(text) for rank, (_, _, text) in self.active.items() if text}
        total = sum(sizes.values())

        def worth(rank: int) -> tuple[bool, float, int]:
            share = self.active[rank][0].entry.share
            return (share.exempt, share.keep, -rank)

        for rank in sorted(sizes, key=worth):
            if total <= budget or self.active[rank][0].entry.share.exempt:
                break
            total -= sizes[rank]
            self.out[rank] = Reason("lore.budget")
            del self.active[rank]
