"""A heading to a name: numbering, brackets, roles and second names taken apart."""

import re

from armarius.codex.model import Origin
from armarius.codex.profiles.draft import Draft
from armarius.codex.profiles.labels import split_list, split_names, unquoted
from armarius.documents.titles import (
    group_of,
    is_chapter,
    is_generic,
    is_other,
    strip_numbering,
)
from armarius.text.sentences import HAS_MARK

_BRACKETS = re.compile(r"\s*[（(]([^）)]{1,40})[)）]")
_PREFIX = re.compile(r"^(?P<group>[^:：]{1,12})[:：]\s*(?P<name>.+)$")
_DASHED = re.compile(r"^(?P<name>.{1,40}?)(?:\s+[-–—|｜]+\s+|——)(?P<role>.{1,60})$")
_SLASHED = re.compile(r"\s*[/／|｜]\s*")
_NO_ALIAS = re.compile(
    r"\d|主角|配角|反派|男主|女主|已故|[男女]$|protagonist|antagonist|villain|hero|deceased|main|minor|supporting",
    re.IGNORECASE,
)
_MAX_NAME = 60
_MAX_WORDS = 6
_MAX_HAN = 16


def is_plausible(heading: str) -> bool:
    """Whether a heading could be a name: short, no sentence, no aspect, no chapter."""
    bare = strip_numbering(heading)
    name = _BRACKETS.sub("", bare).strip()
    if (
        not name
        or len(bare) > _MAX_NAME
        or HAS_MARK.search(name)
        or is_generic(name)
        or is_chapter(name)
        or is_other(name)
    ):
        return False
    if not any(char.isalpha() for char in name):
        return False
    dashed = _DASHED.match(name)
    name = dashed["name"] if dashed else name
    return (
        len(name) <= _MAX_HAN
        if any(ord(char) >= 0x2E80 for char in name) and " " not in name
        else len(name.split()) <= _MAX_WORDS
    )


def announced_type(heading: str) -> str | None:
    """The type in front of a name (`人物：林默`, `Location: Harrow`), or None."""
    prefix = _PREFIX.match(strip_numbering(heading))
    group = group_of(prefix["group"]) if prefix is not None else None
    return None if group is None else group.type


def split_dashed(text: str) -> tuple[str, str]:
    """`name — about` as name and about; about is "" when there is no dash."""
    dashed = _DASHED.match(text)
    if dashed is None:
        return text, ""
    return dashed["name"].strip(), text[dashed.start("role") :].strip()


def read_name(heading: str, origin: Origin) -> Draft:
    """A draft named by `heading`, with what the heading says beside the name.

    `林小雨（小雨）` and `林小雨 / Lin Xiaoyu` carry aliases; `林小雨（女主，16岁）` and `Elena — pilot` a
    role; `主角：林小雨` a role in front.
    """
    name = strip_numbering(heading)
    role = ""
    prefix = _PREFIX.match(name)
    if prefix is not None and group_of(prefix["group"]) is not None:
        role, name = prefix["group"], prefix["name"]
    dashed = _DASHED.match(name)
    if dashed is not None:
        name, role = dashed["name"], dashed["role"]
        if group_of(name) is not None and is_plausible(role):
            name, role = role, name
    notes = _BRACKETS.findall(name)
    name = _BRACKETS.sub("", name).strip() or name
    first, *others = [part for part in _SLASHED.split(name) if part] or [name]
    draft = Draft(unquoted(first), origin)
    draft.add_aliases([other.strip() for other in others])
    for note in notes:
        pieces = split_list(note)
        if _NO_ALIAS.search(note) or group_of(note) is not None or any(HAS_MARK.search(piece) for piece in pieces):
            draft.add_attribute("身份" if any(ord(char) >= 0x2E80 for char in note) else "role", note)
        else:
            draft.add_aliases(
                split_names(
                    re.sub(r"^(?:aka|a\.k\.a\.|又名|别名|原名|本名|即)\s*[:：]?\s*", "", note, flags=re.IGNORECASE)
                )
            )
    if role and group_of(role) is None:
        draft.add_attribute("身份" if any(ord(char) >= 0x2E80 for char in role) else "role", role)
    return draft
