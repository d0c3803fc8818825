"""Prompts within their budget, the account of them, and how a project divides them."""

import asyncio
from collections.abc import Hashable, Mapping
from typing import Any, Unpack

from armarius.assembly.assembler import Task
from armarius.assembly.fit.profile import BudgetProfile, LayerBudget
from armarius.assembly.request import RequestKeywords, read_request
from armarius.contract import AssembleRequest, InspectRequest, InspectResult
from armarius.engine.parts import Parts
from armarius.pack.inspection import inspection
from armarius.pack.pack import Pack
from armarius.records import LayerName

__all__ = ["Assembling"]

Layers = Mapping[LayerName, LayerBudget | Mapping[str, Any]]
Wire = Mapping[str, Any]


class Assembling(Parts):
    """Assemble and inspect."""

    def assemble(
        self,
        request: AssembleRequest | Wire | None = None,
        /,
        *,
        previous: Pack | None = None,
        layers: Layers | None = None,
        **keywords: Unpack[RequestKeywords],
    ) -> Pack:
        """A prompt within its budget, and the account of it.

        Args:
            request: A request object or its wire form, instead of keywords.
            previous: The last pack of this task: what it shares with the new prompt stays in place.
            layers: Budgets for this request only; a mapping with `min`, `max`, `ratio` will do for a `LayerBudget`.
            keywords: `query`, `document`, `cursor`, `additional_input`, `skill`, `project_id`, `model`,
                `provider`, `tokenizer_version`, `budget`, `reserve_output`, `position_encoding`;
                see `RequestKeywords`.

        Raises:
            UnknownDocument: No such document.
            CursorOutOfRange: The cursor lies outside it or inside a character.
            BudgetError: The budget is not positive, or too small for what must be in.
            ScopeViolation: The request or `previous` belongs to another project.
            Backpressure: Too many assemblies at once.
            ContractError: Anything else that is wrong with the request.

        Cost: the slowest fetcher, one allocation, two counts of the prompt.
        """
        task = self._resolver.task(
            self._project.view(), read_request(AssembleRequest, request, keywords), previous, layers
        )
        return self._flight.run(_key("assemble", task), lambda: self._assembler.assemble(task))

    async def aassemble(
        self,
        request: AssembleRequest | Wire | None = None,
        /,
        *,
        previous: Pack | None = None,
        layers: Layers | None = None,
        **keywords: Unpack[RequestKeywords],
    ) -> Pack:
        """`assemble` for coroutines: same arguments, same answer, from a worker thread."""
        return await asyncio.to_thread(self.assemble, request, previous=previous, layers=layers, **keywords)

    def inspect(
        self,
        request: InspectRequest | AssembleRequest | Wire | None = None,
        /,
        *,
        previous: Pack | None = None,
        layers: Layers | None = None,
        debug_mode: bool = False,
        requested_by: str = "",
        **keywords: Unpack[RequestKeywords],
    ) -> InspectResult:
        """What `assemble` would send, layer by layer; never the prompt.

        Args:
            request: As for `assemble`; may carry `debugMode` and `requestedBy`.
            previous: As for `assemble`.
            layers: As for `assemble`.
            debug_mode: Echoed in `inspectMeta`.
            requested_by: Echoed in `inspectMeta`.
            keywords: As for `assemble`.
        """
        wanted = read_request(InspectRequest, request, keywords)
        if isinstance(wanted, InspectRequest):
            debug_mode, requested_by = debug_mode or wanted.debug_mode, requested_by or wanted.requested_by
            wanted = wanted.assembly()
        task = self._resolver.task(self._project.view(), wanted, previous, layers)
        pack = self._flight.run(_key("inspect", task), lambda: self._assembler.assemble(task, remember=False))
        return inspection(pack, debug_mode=debug_mode, requested_by=requested_by)

    async def ainspect(
        self,
        request: InspectRequest | AssembleRequest | Wire | None = None,
        /,
        *,
        previous: Pack | None = None,
        layers: Layers | None = None,
        debug_mode: bool = False,
        requested_by: str = "",
        **keywords: Unpack[RequestKeywords],
    ) -> InspectResult:
        """`inspect` for coroutines: same arguments, same answer, from a worker thread."""
        return await asyncio.to_thread(
            lambda: self.inspect(
                request,
                previous=previous,
                layers=layers,
                debug_mode=debug_mode,
                requested_by=requested_by,
                **keywords,
            )
        )

    def budget_profile(self) -> BudgetProfile:
        """How this project divides its prompts, with the version an update must name."""
        return self._profiles.read()

    def update_budget_profile(self, profile: BudgetProfile, *, version: int) -> BudgetProfile:
        """Replace the profile, if it is still at `version`; kept in `.armarius/budget.json`.

        Raises:
            BudgetConflict: It has moved on (CONTEXT_BUDGET_CONFLICT), here or in another process.
            ConfigError: What is stored is no profile.
            StoreBusy, StoreFull: It cannot be written; what is stored is untouched.
        """
        return self._profiles.update(profile, version=version)


def _key(kind: str, task: Task) -> Hashable:
    """Two tasks with one key have the same answer."""
    return kind, task.request, task.fetch, tuple(sorted(task.layers.items())), id(task.previous), task.profile.version
