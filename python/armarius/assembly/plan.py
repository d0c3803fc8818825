"""Candidates and a budget to a prompt that fits: measure, allocate, cut, render, count, repair."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from armarius import _core
from armarius.assembly.budget import BudgetProfile, LayerRow
from armarius.assembly.counting import Measured
from armarius.assembly.cut import cut
from armarius.assembly.intake import Intake
from armarius.assembly.prefix import window
from armarius.assembly.render import (
    SEPARATOR,
    Placed,
    Rendered,
    arrange,
    closing_piece,
    heading_piece,
    opening_piece,
    render,
)
from armarius.errors import BudgetError
from armarius.fetchers.base import LAYERS, Candidate, LayerName

__all__ = ["HOLD_PERCENT", "Fitted", "Plan", "Previous"]

_OMITTED, _SHORT, _FULL = -1, -2, -3
# Slack after cutting at a boundary that is worth another round of allocation.
_REFILL_TOKENS = 64
# An item of the previous prompt competes with its score raised by this share (hysteresis).
_KEPT_BONUS = 0.25
# No encoding in use averages more code points per token over prose or code; beyond it the text is counted whole.
_CHARACTERS_PER_TOKEN = 8
_REPAIRS = 12
# Of a prompt, the most that the retrieved layer may grow to by holding on to previous items.
HOLD_PERCENT = 50


@dataclass(frozen=True, slots=True)
class Previous:
    """What of the previous prompt decides about the next: places of items, and where windows started."""

    prompt: str = ""
    places: Mapping[tuple[LayerName, str], int] = field(default_factory=dict)
    windows: Mapping[str, tuple[int, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A prompt that fits, and the account of it."""

    rendered: Rendered
    token_count: int
    demanded: int
    left_out: tuple[tuple[Candidate, int], ...]
    granted: dict[LayerName, int]
    anchor_moved: bool


@dataclass(frozen=True, slots=True)
class _Measure:
    text: str
    base: int
    tokens: int
    short: int | None


class Plan:
    """Everything that is known before the budget is: candidates, their sizes, the rules for dividing."""

    def __init__(
        self, intake: Intake, measured: Measured, profile: BudgetProfile, previous: Previous, *, hold: bool = False
    ) -> None:
        self.intake = intake
        self.measured = measured
        self.profile = profile
        self.previous = previous
        self._held = {id_ for layer, id_ in previous.places if layer == "retrieved"} if hold else set()
        self.candidates = tuple(_binding(candidate, self._held) for candidate in intake.candidates)
        groups = {(c.layer, c.group): None for c in self.candidates if c.group}
        bundles = {(c.layer, c.together): None for c in self.candidates if c.together}
        self._groups = {key: index for index, key in enumerate(groups)}
        self._bundles = {key: index for index, key in enumerate(bundles)}
        self._headings = measured.counts([heading_piece(group) for _, group in groups])
        ends = measured.counts([piece(layer) for layer in LAYERS for piece in (opening_piece, closing_piece)])
        self._overheads = {layer: ends[2 * i] + ends[2 * i + 1] for i, layer in enumerate(LAYERS)}

    def fit(self, available: int) -> Fitted:
        """The best prompt of at most `profile.limit(available)` tokens.

        Args:
            available: The budget less the reserve.

        Raises:
            BudgetError: Rules, query or cursor window do not fit; the message says how much they need.

        Cost: one allocation and one count of the final prompt; more only if counts do not add up.
        """
        limit = self.profile.limit(available)
        sizes = self._measure(limit)
        target = limit
        for attempt in range(_REPAIRS):
            decisions, granted = self._allocate(target, available, sizes)
            self._insist(decisions, available, sizes)
            placed, moved = self._place(decisions, sizes)
            placed, decisions = self._refill(placed, decisions, target, available, sizes)
            rendered = render(arrange(placed, self.previous.places))
            total = self.measured.fresh(rendered.prompt)
            if total <= limit:
                demanded = sum(size.tokens for size in sizes) + sum(self._headings)
                present = {candidate.layer for candidate in self.candidates}
                demanded += sum(self._overheads[layer] for layer in present)
                entered = {(item.candidate.layer, item.candidate.id) for item in placed}
                left_out = tuple(
                    (candidate, size.tokens)
                    for candidate, size in zip(self.candidates, sizes, strict=True)
                    if (candidate.layer, candidate.id) not in entered
                )
                return Fitted(rendered, total, demanded, left_out, granted, moved)
            target -= (total - limit) << attempt
            if target < 0:
                break
        raise BudgetError(
            f"no prompt of at most {limit} tokens can be built: {self.measured.counter.name} does not add up"
        )

    def _measure(self, limit: int) -> list[_Measure]:
        pieces = [self._piece(candidate, limit) for candidate in self.candidates]
        tokens = self.measured.counts([text + SEPARATOR for text, _ in pieces])
        for index, (candidate, (text, _)) in enumerate(zip(self.candidates, pieces, strict=True)):
            if len(text) < len(candidate.content) and tokens[index] <= limit:
                pieces[index] = (candidate.content, 0)
                tokens[index] = self.measured.count(candidate.content + SEPARATOR)
        shorts = self.measured.counts([c.short + SEPARATOR for c in self.candidates if c.short is not None])
        remaining = iter(shorts)
        sizes = []
        for candidate, (text, base), size in zip(self.candidates, pieces, tokens, strict=True):
            short = None if candidate.short is None else next(remaining)
            sizes.append(_Measure(text, base, size, short if short is not None and short < size else None))
        return sizes

    @staticmethod
    def _piece(candidate: Candidate, limit: int) -> tuple[str, int]:
        """The part of a long content that can matter at all, and where it starts."""
        content, reach = candidate.content, limit * _CHARACTERS_PER_TOKEN + 64
        if candidate.keep is None or len(content) <= reach:
            return content, 0
        if candidate.keep == "head":
            return content[:reach], 0
        if candidate.keep == "tail":
            return content[-reach:], len(content) - reach
        start = max(0, candidate.anchor - reach)
        return content[start : candidate.anchor + reach], start

    def _allocate(
        self, target: int, available: int, sizes: list[_Measure], fixed: Mapping[int, int] | None = None
    ) -> tuple[list[int], dict[LayerName, int]]:
        fixed = fixed or {}
        rows = []
        for index, (candidate, size) in enumerate(zip(self.candidates, sizes, strict=True)):
            settled = index in fixed
            rows.append(
                (
                    LAYERS.index(candidate.layer),
                    fixed[index] if settled else size.tokens,
                    None if settled else size.short,
                    settled or candidate.pinned,
                    not settled and candidate.keep is not None,
                    self._groups.get((candidate.layer, candidate.group)),
                    self._bundles.get((candidate.layer, candidate.together)),
                    self._score(candidate),
                    candidate.source,
                    candidate.id,
                )
            )
        layers = self._layers(available, sizes)
        decisions, granted, _ = _core.allocate(max(target, 0), layers, self._headings, rows)
        return decisions, dict(zip(LAYERS, granted, strict=True))

    def _layers(self, available: int, sizes: list[_Measure]) -> list[LayerRow]:
        """The profile's rows; what is held back from the previous prompt does not count against new items."""
        rows = self.profile.rows(available, self._overheads)
        pairs = zip(self.candidates, sizes, strict=True)
        held = sum(size.tokens for c, size in pairs if c.layer == "retrieved" and c.id in self._held)
        if held:
            at = LAYERS.index("retrieved")
            ratio, least, most, overhead, priority = rows[at]
            wanted = min(held + available * ratio // 10_000, available * HOLD_PERCENT // 100)
            rows[at] = (ratio, max(least, wanted), most, overhead, priority)
        return rows

    def _score(self, candidate: Candidate) -> float:
        if candidate.layer != "retrieved" or ("retrieved", candidate.id) not in self.previous.places:
            return candidate.score
        return candidate.score + _KEPT_BONUS * abs(candidate.score)

    def _insist(self, decisions: list[int], available: int, sizes: list[_Measure]) -> None:
        """Raise when what must not be missing is; find the least budget that would do."""

        def missing(decided: list[int]) -> list[Candidate]:
            pairs = zip(self.candidates, decided, strict=True)
            return [c for c, d in pairs if d == _OMITTED and c.pinned and c.layer in ("rules", "immediate")]

        absent = missing(decisions)
        if not absent:
            return
        low, high = available, max(available, 1)
        while missing(self._allocate(self.profile.limit(high), high, sizes)[0]):
            low, high = high, high * 2
        while low + 1 < high:
            middle = (low + high) // 2
            if missing(self._allocate(self.profile.limit(middle), middle, sizes)[0]):
                low = middle
            else:
                high = middle
        names = ", ".join(candidate.source for candidate in absent[:3])
        raise BudgetError(
            f"a budget of {available} tokens is below the minimum of {high} for this request: {names} would be missing"
        )

    def _place(self, decisions: list[int], sizes: list[_Measure]) -> tuple[list[Placed], bool]:
        placed, moved = [], False
        for candidate, size, decision in zip(self.candidates, sizes, decisions, strict=True):
            if decision == _FULL:
                placed.append(Placed(candidate, candidate.content))
            elif decision == _SHORT and candidate.short is not None:
                placed.append(Placed(candidate, candidate.short, "short"))
            elif decision >= 0:
                before = self._started(candidate)
                start, end = self._cut(candidate, size, decision, before)
                if start < end:
                    placed.append(Placed(candidate, candidate.content[start:end], "truncated", (start, end)))
                    moved |= before is not None and before != start
        return placed, moved

    def _started(self, candidate: Candidate) -> int | None:
        """Where the previous window of this candidate starts in its present content."""
        if candidate.id not in self.previous.windows:
            return None
        start, head = self.previous.windows[candidate.id]
        if candidate.content.startswith(head, start):
            return start
        found = candidate.content.find(head)
        return found if found >= 0 else None

    def _cut(self, candidate: Candidate, size: _Measure, tokens: int, before: int | None) -> tuple[int, int]:
        allowed = tokens - self.measured.count(SEPARATOR)
        for _ in range(4):
            if candidate.keep == "around":
                local = None if before is None else before - size.base
                start, end = window(size.text, candidate.anchor - size.base, allowed, self.measured, local)
            else:
                keep = candidate.keep or "head"
                start, end = cut(size.text, allowed, keep=keep, counter=self.measured.counter)
            piece = size.text[start:end]
            start += len(piece) - len(piece.lstrip())
            end -= len(piece) - len(piece.rstrip())
            if start >= end:
                return 0, 0
            over = self.measured.fresh(size.text[start:end] + SEPARATOR) - tokens
            if over <= 0:
                return start + size.base, end + size.base
            allowed -= over
        return 0, 0

    def _refill(
        self, placed: list[Placed], decisions: list[int], target: int, available: int, sizes: list[_Measure]
    ) -> tuple[list[Placed], list[int]]:
        """Cutting at a boundary leaves slack; let what was left out have it, everything placed staying."""
        texts = {id(item.candidate): item.text for item in placed}
        if all(item.form != "truncated" for item in placed) or all(decision != _OMITTED for decision in decisions):
            return placed, decisions
        fixed, slack = {}, 0
        for index, (candidate, decision) in enumerate(zip(self.candidates, decisions, strict=True)):
            if decision >= 0 and id(candidate) in texts:
                fixed[index] = self.measured.fresh(texts[id(candidate)] + SEPARATOR)
                slack += decision - fixed[index]
            elif decision == _FULL:
                fixed[index] = sizes[index].tokens
            elif decision == _SHORT:
                fixed[index] = sizes[index].short or 0
        if slack < _REFILL_TOKENS:
            return placed, decisions
        again, _ = self._allocate(target, available, sizes, fixed)
        if any(again[index] == _OMITTED for index in fixed):
            return placed, decisions
        more, _ = self._place([_OMITTED if i in fixed else d for i, d in enumerate(again)], sizes)
        return [*placed, *more], [decisions[i] if i in fixed else d for i, d in enumerate(again)]


def _binding(candidate: Candidate, held: set[str]) -> Candidate:
    """Rules are never trimmed, the window around the cursor is never left out, held items stay."""
    if candidate.layer == "retrieved" and candidate.id in held:
        return replace(candidate, pinned=True)
    if candidate.layer == "rules":
        return replace(candidate, pinned=True, keep=None, short=None)
    if candidate.layer == "immediate" and candidate.keep == "around":
        return replace(candidate, pinned=True)
    return candidate
