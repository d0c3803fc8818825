"""Divides the budget: candidates to the core (`rust/budget`), cutting of windows, positions of kept items."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from armarius._core import BudgetItems, allocate
from armarius.errors import BudgetError
from armarius.prompt.counter import CachedCounter
from armarius.prompt.cursor_markers import marked, trimmed
from armarius.prompt.prefix import cut, window
from armarius.prompt.profile import MOST_TOKENS, BudgetProfile
from armarius.prompt.render import CLOSING, OPENING, SEPARATOR, PromptItem, heading_piece
from armarius.prompt.sizes import Sizes
from armarius.requests import AssembleRequest
from armarius.types import LAYERS, Candidate, LayerName
from armarius.validation import shown

__all__ = ["FULL", "OMITTED", "SHORT", "Allocation", "Allocator", "Previous", "available_tokens", "place"]

# What `_core.allocate` answers for an item; from 0 on it is the tokens the item may be cut to.
OMITTED, SHORT, FULL = -1, -2, -3
_WINDOWS = 8  # that are remembered: while its author asks one thing after another, a document stands where it stood


@dataclass(frozen=True, slots=True)
class Previous:
    """What of the previous prompt decides about the next one.

    Attributes:
        prompt: Its text.
        retrieved: The items of its retrieved layer, in their order.
        rows: The paragraphs that filled its room, in their order; not among `retrieved`.
        demand: Its text before they did.
        ends: Where each of `retrieved` ends in `demand`, code points.
        windows: By item: where its piece started in its content, and how that piece began.
    """

    prompt: str = ""
    retrieved: tuple[PromptItem, ...] = ()
    rows: tuple[PromptItem, ...] = ()
    demand: str = ""
    ends: tuple[int, ...] = ()
    windows: Mapping[str, tuple[int, str]] = field(default_factory=dict)


def place(
    candidates: Sequence[Candidate],
    sizes: Sizes,
    decisions: Sequence[int],
    measured: CachedCounter,
    windows: Mapping[str, tuple[int, str]],
) -> tuple[list[PromptItem], bool]:
    """The items that `decisions` let in, and whether a window starts elsewhere than in the previous prompt."""
    placed, moved = [], False
    for index, decision in enumerate(decisions):
        if decision == OMITTED:
            continue
        candidate = candidates[index]
        if decision == FULL:
            placed.append(PromptItem(candidate, marked(candidate.content, candidate.marks)))
        elif decision == SHORT and candidate.short is not None:
            placed.append(PromptItem(candidate, candidate.short, "short"))
        elif decision >= 0:
            before = _started(candidate, windows)
            start, end = _cut(candidate, sizes.piece(index), decision, before, measured)
            if start < end:
                text = marked(candidate.content, candidate.marks, start, end)
                placed.append(PromptItem(candidate, text, "truncated", (start, end)))
                moved |= before is not None and before != start
    return placed, moved


def _started(candidate: Candidate, windows: Mapping[str, tuple[int, str]]) -> int | None:
    """Where the previous window of this candidate starts in its present content."""
    if candidate.id not in windows:
        return None
    start, head = windows[candidate.id]
    if candidate.content.startswith(head, start):
        return start
    found = candidate.content.find(head)
    return found if found >= 0 else None


def _cut(
    candidate: Candidate, piece: tuple[str, int], tokens: int, before: int | None, measured: CachedCounter
) -> tuple[int, int]:
    """Which code points of a content fit into `tokens`; (0, 0) for none. A core is always among them.

    `piece` is what of the content can matter, and where it starts there.
    """
    text, base = piece
    marks = tuple((offset - base, mark) for offset, mark in candidate.marks)
    allowed = tokens - measured.count(SEPARATOR) - sum(measured.counts([mark for _, mark in marks]))
    for _ in range(4):
        if candidate.keep == "around":
            start, end = _around(candidate, piece, allowed, None if before is None else before - base, measured)
        else:
            start, end = cut(text, allowed, keep=candidate.keep or "head", counter=measured.counter)
        start, end = trimmed(text, marks, start, end)
        if start >= end:
            break
        over = measured.section(marked(text, marks, start, end)) - tokens
        if over <= 0:
            return start + base, end + base
        allowed -= over
    return (0, 0) if candidate.core is None else candidate.core


def _around(
    candidate: Candidate, piece: tuple[str, int], allowed: int, before: int | None, measured: CachedCounter
) -> tuple[int, int]:
    """The window around the cursor, or around the core: it counts as one place, and what is around it is cut."""
    text, base = piece
    if candidate.core is None:
        key = text, candidate.anchor - base, allowed, before
        known = measured.windows.get(key)
        if known is None:
            if len(measured.windows) >= _WINDOWS:
                measured.windows.clear()
            known = measured.windows[key] = window(text, key[1], allowed, measured, before)
        return known
    first, last = (end - base for end in candidate.core)
    rest = text[:first] + text[last:]
    room = allowed - measured.count(text[first:last])
    start, end = window(rest, first, room, measured, before if before is None or before <= first else None)
    return min(start, first), max(end, first) + last - first


_PLACES: Final = {layer: index for index, layer in enumerate(LAYERS)}


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


class Allocation(NamedTuple):
    """One decision for each candidate (OMITTED, SHORT, FULL, or the tokens it is cut to); tokens for each layer."""

    decisions: list[int]
    granted: dict[LayerName, int]
    used: dict[LayerName, int]


class Allocator:
    """The rules by which some candidates share a budget.

    Args:
        candidates: In their canonical order.
        measured: Counts headings and fences.
        profile: What each layer may take.
        barred: Ids of the retrieved layer that never enter.

    Attributes:
        frame: Tokens of all headings, and of the fences of the layers that have candidates.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        measured: CachedCounter,
        profile: BudgetProfile,
        barred: Collection[str] = (),
    ) -> None:
        self._profile = profile
        barred = frozenset(barred)
        # Of a candidate the row among those that compete: a range is the mapping of numbers to themselves.
        self._row: Sequence[int] | Mapping[int, int] = range(len(candidates))
        rows = candidates
        if barred:
            competing = [i for i, one in enumerate(candidates) if one.layer != "retrieved" or one.id not in barred]
            self._row = {index: row for row, index in enumerate(competing)}
            rows = [candidates[index] for index in competing]
        groups = {(c.layer, c.group): None for c in candidates if c.group}
        bundles = {(c.layer, c.together): None for c in candidates if c.together}
        self._groups = {key: index for index, key in enumerate(groups)}
        bundled = {key: index for index, key in enumerate(bundles)}
        self._items = BudgetItems(
            [_PLACES[c.layer] for c in rows],
            [self._groups[c.layer, c.group] if c.group else None for c in rows],
            [bundled[c.layer, c.together] if c.together else None for c in rows],
            [c.pinned for c in rows],
            [c.keep is not None for c in rows],
            [c.score for c in rows],
            [c.source for c in rows],
            [c.id for c in rows],
        )
        self._headings = measured.counts([heading_piece(group) for _, group in groups])
        ends = measured.counts([piece[layer] for layer in LAYERS for piece in (OPENING, CLOSING)])
        self._overheads = {layer: ends[2 * i] + ends[2 * i + 1] for i, layer in enumerate(LAYERS)}
        present = {candidate.layer for candidate in candidates}
        self.frame = sum(self._headings) + sum(self._overheads[layer] for layer in present)

    def allocate(self, target: int, available: int, measured: Sizes, fixed: Mapping[int, int]) -> Allocation:
        """The allocation of `target` tokens; what is `fixed` is pinned at its tokens."""
        row = self._row
        everyone = isinstance(row, range)
        tokens = measured.tokens.copy() if everyone else [measured.tokens[index] for index in row]
        shorts = measured.shorts.copy() if everyone else [measured.shorts[index] for index in row]
        settled = [row[index] for index in fixed if index in row]
        for index, cost in fixed.items():
            if index in row:
                tokens[row[index]], shorts[row[index]] = cost, None
        # What is around a core is an item of its own: the core enters whole, this as far as there is room.
        cores = {index: core for index, core in measured.cores.items() if core and index not in fixed and index in row}
        around = {index: core for index, core in cores.items() if core < measured.tokens[index]}
        for index, core in cores.items():
            tokens[row[index]], shorts[row[index]] = core, None
        layers = self._profile.rows(available, self._overheads)
        found = allocate(
            max(target, 0),
            layers,
            self._headings,
            self._items,
            tokens,
            shorts,
            settled,
            [row[index] for index in cores],
            [(row[index], measured.tokens[index] - core) for index, core in around.items()],
        )
        taken = found.decisions
        around_cores = taken[len(row) :]
        if everyone:
            decisions = taken[: len(row)]
        else:
            decisions = [OMITTED] * len(measured.tokens)
            for index, decision in zip(row, taken, strict=False):
                decisions[index] = decision
        for (index, core), decision in zip(around.items(), around_cores, strict=True):
            if decisions[index] == FULL and decision != FULL:
                decisions[index] = core + max(decision, 0)
        granted = dict(zip(LAYERS, found.granted, strict=True))
        return Allocation(decisions, granted, dict(zip(LAYERS, found.used, strict=True)))
