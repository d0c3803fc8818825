"""Markdown from paragraphs, headings and notes; XML and HTML readers."""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from armarius.documents.decode import Undecodable
from armarius.errors import MissingExtra

_SPACE = re.compile(r"[ \t\r\n\f\v\u00a0]+")
_POSING = re.compile(r"^(?=#{1,6}(?:\s|$)|---\s*$|```|~~~)", re.MULTILINE)
_MOST_BLOCKS = 500_000  # of a Word document empty ones too, which a small archive holds any number of


def one_line(text: str) -> str:
    """White space as single spaces."""
    return _SPACE.sub(" ", text).strip()


class Markdown:
    """Collects blocks; `text()` is the document.

    Args:
        limit: Maximum UTF-8 bytes of all blocks and notes. More raises `Undecodable` at once: a small archive may
            unpack to any length, or repeat one note or chapter many times.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._bytes, self._added = limit, 0, 0
        self._blocks: list[str] = []
        self._notes: list[str] = []

    def heading(self, text: str, level: int) -> None:
        """Add a heading of level 1 to 6; an empty one is ignored."""
        self._count()
        if text := one_line(text):
            self._blocks.append(self._counted(f"{'#' * min(max(level, 1), 6)} {text}"))

    def paragraph(self, text: str) -> None:
        """Add a paragraph with its line breaks, escaped so that it is no heading."""
        self._count()
        lines = [" ".join(line.split()) for line in text.split("\n")]
        if text := "\n".join(line for line in lines if line):
            self._blocks.append(self._counted(_POSING.sub(r"\\", text)))

    def note(self, text: str) -> str:
        """Add a footnote; returns its mark for the text."""
        self._notes.append(self._counted(one_line(text)))
        return f"[^{len(self._notes)}]"

    def text(self) -> str:
        """The whole text, notes last."""
        notes = [f"[^{number}]: {text}" for number, text in enumerate(self._notes, 1)]
        return "\n\n".join((*self._blocks, *notes)) + ("\n" if self._blocks or notes else "")

    def _count(self) -> None:
        self._added += 1
        if self._added > _MOST_BLOCKS:
            raise Undecodable(f"too large: more than {_MOST_BLOCKS:,} paragraphs")

    def _counted(self, text: str) -> str:
        self._bytes += len(text.encode("utf-8", "replace"))
        if self._bytes > self._limit:
            raise Undecodable(f"too large: more than {self._limit} bytes of text, documents.max_bytes is {self._limit}")
        return text


def _etree() -> Any:  # noqa: ANN401
    try:
        from lxml import etree
    except ImportError:
        raise MissingExtra("reading manuscripts", "manuscripts") from None
    return etree


def parse_xml(data: bytes, name: str) -> Any:  # noqa: ANN401
    """The root element.

    Raises:
        Undecodable: Not XML, or beyond the parser's limits.
        MissingExtra: lxml is not installed.
    """
    etree = _etree()
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Undecodable(f"{name}: not readable XML: {error}") from None


def parse_html(data: bytes, name: str) -> Any:  # noqa: ANN401
    """The root element of a page, also of invalid HTML.

    Raises:
        Undecodable: It cannot be read at all.
        MissingExtra: lxml is not installed.
    """
    etree = _etree()
    declared = b"charset" in data[:2048].lower() or data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"))
    encoding = None
    if not declared:
        with suppress(UnicodeDecodeError):
            data.decode("utf-8")
            encoding = "utf-8"
    parser = etree.HTMLParser(
        no_network=True, huge_tree=False, remove_comments=True, remove_pis=True, encoding=encoding
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, etree.ParserError, ValueError, LookupError) as error:
        raise Undecodable(f"{name}: not a readable page: {error}") from None
    if root is None:
        raise Undecodable(f"{name}: an empty page")
    return root


def local(element: Any) -> str:  # noqa: ANN401
    """The name of an element without its namespace; "" for other nodes."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: Any, *names: str) -> list[Any]:  # noqa: ANN401
    """The children of these names."""
    return [child for child in element if local(child) in names]


_SKIPPED = frozenset({"script", "style", "head", "nav", "template", "noscript", "svg", "math", "iframe", "object"})
_BLOCKS = frozenset(
    {
        "p", "div", "section", "article", "main", "body", "html", "blockquote", "ul", "ol", "li", "table", "tr", "td",
        "th", "tbody", "thead", "figure", "figcaption", "header", "footer", "aside", "pre", "dl", "dt", "dd", "hr",
        "form", "center", "address", "details", "summary", "caption",
    }
)  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def read_html(data: bytes, name: str, made: Markdown) -> None:
    """Add the text of a page to `made`, without navigation, scripts and styles."""
    into(made, parse_html(data, name))


def into(made: Markdown, root: Any) -> None:  # noqa: ANN401
    """Append a page."""
    line: list[str] = []
    _walk(root, made, line, _Notes(_notes_of(root)))
    _flush(made, line)


@dataclass(slots=True)
class _Notes:
    """The notes of a page by id, and the marks of referenced ones; a second reference reuses the mark."""

    elements: dict[str, Any]
    marks: dict[str, str] = field(default_factory=dict)


def _notes_of(root: Any) -> dict[str, Any]:  # noqa: ANN401
    """Id to element of the notes that this page refers to."""
    wanted = {target for node in root.iter() if (target := _note_of(node))}
    return {node.get("id"): node for node in root.iter() if wanted and node.get("id") in wanted}


def _note_of(element: Any) -> str:  # noqa: ANN401
    """The id of the note that a link refers to, "" for any other element."""
    if local(element) != "a" or not _kinds(element) & {"noteref", "doc-noteref"}:
        return ""
    return str(element.get("href") or "").rpartition("#")[2]


def _kinds(element: Any) -> set[str]:  # noqa: ANN401
    values = (element.get("epub:type"), element.get("{http://www.idpf.org/2007/ops}type"), element.get("role"))
    return {word for words in values if words for word in words.split()}


def _words(element: Any) -> str:  # noqa: ANN401
    """The text of a note without its back link."""
    if not local(element) or _kinds(element) & {"backlink", "doc-backlink"}:
        return ""
    return (element.text or "") + "".join(_words(child) + (child.tail or "") for child in element)


def _flush(made: Markdown, line: list[str]) -> None:
    if text := "\n".join(one_line(part) for part in "".join(line).split("\x00")) if line else "":
        made.paragraph(text)
    line.clear()


def _walk(element: Any, made: Markdown, line: list[str], notes: _Notes) -> None:  # noqa: ANN401
    name = local(element)
    if notes.elements and name and notes.elements.get(element.get("id")) is element:
        return
    if notes.elements and name and (target := _note_of(element)) in notes.elements:
        if target not in notes.marks:
            notes.marks[target] = made.note(_words(notes.elements[target]))
        line.append(notes.marks[target])
    elif name in _HEADINGS:
        _flush(made, line)
        made.heading("".join(element.itertext()), _HEADINGS[name])
    elif name == "br":
        line.append("\x00")
    elif name and name not in _SKIPPED:
        block = name in _BLOCKS
        if block:
            _flush(made, line)
        if element.text:
            line.append(element.text)
        for child in element:
            _walk(child, made, line, notes)
            if child.tail:
                line.append(child.tail)
        if block:
            _flush(made, line)
