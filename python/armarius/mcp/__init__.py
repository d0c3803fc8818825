"""The engine as an MCP server: tools, resources and a prompt, for agents that speak the protocol.

server.py (the table of tools: what each takes of a verb's request, and answers; the server, resources)

stdout is the wire: nothing here prints. A failure is a text that a model can act on, a `ToolError` or its like; it
names no path outside the project. What is found is cut to a stated size; a prompt has its budget.
"""

from typing import TYPE_CHECKING

from armarius.errors import MissingExtra, ProjectError

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

try:
    from mcp.server import MCPServer
except ImportError:
    raise MissingExtra("armarius.mcp", "mcp") from None

from armarius.mcp.server import CODE, READING, WRITING, ToolServer, add_prompt, add_resources

__all__ = ["build_server"]

_INSTRUCTIONS = (
    "Context from one project folder. Call assemble_context for a ready prompt within a token budget, "
    "retrieve for the documents a question needs, search for exact words, detect_entities for who is named, entity for "
    "the card of somebody, evidence for every sentence about them, locate for where quoted words stand. "
    "A question is answered best in the book's own words: give assemble_context and retrieve three to five wordings of "
    "it as `also`, as the text itself would put it, names included."
)


def build_server(engine: "ContextEngine", *, allow_write: bool = False) -> MCPServer:
    """A server over one engine; run it with `.run("stdio")` or connect a client in-process.

    Args:
        engine: The project.
        allow_write: Whether there are tools that add to it: `remember`, `propose`.

    Cost: a walk of the folder, to see whether there is code.
    """
    tools = READING + (CODE if _has_code(engine) else ()) + (WRITING if allow_write else ())
    server = ToolServer(engine, tools, _INSTRUCTIONS)
    add_resources(server, engine)
    add_prompt(server, engine)
    return server


def _has_code(engine: "ContextEngine") -> bool:
    try:
        return engine.code.has_code()
    except ProjectError:
        return False
