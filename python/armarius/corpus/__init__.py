"""Documents in the form that search uses: parts of the core's corpus, texts with names, stored rows.

part.py (one document cut into units: its part of the corpus, its texts, the names in them; the same as a derived row)
plans.py (what the outlines say of a chapter)
paragraphs.py (the core's corpus of a project, and of a store; ranking by words as written)

These depend on the document and the matcher alone; `search/corpus.py` adds what depends on the whole project.
Invariants: a row of another text, other names or another form, or a damaged row, is computed again; raise `part.FORM`
when the same document gives other rows.
"""
