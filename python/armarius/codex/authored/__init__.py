"""Records that the user writes through the API or by hand: entities, relations, memories, constraints, pins, summaries.

protocol.py     `Authored` (the source of the records), blocks of a TOML file
record_file.py  a file of records: read, change, write
codex.py        `AuthoredCodex`: entities and relations
in_place.py     an entity changed in the Markdown page that describes it
collection.py   `Memories`, `Constraints`, `Pins`, `Summaries`

What must hold: these records cannot be derived again, so each write is atomic and keeps every edit made by hand; an
invalid record is reported with its line and does not affect the others.
"""
