"""Lines of Markdown or plain text to a tree of sections."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from armarius.codex.profiles.fields import (
    Field,
    ProfileSection,
    ProfileTable,
    clean,
    parse_field,
)
from armarius.documents.titles import FrontMatter, parse_front_matter
from armarius.text.unicode import joined

_LONGEST = 1_000  # code points of a heading: no name is longer, and each rule reads it again
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t　]+|(?=[^#\s]))(.*?)[ \t]*#*[ \t]*$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
# Headings of plain text: 【名字】, 一、名字, （一）名字.
_PLAIN_HEADING = re.compile(
    r"^[ \t　]*(?:【([^】]{1,24})】"
    r"|(?:[（(][一二三四五六七八九十]{1,3}[)）]|[一二三四五六七八九十]{1,3}[、.．])"
    r"[ \t　]*([^\s，。：:]{1,24}))[ \t　]*$"
)
_BOLD_LINE = re.compile(r"^ {0,3}(\*\*|__)([^*_]{1,60}?[^*_:：])\1[ \t]*$")
_INDENTED = re.compile(r"^(?: {4}|\t)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_BULLET = re.compile(
    r"^(?P<indent>[ \t　]*)(?:[-+*•◦·][ \t　]+|[-•◦](?=[^\W\d_a-zA-Z]|\*\*)|\d{1,3}[.)、][ \t]*)(?P<body>\S.*)$"
)
# The level of a bold line that heads a paragraph.
_BELOW_ALL = 7


class SectionReader:
    """Walks the lines once; `stack` is the path of open sections.

    Args:
        lines: Of the file, comments already blanked.
        start: Index of the first line after the front matter.
        known: Whether a key without a list marker is a label.
    """

    def __init__(self, lines: list[str], start: int, known: Callable[[str], bool]) -> None:
        self.lines, self.at, self.known = lines, start, known
        self.root = ProfileSection(0, "", 1)
        self.stack = [self.root]
        self.last: tuple[int, Field | None] | None = None
        self.plain = not any(_ATX.match(line) for line in lines)

    def read(self) -> ProfileSection:
        """The file as a section of level 0."""
        while self.at < len(self.lines):
            self._step()
        return self.root

    def _step(self) -> None:
        line, number = self.lines[self.at], self.at + 1
        here = self.stack[-1]
        if not line.strip():
            self.at += 1
            return
        if here.level == _BELOW_ALL and self._leads(line):
            self.stack.pop()
            here = self.stack[-1]
        if not self.plain and self.last is None and _INDENTED.match(line) and not self._follows_text():
            self.at += 1
            return
        if fence := _FENCE.match(line):
            self._skip_fence(fence[1])
        elif atx := _ATX.match(line):
            if title := clean(atx[2]):  # without one, as while it is typed, it opens nothing
                self._open(len(atx[1]), title, number)
            self.at += 1
        elif self.plain and (mark := _PLAIN_HEADING.match(line)):
            self._open(2, clean(mark[1] or mark[2]), number)
            self.at += 1
        elif (bold := _BOLD_LINE.match(line)) and self._stands_alone():
            self._open(_BELOW_ALL, clean(bold[2]), number)
            self.at += 1
        elif bullet := _BULLET.match(line):
            self._bullet(here, _width(bullet["indent"]), bullet["body"], number)
            self.at += 1
        elif line.lstrip().startswith("|"):
            self._table(here, number)
        else:
            self._paragraph(here, number)

    def _follows_text(self) -> bool:
        """Whether the line above is a paragraph that an indented line continues; after a blank line it is code."""
        above = self.lines[self.at - 1] if self.at else ""
        return bool(above.strip()) and not _INDENTED.match(above)

    def _leads(self, line: str) -> bool:
        """Whether a bold line after a blank one ends the section under an earlier bold line."""
        before = self.lines[self.at - 1].strip() if self.at else ""
        return not before and re.match(r"\s*(?:[-+*•]\s+)?(?:\*\*|__)", line) is not None

    def _stands_alone(self) -> bool:
        """Whether the current line begins a paragraph and has content below that it can be the heading of."""
        before = self.lines[self.at - 1].strip() if self.at else ""
        after = next((line for line in self.lines[self.at + 1 : self.at + 3] if line.strip()), "")
        return not before and bool(after) and not _ATX.match(after)

    def _open(self, level: int, heading: str, line: int) -> None:
        while self.stack[-1].level >= level:
            self.stack.pop()
        section = ProfileSection(level, heading[:_LONGEST], line)
        self.stack[-1].children.append(section)
        self.stack.append(section)
        self.last = None

    def _skip_fence(self, mark: str) -> None:
        self.at += 1
        while self.at < len(self.lines) and not self.lines[self.at].lstrip().startswith(mark):
            self.at += 1
        self.at += 1
        self.last = None

    def _bullet(self, here: ProfileSection, indent: int, body: str, number: int) -> None:
        if self.last is not None and indent > self.last[0]:
            owner = self.last[1]
            if owner is not None:
                owner.items.append(clean(body))
            elif here.pieces:
                here.pieces[-1].append(clean(body))
            return
        found = parse_field(body, number)
        if found is None:
            here.pieces.append([clean(body)])
        else:
            here.fields.append(found)
        self.last = (indent, found)

    def _paragraph(self, here: ProfileSection, number: int) -> None:
        block: list[str] = []
        while self.at < len(self.lines) and (line := self.lines[self.at]).strip():
            if block and (setext := _SETEXT.match(line)) and len(block) == 1 and self.last is None:
                self._open(1 if setext[1][0] == "=" else 2, clean(block[0]), number)
                self.at += 1
                return
            if _starts_block(line, self.plain):
                break
            block.append(line)
            self.at += 1
        if all(map(_is_rule, block)):
            self.last = None
            return
        self._lines(here, block, number)

    def _lines(self, here: ProfileSection, block: list[str], number: int) -> None:
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
            elif not _is_rule(line):  # nor the delimiter of a front matter that is none
                prose.append(clean(line))
        if prose:
            here.prose.append(_join(prose))
            here.prose_lines.append(number)

    def _continues(self, here: ProfileSection, block: list[str]) -> bool:
        """Lines right below a list item belong to it, below a label only indented ones, unless they have labels."""
        if self.last and self.last[1] and not _deeper(block[0], self.last[0]):
            return False
        if any((item := parse_field(line.strip(), 0)) is not None and self.known(item.key) for line in block):
            return False
        text = _join([clean(line) for line in block])
        owner = self.last[1] if self.last else None
        if owner is not None and owner.items:
            owner.items[-1] = _join([owner.items[-1], text])
        elif owner is not None:
            owner.value = _join([owner.value, text])
        else:
            here.pieces[-1][-1] = _join([here.pieces[-1][-1], text])
        return True

    def _table(self, here: ProfileSection, number: int) -> None:
        rows: list[list[str]] = []
        while self.at < len(self.lines) and (line := self.lines[self.at].strip()).startswith("|"):
            rows.append([clean(cell) for cell in re.split(r"(?<!\\)\|", line.strip("|"))])
            self.at += 1
        self.last = None
        if len(rows) >= 2 and all(set(cell) <= set(":- ") for cell in rows[1]):
            here.tables.append(ProfileTable(rows[0], rows[2:], number))
        else:
            here.pieces.extend([joined(row, "；")] for row in rows)


def _starts_block(line: str, plain: bool) -> bool:
    return bool(
        _ATX.match(line)
        or _BULLET.match(line)
        or _FENCE.match(line)
        or line.lstrip().startswith("|")
        or (plain and _PLAIN_HEADING.match(line))
    )


def _is_rule(line: str) -> bool:
    return not line.strip().strip("-*_ ")


def _join(parts: list[str]) -> str:
    """Lines of one paragraph as one line: a space only where a spaced script meets another."""
    joined = ""
    for part in filter(None, (part.strip() for part in parts)):
        spaced = joined and joined[-1].isascii() and part[0].isascii()
        joined += (" " if spaced else "") + part
    return joined


def _deeper(line: str, indent: int) -> bool:
    return _width(line[: len(line) - len(line.lstrip())]) > indent


def _width(indent: str) -> int:
    return len(indent.replace("\t", "    ").replace("　", "  "))


_QUOTE = re.compile(r"^ {0,3}>[ \t]?(?:\[![\w-]+\][+-]?.*$)?")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed file."""

    front: FrontMatter
    root: ProfileSection


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
    lines = [_QUOTE.sub("", line) for line in lines]
    return Page(front, SectionReader(lines, text.count("\n", 0, end) + (end > 0), known).read())
