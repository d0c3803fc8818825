"""The embedded store: one SQLite file per project, its full text, its vectors, and the approximate index beside it.

store.py (the engine)   session.py connection.py schema.py migrations/ (open, checked, sealed)
location.py claim.py lock.py (where it lies, whose it is, who has it open)
writing.py generations.py (one `apply`, what came since)   packing.py passages.py fulltext.py graph.py learnt.py (rows)
integrity.py (is it sound?)   vectors_*.py (sets, tables, search)   ann.py ann_file.py ann_index.py (USearch)

What must hold: a new column is part of a hash that `verify` compares; a change of the schema is a new number; numpy and
USearch are loaded only where there are vectors.
"""
