"""The code graph: who calls, references, inherits, imports and overrides whom, and the neighbourhood of a symbol."""

from armarius.code.index import CodeIndex
from armarius.code.options import CodeOptions
from armarius.code.source import CodeSource, Reference, build_graph
from armarius.code.subgraph import CodeEdge, CodeNode, Subgraph, TextMatch, TextMatches
from armarius.errors import SourceUnavailable

__all__ = [
    "CodeEdge",
    "CodeIndex",
    "CodeNode",
    "CodeOptions",
    "CodeSource",
    "Reference",
    "SourceUnavailable",
    "Subgraph",
    "TextMatch",
    "TextMatches",
    "build_graph",
]
