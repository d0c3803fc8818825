"""Relations that a profile states in passing: `- 母亲：王夫人`, `- 关系：林默（哥哥）`, `- Brother of: Lin Mo`.

Direction follows `Relation`: read from source to target. `X：Y` in the profile of A, where Y is a person, says
that Y is the X of A, so Y is the source (王夫人 -母亲-> 贾宝玉); where Y is a place or a thing, A is the source
(林默 -住处-> 钟表铺). A label that ends in "of", and `Y的X`, turn it round.
"""

import re
from typing import Protocol

from armarius.codex.model import Entity, Origin, Relation
from armarius.codex.profiles.draft import Draft, Line
from armarius.codex.profiles.labels import split_list
from armarius.codex.timeline import parse_span
from armarius.text.sentences import TYPE_CLAUSE

_NOTED = re.compile(r"^(?P<name>.+?)\s*[（(](?P<note>[^）)]{1,30})[)）]$")
_DASHED = re.compile(r"^(?P<name>.+?)(?:\s+[-–—]+\s+|[-–—]{2})(?P<note>.+)$")
_POSSESSIVE = re.compile(r"^(?P<name>.+?)的(?P<type>[^的]{1,12})$")
_OF = re.compile(r"^(?P<type>[\w' -]{1,30}? (?:of|to))\s+(?P<name>.+)$", re.IGNORECASE)
_MAX_TYPE = 24
_MAX_VALUE = 400


class Names(Protocol):
    """Finds entities by what a text calls them."""

    entities: dict[str, Entity]

    def find(self, reference: str) -> str | None:
        """The id that `reference` means, or None."""
        ...


def relations_of(owner: Entity, draft: Draft, names: Names) -> list[Relation]:
    """The relations that the labelled lines of one profile state, where the other end is a known entity."""
    found: list[Relation] = []
    for line in draft.lines:
        if len(line.value) <= _MAX_VALUE:
            found += _line(owner, line, Origin(draft.origin.path, draft.origin.section, line.line), names)
    return found


def _line(owner: Entity, line: Line, origin: Origin, names: Names) -> list[Relation]:
    other = names.find(line.label) if line.related and line.label else None
    if other is not None and other != owner.id:
        kind = _short(line.value)
        return [Relation(other, owner.id, kind, origin=origin)] if kind else []
    found: list[Relation] = []
    for piece in split_list(line.value):
        relation = _piece(owner, line, piece.strip(" 。."), names)
        if relation is not None:
            source, target, kind, since, until = relation
            found.append(Relation(source, target, kind, since, until, origin))
    return found


def _piece(owner: Entity, line: Line, piece: str, names: Names) -> tuple[str, str, str, int | None, int | None] | None:
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
