"""OpenDocument text (.odt). Source: OpenDocument 1.3 part 3, 5 (text content) and 6 (paragraph elements)."""

from typing import Any

from armarius.documents.manuscripts.markdown import Markdown
from armarius.documents.manuscripts.xml import local, parse_xml
from armarius.files.archive import Archive

__all__ = ["read_odt"]

_SKIPPED = frozenset({"tracked-changes", "annotation", "annotation-end", "sequence-decls", "forms"})


def read_odt(archive: Archive) -> str:
    """The text of a document; tracked deletions and comments are not in it."""
    root = parse_xml(archive.read("content.xml"), archive.name)
    made = Markdown()
    body = next((one for one in root.iter() if local(one) == "text" and local(one.getparent()) == "body"), root)
    _blocks(body, made)
    return made.text()


def _blocks(element: Any, made: Markdown) -> None:  # noqa: ANN401
    for child in element:
        name = local(child)
        if name == "h":
            level = next((value for key, value in child.attrib.items() if key.endswith("outline-level")), "1")
            made.heading(_text(child, made), int(level) if level.isdigit() else 1)
        elif name == "p":
            made.paragraph(_text(child, made))
        elif name not in _SKIPPED:
            _blocks(child, made)


def _text(element: Any, made: Markdown) -> str:  # noqa: ANN401
    parts = [element.text or ""]
    for child in element:
        name = local(child)
        if name == "note":
            body = next((one for one in child if local(one) == "note-body"), None)
            if body is not None:
                parts.append(made.note(" ".join(_text(one, made) for one in body)))
        elif name in ("s", "tab"):
            parts.append(" ")
        elif name == "line-break":
            parts.append("\n")
        elif name not in _SKIPPED:
            parts.append(_text(child, made))
        parts.append(child.tail or "")
    return "".join(parts)
