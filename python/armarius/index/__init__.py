"""The index of one project: kept equal to the source of its texts, in whatever store.

source.py (where texts come from)   folder_source.py place.py (a folder)
watcher.py events.py pending.py following.py (changes of its files)
settings.py (the configuration)
refresh.py held.py committing.py (compare, read, write)   snapshot.py (codex and matcher of one moment)
name_learning.py name_note.py mentions.py (what is learnt)   search.py warm.py graph.py status.py progress.py
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
