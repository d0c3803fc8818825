"""Drafts of entities from single sources, before merging; names in headings, links and tags of notes, packing.

None marks fields that are not stated.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field
from typing import Any, Literal, get_args

from armarius.codex.model import CONTEXT_LEVELS, ContextLevel, Fact, Origin, RejectedName
from armarius.codex.profile_fields import is_known, parse_field, role_of, words
from armarius.documents.segments import parts_of
from armarius.documents.titles import FrontMatter, as_strings, group_of, is_generic, is_other, parse_front_matter
from armarius.text.unicode import fold, join_parts

# Bounded, as in fields.py; a table writes the bar as `\|`.
_WIKI_LINK = re.compile(r"(?<!!)\[\[([^\[\]|#^\n]{0,300})(?:[#^]([^\[\]|\n]{0,300}))?(?:\|([^\[\]\n]{0,300}))?\]\]")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t　]+(.+?)[ \t]*#*[ \t]*$")
_BULLET = re.compile(r"[ \t　]*(?:[-+*•◦·]|\d{1,3}[.)、])[ \t]+")
_INLINE = re.compile(r"[\[(（]([^\[\]()（）:：]{1,24})::[ \t]*$")
_NEAR = 60  # code points before a link in which its label stands
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
        label: The relation as the writer names it, or "".
        target: Name or path of the linked note as written; "" for the note itself.
        section: The heading behind `#`, or "".
        line: 1-based.
        shown: The display text (`他` in `[[赵四|他]]`), or "".
    """

    label: str
    target: str
    section: str
    line: int
    shown: str = ""


def links_of(text: str, name: str = "") -> Iterator[NoteLink]:
    """The links of a note, in order, without embeds and fenced code.

    Args:
        text: The whole file.
        name: Of the note; a heading with this name announces no type.

    Cost: one pass over the lines.
    """
    end = text.count("\n", 0, parse_front_matter(text)[1])
    heading = key = fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        if number <= end:
            pair = _PAIR.match(line)
            key = pair[1].strip("\"' ") if pair is not None else key
            yield from _links_of_line(line, 0, "" if _is_aspect(key) else key, number)
            continue
        if fence or (mark := _FENCE.match(line)) is not None:
            fence = "" if fence and line.lstrip().startswith(fence) else fence or mark[1]  # type: ignore[index]
            continue
        if (title := _HEADING.match(line)) is not None:
            heading = "" if title[2].strip() == name or len(title[1]) == 1 or _is_aspect(title[2]) else title[2]
            continue
        if "[[" in line:
            label, start = _label(line)
            yield from _links_of_line(line, start, label or heading, number, other=heading)


def _links_of_line(line: str, start: int, label: str, number: int, other: str = "") -> Iterator[NoteLink]:
    """The links of one line; those before `start` belong to its label."""
    for link in _WIKI_LINK.finditer(line):
        inline = _INLINE.search(line, max(0, link.start() - _NEAR), link.start())
        text = inline[1].strip() if inline is not None else label if link.start() >= start else other
        target, section = (part.removesuffix("\\").strip() for part in (link[1], link[2] or ""))
        yield NoteLink(text, target, section, number, (link[3] or "").strip())


def _label(line: str) -> tuple[str, int]:
    """The label of a line and the offset of its value; ("", 0) without a label."""
    bare = line.strip()
    if bare.startswith("|"):
        cell = re.split(r"(?<!\\)\|", bare.strip("|"), maxsplit=1)[0]
        label = "" if "[[" in cell or _is_aspect(cell.strip()) else cell.strip(" *_")
        return label, line.find(cell) + len(cell) if label else 0
    bullet = _BULLET.match(line)
    begin = bullet.end() if bullet is not None else 0
    first = line.find("[[", begin)
    field = parse_field(line[begin:first].strip() + " ." if first > begin else "", 1)
    listed = bullet is not None or line.startswith(("**", "__")) or "::" in line[begin:first]
    if field is None or not (listed or is_known(field.key)) or _is_aspect(field.key):
        return "", 0
    return field.key, first


def _is_aspect(label: str) -> bool:
    """Whether a label is an attribute of the note itself and no relation."""
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
    """`text` with lines of tags only blanked, so that they are not read as headings without a space.

    `#人物` alone is a heading in a setting file (设定.md) and a tag in a note about one entity (林默.md).
    """
    tagged = _tag_lines(text)
    if not tagged:
        return text
    stem = parts_of(path).stem
    lists = group_of(stem) is not None or is_other(stem)
    lines = {line for line in tagged if line.count("#") > 1 or not lists}
    if not lines:
        return text
    return "".join("\n" if line.rstrip("\r\n") in lines else line for line in text.splitlines(keepends=True))


def _tag_lines(text: str) -> list[str]:
    """Indices of lines made of tags only: two or more, or one that names a type."""
    lines = []
    for line in text.splitlines():
        if "#" in line and _TAGS.match(line) is not None:
            tags = [tag[1] for tag in _TAG.finditer(line)]
            if len(tags) > 1 or any(group_of(part) is not None for part in tags[0].split("/")):
                lines.append(line)
    return lines


@dataclass(slots=True)
class DraftLine:
    """A labelled line that may state a relation: label, value and nested items, 1-based line number."""

    label: str
    value: str
    line: int
    related: bool = False


Standing = Literal["declared", "listed", "headed", "inside", "cast", "label"]
"""What makes a draft an entity: `declared` a field, a name column, the file about it; `listed` a group of one type
("Characters"); `headed` only a heading of a setting file; `inside` a heading in the sheet of another; `cast` a list of
who appears, or a column; `label` a heading or label anywhere that looks like a Chinese name. All but the first are
judged by the story (`codex/names_in_story.py`)."""


@dataclass(slots=True)
class Draft:
    """One description of one entity; None means not stated.

    With `whole` the file is about this entity only, so a link to the file means the entity. `root` is the folder of a
    series, "" for the project itself; it prefixes the `id` of another folder. `other` is the other half of a heading
    such as `Arc one: Elena`, `lead` the row of `[leads]` that calls it the leading person.
    """

    name: str
    origin: Origin
    id: str | None = None
    type: str | None = None
    aliases: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list, kw_only=True)  # aliases of weaker drafts that do not hold
    over: dict[str, str] = field(default_factory=dict, kw_only=True)  # what pages said of fields that a record changes
    called: list[str] = field(default_factory=list, kw_only=True)  # short forms of the name that the story uses
    description: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    level: ContextLevel | None = None
    facts: list[Fact] = field(default_factory=list)
    lines: list[DraftLine] = field(default_factory=list)
    links: list[NoteLink] = field(default_factory=list)
    whole: bool = False
    root: str = ""
    standing: Standing = "declared"
    other: str = ""
    lead: str = ""
    _known: set[str] = field(default_factory=set, init=False, repr=False, compare=False)  # the aliases

    def add_attribute(self, key: str, value: str) -> None:
        """Set an attribute; a second value of the same key is appended."""
        text = self.attributes.get(key)
        self.attributes[key] = value if not text or text == value else join_parts((text, value), "；", key)

    def add_aliases(self, names: list[str]) -> None:
        """Add new aliases in order, without the entity's own name."""
        if len(self._known) != len(self.aliases):
            self._known = set(self.aliases)
        fresh = [name for name in dict.fromkeys(names) if name != self.name and name not in self._known]
        self._known.update(fresh)
        self.aliases += fresh


@dataclass(frozen=True, slots=True)
class StatedLine:
    """A line of a page about relations, with the file and heading it stands in."""

    path: str
    section: str
    line: DraftLine


@dataclass(slots=True)
class Profiles:
    """Content of one file: drafts in file order, lines that may state relations, headings that name nobody."""

    drafts: list[Draft] = field(default_factory=list)
    lines: list[StatedLine] = field(default_factory=list)
    rejected: list[RejectedName] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.drafts or self.lines or self.rejected)


@dataclass(frozen=True, slots=True)
class DraftRelation:
    """A relation with its ends as written (ids, names or aliases); `root` as in `Draft`."""

    source: str
    target: str
    type: str
    since: int | None
    until: int | None
    origin: Origin
    where: str = ""
    root: str = ""


# The fields of a draft that are as they stand in JSON, and those that are lists of records.
_PLAIN = (
    "name", "id", "type", "aliases", "description", "attributes", "level", "whole", "root", "standing", "other", "lead",
)  # fmt: skip
_RECORDS = {"facts": Fact, "lines": DraftLine, "links": NoteLink}


def pack(profiles: Profiles) -> bytes:
    """Serialise profiles; b"" for empty ones."""
    if not profiles:
        return b""
    drafts = [
        [
            [getattr(draft, name) for name in _PLAIN], astuple(draft.origin),
            *([astuple(record) for record in getattr(draft, name)] for name in _RECORDS),
        ]
        for draft in profiles.drafts
    ]  # fmt: skip
    lines, rejected = (list(map(astuple, records)) for records in (profiles.lines, profiles.rejected))
    return json.dumps([drafts, lines, rejected], separators=(",", ":")).encode()


def unpack(data: bytes) -> Profiles:
    """The profiles that `pack` serialised.

    Raises:
        ValueError: The bytes are not of `pack`.

    Cost: 10 µs an entity, a tenth of reading it.
    """
    if not data:
        return Profiles()
    try:
        drafts, lines, rejected = json.loads(data)
        return Profiles(
            [_draft(*row) for row in drafts],
            [StatedLine(path, section, DraftLine(*line)) for path, section, line in lines],
            [RejectedName(*row) for row in rejected],
        )
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"no profiles: {error}") from error


def _draft(plain: list[Any], origin: list[Any], *records: list[list[Any]]) -> Draft:
    draft = Draft(origin=Origin(*origin), **dict(zip(_PLAIN, plain, strict=True)))
    for (name, kind), rows in zip(_RECORDS.items(), records, strict=True):
        setattr(draft, name, [kind(*row) for row in rows])
    if draft.level not in (None, *CONTEXT_LEVELS) or draft.standing not in get_args(Standing):
        raise ValueError(f"no profiles: {draft.level!r}, {draft.standing!r}")
    return draft
