"""Every format that a book may come in: detected by content, read into entries, written back.

file_encoding.py (bytes to JSON and back)   containers.py (a file to its trees, a tree to its format)
format.py (what a format is, the reader of its values)   fields.py (tables whose rows are read and written)
sillytavern.py cards.py novelai.py risu.py agnai.py kobold.py ai_dungeon.py notes.py (Markdown)

What must hold: nothing is decided by a name; a damaged entry costs that entry; what is not changed is given back byte
for byte; an edit writes only the fields that were edited into the tree that was read.
"""
