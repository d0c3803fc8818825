"""Resources and the prompt: files asked for by name, and a question with its context before it."""

from typing import TYPE_CHECKING, Any, Final

from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from armarius.integrations.mcp.arguments import DocumentPath, Query
from armarius.integrations.mcp.told import told
from armarius.integrations.methods.wire import wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["add_prompt", "add_resources"]

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
