"""Relations that a page states between two named entities: `林默与林小雨：兄妹`, `A ↔ B: rivals`, `A是B的哥哥`."""

import re
from collections.abc import Iterator
from typing import Protocol

from armarius.codex.model import Entity, Origin, Relation
from armarius.codex.profiles.draft import Line
from armarius.codex.profiles.fields import Section
from armarius.codex.profiles.labels import role_of
from armarius.documents.titles import strip_numbering
from armarius.text.sentences import CLAUSE

_TITLE = re.compile(r"关系(?:表|网|图|谱)?$|\b(?:relations?|relationships?)(?: (?:map|chart|table))?$", re.IGNORECASE)
_COLUMN = re.compile(r"关系|關係|relation", re.IGNORECASE)
_LINK = re.compile(r"\s*(?:<-+>|-+>|=+>|[↔⇄→⟷]|[—–]+|\s-\s|[～~与和跟&×/、]|\band\b)\s*")
_TYPED = re.compile(r"^(?P<ends>[^:：（(]+?)\s*(?:[:：]\s*(?P<type>.+)|[（(](?P<note>[^）)]+)[)）])\s*$")
_SENTENCES = (
    re.compile(r"^(?P<a>.+?)是(?P<b>.+?)的(?P<type>[^的，,。]{1,12})。?$"),
    re.compile(r"^(?P<a>.+?) is (?P<b>.+?)['’]s (?P<type>[\w' -]{1,24}?)\.?$", re.IGNORECASE),
    re.compile(r"^(?P<a>.+?) is (?:the |an? )?(?P<type>[\w' -]{1,24}? of) (?P<b>.+?)\.?$", re.IGNORECASE),
)
_MAX_TYPE = 24
_MAX_LINE = 200


class Names(Protocol):
    """Finds entities by what a text calls them."""

    entities: dict[str, Entity]

    def find(self, reference: str) -> str | None:
        """The id that `reference` means, or None."""
        ...


def is_relational(title: str) -> bool:
    """Whether a heading announces relations between several entities: 人物关系, Relationships."""
    bare = strip_numbering(title).strip()
    return role_of(bare) == "relations" or _TITLE.search(bare) is not None


def stated_lines(section: Section) -> Iterator[Line]:
    """Every line of a section and those below it that may state a relation."""
    for item in section.fields:
        yield Line("", f"{item.key}：{item.value}", item.line, related=True)
        for text in item.items:
            yield Line(item.key, text, item.line, related=True)
    for text in [*section.bullets, *section.prose]:
        yield Line("", text, section.line, related=True)
    for table in section.tables:
        at = next((i for i, cell in enumerate(table.header) if _COLUMN.search(cell)), None)
        if at is not None and len(table.header) >= 3:
            for offset, row in enumerate(table.rows):
                ends = [cell for column, cell in enumerate(row) if column != at][:2]
                if len(ends) == 2 and at < len(row):
                    yield Line("", f"{ends[0]}—{ends[1]}：{row[at]}", table.line + 2 + offset, related=True)
    for child in section.children:
        yield from stated_lines(child)


def pair_of(line: Line, path: str, section: str, names: Names) -> Relation | None:
    """The relation that a line states, None unless both ends are known entities."""
    text = line.value.strip()
    if len(text) > _MAX_LINE:
        return None
    origin = Origin(path, section, line.line)
    typed = _TYPED.match(text)
    if typed is not None:
        kind = CLAUSE.split((typed["type"] or typed["note"]).strip(), maxsplit=1)[0].strip()
        ends = _ends(typed["ends"], names)
        if ends is not None and 0 < len(kind) <= _MAX_TYPE:
            return Relation(*ends, kind, origin=origin)
    for sentence in _SENTENCES:
        if (said := sentence.match(text)) is not None:
            source, target = names.find(said["a"].strip()), names.find(said["b"].strip())
            if source is not None and target is not None and source != target:
                return Relation(source, target, said["type"].strip(), origin=origin)
    return None


def _ends(text: str, names: Names) -> tuple[str, str] | None:
    for link in _LINK.finditer(text):
        source, target = names.find(text[: link.start()].strip()), names.find(text[link.end() :].strip())
        if source is not None and target is not None and source != target:
            return source, target
    return None
