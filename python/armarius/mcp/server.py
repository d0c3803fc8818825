"""A server whose tools refuse what they do not take, in the words in which everything else here is refused."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.types import CallToolResult, InputRequiredResult
from mcp.types import Tool as ListedTool
from pydantic import ValidationError

from armarius.errors import ContractError
from armarius.io.messages_without_paths import without_paths
from armarius.mcp.arguments import DocumentPath, Query, told
from armarius.text.unicode import near, suggestion
from armarius.validation import shown
from armarius.verbs.wire import wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["CheckedServer", "add_prompt", "add_resources"]

_SUBJECT: Final = re.compile(r"^\w+ should (be|have) ")
_AFTER: Final = re.compile(r" after validation, not \d+$")
_OUR_WORDS: Final = {
    "a valid string": "a text",
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid boolean": "true or false",
    "a valid list": "a list",
    "a valid dictionary": "an object",
    "greater than or equal to": ">=",
    "less than or equal to": "<=",
}


class CheckedServer(MCPServer):
    """An `MCPServer` that refuses unknown arguments, which the SDK drops, and says what is wrong in one line."""

    async def list_tools(self) -> list[ListedTool]:
        """Every tool; the schema of its arguments says that there are no others."""
        tools = await super().list_tools()
        return [
            tool.model_copy(update={"input_schema": {**tool.input_schema, "additionalProperties": False}})
            for tool in tools
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: An argument is unknown, missing or of the wrong kind; or the tool failed.
        """
        takes = next(
            (tuple(one.input_schema["properties"]) for one in await super().list_tools() if one.name == name), None
        )
        unknown = [] if takes is None else [one for one in arguments if one not in takes]
        if takes is not None and unknown:
            close = suggestion(near(unknown[0], takes)) or f"; there are {', '.join(takes)}"
            raise ToolError(_refusal(name, f"no argument {shown(unknown[0])}{close}"))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            # its cause tells the SDK to log the names of the fields alone
            raise ToolError(_refusal(name, _said(error.__cause__, arguments))) from error.__cause__


def _refusal(tool: str, what: str) -> str:
    return without_paths(f"Error executing tool {tool}: {ContractError.code}: {what}")


def _said(error: ValidationError, arguments: Mapping[str, Any]) -> str:
    """`limit must be a whole number, got '5'; query is missing`: for each argument its deepest fault."""
    faults: dict[str, list[tuple[str, str, object]]] = {}
    for one in error.errors():
        field, *rest = one["loc"]
        # between them stand names of the alternatives of a type
        place = "".join(f"[{part}]" for part in rest if isinstance(part, int))
        if one["type"] == "missing":
            faults.setdefault(str(field), []).append((place, "is missing", None))
            continue
        faults.setdefault(str(field), []).append((place, _wanted(one["msg"]), one["input"]))
    parts = []
    for field, found in faults.items():
        deepest = max((place for place, _, _ in found), key=lambda place: place.count("["))
        wanted = list(dict.fromkeys(what for place, what, _ in found if place == deepest))
        value = next(value for place, _, value in found if place == deepest)
        first, *others = wanted
        said = " or ".join([first, *(what.removeprefix("must be ") for what in others)])
        got = f", got {shown(value)}" if field in arguments else ""
        parts.append(f"{field}{deepest} {said}{got}")
    return "; ".join(parts)


def _wanted(message: str) -> str:
    text = _AFTER.sub("", _SUBJECT.sub(r"must \1 ", message))
    for theirs, ours in _OUR_WORDS.items():
        text = text.replace(theirs, ours)
    return text


_INVALID_PARAMS: Final = -32602


def add_resources(server: MCPServer, engine: "ContextEngine") -> None:
    """The documents, each of them, and the entities."""
    listing = told(engine, lambda failure: ResourceError(f"{failure.code}: {failure.message}"))
    reading = told(engine, lambda failure: ResourceNotFoundError(failure.message))

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
    prompting = told(engine, lambda failure: MCPError(_INVALID_PARAMS, f"{failure.code}: {failure.message}"))

    @server.prompt()
    @prompting
    def with_context(query: Query, document: DocumentPath = "") -> str:
        """The user's question with the project's context before it."""
        return engine.assemble(query=query, document=document).prompt
