"""The codex: entities with aliases, relations and context levels, merged from all files that describe them.

model.py       the records; ids by id, name or alias; conflicts of names
cards.py       the text of an entity in a prompt; which facts and lines hold in a chapter
codex_json.py  `codex.json`, checked field by field; other JSON and YAML to drafts
profiles/      Markdown pages to drafts of entities
names_in_story.py   which drafts are entities: what the story says to headings
authored/      records that the user writes through the API or by hand
load.py        a project folder to a codex
people.py      persons of a cast: gender, family names, titles; short forms that names allow
proposals.py   names in a text that no profile describes
merge.py       several sources to one codex: authored over `codex.json` over profiles

A new label or heading of profiles is a word of `armarius.lexicon`. What must hold: an error affects only its entry and
is reported with file and place; the order of files decides only ties, by path; only proposals.py reads chapters.
"""

from armarius.doors import lazy

TABLE = {
    "codex.authored.codex": "AuthoredCodex",
    "codex.authored.collection": "Constraints Memories Pins Summaries",
    "codex.authored.protocol": "Authored RecordStore",
    "codex.cards": "entity_card short_card",
    "codex.people": "short_names",
    "codex.proposals": "ProposedName propose_names",
    "text.matcher": "ShortName",
    "codex.load": "build_codex load_codex read_declared",
    "codex.model": (
        "CONTEXT_LEVELS Codex Constraint ContextLevel Deleted Entities Entity Fact Memory Origin Overruled "
        "PassageSummary Pin RejectedName Relation Summary"
    ),
}

__getattr__, __all__ = lazy(__name__, TABLE)
