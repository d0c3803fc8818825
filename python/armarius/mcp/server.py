"""An MCP server and its tools: each a selection of the fields of a verb's request, and what it answers.

Wrong arguments are reported as on every other surface.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, ParamSpec, TypeVar

from anyio.to_thread import run_sync
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from mcp.types import Tool as ListedTool
from pydantic import ConfigDict, Field, StrictInt, create_model

from armarius._core import __version__
from armarius.arguments import Bounds
from armarius.code.subgraph import Subgraph, matches, tree
from armarius.codex.cards import holds
from armarius.io.messages_without_paths import answer_without_paths
from armarius.requests import AssembleRequest, DocumentIn, QueryIn, Wire
from armarius.rewording import WORDINGS_WANTED
from armarius.verbs import VERBS, match_wire, wire
from armarius.verbs.params import Around, NameIn
from armarius.verbs.schemas import schema_of_fields
from armarius.verbs.table import around, listed_entity, summary
from armarius.verbs.wire import Failure, account_wire, describe, escaped, escaped_hit

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

EXCERPT: Final = 2_000
"""Code points of one text in a list of results."""
LARGEST: Final = 60_000
"""Code points of the JSON of one list of results; prompts have their own budget."""
_LISTED: Final = 200

_IN_VAIN: Final = ("no match", "duplicate")  # what a model need not know stayed out

Answer = dict[str, Any] | CallToolResult


class Arguments(Wire):
    """What a tool takes, by the names that the fields have in Python."""

    called: ClassVar[str | None] = None
    model_config = ConfigDict(alias_generator=None)

    @classmethod
    def field_name(cls, name: str) -> str:
        """As it is."""
        return name

    def given(self) -> dict[str, Any]:
        """The fields as keywords, without those that are null."""
        return {name: value for name in type(self).model_fields if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Attributes:
        name: As a model calls it.
        about: What the model reads of it.
        arguments: What it takes.
        answer: From the engine and the checked arguments to JSON, or to text with JSON.
        adds: Whether it adds to the project.
    """

    name: str
    about: str
    arguments: type[Arguments]
    answer: "Callable[[ContextEngine, Any], Answer]"
    adds: bool = False


def _tool(
    name: str,
    fields: str,
    answer: "Callable[[ContextEngine, Any], Answer]",
    /,
    *,
    adds: bool = False,
    extra: dict[str, Any] | None = None,
    **changed: dict[str, Any],
) -> Tool:
    """A tool over the verb that names it.

    Args:
        name: Of the tool.
        fields: Of the verb's request, those that the tool takes.
        answer: Its docstring is what a model reads.
        adds: Whether it adds to the project.
        extra: Arguments that the request does not have.
        **changed: Field to what is another here: `default`, `description`, or a tighter bound.
    """
    (model,) = (one.params for one in VERBS if one.tool == name)
    taken: dict[str, Any] = {}
    for field in fields.split():
        info = model.model_fields[field]
        more = {"description": info.description} | changed.get(field, {})
        default = more.pop("default", info.default)
        taken[field] = (Annotated[info.rebuild_annotation(), Field(**more)], default)
    made = create_model(name, __base__=Arguments, **(taken | (extra or {})))
    return Tool(name, " ".join((answer.__doc__ or "").split()), made, answer, adds)


def cut(text: str, most: int = EXCERPT) -> str:
    """`text`, or its beginning and an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def sized(name: str, items: list[Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """The items under `name` as far as `LARGEST` holds them; `left_off` says how many more there are.

    Cost: one pass of the JSON encoder.
    """
    room = LARGEST
    kept: list[Any] = []
    for item in items:
        room -= len(json.dumps(item, ensure_ascii=False))
        if room < 0 and kept:
            break
        kept.append(item)
    left = len(items) - len(kept)
    return {name: kept, **more, **({"left_off": left} if left else {})}


def _text(text: str, account: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=account)


def _assemble(engine: "ContextEngine", asked: Arguments) -> CallToolResult:
    """Assemble a prompt from rules, settings, retrieved and immediate layers, within the budget.

    Say the query again in three to five wordings as `also`, in the words that the book would use, names included:
    that finds most of what a paraphrase misses. The text of the answer is the prompt; its account is structured.
    """
    pack = engine.assemble(AssembleRequest(**asked.given()))
    account = account_wire(pack)
    wanted = [one for one in account["omitted"] if one["code"] not in _IN_VAIN]
    return _text(pack.prompt, escaped({**account, "omitted": wanted, "documents": list(pack.documents)}))


def _inspect(engine: "ContextEngine", asked: Arguments) -> dict[str, Any]:
    """Show what assemble_context would send, layer by layer, without the prompt itself."""
    return engine.inspect(AssembleRequest(**asked.given()), requested_by="mcp").to_wire()


def _search(engine: "ContextEngine", asked: Arguments) -> dict[str, Any]:
    """Find passages that contain the given words exactly, or those of `also`. Any text is a valid query."""
    given = asked.given()
    return sized("results", [escaped_hit(hit) for hit in engine.search(given.pop("query"), **given)])


def _retrieve(engine: "ContextEngine", asked: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of the request
    """Find the documents and sections that a question needs, best first, with the reasons.

    Say the query again in three to five wordings as `also`, in the words that the book would use, names included.
    """
    answer = engine.retrieve(**asked.given())
    texts = [engine.excerpt(hit, chapters=asked.chapters, as_of=asked.as_of) for hit in answer]
    results = [escaped({**wire(hit), "text": cut(text)}) for hit, text in zip(answer, texts, strict=True)]
    warnings = [str(warning) for warning in answer.warnings]
    omitted = [escaped(wire(gone)) for gone in answer.omitted]
    carried = {"carried": list(answer.carried)} if answer.carried else {}
    how = {"outcome": answer.outcome, "confidence": answer.confidence}
    return sized("results", results, **how, warnings=warnings, omitted=omitted, **carried)


def _locate(engine: "ContextEngine", asked: Arguments) -> dict[str, Any]:
    """Find where quoted words stand, in the open document first: path and span in code points, half-open.

    Word for word if they stand anywhere so; else with other width, case, white space, quotation marks or dashes.
    """
    return sized("places", [wire(place) for place in engine.locate(**asked.given())])


def _detect(engine: "ContextEngine", asked: Any) -> dict[str, Any]:  # noqa: ANN401
    """Say which known people, places and things a text names."""
    return sized("entities", [match_wire(match) for match in engine.detect(asked.text)])


def _list_entities(engine: "ContextEngine", asked: Any) -> dict[str, Any]:  # noqa: ANN401
    """List everybody and everything the project describes: name, aliases, type, level, where from, mentions."""
    found = engine.entities()
    items = [escaped(listed_entity(one, found.mentions.get(one.id, 0))) for one in found]
    return sized("entities", items, total=len(found))


def _list(engine: "ContextEngine", asked: Any) -> dict[str, Any]:  # noqa: ANN401
    """List the documents of the project by path, at most 200 at once: kind, title, chapter; never their text."""
    bounds = Bounds(asked.chapters, asked.kinds)
    found = [one for one in engine.documents() if bounds.holds(one.kind, one.chapter)]
    part = [escaped(summary(one)) for one in found[asked.offset : asked.offset + _LISTED]]
    return sized("documents", part, total=len(found))


_SHOWN_AT_NEVER = ("id", "name", "type", "level")


def _entity(engine: "ContextEngine", asked: Any) -> CallToolResult:  # noqa: ANN401
    """Give the card of somebody or something known: what it is, other names, what holds of it in which chapter.

    Of an entity at the context level `never` only name, type and level.
    """
    one = engine.entity(asked.name)
    if one.level == "never":
        text = f"{one.name} ({one.type}): context level never. The writer keeps this entity out of every prompt."
        return _text(str(escaped(text)), {"entity": escaped({key: getattr(one, key) for key in _SHOWN_AT_NEVER})})
    plain = {**wire(one), "facts": [wire(fact) for fact in one.facts if holds(fact, asked.as_of)]}
    return _text(str(escaped(engine.card(asked.name, as_of=asked.as_of))), {"entity": escaped(plain)})


def _evidence(engine: "ContextEngine", asked: Arguments) -> dict[str, Any]:
    """Give everything that the project says of somebody, sentence by sentence; competing statements are marked."""
    given = asked.given()
    limit = given.pop("limit")
    found = engine.evidence(given.pop("name"), **given)
    statements = [escaped({**wire(one), "text": cut(one.text)}) for one in found[:limit]]
    return sized("statements", statements, total=len(found))


def _subgraph(engine: "ContextEngine", asked: Arguments) -> CallToolResult:
    """Walk the code graph around a symbol: calls, references, inheritance, imports, overrides."""
    found = around(engine, Around(**asked.given()))
    shown = tree(found) if isinstance(found, Subgraph) else matches(found)
    return _text(str(escaped(shown)), escaped(found.to_wire()))


def _remember(engine: "ContextEngine", asked: Arguments) -> dict[str, Any]:
    """Remember something about the project or its user, for later prompts. Kept in `.armarius/memories.toml`."""
    return dict(escaped(wire(engine.memories.create(**asked.given()))))


def _propose(engine: "ContextEngine", asked: Arguments) -> dict[str, Any]:
    """Propose somebody or something that the project does not describe yet, for the user to approve.

    It is written to `.armarius/codex.toml` with the level `never`: no prompt shows it before the user raises
    that. What the project knows already is refused.
    """
    return dict(escaped(wire(engine.codex.create(**asked.given(), level="never"))))


_QUERY: Final[dict[str, Any]] = {"default": ..., "max_length": 20_000}
_LIMIT: Final[dict[str, Any]] = {"description": "At most this many results.", "ge": 1, "le": 100}
_SHORT: Final[dict[str, Any]] = {"min_length": 1, "max_length": 400}
_ALSO: Final = {"description": WORDINGS_WANTED}
_FIELDS: Final = (
    "query document cursor text selection include exclude budget model also messages chapters kinds as_of language"
)
_REQUEST: Final[dict[str, Any]] = {
    "query": _QUERY,
    "cursor": {"description": "Offset into the document in code points, from 0; null is its end."},
    "selection": {"description": "What is selected in it: [first, last] offset in code points."},
    "text": {"max_length": 2_000_000},
    "also": _ALSO,
}

READING: Final = (
    _tool("assemble_context", _FIELDS, _assemble, **_REQUEST),
    _tool("inspect_context", _FIELDS, _inspect, **_REQUEST),
    _tool("search", "query limit also chapters kinds as_of", _search, query=_QUERY, limit=_LIMIT, also=_ALSO),
    _tool(
        "retrieve",
        "query limit document also messages chapters kinds as_of",
        _retrieve,
        query=_QUERY,
        limit=_LIMIT,
        also=_ALSO,
    ),
    _tool("locate", "quote document text", _locate, quote={"max_length": 4_000}),
    _tool("detect_entities", "text", _detect, text={"max_length": 200_000}),
    _tool("list_documents", "kinds chapters offset", _list),
    _tool("list_entities", "", _list_entities),
    _tool("entity", "as_of", _entity, extra={"name": (NameIn, ...)}),
    _tool(
        "evidence",
        "name attribute chapters as_of",
        _evidence,
        extra={"limit": (StrictInt, Field(default=20, **_LIMIT))},
    ),
)
"""The tools of every project."""
CODE: Final = (_tool("subgraph", "symbol depth direction", _subgraph, depth={"default": 3, "ge": 1, "le": 10}),)
"""Those of a project that has code."""
WRITING: Final = (
    _tool(
        "remember",
        "text kind confidence",
        _remember,
        adds=True,
        text={"max_length": 2_000},
        confidence={"default": 0.8},
    ),
    _tool(
        "propose",
        "name type description aliases",
        _propose,
        adds=True,
        name=_SHORT,
        type={"default": ..., **_SHORT},
        description={"max_length": 2_000},
        aliases={"max_length": 20},
    ),
)
"""Those of a server that may add to the project."""


_P = ParamSpec("_P")
_R = TypeVar("_R")

# A client shakes hands at once, while the index is built; what it asks first waits so long for it.
_PATIENCE_S: Final = 20.0
_INVALID_PARAMS: Final = -32602
_READS: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_ADDS: Final = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


def _guarded(
    engine: "ContextEngine", failed: Callable[[Failure], Exception]
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Wait for an index under construction, and turn every error into one that names no path of this machine."""
    root = None if engine.root is None else engine.root.resolve()

    def decorate(answer: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(answer)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                engine.wait(_PATIENCE_S)
                found: Any = answer(*args, **kwargs)
                if isinstance(found, CallToolResult):
                    found.structured_content = answer_without_paths(found.structured_content, root)
                    return found  # type: ignore[return-value]
                return answer_without_paths(found, root)  # type: ignore[no-any-return]
            except Exception as error:  # noqa: BLE001 - every error is answered
                raise failed(describe(error, root=root)) from None

        return call

    return decorate


class ToolServer(MCPServer):
    """An `MCPServer` over a table of tools.

    Args:
        engine: The project.
        tools: The table.
        instructions: For the model.
    """

    def __init__(self, engine: "ContextEngine", tools: Sequence[Tool], instructions: str) -> None:
        super().__init__("armarius", instructions=instructions, version=__version__)
        self._engine = engine
        self._tools = {tool.name: tool for tool in tools}
        self._listed = {tool.name: schema_of_fields(tool.arguments) for tool in tools}

    async def list_tools(self) -> list[ListedTool]:
        """Every tool; the schema of its arguments says that there are no others."""
        return [
            ListedTool(
                name=tool.name,
                description=tool.about,
                input_schema=self._listed[tool.name],
                annotations=_ADDS if tool.adds else _READS,
            )
            for tool in self._tools.values()
        ]

    def _tool_input_schema(self, name: str) -> dict[str, Any] | None:
        return self._listed.get(name)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool, in a thread.

        Raises:
            ToolError: There is no such tool; an argument is unknown, missing or wrong; or the tool failed.
        """
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError(f"Unknown tool: {name}")

        def failed(failure: Failure) -> Exception:
            return ToolError(f"Error executing tool {name}: {failure.code}: {failure.message}")

        @_guarded(self._engine, failed)
        def answer() -> Answer:
            return tool.answer(self._engine, tool.arguments.from_wire(arguments))

        found = await run_sync(answer)
        if isinstance(found, CallToolResult):
            return found
        text = json.dumps(found, ensure_ascii=False, indent=2)
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=found)


def add_resources(server: MCPServer, engine: "ContextEngine") -> None:
    """The documents, each of them, and the entities."""
    listing = _guarded(engine, lambda failure: ResourceError(f"{failure.code}: {failure.message}"))
    reading = _guarded(engine, lambda failure: ResourceNotFoundError(failure.message))

    @server.resource("armarius://entities", mime_type="application/json")
    @listing
    def entities() -> list[dict[str, Any]]:
        """Every known entity: id, name, type, aliases."""
        return [wire(entity) for entity in engine.entities()]

    @server.resource("armarius://documents", mime_type="application/json")
    @listing
    def documents() -> list[str]:
        """Paths of every document of the project."""
        return [document.path for document in engine.documents()]

    @server.resource("armarius://documents/{+path}", mime_type="text/markdown")
    @reading
    def document(path: str) -> str:
        """The text of one document."""
        return engine.document(path).text


def add_prompt(server: MCPServer, engine: "ContextEngine") -> None:
    """The question with its context."""
    prompting = _guarded(engine, lambda failure: MCPError(_INVALID_PARAMS, f"{failure.code}: {failure.message}"))

    @server.prompt()
    @prompting
    def with_context(query: Annotated[QueryIn, Field(max_length=20_000)], document: DocumentIn = "") -> str:
        """The user's question with the project's context before it."""
        return engine.assemble(query=query, document=document).prompt
