"""Graphs of entities and relations: NervusDB's, or one that a user brings (`armarius.index.graph` is the project's)."""

from armarius.graph.nervusdb import NervusDBGraph
from armarius.graph.protocol import (
    Graph,
    GraphStore,
    checked_entity,
    checked_relation,
)
from armarius.graph.walk import MAX_DEPTH, walk
from armarius.graph.wire import from_bytes, to_bytes

__all__ = [
    "MAX_DEPTH",
    "Graph",
    "GraphStore",
    "NervusDBGraph",
    "checked_entity",
    "checked_relation",
    "from_bytes",
    "to_bytes",
    "walk",
]
