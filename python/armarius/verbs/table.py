"""The table of verbs: what a host may ask of a project, with its request, its result and the call behind it."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import armarius.doors as doors
from armarius.arguments import Bounds
from armarius.codex.model import Constraint, Deleted, Entity, Memory, Pin, RejectedName, Relation, Summary
from armarius.codex.proposals import ProposedName
from armarius.errors import BudgetError, ContextWarning, ContractError, UnknownId
from armarius.io.folder import warnings_without_paths
from armarius.prompt.profile import BudgetProfile
from armarius.prompt.render import Difference, PromptPlace
from armarius.requests import (
    Account,
    AssembleRequest,
    AssembleResult,
    InspectRequest,
    InspectResult,
    Why,
    Wire,
    wire_name,
)
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
"""What a host may ask of many projects together; of folders only the first."""


def methods_of(engine: "Engine", *, write: bool = False) -> Methods:
    """The methods of the channel over one engine, with `WRITES` if allowed; they may be called from any thread."""
    return {one.name: one.over(engine) for one in (*VERBS, *(WRITES if write else ()))}


def verb(name: str) -> Verb:
    """The row of a method of the channel; KeyError when there is none."""
    for one in VERBS:
        if one.name == name:
            return one
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
        kind = params or answer.__annotations__["asked"]
        table.append(Verb(name, about or str(answer.__doc__), kind, result, answer, python, command))
        return answer

    return decorate


def _known(call: Callable[[], Any], field: str = "id") -> Any:  # noqa: ANN401 - what the call returns
    """What `call` returns; an unknown id is said to be the `field` that was sent."""
    try:
        return call()
    except UnknownId as error:
        raise UnknownId(f"params.{field}: {error.message}", error.near) from None


def _items(found: Any, at: Positions | None = None) -> Json:  # noqa: ANN401 - dataclasses of the engine
    items = [wire(one) if at is None else wire(one, at) for one in found]
    return {"items": items, "warnings": _texts(getattr(found, "warnings", ()))}


def _texts(warnings: Iterable[ContextWarning]) -> list[str]:
    return [str(one) for one in warnings]


def _stale(engine: "Engine") -> list[str]:
    """What the index lacks, for an answer that does not say it; ask before that answer is made."""
    return _texts(one for one in engine.index.freshen() if one.code == INDEX_BUILDING.code)


@_verb("context:prompt:assemble", AssembleResult, "assemble", command="assemble")
def _assemble(engine: "Engine", asked: AssembleRequest) -> Json:
    """A prompt within its budget, and its account."""
    return engine.assemble(asked).to_wire()


@_verb("context:prompt:inspect", InspectResult, "inspect", command="inspect")
def _inspect(engine: "Engine", asked: InspectRequest) -> Json:
    """What `assemble` would send, layer by layer; never the prompt."""
    return engine.inspect(asked).to_wire()


def _pack(engine: "Engine", asked: AssembleRequest) -> "Pack":
    """The pack of a request, without what the verb adds to it."""
    return engine.assemble(AssembleRequest(**{name: getattr(asked, name) for name in AssembleRequest.model_fields}))


@_verb("context:prompt:account", Account, "assemble")
def _account(engine: "Engine", asked: AssembleRequest) -> Json:
    """What is in the prompt and what is not, with a title and a reason for each; never the prompt."""
    return account_wire(_pack(engine, asked), asked.position_encoding)


@_verb("context:prompt:why", Why, "assemble")
def _why(engine: "Engine", asked: p.WhyRequest) -> Json:
    """Why something is in the prompt or is not, and what would change it."""
    return why_wire(_pack(engine, asked), asked.thing, asked.position_encoding)


@_verb("context:prompt:messages", s.MessagesResult, "assemble")
def _messages(engine: "Engine", asked: p.MessagesRequest) -> Json:
    """The prompt as messages to send to a provider, with its cache marker."""
    pack = _pack(engine, asked)
    made, known = pack.to_messages(asked.form), set(map(wire_name, s.MessagesResult.model_fields))
    told = {name: value for name, value in pack.to_wire().items() if name in known}
    return {**told, **(made if isinstance(made, dict) else {"messages": made})}


@_verb("context:prompt:whatif", Account, "assemble")
def _what_if(engine: "Engine", asked: p.WhatIfRequest) -> Json:
    """The account of the same candidates under another budget."""
    return account_wire(_pack(engine, asked).what_if(budget=asked.other_budget), asked.position_encoding)


@_verb("context:prompt:diff", Difference, "assemble")
def _diff(engine: "Engine", asked: p.DiffRequest) -> Json:
    """What changes from the prompt to the one of the request with other fields; entries are sources."""
    sent = {name: value for name, value in asked.to_wire().items() if name != "other"}
    other = AssembleRequest.sent({**sent, **asked.other})
    return wire(engine.assemble(other).diff(_pack(engine, asked)))


@_verb("context:budget:get", BudgetProfile, "budget_profile")
def _budget(engine: "Engine", asked: p.Params) -> Mapping[str, Any]:
    """How the project divides its prompts, with the version that an update names."""
    return engine.budget_profile().to_wire()


@_verb("context:budget:update", BudgetProfile, "update_budget_profile")
def _update_budget(engine: "Engine", asked: p.UpdateBudget) -> Mapping[str, Any]:
    """Replace the profile, if it is still at `version`; CONTEXT_BUDGET_CONFLICT if not."""
    try:
        wanted = BudgetProfile.from_wire(asked.profile)
    except BudgetError as error:
        raise BudgetError(f"profile: {error.message}") from None
    return engine.update_budget_profile(wanted, version=asked.version).to_wire()


def _records(
    room: str, of: "Callable[[Engine], Any]", kind: type, new: type[p.Params], changed: type[p.ById], what: str
) -> None:
    """List, create, update and delete of one collection."""
    listed: Any = list[kind]  # type: ignore[valid-type]

    @_verb(f"{room}:list", {"items": listed}, f"{room}.list", about=f"Every {what}.")
    def of_all(engine: "Engine", asked: p.Params) -> Json:
        return _items(of(engine).list())

    @_verb(f"{room}:create", kind, f"{room}.create", params=new, about=f"Add a {what}.")
    def create(engine: "Engine", asked: p.Params) -> Json:
        return wire(of(engine).create(**asked.stated()))

    @_verb(f"{room}:update", kind, f"{room}.update", params=changed, about=f"Change what is sent of a {what}.")
    def update(engine: "Engine", asked: p.ById) -> Json:
        return wire(_known(lambda: of(engine).update(asked.id, **asked.stated("id"))))

    @_verb(f"{room}:delete", {"id": str}, f"{room}.delete", about=f"Remove a {what}.")
    def delete(engine: "Engine", asked: p.ById) -> Json:
        _known(lambda: of(engine).delete(asked.id))
        return {"id": asked.id}


_records(
    "constraints", lambda engine: engine.constraints, Constraint, p.NewConstraint, p.ChangedConstraint,
    "rule that every prompt states",
)  # fmt: skip
_records("memories", lambda engine: engine.memories, Memory, p.NewMemory, p.ChangedMemory, "memory")


@_verb("pins:list", {"items": list[Pin]}, "pins.list")
def _pins(engine: "Engine", asked: p.Params) -> Json:
    """What is in every prompt, or in none."""
    return _items(engine.pins.list())


@_verb("pins:add", Pin, "pins.add")
def _pin(engine: "Engine", asked: p.NewPin) -> Json:
    """Pin or mute something."""
    return wire(_known(lambda: engine.pins.add(asked.target, mute=asked.mute, document=asked.document), "target"))


@_verb("pins:remove", {"target": str}, "pins.remove")
def _unpin(engine: "Engine", asked: p.Target) -> Json:
    """Undo a pin or a mute."""
    _known(lambda: engine.pins.remove(asked.target, document=asked.document), "target")
    return {"target": asked.target}


_LISTED = {"items": list[s.ListedEntity], "rejected": list[RejectedName]}


@_verb("entities:list", _LISTED, "entities", command="entities")
def _entities(engine: "Engine", asked: p.Params) -> Json:
    """Every known entity with its number of mentions; the names that were taken for no entity, and why."""
    found = engine.entities()
    items = [{**wire(one), "mentions": found.mentions.get(one.id, 0)} for one in found]
    rejected = [wire(one) for one in found.rejected]
    return {"items": items, "rejected": rejected, "warnings": _texts(found.warnings)}


@_verb("entities:get", Entity, "entity")
def _entity(engine: "Engine", asked: p.ById) -> Json:
    """One entity, by id, name or alias."""
    return wire(_known(lambda: engine.entity(asked.id)))


@_verb("entities:card", {"card": str}, "card")
def _card(engine: "Engine", asked: p.CardOf) -> Json:
    """The card of an entity as a prompt shows it."""
    return {"card": _known(lambda: engine.card(asked.id, as_of=asked.as_of))}


def _stated(asked: p.NewEntity, *without: str) -> Json:
    """What is sent of an entity; what is no longer to be stated is None."""
    facts = {} if asked.facts is None else {"facts": [one.model_dump(exclude_none=True) for one in asked.facts]}
    return {**asked.stated("facts", "unset", *without), **facts, **dict.fromkeys(getattr(asked, "unset", ()))}


@_verb("entities:create", Entity, "codex.create")
def _create_entity(engine: "Engine", asked: p.NewEntity) -> Json:
    """Describe an entity, in `.armarius/codex.toml`."""
    return wire(engine.codex.create(asked.name, **_stated(asked, "name")))


@_verb("entities:update", Entity, "codex.update")
def _update_entity(engine: "Engine", asked: p.ChangedEntity) -> Json:
    """Change what is sent of an entity."""
    return wire(_known(lambda: engine.codex.update(asked.id, **_stated(asked, "id"))))


@_verb("entities:preview", {"path": str, "diff": str, "digest": str}, "codex.preview")
def _preview_entity(engine: "Engine", asked: p.ChangedEntity) -> Json:
    """The change that `entities:update` would make to which file, as a unified diff; nothing is written."""
    edit = _known(lambda: engine.codex.preview(asked.id, **_stated(asked, "id", "force", "expect")))
    return {"path": edit.path, "diff": edit.diff, "digest": edit.digest}


@_verb("entities:delete", Deleted, "codex.delete")
def _delete_entity(engine: "Engine", asked: p.DeletedEntity) -> Json:
    """Remove an entity from where it is described."""
    return wire(_known(lambda: engine.codex.delete(asked.id, relations=asked.relations)))


@_verb("entities:undo", {"items": list[str]}, "codex.undo")
def _undo(engine: "Engine", asked: p.Params) -> Json:
    """Take back the last edit of a page by `entities:update` or `entities:delete`; the files that it changed."""
    return _items(engine.codex.undo())


@_verb("entities:relations", {"items": list[Relation]}, "codex.relations")
def _relations(engine: "Engine", asked: p.RelationsOf) -> Json:
    """Relations of an entity, or all."""
    stale = _stale(engine)
    entity = asked.id and _known(lambda: engine.entity(asked.id)).id
    found = [one for one in engine.codex.relations() if entity in ("", one.source, one.target)]
    return {**_items(found), "warnings": stale}


@_verb("entities:relate", p.NewRelation, "codex.relate")
def _relate(engine: "Engine", asked: p.NewRelation) -> Json:
    """Add a relation."""
    chapters = {"since": asked.since, "until": asked.until}
    engine.codex.relate(asked.source, asked.target, asked.type, **chapters)
    return {"source": asked.source, "target": asked.target, "type": asked.type, **chapters}


@_verb("entities:unrelate", p.Ends, "codex.unrelate")
def _unrelate(engine: "Engine", asked: p.Ends) -> Json:
    """Remove a relation."""
    try:
        engine.codex.unrelate(asked.source, asked.target, asked.type)
    except UnknownId as error:
        raise UnknownId(f"params: {error.message}", error.near) from None
    return {"source": asked.source, "target": asked.target, "type": asked.type}


@_verb("entities:detect", {"items": list[s.Matched]}, "detect", command="detect")
def _detect(engine: "Engine", asked: p.InText) -> Json:
    """The known entities that a text names: one match each, the earliest, by position."""
    stale, at = _stale(engine), positions_of(engine, asked.position_encoding)
    return {"items": [match_wire(one, at, asked.text) for one in engine.detect(asked.text)], "warnings": stale}


@_verb("entities:mentions", {"items": list[s.Mentioned]}, "mentions")
def _mentions(engine: "Engine", asked: p.InText) -> Json:
    """Every mention of a known entity in a text."""
    stale, at = _stale(engine), positions_of(engine, asked.position_encoding)
    return {"items": [mention_wire(one, at, asked.text) for one in engine.mentions(asked.text)], "warnings": stale}


@_verb("entities:evidence", {"items": list[Statement]}, "evidence", command="evidence")
def _evidence(engine: "Engine", asked: p.EvidenceOf) -> Json:
    """Everything the project says about an entity; competing statements are marked."""
    options = asked.stated("name", "position_encoding")
    found = _known(lambda: engine.evidence(asked.name, **options), "name")
    return _items(found, positions_of(engine, asked.position_encoding))


@_verb("entities:propose", {"items": list[s.Proposed]}, "propose", command="propose")
def _propose(engine: "Engine", asked: p.Proposing) -> Json:
    """Names that the chapters use and no profile describes."""
    at = positions_of(engine, asked.position_encoding)

    def place(one: ProposedName) -> int:
        return (at.span(one.document, (one.position, one.position)) or [one.position])[0]

    stale, found = _stale(engine), engine.propose(least=asked.least, known=asked.known)
    return {"items": [{**wire(one), "position": place(one)} for one in found], "warnings": stale}


@_verb("documents:list", {"items": list[s.DocumentSummary], "total": int}, "documents")
def _documents(engine: "Engine", asked: p.Listing) -> Json:
    """Documents by path, without their text."""
    bounds = Bounds(asked.chapters, asked.kinds)
    every = engine.documents()
    found = [one for one in every if bounds.holds(one.kind, one.chapter)]
    items = [summary(one) for one in found[asked.offset :][: asked.limit]]
    return {"items": items, "total": len(found), "warnings": _texts(every.warnings)}


@_verb("documents:get", s.DocumentText, "document")
def _document(engine: "Engine", asked: p.Reading) -> Json:
    """One document, with its paragraphs if they are asked for."""
    document = engine.document(asked.document)
    found = document_wire(document, asked.position_encoding, paragraphs=asked.paragraphs)
    return found if asked.lines is None else {**found, "text": document.lines(*asked.lines)}


@_verb("documents:search", {"items": list[s.FoundPassage]}, "search")
def _search(engine: "Engine", asked: p.Searching) -> Json:
    """Paragraphs that hold the words as written, best first."""
    found = engine.search(asked.query, **asked.stated("query", "position_encoding"))
    return _items(found, positions_of(engine, asked.position_encoding))


@_verb("documents:find", s.FoundSentences, "find", command="find")
def _find(engine: "Engine", asked: p.Finding) -> Json:
    """Sentences that hold the words together or any of them, or answer a question: a page, with path and line."""
    found = engine.find(**asked.stated("position_encoding"))
    told = {"missing": list(found.missing), "confidence": found.confidence}
    told |= {} if found.cursor is None else {"cursor": found.cursor}
    return {**_items(found, positions_of(engine, asked.position_encoding)), **told}


@_verb("documents:retrieve", s.Listed[s.Found], "retrieve", command="retrieve")
def _retrieve(engine: "Engine", asked: p.Retrieving) -> Json:
    """The documents and sections that answer a question, best first, with every reason."""
    answer = engine.retrieve(**asked.stated("excerpts", "position_encoding"))
    found = _items(answer, positions_of(engine, asked.position_encoding))
    if asked.excerpts:
        for item, hit in zip(found["items"], answer, strict=True):
            item["text"] = engine.excerpt(hit, chapters=asked.chapters, as_of=asked.as_of)
    found |= {"outcome": answer.outcome, "confidence": answer.confidence}
    if Bounds(asked.chapters, asked.kinds, asked.as_of):
        found["omitted"] = [wire(gone) for gone in answer.omitted]
    if asked.messages:
        found["carried"] = list(answer.carried)
    return found


@_verb("documents:locate", {"items": list[PromptPlace]}, "locate")
def _locate(engine: "Engine", asked: p.Locating) -> Json:
    """Where quoted words stand, in the open document first."""
    live = {} if asked.text is None else {asked.document: asked.text}
    at = positions_of(engine, asked.position_encoding, live)
    stale = _stale(engine)
    return {**_items(engine.locate(asked.quote, document=asked.document, text=asked.text), at), "warnings": stale}


@_verb("project:map", s.ProjectMap, "map", command="map")
def _map(engine: "Engine", asked: p.Params) -> Json:
    """What every file is taken for, how sure that is, and the line that settles each doubt."""
    return engine.map().to_wire()


@_verb("project:setKind", s.ProjectMap, "set_kind")
def _set_kind(engine: "Engine", asked: p.NewKind) -> Json:
    """Say what files are, in armarius.toml; the map after it."""
    return engine.set_kind(asked.pattern, asked.kind).to_wire()


@_verb("project:understand:request", s.Understanding, "understanding_request", command="understand")
def _understanding(engine: "Engine", asked: p.Params) -> Json:
    """One question to a language model about the project, its files and its people; at most 6,000 tokens."""
    made = engine.understanding_request()
    return {"text": made.text, "messages": list(made), "tokens": made.tokens, "hash": made.hash}


def _proposed(engine: "Engine", asked: p.ModelReply) -> "Proposals":
    return engine.understanding_request().parse(asked.reply, model=asked.model, hash=asked.hash)


@_verb("project:understand:parse", s.Proposals, "understanding_request")
def _understood(engine: "Engine", asked: p.ModelReply) -> Json:
    """What a model's reply proposes; nothing is applied."""
    return _proposed(engine, asked).to_wire()


@_verb("project:understand:apply", s.Proposals, "understanding_request")
def _apply_reply(engine: "Engine", asked: p.AppliedReply) -> Json:
    """Write what a model's reply proposes into armarius.toml, all or nothing; what was written."""
    found = _proposed(engine, asked)
    if unknown := {*asked.without} - {one.name for one in found}:
        raise ContractError(f"params.without: {shown(min(unknown))} is the name of no proposal")
    found[:] = [one for one in found if one.name not in asked.without]
    found.apply(declared=asked.declared)
    return found.to_wire()


@_verb("summaries:list", {"items": list[Summary], "stale": list[str]}, "summaries.list")
def _summaries(engine: "Engine", asked: p.Params) -> Json:
    """Every summary, and which documents have a stale one."""
    return {**_items(engine.summaries.list()), "stale": list(engine.summaries.stale())}


@_verb("summaries:get", Summary, "summaries.get")
def _summary(engine: "Engine", asked: p.OfDocument) -> Json:
    """The summary of a document."""
    return wire(_known(lambda: engine.summaries.get(asked.document), "documentId"))


@_verb("summaries:set", Summary, "summaries.set")
def _set_summary(engine: "Engine", asked: p.NewSummary) -> Json:
    """Replace the summary of a document."""
    return wire(engine.summaries.set(asked.document, asked.text, passages=asked.passages))


@_verb("summaries:delete", {"documentId": str}, "summaries.delete")
def _delete_summary(engine: "Engine", asked: p.OfDocument) -> Json:
    """Remove the summary of a document."""
    _known(lambda: engine.summaries.delete(asked.document), "documentId")
    return {"documentId": asked.document}


@_verb("books:list", {"items": list[s.ListedBook], "problems": dict[str, str]}, "books.values", command="export")
def _books(engine: "Engine", asked: p.Params) -> Json:
    """Every lorebook, and why one that lies in the project cannot be read, by id."""
    books, problems = engine.books.look()
    return {"items": [one.to_wire() for one in books.values()], "problems": dict(problems), "warnings": []}


@_verb("books:get", s.BookText, "books.__getitem__")
def _book(engine: "Engine", asked: p.ById) -> Json:
    """A lorebook with its entries, by id or name."""
    return _known(lambda: engine.books[asked.id]).to_wire(texts=True)  # type: ignore[no-any-return]


@_verb("books:import", s.Imported, "importing.add", command="import")
def _import_book(engine: "Engine", asked: p.BookFile) -> Json:
    """Bring a lorebook, card, vault or export of another program in; the report says what has no effect here."""
    try:
        data = b64decode(asked.data, validate=True)
    except ValueError:
        raise ContractError("params.data: expected the bytes of a file, in base64") from None
    bring = engine.importing.preview if asked.preview else engine.importing.add
    return bring(data, **asked.stated("data", "preview")).to_wire()


@_verb("books:export", {"data": str, "losses": list[s.FieldWithoutEffect]}, "books.__getitem__")
def _export_book(engine: "Engine", asked: p.BookAs) -> Json:
    """A lorebook as a file, in base64, and what its format cannot say; unchanged, it is the file that it came in."""
    found = _known(lambda: engine.books[asked.id]).exported(asked.to)
    return {"data": b64encode(found.data).decode(), "losses": [one._asdict() for one in found.losses]}


@_verb("books:update", s.BookText, "books.update")
def _update_book(engine: "Engine", asked: p.ChangedBook) -> Json:
    """Change what is sent of a lorebook; a changed one makes no rules."""
    book = _known(lambda: engine.books[asked.id])
    values = asked.stated("id", "entries")
    for id_, said in asked.entries.items():
        if said is None:
            book = _known(partial(book.without, id_), f"entries.{id_}")
            continue
        entry = next((one for one in book if one.id == id_), None) or doors.Entry(id_)
        fields = {name: value for name, value in said if value is not None and name != "keys"}
        if said.keys is not None:
            fields["match__keys"] = tuple(doors.Key(key.text, key.kind) for key in said.keys)
        book = book.with_entry(entry.changed(**fields))
    return engine.books.update(replace(book, **values)).to_wire(texts=True)


@_verb("books:delete", {"id": str}, "books.delete")
def _delete_book(engine: "Engine", asked: p.ById) -> Json:
    """Take a lorebook out of the project, with the file that it came in."""
    _known(lambda: engine.books.delete(asked.id))
    return {"id": asked.id}


@_verb("books:active", {"active": list[s.ActiveEntry], "left": list[s.ActiveEntry], "state": Json}, "active")
def _active(engine: "Engine", asked: p.Activating) -> Json:
    """Which lorebook entries a chat or a text wakes, as the books' own programs would, and which nearly."""
    state = None if asked.state is None else doors.State.from_wire(asked.state)
    return engine.active(**asked.stated("state"), state=state).to_wire()


def around(engine: "Engine", asked: p.Around) -> "doors.Subgraph | doors.TextMatches":
    """A subgraph as a wire may say it: no warning names a path of this machine.

    Raises:
        ContractError: There is no such symbol, or several.
    """
    try:
        found = engine.subgraph(asked.symbol, **asked.stated("symbol", "include_tree"))
    except ValueError as error:
        raise ContractError(f"params.symbol: {error}") from None
    return replace(found, warnings=warnings_without_paths(found.warnings, engine.root))


@_verb("code:subgraph", s.CodeAround, "subgraph", command="subgraph")
def _subgraph(engine: "Engine", asked: p.Around) -> Json:
    """What calls, references, inherits, imports and overrides what around a symbol."""
    found = around(engine, asked)
    plain = found.to_wire()
    if asked.include_tree:
        plain["tree"] = doors.tree(found) if isinstance(found, doors.Subgraph) else doors.matches(found)
    return plain


@_verb("index:status", s.Status, "status")
def _status(engine: "Engine", asked: p.Params) -> Json:
    """What the index is doing and what it holds."""
    status = wire(engine.status())
    status.pop("path")  # of this machine
    return status


@_verb("index:refresh", s.Status, "refresh")
def _refresh(engine: "Engine", asked: p.Params) -> Json:
    """Make the index equal to the folder now."""
    engine.refresh()
    return _status(engine, asked)


@_verb("index:wait", s.Waited, "wait")
def _wait(engine: "Engine", asked: p.Waiting) -> Json:
    """Wait for the build to end."""
    return {"done": engine.wait(asked.timeout_ms / 1000)}


@_verb("index:cancel", s.Status, "cancel")
def _cancel(engine: "Engine", asked: p.Params) -> Json:
    """Stop the build after the transaction that it is in."""
    engine.cancel()
    return _status(engine, asked)


@dataclass(frozen=True, slots=True)
class _Tenant:
    """The projects of a shelf that a channel may name."""

    shelf: "doors.Shelf | LocalShelf"
    name: str

    def project(self, project_id: str, *, create: bool = False) -> "doors.Novel | LocalNovel":
        return self.shelf.project(project_id, tenant=self.name, create=create)


@_verb("projects:list", {"items": list[s.ListedProject]}, "projects", table=SHELF)
def _projects(of: _Tenant, asked: p.ListProjects) -> Json:
    """The projects there are, by id."""
    tenant = {"tenant": of.name} if of.name else {}
    found = of.shelf.projects(limit=asked.limit, after=asked.after, **tenant)
    plain = ({name: v if isinstance(v, str | int) else str(v) for name, v in wire(one).items()} for one in found)
    return {
        "items": [{name: value for name, value in one.items() if name != "folder"} for one in plain],
        "warnings": [],
    }


@_verb("projects:delete", {"projectId": str}, "delete", table=SHELF)
def _delete_project(of: _Tenant, asked: p.OneProject) -> Json:
    """With `--store` or `--memory`: delete a project with all that it holds."""
    of.shelf.delete(asked.project_id, tenant=of.name)
    return {"projectId": asked.project_id}


@_verb("documents:write", {"version": int}, "write", table=WRITES)
def _write(engine: "Engine", asked: p.WriteFiles) -> Json:
    """Replace and remove files of a project, all or none; on a server others take the version as `atLeast`."""
    return {"version": engine.write(asked.files, remove=asked.remove, expect=asked.expect)}


@_verb("documents:rename", {"version": int}, "move", table=WRITES)
def _rename(engine: "Engine", asked: p.RenamedDocument) -> Json:
    """Give a document another path."""
    return {"version": engine.move(asked.document, asked.to)}


@_verb("documents:delete", {"version": int}, "write", table=WRITES)
def _delete(engine: "Engine", asked: p.OfDocument) -> Json:
    """Remove a document."""
    return {"version": engine.write(remove=[engine.document(asked.document).path])}


def methods_of_shelf(shelf: "doors.Shelf | LocalShelf", tenant: str | None = None, *, write: bool = False) -> Methods:
    """The methods over many projects, from any thread: those of `SHELF`, and every verb with `projectId`.

    Args:
        shelf: On a server, where a verb takes `atLeast` too, a version that a write gave; or of folders.
        tenant: Whose projects on a server; none of the methods can name another's.
        write: Whether files of folders may be written; those on a server and in memory may.
    """
    of, named = _Tenant(shelf, tenant or ""), {"projectId", "createIfMissing"}
    own = tenant is not None or getattr(shelf, "in_memory", False)

    def of_project(one: Verb) -> Callable[[Mapping[str, Any]], Any]:
        def call(sent: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
            asked = p.ProjectOfRequest(**{name: sent[name] for name in named & sent.keys()})
            novel = of.project(asked.project_id, create=asked.create_if_missing)
            rest = {name: value for name, value in sent.items() if name not in {*named, "atLeast"}}
            if one in WRITES:  # on a server a write makes the project
                return one.answer(novel, one.params(**rest))
            with novel.asked(sent.get("atLeast")):
                return one.over(novel)({**rest, "projectId": ""})

        return call

    verbs = (*VERBS, *(WRITES if own or write else ()))
    return {one.name: of_project(one) for one in verbs} | {
        one.name: lambda sent, one=one: one.answer(of, one.params(**sent)) for one in (SHELF if own else SHELF[:1])
    }
