"""Screenplays in Fountain, which is text. Source: the Fountain syntax, fountain.io/syntax."""

import re

from armarius.documents.decode import decode
from armarius.documents.manuscripts.markdown import Markdown

__all__ = ["read_fountain"]

_BONEYARD = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_NOTE = re.compile(r"\[\[(?:[^\]]|\](?!\]))*\]\]")
_SCENE = re.compile(r"(?:int|ext|est|int\./ext|int/ext|i/e)[. ]", re.IGNORECASE)
_SECTION = re.compile(r"(#{1,6})\s*(.+)")
_TITLE_PAGE = re.compile(r"(?:[A-Za-z ]{2,30}:.*(?:\n(?:[ \t]+.*))*\n?)+(?:\n|\Z)")
_TITLE = re.compile(r"^title:[ \t]*(.*(?:\n[ \t]+.*)*)", re.IGNORECASE | re.MULTILINE)
_EMPHASIS = re.compile(r"(\*{1,3}|_)(?=\S)(.+?)(?<=\S)\1")


def read_fountain(data: bytes) -> str:
    """The text of a screenplay: sections and scenes are headings, notes and what is commented out are not in it.

    Raises:
        Undecodable: Not text.
    """
    text = decode(data).text.replace("\r\n", "\n").replace("\r", "\n")
    made = Markdown()
    page = _TITLE_PAGE.match(text)
    if page is not None:
        if title := _TITLE.search(page[0]):
            made.heading(_plain(title[1]), 1)
        text = text[page.end() :]
    text = _NOTE.sub("", _BONEYARD.sub("", text))
    for block in re.split(r"\n[ \t]*\n", text):
        block = block.strip("\n")
        line = block.strip()
        if section := _SECTION.fullmatch(line):
            made.heading(_plain(section[2]), len(section[1]))
        elif _SCENE.match(line) or (line.startswith(".") and not line.startswith("..")):
            first, _, rest = line.partition("\n")
            made.heading(_plain(first.lstrip(".")), 3)
            made.paragraph(_plain(rest))
        elif not line.startswith(("=", ">")) or line.startswith("==="):
            made.paragraph(_plain(block.replace("===", "")))
    return made.text()


def _plain(text: str) -> str:
    return _EMPHASIS.sub(lambda found: found[2], text)
