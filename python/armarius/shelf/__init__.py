"""Many projects at once: on a server (`connect`), each of them a `ContextEngine` whose texts are rows.

stored.py stored_authored.py (files of a project as rows: `StoredSource`, `StoredAuthored`)
hot.py (engines in memory, least recently used out)   novel.py (the engine of one project, hot or not)
shelf.py (all projects of a server)   keeping.py (list, delete, rename, copy)   folder.py (to and from a folder)

connecting.py (`connect`)   limits.py status.py counters.py

What must hold: nothing here is loaded before somebody connects; the texts of a project change in `Novel.write` and in
what its books of records write, nowhere else; one tenant never sees a row of another.
"""
