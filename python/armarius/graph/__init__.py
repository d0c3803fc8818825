"""Graphs of entities and relations that are not the project's files: NervusDB's, or one that a user brings.

protocol.py (`GraphStore`, six methods)   walk.py (level by level, for any store)   wire.py (a graph as bytes)
timeout.py entity_cache.py additions.py withheld.py (asked on behalf of a request that must be answered all the same)
nervusdb.py cypher.py process.py (one such store)   options.py (what `armarius.toml` may say)

A graph of one's own is a class that passes `armarius.testing.GraphStoreConformance`; the project's own is
`armarius.index.graph`. What must hold: a graph adds and never overrides a file; it is waited for at most `timeout_s`;
whatever it returns is checked; a walk ends, whatever the circles, at the given depth (docs/decisions/0090).
"""

from armarius.graph.nervusdb import NervusDBGraph, from_bytes, to_bytes
from armarius.graph.protocol import (
    MAX_DEPTH,
    Graph,
    GraphStore,
    checked_entity,
    checked_relation,
    walk,
)

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
