"""Projects on a PostgreSQL server: the extra `armarius[postgres]`, imported by nobody who does not connect.

store.py (the engine; search in the worker; verification)   pool.py (connections, what goes wrong)   session.py (of one
project)   schema.py migrations/ (tables, all rows of a project; a document as rows, names)
writing.py (one `apply`; what a host wrote)   vectors.py

What must hold: every statement says which project it is about and is a constant of this folder; one project to a
transaction; nothing is set, listened to, prepared or locked beyond it; no value over 256 KiB; rows of `files` are the
user's, and only a host's write changes them. `tests/server/tracing.py` judges every statement by that.
"""
