"""Source code that calls source code, read from the corpus: no index of symbols is needed.

calls.py (what a found paragraph calls and what calls it, as signals)   signatures.py (lines about code that is shown)

What must hold: a project without code pays nothing and reads the same.
"""
