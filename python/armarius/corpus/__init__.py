"""From a document to what retrieval asks: parts of the core's corpus, texts with their names, and rows a store keeps.

part.py (a document worked out: its part, its texts, who is named in them)   units.py (how files are cut: chapters,
entries of settings, lines of the outline)   kept.py (the same as a row of `Learnt`, and back)
paragraphs.py (the core's corpus, a part per document)   opened.py (that of a store, without codex and names)
words.py (its paragraphs by words as they are written)   symbols.py (names of source code)

What is worked out here depends on the document and the matcher alone. What depends on the whole project (codex, other
documents) is made of it in `retrieval/corpus`. What must hold: a row that is about another text, other names or another
form, or that is damaged, is worked out again and never believed; raise `kept.FORM` when the same document gives other
rows.
"""
