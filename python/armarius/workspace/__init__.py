"""Many projects at once: on a server (`connect`), or in the subfolders of a folder (`shelf`); each a `ContextEngine`.

engines.py (LRU cache of engines; quotas; what projects of folders and servers share)
folder.py (`shelf`: projects in folders, one watcher for all; `connect`)
server.py (all projects of a server, and one of them)
stored.py (files and lorebooks of a project as rows; `push` and `pull` between a folder and the server)

Invariants: this package is loaded only by `connect` and `shelf`; an evicted engine still works for its callers; on a
server, texts change only in `Novel.write` and in writes of codex, records and books; a tenant sees only its own rows.
"""

from armarius.doors import lazy

TABLE = {
    "workspace.engines": "Health ShelfStatus",
    "workspace.folder": "FolderEntry LocalNovel LocalShelf connect shelf",
}

__getattr__, __all__ = lazy(__name__, TABLE)
