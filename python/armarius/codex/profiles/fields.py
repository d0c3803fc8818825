"""What a section of a page is made of, and one line of it as a label with its value."""

import re
from dataclasses import dataclass, field

_KEYED = re.compile(r"^【(?P<key>[^】]{1,12})】\s*[:：]?\s*(?P<value>\S.*)$")
_BOLD = re.compile(
    r"^(\*\*|__|\*|_)(?P<key>[^*_]{1,40}?)\s*(?P<in>[:：]*)\s*\1\s*(?P<out>[:：]{1,2}|[–—-](?=\s))?\s*(?P<value>.*)$"
)
_PLAIN = re.compile(r"^(?P<key>[^:：|。！？!?“”\"「」『』，,；;]{1,40}?)\s*[:：]{1,2}(?!//)\s*(?P<value>.*)$")
_CLOCK = re.compile(r"^[^:：]*\d[:：]\d")
# Bounded: a line of ten thousand opening brackets would be looked through from each of them.
_LINK = re.compile(
    r"\[\[(?:[^\]|]{0,300}\|([^\]|]{1,300})|([^\]|#]{1,300})(?:#[^\]|]{0,300})?)\]\]"
    r"|(?<!!)\[([^\]]{0,300})\]\([^)\s]{0,2000}\)"
)
# An image, and what a vault embeds of another note: neither is said here.
_IMAGE = re.compile(r"!\[[^\]]{0,300}\]\([^)]{0,2000}\)|!\[\[[^\]]{0,300}\]\]")
_MARKUP = re.compile(r"\*\*|__|~~|`")


@dataclass(slots=True)
class Field:
    """One labelled line: `- key：value`, with the items nested under it; `line` is 1-based."""

    key: str
    value: str
    line: int
    items: list[str] = field(default_factory=list)
    listed: bool = True


@dataclass(slots=True)
class Table:
    """A pipe table: cleaned header cells, cleaned rows, 1-based line of the header."""

    header: list[str]
    rows: list[list[str]]
    line: int


@dataclass(slots=True)
class Section:
    """A heading with what stands under it, up to the next heading.

    Level 0 is the file itself, 1 to 6 headings, 7 a line in bold that heads a paragraph. `prose_lines` are the
    1-based lines on which the paragraphs of `prose` begin.
    """

    level: int
    heading: str
    line: int
    fields: list[Field] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    prose_lines: list[int] = field(default_factory=list)
    bullets: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    children: list["Section"] = field(default_factory=list)


def clean(text: str) -> str:
    """`text` without inline markup: bold marks, code marks, links and wiki links reduced to what they show."""
    text = _LINK.sub(lambda match: match[1] or match[2] or match[3] or "", _IMAGE.sub("", text))
    return _MARKUP.sub("", text).strip(" \t　")


def parse_field(body: str, line: int) -> Field | None:
    """`body` as `key：value`, or None when it is not a labelled line."""
    if (keyed := _KEYED.match(body)) is not None:
        return Field(keyed["key"].strip(), clean(keyed["value"]), line)
    bold = _BOLD.match(body)
    if bold is not None and (bold["in"] or bold["out"]):
        return Field(clean(bold["key"]), clean(bold["value"]), line)
    plain = _PLAIN.match(clean(body))
    if plain is None:
        return None
    key = plain["key"].strip()
    if _CLOCK.match(plain[0]) or not key or not any(char.isalpha() for char in key) or len(key.split()) > 5:
        return None
    return Field(key, plain["value"].strip(), line)
