"""Profiles: pages of Markdown, JSON and YAML read as entities with aliases, attributes and relations.

read.py       the entry point: a page to drafts of entities
sections.py   lines to a tree of sections
fields.py     a section and its labelled lines; meanings of labels
draft.py      the draft of an entity; links of a note
headings.py   names, roles and notes in a heading; placeholders; the shape of a name
data.py       JSON and YAML to drafts
entity.py     a section to a draft
relations.py  relations that profiles and links state

Data flows one way, from page to draft; `documents/titles.py` classifies titles. A new word is a row of
`lexicon/profiles.toml` or `lexicon/kinds.toml`; a new shape of page is first a row of tests/cases/profiles.json. What
must hold: parsing is linear in the page; an empty page is no entity; nothing here reads files or other pages
(docs/decisions/0040).
"""
