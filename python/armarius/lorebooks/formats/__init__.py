"""The formats of lorebooks: detected from content, read into entries, written back.

containers.py (file to JSON trees and back, detection of their format)
format.py (`Format`, `Reader`, tables of fields that are read and written)
chats.py (SillyTavern, RisuAI, Agnai) cards.py stories.py (NovelAI, KoboldAI, AI Dungeon) notes.py (Markdown)

Invariants: formats are detected from content, not from names; a damaged entry does not affect the others; unchanged
files are exported byte for byte; an edit writes only the edited fields into the tree that was read.
"""
