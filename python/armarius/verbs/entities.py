"""Who and what the project knows, over a wire: entities, relations, who is named in a text, what is said of whom."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StrictBool, StrictInt

from armarius.arguments import OPEN, Chapters, Kind
from armarius.codex.model import ContextLevel, Entity, Relation
from armarius.errors import ContractError, UnknownId
from armarius.names.proposals import ProposedName
from armarius.requests import ChapterIn, ChaptersIn, Flag, KindsIn, PositionEncoding, Wire
from armarius.search.contradictions.statements import Statement
from armarius.verbs.authored import ById, Gone, changes
from armarius.verbs.method import Method, Params, known
from armarius.verbs.results import Matched, Mentioned, Proposed
from armarius.verbs.wire import Positions, match_wire, mention_wire, positions_of, wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["METHODS"]

_UNSET = ("type", "aliases", "description", "attributes", "level", "facts")


class FactIn(Wire):
    """A statement that holds from one chapter until another."""

    text: str
    since: StrictInt | None = None
    until: StrictInt | None = None


class NewEntity(Params):
    """Somebody or something to be known; what is not given is not stated.

    A name or an alias that somebody else has is refused, but with `force`: two are meant.
    """

    name: str
    id: str = ""
    force: Flag = False
    type: str | None = None
    aliases: tuple[str, ...] | None = None
    description: str | None = None
    attributes: dict[str, str] | None = None
    level: ContextLevel | None = None
    facts: tuple[FactIn, ...] | None = None


class ChangedEntity(NewEntity):
    """Of whom, by id, name or alias, what is to be another; `unset` names what is no longer to be stated.

    A new name or alias that somebody else has is refused, but with `force`.
    """

    id: str
    name: str | None = None  # type: ignore[assignment]
    unset: tuple[str, ...] = ()


class DeletedEntity(ById):
    """Names an entity, by id, name or alias; with its relations if they are to go too.

    One that authored relations need is refused else.
    """

    relations: StrictBool = False


class Ends(Params):
    """A relation, read from source to target; each end by id, name or alias."""

    source: str
    target: str
    type: str


class NewRelation(Ends):
    """A relation, and in which chapters it holds."""

    since: StrictInt | None = None
    until: StrictInt | None = None


class CardOf(ById):
    """Whose card, by id, name or alias; with an `asOf` only what holds in that chapter."""

    as_of: ChapterIn = None


class RelationsOf(Params):
    """Whose relations, by id, name or alias; "" is everybody's."""

    id: str = ""


class InText(Params):
    """A text to look for names in."""

    text: str
    position_encoding: PositionEncoding = "code-point"


class EvidenceOf(Params):
    """Of whom everything that is said is asked for, and of which attribute."""

    name: str
    attribute: str | None = None
    chapter: ChapterIn = None
    chapters: ChaptersIn = OPEN
    kinds: KindsIn = ()
    as_of: ChapterIn = None
    position_encoding: PositionEncoding = "code-point"


class Proposing(Params):
    """From how many times written on a name is proposed."""

    least: Annotated[StrictInt, Field(ge=2)] = 10
    known: StrictBool = False
    position_encoding: PositionEncoding = "code-point"


def _stated(asked: NewEntity) -> dict[str, Any]:
    values = {name: value for name, value in changes(asked).items() if name != "unset"}
    if asked.facts is not None:
        values["facts"] = [
            {key: value for key in ("text", "since", "until") if (value := getattr(one, key)) is not None}
            for one in asked.facts
        ]
    return values


def _card(engine: "ContextEngine", asked: CardOf) -> dict[str, str]:
    return {"card": known(lambda: engine.card(asked.id, as_of=asked.as_of))}


def _create(engine: "ContextEngine", asked: NewEntity) -> dict[str, Any]:
    values = {name: value for name, value in _stated(asked).items() if name != "name"}
    return wire(engine.codex.create(asked.name, id=asked.id, **values))


def _update(engine: "ContextEngine", asked: ChangedEntity) -> dict[str, Any]:
    wrong = [name for name in asked.unset if name not in _UNSET]
    if wrong:
        raise ContractError(f"params.unset: {wrong[0]!r} cannot be unset; there are {', '.join(_UNSET)}")
    values = {**_stated(asked), **dict.fromkeys(asked.unset)}
    return wire(known(lambda: engine.codex.update(asked.id, **values)))


def _delete(engine: "ContextEngine", asked: DeletedEntity) -> dict[str, str]:
    known(lambda: engine.codex.delete(asked.id, relations=asked.relations))
    return {"id": asked.id}


def _relations(engine: "ContextEngine", asked: RelationsOf) -> dict[str, Any]:
    id_ = asked.id and known(lambda: engine.entity(asked.id)).id
    found = engine.codex.relations()
    return {"items": [wire(one) for one in found if id_ in ("", one.source, one.target)]}


def _relate(engine: "ContextEngine", asked: NewRelation) -> dict[str, Any]:
    chapters = {"since": asked.since, "until": asked.until}
    engine.codex.relate(asked.source, asked.target, asked.type, **chapters)
    return {"source": asked.source, "target": asked.target, "type": asked.type, **chapters}


def _unrelate(engine: "ContextEngine", asked: Ends) -> dict[str, str]:
    try:
        engine.codex.unrelate(asked.source, asked.target, asked.type)
    except UnknownId as error:
        raise UnknownId(f"params: {error.message}", error.near) from None
    return {"source": asked.source, "target": asked.target, "type": asked.type}


def _detect(engine: "ContextEngine", asked: InText) -> dict[str, Any]:
    at = positions_of(engine, asked.position_encoding)
    return {"items": [match_wire(one, at, asked.text) for one in engine.detect(asked.text)]}


def _mentions(engine: "ContextEngine", asked: InText) -> dict[str, Any]:
    at = positions_of(engine, asked.position_encoding)
    return {"items": [mention_wire(one, at, asked.text) for one in engine.mentions(asked.text)]}


def _evidence(engine: "ContextEngine", asked: EvidenceOf) -> dict[str, Any]:
    chapters: Chapters = asked.chapters
    kinds: tuple[Kind, ...] = asked.kinds
    found = known(
        lambda: engine.evidence(
            asked.name,
            attribute=asked.attribute,
            chapter=asked.chapter,
            chapters=chapters,
            kinds=kinds,
            as_of=asked.as_of,
        ),
        "name",
    )
    at = positions_of(engine, asked.position_encoding)
    return {"items": [wire(one, at) for one in found]}


def _propose(engine: "ContextEngine", asked: Proposing) -> dict[str, Any]:
    at = positions_of(engine, asked.position_encoding)
    found = engine.propose(least=asked.least, known=asked.known)
    return {"items": [{**wire(one), "position": _place(at, one)} for one in found]}


def _place(at: Positions, one: ProposedName) -> int:
    return (at.span(one.document, (one.position, one.position)) or [one.position])[0]


METHODS: tuple[Method[Any], ...] = (
    Method(
        "entities:list",
        Params,
        {"items": list[Entity]},
        lambda engine, _: {"items": [wire(one) for one in engine.entities()]},
    ),
    Method("entities:get", ById, Entity, lambda engine, asked: wire(known(lambda: engine.entity(asked.id)))),
    Method("entities:card", CardOf, {"card": str}, _card),
    Method("entities:create", NewEntity, Entity, _create),
    Method("entities:update", ChangedEntity, Entity, _update),
    Method("entities:delete", DeletedEntity, Gone, _delete),
    Method("entities:relations", RelationsOf, {"items": list[Relation]}, _relations),
    Method("entities:relate", NewRelation, NewRelation, _relate),
    Method("entities:unrelate", Ends, Ends, _unrelate),
    Method("entities:detect", InText, {"items": list[Matched]}, _detect),
    Method("entities:mentions", InText, {"items": list[Mentioned]}, _mentions),
    Method("entities:evidence", EvidenceOf, {"items": list[Statement]}, _evidence),
    Method("entities:propose", Proposing, {"items": list[Proposed]}, _propose),
)
