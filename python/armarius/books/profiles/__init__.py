"""Whose rules decide: one file per engine, and Armarius' own.

rules.py (what the engine of rounds is told) decorated.py (`@@name` lines taken into an entry)
rounds profiles: sillytavern, character-card-spec, obsidian, novelcrafter, armarius (table.py)
risu.py agnai.py kobold.py novelai.py ai_dungeon in stories.py (engines of their own)
"""
