"""`Book`: the entries of one file, with the file itself beside them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from armarius.errors import UnknownId
from armarius.lorebooks.entities import NOBODY, Said, said_by
from armarius.lorebooks.export import Exported, exported
from armarius.lorebooks.formats.containers import Container, Found
from armarius.lorebooks.formats.format import ProfileName
from armarius.lorebooks.losses import Loss
from armarius.lorebooks.record import LEAVES, Entry, value_of
from armarius.text.unicode import near, suggestion
from armarius.validation import shown

__all__ = ["Book"]


@dataclass(frozen=True, slots=True)
class Book:
    """A lorebook. Immutable: a changed one is another book.

    Attributes:
        id: Unique among the books of a project.
        name: As the file says; its own name when it says none.
        format: What the file is, as `sillytavern-world-info`.
        profile: Whose rules decide what is active; `armarius` for Armarius' own.
        entries: In the order of the file.
        settings: What the book says for all its entries: `range`, `budget`, `recursion`, `case`, `character`, ….
        losses: What has no effect here, what was repaired, what disagrees.
        file: The name it was imported under.
        rules: Whether the user lets its constant entries be rules of every prompt.
        switched_off: The user keeps it and does not want it in prompts.
    """

    id: str
    name: str
    format: str
    profile: ProfileName
    entries: tuple[Entry, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    losses: tuple[Loss, ...] = ()
    file: str = ""
    description: str = ""
    rules: bool = False
    switched_off: bool = False
    container: Container | None = field(default=None, repr=False, compare=False)
    found: Found | None = field(default=None, repr=False, compare=False)
    read: tuple[Entry, ...] = field(default=(), repr=False, compare=False)

    def entry(self, id_: str, /) -> Entry:
        """The entry of that id, or of that name where only one has it.

        Raises:
            UnknownId: There is none; names near ones.
        """
        found = next((one for one in self.entries if one.id == id_), None)
        if found is None:
            named = [one for one in self.entries if one.name == id_]
            if len(named) == 1:
                return named[0]
            close = near(id_, [called for one in self.entries for called in (one.id, one.name) if called])
            raise UnknownId(f"{self.id}: no entry {shown(id_)}{suggestion(close)}", close)
        return found

    def with_entry(self, entry: Entry, /) -> "Book":
        """The book with this entry in the place of the one of its id, or behind all others."""
        entry = replace(entry, book=self.id)
        if any(one.id == entry.id for one in self.entries):
            return replace(self, entries=tuple(entry if one.id == entry.id else one for one in self.entries))
        return replace(self, entries=(*self.entries, entry))

    def without(self, id_: str, /) -> "Book":
        """The book without an entry.

        Raises:
            UnknownId: There is none.
        """
        gone = self.entry(id_)
        return replace(self, entries=tuple(one for one in self.entries if one is not gone))

    def said(self) -> Said:
        """The entities and relations that the file says by itself: notes of a vault, a Novelcrafter export; else none.

        Cost: linear in the text of its notes.
        """
        if self.container is None or self.found is None:
            return NOBODY
        tree = self.container.trees if self.container.kind == "novelcrafter" else self.container.trees[self.found.label]
        return said_by(self.format, tree, self.entries)

    @property
    def changed(self) -> bool:
        """Whether anything differs from what was read."""
        return self.entries != self.read

    def changes(self) -> dict[str, dict[str, Any]]:
        """Entry id to changed fields (dotted) with their new values; all fields of a new entry, {} of a deleted one."""
        before = {one.id: one for one in self.read}
        found: dict[str, dict[str, Any]] = {}
        for entry in self.entries:
            old = before.pop(entry.id, None)
            if old is entry:
                continue
            base = Entry(entry.id) if old is None else old
            said = {leaf: value_of(entry, leaf) for leaf in LEAVES if value_of(entry, leaf) != value_of(base, leaf)}
            if said or old is None:
                found[entry.id] = said
        return found | {key: {} for key in before}

    def export(self, to: str | None = None) -> bytes:
        """The book as a file.

        Args:
            to: `sillytavern`, `card-v2`, `card-v3`, `novelai`, `risu`, `agnai`, `kobold`, `ai-dungeon`,
                `character-book` or `lorebook-v3`; None is what it came in. An unchanged book of that very format is
                given back byte for byte; after an edit only what was edited is written into it.

        Raises:
            BookError: No such format, or one that cannot hold it.

        Cost: none for an unchanged book; else a copy of its tree.
        """
        return self.exported(to).data

    def exported(self, to: str | None = None) -> Exported:
        """As `export`, with a row for every field that the format cannot say."""
        return exported(self, to)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)
