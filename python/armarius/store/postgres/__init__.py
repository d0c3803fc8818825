"""Projects on a PostgreSQL server: the extra `armarius[postgres]`, imported by nobody who does not connect.

store.py (the engine)   pool.py failures.py (connections, what goes wrong)   session.py transaction.py (of one project)
schema.py migrations/ (tables)   keys.py (what may be a name)   tables.py (all rows of a project)
packing.py (a document as rows) writing.py (one `apply`) reading.py words.py (search, in the worker) integrity.py
files.py (what a host wrote)   vectors.py vectors_rows.py vectors_upkeep.py vectors_search.py

What must hold: every statement says which project it is about and is a constant of this folder; one project to a
transaction; nothing is set, listened to, prepared or locked beyond it; no value over 256 KiB; rows of `files` are the
user's, and only a host's write changes them. `tests/server/tracing.py` judges every statement by that.
"""
