"""Many projects at once: on a server (`connect`), or in the subfolders of a folder (`shelf`); each a `ContextEngine`.

cache.py (LRU cache of engines; quotas)   project.py (engine of one project)
folder.py (`shelf`: projects in folders, one watcher for all)
connection.py (`connect`)   workspace.py (all projects of a server, and one of them)
stored.py (files and lorebooks of a project as rows; `push` and `pull` between a folder and the server)

Invariants: this package is loaded only by `connect` and `shelf`; an evicted engine still works for its callers; on a
server, texts change only in `Novel.write` and in writes of codex, records and books; a tenant sees only its own rows.
"""

from armarius.lazy import lazy

TABLE = {
    "workspace.cache": "Quota",
    "workspace.folder": "FolderEntry LocalNovel LocalShelf shelf",
    "workspace.project": "Health ShelfStatus",
    "workspace.connection": "connect",
}

__getattr__, __all__ = lazy(__name__, TABLE)
