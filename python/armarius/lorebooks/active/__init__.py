"""Activation: which entries are active for a text or a chat under the rules of a profile, and why others are not.

scan.py (input: messages, text, settings, random numbers)   result.py (active and skipped entries, state)
compiled.py (entries with compiled keys)   macros.py (macros and `@@name` decorators)
rules.py searched.py rounds.py (engine of most profiles: sillytavern, character-card-spec, obsidian, novelcrafter,
armarius)   risu.py agnai.py stories.py (other engines; the last for KoboldAI, Kobold Lite, AI Dungeon, NovelAI)

Invariants: activation is deterministic, random choices included; its cost is linear in the text and independent of the
size of the books; recursion terminates; the state of timed entries is an argument and part of the result.
"""
