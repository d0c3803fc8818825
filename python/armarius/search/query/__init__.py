"""Understanding of a question, before any lookup.

query.py (names, quoted words; its terms for the corpus)   chapters.py (which chapters it names)
recipe.py (what a request asks for, and what its prompt holds: lexicon/intents.toml)
words.py (other words for a word)   relations.py (relation words, and the entities that they lead to)
coreference.py follow_up.py (pronouns; questions that continue a conversation)

Invariants: everything understood carries the words it was read from; linear in the question; closed classes only.
"""
