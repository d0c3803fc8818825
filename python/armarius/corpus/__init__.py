"""Documents in the form that search uses: parts of the core's corpus, texts with names, stored rows.

part.py (one document cut into units: its part of the corpus, its texts, the names in them; the same as a derived row;
the core's corpus of a project, and of a store)
story.py (the chapters in their order; what the outlines say of one)

These depend on the document and the matcher alone; `search/corpus.py` adds what depends on the whole project.
Invariants: a row of another text, other names or another form, or a damaged row, is computed again; raise `part.FORM`
when the same document gives other rows.
"""
