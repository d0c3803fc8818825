"""Every format that a book may come in: told by its content, read into entries, written back.

json_text.py (text and tree)   containers.py (what holds the tree) png.py risum.py   detect.py (which format it is)
format.py (what a format is, the reader of its values)   fields.py (tables whose rows are read and written)
sillytavern.py cards.py novelai.py risu.py agnai.py kobold.py ai_dungeon.py novelcrafter.py obsidian.py

What must hold: nothing is decided by a name; a damaged entry costs that entry; what is not changed is given back byte
for byte; an edit writes only the fields that were edited into the tree that was read.
"""
