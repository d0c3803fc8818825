"""The embedded store: one SQLite file per project, its full text, its vectors, and the approximate index beside it.

store.py (the engine)   session.py connection.py schema.py schema.sql (opened, joined or built again; sealed)
location.py lock.py (where it lies, who has it open)   integrity.py (is it sound?)
writing.py (one `apply`)   reading.py packing.py fulltext.py (rows)
vectors.py vectors_rows.py vectors_search.py (sets, tables, search)   ann.py ann_index.py (USearch)

What must hold: nothing in an index is the only copy; a change of the schema is a new number; numpy and USearch are
loaded only where there are vectors.
"""
