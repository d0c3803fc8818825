"""Graphs of entities and relations that are not the project's files: NervusDB's, or one that a user brings.

protocol.py (`GraphStore`, six methods)   protocol.py (level by level, for any store)   nervusdb.py (a graph as bytes)
entity_cache.py protocol.py (asked on behalf of a request that must be answered all the same)
nervusdb.py (one such store)   options.py (what `armarius.toml` may say)

A graph of one's own is a class that passes `armarius.testing.GraphStoreConformance`; the project's own is
`armarius.index.graph`. What must hold: a graph adds and never overrides a file; it is waited for at most `timeout_s`;
whatever it returns is checked; a walk ends, whatever the circles, at the given depth (docs/decisions/0090).
"""

from armarius.lazy import lazy

TABLE = {
    "graph.nervusdb": "NervusDBGraph from_bytes to_bytes",
    "graph.protocol": "Graph GraphStore MAX_DEPTH checked_entity checked_relation walk",
}

__getattr__, __all__ = lazy(__name__, TABLE)
