"""Profiles: pages of Markdown read as entities with aliases, attributes and relations.

read.py       the entry point: a page to drafts of entities
fields.py     lines to sections; their labelled lines; meanings of labels
draft.py      the draft of an entity; links of a note
entity.py     a section to a draft; names, roles and notes in a heading; the shape of a name
relations.py  relations that profiles and links state

Data flows one way, from page to draft; `documents/titles.py` classifies titles. A new word is a row of
`lexicon/profiles.toml` or `lexicon/kinds.toml`; a new shape of page is first a row of tests/cases/profiles.json. What
must hold: parsing is linear in the page; an empty page is no entity; nothing here reads files or other pages
(docs/decisions/0040).
"""
