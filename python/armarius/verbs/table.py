"""The table of verbs: what a host may ask of a project, with its request, its result and the call behind it."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import armarius.doors as doors
from armarius.arguments import Bounds
from armarius.codex.model import Constraint, Deleted, Entity, Memory, Pin, RejectedName, Relation, Summary
from armarius.codex.proposals import ProposedName
from armarius.errors import BudgetError, ContextWarning, ContractError, UnknownId
from armarius.io.files import warnings_without_paths
from armarius.prompt.profile import BudgetProfile
from armarius.prompt.render import Difference, PromptPlace
from armarius.requests import AssembleRequest, AssembleResult, InspectRequest, InspectResult, Wire, wire_name
from armarius.search.contradictions.statements import Statement
from armarius.validation import shown
from armarius.verbs import params as p
from armarius.verbs import schemas as s
from armarius.verbs.schemas import Verb
from armarius.verbs.wire import (
    Positions,
    account_wire,
    document_wire,
    match_wire,
    mention_wire,
    positions_of,
    summary,
    why_wire,
    wire,
)
from armarius.warnings import INDEX_BUILDING

if TYPE_CHECKING:
    from armarius.engine import ContextEngine as Engine
    from armarius.engine.replies import Proposals
    from armarius.prompt.report.pack import Pack
    from armarius.workspace.folder import LocalNovel, LocalShelf

Json = dict[str, Any]
Methods = dict[str, Callable[[Mapping[str, Any]], Any]]
Answer = TypeVar("Answer", bound=Callable[..., Any])


VERBS: Final[list[Verb]] = []
"""Every verb that a host may ask of a project; the channel answers all of them."""
WRITES: Final[list[Verb]] = []
"""What writes the texts of a project: of one in a folder only where that is allowed."""
SHELF: Final[list[Verb]] = []
"""What a host may ask of many projects together; of folders only the first, on a server the first two."""


def methods_of(engine: "Engine", *, write: bool = False) -> Methods:
    """The methods of the channel over one engine, with `WRITES` if allowed; they may be called from any thread."""
    return {row.name: row.over(engine) for row in (*VERBS, *(WRITES if write else ()))}


def verb(name: str) -> Verb:
    """The row of a method of the channel; KeyError for an unknown one."""
    for row in VERBS:
        if row.name == name:
            return row
    raise KeyError(name)


def _verb(
    name: str,
    result: Any,  # noqa: ANN401 - a type
    python: str,
    *,
    command: str = "",
    params: type[Wire] | None = None,
    about: str = "",
    table: list[Verb] = VERBS,
) -> Callable[[Answer], Answer]:
    """Makes a row of a function of the engine and the request; its docstring is what the verb does.

    A list, which has `items`, has `warnings` too.
    """
    if isinstance(result, dict) and "items" in result:
        result = {**result, "warnings": list[str]}

    def decorate(answer: Answer) -> Answer:
        kind = params or answer.__annotations__["request"]
        table.append(Verb(name, about or str(answer.__doc__), kind, result, answer, python, command))
        return answer

    return decorate


def _known(call: Callable[[], Any], field: str = "id") -> Any:  # noqa: ANN401 - what the call returns
    """What `call` returns; an unknown id is said to be the `field` that was sent."""
    try:
        return call()
    except UnknownId as error:
        raise UnknownId(f"params.{field}: {error.message}", error.near) from None


def _items(results: Any, at: Positions | None = None) -> Json:  # noqa: ANN401 - dataclasses of the engine
    items = [wire(item) if at is None else wire(item, at) for item in results]
    return {"items": items, "warnings": _texts(getattr(results, "warnings", ()))}


def _texts(warnings: Iterable[ContextWarning]) -> list[str]:
    return [str(warning) for warning in warnings]


def _stale_warnings(engine: "Engine") -> list[str]:
    """What the index lacks, for an answer that does not say it; ask before that answer is made."""
    return _texts(warning for warning in engine.index.freshen() if warning.code == INDEX_BUILDING.code)


@_verb("context:prompt:assemble", AssembleResult, "assemble", command="assemble")
def _assemble(engine: "Engine", request: AssembleRequest) -> Json:
    """A prompt within its budget, and its account."""
    return engine.assemble(request).to_wire()


@_verb("context:prompt:inspect", InspectResult, "inspect", command="inspect")
def _inspect(engine: "Engine", request: InspectRequest) -> Json:
    """What `assemble` would send, layer by layer; never the prompt."""
    return engine.inspect(request).to_wire()


def _pack(engine: "Engine", request: AssembleRequest) -> "Pack":
    """The pack of a request, without what the verb adds to it."""
    return engine.assemble(AssembleRequest(**{name: getattr(request, name) for name in AssembleRequest.model_fields}))


@_verb("context:prompt:account", s.Account, "assemble")
def _account(engine: "Engine", request: AssembleRequest) -> Json:
    """What is in the prompt and what is not, with a title and a reason for each; never the prompt."""
    return account_wire(_pack(engine, request), request.position_encoding)


@_verb("context:prompt:why", s.Why, "assemble")
def _why(engine: "Engine", request: p.WhyRequest) -> Json:
    """Why something is in the prompt or is not, and what would change it."""
    return why_wire(_pack(engine, request), request.thing, request.position_encoding)


@_verb("context:prompt:messages", s.MessagesResult, "assemble")
def _messages(engine: "Engine", request: p.MessagesRequest) -> Json:
    """The prompt as messages to send to a provider, with its cache marker."""
    pack = _pack(engine, request)
    made, names = pack.to_messages(request.form), set(map(wire_name, s.MessagesResult.model_fields))
    fields = {name: value for name, value in pack.to_wire().items() if name in names}
    return {**fields, **(made if isinstance(made, dict) else {"messages": made})}


@_verb("context:prompt:whatif", s.Account, "assemble")
def _what_if(engine: "Engine", request: p.WhatIfRequest) -> Json:
    """The account of the same candidates under another budget."""
    return account_wire(_pack(engine, request).what_if(budget=request.other_budget), request.position_encoding)


@_verb("context:prompt:diff", Difference, "assemble")
def _diff(engine: "Engine", request: p.DiffRequest) -> Json:
    """What changes from the prompt to the one of the request with other fields; entries are sources."""
    sent = {name: value for name, value in request.to_wire().items() if name != "other"}
    other = AssembleRequest.sent({**sent, **request.other})
    return wire(engine.assemble(other).diff(_pack(engine, request)))


@_verb("context:budget:get", BudgetProfile, "budget_profile")
def _budget(engine: "Engine", request: p.Params) -> Mapping[str, Any]:
    """How the project divides its prompts, with the version that an update names."""
    return engine.budget_profile().to_wire()


@_verb("context:budget:update", BudgetProfile, "update_budget_profile")
def _update_budget(engine: "Engine", request: p.UpdateBudget) -> Mapping[str, Any]:
    """Replace the profile, if it is still at `version`; CONTEXT_BUDGET_CONFLICT if not."""
    try:
        wanted = BudgetProfile.from_wire(request.profile)
    except BudgetError as error:
        raise BudgetError(f"profile: {error.message}") from None
    return engine.update_budget_profile(wanted, version=request.version).to_wire()


def _records(
    room: str, of: "Callable[[Engine], Any]", kind: type, new: type[p.Params], changed: type[p.ById], what: str
) -> None:
    """List, create, update and delete of one collection."""
    listed: Any = list[kind]  # type: ignore[valid-type]

    @_verb(f"{room}:list", {"items": listed}, f"{room}.list", about=f"Every {what}.")
    def of_all(engine: "Engine", request: p.Params) -> Json:
        return _items(of(engine).list())

    @_verb(f"{room}:create", kind, f"{room}.create", params=new, about=f"Add a {what}.")
    def create(engine: "Engine", request: p.Params) -> Json:
        return wire(of(engine).create(**request.stated()))

    @_verb(f"{room}:update", kind, f"{room}.update", params=changed, about=f"Change what is sent of a {what}.")
    def update(engine: "Engine", request: p.ById) -> Json:
        return wire(_known(lambda: of(engine).update(request.id, **request.stated("id"))))

    @_verb(f"{room}:delete", {"id": str}, f"{room}.delete", about=f"Remove a {what}.")
    def delete(engine: "Engine", request: p.ById) -> Json:
        _known(lambda: of(engine).delete(request.id))
        return {"id": request.id}


_records(
    "constraints", lambda engine: engine.constraints, Constraint, p.NewConstraint, p.ChangedConstraint,
    "rule that every prompt states",
)  # fmt: skip
_records("memories", lambda engine: engine.memories, Memory, p.NewMemory, p.ChangedMemory, "memory")


@_verb("pins:list", {"items": list[Pin]}, "pins.list")
def _pins(engine: "Engine", request: p.Params) -> Json:
    """What is in every prompt, or in none."""
    return _items(engine.pins.list())


@_verb("pins:add", Pin, "pins.add")
def _pin(engine: "Engine", request: p.NewPin) -> Json:
    """Pin or mute something."""
    return wire(_known(lambda: engine.pins.add(request.target, mute=request.mute, document=request.document), "target"))


@_verb("pins:remove", {"target": str}, "pins.remove")
def _unpin(engine: "Engine", request: p.Target) -> Json:
    """Undo a pin or a mute."""
    _known(lambda: engine.pins.remove(request.target, document=request.document), "target")
    return {"target": request.target}


_LISTED = {"items": list[s.ListedEntity], "rejected": list[RejectedName]}


@_verb("entities:list", _LISTED, "entities", command="entities")
def _entities(engine: "Engine", request: p.Params) -> Json:
    """Every known entity with its number of mentions; the names that were taken for no entity, and why."""
    entities = engine.entities()
    items = [{**wire(entity), "mentions": entities.mentions.get(entity.id, 0)} for entity in entities]
    rejected = [wire(item) for item in entities.rejected]
    return {"items": items, "rejected": rejected, "warnings": _texts(entities.warnings)}


@_verb("entities:get", Entity, "entity")
def _entity(engine: "Engine", request: p.ById) -> Json:
    """One entity, by id, name or alias."""
    return wire(_known(lambda: engine.entity(request.id)))


@_verb("entities:card", {"card": str}, "card")
def _card(engine: "Engine", request: p.CardOf) -> Json:
    """The card of an entity as a prompt shows it."""
    return {"card": _known(lambda: engine.card(request.id, as_of=request.as_of))}


def _stated_fields(request: p.NewEntity, *without: str) -> Json:
    """What is sent of an entity; what is no longer to be stated is None."""
    facts = {} if request.facts is None else {"facts": [fact.model_dump(exclude_none=True) for fact in request.facts]}
    return {**request.stated("facts", "unset", *without), **facts, **dict.fromkeys(getattr(request, "unset", ()))}


@_verb("entities:create", Entity, "codex.create")
def _create_entity(engine: "Engine", request: p.NewEntity) -> Json:
    """Describe an entity, in `.armarius/codex.toml`."""
    return wire(engine.codex.create(request.name, **_stated_fields(request, "name")))


@_verb("entities:update", Entity, "codex.update")
def _update_entity(engine: "Engine", request: p.ChangedEntity) -> Json:
    """Change what is sent of an entity."""
    return wire(_known(lambda: engine.codex.update(request.id, **_stated_fields(request, "id"))))


@_verb("entities:preview", {"path": str, "diff": str, "digest": str}, "codex.preview")
def _preview_entity(engine: "Engine", request: p.ChangedEntity) -> Json:
    """The change that `entities:update` would make to which file, as a unified diff; nothing is written."""
    edit = _known(lambda: engine.codex.preview(request.id, **_stated_fields(request, "id", "force", "expect")))
    return {"path": edit.path, "diff": edit.diff, "digest": edit.digest}


@_verb("entities:delete", Deleted, "codex.delete")
def _delete_entity(engine: "Engine", request: p.DeletedEntity) -> Json:
    """Remove an entity from where it is described."""
    return wire(_known(lambda: engine.codex.delete(request.id, relations=request.relations)))


@_verb("entities:undo", {"items": list[str]}, "codex.undo")
def _undo(engine: "Engine", request: p.Params) -> Json:
    """Take back the last edit of a page by `entities:update` or `entities:delete`; the files that it changed."""
    return _items(engine.codex.undo())


@_verb("entities:relations", {"items": list[Relation]}, "codex.relations")
def _relations(engine: "Engine", request: p.RelationsOf) -> Json:
    """Relations of an entity, or all."""
    stale = _stale_warnings(engine)
    entity = request.id and _known(lambda: engine.entity(request.id)).id
    relations = [relation for relation in engine.codex.relations() if entity in ("", relation.source, relation.target)]
    return {**_items(relations), "warnings": stale}


@_verb("entities:relate", p.NewRelation, "codex.relate")
def _relate(engine: "Engine", request: p.NewRelation) -> Json:
    """Add a relation."""
    chapters = {"since": request.since, "until": request.until}
    engine.codex.relate(request.source, request.target, request.type, **chapters)
    return {"source": request.source, "target": request.target, "type": request.type, **chapters}


@_verb("entities:unrelate", p.Ends, "codex.unrelate")
def _unrelate(engine: "Engine", request: p.Ends) -> Json:
    """Remove a relation."""
    try:
        engine.codex.unrelate(request.source, request.target, request.type)
    except UnknownId as error:
        raise UnknownId(f"params: {error.message}", error.near) from None
    return {"source": request.source, "target": request.target, "type": request.type}


@_verb("entities:detect", {"items": list[s.Matched]}, "detect", command="detect")
def _detect(engine: "Engine", request: p.InText) -> Json:
    """The known entities that a text names: one match each, the earliest, by position."""
    stale, at = _stale_warnings(engine), positions_of(engine, request.position_encoding)
    return {"items": [match_wire(match, at, request.text) for match in engine.detect(request.text)], "warnings": stale}


@_verb("entities:mentions", {"items": list[s.Mentioned]}, "mentions")
def _mentions(engine: "Engine", request: p.InText) -> Json:
    """Every mention of a known entity in a text."""
    stale, at = _stale_warnings(engine), positions_of(engine, request.position_encoding)
    return {"items": [mention_wire(hit, at, request.text) for hit in engine.mentions(request.text)], "warnings": stale}


@_verb("entities:evidence", {"items": list[Statement]}, "evidence", command="evidence")
def _evidence(engine: "Engine", request: p.EvidenceOf) -> Json:
    """Everything the project says about an entity; competing statements are marked."""
    options = request.stated("name", "position_encoding")
    results = _known(lambda: engine.evidence(request.name, **options), "name")
    return _items(results, positions_of(engine, request.position_encoding))


@_verb("entities:propose", {"items": list[s.Proposed]}, "propose", command="propose")
def _propose(engine: "Engine", request: p.Proposing) -> Json:
    """Names that the chapters use and no profile describes."""
    at = positions_of(engine, request.position_encoding)

    def place(proposal: ProposedName) -> int:
        return (at.span(proposal.document, (proposal.position, proposal.position)) or [proposal.position])[0]

    stale, proposals = _stale_warnings(engine), engine.propose(least=request.least, known=request.known)
    return {"items": [{**wire(proposal), "position": place(proposal)} for proposal in proposals], "warnings": stale}


@_verb("documents:list", {"items": list[s.DocumentSummary], "total": int}, "documents")
def _documents(engine: "Engine", request: p.Listing) -> Json:
    """Documents by path, without their text."""
    bounds = Bounds(request.chapters, request.kinds)
    every = engine.documents()
    documents = [document for document in every if bounds.holds(document.kind, document.chapter)]
    items = [summary(document) for document in documents[request.offset :][: request.limit]]
    return {"items": items, "total": len(documents), "warnings": _texts(every.warnings)}


@_verb("documents:get", s.DocumentText, "document")
def _document(engine: "Engine", request: p.Reading) -> Json:
    """One document, with its paragraphs if they are asked for."""
    document = engine.document(request.document)
    answer = document_wire(document, request.position_encoding, paragraphs=request.paragraphs)
    return answer if request.lines is None else {**answer, "text": document.lines(*request.lines)}


@_verb("documents:search", {"items": list[s.FoundPassage]}, "search")
def _search(engine: "Engine", request: p.Searching) -> Json:
    """Paragraphs that hold the words as written, best first."""
    hits = engine.search(request.query, **request.stated("query", "position_encoding"))
    return _items(hits, positions_of(engine, request.position_encoding))


@_verb("documents:find", s.FoundSentences, "find", command="find")
def _find(engine: "Engine", request: p.Finding) -> Json:
    """Sentences that hold the words together or any of them, or answer a question: a page, with path and line."""
    hits = engine.find(**request.stated("position_encoding"))
    fields = {"missing": list(hits.missing), "confidence": hits.confidence}
    fields |= {} if hits.next_cursor is None else {"nextCursor": hits.next_cursor}
    return {**_items(hits, positions_of(engine, request.position_encoding)), **fields}


@_verb("documents:retrieve", s.Listed[s.Found], "retrieve", command="retrieve")
def _retrieve(engine: "Engine", request: p.Retrieving) -> Json:
    """The documents and sections that answer a question, best first, with every reason."""
    answer = engine.retrieve(**request.stated("excerpts", "position_encoding"))
    result = _items(answer, positions_of(engine, request.position_encoding))
    if request.excerpts:
        for item, hit in zip(result["items"], answer, strict=True):
            item["text"] = engine.excerpt(hit, chapters=request.chapters, as_of=request.as_of)
    result |= {"outcome": answer.outcome, "confidence": answer.confidence}
    if Bounds(request.chapters, request.kinds, request.as_of):
        result["omitted"] = [wire(gone) for gone in answer.omitted]
    if request.messages:
        result["carried"] = list(answer.carried)
    return result


@_verb("documents:locate", {"items": list[PromptPlace]}, "locate")
def _locate(engine: "Engine", request: p.Locating) -> Json:
    """Where quoted words stand, in the open document first."""
    live = {} if request.text is None else {request.document: request.text}
    at = positions_of(engine, request.position_encoding, live)
    stale = _stale_warnings(engine)
    return {**_items(engine.locate(request.quote, document=request.document, text=request.text), at), "warnings": stale}


@_verb("project:map", s.ProjectMap, "map", command="map")
def _map(engine: "Engine", request: p.Params) -> Json:
    """What every file is taken for, how sure that is, and the line that settles each doubt."""
    return engine.map().to_wire()


@_verb("project:setKind", s.ProjectMap, "set_kind")
def _set_kind(engine: "Engine", request: p.NewKind) -> Json:
    """Say what files are, in armarius.toml; the map after it."""
    return engine.set_kind(request.pattern, request.kind).to_wire()


@_verb("project:understand:request", s.Understanding, "understanding_request", command="understand")
def _understanding(engine: "Engine", request: p.Params) -> Json:
    """One question to a language model about the project, its files and its people; at most 6,000 tokens."""
    made = engine.understanding_request()
    return {"text": made.text, "messages": list(made), "tokens": made.tokens, "hash": made.hash}


def _read_proposals(engine: "Engine", request: p.ModelReply) -> "Proposals":
    return engine.understanding_request().parse(request.reply, model=request.model, hash=request.hash)


@_verb("project:understand:parse", s.Proposals, "understanding_request")
def _parse_reply(engine: "Engine", request: p.ModelReply) -> Json:
    """What a model's reply proposes; nothing is applied."""
    return _read_proposals(engine, request).to_wire()


@_verb("project:understand:apply", s.Proposals, "understanding_request")
def _apply_reply(engine: "Engine", request: p.AppliedReply) -> Json:
    """Write what a model's reply proposes into armarius.toml, all or nothing; what was written."""
    proposals = _read_proposals(engine, request)
    if unknown := {*request.without} - {proposal.name for proposal in proposals}:
        raise ContractError(f"params.without: {shown(min(unknown))} is the name of no proposal")
    proposals[:] = [proposal for proposal in proposals if proposal.name not in request.without]
    proposals.apply(declared=request.declared)
    return proposals.to_wire()


@_verb("summaries:list", {"items": list[Summary], "stale": list[str]}, "summaries.list")
def _summaries(engine: "Engine", request: p.Params) -> Json:
    """Every summary, and which documents have a stale one."""
    return {**_items(engine.summaries.list()), "stale": list(engine.summaries.stale())}


@_verb("summaries:get", Summary, "summaries.get")
def _summary(engine: "Engine", request: p.OfDocument) -> Json:
    """The summary of a document."""
    return wire(_known(lambda: engine.summaries.get(request.document), "documentId"))


@_verb("summaries:set", Summary, "summaries.set")
def _set_summary(engine: "Engine", request: p.NewSummary) -> Json:
    """Replace the summary of a document."""
    return wire(engine.summaries.set(request.document, request.text, passages=request.passages))


@_verb("summaries:delete", {"documentId": str}, "summaries.delete")
def _delete_summary(engine: "Engine", request: p.OfDocument) -> Json:
    """Remove the summary of a document."""
    _known(lambda: engine.summaries.delete(request.document), "documentId")
    return {"documentId": request.document}


@_verb("summaries:requests", {"items": list[s.SummaryQuestion]}, "summaries.requests", command="summaries")
def _summary_requests(engine: "Engine", request: p.SummariesDue) -> Json:
    """What to ask a language model for the summaries that are missing or stale: short chapters together."""
    rows = engine.summaries.requests(limit=request.limit)
    items = [
        {"documents": [doc.path for doc in row.documents], "text": row.text, "messages": [*row], "tokens": row.tokens}
        for row in rows
    ]
    return {"items": items, "warnings": _stale_warnings(engine)}


@_verb("summaries:parse", {"items": list[s.ParsedSummary], "refused": dict[str, str]}, "summaries.request")
def _parsed_summaries(engine: "Engine", request: p.SummariesReply) -> Json:
    """The summaries in a model's reply, and by path why a chapter has none; nothing is kept until `summaries:set`."""
    replies = engine.summaries.request(*request.documents).parse_each(request.reply)
    made = {path: reply for path, reply in replies.items() if not isinstance(reply, ContractError)}
    items = [
        {"documentId": path, "text": reply.text, "passages": [*map(wire, reply.passages)]}
        for path, reply in made.items()
    ]
    refused = {path: reply.message for path, reply in replies.items() if isinstance(reply, ContractError)}
    return {"items": items, "refused": refused, "warnings": []}


@_verb("books:list", {"items": list[s.ListedBook], "problems": dict[str, str]}, "books.values", command="export")
def _books(engine: "Engine", request: p.Params) -> Json:
    """Every lorebook, and why one that lies in the project cannot be read, by id."""
    books, problems = engine.books.look()
    return {"items": [book.to_wire() for book in books.values()], "problems": dict(problems), "warnings": []}


@_verb("books:get", s.BookText, "books.__getitem__")
def _book(engine: "Engine", request: p.ById) -> Json:
    """A lorebook with its entries, by id or name."""
    return _known(lambda: engine.books[request.id]).to_wire(texts=True)  # type: ignore[no-any-return]


@_verb("books:import", s.Imported, "importing.add", command="import")
def _import_book(engine: "Engine", request: p.BookFile) -> Json:
    """Bring a lorebook, card, vault or export of another program in; the report says what has no effect here."""
    try:
        data = b64decode(request.data, validate=True)
    except ValueError:
        raise ContractError("params.data: expected the bytes of a file, in base64") from None
    bring = engine.importing.preview if request.preview else engine.importing.add
    return bring(data, **request.stated("data", "preview")).to_wire()


@_verb("books:export", {"data": str, "losses": list[s.FieldWithoutEffect]}, "books.__getitem__")
def _export_book(engine: "Engine", request: p.BookAs) -> Json:
    """A lorebook as a file, in base64, and what its format cannot say; unchanged, it is the file that it came in."""
    export = _known(lambda: engine.books[request.id]).exported(request.to)
    return {"data": b64encode(export.data).decode(), "losses": [loss._asdict() for loss in export.losses]}


@_verb("books:update", s.BookText, "books.update")
def _update_book(engine: "Engine", request: p.ChangedBook) -> Json:
    """Change what is sent of a lorebook; a changed one makes no rules."""
    book = _known(lambda: engine.books[request.id])
    values = request.stated("id", "entries")
    for id_, change in request.entries.items():
        if change is None:
            book = _known(partial(book.without, id_), f"entries.{id_}")
            continue
        entry = next((item for item in book if item.id == id_), None) or doors.Entry(id_)
        fields = {name: value for name, value in change if value is not None and name != "keys"}
        if change.keys is not None:
            fields["match__keys"] = tuple(doors.Key(key.text, key.kind) for key in change.keys)
        book = book.with_entry(entry.changed(**fields))
    return engine.books.update(replace(book, **values)).to_wire(texts=True)


@_verb("books:delete", {"id": str}, "books.delete")
def _delete_book(engine: "Engine", request: p.ById) -> Json:
    """Take a lorebook out of the project, with the file that it came in."""
    _known(lambda: engine.books.delete(request.id))
    return {"id": request.id}


@_verb("books:active", {"active": list[s.ActiveEntry], "left": list[s.ActiveEntry], "state": Json}, "active")
def _active_entries(engine: "Engine", request: p.Activating) -> Json:
    """Which lorebook entries a chat or a text wakes, as the books' own programs would, and which nearly."""
    state = None if request.state is None else doors.State.from_wire(request.state)
    return engine.active(**request.stated("state"), state=state).to_wire()


def around(engine: "Engine", request: p.Around) -> "doors.Subgraph | doors.TextMatches":
    """A subgraph as a wire may say it: no warning names a path of this machine.

    Raises:
        ContractError: There is no such symbol, or several.
    """
    try:
        graph = engine.subgraph(request.symbol, **request.stated("symbol", "include_tree"))
    except ValueError as error:
        raise ContractError(f"params.symbol: {error}") from None
    return replace(graph, warnings=warnings_without_paths(graph.warnings, engine.root))


@_verb("code:subgraph", s.CodeAround, "subgraph", command="subgraph")
def _subgraph(engine: "Engine", request: p.Around) -> Json:
    """What calls, references, inherits, imports and overrides what around a symbol."""
    graph = around(engine, request)
    plain = graph.to_wire()
    if request.include_tree:
        plain["tree"] = doors.tree(graph) if isinstance(graph, doors.Subgraph) else doors.matches(graph)
    return plain


@_verb("index:status", s.Status, "status")
def _status(engine: "Engine", request: p.Params) -> Json:
    """What the index is doing and what it holds."""
    status = wire(engine.status())
    status.pop("path")  # of this machine
    return status


@_verb("index:refresh", s.Status, "refresh")
def _refresh(engine: "Engine", request: p.Params) -> Json:
    """Make the index equal to the folder now."""
    engine.refresh()
    return _status(engine, request)


@_verb("index:wait", s.Waited, "wait")
def _wait(engine: "Engine", request: p.Waiting) -> Json:
    """Wait for the build to end."""
    return {"done": engine.wait(request.timeout_ms / 1000)}


@_verb("index:cancel", s.Status, "cancel")
def _cancel(engine: "Engine", request: p.Params) -> Json:
    """Stop the build after the transaction that it is in."""
    engine.cancel()
    return _status(engine, request)


@dataclass(frozen=True, slots=True)
class _Tenant:
    """The projects of a shelf that a channel may name."""

    shelf: "doors.Shelf | LocalShelf"
    name: str

    def project(self, project_id: str, *, create: bool = False) -> "doors.Novel | LocalNovel":
        return self.shelf.project(project_id, tenant=self.name, create=create)


@_verb("projects:list", {"items": list[s.ListedProject]}, "projects", table=SHELF)
def _projects(of: _Tenant, request: p.ListProjects) -> Json:
    """The projects there are, by id."""
    tenant = {"tenant": of.name} if of.name else {}
    projects = of.shelf.projects(limit=request.limit, after=request.after, **tenant)
    plain = ({name: v if isinstance(v, str | int) else str(v) for name, v in wire(row).items()} for row in projects)
    return {
        "items": [{name: value for name, value in row.items() if name != "folder"} for row in plain],
        "warnings": [],
    }


@_verb("projects:delete", {"projectId": str}, "delete", table=SHELF)
def _delete_project(of: _Tenant, request: p.OneProject) -> Json:
    """With `--store` or `--memory`: delete a project with all that it holds."""
    of.shelf.delete(request.project_id, tenant=of.name)
    return {"projectId": request.project_id}


@_verb("projects:snapshot", {"data": str}, "snapshot", table=SHELF)
def _snapshot(of: _Tenant, request: p.OneProject) -> Json:
    """With `--memory`: texts, records and index of a project, in base64, for `projects:restore` at the next start."""
    return {"data": b64encode(of.project(request.project_id).snapshot()).decode()}


@_verb("projects:restore", {"projectId": str, "warnings": list[str]}, "restore", table=SHELF)
def _restore(of: _Tenant, request: p.Snapshot) -> Json:
    """With `--memory`: a new project of a snapshot; what is damaged or of another version is left out (`warnings`)."""
    try:
        data = b64decode(request.data)
    except ValueError:
        data = b""
    warnings = cast("LocalShelf", of.shelf).restore(request.project_id, data)
    return {"projectId": request.project_id, "warnings": _texts(warnings)}


@_verb("documents:write", {"version": int}, "write", table=WRITES)
def _write(engine: "Engine", request: p.WriteFiles) -> Json:
    """Replace and remove files of a project, all or none; on a server others take the version as `atLeast`."""
    return {"version": engine.write(request.files, remove=request.remove, expect=request.expect)}


@_verb("documents:rename", {"version": int}, "move", table=WRITES)
def _rename(engine: "Engine", request: p.RenamedDocument) -> Json:
    """Give a document another path, where no file is, with its summary and its pins."""
    return {"version": engine.move(request.document, request.to)}


@_verb("documents:delete", {"version": int}, "write", table=WRITES)
def _delete(engine: "Engine", request: p.OfDocument) -> Json:
    """Remove a document."""
    return {"version": engine.write(remove=[engine.document(request.document).path])}


def methods_of_shelf(shelf: "doors.Shelf | LocalShelf", tenant: str | None = None, *, write: bool = False) -> Methods:
    """The methods over many projects, from any thread: those of `SHELF`, and every verb with `projectId`.

    Args:
        shelf: On a server, where a verb takes `atLeast` too, a version that a write gave; or of folders.
        tenant: Whose projects on a server; none of the methods can name another's.
        write: Whether files of folders may be written; those on a server and in memory may.
    """
    of, named = _Tenant(shelf, tenant or ""), {"projectId", "createIfMissing"}
    in_memory = getattr(shelf, "in_memory", False)
    own, rows = tenant is not None or in_memory, SHELF if in_memory else SHELF[: 1 if tenant is None else 2]

    def of_project(row: Verb) -> Callable[[Mapping[str, Any]], Any]:
        def call(sent: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
            request = p.ProjectOfRequest(**{name: sent[name] for name in named & sent.keys()})
            novel = of.project(request.project_id, create=request.create_if_missing)
            rest = {name: value for name, value in sent.items() if name not in {*named, "atLeast"}}
            if row in WRITES:  # on a server a write makes the project
                return row.answer(novel, row.params(**rest))
            with novel.asked(sent.get("atLeast")):
                return row.over(novel)({**rest, "projectId": ""})

        return call

    verbs = (*VERBS, *(WRITES if own or write else ()))
    return {row.name: of_project(row) for row in verbs} | {
        row.name: lambda sent, row=row: row.answer(of, row.params(**sent)) for row in rows
    }
