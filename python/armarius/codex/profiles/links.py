"""What a note of a vault says by `[[links]]`: whom it links to, and as what.

The type of a link is the key of the front matter it stands under, the label of its line (`- 师父：[[林渡]]`,
`师父:: [[林渡]]`), the first cell of its row, or the heading above it where that is no aspect of the note itself
(外貌, Background; Enemies says both); else it has none, and the relation is called by a neutral word. Tags (`tags:` in
the front matter, lines of `#tags` in the text) name the type of the note by the words that titles have
(`documents/titles.py`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from armarius.codex.profiles.fields import parse_field
from armarius.codex.profiles.labels import is_known, role_of
from armarius.codex.profiles.words import words
from armarius.documents.front_matter import FrontMatter, as_strings, parse_front_matter
from armarius.documents.parts import parts_of
from armarius.documents.titles import group_of, is_generic, is_other
from armarius.text.folding import fold

__all__ = ["NoteLink", "links_of", "tagged_type", "without_tag_lines"]

# Bounded, as in fields.py; a `\|` is how a table writes the bar.
_LINK = re.compile(r"(?<!!)\[\[([^\[\]|#^\n]{0,300})(?:[#^]([^\[\]|\n]{0,300}))?(?:\|([^\[\]\n]{0,300}))?\]\]")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t　]+(.+?)[ \t]*#*[ \t]*$")
_BULLET = re.compile(r"[ \t　]*(?:[-+*•◦·]|\d{1,3}[.)、])[ \t]+")
_INLINE = re.compile(r"[\[(（]([^\[\]()（）:：]{1,24})::[ \t]*$")
_PAIR = re.compile(r"([^\s:：#-][^:：]{0,60}?)\s*[:：](?:\s|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TAGS = re.compile(r"[ \t]*(?:#[^\s#,，]+[ \t,，]*)+$")
_TAG = re.compile(r"#([^\s#,，]+)")
_NO_TYPE = frozenset({"aliases", "name", "full_name", "type", "description", "level", "id", "relations"})
_LINKING = words("linking")


@dataclass(frozen=True, slots=True)
class NoteLink:
    """One link of a note.

    Attributes:
        label: What the other is to the note, in the writer's words; "" where nothing says it.
        target: The note as it was written, a name or a path; "" for the note itself.
        section: The heading behind `#`, or "".
        line: 1-based.
        shown: What the note says instead of the name (`[[赵四|他]]`), or "".
    """

    label: str
    target: str
    section: str
    line: int
    shown: str = ""


def links_of(text: str, name: str = "") -> Iterator[NoteLink]:
    """The links of a note, in order; embeds and what stands in fenced code are none.

    Args:
        text: The whole file.
        name: Of the note: a heading that says it is no type.

    Cost: one pass over the lines.
    """
    end = text.count("\n", 0, parse_front_matter(text)[1])
    heading = key = fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        if number <= end:
            pair = _PAIR.match(line)
            key = pair[1].strip("\"' ") if pair is not None else key
            yield from _found(line, 0, "" if _is_aspect(key) else key, number)
            continue
        if fence or (mark := _FENCE.match(line)) is not None:
            fence = "" if fence and line.lstrip().startswith(fence) else fence or mark[1]  # type: ignore[index]
            continue
        if (title := _HEADING.match(line)) is not None:
            heading = "" if title[2].strip() == name or len(title[1]) == 1 or _is_aspect(title[2]) else title[2]
            continue
        if "[[" in line:
            label, start = _label(line)
            yield from _found(line, start, label or heading, number, other=heading)


def _found(line: str, start: int, label: str, number: int, other: str = "") -> Iterator[NoteLink]:
    """The links of one line; those before `start` stand in its label."""
    for link in _LINK.finditer(line):
        inline = _INLINE.search(line, 0, link.start())
        said = inline[1].strip() if inline is not None else label if link.start() >= start else other
        target, section = (part.removesuffix("\\").strip() for part in (link[1], link[2] or ""))
        yield NoteLink(said, target, section, number, (link[3] or "").strip())


def _label(line: str) -> tuple[str, int]:
    """The label of a line and where its value begins; ("", 0) for a line that has none."""
    bare = line.strip()
    if bare.startswith("|"):
        cell = re.split(r"(?<!\\)\|", bare.strip("|"), maxsplit=1)[0]
        label = "" if "[[" in cell or _is_aspect(cell.strip()) else cell.strip(" *_")
        return label, line.find(cell) + len(cell) if label else 0
    bullet = _BULLET.match(line)
    begin = bullet.end() if bullet is not None else 0
    first = line.find("[[", begin)
    found = parse_field(line[begin:first].strip() + " ." if first > begin else "", 1)
    listed = bullet is not None or line.startswith(("**", "__")) or "::" in line[begin:first]
    if found is None or not (listed or is_known(found.key)) or _is_aspect(found.key):
        return "", 0
    return found.key, first


def _is_aspect(label: str) -> bool:
    """Whether a label says something of the note itself, and no relation."""
    if fold(label).strip(" :：") in _LINKING:
        return False
    return not label or role_of(label) in _NO_TYPE or is_generic(label) or label.lower() in ("tags", "tag", "cssclass")


def tagged_type(front: FrontMatter, text: str) -> str | None:
    """The type of entity that the tags of a note name: #人物, #character/main; the first that names one."""
    tags = [*as_strings(front.get("tags")), *as_strings(front.get("tag"))]
    tags += [tag[1] for line in _tag_lines(text) for tag in _TAG.finditer(line)]
    for tag in tags:
        for part in reversed(tag.lstrip("#").split("/")):
            if (group := group_of(part)) is not None and group.type is not None:
                return group.type
    return None


def without_tag_lines(path: str, text: str) -> str:
    """A text whose lines of nothing but tags are blank, so that none is taken for a heading without a space.

    `#人物` alone heads a list of people in a page that is called so, 设定.md, and is a tag in 林默.md.
    """
    tagged = _tag_lines(text)
    if not tagged:
        return text
    stem = parts_of(path).stem
    lists = group_of(stem) is not None or is_other(stem)
    taken = {line for line in tagged if line.count("#") > 1 or not lists}
    if not taken:
        return text
    return "".join("\n" if line.rstrip("\r\n") in taken else line for line in text.splitlines(keepends=True))


def _tag_lines(text: str) -> list[str]:
    """Lines made of tags: two or more, or one that names a type."""
    found = []
    for line in text.splitlines():
        if "#" in line and _TAGS.match(line) is not None:
            tags = [tag[1] for tag in _TAG.finditer(line)]
            if len(tags) > 1 or any(group_of(part) is not None for part in tags[0].split("/")):
                found.append(line)
    return found
