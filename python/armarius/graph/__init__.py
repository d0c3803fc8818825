"""Graphs of entities and relations: the project's own, NervusDB's, or one that a user brings."""

from armarius.graph.nervusdb import NervusDBGraph
from armarius.graph.protocol import (
    Graph,
    GraphStore,
    checked_entity,
    checked_relation,
)
from armarius.graph.walk import MAX_DEPTH, walk
from armarius.graph.wire import from_bytes, to_bytes
from armarius.index.graph import ProjectGraph

__all__ = [
    "MAX_DEPTH",
    "Graph",
    "GraphStore",
    "NervusDBGraph",
    "ProjectGraph",
    "checked_entity",
    "checked_relation",
    "from_bytes",
    "to_bytes",
    "walk",
]
