"""Headings to names: aliases, roles and notes in a heading; placeholders; the shape of a name."""

import re
from functools import cache
from typing import Final

from armarius.codex.model import Origin
from armarius.codex.profiles.draft import Draft
from armarius.codex.profiles.fields import NAME_PARTS, meanings, split_list, split_names, unquoted, words, words_of
from armarius.documents.kinds import TYPE_OF_WORD, title_words
from armarius.documents.titles import group_of, is_chapter, is_generic, is_other, strip_numbering
from armarius.lexicon import word_file
from armarius.text.unicode import HAN_EVERY, HAS_MARK, fold

_BRACKETS = re.compile(r"(?<!\s)\s*(?:[（(]([^（(）)]{1,60})[)）]|\[[^\[\]]{1,60}\]$)")
_NICK = re.compile(r"(?<=\S)\s*[\"“「『]([^\"“”「」『』]{1,20})[\"”」』]\s*(?=\S|$)")
_PREFIX = re.compile(r"^(?P<group>[^:：]{1,12})[:：]\s*(?P<name>.+)$")
_HALVES = re.compile(r"^(?P<first>[^:：]{1,40}?)\s*[:：]\s*(?P<second>.{1,40})$")
_SYMBOL = r"[\u2600-\u27bf\u2b50\u2b55\ufe0f\U0001f000-\U0001faff]"
_SYMBOLS = re.compile(rf"^(?:{_SYMBOL}|\s)+|(?:{_SYMBOL}|\s)+$")
_DASHED = re.compile(rf"^(?P<name>.{{1,40}}?)(?:\s+[-–—]+\s+|——|—\s+|\s*[|｜]\s*|\s*{_SYMBOL}+\s*)(?P<role>.{{1,60}})$")
_COUNTED = re.compile(r"[\d一二三四五六七八九十]$")  # 成员一, "Hero 2"
_SLASHED = re.compile(r"(?<!\s)(?:\s*[/／]|\s+(?:aka|a\.k\.a\.)(?=\s))\s*", re.IGNORECASE)
_KNOWN_AS = re.compile(r"^(?:aka|a\.k\.a\.|又名|别名|原名|本名|即)\s*[:：]?\s*", re.IGNORECASE)
_NO_ALIAS = re.compile(
    r"\d|主角|配角|反派|男主|女主|已故|[男女]$|protagonist|antagonist|villain|hero|deceased|main|minor|supporting",
    re.IGNORECASE,
)
_BLANK = re.compile(r"\{\{|<%|\$\{|^[\[<【][^\]>】]*[\]>】]$|^[_＿.…·*?？xX×]+$")
_HAN = re.compile(f"^[{HAN_EVERY}]+$")
_LATIN = re.compile(r"^[^\W\d_][\w'’.\- ]*$")
_MAX_NAME = 60
_MAX_WORDS = 6
_MAX_HAN = 16

_NAMES: Final = NAME_PARTS["han"]
_SURNAMES: Final = frozenset(_NAMES["surnames"].strip())
_COMPOUND: Final = frozenset(_NAMES["compound_surnames"].split())
_NO_NAMES: Final = frozenset(
    word
    for row in ("no_name", "male", "female", "either", "professions", "wives")
    for word in _NAMES[row].split()
)  # fmt: skip
_FAMILIAR: Final = frozenset("小阿老")
_PARTICLES: Final = frozenset({*NAME_PARTS["latin"]["particles"].split(), "the", "of", "a", "an", "and"})
_LEADS: Final = meanings("leads")
_PLACEHOLDERS: Final = words("placeholders")
_ASPECTS: Final = frozenset({*TYPE_OF_WORD, *title_words("containers"), *title_words("generic"), *title_words("other")})


def is_placeholder(name: str) -> bool:
    """Whether a name waits to be filled in: `{{title}}`, `<% tp.file.title %>`, [Name], 待补充, "Character Name"."""
    bare = fold(name.strip())
    return not bare or _BLANK.search(bare) is not None or bare.replace(" ", "-") in _PLACEHOLDERS


def is_plausible(heading: str) -> bool:
    """Whether a heading could be a name: short, no sentence, no aspect, no chapter."""
    bare = strip_numbering(heading)
    name = _BRACKETS.sub("", bare).strip()
    if (
        not name
        or HAS_MARK.search(name)
        or is_generic(name)
        or is_chapter(name)
        or is_other(name)
        or any(map(is_placeholder, re.split("[:：]", name)))
    ):
        return False
    if not any(char.isalpha() for char in name):
        return False
    dashed = _DASHED.match(name)
    name = dashed["name"] if dashed else name
    return len(name) <= _MAX_NAME and (
        len(name) <= _MAX_HAN
        if any(ord(char) >= 0x2E80 for char in name) and " " not in name
        else len(name.split()) <= _MAX_WORDS
    )


def is_name_shaped(name: str) -> bool:
    """Whether a name looks like one without its context.

    Chinese: a family name and one or two characters, 小, 阿 or 老 and one or two, or parts joined by ·, and no form of
    address. Other scripts: words with capitals, none of them a word for groups or aspects.
    """
    if not name or is_generic(name) or group_of(name) is not None:
        return False
    if _HAN.match(name):
        if fold(name) in _NO_NAMES or name[1:] in _NO_NAMES & {"人", "子"}:
            return False
        if name[:2] in _COMPOUND:
            return 3 <= len(name) <= 4
        return 2 <= len(name) <= 3 and (name[0] in _SURNAMES or name[0] in _FAMILIAR)
    if "·" in name and " " not in name:
        return True
    spelt = [word for word in name.split() if word.lower() not in _PARTICLES]
    plain = _ASPECTS | _functions()
    return bool(spelt) and all(word[0].isupper() and fold(word) not in plain for word in spelt)


@cache
def _functions() -> frozenset[str]:
    return frozenset(word_file("functions")["latin"].split())


def is_han_name(name: str) -> bool:
    """Whether a name is in Chinese characters only."""
    return _HAN.match(name) is not None


def lead_of(title: str) -> str:
    """The row of `[leads]` for a title or a role that calls somebody the leading person (主角卡, "The Hero"), or ""."""
    bare = fold(strip_numbering(_BRACKETS.sub("", title))).removeprefix("the ").strip()
    group = group_of(bare)
    if group is None or group.type != "character":
        return _LEADS.get(bare.replace(" ", "-"), "")
    called = [word for word in _LEADS if bare.startswith(word.replace("-", " "))]
    return _LEADS[max(called, key=len)] if called else ""


def add_lead_names(draft: Draft, row: str) -> None:
    """Add the names of a row of `[lead_names]` (主角, "the protagonist") in the script of the draft's name."""
    script = "latin" if draft.name.isascii() else "han"
    known_as = words_of("lead_names")[row][script]
    draft.add_aliases([word.replace("-", " ") for word in known_as.split()])


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
    """A draft named by `heading`, with the aliases, the role and the notes in it.

    `林小雨（小雨）` and `林小雨 / Lin Xiaoyu` have aliases; `林小雨（女主，16岁）`, `沈仪｜A 线（家庭）`,
    `Elena — pilot` a role; `主角：林小雨` a role in front. Of `感情线一：沈清落` the half that looks like a
    name is the name, and the story may decide for the other one.
    """
    name = _SYMBOLS.sub("", strip_numbering(heading)) or heading
    notes = [note for note in _BRACKETS.findall(name) if note]
    name = _BRACKETS.sub("", name).strip() or name
    roles: list[str] = []
    lead = ""
    prefix = _PREFIX.match(name)
    if prefix is not None and group_of(prefix["group"]) is not None:
        roles, name, lead = [prefix["group"]], prefix["name"], lead_of(prefix["group"])
    dashed = _DASHED.match(name)
    if dashed is not None:
        name, role = dashed["name"], dashed["role"]
        if group_of(name) is not None and is_plausible(role):
            name, role, lead = role, name, lead or lead_of(name)
        roles = [role]
    other = ""
    nicks, plain = _NICK.findall(name), " ".join(_NICK.sub(" ", name).split())
    name, nicks = (plain, nicks) if nicks and is_name_shaped(plain.rpartition(":")[2].strip()) else (name, [])
    halves = _HALVES.match(name)
    if halves is not None:
        name, other = halves["first"], halves["second"].strip()
        if is_name_shaped(other) and (_COUNTED.search(name) or not (is_han_name(name) and is_name_shaped(name))):
            name, other = other, name
    first, *others = [part for part in _SLASHED.split(name) if part] or [name]
    draft = Draft(unquoted(first), origin, other=unquoted(other), lead=lead)
    draft.add_aliases(nicks)
    for piece in others:
        if _is_other_name(draft.name, piece):
            draft.add_aliases([unquoted(piece)])
        else:
            roles.append(piece)
    for note in notes:
        pieces = [piece for part in split_list(note) for piece in part.split("·") if piece]
        draft.lead = draft.lead or next(filter(None, map(lead_of, pieces)), "")
        known_as = _KNOWN_AS.sub("", note)
        if known_as != note or all(_is_other_name(draft.name, piece) for piece in pieces):
            draft.add_aliases(split_names(known_as))
        elif not is_placeholder(note):
            roles.append(note)
    for role in roles:
        if group_of(role) is None or role in notes:
            draft.add_attribute("身份" if any(ord(char) >= 0x2E80 for char in role) else "role", role)
    return draft


def _is_other_name(name: str, piece: str) -> bool:
    """Whether what stands in brackets or behind a slash is another name, and no note about the first."""
    piece = unquoted(piece.strip())
    if _NO_ALIAS.search(piece) or group_of(piece) is not None or HAS_MARK.search(piece) or is_generic(piece):
        return False
    if _HAN.match(name):
        if not _HAN.match(piece):
            return _LATIN.match(piece) is not None or "·" in piece
        if len(piece) <= 4 and not set(name[1:]).isdisjoint(piece):
            return True
        ends = any(piece.endswith(word) for word in _NO_NAMES if len(word) > 1)
        return not ends and len(piece) < 4 and is_name_shaped(piece)
    if _HAN.match(piece) or not piece.isascii():
        return True
    spelt = [word for word in piece.split() if word.lower() not in _PARTICLES]
    if not all(word[:1].isupper() for word in spelt):
        return False
    return len(spelt) == 1 or not {word.lower() for word in spelt}.isdisjoint(name.lower().split())
