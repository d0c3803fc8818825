"""Profiles in Markdown, as people write them, to drafts of entities.

Which sections are entities:

- a section with a 类型/Type or 别名/Aliases label, in any file that is not a chapter;
- in a setting file (`人物.md`, `characters/…`, `# 地点设定`), the outermost sections below the group headings that
  name a thing: not 外貌 or Background, which describe the entity above them, not chapters, not sentences;
- the rows of a table with a name column, and the names that a group lists, in a setting file;
- a whole file when it is about one thing (`characters/elena.md`, front matter with aliases or type, a tag that names
  a type: #人物, #location).

Nothing is dropped: known labels fill fields of the entity; other labels, sub-sections and two-column tables become
attributes, prose the description, `第30章起：…` a fact.
"""

import re

from armarius.codex.model import Origin
from armarius.codex.profiles.draft import (
    Draft,
    Profiles,
    StatedLine,
    announced_type,
    is_plausible,
    links_of,
    read_name,
    tagged_type,
    without_tag_lines,
)
from armarius.codex.profiles.entity import (
    absorb_detail,
    add_fields,
    add_label,
    listed,
    pairs,
    records,
)
from armarius.codex.profiles.fields import Field, ProfileSection, ProfileTable, clean, is_known, is_nothing, role_of
from armarius.codex.profiles.relations import is_relational, stated_lines
from armarius.codex.profiles.sections import parse_page
from armarius.documents.segments import parts_of
from armarius.documents.titles import (
    FrontMatter,
    PageKind,
    group_of,
    is_chapter,
    is_generic,
    is_other,
    page_kind,
    strip_numbering,
)
from armarius.text.unicode import fold

_TITLE = re.compile(r"^#[ 	]+(.+)$", re.MULTILINE)


def parse_profiles(path: str, text: str, *, setting: bool = False) -> Profiles:
    """The entities that one file describes, and lines that may state their relations.

    Args:
        path: Project-relative, `/`-separated; its names take part in the decision.
        text: The whole file.
        setting: Treat the file as a setting file regardless of its name.

    Cost: one pass over the text; a chapter is left after its title.
    """
    first = _TITLE.search(text, 0, 4096)
    announced = first[1] if first else ""
    known = page_kind(path, announced)
    if known[0] in ("chapter", "manual"):
        return Profiles()
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    page = parse_page(without_tag_lines(path, text), is_known)
    top = [child for child in page.root.children if child.level == 1]
    title = top[0].heading if len(top) == 1 else ""
    kind, type_ = known if title == announced else page_kind(path, title)
    kind = "setting" if setting and kind == "unknown" else kind
    if kind == "chapter" or (title and is_chapter(title)):
        return Profiles()
    tagged = tagged_type(page.front, text) if kind != "other" else None
    reader = _Pages(path, kind)
    single = _single_entity(path, page.front, page.root, kind, tagged or type_, tagged=tagged is not None)
    if single is not None:
        reader.single(page.front, page.root, single, tagged or type_)
        (draft,) = (one for one in reader.found.drafts if one.whole)
        draft.links += links_of(text, draft.name)
    else:
        reader.visit_all(page.root, type_, setting=kind == "setting")
        if kind == "setting":
            reader.group(page.root, type_)
    return reader.found


def _single_entity(
    path: str, front: FrontMatter, root: ProfileSection, kind: PageKind, type_: str | None, *, tagged: bool
) -> ProfileSection | None:
    """The section that carries the one entity a file is about (the root when it has no title), or None."""
    tops = [child for child in root.children if child.level == 1]
    roles = {role_of(key) for key in front}
    if len(tops) > 1:
        return None
    owner = tops[0] if tops else root
    stem = parts_of(path).stem
    if kind != "other" and (roles & {"aliases", "type", "name", "full_name"} or (tagged and group_of(stem) is None)):
        return owner
    if kind != "setting" or (type_ is None and not _labelled(owner)):
        return None
    if group_of(stem) is not None or (tops and group_of(owner.heading) is not None) or is_generic(stem):
        return None
    if any(_explicit(child) for child in owner.children):
        return None
    if tops and (_labelled(owner) or _alike(stem, owner.heading)):
        return owner
    things = [child for child in owner.children if not is_generic(child.heading)]
    return owner if len(things) * 2 <= len(owner.children) else None


def _shown(value: str) -> str:
    """A front matter value as text; an unquoted `[[林渡]]` was parsed as a list and lost a bracket."""
    if value.startswith("[") and value.endswith("]") and not value.startswith("[["):
        value = f"[{value}]"
    return clean(value) if "[[" in value else value


def _labelled(section: ProfileSection) -> bool:
    return bool(section.fields) or any(len(table.header) == 2 for table in section.tables)


def _alike(stem: str, heading: str) -> bool:
    stem, name = (re.sub(r"[\W_]+", " ", fold(strip_numbering(text))).strip() for text in (stem, heading))
    return bool(stem) and (stem in name or name in stem or set(stem.split()) <= set(name.split()))


def _explicit(section: ProfileSection) -> bool:
    """Whether a section declares an entity by a type or alias label."""
    keys = [*(item.key for item in section.fields), *(row[0] for row in pairs(section))]
    return any(role_of(key) in {"type", "aliases"} for key in keys)


class _Pages:
    """Collects the drafts of one file."""

    def __init__(self, path: str, kind: PageKind) -> None:
        self.path, self.kind = path, kind
        self.found = Profiles()

    def visit_all(self, parent: ProfileSection, type_: str | None, *, setting: bool) -> None:
        for child in parent.children:
            self._visit(child, type_, setting=setting)

    def _visit(self, section: ProfileSection, type_: str | None, *, setting: bool) -> None:
        group = group_of(section.heading)
        if is_chapter(section.heading) or (is_other(section.heading) and not self._is_explicit(section)):
            return
        named = sum(role_of(item.key) == "name" for item in section.fields) == 1
        if group is not None and group.type is not None and named and setting:
            self._entity(section, group.type)
        elif group is None and (announced := announced_type(section.heading)) is not None and self.kind != "other":
            self._entity(section, announced)
        elif self._is_explicit(section) and group is None:
            self._entity(section, type_)
        elif group is not None:
            inside = setting or self.kind != "other"
            self.group(section, group.type or type_, lists=inside)
            self.visit_all(section, group.type or type_, setting=inside)
        elif setting and (section.level > 1 or not section.children) and is_plausible(section.heading):
            self._entity(section, type_)
        elif is_relational(section.heading):
            self.found.lines += [StatedLine(self.path, section.heading, line) for line in stated_lines(section)]
        else:
            if setting and section.level == 1:
                self.group(section, type_)
            self.visit_all(section, type_, setting=setting and section.level == 1)

    def _is_explicit(self, section: ProfileSection) -> bool:
        if not _explicit(section):
            return False
        if self.kind == "setting":
            return True
        # Elsewhere (a README, an API page) `Type: string` is common: there the type must be a known one.
        types = [item.value for item in section.fields if role_of(item.key) == "type"]
        if types:
            return any(group is not None and group.type is not None for group in map(group_of, types))
        return self.kind == "unknown" and any(role_of(item.key) == "aliases" and item.listed for item in section.fields)

    def _entity(self, section: ProfileSection, type_: str | None) -> None:
        draft = read_name(section.heading, Origin(self.path, section.heading, section.line))
        self._fill(draft, section, type_)

    def _fill(self, draft: Draft, section: ProfileSection, type_: str | None) -> None:
        self.found.drafts.append(draft)
        add_fields(draft, section)
        for child in section.children:
            if self._is_explicit(child):
                self._visit(child, type_, setting=True)
            else:
                absorb_detail(draft, child)
        if draft.type is None:
            draft.type = type_

    def single(self, front: FrontMatter, root: ProfileSection, owner: ProfileSection, type_: str | None) -> None:
        stem = strip_numbering(parts_of(self.path).stem)
        title = front.get("title")
        heading = owner.heading or (title if isinstance(title, str) and title else stem)
        draft = read_name(heading, Origin(self.path, owner.heading, owner.line))
        draft.whole = True
        for key, value in front.items():
            if key.casefold() not in {
                "title",
                "tag",
                "tags",
                "date",
                "created",
                "updated",
                "cssclass",
                "cssclasses",
                "publish",
            }:
                said = (value,) if isinstance(value, str) else value
                add_label(draft, Field(key, "、".join(map(_shown, said)), 1))
        if owner is not root:
            add_fields(draft, root)
        self._fill(draft, owner, type_)
        for other in root.children:
            if other is not owner and owner is not root:
                absorb_detail(draft, other)

    def group(self, section: ProfileSection, type_: str | None, *, lists: bool = True) -> None:
        """The entities that stand directly under a group heading: rows of its tables, lines of its lists."""
        for table in section.tables:
            self._roster(table, section, type_)
        if lists and any(role_of(item.key) == "name" for item in section.fields):
            self.found.drafts += records(self.path, section, type_)
        elif lists and type_ is not None:
            self.found.drafts += listed(self.path, section, type_)

    def _roster(self, table: ProfileTable, section: ProfileSection, type_: str | None) -> None:
        columns = [role_of(cell) for cell in table.header]
        at = next((i for i, role in enumerate(columns) if role == "name"), None)
        if at is None and group_of(table.header[0]) is not None and len(table.header) > 1:
            at = 0
        if at is None:
            return
        for offset, row in enumerate(table.rows):
            if at >= len(row) or not is_plausible(row[at]):
                continue
            line = table.line + 2 + offset
            draft = read_name(row[at], Origin(self.path, section.heading, line))
            for column, cell in zip(table.header, row, strict=False):
                if column != table.header[at] and column and not is_nothing(cell):
                    add_label(draft, Field(column, cell, line))
            draft.type = draft.type or type_
            self.found.drafts.append(draft)
