"""Sections and labelled lines of a page, and the meanings of labels."""

import re
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from armarius.codex.cards import parse_span
from armarius.codex.model import ContextLevel
from armarius.lexicon import word_file
from armarius.text.unicode import HAN_EVERY, HAS_MARK_OR_COLON, fold, joined
from armarius.validation import near

_KEYED = re.compile(r"^【(?P<key>[^】]{1,12})】\s*[:：]?\s*(?P<value>\S.*)$")
_BOLD = re.compile(
    r"^(\*\*|__|\*|_)(?P<key>[^*_]{1,40}?)\s*(?P<in>[:：]*)\s*\1\s*(?P<out>[:：]{1,2}|[–—-](?=\s))?\s*(?P<value>.*)$"
)
_PLAIN = re.compile(r"^(?P<key>[^:：|。！？!?“”\"「」『』，,；;]{1,40}?)\s*[:：]{1,2}(?!//)\s*(?P<value>.*)$")
_CLOCK = re.compile(r"^[^:：]*\d[:：]\d")
# Bounded, and another opening bracket ends the match: otherwise a line of a million opening brackets takes quadratic
# time. A target may contain three brackets.
_LINK = re.compile(
    r"\[\[(?:[^\[\]|]{0,300}\|([^\[\]|]{1,300})|([^\[\]|#]{1,300})(?:#[^\[\]|]{0,300})?)\]\]"
    r"|(?<!!)\[([^\[\]]{0,300})\]\([^()\s]{0,2000}(?:\([^()\s]{0,2000}){0,3}\)"
)
# An image or an embedded note: no content of this page.
_IMAGE = re.compile(r"!\[[^\]]{0,300}\]\([^()]{0,2000}(?:\([^()]{0,2000}){0,3}\)|!\[\[[^\[\]]{0,300}\]\]")
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
class ProfileTable:
    """A pipe table: cleaned header cells, cleaned rows, 1-based line of the header."""

    header: list[str]
    rows: list[list[str]]
    line: int


@dataclass(slots=True)
class ProfileSection:
    """A heading with what stands under it, up to the next heading.

    Level 0 is the file itself, 1 to 6 headings, 7 a line in bold that heads a paragraph. `prose_lines` are the
    1-based lines on which the paragraphs of `prose` begin. `pieces` are the list items without a label, each with its
    nested items.
    """

    level: int
    heading: str
    line: int
    fields: list[Field] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    prose_lines: list[int] = field(default_factory=list)
    pieces: list[list[str]] = field(default_factory=list)
    tables: list[ProfileTable] = field(default_factory=list)
    children: list["ProfileSection"] = field(default_factory=list)

    @property
    def bullets(self) -> list[str]:
        """The list items without a label. Cost: linear in their text."""
        return [joined(pieces, "；") for pieces in self.pieces]


def clean(text: str) -> str:
    """`text` without inline markup: bold and code marks removed, links replaced by their display text."""
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


_DATA: dict[str, Any] = word_file("profiles")


def words(name: str) -> frozenset[str]:
    """The folded words of one list."""
    return frozenset(fold(word) for word in _DATA[name].split())


def meanings(name: str) -> dict[str, str]:
    """Folded word -> the row of the table `name` that it stands in."""
    return {fold(word): row for row, value in _DATA[name].items() for word in value.split()}


def words_of(name: str) -> dict[str, dict[str, str]]:
    """The table `name` of display words."""
    table: dict[str, dict[str, str]] = _DATA[name]
    return table


Role = Literal["name", "full_name", "type", "aliases", "description", "level", "id", "relations"]

_SEPARATORS = frozenset("、，,;；/／|｜\n")
_PAIRS = {"（": "）", "(": ")", "【": "】", "[": "]", "《": "》"}
_QUOTES = {"“": "”", "‘": "’", "「": "」", "『": "』", "《": "》", "〈": "〉", '"': '"', "'": "'", "`": "`"}
_LONE = frozenset('“”「」『』《》〈〉"`')  # half a pair is dropped; ' and ’ may be apostrophes
_OTHER_HALF = _QUOTES | {closing: opening for opening, closing in _QUOTES.items()}
_HAN_ONLY = re.compile(rf"^[{HAN_EVERY}·\s　]+$")
_NOTE = re.compile(r"(?<!\s)\s*[（(\[【][^（(\[【）)\]】]*[）)\]】]\s*$")


_ROLE_OF = meanings("roles")
_LEVEL_OF = meanings("levels")
_AMBIGUOUS = ("context", "上下文")
_STOPS = "。．.!！;； "
_NAMING = words("naming")
_NOTHING = words("nothing")
_LONGEST_WORD = 40  # code points
_PARTS, _CAST, _PERSON = words("parts"), words("cast"), words("person")
NAME_PARTS: dict[str, Any] = word_file("names")
_SUFFIXES = frozenset(NAME_PARTS["latin"]["suffixes"].split())
_KNOWN = frozenset(_ROLE_OF) | _NAMING | words("common")


def _key(label: str) -> str:
    return fold(_NOTE.sub("", label)).replace(" ", "-")


def role_of(label: str) -> Role | None:
    """The role of a label in a profile, or None for an attribute of the user."""
    key = _key(label)
    return cast("Role | None", _ROLE_OF.get(key) or _ROLE_OF.get(key.replace("-", "").replace("_", "")))


def is_naming(label: str) -> bool:
    """Whether the value of `label` is both an attribute and a name: 字, 号, pen name."""
    return _key(label) in _NAMING


def is_known(label: str) -> bool:
    """Whether `label` opens a labelled line even without a list marker."""
    return _key(label) in _KNOWN or role_of(label) is not None or parse_span(label) is not None


def is_cast(label: str) -> bool:
    """Whether the value of `label` lists who appears."""
    return _key(label) in _CAST


def is_personal(label: str) -> bool:
    """Whether `label` is of a person."""
    return _key(label) in _PERSON


def is_role(label: str) -> bool:
    """Whether the value of `label` says what part somebody plays in the story."""
    return _key(label) in _PARTS


def level_of(value: str) -> ContextLevel | None:
    """The context level that `value` names, with a full stop or without, or None when it names none."""
    value = value.rstrip(_STOPS)
    return cast("ContextLevel | None", _LEVEL_OF.get(_key(value)) or _LEVEL_OF.get(fold(value).replace(" ", "_")))


def is_wrong_level(label: str, value: str) -> bool:
    """Whether `value` was meant as a level: 上下文 and Context may say anything else, other labels may not."""
    return _key(label) not in _AMBIGUOUS or bool(near(value, _LEVEL_OF))


def is_nothing(value: str) -> bool:
    """Whether `value` means "none": 无, none, —."""
    bare = value.strip("。. ")
    return not value.strip() or (len(bare) <= _LONGEST_WORD and fold(bare) in _NOTHING)


def split_list(value: str) -> list[str]:
    """The items of a list value: 、，,;；/| separate, except inside brackets; empty items dropped."""
    parts, current, closing = [], "", ""
    for char in value:
        if closing:
            closing = "" if char == closing else closing
        elif char in _PAIRS:
            closing = _PAIRS[char]
        elif char in _SEPARATORS:
            parts.append(current)
            current = ""
            continue
        current += char
    return [part for part in (part.strip() for part in [*parts, current]) if part]


def unquoted(name: str) -> str:
    """A name without the quotation marks around it; quotations inside keep theirs.

    An unpaired mark at either end is removed too: in “小雨、雨丫头” the halves are in two names.
    """
    name = name.strip()
    while len(name) > 1:
        if _is_enclosed(name):
            name = name[1:-1].strip()
        elif _is_lone(name[0], name):
            name = name[1:].strip()
        elif _is_lone(name[-1], name):
            name = name[:-1].strip()
        else:
            break
    return name


def _is_enclosed(name: str) -> bool:
    """Whether first and last character are one quotation, not the ends of two."""
    opening, closing, inner = name[0], name[-1], name[1:-1]
    if _QUOTES.get(opening) != closing:
        return False
    if opening == closing:
        return opening not in inner
    depth = 0
    for char in inner:
        depth += (char == opening) - (char == closing)
        if depth < 0:
            return False
    return depth == 0


def _is_lone(mark: str, name: str) -> bool:
    """Whether a quotation mark in a name is unpaired."""
    if mark not in _LONE:
        return False
    other = _OTHER_HALF[mark]
    return name.count(mark) % 2 == 1 if other == mark else name.count(mark) > name.count(other)


def split_names(value: str) -> list[str]:
    """The names in an alias list: notes in brackets and quotation marks dropped, sentences and "none" refused.

    A run of Han names parted by spaces only (小雨 雨丫头) is several names; a Latin name keeps its spaces.
    """
    names: list[str] = []
    for part in _with_suffixes(split_list(value)):
        bare = unquoted(_NOTE.sub("", part).strip(" 。."))
        pieces = bare.split() if _HAN_ONLY.match(bare) else [bare]
        names += [piece for piece in pieces if piece and not is_nothing(piece) and _could_name(piece)]
    return list(dict.fromkeys(names))


def _with_suffixes(parts: list[str]) -> list[str]:
    """Join names split at the comma of "Mr. Pocket, Junior"."""
    joined: list[str] = []
    for part in parts:
        if joined and fold(part).rstrip(".") in _SUFFIXES:
            joined[-1] += f", {part}"
        else:
            joined.append(part)
    return joined


def _could_name(text: str) -> bool:
    return len(text) <= 60 and not HAS_MARK_OR_COLON.search(text) and any(char.isalnum() for char in text)
