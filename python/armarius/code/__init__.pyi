# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.code.index import CodeIndex as CodeIndex
from armarius.code.index import CodeOptions as CodeOptions
from armarius.code.scip import BatchSource as BatchSource
from armarius.code.scip import CodeSource as CodeSource
from armarius.code.scip import Reference as Reference
from armarius.code.scip import build_graph as build_graph
from armarius.code.subgraph import CodeEdge as CodeEdge
from armarius.code.subgraph import CodeNode as CodeNode
from armarius.code.subgraph import Subgraph as Subgraph
from armarius.code.subgraph import TextMatch as TextMatch
from armarius.code.subgraph import TextMatches as TextMatches
from armarius.errors import SourceUnavailable as SourceUnavailable
from armarius.types import Direction as Direction
