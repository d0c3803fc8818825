"""The embedded store: one SQLite file per project, with full text and vectors, and files of the approximate index.

store.py (the engine, `apply`)   connection.py (readers and the writer of a file)
schema.py schema.sql (documents as rows; full text)
location.py (folder of the index, lock of its users; open, join or rebuild; verify; seal)
vectors.py vectors_rows.py (sets, tables, search)   ann.py (USearch)

Invariants: an index holds only derived data; every change of the schema has a new version number; numpy and USearch
are loaded only for projects with vectors.
"""
