"""A section to a draft: its heading to a name, labels, prose, tables and sub-sections; nothing is dropped."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Final

from armarius.codex.cards import parse_span
from armarius.codex.draft import Draft, DraftLine
from armarius.codex.model import Fact, Origin
from armarius.codex.profile_fields import (
    NAME_PARTS,
    Field,
    ProfileSection,
    is_known,
    is_naming,
    is_nothing,
    is_personal,
    is_role,
    level_of,
    meanings,
    parse_field,
    role_of,
    split_list,
    split_names,
    strip_quotes,
    words,
    words_of,
)
from armarius.documents.kinds import TYPE_OF_WORD, title_words
from armarius.documents.titles import TitleGroup, group_of, is_chapter, is_generic, is_other, strip_numbering, type_of
from armarius.documents.units import names
from armarius.lexicon import word_file
from armarius.text.unicode import HAN_EVERY, HAS_MARK, fold, join_parts

_BRACKETS = re.compile(r"(?<!\s)\s*(?:[（(]([^（(）)]{1,60})[)）]|\[[^\[\]]{1,60}\]$)")
_AGED = re.compile(r"[,，]\s*([~≈約约]?\d{1,3}\b[^,，]{0,6})$")  # Soren, 10
_READING = re.compile(r"^[\u3041-\u309fー 　]+$")  # of a Japanese name
_NICK = re.compile(r"(?<=\S)\s*[\"“「『]([^\"“”「」『』]{1,20})[\"”」』]\s*(?=\S|$)")
_PREFIX = re.compile(r"^(?P<group>[^:：]{1,12})[:：]\s*(?P<name>.+)$")
_HALVES = re.compile(r"^(?P<first>[^:：]{1,40}?)\s*[:：]\s*(?P<second>.{1,40})$")
_SYMBOL = r"[\u2600-\u27bf\u2b50\u2b55\ufe0f\U0001f000-\U0001faff]"
_SYMBOLS = re.compile(rf"^(?:{_SYMBOL}|\s)+|(?:{_SYMBOL}|\s)+$")
_DASHED = re.compile(
    rf"^(?P<name>.{{1,40}}?)(?:\s+(?:[-–—]+>?|→)\s+|——|—\s+|\s*[|｜]\s*|\s*{_SYMBOL}+\s*)(?P<role>.{{1,60}})$"
)
_SCENE = re.compile(rf"{names('latin', 'scene')}\W*\d", re.IGNORECASE)  # its name is no place's
_COUNTED = re.compile(r"[\d一二三四五六七八九十]$")  # 成员一, "Hero 2"
_SLASHED = re.compile(r"(?<!\s)(?:\s*[/／]|\s+(?:aka|a\.k\.a\.)(?=\s))\s*", re.IGNORECASE)
_KNOWN_AS = re.compile(r"^(?:aka|a\.k\.a\.|又名|别名|原名|本名|即)\s*[:：]?\s*", re.IGNORECASE)
_NO_ALIAS = re.compile(
    r"\d|主角|配角|反派|男主|女主|已故|[男女]$|protagonist|antagonist|villain|hero|deceased|main|minor|supporting",
    re.IGNORECASE,
)
_BLANK = re.compile(r"\{\{|<%|\$\{|^[\[<【][^\]>】]*[\]>】]$|^[_＿.…·*?？xX×]+$")
_FORMULA = re.compile(r"[$\\={}<>`]")
_HAN = re.compile(f"^[{HAN_EVERY}]+$")
_HAN_WITHIN = re.compile(f"[{HAN_EVERY}]")
_LATIN = re.compile(r"^[^\W\d_][\w'’.\- ]*$")
_MAX_NAME = 60
_MAX_WORDS = 6
_MAX_HAN = 16

_NAMES: Final = NAME_PARTS["han"]
_SURNAMES: Final = frozenset(_NAMES["surnames"].strip())
_COMPOUND: Final = frozenset(_NAMES["compound_surnames"].split())
_NO_NAMES: Final = frozenset(
    " ".join(_NAMES[row] for row in ("no_name", "male", "female", "either", "professions", "wives")).split()
)
_TITLED: Final = re.compile(
    rf"([{HAN_EVERY}·]+)\s+([{HAN_EVERY}]+)$|([{HAN_EVERY}]{{3,4}})({'|'.join(_NAMES['professions'].split())})$"
)
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
        not any(map(str.isalpha, name))
        or HAS_MARK.search(name)
        or _FORMULA.search(split_dashed(name)[0])
        or is_generic(name)
        or is_chapter(name)
        or is_other(name)
        or any(map(is_placeholder, re.split("[:：]", name)))
    ):
        return False
    name = split_dashed(name)[0]
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
    plain = _ASPECTS | function_words()
    return bool(spelt) and all(word[0].isupper() and fold(word) not in plain for word in spelt)


@cache
def function_words() -> frozenset[str]:
    """Words of Latin script that only join others."""
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
    group = group_of(prefix["group"]) if prefix is not None and not _SCENE.match(prefix["group"]) else None
    return None if group is None else group.type


def split_dashed(text: str) -> tuple[str, str]:
    """`name — about` as name and about; about is "" when there is no dash."""
    dashed = _DASHED.match(text)
    return (dashed["name"].strip(), dashed["role"].strip()) if dashed is not None else (text, "")


def read_name(heading: str, origin: Origin) -> Draft:
    """A draft named by `heading`, with the aliases, the role and the notes in it.

    `林小雨（小雨）` and `林小雨 / Lin Xiaoyu` have aliases; `林小雨（女主，16岁）`, `沈仪｜A 线（家庭）`,
    `Elena — pilot` a role; `主角：林小雨` a role in front. Of `感情线一：沈清落` the half that looks like a
    name is the name, and the story may decide for the other one.
    """
    name = _SYMBOLS.sub("", strip_numbering(heading)).strip(" *") or heading
    notes = [note for note in _BRACKETS.findall(name) if note]
    name = _BRACKETS.sub("", name).strip() or name
    roles: list[str] = []
    lead = ""
    if titled := _TITLED.match(name):  # 林默 博士, 林小雨医生
        before, behind = filter(None, titled.groups())
        whole = len(before) > 2 or behind in _NO_NAMES  # 夏川 凪 is a family name and a given name
        if whole and is_name_shaped(before) and not is_name_shaped(behind):
            name, roles = before, [behind]
    prefix = _PREFIX.match(name)
    if prefix is not None and group_of(prefix["group"]) is not None:
        roles, name, lead = [*roles, prefix["group"]], prefix["name"], lead_of(prefix["group"])
    dashed = _DASHED.match(name)
    if dashed is not None:
        name, role = dashed["name"], dashed["role"]
        if group_of(name) is not None and is_plausible(role):
            name, role, lead = role, name, lead or lead_of(name)
        roles.append(role)
    if aged := _AGED.search(name):
        name, roles = name[: aged.start()], [*roles, aged[1]]
    other = ""
    nicks, plain = _NICK.findall(name), " ".join(_NICK.sub(" ", name).split())
    name, nicks = (plain, nicks) if nicks and is_name_shaped(plain.rpartition(":")[2].strip()) else (name, [])
    halves = _HALVES.match(name)
    if halves is not None:
        name, other = halves["first"], strip_quotes(halves["second"].strip())
        if is_name_shaped(other) and (_COUNTED.search(name) or not (is_han_name(name) and is_name_shaped(name))):
            name, other = other, name
    first, *others = [part for part in _SLASHED.split(name) if part] or [name]
    draft = Draft(strip_quotes(first), origin, other=strip_quotes(other), lead=lead)
    draft.add_aliases(nicks)
    for piece in others:
        if _is_other_name(draft.name, piece):
            draft.add_aliases([strip_quotes(piece)])
        else:
            roles.append(piece)
    for note in notes:
        pieces = [piece for part in split_list(note) for piece in part.split("·") if piece]
        draft.lead = draft.lead or next(filter(None, map(lead_of, pieces)), "")
        known_as = _KNOWN_AS.sub("", note)
        if known_as != note or all(_is_other_name(draft.name, piece) for piece in pieces):
            draft.add_aliases(split_names(known_as))
        elif not is_placeholder(note):
            draft.add_aliases([piece for piece in pieces if _READING.match(piece)])
            roles.append(note)
    for role in roles:
        if group_of(role) is None or role in notes:
            draft.add_attribute("身份" if any(ord(char) >= 0x2E80 for char in role) else "role", role)
    return draft


def _is_other_name(name: str, piece: str) -> bool:
    """Whether what stands in brackets or behind a slash is another name, and no note about the first."""
    piece = strip_quotes(piece.strip())
    if _NO_ALIAS.search(piece) or group_of(piece) is not None or HAS_MARK.search(piece) or is_generic(piece):
        return False
    name = "".join(name.split()) if _HAN_WITHIN.search(name) else name
    if _HAN_WITHIN.search(name):
        if not _HAN.match(piece):
            return _LATIN.match(piece) is not None or "·" in piece
        if len(piece) <= 4 and not set(name[1:]).isdisjoint(piece):
            return True
        ends = any(piece.endswith(word) for word in _NO_NAMES if len(word) > 1)
        return not ends and len(piece) < 4 and is_name_shaped(piece)
    if piece.lower() == piece.upper():
        return True
    spelt = [word for word in piece.split() if word.lower() not in _PARTICLES]
    if not all(word[:1].isupper() for word in spelt):
        return False
    return len(spelt) == 1 or not {word.lower() for word in spelt}.isdisjoint(name.lower().split())


_DATED = re.compile(r"^(?P<label>[^，,。:：]{3,24})[，,]\s*(?P<text>.+)$")


def pairs(section: ProfileSection) -> list[tuple[str, str, int]]:
    """The rows of two-column tables as labelled lines, without a header such as | 属性 | 值 |."""
    result: list[tuple[str, str, int]] = []
    for table in section.tables:
        if len(table.header) == 2:
            role, label = role_of(table.header[0]), table.header[1]
            if role == "name" and (is_known(label) or is_personal(label)):
                continue  # | 姓名 | 年龄 |: each row is somebody
            headless = (role == "type" and group_of(label) is not None) or role not in (None, "type")
            first = [table.header] if headless and not role_of(label) else []
            result += [(row[0], row[1], table.line) for row in [*first, *table.rows] if len(row) == 2 and row[0]]
    return result


def add_fields(draft: Draft, section: ProfileSection) -> None:
    """Add the content directly under a heading to `draft`."""
    for item in section.fields:
        add_label(draft, item)
    for key, value, line in pairs(section):
        add_label(draft, Field(key, value, line))
    loose: list[str] = []
    for text in section.bullets:
        dated = _DATED.match(text)
        span = parse_span(dated["label"]) if dated else None
        if dated is not None and span is not None:
            draft.facts.append(Fact(dated["text"], *span))
        else:
            loose.append(text)
    texts = [*section.prose, *([join_parts(loose, "；")] if loose else [])]
    draft.description = "\n".join([draft.description, *texts] if draft.description else texts)


def absorb_detail(draft: Draft, section: ProfileSection) -> None:
    """Add a sub-section: a dated one as facts, 关系/别名/描述 as relations/aliases/description, else an attribute."""
    span, role = parse_span(section.heading), role_of(section.heading)
    bullets = [*section.prose, *section.bullets]
    if span is not None:
        body = _section_text(section)
        if body:
            draft.facts.append(Fact(body, *span))
        return
    if role == "aliases":
        draft.add_aliases(
            [name for text in [*bullets, *(item.key for item in section.fields)] for name in split_names(text)]
        )
    elif role == "description" and not draft.description:
        add_fields(draft, section)
    else:
        body = _section_text(section)
        if body:
            draft.add_attribute(section.heading, body)
        related = role == "relations" or section.heading.endswith(("关系", "关系网"))
        draft.lines += [DraftLine(item.key, _field_text(item), item.line, related) for item in section.fields]
        draft.lines += [DraftLine("", text, section.line, related) for text in bullets if related]
        draft.lines += [DraftLine(key, value, line, related) for key, value, line in pairs(section)]
    for child in section.children:
        absorb_detail(draft, child)


def _section_text(section: ProfileSection) -> str:
    parts = [*section.prose, *section.bullets]
    parts += [join_parts((item.key, _field_text(item)), "：") for item in section.fields]
    parts += [join_parts((key, value), "：") for key, value, _ in pairs(section)]
    parts += [join_parts(row, "；") for table in section.tables if len(table.header) != 2 for row in table.rows]
    stated = (part.rstrip("。；; ") if len(parts) > 1 else part for part in parts if part)
    return join_parts(stated, "；", section.heading)


def _field_text(item: Field) -> str:
    return join_parts([*([item.value] if item.value else []), *item.items], "；", item.key)


def add_label(draft: Draft, item: Field) -> None:
    """Add one labelled line to `draft` according to its label."""
    value, role = _field_text(item), role_of(item.key)
    span = parse_span(item.key)
    if span is not None:
        if value:
            draft.facts.append(Fact(value, *span))
        return
    if not value or (is_nothing(value) and role != "level"):
        return
    draft.lead = draft.lead or (lead_of(value) if role == "type" or is_role(item.key) else "")
    if role == "aliases":
        _aliases(draft, item)
    elif role == "description":
        draft.description = f"{value}\n{draft.description}" if draft.description else value
    elif role == "type" and draft.type is None:
        draft.type = None if group_of(value) == TitleGroup(None) else type_of(value)  # `entity` says nothing
    elif role == "level" and (level := level_of(value)) is not None:
        draft.level = level
    elif role == "id" and draft.id is None:
        draft.id = value
    elif role in {"name", "full name"}:
        _take_name(draft, value, role == "name")
    else:
        draft.add_attribute(item.key, value)
        if is_naming(item.key):
            draft.add_aliases([name for name in split_names(value) if 2 <= len(name) <= 40])
        texts = [item.value, *item.items] if item.items else [value]
        for text in filter(None, texts):
            nested = parse_field(text, item.line) if role == "relations" else None
            label, body = (nested.key, nested.value) if nested is not None else (item.key, text)
            draft.lines.append(DraftLine(label, body, item.line, role == "relations"))


def _aliases(draft: Draft, item: Field) -> None:
    raw = [item.value, *item.items] if item.items else [item.value]
    names = [name for text in raw for name in split_names(text)]
    draft.add_aliases(names)
    if not names:
        draft.add_attribute(item.key, _field_text(item))


def _take_name(draft: Draft, value: str, replaces: bool) -> None:
    """姓名 names the entity when the heading only announces it (`# 主角`); otherwise it is another name of it."""
    names = [name for name in split_names(value) if not is_placeholder(name)]
    if replaces and names and not _may_be_name(draft.name, names[0]):
        draft.name, draft.other = names[0], ""
        names = names[1:]
    draft.add_aliases(names)


def _may_be_name(heading: str, name: str) -> bool:
    """Whether a heading may be a name beside `name`; not a Chinese one that does not look like a name (疗养院院长)."""
    if group_of(heading) is not None or is_generic(heading):
        return False
    return name.isascii() or is_name_shaped(heading) or heading in name


_ABOUT = re.compile(r" [-–—]+>? | → |——|— |[|｜]")  # of a line with single blanks
_LISTED = re.compile(r"[、，,；;]")


def list_drafts(path: str, section: ProfileSection, type_: str) -> Iterator[Draft]:
    """Drafts of the names that a section lists; none when its lines are labels of one thing.

    Args:
        path: Of the file.
        section: A group, such as 主要人物.
        type_: The type of the group.
    """
    names = [item for item in section.fields if _is_name(item.key)]
    if 2 * len(names) < len(section.fields):
        return
    for item in names:
        draft = read_name(item.key, Origin(path, section.heading, item.line))
        draft.type, draft.description, draft.standing = type_, item.value, "listed"
        for text in item.items:
            nested = parse_field(text, item.line)
            if nested is not None:
                add_label(draft, nested)
            else:
                draft.description = join_parts((draft.description, text), "；") if draft.description else text
        yield draft
    for text in section.bullets:
        name, about = map(str.strip, (*_ABOUT.split(" ".join(text.split()), maxsplit=1), "")[:2])
        if _is_name(name):
            draft = read_name(name, Origin(path, section.heading, section.line))
            draft.type, draft.description, draft.standing = type_, about, "listed"
            yield draft


def records(path: str, section: ProfileSection, type_: str | None) -> Iterator[Draft]:
    """Drafts of records that follow each other, each begun by a name label: `Name: Anna`, `Age: 29`, prose, `Name: …`.

    Args:
        path: Of the file.
        section: Fields in the order of the page.
        type_: The type of the group, or None.
    """
    starts = [at for at, item in enumerate(section.fields) if role_of(item.key) == "name" and is_plausible(item.value)]
    for at, end in pairwise([*starts, len(section.fields)]):
        first, *rest = section.fields[at:end]
        draft = read_name(first.value, Origin(path, section.heading, first.line))
        for item in rest:
            add_label(draft, item)
        until = section.fields[end].line if end < len(section.fields) else None
        for text, line in zip(section.prose, section.prose_lines, strict=True):
            if first.line <= line and (until is None or line < until):
                draft.description = f"{draft.description}\n{text}" if draft.description else text
        draft.type = draft.type or type_
        yield draft


def _is_name(text: str) -> bool:
    """Whether a line of a list begins with a name; in a script with capitals a name has one."""
    bare = _bare_name(text)
    if bare == bare.lower() != bare.upper():
        return False
    return is_plausible(text) and not is_known(text) and parse_span(text) is None and not _LISTED.search(bare)


def _bare_name(text: str) -> str:
    return _AGED.sub("", re.sub(r"[（(][^（(）)]*[)）]", "", split_dashed(text)[0]))
