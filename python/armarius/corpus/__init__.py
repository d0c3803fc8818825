"""From a document to what retrieval asks: parts of the core's corpus, texts with their names, and rows a store keeps.

part.py (a document cut into units and worked out: its part, its texts, the names in them)
kept.py (the same as a derived row, and back)
paragraphs.py (the core's corpus, a part per document; that of a store, without codex; ranking by words as written)

What is worked out here depends on the document and the matcher alone. What depends on the whole project (codex, other
documents) is made of it in `search/corpus.py`. What must hold: a row that rests on another text, other names or another
form, or that is damaged, is worked out again and never believed; raise `kept.FORM` when the same document gives other
rows.
"""
