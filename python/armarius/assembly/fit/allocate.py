"""The allocation of the core in the words of the assembly: candidates in, one decision per candidate out."""

from collections.abc import Collection, Mapping, Sequence

from armarius._core import BudgetItem, allocate
from armarius.assembly.fit.cached_counter import CachedCounter
from armarius.assembly.fit.place import FULL, OMITTED
from armarius.assembly.fit.profile import MOST_TOKENS, BudgetProfile
from armarius.assembly.fit.sizes import Size
from armarius.assembly.render import closing_piece, heading_piece, opening_piece
from armarius.contract import AssembleRequest
from armarius.errors import BudgetError
from armarius.records import LAYERS, Candidate, LayerName
from armarius.strict import shown

__all__ = ["Allocator", "available_tokens"]


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
        self._candidates = candidates
        self._profile = profile
        self._barred = frozenset(barred)
        groups = {(c.layer, c.group): None for c in candidates if c.group}
        bundles = {(c.layer, c.together): None for c in candidates if c.together}
        self._groups = {key: index for index, key in enumerate(groups)}
        self._bundles = {key: index for index, key in enumerate(bundles)}
        self._headings = measured.counts([heading_piece(group) for _, group in groups])
        ends = measured.counts([piece(layer) for layer in LAYERS for piece in (opening_piece, closing_piece)])
        self._overheads = {layer: ends[2 * i] + ends[2 * i + 1] for i, layer in enumerate(LAYERS)}
        present = {candidate.layer for candidate in candidates}
        self.frame = sum(self._headings) + sum(self._overheads[layer] for layer in present)

    def bars(self, candidate: Candidate) -> bool:
        """Whether `candidate` does not enter, whatever room there is."""
        return candidate.layer == "retrieved" and candidate.id in self._barred

    def allocate(
        self, target: int, available: int, measured: list[Size], fixed: Mapping[int, int]
    ) -> tuple[list[int], dict[LayerName, int], dict[LayerName, int]]:
        """Decisions, tokens granted and tokens used per layer; what is `fixed` is pinned at its tokens."""
        rows, competing = [], []
        cores: dict[int, int] = {}  # row of what is around a core, by index of the candidate; its own row is the core
        for index, (candidate, size) in enumerate(zip(self._candidates, measured, strict=True)):
            if self.bars(candidate):
                continue
            competing.append(index)
            settled = index in fixed
            core = 0 if settled else size.core
            if core and core < size.tokens:
                cores[index] = core
            rows.append(
                BudgetItem(  # in the order of its fields: their names would cost half a microsecond each time
                    LAYERS.index(candidate.layer),
                    fixed[index] if settled else core or size.tokens,
                    None if settled or core else size.short,
                    settled or candidate.pinned,
                    not settled and not core and candidate.keep is not None,
                    self._groups.get((candidate.layer, candidate.group)),
                    self._bundles.get((candidate.layer, candidate.together)),
                    candidate.score,
                    candidate.source,
                    candidate.id,
                )
            )
        rows += [self._around(index, measured[index].tokens - core) for index, core in cores.items()]
        layers = self._profile.rows(available, self._overheads)
        found = allocate(max(target, 0), layers, self._headings, rows)
        decisions = [OMITTED] * len(self._candidates)
        for index, decision in zip(competing, found.decisions[: len(competing)], strict=True):
            decisions[index] = decision
        for (index, core), decision in zip(cores.items(), found.decisions[len(competing) :], strict=True):
            if decisions[index] == FULL and decision != FULL:
                decisions[index] = core + max(decision, 0)
        return decisions, dict(zip(LAYERS, found.granted, strict=True)), dict(zip(LAYERS, found.used, strict=True))

    def _around(self, index: int, tokens: int) -> BudgetItem:
        """What surrounds a core, as an item of its own: the core enters whole, this as far as there is room."""
        one = self._candidates[index]
        group = self._groups.get((one.layer, one.group))
        return BudgetItem(
            LAYERS.index(one.layer), tokens, None, one.pinned, True, group, None, one.score, one.source, one.id
        )
