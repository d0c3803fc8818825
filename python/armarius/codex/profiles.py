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
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from armarius.arguments import Kind
from armarius.codex.draft import (
    Draft,
    Profiles,
    Standing,
    StatedLine,
    links_of,
    tagged_type,
    without_tag_lines,
)
from armarius.codex.model import Origin, RejectedName
from armarius.codex.profile_entity import (
    absorb_detail,
    add_fields,
    add_label,
    announced_type,
    is_han_name,
    is_name_shaped,
    is_placeholder,
    is_plausible,
    lead_of,
    list_drafts,
    pairs,
    read_name,
    records,
    split_dashed,
)
from armarius.codex.profile_fields import (
    Field,
    ProfileSection,
    ProfileTable,
    Role,
    clean,
    is_cast,
    is_known,
    is_nothing,
    is_personal,
    parse_page,
    role_of,
    split_list,
    split_names,
)
from armarius.codex.profile_relations import is_relational, stated_lines
from armarius.documents.kinds import CARD_KINDS
from armarius.documents.segments import parts_of
from armarius.documents.titles import (
    FrontMatter,
    TitleGroup,
    group_of,
    is_chapter,
    is_generic,
    is_other,
    lists_entries,
    page_type,
    strip_numbering,
)
from armarius.text.unicode import HAN_EVERY, fold, join_parts
from armarius.trust.settings import PeopleTable

_OWNER = re.compile(rf"(?:^|[:：])([{HAN_EVERY}]{{2,4}}?)(?=[的是])")  # 沈雨 of 沈雨的研究
_OF_PAGE: Final = frozenset(["title", "tag", "tags", "date", "created", "updated", "cssclass", "cssclasses", "publish"])
_DECLARING: Final[tuple[Role, ...]] = ("type", "aliases")  # labels that make a section an entity
_OPEN: Final = ("setting", "note")  # kinds of files with entities that only a tag, an alias or their heading declares


def parse_profiles(path: str, text: str, kind: Kind, tables: Iterable[PeopleTable] = ()) -> Profiles:
    """The entities that one file describes, and lines that may state their relations.

    Args:
        path: Project-relative, `/`-separated; its names give a type to the entities of a file of settings.
        text: The whole file.
        kind: What the file is, as the map says. Headings are entities in settings only.
        tables: Its tables of people, by their columns.

    Cost: one pass over the text.
    """
    if kind not in CARD_KINDS:
        return Profiles()
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    page = parse_page(without_tag_lines(path, text), is_known)
    top = [child for child in page.root.children if child.level == 1]
    title = top[0].heading if len(top) == 1 else ""
    type_, aside = page_type(path, title) if kind == "setting" else (None, False)
    kind = "outline" if aside else kind
    titles = [(title, top[0].line if title else 1), (_front_value(str(page.front.get("title", ""))), 1)]
    if blank := next((pair for pair in titles if pair[0] and is_placeholder(pair[0])), None):
        return Profiles(rejected=[RejectedName(blank[0], path, blank[1], "a placeholder, as in a template")])
    tagged = tagged_type(page.front, text) if kind in _OPEN else None
    reader = _Pages(path, kind, entries=lists_entries(title) or lists_entries(parts_of(path).stem))
    single = _single_entity(path, page.front, page.root, kind, tagged or type_, tagged=tagged is not None)
    if single is not None:
        reader.read_single(page.front, page.root, single, tagged or type_)
        for draft in reader.found.drafts:
            draft.links += links_of(text, draft.name) if draft.whole else ()
    else:
        reader.visit_all(page.root, type_, setting=kind == "setting")
        if kind == "setting":
            reader.group(page.root, type_)
    reader.cast(page.root)
    for table in tables:
        reader.people(page.root, table)
    return reader.found


def _single_entity(
    path: str, front: FrontMatter, root: ProfileSection, kind: Kind, type_: str | None, *, tagged: bool
) -> ProfileSection | None:
    """The section that carries the one entity a file is about (the root when it has no title), or None."""
    tops = [child for child in root.children if child.level == 1]
    stem = parts_of(path).stem
    if len(tops) > 1:  # a sheet may have its parts as headings of the first level
        first = tops[0]
        begins = is_generic(first.heading) or (_names_alike(stem, first.heading) and _has_basics(first))
        about_one = group_of(stem) is None and not is_generic(stem) and begins
        return root if kind == "setting" and about_one and (type_ is not None or _declares_entity(front)) else None
    owner = tops[0] if tops else root
    if kind in _OPEN and (_declares_entity(front) or (tagged and group_of(stem) is None)):
        return owner
    if kind == "setting" and stated_name(owner) is not None and group_of(owner.heading or stem) is not None:
        return owner
    if kind != "setting" or (type_ is None and not _has_labels(owner) and not _has_basics(owner)):
        return None
    if group_of(stem) is not None or (tops and group_of(owner.heading) is not None) or is_generic(stem):
        return None
    parts = [child for child in owner.children if not is_generic(child.heading)]
    if any(_states_role(part, *_DECLARING) or stated_name(part) for part in parts) or sum(map(_has_basics, parts)) > 1:
        return None
    if tops and (_has_labels(owner) or _has_basics(owner)):
        return owner
    if any(map(_has_forms, [owner, *parts])):
        return None
    if _names_alike(stem, owner.heading) if tops else is_name_shaped(read_name(stem, Origin("")).name):
        return owner
    return owner if len(parts) * 2 <= len(owner.children) else None


def stated_name(section: ProfileSection) -> Field | None:
    """The name field of a sheet (`- 姓名：林默`) below its heading or in a part such as 基本信息; None for several."""
    parts = [section, *(child for child in section.children if is_generic(child.heading))]
    fields = [Field(*row) for part in parts for row in pairs(part)] + [item for part in parts for item in part.fields]
    names = [item for item in fields if role_of(item.key) == "name"]
    return names[0] if len(names) == 1 else None


def _has_basics(section: ProfileSection) -> bool:
    """Whether the first part of a section is 基本信息, Overview and the like: the section is a sheet."""
    return bool(section.children) and is_generic(section.children[0].heading)


def _name_column(columns: Sequence[str | None]) -> int | None:
    """The column of a table that names its rows, by the roles of its header: 姓名, else 真名."""
    return next((columns.index(role) for role in ("name", "full_name") if role in columns), None)


def _is_roster(section: ProfileSection) -> bool:
    """Whether a section of a page of people is a group: a table that begins with names, its heading none."""
    tables = [table for table in section.tables if len(table.header) > 2 and len(table.rows) > 1]
    named = any(_name_column([role_of(cell) for cell in table.header]) == 0 for table in tables)
    return named and not section.fields and not is_name_shaped(read_name(section.heading, Origin("")).name)


def _group_of_list(section: ProfileSection) -> TitleGroup | None:
    """The group before the dash of a heading (`Cast — fixed traits`) below which several names are listed."""
    name, about = split_dashed(section.heading)
    group = group_of(name) if about else None
    return group if group and group.type and len([*list_drafts("", section, group.type)]) > 1 else None


def _has_forms(section: ProfileSection) -> bool:
    """Whether the parts of a section are sheets: names, most with labels or headings that others of them have too."""
    forms = [
        {fold(label) for label in (*(item.key for item in child.fields), *(part.heading for part in child.children))}
        for child in section.children
    ]
    counts = Counter(label for form in forms for label in form)
    alike = [
        child
        for child, form in zip(section.children, forms, strict=True)
        if is_name_shaped(read_name(child.heading, Origin("")).name) and sum(counts[label] > 1 for label in form) > 1
    ]
    return not section.fields and len(alike) > 1 and len(alike) * 2 > len(forms)


def _front_value(value: str) -> str:
    """A front matter value as text; an unquoted `[[林渡]]` was parsed as a list and lost a bracket."""
    if value.startswith("[") and value.endswith("]") and not value.startswith("[["):
        value = f"[{value}]"
    return clean(value) if "[[" in value else value


def _has_labels(section: ProfileSection) -> bool:
    return bool(section.fields) or any(len(table.header) == 2 for table in section.tables)


def _states_role(section: ProfileSection, *roles: Role) -> bool:
    """Whether a section has a label with one of these roles, in a line or in a table of two columns."""
    keys = [*(item.key for item in section.fields), *(row[0] for row in pairs(section))]
    return any(role_of(key) in roles for key in keys)


def _is_entity(section: ProfileSection) -> bool:
    """Whether a part of a sheet declares another entity: by aliases, or by a known type."""
    if is_generic(section.heading) or group_of(section.heading) is not None or not _states_role(section, *_DECLARING):
        return False
    rows = [*((item.key, item.value) for item in section.fields), *((row[0], row[1]) for row in pairs(section))]
    types = [value for key, value in rows if role_of(key) == "type"]
    return not types or any(group is not None and group.type is not None for group in map(group_of, types))


def _declares_entity(front: FrontMatter) -> bool:
    """Whether front matter says what the file is about: by a name, a type, or what only a person has."""
    return any(role_of(key) in {"aliases", "type", "name", "full_name"} or is_personal(key) for key in front)


def _declared_name(front: FrontMatter) -> str:
    """The name that a field of the front matter gives to the thing of a page without a heading, or ""."""
    values = [_front_value(value) for key, value in front.items() if role_of(key) == "name" and isinstance(value, str)]
    return next((name for value in values for name in split_names(value) if not is_placeholder(name)), "")


def _names_alike(stem: str, heading: str) -> bool:
    stem, name = (re.sub(r"[\W_]+", " ", fold(strip_numbering(text))).strip() for text in (stem, heading))
    return bool(stem) and (stem in name or name in stem or set(stem.split()) <= set(name.split()))


def _lists(section: ProfileSection) -> Iterator[tuple[str, list[str], int, bool]]:
    """Label, texts and line of what may list names: labelled lines, and the columns of tables (then True)."""
    for item in section.fields:
        yield item.key, [item.value, *item.items], item.line, False
    for table in section.tables:
        for at, label in enumerate(table.header):
            yield label, [row[at] for row in table.rows if at < len(row)], table.line, True


_THINGS = frozenset({"character", "location", "faction", "item"})  # an event of a table may be a sentence


class _Pages:
    """Collects the drafts of one file."""

    def __init__(self, path: str, kind: Kind, *, entries: bool = False) -> None:
        self.path, self.kind, self.entries = path, kind, entries
        self.found = Profiles()

    def cast(self, section: ProfileSection, names: set[str] | None = None) -> None:
        """The names that lines such as `出场人物：林默` and columns such as | 人物 | list, and labels; each once."""
        names = {fold(draft.name) for draft in self.found.drafts} if names is None else names
        for label, texts, line, in_table in _lists(section):
            group = group_of(label)
            if not is_cast(label) and (group is None or group.type is None or (in_table and group.type not in _THINGS)):
                continue
            typed = None if group is None or (in_table and group.type == "character") else group.type
            for piece in (piece for text in texts for piece in split_list(text)):
                draft = read_name(piece, Origin(self.path, section.heading, line))
                if fold(draft.name) in names or not is_plausible(piece) or draft.other or group_of(piece) is not None:
                    continue
                names.add(fold(draft.name))
                draft.standing, draft.type = "cast", typed
                self.found.drafts.append(draft)
        self._labels(section, names)
        for child in section.children:
            self.cast(child, names)

    def _labels(self, section: ProfileSection, names: set[str]) -> None:
        """The heading and the labels of a section that look like Chinese names, and whom a heading is about."""
        owners = [(name, section.line) for name in _OWNER.findall(strip_numbering(section.heading))]
        for label, line in [
            (section.heading, section.line),
            *owners,
            *((field.key, field.line) for field in section.fields),
        ]:
            draft = read_name(label, Origin(self.path, section.heading, line))
            shaped = is_han_name(draft.name) and is_name_shaped(draft.name)
            if shaped and is_plausible(label) and fold(draft.name) not in names:
                names.add(fold(draft.name))
                draft.standing = "label"
                self.found.drafts.append(draft)

    def visit_all(self, parent: ProfileSection, type_: str | None, *, setting: bool) -> None:
        for child in parent.children:
            self._visit(child, type_, setting=setting)

    def _visit(self, section: ProfileSection, type_: str | None, *, setting: bool) -> None:
        group = group_of(section.heading) or _group_of_list(section)
        heads = self.kind == "setting" and section.level == 1  # of a page of settings, whatever its title
        if is_chapter(section.heading) and not heads:
            if type_ is not None:  # the people of a volume
                self.group(section, type_, lists=setting)
                self.visit_all(section, type_, setting=setting)
            return
        if is_other(section.heading) and not heads and not self._is_explicit(section):
            for child in section.children:
                of_people = group_of(child.heading)
                if self._is_explicit(child) or (of_people is not None and of_people.type == "character"):
                    self._visit(child, type_, setting=setting)
            return
        named = setting and stated_name(section) is not None
        if is_placeholder(section.heading):
            self._reject(section, "a placeholder")
        elif group is not None and group.type is not None and named:
            self._entity(section, group.type, "declared")
        elif group is None and (announced := announced_type(section.heading)) is not None and self.kind in _OPEN:
            self._entity(section, announced, "declared")
        elif self._is_explicit(section) and group is None and not is_generic(section.heading):
            self._entity(section, type_, "declared")
        elif group is not None:
            inside = setting or self.kind in _OPEN or group.type == "character"
            self.group(section, group.type or type_, lists=inside)
            self.visit_all(section, group.type or type_, setting=inside)
        elif setting and type_ is not None and _has_forms(section):
            self.visit_all(section, type_, setting=True)
        elif setting and type_ == "character" and _is_roster(section):
            self.group(section, type_)
            self.visit_all(section, type_, setting=True)
        elif setting and (section.level > 1 or not section.children) and is_plausible(section.heading):
            self._entity(section, type_, "headed" if type_ is None and not self.entries else "listed")
        elif is_relational(section.heading):
            self.found.lines += [StatedLine(self.path, section.heading, line) for line in stated_lines(section)]
        else:
            if setting and section.level == 1:
                self.group(section, type_)
            elif not setting:
                for table in section.tables:
                    if (group := group_of(table.header[0])) is not None and group.type in _THINGS:
                        self._roster(table, section, group.type)
            shaped = [is_name_shaped(read_name(child.heading, Origin("")).name) for child in section.children]
            inside = section.level == 1 or (type_ is not None and all(shaped))
            self.visit_all(section, type_, setting=setting and inside)

    def _reject(self, section: ProfileSection, reason: str) -> None:
        self.found.rejected.append(RejectedName(section.heading, self.path, section.line, reason))

    def _is_explicit(self, section: ProfileSection) -> bool:
        if not _states_role(section, *_DECLARING):
            return False
        if self.kind == "setting":
            return True
        # Elsewhere (a README, an API page) `Type: string` is common: there the type must be a known one.
        types = [item.value for item in section.fields if role_of(item.key) == "type"]
        if types:
            return any(group is not None and group.type is not None for group in map(group_of, types))
        return self.kind == "note" and any(role_of(item.key) == "aliases" and item.listed for item in section.fields)

    def _entity(self, section: ProfileSection, type_: str | None, standing: Standing) -> None:
        draft = read_name(section.heading, Origin(self.path, section.heading, section.line))
        draft.standing = standing
        self._fill(draft, section, type_)
        if standing in ("listed", "headed"):
            self._add_parts(section, type_)

    def _fill(self, draft: Draft, section: ProfileSection, type_: str | None) -> None:
        """Add a sheet. A heading that only announces somebody (`# 主角卡`) needs a name field with a value."""
        heading, name = draft.name, stated_name(section)
        self.found.drafts.append(draft)
        add_fields(draft, section)
        self._rosters(section, draft.type or type_)
        for child in section.children:
            of_another = name is not None and stated_name(child) is not None and group_of(child.heading) is not None
            if of_another or _is_entity(child):
                self._visit(child, type_, setting=True)
            elif is_generic(child.heading) and _states_role(child, "name", "full_name", "aliases"):
                add_fields(draft, child)
                for part in child.children:
                    absorb_detail(draft, part)
            else:
                absorb_detail(draft, child)
        if draft.name == heading and name is not None and (group_of(heading) is not None or is_generic(heading)):
            self.found.drafts.remove(draft)
            self._reject(section, f"a placeholder: {name.key} is empty")
        draft.lead = draft.lead or (lead_of(heading) if draft.name != heading else "")
        if draft.type is None:
            draft.type = type_ or ("character" if any(map(is_personal, draft.attributes)) else None)

    def read_single(self, front: FrontMatter, root: ProfileSection, owner: ProfileSection, type_: str | None) -> None:
        stem = strip_numbering(parts_of(self.path).stem)
        headed = "" if is_generic(owner.heading) or role_of(owner.heading) == "description" else owner.heading
        title, declared = front.get("title"), "" if headed else _declared_name(front)
        heading = declared or headed or (title if isinstance(title, str) and title else stem)
        draft = read_name(heading, Origin(self.path, owner.heading, owner.line))
        draft.whole = True
        if type_ is None and not _declares_entity(front) and not _states_role(owner, *_DECLARING):
            draft.standing = "headed"
        within = fold(stem) in fold(draft.name) if declared else stem in draft.name
        if draft.name != stem and within and is_plausible(stem):
            draft.add_aliases([stem])  # 王大爷.md is headed 隔壁村王大爷
        for key, value in front.items():
            if key.casefold() not in _OF_PAGE:
                values = (value,) if isinstance(value, str) else value
                add_label(draft, Field(key, join_parts(map(_front_value, values), "、", key), 1))
        if owner is not root:
            add_fields(draft, root)
        self._fill(draft, owner, type_)
        for other in root.children:
            if other is not owner and owner is not root:
                absorb_detail(draft, other)
        self._add_parts(owner, type_)

    def _rosters(self, section: ProfileSection, type_: str | None) -> None:
        """Tables in a part of a sheet with a column of people, or a first one of one type; not of a person's people."""
        for table in section.tables:
            group = group_of(table.header[0])
            if group is not None and group.type not in (None, type_ if type_ == "character" else None):
                self._roster(table, section, group.type)
            elif type_ != "character" and "name" in map(role_of, table.header) and any(map(is_personal, table.header)):
                self._roster(table, section, "character")
        for child in section.children:
            self._rosters(child, type_)

    def _add_parts(self, owner: ProfileSection, type_: str | None) -> None:
        """The parts of a sheet as entities of their own, in case the story says that the sheet is about several."""
        named = [child for child in owner.children if not is_generic(child.heading) and is_plausible(child.heading)]
        shaped = [child for child in named if is_name_shaped(read_name(child.heading, Origin("")).name)]
        if len(shaped) < 2 or 2 * len(shaped) < len(owner.children):
            return
        for child in shaped:
            draft = read_name(child.heading, Origin(self.path, child.heading, child.line))
            draft.standing, draft.type, draft.other = "inside", type_, owner.heading
            add_fields(draft, child)
            for part in child.children:
                absorb_detail(draft, part)
            self.found.drafts.append(draft)

    def group(self, section: ProfileSection, type_: str | None, *, lists: bool = True) -> None:
        """The entities that stand directly under a group heading: rows of its tables, lines of its lists."""
        for table in section.tables:
            self._roster(table, section, type_)
        if lists and any(role_of(item.key) == "name" for item in section.fields):
            self.found.drafts += records(self.path, section, type_)
        elif lists and type_ is not None:
            self.found.drafts += list_drafts(self.path, section, type_)

    def people(self, section: ProfileSection, spec: PeopleTable) -> None:
        """The rows of the tables with the column of names that is said, here and below."""
        for table in section.tables:
            if spec.name in table.header:
                self._roster(table, section, "character", spec)
        for child in section.children:
            self.people(child, spec)

    def _roster(
        self, table: ProfileTable, section: ProfileSection, type_: str | None, spec: PeopleTable | None = None
    ) -> None:
        columns = [role_of(cell) for cell in table.header]
        at = _name_column(columns)
        if spec is not None:
            at = table.header.index(spec.name)
            columns[at] = "name"
        if at is None and group_of(table.header[0]) is not None and len(table.header) > 1:
            at = 0
        if at is None:
            return
        for offset, row in enumerate(table.rows):
            if at >= len(row) or not is_plausible(row[at]) or group_of(row[at]) is not None:
                continue
            line = table.line + 2 + offset
            draft = read_name(row[at], Origin(self.path, section.heading, line))
            draft.standing = "declared" if columns[at] == "name" or type_ in _THINGS else "listed"
            for column, cell in zip(table.header, row, strict=False):
                if spec is not None and column in spec.aliases and not is_nothing(cell):
                    draft.add_aliases([cell])
                elif column != table.header[at] and column and not is_nothing(cell):
                    add_label(draft, Field(column, cell, line))
            draft.type = draft.type or type_
            self.found.drafts.append(draft)
