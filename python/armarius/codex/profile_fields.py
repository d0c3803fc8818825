"""Lines of Markdown or plain text to a tree of sections; their labelled lines, and the meanings of labels."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, cast

from armarius.codex.cards import parse_span
from armarius.codex.model import ContextLevel
from armarius.documents.titles import FrontMatter, parse_front_matter
from armarius.lexicon import word_file
from armarius.text.unicode import HAN_EVERY, HAS_MARK_OR_COLON, fold, join_parts
from armarius.validation import near

_KEYED = re.compile(r"^【(?P<key>[^】]{1,12})】\s*[:：]?\s*(?P<value>\S.*)$")
_BOLD = re.compile(
    r"^(\*\*|__|\*|_)(?P<key>[^*_]{1,40}?)\s*(?P<in>[:：]*)\s*\1\s*(?P<out>[:：]{1,2}|[–—-](?=\s))?\s*(?P<value>.*)$"
)
_PLAIN = re.compile(r"^(?P<key>[^:：|。！？!?“”\"「」『』，,；;]{1,40}?)\s*[:：]{1,2}(?!//)\s*(?P<value>.*)$")
_CLOCK = re.compile(r"^[^:：]*\d[:：]\d")
# Bounded, and another opening bracket ends the match: otherwise a line of a million opening brackets takes quadratic
# time. A target may contain three brackets.
_LINK = re.compile(
    r"\[\[(?:[^\[\]|]{0,300}\|([^\[\]|]{1,300})|([^\[\]|#]{1,300})(?:#[^\[\]|]{0,300})?)\]\]"
    r"|(?<!!)\[([^\[\]]{0,300})\]\([^()\s]{0,2000}(?:\([^()\s]{0,2000}){0,3}\)"
)
# An image or an embedded note: no content of this page.
_IMAGE = re.compile(r"!\[[^\]]{0,300}\]\([^()]{0,2000}(?:\([^()]{0,2000}){0,3}\)|!\[\[[^\[\]]{0,300}\]\]")
_MARKUP = re.compile(r"\*\*|__|~~|`")


@dataclass(slots=True)
class Field:
    """One labelled line: `- key：value`, with the items nested under it; `line` is 1-based."""

    key: str
    value: str
    line: int
    items: list[str] = field(default_factory=list)
    listed: bool = True


@dataclass(slots=True)
class ProfileTable:
    """A pipe table: cleaned header cells, cleaned rows, 1-based line of the header."""

    header: list[str]
    rows: list[list[str]]
    line: int


@dataclass(slots=True)
class ProfileSection:
    """A heading with what stands under it, up to the next heading.

    Level 0 is the file itself, 1 to 6 headings, 7 a line in bold that heads a paragraph. `prose_lines` are the
    1-based lines on which the paragraphs of `prose` begin. `pieces` are the list items without a label, each with its
    nested items.
    """

    level: int
    heading: str
    line: int
    fields: list[Field] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    prose_lines: list[int] = field(default_factory=list)
    pieces: list[list[str]] = field(default_factory=list)
    tables: list[ProfileTable] = field(default_factory=list)
    children: list["ProfileSection"] = field(default_factory=list)

    @property
    def bullets(self) -> list[str]:
        """The list items without a label. Cost: linear in their text."""
        return [join_parts(pieces, "；") for pieces in self.pieces]


def clean(text: str) -> str:
    """`text` without inline markup: bold and code marks removed, links replaced by their display text."""
    text = _LINK.sub(lambda match: match[1] or match[2] or match[3] or "", _IMAGE.sub("", text))
    return _MARKUP.sub("", text).strip(" \t　")


def parse_field(body: str, line: int) -> Field | None:
    """`body` as `key：value`, or None when it is not a labelled line."""
    if (keyed := _KEYED.match(body)) is not None:
        return Field(keyed["key"].strip(), clean(keyed["value"]), line)
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


_DATA: dict[str, Any] = word_file("profiles")


def words(name: str) -> frozenset[str]:
    """The folded words of one list."""
    return frozenset(fold(word) for word in _DATA[name].split())


def meanings(name: str) -> dict[str, str]:
    """Folded word -> the row of the table `name` that it stands in."""
    return {fold(word): row for row, value in _DATA[name].items() for word in value.split()}


def words_of(name: str) -> dict[str, dict[str, str]]:
    """The table `name` of display words."""
    table: dict[str, dict[str, str]] = _DATA[name]
    return table


Role = Literal["name", "full_name", "type", "aliases", "description", "level", "id", "relations"]

_SEPARATORS = frozenset("、，,;；/／|｜\n")
_PAIRS = {"（": "）", "(": ")", "【": "】", "[": "]", "《": "》"}
_QUOTES = {"“": "”", "‘": "’", "「": "」", "『": "』", "《": "》", "〈": "〉", '"': '"', "'": "'", "`": "`"}
_LONE = frozenset('“”「」『』《》〈〉"`')  # half a pair is dropped; ' and ’ may be apostrophes
_OTHER_HALF = _QUOTES | {closing: opening for opening, closing in _QUOTES.items()}
_HAN_ONLY = re.compile(rf"^[{HAN_EVERY}·\s　]+$")
_NOTE = re.compile(r"(?<!\s)\s*[（(\[【][^（(\[【）)\]】]*[）)\]】]\s*$")


_ROLE_OF = meanings("roles")
_LEVEL_OF = meanings("levels")
_AMBIGUOUS = ("context", "上下文")
_STOPS = "。．.!！;； "
_NAMING = words("naming")
_NOTHING = words("nothing")
_LONGEST_WORD = 40  # code points
_PARTS, _CAST, _PERSON = words("parts"), words("cast"), words("person")
NAME_PARTS: dict[str, Any] = word_file("names")
_SUFFIXES = frozenset(NAME_PARTS["latin"]["suffixes"].split())
_KNOWN = frozenset(_ROLE_OF) | _NAMING | words("common")


def _key(label: str) -> str:
    return fold(_NOTE.sub("", label)).replace(" ", "-")


@lru_cache(maxsize=512)
def role_of(label: str) -> Role | None:
    """The role of a label in a profile, or None for an attribute of the user."""
    key = _key(label)
    return cast("Role | None", _ROLE_OF.get(key) or _ROLE_OF.get(key.replace("-", "").replace("_", "")))


def is_naming(label: str) -> bool:
    """Whether the value of `label` is both an attribute and a name: 字, 号, pen name."""
    return _key(label) in _NAMING


def is_known(label: str) -> bool:
    """Whether `label` opens a labelled line even without a list marker."""
    return role_of(label) is not None or _key(label) in _KNOWN or parse_span(label) is not None


def is_cast(label: str) -> bool:
    """Whether the value of `label` lists who appears."""
    return _key(label) in _CAST


def is_personal(label: str) -> bool:
    """Whether `label` is of a person."""
    return _key(label) in _PERSON


def is_role(label: str) -> bool:
    """Whether the value of `label` says what part somebody plays in the story."""
    return _key(label) in _PARTS


def level_of(value: str) -> ContextLevel | None:
    """The context level that `value` names, with a full stop or without, or None when it names none."""
    value = value.rstrip(_STOPS)
    return cast("ContextLevel | None", _LEVEL_OF.get(_key(value)) or _LEVEL_OF.get(fold(value).replace(" ", "_")))


def is_wrong_level(label: str, value: str) -> bool:
    """Whether `value` was meant as a level: 上下文 and Context may say anything else, other labels may not."""
    return _key(label) not in _AMBIGUOUS or bool(near(value, _LEVEL_OF))


def is_nothing(value: str) -> bool:
    """Whether `value` means "none": 无, none, —."""
    bare = value.strip("。. ")
    return not value.strip() or (len(bare) <= _LONGEST_WORD and fold(bare) in _NOTHING)


def split_list(value: str) -> list[str]:
    """The items of a list value: 、，,;；/| separate, except inside brackets; empty items dropped."""
    parts, current, closing = [], "", ""
    for char in value:
        if closing:
            closing = "" if char == closing else closing
        elif char in _PAIRS:
            closing = _PAIRS[char]
        elif char in _SEPARATORS:
            parts.append(current)
            current = ""
            continue
        current += char
    return [part for part in (part.strip() for part in [*parts, current]) if part]


def strip_quotes(name: str) -> str:
    """A name without the quotation marks around it; quotations inside keep theirs.

    An unpaired mark at either end is removed too: in “小雨、雨丫头” the halves are in two names.
    """
    name = name.strip()
    while 1 < len(name) <= _LONGEST:
        if _is_enclosed(name):
            name = name[1:-1].strip()
        elif _is_lone(name[0], name):
            name = name[1:].strip()
        elif _is_lone(name[-1], name):
            name = name[:-1].strip()
        else:
            break
    return name


def _is_enclosed(name: str) -> bool:
    """Whether first and last character are one quotation, not the ends of two."""
    opening, closing, inner = name[0], name[-1], name[1:-1]
    if _QUOTES.get(opening) != closing:
        return False
    if opening == closing:
        return opening not in inner
    depth = 0
    for char in inner:
        depth += (char == opening) - (char == closing)
        if depth < 0:
            return False
    return depth == 0


def _is_lone(mark: str, name: str) -> bool:
    """Whether a quotation mark in a name is unpaired."""
    if mark not in _LONE:
        return False
    other = _OTHER_HALF[mark]
    return name.count(mark) % 2 == 1 if other == mark else name.count(mark) > name.count(other)


def split_names(value: str) -> list[str]:
    """The names in an alias list: notes in brackets and quotation marks dropped, sentences and "none" refused.

    A run of Han names parted by spaces only (小雨 雨丫头) is several names; a Latin name keeps its spaces.
    """
    names: list[str] = []
    for part in _with_suffixes(split_list(value)):
        bare = strip_quotes(_NOTE.sub("", part).strip(" 。."))
        pieces = bare.split() if _HAN_ONLY.match(bare) else [bare]
        names += [piece for piece in pieces if piece and not is_nothing(piece) and _could_name(piece)]
    return list(dict.fromkeys(names))


def _with_suffixes(parts: list[str]) -> list[str]:
    """Join names split at the comma of "Mr. Pocket, Junior"."""
    joined: list[str] = []
    for part in parts:
        if joined and fold(part).rstrip(".") in _SUFFIXES:
            joined[-1] += f", {part}"
        else:
            joined.append(part)
    return joined


def _could_name(text: str) -> bool:
    return len(text) <= 60 and not HAS_MARK_OR_COLON.search(text) and any(char.isalnum() for char in text)


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
        if here.level == _BELOW_ALL and self._ends_section(line):
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
        elif (bold := _BOLD_LINE.match(line)) and self._may_be_heading():
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

    def _ends_section(self, line: str) -> bool:
        """Whether a bold line after a blank one ends the section under an earlier bold line."""
        before = self.lines[self.at - 1].strip() if self.at else ""
        return not before and re.match(r"\s*(?:[-+*•]\s+)?(?:\*\*|__)", line) is not None

    def _may_be_heading(self) -> bool:
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
        field = parse_field(body, number)
        if field is None:
            here.pieces.append([clean(body)])
        else:
            here.fields.append(field)
        self.last = (indent, field)

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
        if self.last is not None and number > 1 and self.lines[number - 2].strip() and self._extend_item(here, block):
            return
        self.last = None
        fields = [parse_field(line.strip(), number + at) for at, line in enumerate(block)]
        labelled = len(fields) >= 2 and all(item is not None and len(item.key) <= 20 for item in fields)
        prose: list[str] = []
        for item, line in zip(fields, block, strict=True):
            bold = line.lstrip().startswith(("**", "__"))
            spoken = item is not None and item.value[:1] in {"“", "「", "『", '"'} and not self.known(item.key)
            if item is not None and not spoken and (labelled or bold or self.known(item.key)):
                item.listed = bold
                here.fields.append(item)
            elif not _is_rule(line):  # nor the delimiter of an invalid front matter
                prose.append(clean(line))
        if prose:
            here.prose.append(_join(prose))
            here.prose_lines.append(number)

    def _extend_item(self, here: ProfileSection, block: list[str]) -> bool:
        """Lines right below a list item belong to it, below a label only indented ones, unless they have labels."""
        indent = _width(block[0][: len(block[0]) - len(block[0].lstrip())])
        if self.last and self.last[1] and indent <= self.last[0]:
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
            here.pieces.extend([join_parts(row, "；")] for row in rows)


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


def _width(indent: str) -> int:
    return len(indent.replace("\t", "    ").replace("　", "  "))


_QUOTE = re.compile(r"^ {0,3}>[ \t]?(?:\[![\w-]+\][+-]?.*$)?")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed file."""

    front: FrontMatter
    root: ProfileSection


def parse_page(text: str, check: Callable[[str], bool]) -> Page:
    """Parse `text` into front matter and a tree of sections.

    Args:
        text: A whole file; any line ends.
        check: Whether a key without a list marker is a label rather than the start of a sentence.

    Cost: one pass over the lines.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    front, end = parse_front_matter(text)
    lines = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text).split("\n")
    lines = [_QUOTE.sub("", line) for line in lines]
    return Page(front, SectionReader(lines, text.count("\n", 0, end) + (end > 0), check).read())
