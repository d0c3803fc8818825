"""Prompts over a wire: assembled, inspected, and how the project divides them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import StrictInt

from armarius.errors import BudgetError
from armarius.prompt.profile import BudgetProfile
from armarius.requests import AssembleRequest, AssembleResult, InspectRequest, InspectResult
from armarius.verbs.method import Method, Params

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["METHODS"]


class UpdateBudget(Params):
    """A profile, and the version that it was made from."""

    version: StrictInt
    profile: dict[str, Any]


def _update(engine: "ContextEngine", asked: UpdateBudget) -> Mapping[str, Any]:
    try:
        wanted = BudgetProfile.from_wire(asked.profile)
    except BudgetError as error:
        raise BudgetError(f"profile: {error.message}") from None
    return engine.update_budget_profile(wanted, version=asked.version).to_wire()


METHODS: tuple[Method[Any], ...] = (
    Method(
        "context:prompt:assemble",
        AssembleRequest,
        AssembleResult,
        lambda engine, asked: engine.assemble(asked).to_wire(),
    ),
    Method(
        "context:prompt:inspect", InspectRequest, InspectResult, lambda engine, asked: engine.inspect(asked).to_wire()
    ),
    Method("context:budget:get", Params, BudgetProfile, lambda engine, _: engine.budget_profile().to_wire()),
    Method("context:budget:update", UpdateBudget, BudgetProfile, _update),
)
