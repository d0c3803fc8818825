"""Pages (.html), and the chapters of an EPUB."""

from dataclasses import dataclass, field
from typing import Any

from armarius.documents.manuscripts.markdown import Markdown, one_line
from armarius.documents.manuscripts.xml import local, parse_html

__all__ = ["into", "read_html"]

_SKIPPED = frozenset({"script", "style", "head", "nav", "template", "noscript", "svg", "math", "iframe", "object"})
_BLOCKS = frozenset(
    {
        "p", "div", "section", "article", "main", "body", "html", "blockquote", "ul", "ol", "li", "table", "tr", "td",
        "th", "tbody", "thead", "figure", "figcaption", "header", "footer", "aside", "pre", "dl", "dt", "dd", "hr",
        "form", "center", "address", "details", "summary", "caption",
    }
)  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def read_html(data: bytes, name: str) -> str:
    """The text of a page, without navigation, scripts and styles."""
    made = Markdown()
    into(made, parse_html(data, name))
    return made.text()


def into(made: Markdown, root: Any) -> None:  # noqa: ANN401
    """Put a page behind what is there."""
    line: list[str] = []
    _walk(root, made, line, _Notes(_notes_of(root)))
    _flush(made, line)


@dataclass(slots=True)
class _Notes:
    """The notes of a page by id, and the marks of those that were met; a second reference has the mark of the first."""

    elements: dict[str, Any]
    marks: dict[str, str] = field(default_factory=dict)


def _notes_of(root: Any) -> dict[str, Any]:  # noqa: ANN401
    """Id to element of what a reference to a note points at, in this very page."""
    wanted = {target for one in root.iter() if (target := _note_of(one))}
    return {one.get("id"): one for one in root.iter() if wanted and one.get("id") in wanted}


def _note_of(element: Any) -> str:  # noqa: ANN401
    """The id of the note that a link stands for, "" for any other element."""
    if local(element) != "a" or not _kinds(element) & {"noteref", "doc-noteref"}:
        return ""
    return str(element.get("href") or "").rpartition("#")[2]


def _kinds(element: Any) -> set[str]:  # noqa: ANN401
    said = (element.get("epub:type"), element.get("{http://www.idpf.org/2007/ops}type"), element.get("role"))
    return {word for words in said if words for word in words.split()}


def _words(element: Any) -> str:  # noqa: ANN401
    """The text of a note without the link back."""
    if not local(element) or _kinds(element) & {"backlink", "doc-backlink"}:
        return ""
    return (element.text or "") + "".join(_words(child) + (child.tail or "") for child in element)


def _flush(made: Markdown, line: list[str]) -> None:
    text = "\n".join(one_line(part) for part in "".join(line).split("\x00"))
    line.clear()
    made.paragraph(text)


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
        line.append(element.text or "")
        for child in element:
            _walk(child, made, line, notes)
            line.append(child.tail or "")
        if block:
            _flush(made, line)
