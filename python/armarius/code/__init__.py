"""The code graph: calls, references, inheritance, imports and overrides; subgraphs around a symbol.

index.py     `CodeIndex`: the graph of one folder, built and kept up to date; the table `code` of `armarius.toml`
scip.py      `CodeSource`; `index.scip` as one; changed files; running indexers
ckb.py       CKB's MCP server as a source
subgraph.py  the subgraph around a symbol, as text and JSON; the text search without a graph
fetcher.py   symbols that a request names, as candidates

The graph is built and walked in `rust/code`; a new language is a scanner there, a new index format a `CodeSource` here.
What must hold: edges have a file and a line; without a source the result is a text search with a notice (`CKB
不可用，降级为文本搜索`); no program runs in an untrusted project; depth and size are bounded.
"""

from armarius.doors import lazy

TABLE = {
    "code.index": "CodeIndex CodeOptions",
    "code.scip": "BatchSource CodeSource Reference build_graph",
    "code.subgraph": "CodeEdge CodeNode Subgraph TextMatch TextMatches",
    "errors": "SourceUnavailable",
    "types": "Direction",
}

__getattr__, __all__ = lazy(__name__, TABLE)
