"""Many projects at once: on a server (`connect`), or in folders side by side (`shelf`); each of them a `ContextEngine`.

hot.py (engines in memory, least recently used out)   shelved.py (the engine of one project, in memory or not)
limits.py status.py counters.py

local.py (`shelf`) local_shelf.py (folders: one watcher for all)

connecting.py (`connect`)   shelf.py (all projects of a server)   keeping.py (list, delete, rename, copy)
novel.py hot_stored.py (one of them)   stored.py stored_authored.py (its files as rows)
folder.py (to and from a folder)

What must hold: nothing here is loaded before somebody connects or makes a shelf; what is let go from memory answers
whoever still holds it. On a server the texts of a project change in `Novel.write` and in what its books of records
write, nowhere else; one tenant never sees a row of another.
"""

from armarius.lazy import lazy

TABLE = {
    "workspace.cache": "Quota",
    "workspace.folder": "FolderEntry LocalNovel LocalShelf shelf",
    "workspace.project": "Health ShelfStatus",
    "workspace.workspace": "connect",
}

__getattr__, __all__ = lazy(__name__, TABLE)
