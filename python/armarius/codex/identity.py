"""Who is meant by an id, a name or an alias; and which names are borne by more than one."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from armarius.codex.model import Entity
from armarius.errors import UnknownId
from armarius.text.unicode import fold
from armarius.validation import shown

__all__ = ["NameIndex", "qualified", "several"]

_MOST = 3


def qualified(root: str, name: str) -> str:
    """An id or a path of the folder `root`."""
    return f"{root}/{name}" if root else name


class NameIndex:
    """Ids by id, name or alias; names are compared folded.

    Args:
        entities: All of them.
        also: What ids of other folders of a series have become.
        own: Ids of the project's own entities, which a name means before those of other folders; None is all.
    """

    def __init__(
        self, entities: Iterable[Entity], *, also: Mapping[str, str] | None = None, own: set[str] | None = None
    ) -> None:
        self.entities = {entity.id: entity for entity in entities}
        self._also = also or {}
        self._own = own or set()

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
        if id_ in self.entities:
            return id_
        if root and id_ in self._also:
            return self._also[id_]
        ids = self._called(reference)
        if len(ids) > 1 and not root:
            ids = ids & self._own
        return next(iter(ids)) if len(ids) == 1 else None

    def meant(self, reference: str) -> tuple[str, ...]:
        """The ids that `reference` means: by id, else by name, else by alias; none for nobody."""
        if not isinstance(reference, str):
            return ()
        return (reference,) if reference in self.entities else tuple(sorted(self._called(reference)))

    def one(self, reference: str) -> Entity | None:
        """Whom `reference` means, by id, name or alias; None for nobody.

        Raises:
            UnknownId: Several bear that name; `near` holds their ids.
        """
        ids = self.meant(reference)
        if len(ids) > 1:
            raise several(reference, ids)
        return self.entities[ids[0]] if ids else None

    def _called(self, reference: str) -> set[str]:
        key = fold(reference)
        return self._names.get(key) or self._aliases.get(key) or set()


def several(reference: str, ids: Sequence[str], where: str = "") -> UnknownId:
    """What is said of a name that several bear."""
    more = f" and {len(ids) - _MOST} more" if len(ids) > _MOST else ""
    which = f"{' or '.join(ids[:_MOST])}{more}"
    return UnknownId(f"{where}{shown(reference)} is a name of {len(ids)} entities; say which: {which}", tuple(ids))
