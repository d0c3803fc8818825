"""What a format is: how it is told, read, changed in one field, and made new."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

from armarius.errors import ContractError
from armarius.lorebooks.formats.reading import Path, Reader
from armarius.lorebooks.record import Entry
from armarius.validation import shown

__all__ = ["Format", "Origin", "ProfileName", "at", "checked_profile"]

ProfileName = Literal[
    "armarius", "sillytavern", "character-card-spec", "novelai", "risu", "agnai", "kobold-lite", "koboldai",
    "ai-dungeon", "novelcrafter", "obsidian",
]  # fmt: skip


def checked_profile(value: object) -> ProfileName:
    """`value` as whose rules decide over a book.

    Raises:
        ContractError: It is none of them.
    """
    for one in get_args(ProfileName):
        if isinstance(value, str) and value == one:
            return one  # type: ignore[no-any-return]
    raise ContractError(f"profile: expected one of {', '.join(get_args(ProfileName))}, got {shown(value)}")


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


class Origin(NamedTuple):
    """What a book made new says beside its entries.

    Attributes:
        settings: Of the book, as `Book.settings`.
        card: The members of the card that it came with; empty when it came with none.
        card_at: Where in the file they stand.
        book: The raw book, where it is one of a card's kind; else empty.
        book_at: Where in the file it stands.
    """

    settings: Mapping[str, Any]
    card: Mapping[str, Any] = MappingProxyType({})
    card_at: Path = ()
    book: Mapping[str, Any] = MappingProxyType({})
    book_at: Path = ()


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
        carry: Copies what has no field here from an entry of a kindred format, and gives the names of what it copied.
        raw: The raw object at the path of an entry.
        members: Where the card stands in the tree whose prompts and facts another card can say; None for no card.
        fill: Writes what is no entry into a new tree, and gives the paths of the source that it said.
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
    members: Path | None = None
    fill: Callable[[Any, "Origin"], frozenset[str]] | None = None
    carry: Callable[[dict[str, Any], Mapping[str, Any]], tuple[str, ...]] | None = None
