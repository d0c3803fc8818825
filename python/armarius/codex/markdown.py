"""A Markdown file as a tree of sections, each with the labelled lines, prose and tables that a profile is made of.

Lenient where people are: `##名字` without a space, `**Age:** 16`, full-width colons, `键:: 值`, nested lists,
`【名字】` lines in plain text. Fenced code and HTML comments carry neither headings nor labels.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from armarius.project.front_matter import FrontMatter, parse_front_matter


@dataclass(slots=True)
class Field:
    """One labelled line: `- key：value`, with the items nested under it; `line` is 1-based."""

    key: str
    value: str
    line: int
    items: list[str] = field(default_factory=list)
    listed: bool = True


@dataclass(slots=True)
class Table:
    """A pipe table: cleaned header cells, cleaned rows, 1-based line of the header."""

    header: list[str]
    rows: list[list[str]]
    line: int


@dataclass(slots=True)
class Section:
    """A heading with what stands under it, up to the next heading; level 0 is the file itself."""

    level: int
    heading: str
    line: int
    fields: list[Field] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    bullets: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    children: list["Section"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed file."""

    front: FrontMatter
    root: Section


_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t　]+|(?=[^#\s]))(.*?)[ \t]*#*[ \t]*$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_LENTICULAR = re.compile(r"^\s*【([^】]{1,24})】\s*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_BULLET = re.compile(
    r"^(?P<indent>[ \t　]*)(?:[-+*•◦·][ \t　]+|[-•◦](?=[^\W\d_a-zA-Z]|\*\*)|\d{1,3}[.)、][ \t]*)(?P<body>\S.*)$"
)
_BOLD = re.compile(
    r"^(\*\*|__|\*|_)(?P<key>[^*_]{1,40}?)\s*(?P<in>[:：]*)\s*\1\s*(?P<out>[:：]{1,2}|[–—-](?=\s))?\s*(?P<value>.*)$"
)
_PLAIN = re.compile(r"^(?P<key>[^:：|。！？!?“”\"「」『』，,；;]{1,40}?)\s*[:：]{1,2}(?!//)\s*(?P<value>.*)$")
_CLOCK = re.compile(r"^[^:：]*\d[:：]\d")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[\[(?:[^\]|]*\|)?([^\]|]+)\]\]|(?<!!)\[([^\]]*)\]\([^)\s]*\)")
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_MARKUP = re.compile(r"\*\*|__|~~|`")


def parse_page(text: str, known: Callable[[str], bool]) -> Page:
    """Parse `text` into front matter and a tree of sections.

    Args:
        text: A whole file; any line ends.
        known: Whether a key without a list marker is a label rather than the start of a sentence.

    Cost: one pass over the lines.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    front, end = parse_front_matter(text)
    lines = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text).split("\n")
    return Page(front, _Reader(lines, text.count("\n", 0, end) + (end > 0), known).read())


def clean(text: str) -> str:
    """`text` without inline markup: bold marks, code marks, links and wiki links reduced to what they show."""
    text = _LINK.sub(lambda match: match[1] or match[2], _IMAGE.sub("", text))
    return _MARKUP.sub("", text).strip(" \t　")


def parse_field(body: str, line: int) -> Field | None:
    """`body` as `key：value`, or None when it is not a labelled line."""
    bold = _BOLD.match(body)
    if bold is not None and (bold["in"] or bold["out"]):
        return Field(clean(bold["key"]), clean(bold["value"]), line)
    plain = _PLAIN.match(clean(body))
    if plain is None:
        return None
    key = plain["key"].strip()
    if _CLOCK.match(plain[0]) or not key or not any(char.isalpha() for char in key) or len(key.split()) > 5:
        return None
    return Field(key, plain["value"].strip(), line)


class _Reader:
    """Walks the lines once; `stack` is the path of open sections."""

    def __init__(self, lines: list[str], start: int, known: Callable[[str], bool]) -> None:
        self.lines, self.at, self.known = lines, start, known
        self.root = Section(0, "", 1)
        self.stack = [self.root]
        self.last: tuple[int, Field | None] | None = None
        self.lenticular = not any(_ATX.match(line) for line in lines)

    def read(self) -> Section:
        while self.at < len(self.lines):
            self._step()
        return self.root

    def _step(self) -> None:
        line, number = self.lines[self.at], self.at + 1
        here = self.stack[-1]
        if not line.strip():
            self.at += 1
            return
        if fence := _FENCE.match(line):
            self._skip_fence(fence[1])
        elif (atx := _ATX.match(line)) and clean(atx[2]):
            self._open(len(atx[1]), clean(atx[2]), number)
            self.at += 1
        elif self.lenticular and (mark := _LENTICULAR.match(line)):
            self._open(2, clean(mark[1]), number)
            self.at += 1
        elif bullet := _BULLET.match(line):
            self._bullet(here, _width(bullet["indent"]), bullet["body"], number)
            self.at += 1
        elif line.lstrip().startswith("|"):
            self._table(here, number)
        else:
            self._paragraph(here, number)

    def _open(self, level: int, heading: str, line: int) -> None:
        while self.stack[-1].level >= level:
            self.stack.pop()
        section = Section(level, heading, line)
        self.stack[-1].children.append(section)
        self.stack.append(section)
        self.last = None

    def _skip_fence(self, mark: str) -> None:
        self.at += 1
        while self.at < len(self.lines) and not self.lines[self.at].lstrip().startswith(mark):
            self.at += 1
        self.at += 1
        self.last = None

    def _bullet(self, here: Section, indent: int, body: str, number: int) -> None:
        if self.last is not None and indent > self.last[0]:
            owner = self.last[1]
            if owner is not None:
                owner.items.append(clean(body))
            elif here.bullets:
                here.bullets[-1] += "；" + clean(body)
            return
        found = parse_field(body, number)
        if found is None:
            here.bullets.append(clean(body))
        else:
            here.fields.append(found)
        self.last = (indent, found)

    def _paragraph(self, here: Section, number: int) -> None:
        block: list[str] = []
        while self.at < len(self.lines) and (line := self.lines[self.at]).strip():
            if block and (setext := _SETEXT.match(line)) and len(block) == 1 and self.last is None:
                self._open(1 if setext[1][0] == "=" else 2, clean(block[0]), number)
                self.at += 1
                return
            if _starts_block(line, self.lenticular):
                break
            block.append(line)
            self.at += 1
        if all(set(line.strip()) <= set("-*_ ") for line in block):
            self.last = None
            return
        self._lines(here, block, number)

    def _lines(self, here: Section, block: list[str], number: int) -> None:
        if self.last is not None and number > 1 and self.lines[number - 2].strip() and self._continues(here, block):
            return
        self.last = None
        found = [parse_field(line.strip(), number + at) for at, line in enumerate(block)]
        labelled = len(found) >= 2 and all(item is not None and len(item.key) <= 20 for item in found)
        prose: list[str] = []
        for item, line in zip(found, block, strict=True):
            bold = line.lstrip().startswith(("**", "__"))
            spoken = item is not None and item.value[:1] in {"“", "「", "『", '"'} and not self.known(item.key)
            if item is not None and not spoken and (labelled or bold or self.known(item.key)):
                item.listed = bold
                here.fields.append(item)
            else:
                prose.append(clean(line))
        if prose:
            here.prose.append(_join(prose))

    def _continues(self, here: Section, block: list[str]) -> bool:
        """Lines right below a list item belong to it, unless they are labelled themselves."""
        if any((item := parse_field(line.strip(), 0)) is not None and self.known(item.key) for line in block):
            return False
        text = _join([clean(line) for line in block])
        owner = self.last[1] if self.last else None
        if owner is not None and owner.items:
            owner.items[-1] = _join([owner.items[-1], text])
        elif owner is not None:
            owner.value = _join([owner.value, text])
        else:
            here.bullets[-1] = _join([here.bullets[-1], text])
        return True

    def _table(self, here: Section, number: int) -> None:
        rows: list[list[str]] = []
        while self.at < len(self.lines) and (line := self.lines[self.at].strip()).startswith("|"):
            rows.append([clean(cell) for cell in re.split(r"(?<!\\)\|", line.strip("|"))])
            self.at += 1
        self.last = None
        if len(rows) >= 2 and all(set(cell) <= set(":- ") for cell in rows[1]):
            here.tables.append(Table(rows[0], rows[2:], number))
        else:
            here.bullets.extend("；".join(row) for row in rows)


def _starts_block(line: str, lenticular: bool) -> bool:
    return bool(
        _ATX.match(line)
        or _BULLET.match(line)
        or _FENCE.match(line)
        or line.lstrip().startswith("|")
        or (lenticular and _LENTICULAR.match(line))
    )


def _join(parts: list[str]) -> str:
    """Lines of one paragraph as one line: a space only where a spaced script meets another."""
    joined = ""
    for part in filter(None, (part.strip() for part in parts)):
        spaced = joined and joined[-1].isascii() and part[0].isascii()
        joined += (" " if spaced else "") + part
    return joined


def _width(indent: str) -> int:
    return len(indent.replace("\t", "    ").replace("　", "  "))
