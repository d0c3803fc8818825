"""A Markdown file as a tree of sections, each with the labelled lines, prose and tables that a profile is made of.

Lenient where people are: `##名字` without a space, `**Age:** 16`, full-width colons, `键:: 值`, nested lists, quoted
blocks, `【名字】` lines in plain text. Fenced code and HTML comments carry neither headings nor labels.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from armarius.codex.profiles.fields import Section
from armarius.codex.profiles.sections import SectionReader
from armarius.documents.front_matter import FrontMatter, parse_front_matter

_QUOTE = re.compile(r"^ {0,3}>[ \t]?(?:\[![\w-]+\][+-]?.*$)?")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed file."""

    front: FrontMatter
    root: Section


def parse_page(text: str, known: Callable[[str], bool]) -> Page:
    """Parse `text` into front matter and a tree of sections.

    Args:
        text: A whole file; any line ends.
        known: Whether a key without a list marker is a label rather than the start of a sentence.

    Cost: one pass over the lines.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    front, end = parse_front_matter(text)
    lines = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text).split("\n")
    lines = [_QUOTE.sub("", line) for line in lines]
    return Page(front, SectionReader(lines, text.count("\n", 0, end) + (end > 0), known).read())
