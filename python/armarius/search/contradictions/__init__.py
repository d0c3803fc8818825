"""Sentences that say different things of one attribute: both sides, no verdict.

values.py (what a sentence says, comparably)   statements.py (sentences, and the owner of a value)
detect.py (which statements compete, grouped; whether a card says what is asked)

What must hold: words of attributes and values stand in `lexicon/attributes.toml`; a sentence is quoted as written.
"""
