"""The index of one project: kept equal to the source of its texts, in whatever store.

source.py (where texts come from)   folder_source.py series.py (a folder, and those of a series)
settings.py (the configuration, and where the index lives)   watcher.py (changes of files)
refresh.py commits.py (compare, read, write)   snapshot.py (codex and matcher of one moment)
name_learning.py mentions.py describing.py (derived rows)   search.py graph.py status.py next_steps.py
keeper.py (a store kept equal, asked, repaired)   project_index.py (all of it, open)

What must hold: whatever happens to the index, the next look makes it equal to its texts again; what one refresh says is
one transaction, unless it is of many documents; what is learnt is a function of the texts alone, not of the way there.
"""

from armarius.lazy import lazy

TABLE = {
    "index.graph": "ProjectGraph",
    "index.status": "IndexStatus Progress",
}

__getattr__, __all__ = lazy(__name__, TABLE)
