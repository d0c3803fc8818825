"""Whom an id, a name or an alias means, what may not be made twice, and which names several have."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from armarius.codex.model import Entity
from armarius.errors import CodexError, UnknownId
from armarius.text.unicode import fold
from armarius.validation import shown

__all__ = [
    "NameIndex",
    "SharedName",
    "places",
    "qualified",
    "refuse_taken",
    "several",
    "shared_names",
    "there_already",
]

_MOST = 3


def qualified(root: str, name: str) -> str:
    """An id or a path of the folder `root`."""
    return f"{root}/{name}" if root else name


class NameIndex:
    """Ids by id, name or alias; names are compared folded.

    Args:
        entities: All of them.
        also: What ids of other folders of a series have become.
        others: Ids of those whom other folders alone describe: a name means the project's own before them.
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
            root: The folder of a series that says so, whose ids are its own.
        """
        id_ = qualified(root, reference)
        if root and (id_ in self.entities or id_ in self._also):
            return id_ if id_ in self.entities else self._also[id_]
        ids = self._called(reference) if root else self.meant(reference)
        return next(iter(ids)) if len(ids) == 1 else None

    def meant(self, reference: str) -> tuple[str, ...]:
        """The ids that `reference` means: by id, else by name, else by alias; none for nobody."""
        if not isinstance(reference, str):
            return ()
        if reference in self.entities:
            return (reference,)
        ids = self._called(reference)
        return tuple(sorted((ids - self._others) or ids))

    def one(self, reference: str) -> Entity | None:
        """Whom `reference` means, by id, name or alias; None for nobody.

        Raises:
            UnknownId: Several bear that name; `near` holds their ids.
        """
        ids = self.meant(reference)
        if len(ids) > 1:
            raise several(reference, ids)
        return self.entities[ids[0]] if ids else None

    def bearers(self, called: str, id_: str) -> tuple[Entity, ...]:
        """Who but `id_` bears a name or an alias; nobody where `id_` does so too."""
        key = fold(called)
        ids = self._names.get(key, set()) | self._aliases.get(key, set())
        return () if id_ in ids else tuple(self.entities[one] for one in sorted(ids))

    def _called(self, reference: str) -> set[str]:
        key = fold(reference)
        return self._names.get(key) or self._aliases.get(key) or set()


@dataclass(frozen=True, slots=True)
class SharedName:
    """A name or an alias that several have: two of one person, or two people.

    Attributes:
        name: As the first of them is called.
        entities: Who is called so, compared folded.
    """

    name: str
    entities: tuple[Entity, ...]

    def __str__(self) -> str:
        return f"{shown(self.name)} is a name of {_told(self.entities)}"

    def to_wire(self) -> dict[str, Any]:
        """As plain JSON: the name, and of each its id, name and where it is described."""
        who = [{"id": one.id, "name": one.name, "from": places(one)} for one in self.entities]
        return {"name": self.name, "entities": who}


def shared_names(entities: Iterable[Entity], beside: Iterable[Entity] = ()) -> tuple[SharedName, ...]:
    """What one of `entities` is called and another of them too, or one of `beside`; in their order. Cost: linear."""
    called: dict[str, tuple[str, dict[str, Entity]]] = {}
    for entity in entities:
        for name in (entity.name, *entity.aliases):
            called.setdefault(fold(name), (name, {}))[1].setdefault(entity.id, entity)
    for entity in beside:
        for name in (entity.name, *entity.aliases):
            if (known := called.get(fold(name))) is not None:
                known[1].setdefault(entity.id, entity)
    return tuple(SharedName(name, tuple(who.values())) for name, who in called.values() if len(who) > 1)


def refuse_taken(who: NameIndex, id_: str, name: str, aliases: Iterable[str]) -> None:
    """Refuse what an entity is to be called where somebody else is called so, by name or alias; the one such check.

    Args:
        who: Everybody. What `id_` is called there already is left in peace.
        id_: Of the entity, new or one of them.
        name: To be its name.
        aliases: To be its aliases.

    Raises:
        CodexError: Names the ids of those others, and where they are described.
    """
    if others := who.bearers(name, id_):
        if id_ not in who.entities:
            raise there_already(name, others)
        raise CodexError(f"entity {shown(id_)}: name: {shown(name)} is a name of {_told(others)}")
    for number, alias in enumerate(aliases):
        if others := who.bearers(alias, id_):
            raise CodexError(f"entity {shown(id_)}: aliases[{number}]: {shown(alias)} is a name of {_told(others)}")


def there_already(called: str, entities: Sequence[Entity]) -> CodexError:
    """What is said where somebody is to be made who is there."""
    return CodexError(f"entity {shown(called)}: there is one already, {_told(entities)}; update it instead")


def places(entity: Entity) -> str:
    """Where an entity is described, file and line."""
    return ", ".join(f"{origin.path}:{origin.line}" if origin.line else origin.path for origin in entity.origins)


def _told(entities: Sequence[Entity]) -> str:
    said = [
        f"{shown(one.id)}{'' if one.name == one.id else f' ({shown(one.name)[1:-1]})'}, from {places(one)}"
        for one in entities[:_MOST]
    ]
    return " and ".join(said) + (f" and {len(entities) - _MOST} more" if len(entities) > _MOST else "")


def several(reference: str, ids: Sequence[str], where: str = "") -> UnknownId:
    """What is said of a name that several bear."""
    more = f" and {len(ids) - _MOST} more" if len(ids) > _MOST else ""
    which = f"{' or '.join(ids[:_MOST])}{more}"
    return UnknownId(f"{where}{shown(reference)} is a name of {len(ids)} entities; say which: {which}", tuple(ids))
