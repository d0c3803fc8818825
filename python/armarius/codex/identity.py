"""Ids by id, name or alias; refusal of names that are taken; names that several entities share."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from armarius.codex.model import Entity
from armarius.errors import NameTaken, UnknownId
from armarius.text.unicode import fold
from armarius.validation import shown

_MOST = 3


def qualified(root: str, name: str) -> str:
    """An id or a path, prefixed by the folder `root` of a series."""
    return f"{root}/{name}" if root else name


class NameIndex:
    """Ids of entities by id, name or alias; names are compared folded.

    Args:
        entities: All of them.
        also: Ids that were changed in merging folders of a series, old to new.
        others: Ids of entities that only other folders describe: the project's own entities with that name come first.
    """

    def __init__(
        self, entities: Iterable[Entity], *, also: Mapping[str, str] | None = None, others: Collection[str] = ()
    ) -> None:
        self.entities = {entity.id: entity for entity in entities}
        self._also = also or {}
        self._others = frozenset(others)

    @cached_property
    def _names(self) -> dict[str, set[str]]:
        names: dict[str, set[str]] = {}
        for entity in self.entities.values():
            names.setdefault(fold(entity.name), set()).add(entity.id)
        return names

    @cached_property
    def _aliases(self) -> dict[str, set[str]]:
        aliases: dict[str, set[str]] = {}
        for entity in self.entities.values():
            for alias in entity.aliases:
                aliases.setdefault(fold(alias), set()).add(entity.id)
        return aliases

    def find(self, reference: str, root: str = "") -> str | None:
        """The id that `reference` means, by id, then name, then alias; None when unknown or ambiguous.

        Args:
            reference: An id, a name or an alias.
            root: The folder of a series that contains the reference; its ids are tried first.
        """
        id_ = qualified(root, reference)
        if root and (id_ in self.entities or id_ in self._also):
            return id_ if id_ in self.entities else self._also[id_]
        ids = self._called(reference) if root else self.meant(reference)
        return next(iter(ids)) if len(ids) == 1 else None

    def meant(self, reference: str) -> tuple[str, ...]:
        """The ids that `reference` means: by id, else by name, else by alias; empty when unknown."""
        if not isinstance(reference, str):
            return ()
        if reference in self.entities:
            return (reference,)
        ids = self._called(reference)
        return tuple(sorted((ids - self._others) or ids))

    def one(self, reference: str) -> Entity | None:
        """The entity that `reference` means, by id, name or alias; None when unknown.

        Raises:
            UnknownId: Several entities have that name; `near` holds their ids.
        """
        ids = self.meant(reference)
        if len(ids) > 1:
            raise several(reference, ids)
        return self.entities[ids[0]] if ids else None

    def bearers(self, called: str, id_: str) -> tuple[Entity, ...]:
        """The entities other than `id_` with a name or an alias; none when `id_` has it too."""
        key = fold(called)
        ids = self._names.get(key, set()) | self._aliases.get(key, set())
        return () if id_ in ids else tuple(self.entities[one] for one in sorted(ids))

    def _called(self, reference: str) -> set[str]:
        key = fold(reference)
        return self._names.get(key) or self._aliases.get(key) or set()


@dataclass(frozen=True, slots=True)
class SharedName:
    """A name or an alias that several entities have.

    Attributes:
        name: As the first of them writes it.
        entities: The entities with that name, compared folded.
    """

    name: str
    entities: tuple[Entity, ...]

    def __str__(self) -> str:
        return f"{shown(self.name)} is a name of {_told(self.entities)}"

    def to_wire(self) -> dict[str, Any]:
        """As plain JSON: the name, and the id, name and origin of each entity."""
        who = [{"id": one.id, "name": one.name, "from": places(one)} for one in self.entities]
        return {"name": self.name, "entities": who}


def shared_names(entities: Iterable[Entity], existing: Iterable[Entity] = ()) -> tuple[SharedName, ...]:
    """Names that one of `entities` shares with another or with one of `existing`; in their order. Cost: linear."""
    called: dict[str, tuple[str, dict[str, Entity]]] = {}
    for entity in entities:
        for name in (entity.name, *entity.aliases):
            called.setdefault(fold(name), (name, {}))[1].setdefault(entity.id, entity)
    for entity in existing:
        for name in (entity.name, *entity.aliases):
            if (known := called.get(fold(name))) is not None:
                known[1].setdefault(entity.id, entity)
    return tuple(SharedName(name, tuple(who.values())) for name, who in called.values() if len(who) > 1)


def refuse_taken(who: NameIndex, id_: str, name: str, aliases: Iterable[str]) -> None:
    """Refuse a name or an alias that another entity has; the only such check.

    Args:
        who: Index of all entities. Names that `id_` already has are not checked.
        id_: Of the entity, new or one of them.
        name: Its new name.
        aliases: Its new aliases.

    Raises:
        NameTaken: Lists the ids of the other entities, and where they are described.
    """
    if others := who.bearers(name, id_):
        if id_ not in who.entities:
            raise already_exists(name, others)
        raise NameTaken(f"entity {shown(id_)}: name: {shown(name)} is a name of {_told(others)}")
    for number, alias in enumerate(aliases):
        if others := who.bearers(alias, id_):
            raise NameTaken(f"entity {shown(id_)}: aliases[{number}]: {shown(alias)} is a name of {_told(others)}")


def already_exists(called: str, entities: Sequence[Entity]) -> NameTaken:
    """The error for creating an entity that exists."""
    return NameTaken(f"entity {shown(called)}: there is one already, {_told(entities)}; update it instead")


def places(entity: Entity) -> str:
    """Where an entity is described, file and line."""
    return ", ".join(map(str, entity.origins))


def _told(entities: Sequence[Entity]) -> str:
    said = [
        f"{shown(one.id)}{'' if one.name == one.id else f' ({shown(one.name)[1:-1]})'}, from {places(one)}"
        for one in entities[:_MOST]
    ]
    return " and ".join(said) + (f" and {len(entities) - _MOST} more" if len(entities) > _MOST else "")


def several(reference: str, ids: Sequence[str], where: str = "") -> UnknownId:
    """The error for a name that several entities have."""
    more = f" and {len(ids) - _MOST} more" if len(ids) > _MOST else ""
    which = f"{' or '.join(ids[:_MOST])}{more}"
    return UnknownId(f"{where}{shown(reference)} is a name of {len(ids)} entities; say which: {which}", tuple(ids))
