"""The codex: entities, aliases, relations, context levels; which files say so, and which says the last word.

model.py (the records)   identity.py (whom a name means)   cards.py (the one text of an entity that a prompt shows;
what holds when)
profiles/ (prose pages read as entities)   importers/ (files of other programs)
authored/ (what the user writes here)
load.py (all of them read)   merge.py (made one: authored over imported over prose)   load.py (of a project folder)

A new file format is an importer; a new label or heading of profiles is a word of `armarius.lexicon`. What must hold:
a fault costs the entry it is in, with file and place, never the file; the order of the files
does not decide anything but ties, which fall by path; nothing here looks into chapters (that is `armarius.names`).
"""

from armarius.lazy import lazy

TABLE = {
    "codex.authored.codex": "AuthoredCodex",
    "codex.authored.collection": "Constraints Memories Pins Summaries",
    "codex.authored.protocol": "Authored RecordBook",
    "codex.cards": "entity_card short_card",
    "codex.load": "build_codex load_codex read_declared",
    "codex.model": (
        "CONTEXT_LEVELS Codex Constraint ContextLevel Entity Fact Memory Origin Overruled Pin Relation Summary"
    ),
}

__getattr__, __all__ = lazy(__name__, TABLE)
