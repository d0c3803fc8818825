"""The formats of lorebooks: detected from content, read into entries, written back.

format.py (`Format`; `Reader`, which collects entries, their values checked, each repair reported; `FieldTable`)
containers.py (file to JSON trees and back, detection of their format)
chats.py (SillyTavern, RisuAI, Agnai) cards.py stories.py (NovelAI, KoboldAI, AI Dungeon) notes.py (Markdown)

A row of a `FieldTable` names a member of the raw object (`contextConfig.prefix` inside an object of it) and the dotted
field of an entry that it is read into and written from, one of `LEAVES`; or it is a pair of functions.

Invariants: formats are detected from content, not from names; a damaged entry does not affect the others; unchanged
files are exported byte for byte; an edit writes only the edited fields into the tree that was read.
"""
