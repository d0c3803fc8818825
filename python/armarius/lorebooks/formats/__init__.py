"""The formats of lorebooks: detected from content, read into entries, written back.

file_encoding.py (bytes to JSON and back)   containers.py (file to JSON trees, detection of their format)
format.py (`Format`, `Reader`)   fields.py (tables of fields that are read and written)
sillytavern.py cards.py risu.py (and Agnai) stories.py (NovelAI, KoboldAI, AI Dungeon) notes.py (Markdown)

Invariants: formats are detected from content, not from names; a damaged entry does not affect the others; unchanged
files are exported byte for byte; an edit writes only the edited fields into the tree that was read.
"""
