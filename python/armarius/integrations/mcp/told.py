"""How functions become tools: they wait for the index, fail in words that a model can act on, and say what they do."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ToolAnnotations

from armarius.integrations.failures import Failure, describe
from armarius.pathless import answer_without_paths

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["Tools", "told"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

# A client shakes hands at once, while the index is built; what it asks first waits so long for it.
_PATIENCE_S: Final = 20.0
_READS: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_ADDS: Final = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


def told(
    engine: "ContextEngine", failed: Callable[[Failure], Exception]
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Wait for an index under construction, and turn whatever is raised into what the client is told."""
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
            except Exception as error:  # noqa: BLE001 - the client is told all that may be said
                raise failed(describe(error, root=root)) from None

        return call

    return decorate


class Tools:
    """Adds functions to a server as tools.

    Args:
        server: Whose tools they become.
        engine: Waited for.
    """

    def __init__(self, server: MCPServer, engine: "ContextEngine") -> None:
        self._server = server
        self._engine = engine

    def reads(self, function: Callable[..., Any]) -> None:
        """A tool that changes nothing."""
        self._add(function, _READS)

    def adds(self, function: Callable[..., Any]) -> None:
        """A tool that adds to the project and takes nothing from it."""
        self._add(function, _ADDS)

    def _add(self, function: Callable[..., Any], annotations: ToolAnnotations) -> None:
        guarded = told(self._engine, lambda failure: ToolError(f"{failure.code}: {failure.message}"))
        self._server.tool(annotations=annotations)(guarded(function))
