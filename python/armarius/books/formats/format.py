"""What a format is: how it is told, read, changed in one field, and made new."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from armarius.books.formats.reading import Path, Reader
from armarius.books.record import Entry

__all__ = ["Format", "ProfileName", "at"]

ProfileName = Literal[
    "armarius", "sillytavern", "character-card-spec", "novelai", "risu", "agnai", "kobold-lite", "koboldai",
    "ai-dungeon", "novelcrafter", "obsidian",
]  # fmt: skip


def at(tree: Any, path: Path) -> Any:  # noqa: ANN401
    """What stands at a path of a tree; None where the way is broken."""
    for part in path:
        if isinstance(tree, Mapping):
            tree = tree.get(part)
        elif isinstance(tree, list) and isinstance(part, int) and -1 < part < len(tree):
            tree = tree[part]
        else:
            return None
    return tree


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Attributes:
        name: As `detect` says it.
        short: As an export asks for it; "" for a format that is not made new.
        claims: Whether a tree is of this format.
        book: Where in the tree its book stands; None when it has none.
        profile: Whose rules a book of it follows.
        read: Reads a tree into a `Reader`.
        write: Puts one field of an entry into its raw object; False when the format cannot say it.
        begin: A new tree without entries, of a book of this name.
        add: Adds a raw object with the defaults of the format for an entry, and gives its path.
        raw: The raw object at the path of an entry.
        put: Puts a changed raw object back, where it is not a part of the tree.
    """

    name: str
    claims: Callable[[Any], bool]
    book: Callable[[Any], Path | None]
    profile: Callable[[Any], ProfileName]
    read: Callable[[Any, Reader], None]
    write: Callable[[dict[str, Any], str, Entry], bool]
    short: str = ""
    begin: Callable[[str, str], Any] | None = None
    add: Callable[[Any, Entry], Path] | None = None
    raw: Callable[[Any, Path], Any] = at
    put: Callable[[Any, Path, Any], None] | None = None
