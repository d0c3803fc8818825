"""The codex: entities, aliases, relations, context levels; which files say so, and which says the last word.

model.py (the records)   cards.py (the one text of an entity that a prompt shows)   timeline.py (what holds when)
profiles/ (prose pages read as entities)   importers/ (files of other programs)
authored/ (what the user writes here)
load.py (all of them read)   merge.py (made one: authored over imported over prose)   folder.py (of a project folder)

A new file format is an importer; a new label or heading of profiles is a word of `armarius.lexicon`. What must hold:
a fault costs the entry it is in, with file and place, never the file; the order of the files
does not decide anything but ties, which fall by path; nothing here looks into chapters (that is `armarius.names`).
"""

from armarius.codex.authored.codex import AuthoredCodex
from armarius.codex.authored.collection import Constraints, Memories, Pins, Summaries
from armarius.codex.authored.protocol import Authored, RecordBook
from armarius.codex.cards import entity_card, short_card
from armarius.codex.load import build_codex, load_codex, read_declared
from armarius.codex.model import (
    CONTEXT_LEVELS,
    Codex,
    Constraint,
    ContextLevel,
    Entity,
    Fact,
    Memory,
    Origin,
    Overruled,
    Pin,
    Relation,
    Summary,
)

__all__ = [
    "CONTEXT_LEVELS",
    "Authored",
    "AuthoredCodex",
    "Codex",
    "Constraint",
    "Constraints",
    "ContextLevel",
    "Entity",
    "Fact",
    "Memories",
    "Memory",
    "Origin",
    "Overruled",
    "Pin",
    "Pins",
    "RecordBook",
    "Relation",
    "Summaries",
    "Summary",
    "build_codex",
    "entity_card",
    "load_codex",
    "read_declared",
    "short_card",
]
