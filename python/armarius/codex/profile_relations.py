"""Relations that profiles and links of notes state: `- 母亲：王夫人`, `- 关系：林默（哥哥）`, `- Brother of: Lin Mo`.

Direction follows `Relation`: read from source to target. `X：Y` in the profile of A, where Y is a person, says
that Y is the X of A, so Y is the source (王夫人 -母亲-> 贾宝玉); where Y is a place or a thing, A is the source
(林默 -住处-> 钟表铺). A label that ends in "of", and `Y的X`, turn it round.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Protocol

from armarius.codex.cards import parse_span
from armarius.codex.draft import Draft, DraftLine, NoteLink
from armarius.codex.model import Entity, Origin, Relation
from armarius.codex.profile_fields import ProfileSection, role_of, split_list, words_of
from armarius.documents.titles import strip_numbering
from armarius.text.unicode import CLAUSE, HAN_EVERY, TYPE_CLAUSE, fold, join_parts

_NOTED = re.compile(r"^(?P<name>.+?)(?<!\s)\s*[（(](?P<note>[^）)]{1,30})[)）]$")
_DASHED = re.compile(r"^(?P<name>.+?)(?:(?<!\s)\s+[-–—]+\s+|[-–—]{2})(?P<note>.+)$")
_POSSESSIVE = re.compile(r"^(?P<name>.+?)的(?P<type>[^的]{1,12})$")
_OF = re.compile(r"^(?P<type>[\w' -]{1,30}? (?:of|to))\s+(?P<name>.+)$", re.IGNORECASE)
_MAX_TYPE = 24
_MAX_VALUE = 400


class Names(Protocol):
    """Finds entities by id, name or alias."""

    entities: dict[str, Entity]

    def find(self, reference: str) -> str | None:
        """The id that `reference` means, or None."""


def relations_of(owner: Entity, draft: Draft, names: Names) -> list[Relation]:
    """The relations that the labelled lines of one profile state, where the other end is a known entity."""
    edges: list[Relation] = []
    for line in draft.lines:
        if len(line.value) <= _MAX_VALUE:
            edges += _line(owner, line, Origin(draft.origin.path, draft.origin.section, line.line), names)
    return edges


def _line(owner: Entity, line: DraftLine, origin: Origin, names: Names) -> list[Relation]:
    other = names.find(line.label) if line.related and line.label else None
    if other is not None and other != owner.id:
        kind = _short(line.value)
        return [Relation(other, owner.id, kind, origin=origin)] if kind else []
    edges: list[Relation] = []
    for piece in split_list(line.value):
        relation = _piece(owner, line, piece.strip(" 。."), names)
        if relation is not None:
            source, target, kind, since, until = relation
            edges.append(Relation(source, target, kind, since, until, origin))
    return edges


def _piece(
    owner: Entity, line: DraftLine, piece: str, names: Names
) -> tuple[str, str, str, int | None, int | None] | None:
    kind = _short(line.label)
    since = until = None
    match = _NOTED.match(piece) or _DASHED.match(piece)
    note = ""
    if match is not None and names.find(piece) is None:
        piece, note = match["name"].strip(), match["note"].strip()
        span = parse_span(note)
        if span is not None:
            (since, until), note = span, ""
    id_ = names.find(piece)
    if id_ is not None and id_ != owner.id:
        if line.related:
            kind = _short(note) or kind
            return (id_, owner.id, kind, since, until)
        return (*read_from(owner.id, id_, kind, names), kind, since, until)
    turned = _POSSESSIVE.match(piece) or _OF.match(piece) if line.related else None
    if turned is not None:
        id_ = names.find(turned["name"].strip())
        if id_ is not None and id_ != owner.id:
            return (owner.id, id_, turned["type"].strip(), since, until)
    return None


def read_from(owner: str, other: str, label: str, names: Names) -> tuple[str, str]:
    """Source and target of `label：other` in the profile of `owner`."""
    if not label.lower().endswith((" of", " to")) and names.entities[other].type == "character":
        return other, owner
    return owner, other


def _short(text: str) -> str:
    """The first clause of `text` as a relation type, "" when it is too long for one."""
    clause = TYPE_CLAUSE.split(text.strip(), maxsplit=1)[0].strip()
    return clause if len(clause) <= _MAX_TYPE else ""


_TITLE = re.compile(r"关系(?:表|网|图|谱)?$|\b(?:relations?|relationships?)(?: (?:map|chart|table))?$", re.IGNORECASE)
_COLUMN = re.compile(r"关系|關係|relation", re.IGNORECASE)
_LINK = re.compile(r"(?<!\s)\s*(?:<-+>|(?<!-)-+>|(?<!=)=+>|[↔⇄→⟷]|[—–]+|\s-\s|[～~与和跟&×/、]|\band\b)\s*")
_TYPED = re.compile(r"^(?P<ends>[^:：（(]+?)(?<!\s)\s*(?:[:：]\s*(?P<type>.+)|[（(](?P<note>[^）)]+)[)）])\s*$")
_SENTENCES = (
    re.compile(r"^(?>(?P<a>.+?)是)(?P<b>.+?)的(?P<type>[^的，,。]{1,12})。?$"),
    re.compile(r"^(?>(?P<a>.+?) is )(?P<b>.+?)['’]s (?P<type>[\w' -]{1,24}?)\.?$", re.IGNORECASE),
    re.compile(r"^(?P<a>.+?) is (?:the |an? )?(?P<type>[\w' -]{1,24}? of) (?P<b>.+?)\.?$", re.IGNORECASE),
)
_MAX_LINE = 200


def is_relational(title: str) -> bool:
    """Whether a heading announces relations between several entities: 人物关系, Relationships."""
    bare = strip_numbering(title).strip()
    return role_of(bare) == "relations" or _TITLE.search(bare) is not None


def stated_lines(section: ProfileSection) -> Iterator[DraftLine]:
    """Lines of a section and its sub-sections that may state a relation."""
    for item in section.fields:
        yield DraftLine("", join_parts((item.key, item.value), "："), item.line, related=True)
        for text in item.items:
            yield DraftLine(item.key, text, item.line, related=True)
    for text in [*section.bullets, *section.prose]:
        yield DraftLine("", text, section.line, related=True)
    for table in section.tables:
        at = next((i for i, cell in enumerate(table.header) if _COLUMN.search(cell)), None)
        if at is not None and len(table.header) >= 3:
            for offset, row in enumerate(table.rows):
                ends = [cell for column, cell in enumerate(row) if column != at][:2]
                if len(ends) == 2 and at < len(row):
                    stated = join_parts((f"{ends[0]}—{ends[1]}", row[at]), "：")
                    yield DraftLine("", stated, table.line + 2 + offset, related=True)
    for child in section.children:
        yield from stated_lines(child)


def pair_of(line: DraftLine, path: str, section: str, names: Names) -> Relation | None:
    """The relation that a line states, None unless both ends are known entities."""
    text = line.value.strip()
    if len(text) > _MAX_LINE:
        return None
    origin = Origin(path, section, line.line)
    typed = _TYPED.match(text)
    if typed is not None:
        kind = CLAUSE.split((typed["type"] or typed["note"]).strip(), maxsplit=1)[0].strip()
        ends = _find_ends(typed["ends"], names)
        if ends is not None and 0 < len(kind) <= _MAX_TYPE:
            return Relation(*ends, kind, origin=origin)
    for sentence in _SENTENCES:
        if (match := sentence.match(text)) is not None:
            source, target = names.find(match["a"].strip()), names.find(match["b"].strip())
            if source is not None and target is not None and source != target:
                return Relation(source, target, match["type"].strip(), origin=origin)
    return None


def _find_ends(text: str, names: Names) -> tuple[str, str] | None:
    for link in _LINK.finditer(text):
        source, target = names.find(text[: link.start()].strip()), names.find(text[link.end() :].strip())
        if source is not None and target is not None and source != target:
            return source, target
    return None


_LONGEST_TYPE = 24
_HAN = re.compile(f"[{HAN_EVERY}]")
_NEUTRAL = words_of("neutral")


def neutral_type(kind: str, *names: str) -> str:
    """The type of a relation without a label: `link` or `nested`, in the language of the names."""
    return _NEUTRAL[kind]["han" if any(_HAN.search(name) for name in names) else "latin"]


class NoteNames:
    """Resolves links: to the entity of a note (by path or name), of a section of it, else by entity name.

    Args:
        names: Finds entities by name and alias.
        entities: With the drafts that each was made of.
    """

    def __init__(self, names: Names, entities: Iterable[tuple[Entity, Sequence[Draft]]]) -> None:
        self._names = names
        self._notes: dict[str, list[tuple[str, str]]] = {}
        self._sections: dict[tuple[str, str], set[str]] = {}
        for entity, drafts in entities:
            for draft in drafts:
                stem = fold(PurePosixPath(draft.origin.path).stem)
                if draft.whole:
                    path = fold(str(PurePosixPath(draft.origin.path).with_suffix("")))
                    self._notes.setdefault(stem, []).append((path, entity.id))
                else:
                    self._sections.setdefault((stem, fold(draft.name)), set()).add(entity.id)

    def find(self, link: NoteLink, path: str) -> str | None:
        """The id that a link in the note at `path` means; None when unknown or ambiguous."""
        target = fold(link.target.removesuffix(".md").strip("/"))
        here = fold(PurePosixPath(path).stem)
        stem = target.rpartition("/")[2] or here
        owners = self._sections.get((stem, fold(link.section)), set()) if link.section else set()
        if len(owners) == 1:
            return next(iter(owners))
        if not target:
            return None
        notes = self._notes.get(stem, [])
        ids = {id_ for at, id_ in notes if f"/{at}".endswith(f"/{target}")}
        exact = {id_ for at, id_ in notes if at == target}
        for some in (exact, ids):
            if len(some) == 1:
                return next(iter(some))
        return None if ids else self._names.find(link.target)


def link_relations(
    entities: Iterable[tuple[Entity, Sequence[Draft]]], names: Names, stated: Iterable[Relation]
) -> list[Relation]:
    """The relations that links of notes state.

    Args:
        entities: With the drafts that each was made of.
        names: Finds entities by name and alias.
        stated: Relations from other sources.

    Cost: linear in the number of links.
    """
    entities = [(entity, drafts) for entity, drafts in entities if drafts]
    notes = NoteNames(names, entities)
    known_pairs = {frozenset((edge.source, edge.target)) for edge in stated}
    labelled: list[Relation] = []
    bare: list[Relation] = []
    for entity, drafts in entities:
        for draft in drafts:
            for link in draft.links:
                other = notes.find(link, draft.origin.path)
                if other is None or other == entity.id:
                    continue
                origin = Origin(draft.origin.path, draft.origin.section, link.line)
                if link.label and len(link.label) <= _LONGEST_TYPE:
                    source, target = read_from(entity.id, other, link.label, names)
                    labelled.append(Relation(source, target, link.label, origin=origin))
                else:
                    kind = neutral_type("link", entity.name, names.entities[other].name)
                    bare.append(Relation(entity.id, other, kind, origin=origin))
    known_pairs |= {frozenset((edge.source, edge.target)) for edge in labelled}
    for edge in bare:
        pair = frozenset((edge.source, edge.target))
        if pair not in known_pairs:
            known_pairs.add(pair)
            labelled.append(edge)
    return labelled


def name_link_targets(
    entities: Sequence[Entity], drafts: Sequence[Sequence[Draft]], names: Names
) -> tuple[Entity, ...]:
    """Entities with link display texts in attributes replaced by names: 敌人=赵四 for `## 敌人` over `- [[赵四|他]]`.

    A display text that is a name of the target stays, and so does one inside a sentence.

    Args:
        entities: The merged entities.
        drafts: The drafts of each entity, for notes.
        names: Finds entities by name and alias.

    Cost: linear in the number of links with a display text.
    """
    if not any(link.shown and link.label for parts in drafts for draft in parts for link in draft.links):
        return tuple(entities)
    notes = NoteNames(names, zip(entities, drafts, strict=True))
    return tuple(_by_name(entity, parts, names, notes) for entity, parts in zip(entities, drafts, strict=True))


def _by_name(entity: Entity, drafts: Sequence[Draft], names: Names, notes: NoteNames) -> Entity:
    attributes = dict(entity.attributes)
    for draft in drafts:
        for link in draft.links:
            text = draft.attributes.get(link.label)
            if not link.shown or text is None or text != entity.attributes.get(link.label):
                continue
            other = notes.find(link, draft.origin.path)
            if other is None:
                continue
            meant = names.entities[other]
            if fold(link.shown) not in {fold(name) for name in (meant.name, *meant.aliases)}:
                pattern = re.compile(rf"(?:^|(?<=[；、;,]))(\s*){re.escape(link.shown)}(?!\w)")
                name = meant.name.replace("\\", r"\\")
                attributes[link.label] = pattern.sub(rf"\g<1>{name}", attributes[link.label], count=1)
    return entity if attributes == entity.attributes else replace(entity, attributes=attributes)
