"""The engine, or a shelf, as an MCP server: tools, resources and a prompt, for agents that speak the protocol.

tools.py (the tools: functions whose docstrings and annotations a model reads)
server.py (arguments from signatures, answers by pages, errors; resources and a prompt; HTTP)

Over stdio stdout is the wire: nothing here prints. Answers are text, for the model; only the account of a prompt is
structured, as many clients show a model nothing else where there is structure. A page has less than 2,000 tokens; a
prompt has its budget. A failure is a text that a model can act on; it names no path outside the project.
"""

from armarius.mcp.server import build_server, serve_http

__all__ = ["build_server", "serve_http"]
