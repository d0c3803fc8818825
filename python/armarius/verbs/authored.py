"""What the user authors, over a wire: constraints, memories, pins. It is kept in files under `.armarius/`."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, Strict, StrictInt

from armarius.codex.model import Constraint, Memory, Pin
from armarius.requests import Flag
from armarius.verbs.method import Method, Params, known
from armarius.verbs.wire import wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["METHODS", "ById", "Gone", "changes"]

Confidence = Annotated[float, Strict(), Field(ge=0, le=1)]
Gone = {"id": str}


class ById(Params):
    """Names one record."""

    id: str


class NewConstraint(Params):
    """A rule that every prompt is to state."""

    text: str
    source: Literal["user", "kg"] = "user"
    priority: Annotated[StrictInt, Field(ge=0)] = 0
    id: str = ""


class ChangedConstraint(ById):
    """What of a rule is to be another."""

    text: str | None = None
    source: Literal["user", "kg"] | None = None
    priority: Annotated[StrictInt, Field(ge=0)] | None = None


class NewMemory(Params):
    """What is to be remembered."""

    text: str
    kind: Literal["semantic", "episodic", "procedural"] = "semantic"
    confidence: Confidence = 1.0
    id: str = ""


class ChangedMemory(ById):
    """What of a memory is to be another."""

    text: str | None = None
    kind: Literal["semantic", "episodic", "procedural"] | None = None
    confidence: Confidence | None = None


class Target(Params):
    """What is pinned or muted: id, name, path or tag; while a document is open, or always."""

    target: str
    document: str = ""


class NewPin(Target):
    """A pin, or a mute."""

    mute: Flag = False


def changes(asked: Params) -> dict[str, Any]:
    """The fields that were sent, but for those that say what is meant."""
    return {
        name: value
        for name in type(asked).model_fields
        if name not in ("project_id", "id") and (value := getattr(asked, name)) is not None
    }


def _delete(engine: "ContextEngine", room: str, asked: ById) -> dict[str, str]:
    known(lambda: getattr(engine, room).delete(asked.id))
    return {"id": asked.id}


def _unpin(engine: "ContextEngine", asked: Target) -> dict[str, str]:
    known(lambda: engine.pins.remove(asked.target, document=asked.document), "target")
    return {"target": asked.target}


def _records(room: str, kind: type, new: type[Params], changed: type[ById]) -> tuple[Method[Any], ...]:
    """List, create, update and delete of one collection."""
    return (
        Method(
            f"{room}:list",
            Params,
            {"items": list[kind]},  # type: ignore[valid-type]
            lambda engine, _: {"items": [wire(one) for one in getattr(engine, room).list()]},
        ),
        Method(
            f"{room}:create",
            new,
            kind,
            lambda engine, asked: wire(getattr(engine, room).create(**{**changes(asked), "id": asked.id})),
        ),
        Method(
            f"{room}:update",
            changed,
            kind,
            lambda engine, asked: wire(known(lambda: getattr(engine, room).update(asked.id, **changes(asked)))),
        ),
        Method(f"{room}:delete", ById, Gone, lambda engine, asked: _delete(engine, room, asked)),
    )


METHODS: tuple[Method[Any], ...] = (
    *_records("constraints", Constraint, NewConstraint, ChangedConstraint),
    *_records("memories", Memory, NewMemory, ChangedMemory),
    Method(
        "pins:list",
        Params,
        {"items": list[Pin]},
        lambda engine, _: {"items": [wire(one) for one in engine.pins.list()]},
    ),
    Method(
        "pins:add",
        NewPin,
        Pin,
        lambda engine, asked: wire(
            known(lambda: engine.pins.add(asked.target, mute=asked.mute, document=asked.document), "target")
        ),
    ),
    Method("pins:remove", Target, {"target": str}, _unpin),
)
