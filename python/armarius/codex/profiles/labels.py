"""The words people write before a colon in a profile, in Chinese and English, and how their values split."""

import re
from typing import Literal, cast

from armarius.codex.model import ContextLevel
from armarius.codex.profiles.words import meanings, words
from armarius.codex.timeline import parse_span
from armarius.lexicon import word_file
from armarius.text.folding import fold
from armarius.text.scripts import HAN_EVERY
from armarius.text.sentences import HAS_MARK_OR_COLON

Role = Literal["name", "full_name", "type", "aliases", "description", "level", "id", "relations"]

_SEPARATORS = re.compile(r"[、，,;；/／|｜\n]")
_PAIRS = {"（": "）", "(": ")", "【": "】", "[": "]", "《": "》"}
_QUOTES = {"“": "”", "‘": "’", "「": "」", "『": "』", "《": "》", "〈": "〉", '"': '"', "'": "'", "`": "`"}
_LONE = frozenset('“”「」『』《》〈〉"`')  # half a pair is dropped; ' and ’ may be apostrophes
_OTHER_HALF = _QUOTES | {closing: opening for opening, closing in _QUOTES.items()}
_HAN_ONLY = re.compile(rf"^[{HAN_EVERY}·\s　]+$")
_NOTE = re.compile(r"\s*[（(\[【][^）)\]】]*[）)\]】]\s*$")


_ROLE_OF = meanings("roles")
_LEVEL_OF = meanings("levels")
_NAMING = words("naming")
_NOTHING = words("nothing")
_SUFFIXES = frozenset(word_file("names")["latin"]["suffixes"].split())
_KNOWN = frozenset(_ROLE_OF) | _NAMING | words("common")


def _key(label: str) -> str:
    return fold(_NOTE.sub("", label)).replace(" ", "-")


def role_of(label: str) -> Role | None:
    """What a label means to a profile, or None when it is one of the user's own attributes."""
    key = _key(label)
    return cast("Role | None", _ROLE_OF.get(key) or _ROLE_OF.get(key.replace("-", "").replace("_", "")))


def is_naming(label: str) -> bool:
    """Whether the value of `label` is both an attribute and a name: 字, 号, pen name."""
    return _key(label) in _NAMING


def is_known(label: str) -> bool:
    """Whether `label` opens a labelled line even without a list marker."""
    return _key(label) in _KNOWN or role_of(label) is not None or parse_span(label) is not None


def level_of(value: str) -> ContextLevel | None:
    """The context level that `value` names, or None when it names none."""
    return cast("ContextLevel | None", _LEVEL_OF.get(_key(value)) or _LEVEL_OF.get(fold(value).replace(" ", "_")))


def is_nothing(value: str) -> bool:
    """Whether `value` only says that there is nothing: 无, none, —."""
    return not value.strip() or fold(value.strip("。. ")) in _NOTHING


def split_list(value: str) -> list[str]:
    """The items of a list value: 、，,;；/| separate, except inside brackets; empty items dropped."""
    parts, current, closing = [], "", ""
    for char in value:
        if closing:
            closing = "" if char == closing else closing
        elif char in _PAIRS:
            closing = _PAIRS[char]
        elif _SEPARATORS.match(char):
            parts.append(current)
            current = ""
            continue
        current += char
    return [part for part in (part.strip() for part in [*parts, current]) if part]


def unquoted(name: str) -> str:
    """A name without the quotation marks around the whole of it; a quotation inside it keeps both of its marks.

    A mark at an end whose other half is missing goes too: of “小雨、雨丫头” each half is in another name.
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
    """Whether a mark has no other half in a name."""
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
    """The comma of "Mr. Pocket, Junior" parts no two names."""
    joined: list[str] = []
    for part in parts:
        if joined and fold(part).rstrip(".") in _SUFFIXES:
            joined[-1] += f", {part}"
        else:
            joined.append(part)
    return joined


def _could_name(text: str) -> bool:
    return len(text) <= 60 and not HAS_MARK_OR_COLON.search(text) and any(char.isalnum() for char in text)
