"""Entities that a group lists instead of giving each a section: `- 林默：钟表匠`, `- **Elena** (Ellie) — a pilot`."""

import re
from collections.abc import Iterator

from armarius.codex.model import Origin
from armarius.codex.profiles.draft import Draft
from armarius.codex.profiles.fields import Section, parse_field
from armarius.codex.profiles.fields_to_entity import add_label
from armarius.codex.profiles.labels import is_known, role_of
from armarius.codex.profiles.naming import is_plausible, read_name, split_dashed
from armarius.codex.timeline import parse_span

_LISTED = re.compile(r"[、，,；;]")


def listed(path: str, section: Section, type_: str) -> Iterator[Draft]:
    """Drafts of the names that a section lists; none when its lines are labels of one thing.

    Args:
        path: Of the file.
        section: A group, such as 主要人物.
        type_: The type that the group gives.
    """
    names = [item for item in section.fields if _is_name(item.key)]
    if 2 * len(names) < len(section.fields):
        return
    for item in names:
        draft = read_name(item.key, Origin(path, section.heading, item.line))
        draft.type, draft.description = type_, item.value
        for text in item.items:
            nested = parse_field(text, item.line)
            if nested is not None:
                add_label(draft, nested)
            else:
                draft.description = f"{draft.description}；{text}" if draft.description else text
        yield draft
    for text in section.bullets:
        name, about = split_dashed(text)
        if _is_name(name):
            draft = read_name(name, Origin(path, section.heading, section.line))
            draft.type, draft.description = type_, about
            yield draft


def records(path: str, section: Section, type_: str | None) -> Iterator[Draft]:
    """Drafts of records that follow each other, each begun by a name label: `Name: Anna`, `Age: 29`, prose, `Name: …`.

    Args:
        path: Of the file.
        section: Fields in the order of the page.
        type_: The type that the group gives, if it gives one.
    """
    starts = [at for at, item in enumerate(section.fields) if role_of(item.key) == "name" and is_plausible(item.value)]
    for at, end in zip(starts, [*starts[1:], len(section.fields)], strict=True):
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
    return re.sub(r"[（(][^）)]*[)）]", "", text)
