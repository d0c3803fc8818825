"""A section to a draft: labels, prose, tables and sub-sections; nothing is dropped."""

import re
from collections.abc import Iterator
from itertools import pairwise

from armarius.codex.cards import parse_span
from armarius.codex.model import Fact, Origin
from armarius.codex.profiles.draft import Draft, DraftLine
from armarius.codex.profiles.fields import (
    Field,
    ProfileSection,
    is_known,
    is_naming,
    is_nothing,
    is_role,
    level_of,
    parse_field,
    role_of,
    split_names,
)
from armarius.codex.profiles.headings import (
    is_name_shaped,
    is_placeholder,
    is_plausible,
    lead_of,
    read_name,
    split_dashed,
)
from armarius.documents.titles import TitleGroup, group_of, is_generic, type_of
from armarius.text.unicode import joined

_DATED = re.compile(r"^(?P<label>[^，,。:：]{3,24})[，,]\s*(?P<text>.+)$")


def pairs(section: ProfileSection) -> list[tuple[str, str, int]]:
    """The rows of two-column tables as labelled lines, without a header such as | 属性 | 值 |."""
    found: list[tuple[str, str, int]] = []
    for table in section.tables:
        if len(table.header) == 2:
            role, said = role_of(table.header[0]), table.header[1]
            headless = (role == "type" and group_of(said) is not None) or role not in (None, "type")
            first = [table.header] if headless and not role_of(said) else []
            rows = [*first, *table.rows]
            found += [(row[0], row[1], table.line) for row in rows if len(row) == 2 and row[0]]
    return found


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
    said = [*section.prose, *([joined(loose, "；")] if loose else [])]
    draft.description = "\n".join([draft.description, *said] if draft.description else said)


def absorb_detail(draft: Draft, section: ProfileSection) -> None:
    """Add a sub-section: a dated one as facts, 关系/别名/描述 as relations/aliases/description, else an attribute."""
    span, role = parse_span(section.heading), role_of(section.heading)
    bullets = [*section.prose, *section.bullets]
    if span is not None:
        body = _flat(section)
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
        body = _flat(section)
        if body:
            draft.add_attribute(section.heading, body)
        related = role == "relations" or section.heading.endswith(("关系", "关系网"))
        draft.lines += [DraftLine(item.key, _with_items(item), item.line, related) for item in section.fields]
        draft.lines += [DraftLine("", text, section.line, related) for text in bullets if related]
        draft.lines += [DraftLine(key, value, line, related) for key, value, line in pairs(section)]
    for child in section.children:
        absorb_detail(draft, child)


def _flat(section: ProfileSection) -> str:
    parts = [*section.prose, *section.bullets]
    parts += [joined((item.key, _with_items(item)), "：") for item in section.fields]
    parts += [joined((key, value), "：") for key, value, _ in pairs(section)]
    parts += [joined(row, "；") for table in section.tables if len(table.header) != 2 for row in table.rows]
    stated = (part.rstrip("。；; ") if len(parts) > 1 else part for part in parts if part)
    return joined(stated, "；", section.heading)


def _with_items(item: Field) -> str:
    return joined([*([item.value] if item.value else []), *item.items], "；", item.key)


def add_label(draft: Draft, item: Field) -> None:
    """Add one labelled line to `draft` according to its label."""
    value, role = _with_items(item), role_of(item.key)
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
        _named(draft, value, role == "name")
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
        draft.add_attribute(item.key, _with_items(item))


def _named(draft: Draft, value: str, replaces: bool) -> None:
    """姓名 names the entity when the heading only announces it (`# 主角`); otherwise it is another name of it."""
    names = [name for name in split_names(value) if not is_placeholder(name)]
    if replaces and names and not _is_like(draft.name, names[0]):
        draft.name, draft.other = names[0], ""
        names = names[1:]
    draft.add_aliases(names)


def _is_like(heading: str, name: str) -> bool:
    """Whether a heading may be a name beside `name`; a Chinese one that does not look like one (疗养院院长) is none."""
    if group_of(heading) is not None or is_generic(heading):
        return False
    return name.isascii() or is_name_shaped(heading) or heading in name


_LISTED = re.compile(r"[、，,；;]")


def listed(path: str, section: ProfileSection, type_: str) -> Iterator[Draft]:
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
                draft.description = joined((draft.description, text), "；") if draft.description else text
        yield draft
    for text in section.bullets:
        name, about = split_dashed(text)
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
    bare = _bare(text)
    if bare == bare.lower() != bare.upper():
        return False
    return is_plausible(text) and not is_known(text) and parse_span(text) is None and not _LISTED.search(bare)


def _bare(text: str) -> str:
    return re.sub(r"[（(][^（(）)]*[)）]", "", text)
