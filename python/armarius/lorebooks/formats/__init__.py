"""Every format that a book may come in: told by its content, read into entries, written back.

json_text.py (text and tree)   containers.py (what holds the tree) png.py risum.py
reading.py (a reader's tools: coercion, losses)   format.py (what a format is)   detect.py (which one it is)
sillytavern.py cards.py tavernhelper.py novelai.py risu.py agnai.py kobold.py ai_dungeon.py novelcrafter.py obsidian.py
decorators.py (`@@name` lines)

What must hold: nothing is decided by a name; a damaged entry costs that entry; what is not changed is given back byte
for byte; an edit writes only the fields that were edited into the tree that was read.
"""
