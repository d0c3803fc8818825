"""The codex: entities with aliases, relations and context levels, merged from all files that describe them.

model.py       the records
identity.py    ids by id, name or alias; conflicts of names
cards.py       the text of an entity in a prompt; which facts and lines hold in a chapter
codex_json.py  `codex.json`, checked field by field
profiles/      Markdown pages, JSON and YAML to drafts of entities
names_in_story.py   which drafts are entities: what the story says to headings
authored/      records that the user writes through the API or by hand
load.py        a project folder to a codex
merge.py       several sources to one codex: authored over `codex.json` over profiles

A new label or heading of profiles is a word of `armarius.lexicon`. What must hold: an error affects only its entry and
is reported with file and place; the order of files decides only ties, by path; chapters are not read here
(`armarius.names` does that).
"""

from armarius.doors import lazy

TABLE = {
    "codex.authored.codex": "AuthoredCodex",
    "codex.authored.collection": "Constraints Memories Pins Summaries",
    "codex.authored.protocol": "Authored RecordStore",
    "codex.cards": "entity_card short_card",
    "codex.load": "build_codex load_codex read_declared",
    "codex.model": (
        "CONTEXT_LEVELS Codex Constraint ContextLevel Deleted Entities Entity Fact Memory Origin Overruled "
        "PassageSummary Pin RejectedName Relation Summary"
    ),
}

__getattr__, __all__ = lazy(__name__, TABLE)
