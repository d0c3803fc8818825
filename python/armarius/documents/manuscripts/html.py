"""Pages (.html), and the chapters of an EPUB."""

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
    _walk(root, made, line)
    _flush(made, line)


def _flush(made: Markdown, line: list[str]) -> None:
    text = "\n".join(one_line(part) for part in "".join(line).split("\x00"))
    line.clear()
    made.paragraph(text)


def _walk(element: Any, made: Markdown, line: list[str]) -> None:  # noqa: ANN401
    name = local(element)
    if name in _HEADINGS:
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
            _walk(child, made, line)
            line.append(child.tail or "")
        if block:
            _flush(made, line)
