"""Candidates and a budget to the items that enter a prompt: measured once, allocated by the core, cut.

`Demand` is the candidates of a request with what each costs; `Terms` are what else decides beside their worth. The
allocation itself is `rust/budget`: one decision for each candidate.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from operator import add
from typing import NamedTuple

from armarius._core import BudgetItems, allocate
from armarius.errors import BudgetError, BudgetTooSmall
from armarius.prompt.admit import Admitted, insert_marks, trimmed
from armarius.prompt.counter import CachedCounter, cut, window
from armarius.prompt.profile import MOST_TOKENS, BudgetProfile
from armarius.prompt.render import (
    CLOSING,
    OPENING,
    SEPARATOR,
    PromptItem,
    Rendered,
    arrange,
    layer_pieces,
    render,
)
from armarius.requests import AssembleRequest
from armarius.types import LAYER_INDEX, LAYERS, Candidate, LayerName
from armarius.validation import shown

# No encoding in use averages more code points per token over prose or code; beyond it the text is counted whole.
_CHARACTERS_PER_TOKEN = 8
# What `_core.allocate` answers for an item; from 0 on it is the tokens the item may be cut to.
OMITTED, SHORT, FULL = -1, -2, -3
_REFILL_TOKENS = 64  # slack after cutting at a boundary that is worth another round of allocation
_REPAIRS = 12
_WINDOWS = 8  # that are remembered: while its author asks one thing after another, a document stands where it stood


def available_tokens(request: AssembleRequest, profile: BudgetProfile) -> int:
    """The budget less the reserve.

    Raises:
        BudgetError: Nothing is left, one of the two is negative, or the budget is beyond 2**30.
    """
    budget = profile.budget if request.budget is None else request.budget
    if budget > MOST_TOKENS:
        raise BudgetError(f"budget must be <= {MOST_TOKENS} tokens, got {shown(budget)}")
    if budget <= 0:
        raise BudgetError(f"budget must be > 0 tokens, got {shown(budget)}")
    if request.reserve_output < 0:
        raise BudgetError(f"reserve_output must be >= 0 tokens, got {request.reserve_output}")
    if request.reserve_output >= budget:
        raise BudgetError(f"reserve_output {request.reserve_output} leaves nothing of the budget {budget}")
    return budget - request.reserve_output


@dataclass(frozen=True)
class FittedPrompt:
    """A prompt that fits: its items, and the account of them.

    Attributes:
        demand: What it was chosen from.
        admitted: As `demand`, and what was refused.
        items: In the order of the prompt.
        demanded: The items before paragraphs filled what was left.
        required: Tokens of those.
        wanted: Tokens of everything that competes, whether or not it is in.
        omitted: The candidates that did not fit, in their order, and what each would have cost.
        anchor_moved: The window starts elsewhere than in the previous prompt.
        previous: That prompt, "" where there is none.
        by_layer: Tokens of each layer of the prompt, where they are known already.
        entered: Paragraphs on offer that are in.
        line: The worth of the last one in, 0.0 when none was left out for room.
    """

    demand: "Demand"
    admitted: Admitted
    items: list[PromptItem]
    token_count: int
    by_layer: dict[LayerName, int] | None
    demanded: list[PromptItem]
    required: int
    wanted: int
    omitted: list[tuple[Candidate, int]]
    granted: dict[LayerName, int]
    anchor_moved: bool
    previous: str = ""
    entered: int = 0
    line: float = 0.0

    @cached_property
    def rendered(self) -> Rendered:
        """The prompt as it is sent."""
        return render(self.items)

    @cached_property
    def window(self) -> PromptItem | None:
        """The text around the cursor; None without one."""
        around = [
            item for item in self.items if item.candidate.keep == "around" and item.candidate.layer == "immediate"
        ]
        return around[0] if around else None


@dataclass(frozen=True, slots=True)
class Terms:
    """What decides beside the worth of candidates, each by its index.

    Attributes:
        held: Items of the retrieved layer that enter exactly as given, in this order, before all others of it.
        barred: Those that never enter.
        windows: By id: where its piece in the previous prompt started in its content, and how that piece began.
        previous: That prompt, "" where there is none.
        window_most: Tokens that the window around the cursor may take, when others are to have the rest.
    """

    held: Mapping[int, PromptItem] = field(default_factory=dict)
    barred: frozenset[int] = frozenset()
    windows: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    previous: str = ""
    window_most: int | None = None


class Allocation(NamedTuple):
    """One decision for each candidate (OMITTED, SHORT, FULL, or the tokens it is cut to); tokens for each layer."""

    decisions: list[int]
    granted: dict[LayerName, int]
    used: dict[LayerName, int]


class Demand:
    """Candidates that share a budget, and what each costs, marks and separators included.

    Args:
        admitted: The candidates.
        counter: Counts tokens.
        profile: What each layer may take.
        available: The budget less the reserve.

    Attributes:
        limit: Tokens of the prompt.
        tokens: Of each candidate, whole, or of the piece of it that can matter.
        windows: The candidates that are the text around the cursor.

    Cost: a count of each candidate, remembered.
    """

    def __init__(self, admitted: Admitted, counter: CachedCounter, profile: BudgetProfile, available: int) -> None:
        self.admitted, self.counter, self.profile, self.available = admitted, counter, profile, available
        self.limit = profile.limit(available)
        self.candidates = [
            entry if entry.layer != "rules" and entry.keep != "around" else _bind_candidate(entry)
            for entry in admitted.candidates
        ]
        self.windows: list[int] = []
        self._pieces = self._long_pieces()  # of a long content what can matter, and where it starts
        self.tokens = counter.sections(
            [
                entry.content if not entry.marks and index not in self._pieces else _mark_up(entry, *self._piece(index))
                for index, entry in enumerate(self.candidates)
            ]
        )
        for index in [index for index in self._pieces if self.tokens[index] <= self.limit] if self._pieces else ():
            del self._pieces[index]
            self.tokens[index] = counter.section(_mark_up(self.candidates[index], self.candidates[index].content, 0))
        self._shorts: list[int | None] = [None] * len(self.candidates)
        self._cores: dict[int, int] = {}  # tokens of what no truncation may touch
        for index, entry in enumerate(self.candidates):
            if entry.keep == "around" and is_window(entry):
                self.windows.append(index)
            if entry.short is not None and (short := counter.section(entry.short)) < self.tokens[index]:
                self._shorts[index] = short
            if entry.core is not None:
                core = counter.section(insert_marks(entry.content, entry.marks, *entry.core))
                self._cores[index] = min(core, self.tokens[index])
        groups = dict.fromkeys([(entry.layer, entry.group) for entry in self.candidates if entry.group])
        self._groups = dict(zip(groups, count()))
        self._headings = counter.counts([group + "\n" for _, group in groups])
        ends = counter.counts([*OPENING.values(), *CLOSING.values()])
        self._fences = dict(zip(LAYERS, map(add, ends[: len(LAYERS)], ends[len(LAYERS) :]), strict=True))
        bundles: dict[tuple[LayerName, str], int] = {}
        rows = []
        for entry in self.candidates:
            layer, group = LAYER_INDEX[entry.layer], self._groups[entry.layer, entry.group] if entry.group else None
            bundle = bundles.setdefault((entry.layer, entry.together), len(bundles)) if entry.together else None
            rows.append(
                (layer, group, bundle, entry.pinned, entry.keep is not None, entry.score, entry.source, entry.id)
            )
        self._items = BudgetItems(rows)

    def fit(self, terms: Terms, admitted: Admitted | None = None) -> FittedPrompt:
        """The best prompt of at most `limit` tokens.

        Args:
            terms: What decides beside worth.
            admitted: Those that compete, where the demand has others too.

        Raises:
            BudgetError: Rules, query or cursor window do not fit; the message says how much they need.

        Cost: one allocation and one count of the final prompt; more only if counts do not add up.
        """
        places: dict[tuple[LayerName, str], int] = {
            ("retrieved", item.candidate.id): place for place, item in enumerate(terms.held.values())
        }
        target = self.limit
        for attempt in range(_REPAIRS):
            decisions, granted, _ = self.allocate(terms, target)
            self._require_pinned(terms, decisions)
            placed, moved = self.place(terms, decisions, target)
            items = arrange(placed, places)
            total, by_layer = self.counter.of_prompt(layer_pieces(items))
            if total <= self.limit:
                return FittedPrompt(
                    self,
                    admitted or self.admitted,
                    items,
                    total,
                    by_layer,
                    items,
                    total,
                    *self._account(placed, admitted),
                    granted,
                    moved,
                    terms.previous,
                )
            target -= (total - self.limit) << attempt
            if target < 0:
                break
        name = self.counter.counter.name
        raise BudgetError(f"no prompt of at most {self.limit} tokens can be built: {name} does not add up")

    def allocate(
        self,
        terms: Terms,
        target: int | None = None,
        fixed: Mapping[int, int] | None = None,
        available: int | None = None,
    ) -> Allocation:
        """The allocation of `target` tokens, or of the limit; what is `fixed` has its tokens, or none: what is held."""
        if fixed is None:
            fixed = self._held_tokens(terms)
        tokens, shorts = self.tokens.copy(), self._shorts.copy()
        narrow = self.windows[0] if self.windows else -1
        if narrow >= 0 and terms.window_most is not None and tokens[narrow] > terms.window_most:
            tokens[narrow] = max(terms.window_most, self._cores.get(narrow, 0))
        else:
            narrow = -1
        most = tokens[narrow] if narrow >= 0 else 0
        # What is around a core is an item of its own: the core enters whole, this as far as there is room.
        cores = {i: core for i, core in self._cores.items() if core and i not in fixed and i not in terms.barred}
        around = {index: tokens[index] - core for index, core in cores.items() if core < tokens[index]}
        for index, cost in (*fixed.items(), *cores.items()):
            tokens[index], shorts[index] = cost, None
        result = allocate(
            max(self.limit if target is None else target, 0),
            self.profile.rows(self.available if available is None else available, self._fences),
            self._headings,
            self._items,
            tokens,
            shorts,
            list(fixed),
            list(cores),
            list(around.items()),
            list(terms.barred),
        )
        decisions = result.decisions
        for index, decision in zip(around, decisions[len(tokens) :], strict=True):
            if decisions[index] == FULL and decision != FULL:
                decisions[index] = cores[index] + max(decision, 0)
        del decisions[len(tokens) :]
        if narrow >= 0 and decisions[narrow] == FULL:
            decisions[narrow] = most
        granted = dict(zip(LAYERS, result.granted, strict=True))
        return Allocation(decisions, granted, dict(zip(LAYERS, result.used, strict=True)))

    def place(self, terms: Terms, decisions: Sequence[int], target: int) -> tuple[list[PromptItem], bool]:
        """The chosen items, slack of cuts used, in no order, and whether a window starts elsewhere than before.

        What is held enters as it stood. Cost: the cuts.
        """
        placed = [item for index, item in terms.held.items() if decisions[index] != OMITTED]
        entering, moved = self._entering(terms, decisions, terms.held)
        placed += entering.values()
        cut = [index for index, item in entering.items() if item.part is not None]
        if not cut or OMITTED not in decisions:
            return placed, moved
        shorts = {index: self._shorts[index] or 0 for index, item in entering.items() if item.form == "short"}
        tokens = {index: self.tokens[index] for index in entering} | shorts
        for index in cut:
            # The window's slack is what typing grows into, once there is a prompt to continue.
            kept = terms.previous and is_window(self.candidates[index])
            tokens[index] = decisions[index] if kept else self.counter.section(entering[index].text)
        if sum([decisions[index] - tokens[index] for index in cut]) < _REFILL_TOKENS:
            return placed, moved
        # Cutting at a boundary leaves slack; what was left out may have it, everything placed staying.
        fixed = self._held_tokens(terms) | tokens
        again = self.allocate(terms, target, fixed).decisions
        if all(again[index] != OMITTED for index in fixed):
            placed += self._entering(terms, again, fixed)[0].values()
        return placed, moved

    def _entering(
        self, terms: Terms, decisions: Sequence[int], besides: Collection[int]
    ) -> tuple[dict[int, PromptItem], bool]:
        """The items of the decisions but for some, and whether a cut one starts elsewhere than before."""
        items, moved = dict[int, PromptItem](), False
        for index, decision in enumerate(decisions):
            if decision == OMITTED or index in besides:
                continue
            candidate = self.candidates[index]
            content, marks = candidate.content, candidate.marks
            if decision == FULL:
                items[index] = PromptItem(candidate, insert_marks(content, marks) if marks else content)
            elif decision == SHORT:
                if candidate.short is not None:
                    items[index] = PromptItem(candidate, candidate.short, "short")
            else:
                before = None
                if candidate.id in terms.windows:
                    before, head = terms.windows[candidate.id]
                    if not content.startswith(head, before):
                        before = at if (at := content.find(head)) >= 0 else None
                part = self._cut(index, decision, before)
                if part[0] < part[1]:
                    items[index] = PromptItem(candidate, insert_marks(content, marks, *part), "truncated", part)
                    moved |= before is not None and before != part[0]
        return items, moved

    def _cut(self, index: int, tokens: int, before: int | None) -> tuple[int, int]:
        """Which code points of a content fit into `tokens`; (0, 0) for none. A core is always among them."""
        candidate, (text, base), counter = self.candidates[index], self._piece(index), self.counter
        marks = tuple((offset - base, mark) for offset, mark in candidate.marks)
        allowed = tokens - counter.count(SEPARATOR) - sum(counter.counts([mark for _, mark in marks]))
        for _ in range(4):
            if candidate.keep == "around":
                earlier = None if before is None else before - base
                start, end = _window_span(candidate, text, base, allowed, earlier, counter)
            else:
                start, end = cut(text, allowed, keep=candidate.keep or "head", counter=counter.counter)
            start, end = trimmed(text, marks, start, end)
            if start >= end:
                break
            over = counter.section(insert_marks(text, marks, start, end)) - tokens
            if over <= 0:
                return start + base, end + base
            allowed -= over
        return (0, 0) if candidate.core is None else candidate.core

    def _require_pinned(self, terms: Terms, decisions: list[int]) -> None:
        """Raise when what must not be missing is; find the least budget that would do."""
        must = [i for i, entry in enumerate(self.candidates) if entry.pinned and entry.layer in ("rules", "immediate")]
        absent = [self.candidates[index] for index in must if decisions[index] == OMITTED]
        if not absent:
            return

        def is_missing(budget: int) -> bool:
            enough = self.allocate(terms, self.profile.limit(budget), {}, budget).decisions
            return any(enough[index] == OMITTED for index in must)

        low, high = self.available, max(self.available, 1)
        while is_missing(high):
            low, high = high, high * 2
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (middle, high) if is_missing(middle) else (low, middle)
        names = ", ".join("the selection" if c.core else c.source for c in absent[:3])
        raise BudgetTooSmall(
            f"a budget of {self.available} tokens is below the minimum of {high} for this request: "
            f"{names} would be missing",
            minimum=high,
        )

    def _account(
        self, placed: Sequence[PromptItem], admitted: Admitted | None
    ) -> tuple[int, list[tuple[Candidate, int]]]:
        """The tokens of everything that competes, and what of it is not among `placed`."""
        costs = list(zip(self.candidates, self.tokens, strict=True))
        if admitted is not None and len(admitted.candidates) < len(costs):
            competing = {(entry.layer, entry.id) for entry in admitted.candidates}
            costs = [(entry, tokens) for entry, tokens in costs if (entry.layer, entry.id) in competing]
        entered = {id(item.candidate) for item in placed}
        wanted, omitted = 0, []
        over: dict[object, int] = {}  # tokens of the fences and headings
        for entry, tokens in costs:
            wanted += tokens
            over[entry.layer] = self._fences[entry.layer]
            if entry.group:
                over[entry.layer, entry.group] = self._headings[self._groups[entry.layer, entry.group]]
            if id(entry) not in entered:
                omitted.append((entry, tokens))
        return wanted + sum(over.values()), omitted

    def _held_tokens(self, terms: Terms) -> dict[int, int]:
        costs = self.counter.sections([item.text for item in terms.held.values()]) if terms.held else []
        return dict(zip(terms.held, costs, strict=True))

    def _long_pieces(self) -> dict[int, tuple[str, int]]:
        """By index the part of a long content that can matter at all, and where it starts."""
        pieces = {}
        reach = self.limit * _CHARACTERS_PER_TOKEN + 64
        for index, entry in enumerate(self.candidates):
            if entry.keep is None or len(entry.content) <= reach:
                continue
            start, end = 0, reach
            if entry.keep == "tail":
                start, end = len(entry.content) - reach, len(entry.content)
            elif entry.keep == "around":
                first, last = entry.core or (entry.anchor, entry.anchor)
                start, end = max(0, min(first, entry.anchor) - reach), max(last, entry.anchor) + reach
            if len(piece := entry.content[start:end]) < len(entry.content):
                pieces[index] = piece, start
        return pieces

    def _piece(self, index: int) -> tuple[str, int]:
        """The piece of a content that can matter, and where it starts."""
        return self._pieces.get(index) or (self.candidates[index].content, 0)


def is_window(candidate: Candidate) -> bool:
    """Whether it is the text around the cursor, which takes what others leave."""
    return candidate.layer == "immediate" and candidate.keep == "around"


def _bind_candidate(candidate: Candidate) -> Candidate:
    """Rules are never trimmed, the window around the cursor is never left out."""
    if candidate.layer == "rules":
        return replace(candidate, pinned=True, keep=None, short=None)
    return replace(candidate, pinned=True) if is_window(candidate) else candidate


def _mark_up(candidate: Candidate, text: str, base: int) -> str:
    return insert_marks(candidate.content, candidate.marks, base, base + len(text)) if candidate.marks else text


def _window_span(
    candidate: Candidate, text: str, base: int, allowed: int, before: int | None, counter: CachedCounter
) -> tuple[int, int]:
    """The window around the cursor, or around the core: it counts as one place, and what is around it is cut."""
    if candidate.core is None:
        key = text, candidate.anchor - base, allowed, before
        span = counter.windows.get(key)
        if span is None:
            if len(counter.windows) >= _WINDOWS:
                counter.windows.clear()
            span = counter.windows[key] = window(text, key[1], allowed, counter, before)
        return span
    first, last = (end - base for end in candidate.core)
    rest = text[:first] + text[last:]
    room = allowed - counter.count(text[first:last])
    start, end = window(rest, first, room, counter, before if before is None or before <= first else None)
    return min(start, first), max(end, first) + last - first
