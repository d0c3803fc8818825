"""Fields of an entity, changed in the Markdown page that describes it; every other byte of the page stays.

An edit is made line by line, and then the page is parsed again: it is taken only if the entity says what was asked, and
all others say what they said. What cannot be written so is left to a record over the page. A field that a page says is
written there; one that nobody says yet is added to the page of somebody whom pages alone describe.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from difflib import unified_diff
from hashlib import sha256
from itertools import chain
from operator import attrgetter
from typing import Any

from armarius.codex.draft import Draft, Profiles
from armarius.codex.model import Entity
from armarius.codex.profile_fields import Field, ProfileSection, is_known, level_of, parse_page, role_of
from armarius.documents.titles import type_of
from armarius.errors import PageChanged
from armarius.text.unicode import fold, slug

EDITABLE = frozenset({"type", "aliases", "description", "attributes", "level"})
SUFFIXES = (".md", ".markdown")
_LABELS = {
    "zh": {"type": "类型", "aliases": "别名", "description": "描述", "level": "注入"},
    "en": {"type": "Type", "aliases": "Aliases", "description": "Description", "level": "Inject"},
}
_LEVELS = {
    "zh": {"always": "总是", "when_detected": "提到时", "manual_only": "点名时", "never": "从不"},
    "en": {"always": "always", "when_detected": "when mentioned", "manual_only": "when named", "never": "never"},
}
_TYPES = {"zh": {"character": "人物", "location": "地点"}, "en": dict[str, str]()}
_HAN = re.compile("[\u4e00-\u9fff]")
_LINE = re.compile(r"(?P<mark>[ \t　>]*(?:(?:[-+•◦·]|\*(?!\*)|\d{1,3}[.)、])[ \t　]*)?(?:\*\*|__)?)")
_COLON = re.compile(r"(?:\*\*|__)?\s*[:：]{1,2}\s*(?:\*\*|__)?[ \t]*")
_TAIL = re.compile(r"(?<![ \t\r])[ \t]*(?:<!--.*)?\r*$")
_PARAGRAPH_END = re.compile(r"\s*(?:#{1,6}\s.*)?\Z", re.DOTALL)
_LONE_CR = re.compile(r"\r(?!\n)")

Parse = Callable[[str], Profiles]


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one file: its path in the project, the text before and after; `also` of a second one."""

    path: str
    before: str
    after: str
    also: "Edit | None" = None

    @property
    def digest(self) -> str:
        """Of the file before the change; `update(expect=…)` refuses to write over a file that has another."""
        return digest_of(self.before)

    @property
    def diff(self) -> str:
        """The change as a unified diff; "" for none."""
        before, after = (text.splitlines() for text in (self.before, self.after))
        own = "".join(f"{line}\n" for line in unified_diff(before, after, self.path, self.path, n=1, lineterm=""))
        return own + (self.also.diff if self.also is not None else "")


def changed_meanwhile(path: str) -> PageChanged:
    """The error for a page that is not as it was read."""
    return PageChanged(f"{path}: changed meanwhile, so nothing was written; look at it again")


def digest_of(text: str) -> str:
    """The digest of a file's text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Pages:
    """The Markdown pages of a project that may be written; of this class itself there are none."""

    def read(self, path: str) -> tuple[str, Parse] | None:
        """The text of a page as it lies there now, and what reads profiles of it; None where it may not be edited."""
        return None

    def change(self, path: str, change: Callable[[str, Parse], str]) -> None:
        """Write `change` of a page's text, and read it into the index; other processes wait meanwhile.

        `change` is called again if somebody saves the page before it is written.

        Raises:
            PageChanged: The page is gone or can no longer be edited; nothing was written. Or what `change` raises.
            StoreFull: It cannot be written, is read-only, or has a second hard link.
        """
        raise changed_meanwhile(path)

    def step(self) -> AbstractContextManager[None]:
        """What the block changes is one step for `undo`, if a page is among it; other processes wait meanwhile."""
        return nullcontext()

    def undo(self) -> tuple[str, ...]:
        """Give the files of the last step what they held before it; their paths, none where there is no step.

        Raises:
            PageChanged: One has been changed since; nothing was written.
            StoreFull: As `change`.
        """
        return ()


def edit_in_place(pages: Pages, entity: Entity, changes: Mapping[str, Any]) -> tuple[Edit | None, dict[str, Any]]:
    """The edit of the first page of an entity that can say some of `changes`, and those.

    What no page says yet is added to a page only if pages alone describe the entity.
    """
    paths = [origin.path for origin in entity.origins if not origin.path.startswith(".armarius/")]
    alone = all(path.endswith(SUFFIXES) for path in paths)
    for path in dict.fromkeys(item for item in paths if item.endswith(SUFFIXES)):
        if (read := pages.read(path)) is not None:
            after, fields = _Page(*read, entity).edit_text(changes, add=alone)
            if fields:
                return Edit(path, read[0], after), fields
    return None, {}


def removal_in_place(pages: Pages, entity: Entity) -> Edit | None:
    """The edit that takes an entity out of the one page that describes it; None for others, or a page of its own."""
    paths = {origin.path for origin in entity.origins}
    path = paths.pop() if len(paths) == 1 else ""
    if not path.endswith(SUFFIXES) or (read := pages.read(path)) is None:
        return None
    after = _Page(*read, entity).cut_section()
    return None if after is None else Edit(path, read[0], after)


def write_in_place(
    pages: Pages, edit: Edit, entity: Entity, changes: Mapping[str, Any] | None, *, expect: str = ""
) -> None:
    """Write what `edit_in_place` or, for None, `removal_in_place` found, made anew from what the page says then.

    Raises:
        CodexError: The page is no longer the one of `expect`, or can no longer say it; nothing was written.
        StoreFull: As `Pages.change`.
    """

    def change(text: str, parse: Parse) -> str:
        page = _Page(text, parse, entity)
        after, fields = (page.cut_section(), None) if changes is None else page.edit_text(changes, add=True)
        if after is None or fields != changes or (expect and expect != digest_of(text)):
            raise changed_meanwhile(edit.path)
        return after

    pages.change(edit.path, change)


def add_in_place(pages: Pages, path: str, name: str, type_: str, *, title: str) -> bool:
    """Write a section for a new entity behind the last of its type, at its level; False where it is not read so.

    Args:
        pages: Of the project.
        path: The page; made if it is not there.
        name: Of the entity.
        type_: Of the entity.
        title: Heading of a page that is made.

    Raises:
        StoreFull: As `Pages.change`.
    """

    def change(text: str, parse: Parse) -> str:
        page = _Page(text if text.strip() else f"# {title}\n", parse, Entity(slug(name), name))
        after = "" if page.at >= 0 else page.with_section(name, type_)
        if not after:
            raise changed_meanwhile(path)
        return after

    try:
        pages.change(path, change)
    except PageChanged:
        return False
    return True


def _lines(text: str) -> list[str]:
    r"""The lines of a text without their `\n`: of `\r\n` the `\r` stays, and `\r` alone is two of them."""
    return _LONE_CR.sub("\r\r\n", text).split("\n")


def _text(lines: list[str]) -> str:
    """The text of `_lines`."""
    return "\n".join(lines).replace("\r\r\n", "\r")


class _Page:
    """One page and the section of one entity in it."""

    def __init__(self, text: str, parse: Parse, entity: Entity) -> None:
        self.text, self.parse = text, parse
        self.drafts = parse(text).drafts
        same = [n for n, draft in enumerate(self.drafts) if (draft.id or slug(draft.name)) == entity.id]
        named = [n for n, draft in enumerate(self.drafts) if fold(draft.name) == fold(entity.name)]
        self.at = same[0] if same else named[0] if len(named) == 1 else -1
        self.root = parse_page(text, is_known).root

    def _section(self) -> ProfileSection | None:
        if self.at < 0 or self.drafts[self.at].standing == "cast":
            return None
        draft = self.drafts[self.at]
        place = (draft.origin.line, draft.origin.section)
        here = next((node for node in _walk(self.root) if (node.line, node.heading) == place), None)
        return None if here is None or (here.level == 0 and not draft.whole) else here

    def edit_text(self, changes: Mapping[str, Any], *, add: bool) -> tuple[str, dict[str, Any]]:
        """The text that says as many of `changes` as it can, and those; with `add` also what it did not say."""
        text, fields, here = self.text, dict[str, Any](), self._section()
        if here is None:
            return text, fields
        wanted = draft = self.drafts[self.at]
        for name, key, value in flatten(changes):
            if not add and not _states_field(draft, name, key):
                continue
            says = _change_draft(wanted, name, key, value)
            section = _Section(text, self._changed_section(text, here), draft, name, key)
            for candidate in chain([text], section.candidates(value)):
                if self._states_draft(candidate, says):
                    text, wanted = candidate, says
                    if name == "attributes":
                        fields[name] = {**fields.get(name, {}), key: value}
                    else:
                        fields[name] = value
                    break
        return text, fields

    def cut_section(self) -> str | None:
        """The text without the section; None where it is the whole page, or others would be read otherwise."""
        here = self._section()
        if here is None or self.drafts[self.at].whole:
            return None
        lines = _lines(self.text)
        before, after = lines[: here.line - 1], lines[self._end(here) - 1 :]
        while not after and before and not before[-1].strip():
            before.pop()
        text = _text([*before, *(after or [""])])
        return text if self._states_draft(text, None) else None

    def with_section(self, name: str, type_: str) -> str:
        """The text with a section that declares somebody new, "" if it would be read otherwise."""
        lines = _lines(self.text)
        own = {
            draft.origin.line
            for draft in self.drafts
            if draft.type == type_ and draft.standing in ("declared", "listed")
        }
        last = max((node for node in _walk(self.root) if node.line in own), key=attrgetter("line"), default=None)
        level, at = (2, len(lines)) if last is None else (last.level, self._end(last) - 1)
        before, rest, end = lines[:at], lines[at:], lines[0][len(lines[0].rstrip("\r")) :]
        while before and not before[-1].strip():
            before.pop()
        before[-1] = before[-1].rstrip("\r") + end
        language, colon = ("zh", "：") if _HAN.search(self.text) else ("en", ": ")
        field = f"- {_LABELS[language]['type']}{colon}{_TYPES[language].get(type_, type_)}"
        made = [line + end for line in ("", f"{'#' * level} {name}", "", field)]
        after = _text([*before, *made, *([end, *rest] if rest else [""])])
        drafts = self.parse(after).drafts
        mine = [
            draft for draft in drafts if draft.name == name and draft.type == type_ and draft.standing == "declared"
        ]
        others = [_draft_key(draft) for draft in drafts if draft not in mine]
        return after if len(mine) == 1 and others == [_draft_key(draft) for draft in self.drafts] else ""

    def _changed_section(self, text: str, here: ProfileSection) -> ProfileSection:
        """The section in a text that was changed below its heading."""
        return next(
            node
            for node in _walk(parse_page(text, is_known).root)
            if (node.line, node.level) == (here.line, here.level)
        )

    def _end(self, here: ProfileSection) -> int:
        """The line behind a section."""
        behind = (node.line for node in _walk(self.root) if node.line > here.line and node.level <= here.level)
        return next(behind, len(_lines(self.text)) + 1)

    def _states_draft(self, text: str, wanted: Draft | None) -> bool:
        """Whether a text says `wanted` of the entity (None: nothing), and of all others what the page said."""
        drafts = self.parse(text).drafts
        rest = [_draft_key(draft) for n, draft in enumerate(self.drafts) if n != self.at]
        if wanted is None:
            return [_draft_key(draft) for draft in drafts] == rest
        if len(drafts) != len(self.drafts):
            return False
        mine = drafts.pop(self.at)
        if mine.standing == "declared":  # a field declares who was only listed
            wanted = replace(wanted, standing="declared")
        return _draft_key(mine) == _draft_key(wanted) and [_draft_key(draft) for draft in drafts] == rest


class _Section:
    """The lines of a section, and how one field of it is written."""

    def __init__(self, text: str, here: ProfileSection, draft: Draft, name: str, key: str) -> None:
        self.lines, self.here, self.draft, self.name = _lines(text), here, draft, name
        self.end = self.lines[0][len(self.lines[0].rstrip("\r")) :]
        self.unended = bool(self.lines[-1])  # the last line has no end
        if self.unended:
            self.lines[-1] += self.end
        own = _HAN.search("".join(field.key for field in here.fields) or here.heading or text)
        self.language = "zh" if own else "en"
        self.label = key or _LABELS[self.language][name]
        alike = (lambda item: fold(item.key) == fold(key)) if key else (lambda item: role_of(item.key) == name)
        self.field = next(filter(alike, here.fields), None)

    def candidates(self, value: Any) -> Iterator[str]:  # noqa: ANN401 - of any field
        """Texts with the value, the most likely first."""
        text = self._field_text(value)
        if self.name == "description":
            prose = "\n".join(self.here.prose)
            if self.field is not None:
                yield self._replace_field(self.field, text.removesuffix(prose).rstrip("\n"))
            elif self.here.prose:
                yield self._replace_prose(text)
        if self.field is not None:
            yield self._replace_field(self.field, text)
        elif text:
            yield self._add_line(text)

    def _field_text(self, value: Any) -> str:  # noqa: ANN401
        if self.name == "level":
            return _LEVELS[self.language].get(level_of(value or "") or "", "")
        if self.name == "aliases":
            kept = self.field is None and value and set(self.draft.aliases) <= set(value)
            names = [alias for alias in value or () if not kept or alias not in self.draft.aliases]
            return ("、" if self.language == "zh" else ", ").join(names)
        return str(value or "").strip()

    def _replace_field(self, item: Field, text: str) -> str:
        at = item.line - 1
        line = self.lines[at]
        if not text:
            return self._join_lines([*self.lines[:at], *self.lines[self._end(item) :]])
        start = line.index(item.key, _LINE.match(line).end()) + len(item.key) if item.key in line else 0  # type: ignore[union-attr]
        colon = _COLON.match(line, start)
        tail = _TAIL.search(line)
        if not start or colon is None or tail is None:
            return ""
        space = " " if colon[0].endswith(":") else ""
        return self._set_line(at, f"{line[: colon.end()]}{space}{text}{line[max(tail.start(), colon.end()) :]}")

    def _add_line(self, text: str) -> str:
        last, end = max(self.here.fields, key=lambda field: field.line, default=None), self.end
        if last is None:
            made = f"- {self.label}{'：' if self.language == 'zh' else ': '}{text}"
            return self._set_line(self.here.line - 1, *self.lines[self.here.line - 1 : self.here.line], end, made + end)
        line = self.lines[last.line - 1]
        colon = next((sign for sign in ("：", ":") if sign in line), ":")
        bold = "**" if "**" in line else ""
        mark = re.match(r"[ \t　>]*(?:(?:[-+•◦·]|\*(?!\*))[ \t　]*)?", line)
        made = f"{mark[0] if mark else ''}{bold}{self.label}{bold}{colon}{'' if colon == '：' else ' '}{text}{end}"
        at = self._end(last) - 1
        return self._set_line(at, self.lines[at], made)

    def _replace_prose(self, text: str) -> str:
        """The paragraphs of prose replaced; they stand together, or parsing again tells."""
        first, last = self.here.prose_lines[0] - 1, self.here.prose_lines[-1] - 1
        while last + 1 < len(self.lines) and not _PARAGRAPH_END.match(self.lines[last + 1]):
            last += 1
        made = [part for line in text.split("\n") for part in (line + self.end, self.end)][:-1]
        return self._join_lines([*self.lines[:first], *made, *self.lines[last + 1 :]])

    def _end(self, item: Field) -> int:
        """The index of the line behind an item: those that are indented deeper are of it."""
        at, indent = item.line, _indent(self.lines[item.line - 1])
        while at < len(self.lines) and self.lines[at].strip() and _indent(self.lines[at]) > indent:
            at += 1
        return at

    def _set_line(self, at: int, *lines: str) -> str:
        made = [line.replace("\n", f"{self.end}\n") for line in lines]
        return self._join_lines([*self.lines[:at], *made, *self.lines[at + 1 :]])

    def _join_lines(self, lines: list[str]) -> str:
        return _text([*lines[:-1], lines[-1].rstrip("\r")] if self.unended else lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t　"))


def flatten(changes: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Each field that a page can say, each attribute by its key."""
    for name, value in changes.items():
        if name == "attributes":
            yield from ((name, key, text) for key, text in value.items()) if isinstance(value, Mapping) else ()
        elif name in EDITABLE:
            yield name, "", value


def split_changes(changes: Mapping[str, Any], fields: Mapping[str, Any]) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """`changes` without those that a page has taken, and those."""
    rest = {name: value for name, value in changes.items() if name not in fields or name == "attributes"}
    if "attributes" in fields:
        rest["attributes"] = {
            key: value for key, value in rest["attributes"].items() if key not in fields["attributes"]
        }
        if not rest["attributes"]:
            del rest["attributes"]
    return rest, fields


def missing_fields(entity: Entity, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What a page says now and the entity does not, since another file comes before the page."""
    rest: dict[str, Any] = {}
    for name, key, value in flatten(fields):
        now = entity.attributes.get(key, "") if key else getattr(entity, name)
        if name == "aliases":
            same = set(now) == {alias for alias in value or () if alias != entity.name}
        elif name == "type":
            same = not value or now == (type_of(value) or value)
        elif name == "level":
            same = not value or now == (level_of(value) or value)
        else:
            same = " ".join(now.split()) == " ".join((value or "").split())
        if not same and key:
            rest[name] = {**rest.get(name, {}), key: value}
        elif not same:
            rest[name] = value
    return rest


def _states_field(draft: Draft, name: str, key: str) -> bool:
    return any(fold(label) == fold(key) for label in draft.attributes) if key else bool(getattr(draft, name))


def _change_draft(draft: Draft, name: str, key: str, value: Any) -> Draft:  # noqa: ANN401 - of any field
    """The draft as it is to be read afterwards."""
    if name == "attributes":
        others = {label: text for label, text in draft.attributes.items() if fold(label) != fold(key)}
        return replace(draft, attributes={**others, key: value.strip()} if value.strip() else others)
    if name == "aliases":
        return replace(draft, aliases=[alias for alias in dict.fromkeys(value or ()) if alias != draft.name])
    if name == "type":
        return replace(draft, type=type_of(value) if value else None)
    if name == "description":
        return replace(draft, description=(value or "").strip())
    return replace(draft, level=level_of(value or ""))


def _draft_key(draft: Draft) -> tuple[Any, ...]:
    """What a draft says, without the lines that it stands in."""
    return (
        draft.name, draft.id, draft.type, sorted(draft.aliases), draft.description, draft.attributes, draft.level,
        draft.facts, draft.whole, draft.standing,
    )  # fmt: skip


def _walk(section: ProfileSection) -> Iterator[ProfileSection]:
    yield section
    for child in section.children:
        yield from _walk(child)
