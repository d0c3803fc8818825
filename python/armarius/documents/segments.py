"""Split text into paragraphs, the units of search, citation and prompts; source code at functions, methods, classes.

A heading is a separate paragraph, so that a hit shows where the words are. Offsets are code points into the text
exactly as the file holds it: line ends are never translated, because host cursors point into them.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

import armarius._core as _core
from armarius.documents.units import TITLED, UNNUMBERED, chapter_number, names, span, unit_re, unnumbered, volume_number
from armarius.text.unicode import EAST_ASIAN, ENDS_LINE, ENDS_WIDE_LINE, lazy_pattern

Role = Literal["body", "heading", "front_matter"]

# Code points. Novels average 100-300 per paragraph; longer ones are cut at a line or sentence end, so that a line of
# megabytes is not one hit or one vector.
PARAGRAPH_LIMIT = 2000


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a document: `document.text[start:end]`.

    Attributes:
        index: Position in the document, from 0; stable as long as nothing before it changes.
        start: Offset of the first code point.
        end: Offset after the last; surrounding white space is excluded.
        heading_path: Titles from the outermost heading down; a heading's own title is the last one.
        role: "body", "heading" or "front_matter".
        chapter: The chapter of the text (of an outline entry: its subject), or None.
    """

    index: int
    start: int
    end: int
    heading_path: tuple[str, ...] = ()
    role: Role = "body"
    chapter: int | None = None


@dataclass(frozen=True, slots=True)
class Marks:
    """What a markup other than Markdown says about a text.

    Attributes:
        text: As long as the text; what is no content is blank, and a literal block is one line.
        headings: Level and title by the offset of the heading's line.
        front: The fields of its head, in the place of front matter.
        body_start: Where that head ends; 0 without one.
    """

    text: str
    headings: Mapping[int, tuple[int, str]]
    front: Mapping[str, str | tuple[str, ...]]
    body_start: int


_LINE = re.compile(r"[^\r\n]+")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_ATX = re.compile(r"\s{0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_LISTED = re.compile(r"\s*(?:[-*+•·]\s|\d+[.)、]|[|>])")
_UNSPACED_NAMES, _NAMES = unnumbered(*UNNUMBERED)
_CJK_PLAIN = lazy_pattern(
    rf"\s*(?:(?:正文\s+|[☆★◆◇●○※【〖]+[、.]?\s*)?{unit_re(*TITLED)}(?:$|[\s：:·—-].{{0,60}}$)"
    rf"|{_UNSPACED_NAMES}(?:$|[\s：:·—-].{{0,40}}$))"
)
_PLAIN = lazy_pattern(rf"\s*(?:{names('latin', *TITLED)}\b|{_NAMES}).{{0,80}}$", re.IGNORECASE)
_BOLD = lazy_pattern(rf"\s*\*\*\s*{span()}[^*\n]{{0,80}}\*\*[^。.!?！？\n]{{0,20}}$", re.IGNORECASE)
_NUMBERLESS = re.compile(rf"\s*{_NAMES}", re.IGNORECASE)


def split_prose(
    text: str, body_start: int = 0, *, outline: bool = False, broken: bool = False, marks: Marks | None = None
) -> list[Paragraph]:
    """Paragraphs of Markdown, plain text or, with `marks`, another markup.

    Blank lines part paragraphs; so does a line break after a finished sentence of Chinese or of a line too long to be
    wrapped by hand, and a line indented with an ideographic space. Lists, tables and fenced blocks are not split.
    Headings are ATX (`#`), underlined, or plain lines such as 第三回 … and CHAPTER XII.

    Args:
        text: Any str.
        body_start: End of the front matter, which is the first paragraph.
        outline: Each list item that names a chapter is a paragraph, and `chapter` is the one it names; a bold line that
            begins with a chapter is a heading.
        broken: The front matter holds lines that are no metadata: what stands in it is prose.
        marks: The headings of another markup, instead of those of Markdown.

    Cost: one pass over the lines, O(len(text)).
    """
    return _Prose(text, body_start, outline, broken, marks).run()


_UNDERLINE = re.compile(r"\s{0,3}(?:={3,}|-{3,})\s*")


class _Prose:
    """One pass over the lines of a text; see `split_prose`."""

    def __init__(self, text: str, body_start: int, outline: bool, broken: bool, marks: Marks | None) -> None:
        self.text, self.outline, self.broken, self.marks = text, outline, broken, marks
        self.body_start = body_start
        self.spans: list[tuple[int, int, tuple[str, ...], Role, int | None]] = []
        self.headings: list[tuple[int, str]] = []
        self.path: tuple[str, ...] = ()  # of the open heading, and its chapter
        self.chapter: int | None = None
        self.start = self.end = -1  # of the open paragraph; -1: none
        self.last = ""  # its last line

    def run(self) -> list[Paragraph]:
        if self.broken:
            self._broken_head()
        elif self.body_start:
            self._add(0, self.body_start, "front_matter")
        fence = ""
        previous_end = self.body_start
        for match in _LINE.finditer(self.text if self.marks is None else self.marks.text, self.body_start):
            line, at = match[0], match.start()
            if fence:
                self.end = match.end()
                if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                    fence = ""
                    self._close()
                continue
            # between two lines stand line breaks alone; CR LF is one
            breaks = at - previous_end - self.text.count("\r\n", previous_end, at)
            blank_before = breaks > 1 or previous_end == self.body_start
            previous_end = match.end()
            if not line.strip():
                self._close()
                continue
            blank_before = blank_before or self.start < 0
            if blank_before:
                self._close()
            if opened := _FENCE.match(line):
                self._close()
                fence = opened[1]
            elif self._heading(line, at, match.end(), blank_before):
                continue
            elif self.start >= 0 and self._begins_paragraph(line):
                self._close()
            self.start, self.end, self.last = at if self.start < 0 else self.start, match.end(), line
        self._close()
        return self._paragraphs()

    def _broken_head(self) -> None:
        """Paragraphs of an invalid front matter: only its delimiters are."""
        end = 0
        for match in _LINE.finditer(self.text, 0, self.body_start):
            if not match.start() or match.end() == self.body_start:
                self._close()
                self._add(match.start(), match.end(), "front_matter")
                continue
            at, last, end = match.start(), end, match.end()
            if not match[0].strip() or at - last - self.text.count("\r\n", last, at) > 1:
                self._close()
            if match[0].strip():
                self.start, self.end, self.last = at if self.start < 0 else self.start, end, match[0]

    def _heading(self, line: str, at: int, end: int, blank_before: bool) -> bool:
        if self.marks is not None:
            if at in self.marks.headings:
                self._close()
                self._open_heading(*self.marks.headings[at], at, end)
                return True
        elif atx := _ATX.match(line):
            self._close()
            self._open_heading(len(atx[1]), (atx[2] or "").strip(), at, end)
            return True
        if (
            self.marks is None
            and self.start >= 0
            and _UNDERLINE.fullmatch(line)
            and self.text.find("\n", self.start, self.end) < 0
        ):
            if _LISTED.match(self.last) or len(self.last) > 120 or _UNDERLINE.fullmatch(self.last):
                return False
            start, self.start = self.start, -1  # the open line is the title, this one its underline
            self._open_heading(1 if "=" in line else 2, self.last.strip(), start, end)
            return True
        if self.outline and self.marks is None and _BOLD.match(line):
            self._close()
            self._open_heading(8, line.replace("**", "").strip(), at, end)
            return True
        if len(line) > 120 or not (_CJK_PLAIN.match(line) or (blank_before and _PLAIN.match(line))):
            return False
        chapter, volume = chapter_number(line), volume_number(line)
        if chapter is None and volume is None and not (_NUMBERLESS.match(line) or _CJK_PLAIN.match(line)):
            return False
        if ENDS_LINE.search(line) and not re.match(r"\s*\w+\s+\w+\.\s*$", line):  # a sentence, not a heading
            return False
        self._close()
        # Below the open Markdown heading; volumes above chapters.
        level = 7 if chapter is None and volume is not None else 8
        self._open_heading(level, line.strip(), at, end)
        return True

    def _open_heading(self, level: int, title: str, start: int, end: int) -> None:
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.headings.append((level, title))
        self.path = tuple(title for _, title in self.headings)
        self.chapter = next((n for title in reversed(self.path) if (n := chapter_number(title)) is not None), None)
        self._add(start, end, "heading")

    def _begins_paragraph(self, line: str) -> bool:
        if _LISTED.match(line):
            return not _LISTED.match(self.last) or (self.outline and chapter_number(line[:40]) is not None)
        if line.startswith("\u3000"):
            return True
        if _LISTED.match(self.last):
            return not line[:1].isspace() and bool(ENDS_WIDE_LINE.search(self.last))
        cjk = re.search(f"[{EAST_ASIAN}]", self.last[-8:])
        return bool(cjk and ENDS_WIDE_LINE.search(self.last)) or (
            len(self.last) > 120 and bool(ENDS_LINE.search(self.last))
        )

    def _close(self) -> None:
        if self.start >= 0:
            self.spans.append((self.start, self.end, self.path, "body", self.chapter))
            self.start = -1

    def _add(self, start: int, end: int, role: Role) -> None:
        self.spans.append((start, end, self.path, role, self.chapter))

    def _paragraphs(self) -> list[Paragraph]:
        result: list[Paragraph] = []
        for at, left, right in cut(self.text, (row[:2] for row in self.spans)):
            _, _, path, role, chapter = self.spans[at]
            if self.outline and role == "body":
                named = chapter_number(self.text[left : min(right, left + 40)])
                chapter = chapter if named is None else named
            result.append(Paragraph(len(result), left, right, path, role, chapter))
        return result


def cut(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Spans without surrounding white space, in pieces of at most `PARAGRAPH_LIMIT` cut at line or sentence ends.

    Returns:
        The place in `spans`, start and end of each piece.
    """
    pieces: list[tuple[int, int, int]] = []
    for at, (start, end) in enumerate(spans):
        whole = text[start:end]
        body = whole.strip()
        start += len(whole) - len(whole.lstrip())
        if len(body) > PARAGRAPH_LIMIT:
            pieces += [(at, start + left, start + right) for left, right in _core.pieces(body, PARAGRAPH_LIMIT)]
        elif body:
            pieces.append((at, start, start + len(body)))
    return pieces


def folder_of(path: str) -> str:
    """The folder of a posix path; "" for the root."""
    return path.rpartition("/")[0]


def inside(path: str, folders: Container[str]) -> tuple[str, str]:
    """The folder of a series that a path lies in, "" for the project, and the path inside it."""
    name, slash, rest = path.partition("/")
    return (name, rest) if slash and name in folders else ("", path)


_AT_ONCE = 16


class TextParts(NamedTuple):
    """Parts of a path, as of `PurePosixPath`.

    Attributes:
        parts: All of them.
        folders: Those of its parent.
        stem: The last one without its suffix.
        suffix: With the dot, or "".
    """

    parts: tuple[str, ...]
    folders: tuple[str, ...]
    stem: str
    suffix: str


@lru_cache(maxsize=_AT_ONCE)
def parts_of(path: str) -> TextParts:
    """The parts of a path, cached for recent files."""
    parts = tuple(path.split("/"))
    if "" in parts or "." in parts or path.endswith("."):  # not in normal form
        pure = PurePosixPath(path)
        return TextParts(pure.parts, pure.parent.parts, pure.stem, pure.suffix)
    stem, point, suffix = parts[-1].rpartition(".")
    if not stem:  # no suffix, or a hidden name
        return TextParts(parts, parts[:-1], parts[-1], "")
    return TextParts(parts, parts[:-1], stem, point + suffix)


_PYTHON = frozenset({".py", ".pyi"})
_NAMES_OF_BRACES = "c cc cjs cpp cs cts cxx dart go h hpp java js jsx kt kts mjs mts php rs scala swift ts tsx zig"
_BRACES = frozenset(f".{name}" for name in _NAMES_OF_BRACES.split())
_BLOCK = re.compile(r"\S(?:.|\n(?!\s*\n[^\s})\]])|\r)*")  # begins unindented after a blank line

_LINE_COMMENTS = ("//", "#", "--")  # includes attributes of Rust and regions of C
_LONGEST_COMMENT = 200  # lines
_DEEPEST = 8  # nesting; deeper definitions are part of the eighth, also in a minified line

_Definition = tuple[int, int, tuple[str, ...]]  # first line, last line (1-based, inclusive), names from the outermost


def split_code(text: str, suffix: str = "") -> list[Paragraph]:
    """Paragraphs of source code.

    Of Python and languages with braces whole functions and methods, then the rest of classes and of the module; of any
    other language blocks that begin unindented after a blank line.

    Args:
        text: Any str; it need not parse.
        suffix: Of the file, which names the language.

    Returns:
        Paragraphs in order; `heading_path` is the names from the outermost class to the function, () at module level.

    Cost: one pass over the text.
    """
    if suffix in _PYTHON:
        return _split(text, _definitions(_core.python_outline(text), in_functions=False))
    if suffix in _BRACES:
        return _split(text, _definitions(_core.brace_outline(text), in_functions=True))
    pieces = cut(text, (match.span() for match in _BLOCK.finditer(text)))
    return [Paragraph(at, start, end) for at, (_, start, end) in enumerate(pieces)]


def _definitions(outline: Iterable[_core.Definition], *, in_functions: bool) -> list[_Definition]:
    """The definitions of an outline; those inside of a function are part of it, or with `in_functions` their own."""
    defs: list[_Definition] = []
    around: list[tuple[int, bool, tuple[str, ...]]] = []
    for item in outline:
        while around and around[-1][0] < item.first_line:
            around.pop()
        if len(around) >= _DEEPEST or (around and not around[-1][1]):
            continue
        path = (*(around[-1][2] if around else ()), item.name)
        defs.append((item.first_line, item.last_line, path))
        around.append((item.last_line, in_functions or item.kind == "class", path))
    return defs


def _split(text: str, defs: list[_Definition]) -> list[Paragraph]:
    """Assign every line to its innermost definition; adjacent lines of one owner are one paragraph.

    The comment above a definition belongs to it.
    """
    lines = [match.span() for match in re.finditer(r"[^\n]*\n|[^\n]+\Z", text)]
    owner: list[tuple[int, tuple[str, ...]]] = [(-1, ())] * len(lines)
    for number, (first, last, path) in enumerate(defs):
        around = owner[first - 1] if first <= len(lines) else (-1, ())
        for line in range(_comment_start(text, lines, owner, first - 1, around), min(last, len(lines))):
            owner[line] = (number, path)
    paragraphs: list[Paragraph] = []
    start = 0
    for line in range(1, len(lines) + 1):
        if line < len(lines) and owner[line] == owner[start]:
            continue
        path = owner[start][1]
        for _, begin, end in cut(text, _pieces(text, lines[start:line], whole=bool(path))):
            paragraphs.append(Paragraph(len(paragraphs), begin, end, path))
        start = line
    return paragraphs


def _comment_start(
    text: str,
    lines: list[tuple[int, int]],
    owner: list[tuple[int, tuple[str, ...]]],
    first: int,
    around: tuple[int, tuple[str, ...]],
) -> int:
    """First line of the comment above line `first`, across blank lines; `first` when there is none."""
    at = first - 1
    if at >= 0 and not text[slice(*lines[at])].strip():
        at -= 1
        if at < 0 or not text[slice(*lines[at])].strip().endswith("*/"):  # of the file or of the definition above
            return first
    begin, inside = first, False
    while at >= 0 and owner[at] == around and first - at <= _LONGEST_COMMENT:
        line = text[slice(*lines[at])].strip()
        inside = inside or line.endswith("*/")
        if not (inside or line.startswith(_LINE_COMMENTS)):
            break
        if inside and line.startswith("/*"):
            inside = False
            begin = at
        elif not inside:
            begin = at
        at -= 1
    return begin


def _pieces(text: str, lines: list[tuple[int, int]], *, whole: bool) -> Iterator[tuple[int, int]]:
    """Pieces of at most `PARAGRAPH_LIMIT`, cut at blank lines; without `whole` at every blank line."""
    begin: int | None = None
    end = 0
    for start, stop in lines:
        blank = not text[start:stop].strip()
        if begin is not None and (stop - begin > PARAGRAPH_LIMIT or (blank and not whole)):
            yield begin, end
            begin = None
        if blank:
            continue
        while stop - start > PARAGRAPH_LIMIT:  # a single line above the limit
            yield start, start + PARAGRAPH_LIMIT
            start += PARAGRAPH_LIMIT
        begin = start if begin is None else begin
        end = stop
    if begin is not None:
        yield begin, end
