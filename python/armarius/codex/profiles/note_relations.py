"""The links of notes as relations between entities; which entity a link means.

Direction is that of `Relation`, as in relations.py: `师父：[[林渡]]` in the note of 白鹭 makes 林渡 the source,
`[[灯塔]]` under 住处 makes 白鹭 the source, for a place is nobody's. A link without a label is a relation of a neutral
type from the note to what it links to, and none where anything else is said of the two.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from armarius.codex.model import Entity, Origin, Relation
from armarius.codex.profiles.draft import Draft
from armarius.codex.profiles.links import NoteLink
from armarius.codex.profiles.relations import Names, read_from
from armarius.codex.profiles.words import words_of
from armarius.text.folding import fold
from armarius.text.scripts import HAN_EVERY

__all__ = ["NoteNames", "link_relations", "neutral_type", "shown_by_name"]

_LONGEST_TYPE = 24
_HAN = re.compile(f"[{HAN_EVERY}]")
_NEUTRAL = words_of("neutral")


def neutral_type(kind: str, *names: str) -> str:
    """The word for a relation whose kind the writer did not name: `link` or `nested`, in the language of the names."""
    return _NEUTRAL[kind]["han" if any(_HAN.search(name) for name in names) else "latin"]


class NoteNames:
    """Which entity a link means: the note of that path or name, a section of it, else whoever is called so.

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
        held = self._sections.get((stem, fold(link.section)), set()) if link.section else set()
        if len(held) == 1:
            return next(iter(held))
        if not target:
            return None
        known = self._notes.get(stem, [])
        ids = {id_ for at, id_ in known if f"/{at}".endswith(f"/{target}")}
        exact = {id_ for at, id_ in known if at == target}
        for some in (exact, ids):
            if len(some) == 1:
                return next(iter(some))
        return None if ids else self._names.find(link.target)


def link_relations(
    entities: Iterable[tuple[Entity, Sequence[Draft]]], names: Names, stated: Iterable[Relation]
) -> list[Relation]:
    """The relations that the links of notes say.

    Args:
        entities: With the drafts that each was made of.
        names: Finds entities by name and alias.
        stated: What is said otherwise.

    Cost: linear in the number of links.
    """
    entities = [(entity, drafts) for entity, drafts in entities if drafts]
    notes = NoteNames(names, entities)
    told = {frozenset((one.source, one.target)) for one in stated}
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
    told |= {frozenset((one.source, one.target)) for one in labelled}
    for one in bare:
        pair = frozenset((one.source, one.target))
        if pair not in told:
            told.add(pair)
            labelled.append(one)
    return labelled


def shown_by_name(entities: Sequence[Entity], drafts: Sequence[Sequence[Draft]], names: Names) -> tuple[Entity, ...]:
    """The entities with attributes that name whom a link means: `## 敌人` over `- [[赵四|他]]` says 敌人=赵四, not 他.

    A word that is a name of the other stays, and so does what stands inside a sentence.

    Args:
        entities: As they were united.
        drafts: Of each, those of notes.
        names: Finds entities by name and alias.

    Cost: linear in the number of links that show something else.
    """
    if not any(link.shown and link.label for parts in drafts for draft in parts for link in draft.links):
        return tuple(entities)
    notes = NoteNames(names, zip(entities, drafts, strict=True))
    return tuple(_by_name(entity, parts, names, notes) for entity, parts in zip(entities, drafts, strict=True))


def _by_name(entity: Entity, drafts: Sequence[Draft], names: Names, notes: NoteNames) -> Entity:
    attributes = dict(entity.attributes)
    for draft in drafts:
        for link in draft.links:
            said = draft.attributes.get(link.label)
            if not link.shown or said is None or said != entity.attributes.get(link.label):
                continue
            other = notes.find(link, draft.origin.path)
            if other is None:
                continue
            meant = names.entities[other]
            if fold(link.shown) not in {fold(name) for name in (meant.name, *meant.aliases)}:
                shown = re.compile(rf"(?:^|(?<=[；、]))(\s*){re.escape(link.shown)}(?!\w)")
                name = meant.name.replace("\\", r"\\")
                attributes[link.label] = shown.sub(rf"\g<1>{name}", attributes[link.label], count=1)
    return entity if attributes == entity.attributes else replace(entity, attributes=attributes)
