"""Profiles in prose files: pages of Markdown read as entities, with their aliases, attributes and relations.

read.py (a page to entities: the way in)   sections.py entity.py fields.py (the page as a tree)
fields.py (what a label means)   draft.py (names in a heading)
entity.py draft.py (an entity of it)
relations.py (who is what to whom)

Data flows one way, page to draft; what a title announces is `documents/titles.py`. A new word is a row of
`lexicon/profiles.toml` or `lexicon/kinds.toml`, a new shape of page a row of tests/cases/profiles.json first. What
must hold: linear in the page; a page that says nothing is no entity; nothing here knows files or other pages (docs
0040).
"""
