"""The table of verbs: what a host may ask of a project, with its request, its result and the call behind it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from armarius.arguments import Bounds
from armarius.code.subgraph import Subgraph, TextMatches, matches, tree
from armarius.codex.model import Constraint, Entity, Memory, Pin, Relation, Summary
from armarius.documents.document import Document
from armarius.errors import BudgetError, ContractError, UnknownId
from armarius.io.messages_without_paths import answer_without_paths, warnings_without_paths
from armarius.names.proposals import ProposedName
from armarius.prompt.profile import BudgetProfile
from armarius.prompt.report.items import Place
from armarius.requests import AssembleRequest, AssembleResult, InspectRequest, InspectResult, Wire
from armarius.search.contradictions.statements import Statement
from armarius.verbs import params as p
from armarius.verbs import results
from armarius.verbs.wire import Positions, match_wire, mention_wire, positions_of, wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["VERBS", "Verb", "around", "methods_of", "summary", "verb"]

Asked = TypeVar("Asked", bound=Wire)
Items = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Verb(Generic[Asked]):
    """A row of the table.

    Attributes:
        name: Of the method of the channel: `room:thing:verb`, or `things:verb`.
        about: What it does, in one line.
        params: Checks what is sent; its fields are those of every surface.
        result: The shape of the answer: a type, or field to type.
        answer: From the engine and the checked params to plain JSON.
        python: The same in Python: an attribute of the engine, with dots.
        tool: The MCP tool over it.
        command: The command over it.
    """

    name: str
    about: str
    params: type[Asked]
    result: Any
    answer: "Callable[[ContextEngine, Asked], Any]"
    python: str = ""
    tool: str = ""
    command: str = ""

    def over(self, engine: "ContextEngine") -> Callable[[Mapping[str, Any]], Any]:
        """The verb over one engine, from what is sent to what is answered; may be called from any thread."""

        def call(sent: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
            asked = self.params.from_wire(sent)
            if isinstance(asked, p.Params):
                engine.check_project(asked.project_id)
            return answer_without_paths(self.answer(engine, asked), engine.root)

        return call


def methods_of(engine: "ContextEngine") -> dict[str, Callable[[Mapping[str, Any]], Any]]:
    """The methods of the channel over one engine; every function may be called from any thread."""
    return {one.name: one.over(engine) for one in VERBS}


def verb(name: str) -> Verb[Any]:
    """The row of a method of the channel; KeyError when there is none."""
    return _BY_NAME[name]


def _known(call: Callable[[], Any], field: str = "id") -> Any:  # noqa: ANN401 - what the call returns
    """What `call` returns; an unknown id is said to be the `field` that was sent."""
    try:
        return call()
    except UnknownId as error:
        raise UnknownId(f"params.{field}: {error.message}", error.near) from None


def _items(found: Any, at: Positions | None = None) -> Items:  # noqa: ANN401 - dataclasses of the engine
    return {"items": [wire(one) if at is None else wire(one, at) for one in found]}


def _update_budget(engine: "ContextEngine", asked: p.UpdateBudget) -> Mapping[str, Any]:
    try:
        wanted = BudgetProfile.from_wire(asked.profile)
    except BudgetError as error:
        raise BudgetError(f"profile: {error.message}") from None
    return engine.update_budget_profile(wanted, version=asked.version).to_wire()


def _records(room: str, kind: type, new: type[p.Params], changed: type[p.ById], what: str) -> tuple[Verb[Any], ...]:
    """List, create, update and delete of one collection."""

    def delete(engine: "ContextEngine", asked: p.ById) -> dict[str, str]:
        _known(lambda: getattr(engine, room).delete(asked.id))
        return {"id": asked.id}

    return (
        Verb(
            f"{room}:list",
            f"Every {what}.",
            p.Params,
            {"items": list[kind]},  # type: ignore[valid-type]
            lambda engine, _: _items(getattr(engine, room).list()),
            f"{room}.list",
        ),
        Verb(
            f"{room}:create",
            f"Add a {what}.",
            new,
            kind,
            lambda engine, asked: wire(getattr(engine, room).create(**asked.stated())),
            f"{room}.create",
            "remember" if room == "memories" else "",
        ),
        Verb(
            f"{room}:update",
            f"Change what is sent of a {what}.",
            changed,
            kind,
            lambda engine, asked: wire(_known(lambda: getattr(engine, room).update(asked.id, **asked.stated("id")))),
            f"{room}.update",
        ),
        Verb(f"{room}:delete", f"Remove a {what}.", p.ById, {"id": str}, delete, f"{room}.delete"),
    )


def _unpin(engine: "ContextEngine", asked: p.Target) -> dict[str, str]:
    _known(lambda: engine.pins.remove(asked.target, document=asked.document), "target")
    return {"target": asked.target}


def _facts(asked: p.NewEntity) -> dict[str, Any]:
    if asked.facts is None:
        return {}
    return {"facts": [one.model_dump(exclude_none=True) for one in asked.facts]}


def _create_entity(engine: "ContextEngine", asked: p.NewEntity) -> dict[str, Any]:
    return wire(engine.codex.create(asked.name, **asked.stated("name", "facts"), **_facts(asked)))


def _update_entity(engine: "ContextEngine", asked: p.ChangedEntity) -> dict[str, Any]:
    unset: dict[str, None] = dict.fromkeys(asked.unset)
    values = {**asked.stated("id", "facts", "unset"), **_facts(asked), **unset}
    return wire(_known(lambda: engine.codex.update(asked.id, **values)))


def _delete_entity(engine: "ContextEngine", asked: p.DeletedEntity) -> dict[str, str]:
    _known(lambda: engine.codex.delete(asked.id, relations=asked.relations))
    return {"id": asked.id}


def _relations(engine: "ContextEngine", asked: p.RelationsOf) -> Items:
    entity = asked.id and _known(lambda: engine.entity(asked.id)).id
    return _items(one for one in engine.codex.relations() if entity in ("", one.source, one.target))


def _relate(engine: "ContextEngine", asked: p.NewRelation) -> dict[str, Any]:
    chapters = {"since": asked.since, "until": asked.until}
    engine.codex.relate(asked.source, asked.target, asked.type, **chapters)
    return {"source": asked.source, "target": asked.target, "type": asked.type, **chapters}


def _unrelate(engine: "ContextEngine", asked: p.Ends) -> dict[str, str]:
    try:
        engine.codex.unrelate(asked.source, asked.target, asked.type)
    except UnknownId as error:
        raise UnknownId(f"params: {error.message}", error.near) from None
    return {"source": asked.source, "target": asked.target, "type": asked.type}


def _detect(engine: "ContextEngine", asked: p.InText) -> Items:
    at = positions_of(engine, asked.position_encoding)
    return {"items": [match_wire(one, at, asked.text) for one in engine.detect(asked.text)]}


def _mentions(engine: "ContextEngine", asked: p.InText) -> Items:
    at = positions_of(engine, asked.position_encoding)
    return {"items": [mention_wire(one, at, asked.text) for one in engine.mentions(asked.text)]}


def _evidence(engine: "ContextEngine", asked: p.EvidenceOf) -> Items:
    options = {name: getattr(asked, name) for name in ("attribute", "chapter", "chapters", "kinds", "as_of")}
    found = _known(lambda: engine.evidence(asked.name, **options), "name")
    return _items(found, positions_of(engine, asked.position_encoding))


def _propose(engine: "ContextEngine", asked: p.Proposing) -> Items:
    at = positions_of(engine, asked.position_encoding)

    def place(one: ProposedName) -> int:
        return (at.span(one.document, (one.position, one.position)) or [one.position])[0]

    found = engine.propose(least=asked.least, known=asked.known)
    return {"items": [{**wire(one), "position": place(one)} for one in found]}


def summary(document: Document) -> dict[str, Any]:
    """A document without its text."""
    return {
        "path": document.path,
        "kind": document.kind,
        "title": document.title,
        "chapter": document.chapter,
        "paragraphs": document.paragraph_count,
        "encoding": document.encoding,
        "contentHash": document.content_hash,
    }


def _list_documents(engine: "ContextEngine", asked: p.Listing) -> dict[str, Any]:
    bounds = Bounds(asked.chapters, asked.kinds)
    found = [one for one in engine.documents() if bounds.holds(one.kind, one.chapter)]
    return {"items": [summary(one) for one in found[asked.offset :][: asked.limit]], "total": len(found)}


def _get_document(engine: "ContextEngine", asked: p.Reading) -> dict[str, Any]:
    document = engine.document(asked.document)
    found = {**summary(document), "text": document.text}
    if not asked.paragraphs:
        return found
    at = Positions(asked.position_encoding, lambda _: document.text)
    parts = [
        {
            "index": one.index,
            "span": at.span(document.path, (one.start, one.end)),
            "headingPath": list(one.heading_path),
            "role": one.role,
            "chapter": one.chapter,
        }
        for one in document.paragraphs
    ]
    return {**found, "paragraphs": parts}


def _search(engine: "ContextEngine", asked: p.Searching) -> Items:
    found = engine.search(asked.query, limit=asked.limit, **asked.bounds)
    return _items(found, positions_of(engine, asked.position_encoding))


def _retrieve(engine: "ContextEngine", asked: p.Retrieving) -> dict[str, Any]:
    answer = engine.retrieve(
        asked.query, limit=asked.limit, document=asked.document, messages=asked.messages, **asked.bounds
    )
    found = _items(answer, positions_of(engine, asked.position_encoding))
    if asked.excerpts:
        for item, hit in zip(found["items"], answer, strict=True):
            item["text"] = engine.excerpt(hit, chapters=asked.chapters, as_of=asked.as_of)
    found |= {"outcome": answer.outcome, "warnings": [str(warning) for warning in answer.warnings]}
    if Bounds(asked.chapters, asked.kinds, asked.as_of):
        found["omitted"] = [wire(gone) for gone in answer.omitted]
    if asked.messages:
        found["carried"] = list(answer.carried)
    return found


def _locate(engine: "ContextEngine", asked: p.Locating) -> Items:
    live = {} if asked.text is None else {asked.document: asked.text}
    at = positions_of(engine, asked.position_encoding, live)
    return _items(engine.locate(asked.quote, document=asked.document, text=asked.text), at)


def _summaries(engine: "ContextEngine", _: p.Params) -> dict[str, Any]:
    return {**_items(engine.summaries.list()), "stale": list(engine.summaries.stale())}


def _delete_summary(engine: "ContextEngine", asked: p.OfDocument) -> dict[str, str]:
    _known(lambda: engine.summaries.delete(asked.document), "documentId")
    return {"documentId": asked.document}


def around(engine: "ContextEngine", asked: p.Around) -> Subgraph | TextMatches:
    """A subgraph as a wire may say it: no warning names a path of this machine.

    Raises:
        ContractError: There is no such symbol, or several.
    """
    try:
        found = engine.subgraph(asked.symbol, **asked.stated("symbol", "include_tree"))
    except ValueError as error:
        raise ContractError(f"params.symbol: {error}") from None
    return replace(found, warnings=warnings_without_paths(found.warnings, engine.root))


def _subgraph(engine: "ContextEngine", asked: p.Around) -> dict[str, Any]:
    found = around(engine, asked)
    plain = found.to_wire()
    if asked.include_tree:
        plain["tree"] = tree(found) if isinstance(found, Subgraph) else matches(found)
    return plain


def _status(engine: "ContextEngine", _: p.Params) -> dict[str, Any]:
    status = wire(engine.status())
    status.pop("path")  # of this machine
    return status


def _refresh(engine: "ContextEngine", asked: p.Params) -> dict[str, Any]:
    engine.refresh()
    return _status(engine, asked)


def _cancel(engine: "ContextEngine", asked: p.Params) -> dict[str, Any]:
    engine.cancel()
    return _status(engine, asked)


VERBS: Final[tuple[Verb[Any], ...]] = (
    Verb(
        "context:prompt:assemble",
        "A prompt within its budget, and its account.",
        AssembleRequest,
        AssembleResult,
        lambda engine, asked: engine.assemble(asked).to_wire(),
        "assemble",
        "assemble_context",
        "assemble",
    ),
    Verb(
        "context:prompt:inspect",
        "What `assemble` would send, layer by layer; never the prompt.",
        InspectRequest,
        InspectResult,
        lambda engine, asked: engine.inspect(asked).to_wire(),
        "inspect",
        "inspect_context",
        "inspect",
    ),
    Verb(
        "context:budget:get",
        "How the project divides its prompts, with the version that an update names.",
        p.Params,
        BudgetProfile,
        lambda engine, _: engine.budget_profile().to_wire(),
        "budget_profile",
    ),
    Verb(
        "context:budget:update",
        "Replace the profile, if it is still at `version`; CONTEXT_BUDGET_CONFLICT if not.",
        p.UpdateBudget,
        BudgetProfile,
        _update_budget,
        "update_budget_profile",
    ),
    *_records("constraints", Constraint, p.NewConstraint, p.ChangedConstraint, "rule that every prompt states"),
    *_records("memories", Memory, p.NewMemory, p.ChangedMemory, "memory"),
    Verb(
        "pins:list",
        "What is in every prompt, or in none.",
        p.Params,
        {"items": list[Pin]},
        lambda engine, _: _items(engine.pins.list()),
        "pins.list",
    ),
    Verb(
        "pins:add",
        "Pin or mute something.",
        p.NewPin,
        Pin,
        lambda engine, asked: wire(
            _known(lambda: engine.pins.add(asked.target, mute=asked.mute, document=asked.document), "target")
        ),
        "pins.add",
    ),
    Verb("pins:remove", "Undo a pin or a mute.", p.Target, {"target": str}, _unpin, "pins.remove"),
    Verb(
        "entities:list",
        "Every known entity.",
        p.Params,
        {"items": list[Entity]},
        lambda engine, _: _items(engine.entities()),
        "entities",
    ),
    Verb(
        "entities:get",
        "One entity, by id, name or alias.",
        p.ById,
        Entity,
        lambda engine, asked: wire(_known(lambda: engine.entity(asked.id))),
        "entity",
    ),
    Verb(
        "entities:card",
        "The card of an entity as a prompt shows it.",
        p.CardOf,
        {"card": str},
        lambda engine, asked: {"card": _known(lambda: engine.card(asked.id, as_of=asked.as_of))},
        "card",
        "entity",
    ),
    Verb(
        "entities:create",
        "Describe an entity, in `.armarius/codex.toml`.",
        p.NewEntity,
        Entity,
        _create_entity,
        "codex.create",
        "propose",
    ),
    Verb("entities:update", "Change an entity.", p.ChangedEntity, Entity, _update_entity, "codex.update"),
    Verb("entities:delete", "Remove an entity.", p.DeletedEntity, {"id": str}, _delete_entity, "codex.delete"),
    Verb(
        "entities:relations",
        "Relations of an entity, or all.",
        p.RelationsOf,
        {"items": list[Relation]},
        _relations,
        "codex.relations",
    ),
    Verb("entities:relate", "Add a relation.", p.NewRelation, p.NewRelation, _relate, "codex.relate"),
    Verb("entities:unrelate", "Remove a relation.", p.Ends, p.Ends, _unrelate, "codex.unrelate"),
    Verb(
        "entities:detect",
        "The known entities that a text names: one match each, the earliest, by position.",
        p.InText,
        {"items": list[results.Matched]},
        _detect,
        "detect",
        "detect_entities",
        "detect",
    ),
    Verb(
        "entities:mentions",
        "Every mention of a known entity in a text.",
        p.InText,
        {"items": list[results.Mentioned]},
        _mentions,
        "mentions",
    ),
    Verb(
        "entities:evidence",
        "Everything the project says about an entity; competing statements are marked.",
        p.EvidenceOf,
        {"items": list[Statement]},
        _evidence,
        "evidence",
        "evidence",
        "evidence",
    ),
    Verb(
        "entities:propose",
        "Names that the chapters use and no profile describes.",
        p.Proposing,
        {"items": list[results.Proposed]},
        _propose,
        "propose",
        command="propose",
    ),
    Verb(
        "documents:list",
        "Documents by path, without their text.",
        p.Listing,
        {"items": list[results.DocumentSummary], "total": int},
        _list_documents,
        "documents",
        "list_documents",
    ),
    Verb("documents:get", "One document.", p.Reading, results.DocumentText, _get_document, "document"),
    Verb(
        "documents:search",
        "Paragraphs that hold the words as written, best first.",
        p.Searching,
        {"items": list[results.Passage]},
        _search,
        "search",
        "search",
        "search",
    ),
    Verb(
        "documents:retrieve",
        "The documents and sections that answer a question, best first, with every reason.",
        p.Retrieving,
        results.Listed[results.Found],
        _retrieve,
        "retrieve",
        "retrieve",
        "retrieve",
    ),
    Verb(
        "documents:locate",
        "Where quoted words stand, in the open document first.",
        p.Locating,
        {"items": list[Place]},
        _locate,
        "locate",
        "locate",
    ),
    Verb(
        "summaries:list",
        "Every summary, and which documents have a stale one.",
        p.Params,
        {"items": list[Summary], "stale": list[str]},
        _summaries,
        "summaries.list",
    ),
    Verb(
        "summaries:get",
        "The summary of a document.",
        p.OfDocument,
        Summary,
        lambda engine, asked: wire(_known(lambda: engine.summaries.get(asked.document), "documentId")),
        "summaries.get",
    ),
    Verb(
        "summaries:set",
        "Replace the summary of a document.",
        p.NewSummary,
        Summary,
        lambda engine, asked: wire(engine.summaries.set(asked.document, asked.text)),
        "summaries.set",
    ),
    Verb(
        "summaries:delete",
        "Remove the summary of a document.",
        p.OfDocument,
        {"documentId": str},
        _delete_summary,
        "summaries.delete",
    ),
    Verb(
        "code:subgraph",
        "What calls, references, inherits, imports and overrides what around a symbol.",
        p.Around,
        results.CodeAround,
        _subgraph,
        "subgraph",
        "subgraph",
        "subgraph",
    ),
    Verb("index:status", "What the index is doing and what it holds.", p.Params, results.Status, _status, "status"),
    Verb("index:refresh", "Make the index equal to the folder now.", p.Params, results.Status, _refresh, "refresh"),
    Verb(
        "index:wait",
        "Wait for the build to end.",
        p.Waiting,
        results.Waited,
        lambda engine, asked: {"done": engine.wait(asked.timeout_ms / 1000)},
        "wait",
    ),
    Verb("index:cancel", "Stop the build.", p.Params, results.Status, _cancel, "cancel"),
)
"""Every verb that a host may ask; the channel answers all of them."""

_BY_NAME: Final = {one.name: one for one in VERBS}
