"""Entries that are Markdown files with front matter: a Novelcrafter export, and an Obsidian vault.

An export has a folder for each entry, `<type>s/<slug>-<id>/` with entry.md, metadata.json, notes.md; its tree is
`{path: text}`, and what else the archive holds (the novel, snippets, chats) is kept and reported. Of a vault the notes
are entries that are tagged `lorebook` or have `keys` in their front matter; its tree is `{"armarius": "vault", "files":
{path: text}}`. Links are shown by their words, embeds are skipped.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from armarius.documents.titles import as_strings, parse_front_matter
from armarius.errors import BookError
from armarius.io.read import Archive
from armarius.lorebooks.formats.format import Format, Reader, TreePath
from armarius.lorebooks.record import Entry, Key, Matching, Priority, Range, Recursion, UnsupportedField

TREE = "novelcrafter"
_FOLDER = re.compile(r"(?:^|/)([^/]+)/[^/]*-([0-9A-Za-z]{27})/(entry\.md|metadata\.json|notes\.md)\Z")
_ITEM = re.compile(r"\s*-\s+(.*)$")
_FIELD = re.compile(r"\s+([^:]{1,60}):(?:\s+(.*))?$")
_TYPES = {
    "characters": "character",
    "locations": "location",
    "objects": "item",
    "lore": "lore",
    "subplots": "subplot",
    "other": "other",
}


def archived_texts(archive: Archive) -> tuple[dict[str, str], tuple[UnsupportedField, ...]]:
    """The archived_texts of the entries by path, and what of the archive is not read."""
    found: dict[str, str] = {}
    losses = []
    for name in archive.names:
        if _FOLDER.search(name) is None:
            if not name.endswith("/"):
                losses.append(UnsupportedField(name, None, "kept, not read: no entry of the codex"))
            continue
        try:
            found[name] = archive.read(name).decode("utf-8-sig")
        except (BookError, UnicodeDecodeError) as error:
            losses.append(UnsupportedField(name, None, f"kept, not read: {error}"))
    return found, tuple(losses)


def _folders(tree: dict[str, str]) -> dict[str, dict[str, str]]:
    folders: dict[str, dict[str, str]] = {}
    for name, text in tree.items():
        folder, _, file = name.rpartition("/")
        folders.setdefault(folder, {})[file] = text
    return folders


def _read_export(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    for folder, files in _folders(tree).items():
        path: TreePath = (folder,)
        found = _FOLDER.search(f"{folder}/entry.md")
        metadata: Any = {}
        if "metadata.json" in files:
            try:
                metadata = json.loads(files["metadata.json"])
            except (ValueError, RecursionError):
                reader.report((folder, "metadata.json"), None, "not JSON; kept, entry.md is read")
        if not isinstance(metadata, dict):
            metadata = {}
        attributes = metadata.get("attributes") if isinstance(metadata.get("attributes"), dict) else {}
        fields, end = parse_front_matter(files.get("entry.md", ""))
        text = files.get("entry.md", "")[end:].strip()
        if "entry.md" not in files:
            reader.report((folder, "entry.md"), None, "is not there; the entry has no text")
        said = {key.lower(): value for key, value in attributes.items()} | fields
        if files.get("notes.md", "").strip():
            reader.report((folder, "notes.md"), None, "private notes; kept, never sent")
        name = str(said.get("name") or "")
        aliases = attributes.get("aliases")
        names = [one for one in aliases if isinstance(one, str)] if isinstance(aliases, list) else []
        names = names or list(as_strings(fields.get("aliases")))
        level: Any = "when_detected"
        if _yes(said.get("alwaysincludeincontext")):
            level = "always"
        elif _yes(said.get("noautoinclude")):
            level = "manual_only"
        tracked = not _yes(said.get("donottrack"))
        id_ = metadata.get("id")
        id_ = id_ if isinstance(id_, str) and id_ else found[2] if found else folder
        values = {
            "name": name,
            "text": text,
            "level": level,
            "folder": found[1] if found else "",
            "type": str(said.get("type") or _TYPES.get(found[1] if found else "", "")),
            "match": Matching(
                keys=tuple(Key(one) for one in (name, *names) if one.strip()) if tracked else (), boundary="auto"
            ),
            "wake": Recursion(by_text=tracked),
            "share": Priority(order=0),
        }
        more = _own_fields(files.get("entry.md", "")[:end])
        reader.add(id_, values, path, {**files, "metadata": metadata, "fields": more})


def nested_of(original: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids of the entries that one nests, in order; the object is that of `Entry.original`."""
    relations = original.get("metadata", {}).get("relationships")
    ids = relations.get("nestedEntries") if isinstance(relations, dict) else None
    return tuple(dict.fromkeys(one for one in ids if isinstance(one, str))) if isinstance(ids, list) else ()


def _own_fields(front: str) -> dict[str, str]:
    """The writer's own fields: names below `fields:`, each with a list of values or one."""
    found: dict[str, str] = {}
    name = ""
    inside = False
    for line in front.splitlines():
        if not line[:1].isspace() and not line.startswith("-"):
            inside = line.strip() == "fields:"
        elif inside and (item := _ITEM.match(line)) is not None and name:
            value = item[1].strip().strip("\"'")
            found[name] = f"{found[name]}、{value}" if found.get(name) else value
        elif inside and (pair := _FIELD.match(line)) is not None:
            name = pair[1].strip("\"' ")
            found[name] = (pair[2] or "").strip().strip("\"'[]")
    return {name: value for name, value in found.items() if value}


def _yes(value: Any) -> bool:  # noqa: ANN401
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
            said = str(value).lower()
            raw["entry.md"] = re.sub(rf"(?m)^({name}:\s*)(?:true|false)", rf"\g<1>{said}", raw.get("entry.md", ""))
            if "metadata.json" in raw:
                raw["metadata.json"] = re.sub(
                    rf'("{name}"\s*:\s*)(?:true|false)', rf"\g<1>{said}", raw["metadata.json"]
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


def without_links(text: str) -> str:
    """A note's text as it reads: `[[灯塔#历史|塔]]` is 塔, an embed is nothing."""
    return _LINK.sub(lambda link: link[2] or link[1], _EMBED.sub("", text))


def linked(text: str) -> tuple[str, ...]:
    """The notes that a text links to, in order, each once; embeds are none."""
    return tuple(dict.fromkeys(link[1].strip() for link in _LINK.finditer(_EMBED.sub("", text)) if link[1].strip()))


def _read_vault(tree: Any, reader: Reader) -> None:  # noqa: ANN401
    files = tree.get("files")
    for path, text in files.items() if isinstance(files, dict) else ():
        if not isinstance(text, str):
            reader.report(("files", path), text, "a text was expected; kept")
            continue
        fields, end = parse_front_matter(text)
        tags = {tag.lstrip("#").lower() for tag in as_strings(fields.get("tags"))}
        keys = as_strings(fields.get("keys"))
        if not keys and not any(tag.startswith("lorebook") for tag in tags):
            continue
        for name in fields.keys() - _KNOWN:
            reader.report((path, name), fields[name], "kept, without effect here")
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
    return {
        "name": stem,
        "text": without_links(body).strip(),
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
