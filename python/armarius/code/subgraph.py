"""The answer to "what is around this symbol": a subgraph, or a list of text matches when there is no graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import armarius._core as _core
from armarius.errors import AmbiguousSymbol, ContextWarning, UnknownSymbol
from armarius.strict import whole
from armarius.warnings_table import CODE_DEPTH_LIMIT, CODE_GRAPH_UNAVAILABLE

__all__ = [
    "DEGRADED_REASON",
    "KINDS",
    "CodeEdge",
    "CodeNode",
    "Direction",
    "Subgraph",
    "TextMatch",
    "TextMatches",
    "walk",
]

Direction = Literal["callers", "callees", "both"]
KINDS = ("calls", "inherits", "overrides", "refs", "imports")
DEGRADED_REASON = "CKB MCP unavailable"


@dataclass(frozen=True, slots=True)
class CodeNode:
    """One symbol.

    Attributes:
        id: `<source>:<repository>:<name>`.
        name: Unique in the graph: the shortest ending of `qualified` that no other symbol has, class included.
        type: function, method, class, interface, enum, type, constant, variable, attribute, macro or module.
        qualified: `module.Class.method`.
        path: File, relative to the repository; "" for symbols outside of it.
        line: 1-based line of the name.
        header_line: Last line of the signature.
        end_line: Last line of the definition.
        depth: Steps from the symbol asked for.
        external: Outside of the repository.
    """

    id: str
    name: str
    type: str
    qualified: str
    path: str
    line: int
    header_line: int
    end_line: int
    depth: int = 0
    external: bool = False


@dataclass(frozen=True, slots=True)
class CodeEdge:
    """What one symbol does with another; several places of the same kind are one edge.

    Attributes:
        origin: Name of the node that acts.
        target: Name of the node acted upon.
        type: calls, refs, inherits, imports or overrides.
        path: File of the first place.
        line: Its 1-based line.
        sites: Number of places.
        resolution: "exact", or "heuristic" when the enclosing definition was guessed.
    """

    origin: str
    target: str
    type: str
    path: str
    line: int
    sites: int
    resolution: Literal["exact", "heuristic"]


@dataclass(frozen=True, slots=True)
class Subgraph:
    """What is around a symbol, to a depth.

    Attributes:
        nodes: The symbol first, then by depth, then important ones first.
        edges: Those that were followed, in node order.
        truncated: The node or edge budget left something out.
        warnings: Depth limit reached, index stale.
    """

    nodes: tuple[CodeNode, ...]
    edges: tuple[CodeEdge, ...]
    direction: Direction
    depth: int
    truncated: bool = False
    warnings: tuple[ContextWarning, ...] = ()

    @property
    def root(self) -> CodeNode:
        """The symbol asked for."""
        return self.nodes[0]

    @property
    def degraded(self) -> bool:
        """False: this is a graph, not a text search."""
        return False

    def to_wire(self) -> dict[str, Any]:
        """`{"nodes": [{"id", "name", "type"}], "edges": [{"from", "to", "type"}]}`; edges use the nodes' names.

        `warnings` (as `CODE: message`) and `truncated` are there when there is something to say.
        """
        return {
            "nodes": [{"id": node.id, "name": node.name, "type": node.type} for node in self.nodes],
            "edges": [{"from": edge.origin, "to": edge.target, "type": edge.type} for edge in self.edges],
            **_said(self.warnings, self.truncated),
        }


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A line that has the symbol's name in it.

    Attributes:
        file: Relative to the repository.
        line: Its number, from 1.
        match: The name as it stands there.
        text: The whole line, without white space at its ends.
    """

    file: str
    line: int
    match: str
    text: str


@dataclass(frozen=True, slots=True)
class TextMatches:
    """What a text search found when there was no graph to ask.

    Attributes:
        symbol: What was asked for.
        results: In the order (file, line).
        warnings: The notice that this is a text search, then one reason for each source that was tried.
        truncated: More lines matched than are listed.
    """

    symbol: str
    results: tuple[TextMatch, ...]
    warnings: tuple[ContextWarning, ...] = (CODE_GRAPH_UNAVAILABLE(),)
    truncated: bool = False

    @property
    def degraded(self) -> bool:
        """True: a text search stands in for the graph."""
        return True

    @property
    def reason(self) -> str:
        """Why there is no graph, in the words of the contract; `warnings` are precise."""
        return DEGRADED_REASON

    def to_wire(self) -> dict[str, Any]:
        """`{"results": [{"file", "line", "match", "text"}], "degraded": true, "reason": "CKB MCP unavailable"}`.

        `warnings` holds the notice and the reasons; `truncated` is there when more lines match.
        """
        return {
            "results": [
                {"file": hit.file, "line": hit.line, "match": hit.match, "text": hit.text} for hit in self.results
            ],
            "degraded": True,
            "reason": self.reason,
            **_said(self.warnings, self.truncated),
        }


def _said(warnings: Sequence[ContextWarning], truncated: bool) -> dict[str, Any]:
    said: dict[str, Any] = {"warnings": [str(warning) for warning in warnings]} if warnings else {}
    return {**said, "truncated": True} if truncated else said


def resolve(graph: _core.CodeGraph, symbol: str) -> int:
    """The one node that `symbol` means.

    Raises:
        AmbiguousSymbol: Several; carries their qualified names.
        UnknownSymbol: None; carries near matches.
    """
    found = graph.find(symbol)
    if len(found) == 1:
        return found[0]
    if found:
        names = tuple(graph.node(number).qualified for number in found)
        raise AmbiguousSymbol(f"{symbol!r} means {len(names)} symbols: {', '.join(names)}", names)
    near = tuple(graph.near(symbol, 5))
    hint = f"; near: {', '.join(near)}" if near else ""
    raise UnknownSymbol(f"no symbol {symbol!r} in the code graph{hint}", near)


def walk(
    graph: _core.CodeGraph,
    symbol: str | int,
    *,
    prefix: str,
    depth: int | None = None,
    direction: Direction = "both",
    max_depth: int = 5,
    max_nodes: int = 200,
    max_edges: int = 600,
    kinds: Sequence[str] = KINDS,
    external: bool = False,
    warnings: Sequence[ContextWarning] = (),
) -> Subgraph:
    """Breadth first around a symbol.

    Args:
        graph: From `build_graph`.
        symbol: A name (`Context.invoke`, `click.core.Context.invoke`, `invoke`) or the number of a node.
        prefix: `<source>:<repository>`, the first part of node ids.
        depth: Steps; None and anything above `max_depth` are `max_depth`.
        direction: Whom to follow: callers (against the arrows), callees, or both.
        max_depth: The configured maximum.
        max_nodes: Budget; within a depth, functions and classes that are used most stay.
        max_edges: Budget; edges between the first nodes stay.
        kinds: Edges to follow.
        external: Whether symbols outside of the repository are shown, as leaves.
        warnings: Carried into the answer.

    Returns:
        A Subgraph; it warns when it stopped at `max_depth` and more would have followed.

    Raises:
        UnknownSymbol: Carries near matches.
        AmbiguousSymbol: Carries the candidates.
        ContractError: A negative depth or budget, or an unknown direction or kind.

    Cost: O(edges met).
    """
    for name, value in (("depth", 0 if depth is None else depth), ("max_depth", max_depth), ("max_edges", max_edges)):
        whole(name, value)
    whole("max_nodes", max_nodes, least=1)
    start = symbol if isinstance(symbol, int) else resolve(graph, symbol)
    steps = max_depth if depth is None else min(depth, max_depth)
    found = graph.walk(
        start,
        direction=direction,
        depth=steps,
        max_nodes=max_nodes,
        max_edges=max_edges,
        kinds=list(kinds),
        external=external,
    )
    nodes = {number: _node(graph, number, prefix, far) for number, far in found.nodes}
    limited = found.deeper and steps == max_depth
    return Subgraph(
        nodes=tuple(nodes.values()),
        edges=tuple(
            CodeEdge(
                origin=nodes[edge.origin].name,
                target=nodes[edge.target].name,
                type=edge.kind,
                path=edge.path,
                line=edge.line,
                sites=edge.sites,
                resolution="exact" if edge.exact else "heuristic",
            )
            for edge in found.edges
        ),
        direction=direction,
        depth=steps,
        truncated=found.truncated,
        warnings=(*warnings, CODE_DEPTH_LIMIT(maximum=max_depth)) if limited else tuple(warnings),
    )


def _node(graph: _core.CodeGraph, number: int, prefix: str, depth: int) -> CodeNode:
    node = graph.node(number)
    return CodeNode(
        id=f"{prefix}:{node.name}",
        name=node.name,
        type=node.kind,
        qualified=node.qualified,
        path=node.path,
        line=node.line,
        header_line=node.header_line,
        end_line=node.end_line,
        depth=depth,
        external=node.external,
    )
