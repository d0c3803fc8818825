"""The embedded store: one SQLite file per project, with full text and vectors, and files of the approximate index.

store.py (the engine)   session.py connection.py schema.py schema.sql (open, join or rebuild; verify; seal; full text)
location.py (folder of the index, lock of its users)   writing.py packing.py (`apply`, rows)
vectors.py vectors_rows.py (sets, tables, search)   ann.py (USearch)

Invariants: an index holds only derived data; every change of the schema has a new version number; numpy and USearch
are loaded only for projects with vectors.
"""
