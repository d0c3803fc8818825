"""The tables of one project at one moment, brought from each moment to the next.

corpus.py (a moment; whoever asks takes a turn)   tables.py text.py names.py (texts, sections, outline, who is named)
bounded.py (the same within the bounds of a request)   live.py (the same with the open document as an editor holds it);
the core's corpus itself is `armarius.corpus.paragraphs`

What must hold: a document is worked out once (`armarius.corpus`); tables made step by step equal tables made anew.
"""
