"""The index over a wire: what it is doing, look again, wait for it, stop it."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StrictInt

from armarius.verbs.method import Method, Params
from armarius.verbs.results import Status, Waited
from armarius.verbs.wire import wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["METHODS"]

_LONGEST_MS = 600_000


class Waiting(Params):
    """For how long at most."""

    timeout_ms: Annotated[StrictInt, Field(ge=0, le=_LONGEST_MS)] = 10_000


def _status(engine: "ContextEngine", _: Params) -> dict[str, Any]:
    status = wire(engine.status())
    status.pop("path")  # where the index lives is this machine's business
    return status


def _refresh(engine: "ContextEngine", asked: Params) -> dict[str, Any]:
    engine.refresh()
    return _status(engine, asked)


def _wait(engine: "ContextEngine", asked: Waiting) -> dict[str, Any]:
    return {"done": engine.wait(asked.timeout_ms / 1000)}


def _cancel(engine: "ContextEngine", asked: Params) -> dict[str, Any]:
    engine.cancel()
    return _status(engine, asked)


METHODS: tuple[Method[Any], ...] = (
    Method("index:status", Params, Status, _status),
    Method("index:refresh", Params, Status, _refresh),
    Method("index:wait", Waiting, Waited, _wait),
    Method("index:cancel", Params, Status, _cancel),
)
