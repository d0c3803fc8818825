"""Entries that are Markdown files with front matter: a Novelcrafter export, and an Obsidian vault.

An export has a folder for each entry, `<type>s/<slug>-<id>/` with entry.md, metadata.json, notes.md; its tree is
`{path: text}`, and what else the archive holds (the novel, snippets, chats) is kept and reported. Of a vault the notes
are entries that are tagged `lorebook` or have `keys` in their front matter; its tree is `{"armarius": "vault", "files":
{path: text}}`. Links are shown by their words, embeds are skipped.

`extract_entities` gives the entities and relations that such a book states. These formats have types and relations; a
lorebook only has keys, and its entities are proposed (importing.py). The result is stored as `codex.json` next to the
original and read with the project's own (`codex/load.py`). Entities have no description: the text of their entry is in
the book.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from armarius.arguments import Kind
from armarius.codex.codex_json import card_draft
from armarius.codex.draft import Draft, DraftRelation
from armarius.codex.merge import merge
from armarius.codex.model import Entity, Origin
from armarius.codex.profile_relations import neutral_type
from armarius.codex.profiles import parse_profiles
from armarius.documents.data import card_members
from armarius.documents.segments import parts_of
from armarius.documents.titles import as_strings, group_of, parse_front_matter
from armarius.errors import BookError
from armarius.headings import Reason
from armarius.io import Archive
from armarius.lorebooks.formats.format import Format, Reader, TreePath, inner_object
from armarius.lorebooks.record import Entry, Key, Matching, Priority, Range, Recursion, UnsupportedField
from armarius.text.unicode import fold, join_parts

_FOLDER = re.compile(r"(?:^|/)([^/]+)/[^/]*-([0-9A-Za-z]{27})/(entry\.md|metadata\.json|notes\.md)\Z")
_ITEM = re.compile(r"\s*-\s+(.*)$")
_FIELD = re.compile(r"\s+([^:]{1,60}):(?:\s+(.*))?$")
_TYPES = {
    "characters": "character", "locations": "location", "objects": "item", "lore": "lore", "subplots": "subplot",
    "other": "other",
}  # fmt: skip


def archived_texts(archive: Archive) -> tuple[dict[str, str], tuple[UnsupportedField, ...]]:
    """The archived_texts of the entries by path, and what of the archive is not read."""
    texts: dict[str, str] = {}
    losses = []
    for name in archive.names:
        if _FOLDER.search(name) is None:
            if not name.endswith("/"):
                losses.append(UnsupportedField(name, None, Reason("loss.no_entity")))
            continue
        try:
            texts[name] = archive.read(name).decode("utf-8-sig")
        except (BookError, UnicodeDecodeError) as error:
            losses.append(UnsupportedField(name, None, Reason("loss.unread", error=str(error))))
    return texts, tuple(losses)


def _folders(tree: dict[str, str]) -> dict[str, dict[str, str]]:
    folders: dict[str, dict[str, str]] = {}
    for name, text in tree.items():
        folder, _, file = name.rpartition("/")
        folders.setdefault(folder, {})[file] = text
    return folders


def _read_export(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    for folder, files in _folders(tree).items():
        path: TreePath = (folder,)
        match = _FOLDER.search(f"{folder}/entry.md")
        metadata: Any = {}
        if "metadata.json" in files:
            try:
                metadata = json.loads(files["metadata.json"])
            except (ValueError, RecursionError):
                reader.report((folder, "metadata.json"), None, "no_json")
        if not isinstance(metadata, dict):
            metadata = {}
        attributes = inner_object(metadata, "attributes")
        fields, end = parse_front_matter(files.get("entry.md", ""))
        text = files.get("entry.md", "")[end:].strip()
        if "entry.md" not in files:
            reader.report((folder, "entry.md"), None, "no_text")
        details = {key.lower(): value for key, value in attributes.items()} | fields
        if files.get("notes.md", "").strip():
            reader.report((folder, "notes.md"), None, "private")
        name = str(details.get("name") or "")
        aliases = attributes.get("aliases")
        names = [alias for alias in aliases if isinstance(alias, str)] if isinstance(aliases, list) else []
        names = names or list(as_strings(fields.get("aliases")))
        level: Any = "when_detected"
        if _is_true(details.get("alwaysincludeincontext")):
            level = "always"
        elif _is_true(details.get("noautoinclude")):
            level = "manual_only"
        tracked = not _is_true(details.get("donottrack"))
        id_ = metadata.get("id")
        id_ = id_ if isinstance(id_, str) and id_ else match[2] if match else folder
        values = {
            "name": name,
            "text": text,
            "level": level,
            "folder": match[1] if match else "",
            "type": str(details.get("type") or _TYPES.get(match[1] if match else "", "")),
            "match": Matching(
                keys=tuple(Key(word) for word in (name, *names) if word.strip()) if tracked else (), boundary="auto"
            ),
            "wake": Recursion(by_text=tracked),
            "share": Priority(order=0),
        }
        more = _own_fields(files.get("entry.md", "")[:end])
        reader.add(id_, values, path, {**files, "metadata": metadata, "fields": more})


def nested_of(original: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids of the entries that one nests, in order; the object is that of `Entry.original`."""
    ids = inner_object(inner_object(original, "metadata"), "relationships").get("nestedEntries")
    return tuple(dict.fromkeys(item for item in ids if isinstance(item, str))) if isinstance(ids, list) else ()


def _own_fields(front: str) -> dict[str, str]:
    """The writer's own fields: names below `fields:`, each with a list of values or one."""
    fields: dict[str, str] = {}
    name = ""
    inside = False
    for line in front.splitlines():
        if not line[:1].isspace() and not line.startswith("-"):
            inside = line.strip() == "fields:"
        elif inside and (item := _ITEM.match(line)) is not None and name:
            value = item[1].strip().strip("\"'")
            fields[name] = join_parts((fields[name], value), "、", name) if fields.get(name) else value
        elif inside and (pair := _FIELD.match(line)) is not None:
            name = pair[1].strip("\"' ")
            fields[name] = (pair[2] or "").strip().strip("\"'[]")
    return {name: value for name, value in fields.items() if value}


def _is_true(value: Any) -> bool:  # noqa: ANN401
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _write_entry_md(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    text = raw.get("entry.md", "")
    if leaf == "text":
        end = parse_front_matter(text)[1]
        raw["entry.md"] = f"{text[:end]}\n\n{entry.text}\n" if end else f"{entry.text}\n"
        return True
    if leaf == "level" and entry.level != "never":
        flags = {"alwaysIncludeInContext": entry.level == "always", "noAutoInclude": entry.level == "manual_only"}
        for name, value in flags.items():
            word = str(value).lower()
            raw["entry.md"] = re.sub(rf"(?m)^({name}:\s*)(?:true|false)", rf"\g<1>{word}", raw.get("entry.md", ""))
            if "metadata.json" in raw:
                raw["metadata.json"] = re.sub(
                    rf'("{name}"\s*:\s*)(?:true|false)', rf"\g<1>{word}", raw["metadata.json"]
                )
        return True
    return False


NOVELCRAFTER = Format(
    name="novelcrafter-export",
    claims=lambda tree: isinstance(tree, dict) and any(_FOLDER.search(str(name)) for name in list(tree)[:200]),
    profile="novelcrafter",
    read=_read_export,
    write=_write_entry_md,
    raw=lambda tree, path: dict(_folders(tree)[str(path[0])]),
    put=lambda tree, path, raw: tree.update({f"{path[0]}/{file}": text for file, text in raw.items()}),
)


VAULT_MARK = {"armarius": "vault"}
_EMBED = re.compile(r"!\[\[[^\[\]\n]*\]\]")
_LINK = re.compile(r"\[\[([^\[\]|#\n]*)(?:#[^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_KNOWN = frozenset(
    {"tags", "keys", "aliases", "priority", "constant", "enabled", "scandepth", "excluderecursion", "type", "title"}
)


def linked_notes(text: str) -> tuple[str, ...]:
    """The notes that a text links to, in order, each once; embeds do not count."""
    return tuple(dict.fromkeys(link[1].strip() for link in _LINK.finditer(_EMBED.sub("", text)) if link[1].strip()))


def _read_vault(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    for path, text in inner_object(tree, "files").items():
        if not isinstance(text, str):
            reader.report(("files", path), text, "no_text_kept")
            continue
        fields, end = parse_front_matter(text)
        tags = {tag.lstrip("#").lower() for tag in as_strings(fields.get("tags"))}
        keys = as_strings(fields.get("keys"))
        if not keys and not any(tag.startswith("lorebook") for tag in tags):
            continue
        for name in fields.keys() - _KNOWN:
            reader.report((path, name), fields[name], "unused")
        values = _note_values(path, text[end:], fields, tags, keys, reader)
        reader.add(path, values, ("files", path), {"text": text})


def _note_values(
    path: str, body: str, fields: dict[str, Any], tags: set[str], keys: tuple[str, ...], reader: Reader
) -> dict[str, Any]:
    stem = path.rpartition("/")[2].removesuffix(".md")
    level: Any = "when_detected"
    if "lorebook-never" in tags or str(fields.get("enabled", "true")).lower() == "false":
        level = "never"
    elif "lorebook-always" in tags or str(fields.get("constant", "")).lower() == "true":
        level = "always"
    depth = reader.whole(fields.get("scandepth"), (path, "scanDepth")) if fields.get("scandepth") else None
    priority = fields.get("priority")
    number = float(priority) if isinstance(priority, str) and re.fullmatch(r"-?\d+(\.\d+)?", priority) else 100
    # Here excludeRecursion means that its own text wakes nobody; a lower priority is kept longer.
    silent = str(fields.get("excluderecursion", "")).lower() == "true"
    # A note's text as it reads: `[[灯塔#历史|塔]]` is 塔, an embed is nothing
    return {
        "name": stem,
        "text": _LINK.sub(lambda link: link[2] or link[1], _EMBED.sub("", body)).strip(),
        "level": level,
        "folder": path.rpartition("/")[0],
        "match": Matching(
            keys=tuple(Key(key) for key in keys), range=None if depth is None else Range(depth), boundary="auto"
        ),
        "wake": Recursion(wakes_others=False if silent else None),
        "share": Priority(order=-number, keep_priority=-number),
    }


def _write_note(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    if leaf != "text":
        return False
    end = parse_front_matter(raw["text"])[1]
    raw["text"] = f"{raw['text'][:end]}\n{entry.text}\n" if end else f"{entry.text}\n"
    return True


VAULT = Format(
    name="obsidian-vault",
    claims=lambda tree: (
        isinstance(tree, dict) and tree.get("armarius") == "vault" and isinstance(tree.get("files"), dict)
    ),
    profile="obsidian",
    read=_read_vault,
    write=_write_note,
    raw=lambda tree, path: {"text": tree["files"][path[1]]},
    put=lambda tree, path, raw: tree["files"].__setitem__(path[1], raw["text"]),
)


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
    if (card := card_members(tree)) is not None:
        return ExtractedEntities(merge([card_draft(card, Origin(""))]).entities)
    return NO_ENTITIES


def _kind_of(path: str) -> Kind:
    """What a note of a vault is by its folders and its name, for a vault has no map."""
    parts = parts_of(path)
    return "setting" if any(group_of(name) for name in (parts.stem, *parts.folders)) else "note"


def _vault(files: Mapping[str, Any], entries: Iterable[Entry]) -> ExtractedEntities:
    texts = {path: text for path, text in files.items() if isinstance(text, str)}
    of_entries = {entry.id for entry in entries}
    profiles = {path: parse_profiles(path, text, _kind_of(path)) for path, text in sorted(texts.items())}
    for path in of_entries & profiles.keys():
        for draft in profiles[path].drafts:
            if draft.whole:
                draft.description = ""
                draft.attributes = {k: v for k, v in draft.attributes.items() if k.casefold() not in _OF_THE_ENTRY}
    merged = merge(
        [draft for profile in profiles.values() for draft in profile.drafts],
        lines=[line for profile in profiles.values() for line in profile.lines],
    )
    called = {fold(name) for entity in merged.entities for name in (entity.name, *entity.aliases)}
    for path, text in texts.items():
        called |= {fold(path.rpartition("/")[2].removesuffix(".md"))}
        called |= {fold(name) for name in as_strings(parse_front_matter(text)[0].get("aliases"))}
    losses = [
        UnsupportedField(path, f"[[{target}]]", Reason("loss.no_link"))
        for path, text in texts.items()
        for target in linked_notes(text)
        if not _ATTACHED.search(target) and fold(target.rpartition("/")[2].removesuffix(".md")) not in called
    ]
    relations = tuple((relation.source, relation.target, relation.type) for relation in merged.relations)
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
    ids = {(fold(entity.name), entity.type): entity.id for entity in merged.entities}
    id_of = {entry.id: ids.get((fold(draft.name), draft.type or "other"), "") for entry, draft in made}
    for entry in entries:
        for other in nested_of(entry.original):
            path = f"{entry.source.path[0] if entry.source.path else entry.id}.metadata.json.relationships"
            if other not in by_id:
                losses.append(UnsupportedField(path, other, Reason("loss.no_nested")))
            elif id_of[entry.id] and id_of[other] and id_of[entry.id] != id_of[other]:
                kind = neutral_type("nested", entry.name, by_id[other].name)
                relations.append(DraftRelation(id_of[entry.id], id_of[other], kind, None, None, Origin("")))
    rows = dict.fromkeys((relation.source, relation.target, relation.type) for relation in relations)
    return ExtractedEntities(merged.entities, tuple(rows), tuple(losses))


def codex_json(codex: ExtractedEntities) -> bytes:
    """As a file in the form of `codex.json`."""
    entities = []
    for entity in codex.entities:
        facts = [{name: value for name, value in asdict(fact).items() if value is not None} for fact in entity.facts]
        row = {
            "type": "" if entity.type == "other" else entity.type,
            "aliases": list(entity.aliases),
            "aiContextLevel": "" if entity.level == "when_detected" else entity.level,
            "description": entity.description,
            "attributes": dict(entity.attributes),
            "facts": facts,
        }
        entities.append({"id": entity.id, "name": entity.name, **{name: value for name, value in row.items() if value}})
    relations = [dict(zip(("source", "target", "type"), relation, strict=True)) for relation in codex.relations]
    data = {"entities": entities, "relations": relations}
    return (json.dumps(data, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace")
