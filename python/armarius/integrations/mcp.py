"""The engine as an MCP server: tools, resources and a prompt, for agents that speak the protocol.

stdout is the wire: nothing here prints. A failure is a text that a model can act on, a `ToolError` or its like; it
names no path outside the project.
"""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, ParamSpec, TypeVar

from pydantic import Field, StrictInt

from armarius.bounds import Kind
from armarius.errors import MissingExtra
from armarius.integrations.failures import Failure, describe
from armarius.integrations.handed import handed, handed_hit
from armarius.integrations.methods import match_wire, wire
from armarius.messages import MOST_MESSAGES
from armarius.wordings import LONGEST, MOST

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

try:
    from mcp import MCPError
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
except ImportError:
    raise MissingExtra("armarius.integrations.mcp", "mcp") from None

__all__ = ["build_server"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

Query = Annotated[str, Field(description="The user's words, in any language.", max_length=20_000)]
DocumentPath = Annotated[str, Field(description='Project-relative path of the current document, or "".')]
Cursor = Annotated[
    StrictInt | None, Field(description="Offset into that document in code points; null is its end.", ge=0)
]
Buffer = Annotated[
    str | None,
    Field(description="The document as the editor holds it, saved or not; null is as saved.", max_length=2_000_000),
]
Targets = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=400)]] | None,
    Field(description="Ids, names, document paths, paragraphs (path#number) or tags.", max_length=64),
]
Selection = Annotated[
    list[Annotated[StrictInt, Field(ge=0)]] | None,
    Field(description="What is selected in it: [first, last] offset in code points.", min_length=2, max_length=2),
]
Budget = Annotated[int | None, Field(description="Tokens for the whole prompt; null for the default.", ge=1)]
Chapters = Annotated[
    StrictInt | Annotated[list[StrictInt | None], Field(min_length=2, max_length=2)] | None,
    Field(description="Look into these chapters alone: one number, or [first, last], inclusive; null is open."),
]
Kinds = Annotated[
    list[Kind] | None,
    Field(description="Look into documents of these kinds alone; profiles of people and places are `setting`."),
]
AsOf = Annotated[
    StrictInt | None,
    Field(description="Nothing later than this chapter: no text, outline line, fact or relation; null is all.", ge=0),
]
Also = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=LONGEST)]] | None,
    Field(
        description="Two to four other wordings of the query, each a short sentence in the words that the book itself "
        "would use, with the names of the people and places meant, in the language of the book. They are looked up "
        "beside the query and never shown: they find what the query's own words miss.",
        max_length=MOST,
    ),
]
Messages = Annotated[
    list[dict[str, Any]] | None,
    Field(
        description='The conversation so far, oldest first, as {"role": "user" or "assistant", "content": text}: '
        "give it when the query leans on it (she, there, and then?). It is looked up and never shown.",
        max_length=MOST_MESSAGES,
    ),
]
Limit = Annotated[int, Field(description="At most this many results.", ge=1, le=100)]

_EXCERPT = 2_000
_PLACES = 100
_INVALID_PARAMS = -32602
# A client shakes hands at once, while the index is built; what it asks first waits so long for it.
_PATIENCE_S = 20.0
_INSTRUCTIONS = (
    "Context from one project folder. Call assemble_context for a ready prompt within a token budget, "
    "retrieve for the documents a question needs, search for exact words, detect_entities for who is named. "
    "A question is answered best in the book's own words: give assemble_context and retrieve two to four wordings of "
    "it as `also`, as the text itself would put it, names included."
)


def build_server(engine: "ContextEngine") -> MCPServer:
    """A server over one engine; run it with `.run("stdio")` or connect a client in-process."""
    server = MCPServer("armarius", instructions=_INSTRUCTIONS)
    root = None if engine.root is None else engine.root.resolve()

    def told(failed: Callable[[Failure], Exception]) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
        """Wait for an index under construction, and turn whatever is raised into what the client is told."""

        def decorate(answer: Callable[_P, _R]) -> Callable[_P, _R]:
            @wraps(answer)
            def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
                try:
                    engine.wait(_PATIENCE_S)
                    return answer(*args, **kwargs)
                except Exception as error:  # noqa: BLE001 - the client is told all that may be said
                    raise failed(describe(error, root=root)) from None

            return call

        return decorate

    tool = told(lambda failure: ToolError(f"{failure.code}: {failure.message}"))
    listing = told(lambda failure: ResourceError(f"{failure.code}: {failure.message}"))
    reading = told(lambda failure: ResourceNotFoundError(failure.message))
    prompting = told(lambda failure: MCPError(_INVALID_PARAMS, f"{failure.code}: {failure.message}"))

    @server.tool()
    @tool
    def assemble_context(
        query: Query,
        document: DocumentPath = "",
        cursor: Cursor = None,
        text: Buffer = None,
        selection: Selection = None,
        include: Targets = None,
        exclude: Targets = None,
        budget: Budget = None,
        model: Annotated[str | None, Field(description="Decides the tokenizer; null for the default.")] = None,
        also: Also = None,
        messages: Messages = None,
        chapters: Chapters = None,
        kinds: Kinds = None,
        as_of: AsOf = None,
    ) -> dict[str, Any]:
        """Assemble a prompt from rules, settings, retrieved and immediate layers, within the budget.

        Say the query again in two to four wordings as `also`, in the words that the book would use, names included:
        that finds most of what a paraphrase misses.
        """
        pack = engine.assemble(
            query=query,
            document=document,
            cursor=cursor,
            text=text,
            selection=None if selection is None else (selection[0], selection[1]),
            include=include or (),
            exclude=exclude or (),
            budget=budget,
            model=model,
            also=also or (),
            messages=messages or (),
            chapters=_pair(chapters),
            kinds=kinds or (),
            as_of=as_of,
        )
        return {**pack.to_wire(), "documents": list(pack.documents)}

    @server.tool()
    @tool
    def inspect_context(
        query: Query,
        document: DocumentPath = "",
        cursor: Cursor = None,
        text: Buffer = None,
        selection: Selection = None,
        include: Targets = None,
        exclude: Targets = None,
        budget: Budget = None,
        model: str | None = None,
        also: Also = None,
        messages: Messages = None,
        chapters: Chapters = None,
        kinds: Kinds = None,
        as_of: AsOf = None,
    ) -> dict[str, Any]:
        """Show what assemble_context would send, layer by layer, without the prompt itself."""
        seen = engine.inspect(
            query=query,
            document=document,
            cursor=cursor,
            text=text,
            selection=None if selection is None else (selection[0], selection[1]),
            include=include or (),
            exclude=exclude or (),
            budget=budget,
            model=model,
            also=also or (),
            messages=messages or (),
            chapters=_pair(chapters),
            kinds=kinds or (),
            as_of=as_of,
            requested_by="mcp",
        )
        return seen.to_wire()

    @server.tool()
    @tool
    def search(
        query: Query,
        limit: Limit = 10,
        also: Also = None,
        chapters: Chapters = None,
        kinds: Kinds = None,
        as_of: AsOf = None,
    ) -> dict[str, Any]:
        """Find passages that contain the given words exactly, or those of `also`. Any text is a valid query."""
        found = engine.search(
            query, limit=limit, also=also or (), chapters=_pair(chapters), kinds=kinds or (), as_of=as_of
        )
        return {"results": [handed_hit(hit) for hit in found]}

    @server.tool()
    @tool
    def retrieve(
        query: Query,
        limit: Limit = 5,
        document: DocumentPath = "",
        also: Also = None,
        messages: Messages = None,
        chapters: Chapters = None,
        kinds: Kinds = None,
        as_of: AsOf = None,
    ) -> dict[str, Any]:
        """Find the documents and sections that a question needs, best first, with the reasons.

        Say the query again in two to four wordings as `also`, in the words that the book would use, names included.
        """
        pair = _pair(chapters)
        answer = engine.retrieve(
            query,
            limit=limit,
            document=document,
            also=also or (),
            messages=messages or (),
            chapters=pair,
            kinds=kinds or (),
            as_of=as_of,
        )
        texts = [engine.excerpt(hit, chapters=pair, as_of=as_of) for hit in answer]
        results = [handed({**wire(hit), "text": text[:_EXCERPT]}) for hit, text in zip(answer, texts, strict=True)]
        warnings = [str(warning) for warning in answer.warnings]
        omitted = [handed(wire(gone)) for gone in answer.omitted]
        carried = {"carried": list(answer.carried)} if answer.carried else {}
        return {"results": results, "outcome": answer.outcome, "warnings": warnings, "omitted": omitted, **carried}

    @server.tool()
    @tool
    def locate(
        quote: Annotated[str, Field(description="Words that stand in the project.", min_length=1, max_length=4_000)],
        document: DocumentPath = "",
        text: Buffer = None,
    ) -> dict[str, Any]:
        """Find where quoted words stand, in the open document first: path and span in code points, half-open.

        Word for word if they stand anywhere so; else with other width, case, white space, quotation marks or dashes.
        """
        return {"places": [wire(place) for place in engine.locate(quote, document=document, text=text)[:_PLACES]]}

    @server.tool()
    @tool
    def detect_entities(text: Annotated[str, Field(max_length=200_000)]) -> dict[str, Any]:
        """Say which known people, places and things a text names."""
        return {"entities": [match_wire(match) for match in engine.detect(text)]}

    @server.tool()
    @tool
    def subgraph(
        symbol: Annotated[str, Field(description="Name or qualified name of a function, method or class.")],
        depth: Annotated[int, Field(ge=1, le=10)] = 3,
        direction: Literal["callers", "callees", "both"] = "both",
    ) -> dict[str, Any]:
        """Walk the code graph around a symbol: calls, references, inheritance, imports, overrides."""
        answer: dict[str, Any] = handed(engine.subgraph(symbol, depth=depth, direction=direction).to_wire())
        return answer

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

    @server.prompt()
    @prompting
    def with_context(query: Query, document: DocumentPath = "") -> str:
        """The user's question with the project's context before it."""
        return engine.assemble(query=query, document=document).prompt

    return server


def _pair(chapters: int | list[int | None] | None) -> int | tuple[int | None, int | None] | None:
    return (chapters[0], chapters[1]) if isinstance(chapters, list) else chapters
