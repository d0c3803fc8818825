"""Other markup than Markdown as marks for `segments.split_prose`: reStructuredText, Org, AsciiDoc, LaTeX, novelWriter.

A text keeps its offsets: bookkeeping (targets, drawers, comments) is blank in `Marks.text`, which is as long.
"""

import re
from collections.abc import Callable, Mapping

from armarius.documents.segments import Marks

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_LITERAL = "\x01"  # stands for every character of a literal block, line ends too: one line that is no heading


class _Reader:
    """Collects the marks of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans = [(match.start(), match.end()) for match in _LINES.finditer(text) if match[0]]
        self.lines = [text[start:end].rstrip() for start, end in self.spans]
        self.front: dict[str, str | tuple[str, ...]] = {}
        self.body_start = 0
        self.headings: dict[int, tuple[int, str]] = {}
        self._hidden: list[tuple[int, int, str]] = []

    def heading(self, line: int, level: int, title: str) -> None:
        self.headings[self.spans[line][0]] = level, title.strip()

    def hide(self, first: int, end: int, by: str = " ") -> None:
        """Blank the lines from `first` to before `end`, or write another character in their place."""
        while end > first and not self.lines[end - 1]:
            end -= 1
        if end > first:
            start = self.spans[first][0]
            self._hidden.append((start, self.spans[end - 1][0] + len(self.lines[end - 1]), by))

    def end_of_block(self, first: int) -> int:
        """The line after the block that is indented more than the line `first`."""
        depth, at = _indent(self.lines[first]), first + 1
        while at < len(self.lines) and (not self.lines[at] or _indent(self.lines[at]) > depth):
            at += 1
        return at

    def add_field(self, line: int, key: str, value: str) -> None:
        """A field of the front matter, which ends behind this line; "" is a key of no use."""
        if key:
            self.front[key.strip().lower()] = value.strip()
        self.body_start = self.spans[line][0] + len(self.lines[line])

    def marks(self) -> Marks:
        text, parts, done = self.text, [], 0
        for start, end, by in self._hidden:
            lines = text[start:end]
            parts += [text[done:start], by * len(lines) if by != " " else re.sub(r"[^\r\n]", by, lines)]
            done = end
        return Marks("".join([*parts, text[done:]]), self.headings, self.front, self.body_start)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}")
_DIRECTIVE = re.compile(r"\s*\.\. (?:\|[^|]+\| )?([\w:-]+)::(.*)")
_NOTE = re.compile(r"\s*\.\. \[[^\]]+\] ")
_OPTION = re.compile(r"\s+:[\w-]+:")
_DOCINFO = re.compile(r":([A-Za-z][\w -]*):(?:\s+(.*)|$)")
# Directives without prose of their own.
_BARE = (
    "toctree contents index meta include currentmodule module py:currentmodule py:module highlight default-role role "
    "raw sectnum tabularcolumns"
)
_SOURCE = "code code-block sourcecode literalinclude parsed-literal prompt doctest testcode math"
_SILENT, _CODE = frozenset(_BARE.split()), frozenset(_SOURCE.split())


def read_rst(text: str) -> Marks:
    """reStructuredText: titles by their underlines, the levels in the order in which they first appear."""
    page, levels, at = _Reader(text), dict[tuple[str, bool], int](), 0
    lines = page.lines
    while at < len(lines) and ((field := _DOCINFO.match(lines[at])) or not lines[at]):
        if field:
            page.add_field(at, field[1], field[2] or "")
        at += 1
    while at < len(lines):
        line, below = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
        if _ADORNMENT.fullmatch(line):
            if below and at + 2 < len(lines) and lines[at + 2] == line:
                page.heading(at + 1, levels.setdefault((line[0], True), len(levels) + 1), below)
                page.hide(at, at + 1)
                page.hide(at + 2, at + 3)
                at += 2
            else:  # a transition
                page.hide(at, at + 1)
        elif line and _ADORNMENT.fullmatch(below) and not line[0].isspace() and (at == 0 or not lines[at - 1]):
            page.heading(at, levels.setdefault((below[0], False), len(levels) + 1), line)
            page.hide(at + 1, at + 2)
            at += 1
        elif line.lstrip().startswith(".. ") or line.strip() == "..":
            at = _explicit_markup(page, at)
            continue
        elif line.endswith("::") and (end := page.end_of_block(at)) > at + 1:
            page.hide(at + 1, end, _LITERAL)
            at = end
            continue
        at += 1
    return page.marks()


def _explicit_markup(page: _Reader, at: int) -> int:
    """Explicit markup: a directive, a target, a comment; the line to go on with."""
    end, match = page.end_of_block(at), _DIRECTIVE.match(page.lines[at])
    if match is None:
        if _NOTE.match(page.lines[at]):
            return at + 1
        page.hide(at, end)
        return end
    if match[1] in _SILENT:
        page.hide(at, end)
        return end
    inside = at + 1
    while inside < end and _OPTION.match(page.lines[inside]):
        inside += 1
    page.hide(at if match[1] in _CODE or not match[2].strip() else at + 1, inside)
    if match[1] not in _CODE:
        return inside
    page.hide(inside, end, _LITERAL)
    return end


_STAR = re.compile(r"(\*+)[ \t]+(.*)")
_STATE = re.compile(r"^(?:(?:TODO|DONE|NEXT|WAITING|CANCELL?ED)\s+|\[#\w\]\s*)+|(?<!\s)(?:\s+:[\w@#%:]+:)+$")
_KEYWORD = re.compile(r"#\+(\w+):\s*(.*)")
_BLOCK = re.compile(r"\s*#\+(begin|end)_(\w+)", re.IGNORECASE)
_DRAWER = re.compile(r"\s*:[\w-]+:$")
_ORG_ASIDE = re.compile(r"#(?:\+|\s|$)|\s*(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):")


def read_org(text: str) -> Marks:
    """Org: headings by stars; keywords above the first of them are the front matter."""
    page, at = _Reader(text), 0
    lines = page.lines
    top = True
    while at < len(lines):
        line, first = lines[at], at
        at += 1
        if top and (keyword := _KEYWORD.match(line)):
            page.add_field(first, {"filetags": "tags"}.get(keyword[1].lower(), keyword[1]), keyword[2].strip(": "))
            continue
        top = top and (not line or line.startswith("#"))
        if star := _STAR.match(line):
            page.heading(first, len(star[1]), _STATE.sub("", star[2]))
        elif block := _BLOCK.match(line):
            name = block[2].lower()
            page.hide(first, at)
            if block[1].lower() == "begin" and name in ("src", "example", "export", "comment"):
                while at < len(lines) and not ((last := _BLOCK.match(lines[at])) and last[1].lower() == "end"):
                    at += 1
                page.hide(first + 1, at, " " if name == "comment" else _LITERAL)
        elif _DRAWER.match(line):
            end = next((n for n in range(at, min(at + 50, len(lines))) if lines[n].strip().upper() == ":END:"), 0)
            page.hide(first, at := max(at, end + 1))
        elif _ORG_ASIDE.match(line):
            page.hide(first, at)
    return page.marks()


_NWD_HEADING = re.compile(r"(#{1,4})!?[ \t]+(.*)")
_NWD_FIELD = re.compile(r"%%~(\w+):\s*(.*)")
_NWD_ASIDE = re.compile(r"%(?!~?\s*(?:synopsis|short|story|note)\b)|\[(?:new ?page|vspace\b.*)\]$", re.IGNORECASE)
# The class of `%%~kind: CHARACTER/NOTE` is the kind, but a note among the texts of the novel may be of any, and a text
# outside them was taken out.
_NWD_KINDS = {"NOVEL/NOTE": "", "ARCHIVE/DOCUMENT": "NOVEL", "TRASH/DOCUMENT": "NOVEL"}
_NWD_TAG = re.compile(r"@tag:\s*(.*)")


def read_nwd(text: str) -> Marks:
    """novelWriter: the header is the front matter, a comment is left out unless it is a synopsis or a note."""
    page = _Reader(text)
    for at, line in enumerate(page.lines):
        if (field := _NWD_FIELD.match(line)) and at <= 10:
            value = field[2].strip()
            value = _NWD_KINDS.get(value, value.partition("/")[0])
            page.add_field(at, {"name": "title", "kind": "kind"}.get(field[1], ""), value)
        elif heading := _NWD_HEADING.match(line):
            page.heading(at, len(heading[1]), heading[2])
        elif _NWD_ASIDE.match(line):
            page.hide(at, at + 1)
    return page.marks()


_ADOC_HEADING = re.compile(r"(={1,6})[ \t]+(.*)")
_ADOC_FIELD = re.compile(r":([\w-]+):[ \t]*(.*)")
_ADOC_FENCE = re.compile(r"([-.+/])\1{3,}")
_ADOC_ASIDE = re.compile(r"//(?!/)|\[[^\]]*\]$|(?:include|image|toc|ifdef|ifndef|endif)::")


def read_adoc(text: str) -> Marks:
    """AsciiDoc: titles by their equals signs, source blocks as they are, attributes and comments left out."""
    page, at = _Reader(text), 0
    lines = page.lines
    while at < len(lines):
        line = lines[at]
        if heading := _ADOC_HEADING.match(line):
            page.heading(at, len(heading[1]), heading[2])
        elif fence := _ADOC_FENCE.fullmatch(line):
            end = next((n for n in range(at + 1, len(lines)) if lines[n] == line), len(lines))
            page.hide(at, min(end + 1, len(lines)), " " if fence[1] == "/" else _LITERAL)
            at = end
        elif _ADOC_FIELD.match(line) or _ADOC_ASIDE.match(line):
            page.hide(at, at + 1)
        at += 1
    return page.marks()


_TEX_LEVELS = {"part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6}
_TEX_HEADING = re.compile(
    rf"\s*\\({'|'.join(_TEX_LEVELS)})\*?(?:\[[^\[\]]*\])*\{{(.*)\}}\s*(?:\\label\{{[^{{}}]*\}})?\s*$"
)
_TEX_SILENT = "documentclass|usepackage|input|include|label|maketitle|tableofcontents|newcommand"
_TEX_ASIDE = re.compile(rf"\s*(?:%|\\(?:{_TEX_SILENT})\b)")


def read_tex(text: str) -> Marks:
    """LaTeX: sectioning commands are headings, the preamble and comments are left out."""
    page = _Reader(text)
    begin = next((at for at, line in enumerate(page.lines) if line.strip() == r"\begin{document}"), -1)
    page.hide(0, begin + 1)
    for at in range(begin + 1, len(page.lines)):
        if heading := _TEX_HEADING.match(page.lines[at]):
            page.heading(at, _TEX_LEVELS[heading[1]], heading[2])
        elif _TEX_ASIDE.match(page.lines[at]):
            page.hide(at, at + 1)
    return page.marks()


MARKUP: Mapping[str, Callable[[str], Marks]] = {
    ".rst": read_rst,
    ".org": read_org,
    ".nwd": read_nwd,
    ".adoc": read_adoc,
    ".asciidoc": read_adoc,
    ".tex": read_tex,
}
"""File suffix to the reader of its marks. Cost of each: one pass over the lines."""


def markdown_of(suffix: str, text: str) -> str:
    """`text` with the headings of Markdown, line for line, for the readers of profiles.

    A tag of novelWriter is an alias; literal blocks and the front matter are blank. Markdown is returned as it is.
    """
    if suffix not in MARKUP:
        return text
    marks, lines = MARKUP[suffix](text), []
    for match in _LINES.finditer(text):
        start, line = match.start(), marks.text[match.start() : match.end()].rstrip()
        if start in marks.headings:
            level, title = marks.headings[start]
            line = f"{'#' * min(level, 6)} {title}"
        elif suffix == ".nwd" and (tag := _NWD_TAG.match(line)):
            line = f"- Aliases: {tag[1].replace('|', ',')}"
        elif start < marks.body_start or line.startswith(_LITERAL):
            line = ""
        lines.append(line.lstrip("#") if start not in marks.headings else line)
    return "\n".join(lines)
