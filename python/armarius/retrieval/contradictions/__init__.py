"""Sentences that say different things of one attribute: both sides, no verdict.

values.py (what a sentence says, comparably)   statements.py (who says it)   detect.py (which of them compete)

What must hold: words of attributes and values stand in `lexicon/attributes.toml`; a sentence is quoted as written.
"""
