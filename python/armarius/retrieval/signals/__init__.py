"""What speaks for a paragraph or a hit beside its words, and how it is told.

phrases.py (quoted words, as they stand)   vectors.py (what is near in meaning)   explain.py (the reasons of a hit)

What must hold: one file each; a failing source is a warning; a reason names what it saw and where.
"""
