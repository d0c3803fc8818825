"""Entities and relations that a book states: notes of a vault, entries of a Novelcrafter export.

These formats have types and relations; a lorebook only has keys, and its entities are proposed (importing.py). The
result is stored as `codex.json` next to the original and read with the project's own (`codex/load.py`). Entities have
no description: the text of their entry is in the book.
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
_ATTACHED = re.compile(r"\.(?!md$)[0-9A-Za-z]{1,5}$")  # attachments, such as pictures, which are not read


@dataclass(frozen=True, slots=True)
class ExtractedEntities:
    """Entities and relations of a book.

    Attributes:
        entities: In book order, with ids that are unique in the book.
        relations: Source id, target id, type.
        losses: Links to missing notes.
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()
    losses: tuple[UnsupportedField, ...] = ()


NO_ENTITIES = ExtractedEntities()


def extract_entities(format_: str, tree: Any, entries: Iterable[Entry]) -> ExtractedEntities:  # noqa: ANN401
    """Extract entities and relations from a book.

    Args:
        format_: Name of the format.
        tree: The parsed file.
        entries: The present entries.

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
