"""Candidates and a budget to a prompt that fits: measure, allocate, cut, render, count, repair."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from armarius.deadline import stage
from armarius.errors import BudgetError, BudgetTooSmall
from armarius.prompt.admit import Admitted
from armarius.prompt.allocate import FULL, OMITTED, SHORT, Allocation, Allocator, Previous, place, prompt_tokens, sizes
from armarius.prompt.counter import CachedCounter
from armarius.prompt.profile import BudgetProfile
from armarius.prompt.render import PromptItem, Rendered, arrange, render
from armarius.types import Candidate, LayerName

# Slack after cutting at a boundary that is worth another round of allocation.
_REFILL_TOKENS = 64
_REPAIRS = 12
_NOTHING = Previous()


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """A prompt that fits, and the account of it.

    Attributes:
        plan: What it was chosen from.
        token_count: Of the prompt as it is.
        demanded: Of everything that competes, whether or not it is in.
        omitted: The candidates that did not fit, in their order, and what each would have cost.
        demand: The prompt before paragraphs filled what was left.
        required: Its tokens.
        by_layer: Tokens of each layer of the prompt, where they are known already.
        entered: Paragraphs on offer that are in.
        line: The worth of the last one in, 0.0 when none was left out for room.
    """

    plan: "Plan"
    rendered: Rendered
    token_count: int
    demanded: int
    omitted: list[tuple[Candidate, int]]
    granted: dict[LayerName, int]
    anchor_moved: bool
    demand: Rendered
    required: int
    by_layer: Mapping[LayerName, int] | None = None
    entered: int = 0
    line: float = 0.0


class Plan:
    """Candidates, their sizes, and the rules by which they share one budget.

    Args:
        admitted: The candidates.
        measured: The counter.
        profile: The rules.
        available: The budget less the reserve.
        previous: The prompt continued; its windows keep their start.
        held: Items of the retrieved layer that enter exactly as given, in this order, before all others of it.
        barred: Ids of the retrieved layer that never enter.
        window_most: Tokens that the window around the cursor may take, when others are to have the rest.

    Attributes:
        limit: Tokens of the prompt.
        sizes: Of the candidates.
        places: The place of each held item.

    Cost: a count of each candidate, remembered.
    """

    def __init__(
        self,
        admitted: Admitted,
        measured: CachedCounter,
        profile: BudgetProfile,
        available: int,
        previous: Previous = _NOTHING,
        held: Sequence[PromptItem] = (),
        barred: Collection[str] = (),
        window_most: int | None = None,
    ) -> None:
        self.admitted = admitted
        self.measured = measured
        self.profile = profile
        self.available = available
        self.previous = previous
        self.limit = profile.limit(available)
        self.candidates = tuple(
            [c if c.layer != "rules" and c.keep != "around" else _binding(c) for c in admitted.candidates]
        )
        self.sizes = sizes(self.candidates, measured, self.limit)
        self.places: dict[tuple[LayerName, str], int] = {
            ("retrieved", item.candidate.id): place for place, item in enumerate(held)
        }
        by_id = {item.candidate.id: item for item in held}
        self._held = {
            index: replace(by_id[candidate.id], candidate=candidate)
            for index, candidate in enumerate(self.candidates if by_id else ())
            if candidate.layer == "retrieved" and candidate.id in by_id
        }
        costs = measured.sections([item.text for item in self._held.values()])
        self._fixed = dict(zip(self._held, costs, strict=True))
        self._allocator = Allocator(self.candidates, measured, profile, barred)
        self._window_most = window_most
        windows = [index for index, one in enumerate(self.candidates) if is_window(one)]
        self._window = windows[0] if windows else None

    def allocate(self) -> Allocation:
        """The allocation alone, for comparing plans. Cost: one allocation."""
        return self._allocate(self.limit, self.available, self._fixed)

    def entering(self, allocation: Allocation) -> list[PromptItem]:
        """What `allocation` lets into the prompt, slack of cuts used, in no order. Cost: the cuts."""
        placed, _ = self._place(allocation.decisions)
        return placed + self._refill(placed, allocation.decisions, self.limit)

    def fit(self) -> FittedPrompt:
        """The best prompt of at most `limit` tokens.

        Raises:
            BudgetError: Rules, query or cursor window do not fit; the message says how much they need.

        Cost: one allocation and one count of the final prompt; more only if counts do not add up.
        """
        target = self.limit
        for attempt in range(_REPAIRS):
            decisions, granted, _ = self._allocate(target, self.available, self._fixed)
            self._insist(decisions)
            placed, moved = self._place(decisions)
            placed += self._refill(placed, decisions, target)
            with stage("render"):
                rendered = render(arrange(placed, self.places))
            total, by_layer = prompt_tokens(rendered, self.measured)
            if total <= self.limit:
                demanded = sum(self.sizes.tokens) + self._allocator.frame
                entered = {id(item.candidate) for item in placed}
                costs = zip(self.candidates, self.sizes.tokens, strict=True)
                omitted = [(one, tokens) for one, tokens in costs if id(one) not in entered]
                return FittedPrompt(self, rendered, total, demanded, omitted, granted, moved, rendered, total, by_layer)
            target -= (total - self.limit) << attempt
            if target < 0:
                break
        raise BudgetError(
            f"no prompt of at most {self.limit} tokens can be built: {self.measured.counter.name} does not add up"
        )

    def _allocate(self, target: int, available: int, fixed: Mapping[int, int]) -> Allocation:
        """`Allocator.allocate`, the window taking no more than it may."""
        at, most = self._window, self._window_most
        if at is None or most is None or self.sizes.tokens[at] <= most:
            return self._allocator.allocate(target, available, self.sizes, fixed)
        most = max(most, self.sizes.cores.get(at, 0))
        found = self._allocator.allocate(target, available, self.sizes.with_tokens(at, most), fixed)
        if found.decisions[at] == FULL:
            found.decisions[at] = most
        return found

    def _insist(self, decisions: list[int]) -> None:
        """Raise when what must not be missing is; find the least budget that would do."""

        def missing(decided: list[int]) -> list[Candidate]:
            pinned = [(c, decided[i]) for i, c in enumerate(self.candidates) if c.pinned]
            return [c for c, decision in pinned if decision == OMITTED and c.layer in ("rules", "immediate")]

        absent = missing(decisions)
        if not absent:
            return
        low, high = self.available, max(self.available, 1)
        while missing(self._allocate(self.profile.limit(high), high, {}).decisions):
            low, high = high, high * 2
        while low + 1 < high:
            middle = (low + high) // 2
            if missing(self._allocate(self.profile.limit(middle), middle, {}).decisions):
                low = middle
            else:
                high = middle
        names = ", ".join("the selection" if c.core else c.source for c in absent[:3])
        raise BudgetTooSmall(
            f"a budget of {self.available} tokens is below the minimum of {high} for this request: "
            f"{names} would be missing",
            minimum=high,
        )

    def _place(self, decisions: Sequence[int]) -> tuple[list[PromptItem], bool]:
        """The chosen items; what is held enters as it stood."""
        if not self._held:
            return place(self.candidates, self.sizes, decisions, self.measured, self.previous.windows)
        held = [item for index, item in self._held.items() if decisions[index] != OMITTED]
        others = [OMITTED if index in self._held else decision for index, decision in enumerate(decisions)]
        placed, moved = place(self.candidates, self.sizes, others, self.measured, self.previous.windows)
        return [*held, *placed], moved

    def _refill(self, placed: list[PromptItem], decisions: list[int], target: int) -> list[PromptItem]:
        """Cutting at a boundary leaves slack; what was left out may have it, everything placed staying."""
        if OMITTED not in decisions or all(item.form != "truncated" for item in placed):
            return []
        texts = {id(item.candidate): item.text for item in placed}
        fixed, slack = dict(self._fixed), 0
        for index, (candidate, decision) in enumerate(zip(self.candidates, decisions, strict=True)):
            if index in fixed:
                continue
            if decision >= 0 and id(candidate) in texts:
                fixed[index] = self.measured.section(texts[id(candidate)])
                # The window's slack is what typing grows into, once there is a prompt to continue.
                if not is_window(candidate) or not self.previous.prompt:
                    slack += decision - fixed[index]
                else:
                    fixed[index] = decision
            elif decision == FULL:
                fixed[index] = self.sizes.tokens[index]
            elif decision == SHORT:
                fixed[index] = self.sizes.shorts[index] or 0
        if slack < _REFILL_TOKENS:
            return []
        again = self._allocate(target, self.available, fixed).decisions
        if any(again[index] == OMITTED for index in fixed):
            return []
        rest = [OMITTED if index in fixed else decision for index, decision in enumerate(again)]
        return place(self.candidates, self.sizes, rest, self.measured, self.previous.windows)[0]


def is_window(candidate: Candidate) -> bool:
    """Whether it is the text around the cursor, which takes what others leave."""
    return candidate.layer == "immediate" and candidate.keep == "around"


def _binding(candidate: Candidate) -> Candidate:
    """Rules are never trimmed, the window around the cursor is never left out."""
    if candidate.layer == "rules":
        return replace(candidate, pinned=True, keep=None, short=None)
    return replace(candidate, pinned=True) if is_window(candidate) else candidate
