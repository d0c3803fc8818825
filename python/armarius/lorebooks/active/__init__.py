"""Activation: which entries are active for a text or a chat under the rules of a profile, and why others are not.

records.py (input: messages, text, settings, random numbers; output: active and skipped entries, state; macros,
decorators, expressions)   compiled.py (settings of a profile, entries with compiled keys)
rounds.py (engine of most profiles: sillytavern, character-card-spec, obsidian, novelcrafter, armarius)
programs.py (other engines: RisuAI, Agnai, KoboldAI, Kobold Lite, AI Dungeon, NovelAI)

Invariants: activation is deterministic, random choices included; its cost is linear in the text and independent of the
size of the books; recursion terminates; the state of timed entries is an argument and part of the result.
"""
