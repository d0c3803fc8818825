"""The codex: entities with aliases, relations and context levels, merged from all files that describe them.

model.py       the records; ids by id, name or alias; conflicts of names
cards.py       the text of an entity in a prompt; which facts and lines hold in a chapter
codex_json.py  `codex.json`, checked field by field; other JSON and YAML to drafts
load.py        a project folder to a codex
merge.py       several sources to one codex: authored over `codex.json` over profiles
people.py      persons of a cast: gender, family names, titles; short forms that names allow
proposals.py   names in a text that no profile describes

Profiles, the pages of Markdown that describe entities; data flows one way, from page to draft:

profiles.py           a page to drafts of entities
profile_fields.py     lines to sections; their labelled lines; meanings of labels
profile_entity.py     a section to a draft; names, roles and notes in a heading; the shape of a name
profile_relations.py  relations that profiles and links state
draft.py              the draft of an entity; links of a note
names_in_story.py     which drafts are entities: what the story says to headings

Records that the user writes through the API or by hand, which cannot be derived again:

authored.py     `AuthoredCodex`: entities and relations
collection.py   `Memories`, `Constraints`, `Pins`, `Summaries`
in_place.py     an entity changed in the Markdown page that describes it
protocol.py     `Authored` (the source of the records), blocks of a TOML file
record_file.py  a file of records: read, change, write

A new label or heading of profiles is a row of `lexicon/profiles.toml` or `lexicon/kinds.toml`; a new shape of page is
first a row of tests/cases/profiles.json (docs/decisions/0040). What must hold: an error affects only its entry and is
reported with file, place and line; the order of files decides only ties, by path; only proposals.py reads chapters;
parsing is linear in the page, and an empty page is no entity; a write is atomic and keeps every edit made by hand.
"""

from armarius.doors import lazy

TABLE = {
    "codex.authored": "AuthoredCodex",
    "codex.collection": "Constraints Memories Pins Summaries",
    "codex.protocol": "Authored RecordStore",
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
