"""The code graph: who calls, references, inherits, imports and overrides whom, and the neighbourhood of a symbol.

index.py (`CodeIndex`: of one folder)   subgraph.py (the answer)   subgraph.py (as text)   subgraph.py (without a graph)
source.py scip.py ckb.py (where occurrences come from)   commands.py scip.py ckb.py (programs, on the user's word)
source.py (files that have changed since)   options.py (what `armarius.toml` may say)

The graph is built and walked in `rust/code`; a language is a scanner there, an index format a `CodeSource` here. What
must hold: edges name the place they stand in; without any source the answer is a text search that says so (`CKB
不可用，降级为文本搜索`); no program runs in a project that the user does not trust; depth and size are bounded.
"""

from armarius.lazy import lazy

TABLE = {
    "code.index": "CodeIndex",
    "code.options": "CodeOptions",
    "code.source": "BatchSource CodeSource Reference build_graph",
    "code.subgraph": "CodeEdge CodeNode Direction Subgraph TextMatch TextMatches",
    "errors": "SourceUnavailable",
}

__getattr__, __all__ = lazy(__name__, TABLE)
