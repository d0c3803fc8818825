"""A subgraph as text: a tree for people, a compact card for a prompt."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from armarius.code.freshness import MAX_SOURCE_BYTES
from armarius.code.subgraph import CodeEdge, CodeNode, Subgraph, TextMatches
from armarius.files import read_file
from armarius.trust.inside import is_file_within

__all__ = ["card", "matches", "signature", "tree"]

_BACKWARD = {
    "calls": "called by",
    "refs": "referenced by",
    "inherits": "inherited by",
    "imports": "imported by",
    "overrides": "overridden by",
}
_SIGNATURE_LIMIT = 240  # code points: longer ones are cut at the end of a line


def signature(root: Path, node: CodeNode) -> str:
    """The header of a definition as it stands in the file, on one line; "" when it has none or cannot be read."""
    if not node.path or node.type in ("module", "attribute") or not is_file_within(root, node.path):
        return ""
    try:
        text = read_file(root / node.path, limit=MAX_SOURCE_BYTES, below=root).decode("utf-8", "replace")
    except (OSError, ValueError):  # gone, a link, or a path that an index made up
        return ""
    lines = text.splitlines()[node.line - 1 : node.header_line]
    text = " ".join(line.split("#")[0].strip() if node.path.endswith(".py") else line.strip() for line in lines)
    text = text.rstrip("{").strip()
    return text if len(text) <= _SIGNATURE_LIMIT else text[:_SIGNATURE_LIMIT].rstrip() + " …"


def tree(graph: Subgraph) -> str:
    """An indented tree around a symbol: `--calls--> b` where what is above calls b, `<--calls-- b` where b calls it.

    Each node is opened once, a repeated one is marked `↑`.
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

    def grow(name: str, indent: int) -> Iterator[str]:
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
                yield from grow(other_name, indent + 1)

    lines += grow(root.name, 1)
    if graph.truncated:
        lines.append("… more was left out by the budget")
    return "\n".join([*lines, *(f"! {warning}" for warning in graph.warnings)])


def matches(found: TextMatches) -> str:
    """Text matches, one line each, after the notice."""
    lines = [f"! {warning}" for warning in found.warnings]
    lines += [f"{hit.file}:{hit.line}: {hit.text}" for hit in found.results]
    if not found.results:
        lines.append("no line has it")
    return "\n".join(lines + (["… more lines match"] if found.truncated else []))


def card(graph: Subgraph, root: Path, *, short: bool = False) -> str:
    """What a model needs to know of a symbol: where it is, its signature, who uses it and what it uses.

    Args:
        graph: Around the symbol.
        root: The repository, for signatures.
        short: The symbol and the names of its direct neighbours only.
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
