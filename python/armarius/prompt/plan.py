"""Candidates and a budget to a prompt that fits: measure, allocate, cut, render, count, repair."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from armarius.deadline import stage
from armarius.errors import BudgetError
from armarius.prompt.admit import Admitted
from armarius.prompt.allocate import (
    FULL,
    OMITTED,
    SHORT,
    Allocator,
    Previous,
    place,
)
from armarius.prompt.counter import CachedCounter
from armarius.prompt.profile import BudgetProfile
from armarius.prompt.render import (
    Placed,
    Rendered,
    arrange,
    render,
)
from armarius.prompt.sizes import Sizes, prompt_tokens, sizes
from armarius.types import Candidate, LayerName

__all__ = ["Choice", "FittedPrompt", "Plan", "is_window"]

# Slack after cutting at a boundary that is worth another round of allocation.
_REFILL_TOKENS = 64
_REPAIRS = 12


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """A prompt that fits, and the account of it.

    Attributes:
        token_count: Of the prompt as it is.
        demanded: Of everything that competes, whether or not it is in.
        demand: The prompt before paragraphs filled what was left.
        required: Its tokens.
        by_layer: Tokens of each layer of the prompt, where they are known already.
        entered: Paragraphs on offer that are in.
        line: The worth of the last one in, 0.0 when none was left out for room.
    """

    rendered: Rendered
    token_count: int
    demanded: int
    left_out: "LeftOut"
    granted: dict[LayerName, int]
    anchor_moved: bool
    demand: Rendered
    required: int
    by_layer: Mapping[LayerName, int] | None = None
    entered: int = 0
    line: float = 0.0


class LeftOut:
    """What a prompt of some candidates has no room for, listed when somebody looks: most packs are never asked.

    Args:
        candidates: All, in their order.
        tokens: What each would have cost.
        placed: Those that entered.
    """

    def __init__(self, candidates: Sequence[Candidate], tokens: Sequence[int], placed: Sequence[Placed]) -> None:
        self._candidates = candidates
        self._tokens = tokens
        self._entered = {id(item.candidate) for item in placed}  # which the plan holds, so that ids stay theirs

    def __len__(self) -> int:
        return len(self._candidates) - len(self._entered)

    def __iter__(self) -> Iterator[tuple[Candidate, int]]:
        costs = zip(self._candidates, self._tokens, strict=True)
        return (pair for pair in costs if id(pair[0]) not in self._entered)

    @property
    def layers(self) -> set[LayerName]:
        """The layers that lack something."""
        entered = self._entered
        return {one.layer for one in self._candidates if id(one) not in entered} if len(self) else set()


@dataclass(frozen=True, slots=True)
class Choice:
    """An allocation before anything is cut.

    Attributes:
        decisions: One per candidate of the plan.
        sizes: Likewise.
        used: Tokens per layer.
    """

    decisions: list[int]
    sizes: Sizes
    used: dict[LayerName, int]


class Plan:
    """Everything that is known before the budget is: candidates, their sizes, the rules for dividing.

    Args:
        admitted: The candidates.
        measured: The counter.
        profile: The rules.
        previous: Whose windows are continued.
        held: Items of the retrieved layer that enter exactly as given, in this order, before all others of it.
        barred: Ids of the retrieved layer that do not enter, whatever room there is.
        window_most: Tokens that the window around the cursor may take, when others are to have the rest.

    Attributes:
        places: The place of each held item.
    """

    def __init__(
        self,
        admitted: Admitted,
        measured: CachedCounter,
        profile: BudgetProfile,
        previous: Previous,
        held: Sequence[Placed] = (),
        barred: Collection[str] = (),
        window_most: int | None = None,
    ) -> None:
        self.admitted = admitted
        self.measured = measured
        self.profile = profile
        self.previous = previous
        self.candidates = tuple(
            [c if c.layer != "rules" and c.keep != "around" else _binding(c) for c in admitted.candidates]
        )
        self.places: dict[tuple[LayerName, str], int] = {
            ("retrieved", item.candidate.id): place for place, item in enumerate(held)
        }
        by_id = {item.candidate.id: item for item in held}
        self._held = {
            index: replace(by_id[candidate.id], candidate=candidate)
            for index, candidate in enumerate(self.candidates if by_id else ())
            if candidate.layer == "retrieved" and candidate.id in by_id
        }
        self._allocator = Allocator(self.candidates, measured, profile, barred)
        self._window_most = window_most
        windows = [index for index, one in enumerate(self.candidates) if one.keep == "around" and is_window(one)]
        self._window = windows[0] if windows else None

    def choose(self, available: int) -> Choice:
        """The allocation alone, for comparing plans. Cost: one allocation once the sizes are known."""
        limit = self.profile.limit(available)
        measured = sizes(self.candidates, self.measured, limit)
        decisions, _, used = self._allocate(limit, available, measured, self._fixed())
        return Choice(decisions, measured, used)

    def entering(self, choice: Choice, available: int) -> list[Placed]:
        """What `choice` lets into the prompt, slack of cuts used, in no order. Cost: the cuts."""
        placed, _ = self._place(choice.decisions, choice.sizes)
        limit = self.profile.limit(available)
        return placed + self._refill(placed, choice.decisions, limit, available, choice.sizes)

    def fit(self, available: int) -> FittedPrompt:
        """The best prompt of at most `profile.limit(available)` tokens.

        Args:
            available: The budget less the reserve.

        Raises:
            BudgetError: Rules, query or cursor window do not fit; the message says how much they need.

        Cost: one allocation and one count of the final prompt; more only if counts do not add up.
        """
        limit = self.profile.limit(available)
        measured = sizes(self.candidates, self.measured, limit)
        fixed = self._fixed()
        target = limit
        for attempt in range(_REPAIRS):
            decisions, granted, _ = self._allocate(target, available, measured, fixed)
            self._insist(decisions, available, measured)
            placed, moved = self._place(decisions, measured)
            placed += self._refill(placed, decisions, target, available, measured)
            with stage("render"):
                rendered = render(arrange(placed, self.places))
            total, by_layer = prompt_tokens(rendered, self.measured)
            if total <= limit:
                demanded = sum(measured.tokens) + self._allocator.frame
                left_out = LeftOut(self.candidates, measured.tokens, placed)
                return FittedPrompt(rendered, total, demanded, left_out, granted, moved, rendered, total, by_layer)
            target -= (total - limit) << attempt
            if target < 0:
                break
        raise BudgetError(
            f"no prompt of at most {limit} tokens can be built: {self.measured.counter.name} does not add up"
        )

    def _allocate(
        self, target: int, available: int, measured: Sizes, fixed: Mapping[int, int]
    ) -> tuple[list[int], dict[LayerName, int], dict[LayerName, int]]:
        """`Allocator.allocate`, the window taking no more than it may."""
        at, most = self._window, self._window_most
        if at is None or most is None or measured.tokens[at] <= most:
            return self._allocator.allocate(target, available, measured, fixed)
        most = max(most, measured.cores.get(at, 0))
        capped = measured.with_tokens(at, most)
        decisions, granted, used = self._allocator.allocate(target, available, capped, fixed)
        if decisions[at] == FULL:
            decisions[at] = most
        return decisions, granted, used

    def _fixed(self) -> dict[int, int]:
        """Tokens of what is held, by index of its candidate."""
        costs = self.measured.sections([item.text for item in self._held.values()])
        return dict(zip(self._held, costs, strict=True))

    def _insist(self, decisions: list[int], available: int, measured: Sizes) -> None:
        """Raise when what must not be missing is; find the least budget that would do."""

        def missing(decided: list[int]) -> list[Candidate]:
            pinned = [(c, decided[i]) for i, c in enumerate(self.candidates) if c.pinned]
            return [c for c, decision in pinned if decision == OMITTED and c.layer in ("rules", "immediate")]

        absent = missing(decisions)
        if not absent:
            return
        low, high = available, max(available, 1)
        while missing(self._allocate(self.profile.limit(high), high, measured, {})[0]):
            low, high = high, high * 2
        while low + 1 < high:
            middle = (low + high) // 2
            if missing(self._allocate(self.profile.limit(middle), middle, measured, {})[0]):
                low = middle
            else:
                high = middle
        names = ", ".join("the selection" if c.core else c.source for c in absent[:3])
        raise BudgetError(
            f"a budget of {available} tokens is below the minimum of {high} for this request: {names} would be missing"
        )

    def _place(self, decisions: Sequence[int], measured: Sizes) -> tuple[list[Placed], bool]:
        """The chosen items; what is held enters as it stood."""
        if not self._held:
            return place(self.candidates, measured, decisions, self.measured, self.previous.windows)
        held = [item for index, item in self._held.items() if decisions[index] != OMITTED]
        others = [OMITTED if index in self._held else decision for index, decision in enumerate(decisions)]
        placed, moved = place(self.candidates, measured, others, self.measured, self.previous.windows)
        return [*held, *placed], moved

    def _refill(
        self, placed: list[Placed], decisions: list[int], target: int, available: int, measured: Sizes
    ) -> list[Placed]:
        """Cutting at a boundary leaves slack; what was left out may have it, everything placed staying."""
        texts = {id(item.candidate): item.text for item in placed}
        if OMITTED not in decisions or all(item.form != "truncated" for item in placed):
            return []
        fixed, slack = self._fixed(), 0
        for index, (candidate, decision) in enumerate(zip(self.candidates, decisions, strict=True)):
            if index in fixed:
                continue
            if decision >= 0 and id(candidate) in texts:
                fixed[index] = self.measured.section(texts[id(candidate)])
                # The window's slack is what typing grows into, once there is a prompt to continue.
                if candidate.keep != "around" or candidate.layer != "immediate" or not self.previous.prompt:
                    slack += decision - fixed[index]
                else:
                    fixed[index] = decision
            elif decision == FULL:
                fixed[index] = measured.tokens[index]
            elif decision == SHORT:
                fixed[index] = measured.shorts[index] or 0
        if slack < _REFILL_TOKENS:
            return []
        again, _, _ = self._allocate(target, available, measured, fixed)
        if any(again[index] == OMITTED for index in fixed):
            return []
        rest = [OMITTED if index in fixed else decision for index, decision in enumerate(again)]
        return place(self.candidates, measured, rest, self.measured, self.previous.windows)[0]


def is_window(candidate: Candidate) -> bool:
    """Whether it is the text around the cursor, whose length is what others leave."""
    return candidate.layer == "immediate" and candidate.keep == "around"


def _binding(candidate: Candidate) -> Candidate:
    """Rules are never trimmed, the window around the cursor is never left out."""
    if candidate.layer == "rules":
        return replace(candidate, pinned=True, keep=None, short=None)
    return replace(candidate, pinned=True) if is_window(candidate) else candidate
