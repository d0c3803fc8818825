"""The index of one project: a store that is kept equal to the project's texts.

source.py series.py (protocol of a document source; one folder, its live configuration, texts of an editor; a series)
watcher.py (file events)
freshness.py (codex and matcher at one moment; whether a store equals its texts, which are watched; commits; status)
derived.py (mentions, descriptions, evidence, map)   graph.py
manager.py (compares, reads, writes; queries and repairs a store)   project_index.py (`ProjectIndex`: all of it; search)

Invariants: the next comparison restores the index from the texts, in any state; one refresh is one transaction,
unless it writes more than 32 documents; derived rows depend on the texts alone, not on the order of changes.
"""

from armarius.doors import lazy

TABLE = {
    "index.graph": "ProjectGraph",
    "index.freshness": "IndexStatus Progress",
}

__getattr__, __all__ = lazy(__name__, TABLE)
