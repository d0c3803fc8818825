"""The code graph: who calls, references, inherits, imports and overrides whom, and the neighbourhood of a symbol.

index.py (`CodeIndex`: of one folder)   subgraph.py (the answer)   render.py (as text)   fallback.py (without a graph)
source.py scip.py ckb.py (where occurrences come from)   commands.py indexers.py rpc.py (programs, on the user's word)
freshness.py (files that have changed since)   options.py (what `armarius.toml` may say)

The graph is built and walked in `rust/code`; a language is a scanner there, an index format a `CodeSource` here. What
must hold: edges name the place they stand in; without any source the answer is a text search that says so (`CKB
不可用，降级为文本搜索`); no program runs in a project that the user does not trust; depth and size are bounded.
"""

from armarius.code.index import CodeIndex
from armarius.code.options import CodeOptions
from armarius.code.source import BatchSource, CodeSource, Reference, build_graph
from armarius.code.subgraph import CodeEdge, CodeNode, Direction, Subgraph, TextMatch, TextMatches
from armarius.errors import SourceUnavailable

__all__ = [
    "BatchSource",
    "CodeEdge",
    "CodeIndex",
    "CodeNode",
    "CodeOptions",
    "CodeSource",
    "Direction",
    "Reference",
    "SourceUnavailable",
    "Subgraph",
    "TextMatch",
    "TextMatches",
    "build_graph",
]
