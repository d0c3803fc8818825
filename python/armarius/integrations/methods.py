"""What a host may ask over the JSON channel: a table from method names to calls of the engine.

context:prompt:assemble   request -> result                    as `contract.AssembleRequest` and `AssembleResult`
context:prompt:inspect    request -> inspection
context:budget:get        {} -> profile
context:budget:update     {version, profile} -> profile       CONTEXT_BUDGET_CONFLICT on a stale version
constraints:list          {} -> {items}
constraints:create        {text, source?, priority?, id?} -> constraint, or the one that says the same already
constraints:update        {id, text?, source?, priority?} -> constraint
constraints:delete        {id} -> {id}
pins:list                 {} -> {items}
pins:add                  {target, mute?, documentId?} -> pin; what was pinned and is muted now is muted
pins:remove               {target, documentId?} -> {target}
entities:detect           {text} -> {items}
documents:search          {query, limit?, chapters?, kinds?, asOf?, also?} -> {items}
documents:retrieve        {query, limit?, documentId?, chapters?, kinds?, asOf?, also?, messages?}
                          -> {items, outcome, warnings}
documents:locate          {quote, documentId?, text?, positionEncoding?} -> {items}
index:status              {} -> status

`documents:retrieve` with chapters, kinds or asOf says what was left out too, as `omitted`, and with messages what was
carried over from them, as `carried`. Every method takes a
`projectId` too and refuses another project's with CONTEXT_SCOPE_VIOLATION; "" or none is this one.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from armarius.assembly.fit.profile import BudgetProfile
from armarius.assembly.report.places import Place
from armarius.bounds import read_chapter, read_chapters, read_kinds
from armarius.buffer import cleaned, units
from armarius.camel import camel
from armarius.contract import AssembleRequest, InspectRequest, python_name
from armarius.errors import BudgetError, ContractError, UnknownId
from armarius.hits import Hit
from armarius.messages import read_messages
from armarius.text.matcher import Match
from armarius.wordings import read_wordings

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["match_wire", "methods_of", "wire"]

Params = Mapping[str, Any]
_REQUIRED = object()
_BOUNDS: dict[str, Callable[[object], object]] = {
    "chapters": read_chapters,
    "kinds": read_kinds,
    "asOf": read_chapter,
    "also": read_wordings,
}


def methods_of(engine: "ContextEngine") -> dict[str, Callable[[Params], Any]]:
    """The table over one engine; every function may be called from any thread."""

    def update_budget(params: Params) -> dict[str, Any]:
        version, profile = _take(params, {"version": int, "profile": dict})
        try:
            wanted = BudgetProfile.from_wire(profile)
        except TypeError as error:
            raise BudgetError(f"profile: {error}") from None
        return engine.update_budget_profile(wanted, version=version).to_wire()

    def create(params: Params) -> dict[str, Any]:
        text, source, priority, id_ = _take(params, {"text": str}, source="user", priority=0, id="")
        return wire(engine.constraints.create(text, source=source, priority=priority, id=id_))

    def update(params: Params) -> dict[str, Any]:
        (id_,) = _take({"id": params.get("id", _REQUIRED)}, {"id": str})
        changes = {key: value for key, value in params.items() if key != "id" and value is not None}
        return wire(_known(lambda: engine.constraints.update(id_, **changes)))

    def delete(params: Params) -> dict[str, Any]:
        (id_,) = _take(params, {"id": str})
        _known(lambda: engine.constraints.delete(id_))
        return {"id": id_}

    def pin(params: Params) -> dict[str, Any]:
        target, mute, document = _take(params, {"target": str}, mute=False, documentId="")
        return wire(engine.pins.add(target, mute=mute, document=document))

    def unpin(params: Params) -> dict[str, Any]:
        target, document = _take(params, {"target": str}, documentId="")
        engine.pins.remove(target, document=document)
        return {"target": target}

    def detect(params: Params) -> dict[str, Any]:
        (text,) = _take(params, {"text": str})
        return {"items": [match_wire(match) for match in engine.detect(text)]}

    def search(params: Params) -> dict[str, Any]:
        rest, bounds = _bounded(params)
        query, limit = _take(rest, {"query": str}, limit=10)
        return {"items": [wire(hit) for hit in engine.search(query, limit=limit, **bounds)]}

    def retrieve(params: Params) -> dict[str, Any]:
        rest, bounds = _bounded(params)
        bounded = any(params.get(name) is not None for name in ("chapters", "kinds", "asOf"))
        query, limit, document, said = _take(rest, {"query": str}, limit=5, documentId="", messages=[])
        try:
            messages = read_messages(said)
        except ValueError as error:
            raise ContractError(f"params.messages: {error}") from None
        answer = engine.retrieve(query, limit=limit, document=document, messages=messages, **bounds)
        warnings = [str(warning) for warning in answer.warnings]
        found: dict[str, Any] = {
            "items": [wire(hit) for hit in answer],
            "outcome": answer.outcome,
            "warnings": warnings,
        }
        found |= {"omitted": [wire(gone) for gone in answer.omitted]} if bounded else {}
        return found | {"carried": list(answer.carried)} if messages else found

    def locate(params: Params) -> dict[str, Any]:
        optional = {"documentId": "", "text": "", "positionEncoding": "code-point"}
        quote, document, text, encoding = _take(params, {"quote": str}, **optional)
        live = cleaned(text) if params.get("text") is not None else None
        found = engine.locate(quote, document=document, text=live)
        texts: dict[str, str] = {} if live is None else {document: live}

        def place(one: Place) -> dict[str, Any]:
            if encoding != "code-point" and one.path not in texts:
                texts[one.path] = engine.document(one.path).text
            whole = texts.get(one.path, "")
            return wire(replace(one, span=(units(whole, one.span[0], encoding), units(whole, one.span[1], encoding))))

        units("", 0, encoding)
        return {"items": [place(one) for one in found]}

    own: dict[str, Callable[[Params], Any]] = {
        "context:budget:get": lambda _: engine.budget_profile().to_wire(),
        "context:budget:update": update_budget,
        "constraints:list": lambda _: {"items": [wire(item) for item in engine.constraints.list()]},
        "constraints:create": create,
        "constraints:update": update,
        "constraints:delete": delete,
        "pins:list": lambda _: {"items": [wire(item) for item in engine.pins.list()]},
        "pins:add": pin,
        "pins:remove": unpin,
        "entities:detect": detect,
        "documents:locate": locate,
        "documents:search": search,
        "documents:retrieve": retrieve,
        "index:status": lambda _: _status(engine),
    }
    return {
        "context:prompt:assemble": lambda params: engine.assemble(AssembleRequest.from_wire(params)).to_wire(),
        "context:prompt:inspect": lambda params: engine.inspect(InspectRequest.from_wire(params)).to_wire(),
        **{name: _scoped(engine, method) for name, method in own.items()},
    }


def _scoped(engine: "ContextEngine", method: Callable[[Params], Any]) -> Callable[[Params], Any]:
    """The method without `projectId`, which is checked."""

    def call(params: Params) -> Any:  # noqa: ANN401 - whatever the method returns
        project_id = params.get("projectId")
        project_id = "" if project_id is None else project_id
        if not isinstance(project_id, str):
            raise ContractError(f"params.projectId: expected str, got {type(project_id).__name__}")
        engine.check_project(project_id)
        return method({key: value for key, value in params.items() if key != "projectId"})

    return call


def wire(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any frozen dataclass of the engine
    """A dataclass as plain JSON with camelCase keys; nested dataclasses too; a hit in its own form."""
    if isinstance(value, Hit):
        return value.to_wire()
    return {camel(key): _plain(item) for key, item in asdict(value).items()}


def match_wire(match: Match) -> dict[str, Any]:
    """A match as plain JSON."""
    return {"entityId": match.entity_id, "matchedTerm": match.matched_term, "position": match.position}


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
    if isinstance(value, Mapping):
        return {camel(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _status(engine: "ContextEngine") -> dict[str, Any]:
    status = wire(engine.status())
    # Where the index lives is this machine's business.
    status.pop("path", None)
    return {**status, "warnings": [str(warning) for warning in engine.status().warnings]}


def _take(params: Params, required: Mapping[str, type], **optional: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """The named parameters in order, checked by type; unknown ones are refused. An optional null is absent."""
    unknown = sorted(params.keys() - required.keys() - optional.keys())
    if unknown:
        raise ContractError(f"params.{unknown[0]}: no such parameter")
    values = []
    for name, kind in {**required, **{name: type(default) for name, default in optional.items()}}.items():
        value = params.get(name, _REQUIRED)
        if value is _REQUIRED or (value is None and name in optional):
            value = optional.get(name, _REQUIRED)
        if value is _REQUIRED:
            raise ContractError(f"params.{name}: required")
        if type(value) is not kind:
            raise ContractError(f"params.{name}: expected {kind.__name__}, got {type(value).__name__}")
        values.append(value)
    return tuple(values)


def _bounded(params: Params) -> tuple[Params, dict[str, Any]]:
    """The parameters without those that bound or reword a question, and those, checked, as keywords."""
    keywords: dict[str, Any] = {}
    for name, read in _BOUNDS.items():
        try:
            keywords[python_name(name)] = read(params.get(name))
        except ValueError as error:
            raise ContractError(f"params.{name}: {error}") from None
    return {key: value for key, value in params.items() if key not in _BOUNDS}, keywords


def _known(call: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the call returns
    try:
        return call()
    except UnknownId as error:
        raise UnknownId(f"params.id: {error.message}", error.near) from None
