"""The index of one project: a store that is kept equal to the project's texts.

source.py series.py (protocol of a document source; one folder; a series of folders)
settings.py (live configuration, location of the index)   watcher.py (file events)
freshness.py (whether a store equals its texts)   refresh.py commits.py (compare, read, write)
snapshot.py (codex and matcher at one moment)
mentions.py describing.py evidence.py (derived rows)   search.py graph.py status.py next_steps.py
manager.py (refreshes, queries and repairs a store)   project_index.py (`ProjectIndex`: all of it)

Invariants: the next comparison restores the index from the texts, in any state; one refresh is one transaction,
unless it writes more than 32 documents; derived rows depend on the texts alone, not on the order of changes.
"""

from armarius.doors import lazy

TABLE = {
    "index.graph": "ProjectGraph",
    "index.status": "IndexStatus Progress",
}

__getattr__, __all__ = lazy(__name__, TABLE)
