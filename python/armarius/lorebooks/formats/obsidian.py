"""An Obsidian vault whose notes are lore entries: tagged `lorebook`, or with `keys` in their front matter.

The tree is `{"armarius": "vault", "files": {path: text}}`. Links are shown by their words, embeds are skipped.
"""

import re
from typing import Any

from armarius.documents.titles import as_strings, parse_front_matter
from armarius.lorebooks.formats.format import Format, Reader
from armarius.lorebooks.record import Entry, Key, Matching, Range, Share, Wake

__all__ = ["FORMAT", "MARK", "linked", "without_links"]

MARK = {"armarius": "vault"}
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


def _read(tree: Any, reader: Reader) -> None:  # noqa: ANN401
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
        values = _values(path, text[end:], fields, tags, keys, reader)
        reader.add(path, values, ("files", path), {"text": text})


def _values(
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
        "wake": Wake(wakes_others=False if silent else None),
        "share": Share(order=-number, keep_priority=-number),
    }


def _write(raw: dict[str, Any], leaf: str, entry: Entry) -> bool:
    if leaf != "text":
        return False
    end = parse_front_matter(raw["text"])[1]
    raw["text"] = f"{raw['text'][:end]}\n{entry.text}\n" if end else f"{entry.text}\n"
    return True


FORMAT = Format(
    name="obsidian-vault",
    claims=lambda tree: (
        isinstance(tree, dict) and tree.get("armarius") == "vault" and isinstance(tree.get("files"), dict)
    ),
    profile="obsidian",
    read=_read,
    write=_write,
    raw=lambda tree, path: {"text": tree["files"][path[1]]},
    put=lambda tree, path, raw: tree["files"].__setitem__(path[1], raw["text"]),
)
