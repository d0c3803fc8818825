"""The allocation of the core in the words of the assembly: candidates in, one decision per candidate out."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from armarius._core import BudgetItems, allocate
from armarius.assembly.fit.cached_counter import CachedCounter
from armarius.assembly.fit.place import FULL, OMITTED
from armarius.assembly.fit.profile import MOST_TOKENS, BudgetProfile
from armarius.assembly.fit.sizes import Sizes
from armarius.assembly.render import closing_piece, heading_piece, opening_piece
from armarius.contract import AssembleRequest
from armarius.errors import BudgetError
from armarius.records import LAYERS, Candidate, LayerName
from armarius.strict import shown

__all__ = ["Allocator", "available_tokens"]

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


class Allocator:
    """The rules by which some candidates share a budget.

    Args:
        candidates: In their canonical order.
        measured: Counts headings and fences.
        profile: What each layer may take.
        barred: Ids of the retrieved layer that do not enter, whatever room there is.

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
        ends = measured.counts([piece(layer) for layer in LAYERS for piece in (opening_piece, closing_piece)])
        self._overheads = {layer: ends[2 * i] + ends[2 * i + 1] for i, layer in enumerate(LAYERS)}
        present = {candidate.layer for candidate in candidates}
        self.frame = sum(self._headings) + sum(self._overheads[layer] for layer in present)

    def allocate(
        self, target: int, available: int, measured: Sizes, fixed: Mapping[int, int]
    ) -> tuple[list[int], dict[LayerName, int], dict[LayerName, int]]:
        """Decisions, tokens granted and tokens used per layer; what is `fixed` is pinned at its tokens."""
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
        beside = taken[len(row) :]
        if everyone:
            decisions = taken[: len(row)]
        else:
            decisions = [OMITTED] * len(measured.tokens)
            for index, decision in zip(row, taken, strict=False):
                decisions[index] = decision
        for (index, core), decision in zip(around.items(), beside, strict=True):
            if decisions[index] == FULL and decision != FULL:
                decisions[index] = core + max(decision, 0)
        return decisions, dict(zip(LAYERS, found.granted, strict=True)), dict(zip(LAYERS, found.used, strict=True))
