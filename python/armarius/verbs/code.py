"""The code graph over a wire."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt

from armarius.code.subgraph import KINDS, Subgraph, TextMatches, matches, tree
from armarius.errors import ContractError
from armarius.io.messages_without_paths import warnings_without_paths
from armarius.verbs.method import Method, Params
from armarius.verbs.results import CodeAround

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["METHODS", "around"]

Edge = Literal["calls", "inherits", "overrides", "refs", "imports"]


class Around(Params):
    """A symbol, how far around it, and along which edges."""

    symbol: str
    depth: Annotated[StrictInt, Field(ge=0)] | None = None
    direction: Literal["callers", "callees", "both"] = "both"
    kinds: tuple[Edge, ...] = KINDS  # type: ignore[assignment]
    max_nodes: Annotated[StrictInt, Field(ge=1)] | None = None
    max_edges: Annotated[StrictInt, Field(ge=0)] | None = None
    external: StrictBool = False
    include_tree: StrictBool = False


def around(engine: "ContextEngine", symbol: str, **options: Any) -> Subgraph | TextMatches:  # noqa: ANN401 - of subgraph
    """`engine.subgraph` as a wire may say it: no warning names a path of this machine."""
    found = engine.subgraph(symbol, **options)
    return replace(found, warnings=warnings_without_paths(found.warnings, engine.root))


def _subgraph(engine: "ContextEngine", asked: Around) -> dict[str, Any]:
    try:
        found = around(
            engine,
            asked.symbol,
            depth=asked.depth,
            direction=asked.direction,
            kinds=asked.kinds,
            max_nodes=asked.max_nodes,
            max_edges=asked.max_edges,
            external=asked.external,
        )
    except ValueError as error:
        raise ContractError(f"params.symbol: {error}") from None
    plain = found.to_wire()
    if asked.include_tree:
        plain["tree"] = tree(found) if isinstance(found, Subgraph) else matches(found)
    return plain


METHODS: tuple[Method[Any], ...] = (Method("code:subgraph", Around, CodeAround, _subgraph),)
