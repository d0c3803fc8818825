"""External graphs of entities and relations: NervusDB, or a store that the user implements.

protocol.py      `GraphStore`, `Graph`, a breadth-first walk for any store
entity_cache.py  `GraphGuard`: queries with a timeout; a cache of all entities; the table `graph` of `armarius.toml`
nervusdb.py      a store over the NervusDB program; a graph as JSON bytes

A new store is a class that passes `armarius.testing.GraphStoreConformance`; the project's own graph is
`armarius.index.graph`. What must hold: a store adds entities and never overrides those of files; a request waits at
most `timeout_s`; results are validated; a walk of a cyclic graph ends at the given depth (docs/decisions/0090).
"""

import armarius.doors as doors

TABLE = {
    "graph.protocol": "Graph GraphStore MAX_DEPTH checked_entity checked_relation walk",
} | doors.PUBLIC["graph"]

__getattr__, __all__ = doors.lazy(__name__, TABLE)
