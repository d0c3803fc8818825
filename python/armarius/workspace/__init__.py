"""Many projects at once: on a server (`connect`), or in folders side by side (`shelf`); each of them a `ContextEngine`.

cache.py (engines in memory, least recently used out)   project.py (the engine of one project, in memory or not)
cache.py project.py

folder.py (`shelf`) folder.py (folders: one watcher for all)

workspace.py (`connect`)   workspace.py (all projects of a server)   cache.py (list, delete, rename, copy)
project.py cache.py (one of them)   stored.py (its files as rows)
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
