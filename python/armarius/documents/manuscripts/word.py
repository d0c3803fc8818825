"""Word's .docx. Source: ECMA-376 part 1, WordprocessingML: 17.3 (paragraphs), 17.7 (styles), 17.11 (notes)."""

import re
from typing import Any

from armarius.documents.manuscripts.markdown import Markdown
from armarius.documents.manuscripts.xml import children, local, parse_xml
from armarius.files.archive import Archive

__all__ = ["read_docx"]

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MOST_STYLES = 20  # on the way from a style to the one that says a level
_HEADING = re.compile(r"(?:heading|标题|標題|überschrift|titre|título|заголовок)\s*(\d)", re.IGNORECASE)
_TITLES = frozenset({"title", "标题", "標題"})


def read_docx(archive: Archive) -> str:
    """The text of a document; what was deleted with changes tracked is not in it."""
    levels = _levels(archive)
    notes = _notes(archive)
    made = Markdown()
    root = parse_xml(archive.read("word/document.xml"), archive.name)
    for block in root.iter(f"{_W}p"):
        style = block.find(f"{_W}pPr/{_W}pStyle")
        outline = block.find(f"{_W}pPr/{_W}outlineLvl")
        level = levels.get("" if style is None else style.get(f"{_W}val", ""), 0)
        if outline is not None and (outline.get(f"{_W}val") or "").isdigit():
            level = int(outline.get(f"{_W}val")) + 1
        text = _text(block, notes, made)
        if 1 <= level <= 6:
            made.heading(text, level)
        else:
            made.paragraph(text)
    return made.text()


def _text(block: Any, notes: dict[str, str], made: Markdown) -> str:  # noqa: ANN401
    parts = []
    for one in block.iter():
        name = local(one)
        if name == "t":
            parts.append(one.text or "")
        elif name == "tab":
            parts.append(" ")
        elif name in ("br", "cr"):
            parts.append("\n")
        elif name in ("footnoteReference", "endnoteReference"):
            text = notes.get(f"{name[0]}{one.get(f'{_W}id')}", "")
            if text:
                parts.append(made.note(text))
    return "".join(parts)


def _notes(archive: Archive) -> dict[str, str]:
    """`f` or `e` with the id of a note to its text."""
    found = {}
    for member, kind in (("word/footnotes.xml", "footnote"), ("word/endnotes.xml", "endnote")):
        if member in archive.names:
            for note in parse_xml(archive.read(member), member).iter(f"{_W}{kind}"):
                text = " ".join("".join(t.text or "" for t in p.iter(f"{_W}t")) for p in note.iter(f"{_W}p"))
                found[f"{kind[0]}{note.get(f'{_W}id')}"] = text
    return found


def _levels(archive: Archive) -> dict[str, int]:
    """Id of a paragraph style to its level as a heading; the style of titles is of level 1.

    A style that says nothing of itself has the level of the one it is based on.
    """
    if "word/styles.xml" not in archive.names:
        return {}
    levels: dict[str, int] = {}
    based: dict[str, str] = {}
    for style in parse_xml(archive.read("word/styles.xml"), "word/styles.xml").iter(f"{_W}style"):
        id_ = style.get(f"{_W}styleId", "")
        names = [id_, *(one.get(f"{_W}val", "") for one in children(style, "name"))]
        outline = style.find(f"{_W}pPr/{_W}outlineLvl")
        number = next((int(found[1]) for name in names if (found := _HEADING.fullmatch(name.strip()))), 0)
        if number:
            levels[id_] = number
        elif outline is not None and (outline.get(f"{_W}val") or "").isdigit():
            levels[id_] = int(outline.get(f"{_W}val")) + 1
        elif any(name.lower() in _TITLES for name in names):
            levels[id_] = 1
        elif (parent := style.find(f"{_W}basedOn")) is not None and outline is None:
            based[id_] = parent.get(f"{_W}val", "")
    for id_ in based:
        parent_id = id_
        for _ in range(_MOST_STYLES):
            parent_id = based.get(parent_id, "")
            if parent_id in levels:
                levels[id_] = levels[parent_id]
                break
    return levels
