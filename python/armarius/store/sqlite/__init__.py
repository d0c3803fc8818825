"""The embedded store: one SQLite file per project, with full text and vectors, and files of the approximate index.

store.py (the engine)   session.py connection.py schema.py schema.sql (open, join or rebuild; seal)
location.py lock.py (folder of the index, lock of its users)   integrity.py (verification)
writing.py (`apply`)   reading.py packing.py fulltext.py (rows)
vectors.py vectors_rows.py vectors_search.py (sets, tables, search)   ann.py ann_index.py (USearch)

Invariants: an index holds only derived data; every change of the schema has a new version number; numpy and USearch
are loaded only for projects with vectors.
"""
