"""What a card says beside its entries, from one card to another: prompts, greetings, facts, extensions.

Source: Character Card Specification V2 and V3; both tell programs to keep members that they do not know.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from armarius.lorebooks.formats.format import Origin
from armarius.lorebooks.formats.reading import Path
from armarius.lorebooks.losses import dotted

__all__ = ["book_facts", "carrier", "filler"]

_SINCE_V3 = frozenset(
    {
        "assets", "nickname", "creator_notes_multilingual", "source", "group_only_greetings", "creation_date",
        "modification_date",
    }
)  # fmt: skip
_NOT_COPIED = frozenset({"character_book", "extensions", "spec", "spec_version", "data"})
_BOOK = frozenset({"name", "description", "scan_depth", "token_budget", "recursive_scanning", "entries", "extensions"})


def filler(spec: str) -> Callable[[Any, Origin], frozenset[str]]:
    """The `Format.fill` of a card: the members of the card that the book came with, and what the book says itself."""

    def fill(tree: Any, origin: Origin) -> frozenset[str]:  # noqa: ANN401
        data = tree["data"]
        said = set(book_facts(data["character_book"], origin))
        for name, value in origin.card.items():
            if name not in _NOT_COPIED and (spec == "chara_card_v3" or name not in _SINCE_V3):
                data[name] = copy.deepcopy(value)
                said.add(dotted((*origin.card_at, name)))
        said.update(_extensions(data, origin.card, origin.card_at))
        return frozenset(said)

    return fill


def book_facts(book: dict[str, Any], origin: Origin) -> frozenset[str]:
    """Write what a book says for all its entries into a character book; the paths of the source that it says."""
    settings = origin.settings
    depth, budget, recursion = settings.get("range"), settings.get("budget"), settings.get("recursion")
    said = {"book.budget"} if budget is not None else set()
    if depth is not None and depth.unit == "messages":
        book["scan_depth"] = depth.count
    if budget is not None:
        book["token_budget"] = budget
    if recursion is not None:
        book["recursive_scanning"] = recursion
    if settings.get("full_words") is not None:
        book["extensions"]["risu_fullWordMatching"] = settings["full_words"]
    for name in origin.book.keys() - _BOOK:
        book[name] = copy.deepcopy(origin.book[name])
        said.add(dotted((*origin.book_at, name)))
    said.update(_extensions(book, origin.book, origin.book_at))
    return frozenset(said)


def _extensions(target: dict[str, Any], source: Mapping[str, Any], at: Path) -> Iterator[str]:
    """Copy the extensions of a card or a book; the path of each."""
    extensions = source.get("extensions")
    for name, value in extensions.items() if isinstance(extensions, Mapping) else ():
        target["extensions"][name] = copy.deepcopy(value)
        yield dotted((*at, "extensions", name))


def carrier(
    known: frozenset[str], extensions: frozenset[str]
) -> Callable[[dict[str, Any], Mapping[str, Any]], tuple[str, ...]]:
    """The `Format.carry` of a character book; `known` members and `extensions` of an entry have a field here."""

    def carry(raw: dict[str, Any], original: Mapping[str, Any]) -> tuple[str, ...]:
        carried = [name for name in original if name not in known]
        for name in carried:
            raw[name] = copy.deepcopy(original[name])
        held = original.get("extensions")
        for name, value in held.items() if isinstance(held, Mapping) else ():
            if name not in extensions:
                raw.setdefault("extensions", {})[name] = copy.deepcopy(value)
                carried.append(f"extensions.{name}")
        return tuple(carried)

    return carry
