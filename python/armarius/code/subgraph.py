"""The subgraph around a symbol, or a list of text matches without a graph."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import armarius._core as _core
from armarius.code.scip import MAX_SOURCE_BYTES
from armarius.errors import AmbiguousSymbol, ContextWarning, ContractError, SourceUnavailable, UnknownSymbol
from armarius.io import read_file
from armarius.text.matcher import scan
from armarius.trust.folders import is_file_within
from armarius.types import EDGE_KINDS, Direction
from armarius.validation import shown, whole
from armarius.warnings import CODE_DEPTH_LIMIT, CODE_GRAPH_UNAVAILABLE

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
        depth: Steps from the requested symbol.
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
    """A typed edge between two symbols; several places of one type are one edge.

    Attributes:
        origin: Name of the source node.
        target: Name of the target node.
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
    """The subgraph around a symbol, up to a depth.

    Attributes:
        nodes: The symbol first, then by depth, then important ones first.
        edges: The followed edges, in node order.
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
        """The requested symbol."""
        return self.nodes[0]

    @property
    def degraded(self) -> bool:
        """False: this is a graph, not a text search."""
        return False

    def to_wire(self) -> dict[str, Any]:
        """`{"nodes": [{"id", "name", "type"}], "edges": [{"from", "to", "type"}]}`; edges use the nodes' names.

        `warnings` (as `CODE: message`) and `truncated` are present only if set.
        """
        return {
            "nodes": [{"id": node.id, "name": node.name, "type": node.type} for node in self.nodes],
            "edges": [{"from": edge.origin, "to": edge.target, "type": edge.type} for edge in self.edges],
            **_warnings_wire(self.warnings, self.truncated),
        }


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A line that contains the symbol's name.

    Attributes:
        file: Relative to the repository.
        line: Its number, from 1.
        match: The name as written.
        text: The whole line, without white space at its ends.
    """

    file: str
    line: int
    match: str
    text: str


@dataclass(frozen=True, slots=True)
class TextMatches:
    """The result of a text search, without a graph.

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
        """True: a text search replaces the graph."""
        return True

    @property
    def reason(self) -> str:
        """The fixed reason of the wire format; `warnings` have the details."""
        return DEGRADED_REASON

    def to_wire(self) -> dict[str, Any]:
        """`{"results": [{"file", "line", "match", "text"}], "degraded": true, "reason": "CKB MCP unavailable"}`.

        `warnings` has the notice and the reasons; `truncated` is present when more lines match.
        """
        return {
            "results": [asdict(hit) for hit in self.results],
            "degraded": True,
            "reason": self.reason,
            **_warnings_wire(self.warnings, self.truncated),
        }


def _warnings_wire(warnings: Sequence[ContextWarning], truncated: bool) -> dict[str, Any]:
    result: dict[str, Any] = {"warnings": [str(warning) for warning in warnings]} if warnings else {}
    return {**result, "truncated": True} if truncated else result


def resolve(graph: _core.CodeGraph, symbol: str) -> int:
    """The one node that `symbol` means.

    Raises:
        AmbiguousSymbol: Several nodes match; lists their qualified names.
        UnknownSymbol: No node matches; lists similar names.
    """
    numbers = graph.find(symbol)
    if len(numbers) == 1:
        return numbers[0]
    if numbers:
        names = tuple(graph.node(number).qualified for number in numbers)
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
    kinds: Sequence[str] = EDGE_KINDS,
    external: bool = False,
    warnings: Sequence[ContextWarning] = (),
) -> Subgraph:
    """Breadth first around a symbol.

    Args:
        graph: From `build_graph`.
        symbol: A name (`Context.invoke`, `click.core.Context.invoke`, `invoke`) or the number of a node.
        prefix: `<source>:<repository>`, the first part of node ids.
        depth: Steps; None and anything above `max_depth` are `max_depth`.
        direction: `callers` (against the edges), `callees` (along them) or `both`.
        max_depth: The configured maximum.
        max_nodes: Budget; within a depth the most used functions and classes are kept.
        max_edges: Budget; edges between the first nodes are kept.
        kinds: Edges to follow.
        external: Whether symbols outside of the repository are shown, as leaves.
        warnings: Copied into the result.

    Returns:
        A Subgraph, with a warning when `max_depth` cut it off.

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
    result = graph.walk(
        start,
        direction=direction,
        depth=steps,
        max_nodes=max_nodes,
        max_edges=max_edges,
        kinds=list(kinds),
        external=external,
    )
    nodes = {number: _node(graph, number, prefix, far) for number, far in result.nodes}
    limited = result.deeper and steps == max_depth
    return Subgraph(
        nodes=tuple(nodes.values()),
        edges=tuple(_edge(edge, nodes) for edge in result.edges),
        direction=direction,
        depth=steps,
        truncated=result.truncated,
        warnings=(*warnings, CODE_DEPTH_LIMIT(maximum=max_depth)) if limited else tuple(warnings),
    )


def _node(graph: _core.CodeGraph, number: int, prefix: str, depth: int) -> CodeNode:
    node = graph.node(number)
    place = (node.path, node.line, node.header_line, node.end_line)
    return CodeNode(f"{prefix}:{node.name}", node.name, node.kind, node.qualified, *place, depth, node.external)


def _edge(edge: _core.SymbolEdge, nodes: Mapping[int, CodeNode]) -> CodeEdge:
    ends = (nodes[edge.origin].name, nodes[edge.target].name)
    return CodeEdge(*ends, edge.kind, edge.path, edge.line, edge.sites, "exact" if edge.exact else "heuristic")


_BACKWARD = {
    "calls": "called by",
    "refs": "referenced by",
    "inherits": "inherited by",
    "imports": "imported by",
    "overrides": "overridden by",
}
_SIGNATURE_LIMIT = 240  # code points: longer ones are cut at the end of a line


def signature(root: Path, node: CodeNode) -> str:
    """The header of a definition in the file, on one line; "" without one or when it cannot be read."""
    if not node.path or node.type in ("module", "attribute") or not is_file_within(root, node.path):
        return ""
    try:
        text = read_file(root / node.path, limit=MAX_SOURCE_BYTES, below=root).decode("utf-8", "replace")
    except (OSError, ValueError):  # gone, a link, or an invalid path of an index
        return ""
    lines = text.splitlines()[node.line - 1 : node.header_line]
    text = " ".join(line.split("#")[0].strip() if node.path.endswith(".py") else line.strip() for line in lines)
    text = text.rstrip("{").strip()
    return text if len(text) <= _SIGNATURE_LIMIT else text[:_SIGNATURE_LIMIT].rstrip() + " …"


def tree(graph: Subgraph) -> str:
    """An indented tree around a symbol: `--calls--> b` where what is above calls b, `<--calls-- b` where b calls it.

    Each node is expanded once; a repeated one is marked `↑`.
    """
    nodes = {node.name: node for node in graph.nodes}
    steps: dict[str, list[tuple[str, str, CodeEdge]]] = defaultdict(list)  # arrow, the other node, edge
    for edge in graph.edges:
        if graph.direction != "callers":
            steps[edge.origin].append((f"--{edge.type}-->", edge.target, edge))
        if graph.direction != "callees":
            steps[edge.target].append((f"<--{edge.type}--", edge.origin, edge))
    root = graph.root
    seen = {root.name}
    lines = [f"{root.name}  {root.type}  {root.path}:{root.line}"]

    def lines_below(name: str, indent: int) -> Iterator[str]:
        fresh = []
        for arrow, other, edge in steps[name]:
            if nodes[other].depth <= nodes[name].depth and other in seen:
                continue
            repeated = other in seen
            seen.add(other)
            mark = " ↑" if repeated else ""
            guess = " (heuristic)" if edge.resolution == "heuristic" else ""
            line = f"{'  ' * indent}{arrow} {other}{mark}  {edge.path}:{edge.line}{guess}"
            fresh.append((line, None if repeated else other))
        for line, other_name in fresh:
            yield line
            if other_name is not None:
                yield from lines_below(other_name, indent + 1)

    lines += lines_below(root.name, 1)
    if graph.truncated:
        lines.append("… more was left out by the budget")
    return "\n".join([*lines, *(f"! {warning}" for warning in graph.warnings)])


def matches(result: TextMatches) -> str:
    """Text matches, one line each, after the notice."""
    lines = [f"! {warning}" for warning in result.warnings]
    lines += [f"{hit.file}:{hit.line}: {hit.text}" for hit in result.results]
    if not result.results:
        lines.append("no line has it")
    return "\n".join(lines + (["… more lines match"] if result.truncated else []))


def card(graph: Subgraph, root: Path, *, short: bool = False) -> str:
    """A card of a symbol for a prompt: place, signature, users and used symbols.

    Args:
        graph: The subgraph around the symbol.
        root: The repository, for signatures.
        short: Only the symbol and the names of its direct neighbours.
    """
    node = graph.root
    lines = [f"## {node.qualified} ({node.type}) {node.path}:{node.line}-{node.end_line}"]
    if header := signature(root, node):
        lines.append(header)
    direct: dict[str, list[str]] = defaultdict(list)
    further: dict[str, list[str]] = defaultdict(list)
    for edge in graph.edges:
        if edge.origin == node.name:
            direct[edge.type].append(edge.target)
        elif edge.target == node.name:
            direct[_BACKWARD[edge.type]].append(edge.origin)
        else:
            further[f"{edge.origin} {edge.type}"].append(edge.target)
    lines += [f"- {word}: {', '.join(dict.fromkeys(names))}" for word, names in direct.items()]
    if short:
        return "\n".join(lines)
    lines += [f"- {words} {', '.join(dict.fromkeys(names))}" for words, names in further.items()]
    headers = [(other, signature(root, other)) for other in graph.nodes[1:] if other.depth == 1]
    lines += [f"  {other.path}:{other.line} {text}" for other, text in headers if text]
    return "\n".join(lines)


def last_name(symbol: str) -> str:
    """The last component of a dotted, scoped or called name: `a.B#run()` is `run`."""
    parts = [part for part in re.split(r"\.|::|#|/|\\", symbol.strip().removesuffix("()")) if part]
    return parts[-1] if parts else ""


def text_search(
    root: Path,
    symbol: str,
    failures: Sequence[SourceUnavailable],
    *,
    limit: int = 200,
    extra: Sequence[ContextWarning] = (),
) -> TextMatches:
    """Lines of the repository with the last component of the symbol as a whole word.

    Args:
        root: The repository.
        symbol: What was asked for.
        failures: Why each source failed; each becomes a warning.
        limit: Maximum number of lines.
        extra: Further warnings.

    Raises:
        ValueError: No name in `symbol`.
    """
    name = last_name(symbol)
    if not name:
        raise ContractError(f"no symbol in {shown(symbol)}")
    left, right = (r"\b" if word else "" for word in (re.match(r"\w", name), re.search(r"\w$", name)))
    hits = scan(root, f"{left}{re.escape(name)}{right}", regex=True, limit=limit)
    results: dict[tuple[str, int], TextMatch] = {}
    for hit in hits:
        results.setdefault((hit.path, hit.line), TextMatch(hit.path, hit.line, name, hit.text.strip()))
    warnings = (CODE_GRAPH_UNAVAILABLE(), *(failure.warning for failure in failures), *extra)
    return TextMatches(symbol, tuple(results.values()), warnings, truncated=hits.truncated)
