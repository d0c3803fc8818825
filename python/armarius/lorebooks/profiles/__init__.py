"""Whose rules decide: one file per engine, and Armarius' own.

table.py (those searched in rounds: sillytavern, character-card-spec, obsidian, novelcrafter, armarius)
risu.py agnai.py stories.py (engines of their own; the last for KoboldAI, Kobold Lite, AI Dungeon, NovelAI)
"""
