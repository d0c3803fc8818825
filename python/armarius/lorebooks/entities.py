"""What a book says of entities and relations by itself: notes of a vault, entries of a Novelcrafter export.

There the writer states types and relations; a lorebook only has keys, and its entities are proposed (importing.py).
What is extracted lies beside the original as `codex.json`, in the form of the
project's own, and is read with it (`codex/load.py`): the graph walks the relations, cards show the entities. An entity
whose text is an entry of the book has no description: the entry says it.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from armarius.codex.merge import merge
from armarius.codex.model import Entity, Origin
from armarius.codex.profiles.draft import Draft, DraftRelation, Profiles
from armarius.codex.profiles.read import parse_profiles
from armarius.codex.profiles.relations import neutral_type
from armarius.documents.titles import as_strings, parse_front_matter
from armarius.lorebooks.formats.notes import linked, nested_of
from armarius.lorebooks.record import Entry, UnsupportedField
from armarius.text.unicode import fold

# Fields of a note that set the activation of its entry and do not describe the entity.
_OF_THE_ENTRY = frozenset({"keys", "priority", "constant", "enabled", "scandepth", "excluderecursion"})
_ATTACHED = re.compile(r"\.(?!md$)[0-9A-Za-z]{1,5}$")  # of pictures and the like, which are not read


@dataclass(frozen=True, slots=True)
class ExtractedEntities:
    """Entities and relations of a book.

    Attributes:
        entities: In the order of the book, with ids that are unique in it.
        relations: Source, target, type, by those ids.
        losses: Links to what is not there.
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()
    losses: tuple[UnsupportedField, ...] = ()


NO_ENTITIES = ExtractedEntities()


def extract_entities(format_: str, tree: Any, entries: Iterable[Entry]) -> ExtractedEntities:  # noqa: ANN401
    """What a book says.

    Args:
        format_: Its name.
        tree: As the format reads it.
        entries: As they are now.

    Cost: linear in the text of the notes.
    """
    if format_ == "obsidian-vault":
        return _vault(tree["files"], entries)
    if format_ == "novelcrafter-export":
        return _codex(tree, entries)
    return NO_ENTITIES


def _vault(files: Mapping[str, Any], entries: Iterable[Entry]) -> ExtractedEntities:
    texts = {path: text for path, text in files.items() if isinstance(text, str)}
    of_entries = {entry.id for entry in entries}
    profiles: dict[str, Profiles] = {path: parse_profiles(path, text) for path, text in sorted(texts.items())}
    for path in of_entries & profiles.keys():
        for draft in profiles[path].drafts:
            if draft.whole:
                draft.description = ""
                draft.attributes = {k: v for k, v in draft.attributes.items() if k.casefold() not in _OF_THE_ENTRY}
    merged = merge(
        [draft for one in profiles.values() for draft in one.drafts],
        lines=[line for one in profiles.values() for line in one.lines],
    )
    called = {fold(name) for one in merged.entities for name in (one.name, *one.aliases)}
    for path, text in texts.items():
        called |= {fold(path.rpartition("/")[2].removesuffix(".md"))}
        called |= {fold(name) for name in as_strings(parse_front_matter(text)[0].get("aliases"))}
    losses = [
        UnsupportedField(path, f"[[{target}]]", "a link to a note that is not there; kept, no relation")
        for path, text in texts.items()
        for target in linked(text)
        if not _ATTACHED.search(target) and fold(target.rpartition("/")[2].removesuffix(".md")) not in called
    ]
    relations = tuple((one.source, one.target, one.type) for one in merged.relations)
    return ExtractedEntities(merged.entities, relations, tuple(losses))


def _codex(tree: Mapping[str, str], entries: Iterable[Entry]) -> ExtractedEntities:
    drafts: list[Draft] = []
    relations: list[DraftRelation] = []
    losses: list[UnsupportedField] = []
    entries = [entry for entry in entries if entry.name.strip()]
    by_id = {entry.id: entry for entry in entries}
    made: list[tuple[Entry, Draft]] = []
    for entry in entries:
        draft = Draft(entry.name.strip(), Origin(entry.source.file, entry.folder))
        draft.type = entry.type or None
        draft.add_aliases([key.text.strip() for key in entry.match.keys if key.text.strip()])
        # The entry is what a prompt has of it where it always stands; unseen by the text, so is the card.
        draft.level = None if entry.level in ("always", "when_detected") and entry.wake.by_text else "manual_only"
        if entry.level == "never":
            draft.level = "never"
        for name, value in entry.original.get("fields", {}).items():
            draft.add_attribute(name, value)
        drafts.append(draft)
        made.append((entry, draft))
    # One draft each: what merging unites has one id.
    merged = merge(drafts)
    ids = {(fold(one.name), one.type): one.id for one in merged.entities}
    id_of = {entry.id: ids.get((fold(draft.name), draft.type or "other"), "") for entry, draft in made}
    for entry in entries:
        for other in nested_of(entry.original):
            path = f"{entry.source.path[0] if entry.source.path else entry.id}.metadata.json.relationships"
            if other not in by_id:
                losses.append(UnsupportedField(path, other, "nests an entry that is not there; kept, no relation"))
            elif id_of[entry.id] and id_of[other] and id_of[entry.id] != id_of[other]:
                kind = neutral_type("nested", entry.name, by_id[other].name)
                relations.append(DraftRelation(id_of[entry.id], id_of[other], kind, None, None, Origin("")))
    rows = dict.fromkeys((one.source, one.target, one.type) for one in relations)
    return ExtractedEntities(merged.entities, tuple(rows), tuple(losses))


def codex_json(said: ExtractedEntities) -> bytes:
    """As a file in the form of `codex.json`."""
    entities = []
    for one in said.entities:
        row: dict[str, Any] = {"id": one.id, "name": one.name}
        if one.type != "other":
            row["type"] = one.type
        if one.aliases:
            row["aliases"] = list(one.aliases)
        if one.level != "when_detected":
            row["aiContextLevel"] = one.level
        if one.description:
            row["description"] = one.description
        if one.attributes:
            row["attributes"] = dict(one.attributes)
        if one.facts:
            row["facts"] = [
                {"text": fact.text, **{k: v for k in ("since", "until") if (v := getattr(fact, k)) is not None}}
                for fact in one.facts
            ]
        entities.append(row)
    relations = [dict(zip(("source", "target", "type"), one, strict=True)) for one in said.relations]
    data = {"entities": entities, "relations": relations}
    return (json.dumps(data, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace")
