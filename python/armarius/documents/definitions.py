"""Split source code: each function, method and class header is a paragraph under its name."""

import re
from collections.abc import Iterator, Mapping

import armarius._core as _core
from armarius.documents.segments import PARAGRAPH_LIMIT, Paragraph, Splitter

# Languages with braces, for `_core.brace_outline`.
_BRACES = "c cc cjs cpp cs cts cxx dart go h hpp java js jsx kt kts mjs mts php rs scala swift ts tsx zig"

_LINE_COMMENTS = ("//", "#", "--")  # includes attributes of Rust and regions of C
_LONGEST_COMMENT = 200  # lines
_DEEPEST = 8  # nesting; deeper definitions are part of the eighth, also in a minified line

_Definition = tuple[int, int, tuple[str, ...]]  # first line, last line (1-based, inclusive), names from the outermost


def split_python(text: str, body_start: int = 0) -> list[Paragraph]:
    """Paragraphs of Python: whole functions and methods, then the rest of classes and of the module.

    Args:
        text: Any str; it need not parse.
        body_start: Ignored: code has no front matter.

    Returns:
        Paragraphs in order; `heading_path` is the names from the outermost class to the function, () at module level.

    Cost: one pass over the text.
    """
    found: list[_Definition] = []
    open_: list[tuple[int, bool, tuple[str, ...]]] = []
    for one in _core.python_outline(text):
        while open_ and open_[-1][0] < one.first_line:
            open_.pop()
        if open_ and not open_[-1][1]:
            continue  # inside of a function: part of it
        if len(open_) >= _DEEPEST:
            continue
        path = (*(open_[-1][2] if open_ else ()), one.name)
        found.append((one.first_line, one.last_line, path))
        open_.append((one.last_line, one.kind == "class", path))
    return _split(text, found)


def split_braces(text: str, body_start: int = 0) -> list[Paragraph]:
    """Paragraphs of a language with braces, as `split_python`; finds definitions by their headers."""
    found: list[_Definition] = []
    open_: list[tuple[int, tuple[str, ...]]] = []
    for one in _core.brace_outline(text):
        while open_ and open_[-1][0] < one.first_line:
            open_.pop()
        if len(open_) >= _DEEPEST:
            continue
        path = (*(open_[-1][1] if open_ else ()), one.name)
        found.append((one.first_line, one.last_line, path))
        open_.append((one.last_line, path))
    return _split(text, found)


# By file suffix; any other code is split by `segments.split_code`.
SPLITTERS: Mapping[str, Splitter] = {
    ".py": split_python,
    ".pyi": split_python,
    **{f".{name}": split_braces for name in _BRACES.split()},
}


def _split(text: str, found: list[_Definition]) -> list[Paragraph]:
    """Assign every line to its innermost definition; adjacent lines of one owner are one paragraph.

    The comment above a definition belongs to it.
    """
    lines = [match.span() for match in re.finditer(r"[^\n]*\n|[^\n]+\Z", text)]
    owner: list[tuple[int, tuple[str, ...]]] = [(-1, ())] * len(lines)
    for number, (first, last, path) in enumerate(found):
        around = owner[first - 1] if first <= len(lines) else (-1, ())
        for line in range(_commented(text, lines, owner, first - 1, around), min(last, len(lines))):
            owner[line] = (number, path)
    paragraphs: list[Paragraph] = []
    start = 0
    for line in range(1, len(lines) + 1):
        if line < len(lines) and owner[line] == owner[start]:
            continue
        path = owner[start][1]
        for begin, end in _pieces(text, lines[start:line], whole=bool(path)):
            paragraphs.append(Paragraph(len(paragraphs), begin, end, path))
        start = line
    return paragraphs


def _commented(
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
            yield from _trimmed(text, begin, end)
            begin = None
        if blank:
            continue
        while stop - start > PARAGRAPH_LIMIT:  # a single line above the limit
            yield start, start + PARAGRAPH_LIMIT
            start += PARAGRAPH_LIMIT
        begin = start if begin is None else begin
        end = stop
    if begin is not None:
        yield from _trimmed(text, begin, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if piece.strip():
        left = len(piece) - len(piece.lstrip())
        yield start + left, start + len(piece.rstrip())
