"""`ToolServer`: an MCP server over the table of tools; its errors, resources and prompt."""

import json
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final, ParamSpec, TypeVar

from anyio.to_thread import run_sync
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from mcp.types import Tool as ListedTool
from pydantic import Field

from armarius._core import __version__
from armarius.io.messages_without_paths import answer_without_paths
from armarius.mcp.tools import Answer, Tool
from armarius.requests import DocumentIn, QueryIn
from armarius.verbs.sanitize import Failure, describe
from armarius.verbs.schemas import schema_of_fields
from armarius.verbs.wire import wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["ToolServer", "add_prompt", "add_resources"]

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
