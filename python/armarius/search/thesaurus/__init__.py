"""The dictionaries of synonyms: CC-CEDICT, a door (cedict.py), and the file of WordNet, which `search/query/` reads."""
