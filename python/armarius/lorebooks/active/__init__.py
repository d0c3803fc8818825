"""Which entries are active for a text or a chat, under the rules of a profile, and why the others are not.

scan.py (what is searched: messages, text, settings, draws) result.py (active entries, and what later turns need)
compiled.py (entries with their keys, found all at once) macros.py (macros, and `@@name` lines taken into an entry)
rules.py searched.py rounds.py (the engine of most profiles: sillytavern,
character-card-spec, obsidian, novelcrafter, armarius)
risu.py agnai.py stories.py (engines of their own; the last for KoboldAI, Kobold Lite, AI Dungeon, NovelAI)

What must hold: the same input gives the same answer, draws included; a text costs what it is long, not what the books
hold; recursion ends; nothing is hidden: state is an argument and an answer.
"""
