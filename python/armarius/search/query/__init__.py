"""What a question means, before anything is looked up.

query.py (all of it: names, quoted words, attributes)   chapters.py (which chapters, which end of them)
query.py (its words as the corpus is asked)   kinship.py relations.py (relation words and the entities they lead to)
kinship.py (phrases of `lexicon/questions.toml` and `attributes.toml`, and how one is found)

What must hold: everything understood carries the words it was read from; linear in the question; closed classes only.
"""
