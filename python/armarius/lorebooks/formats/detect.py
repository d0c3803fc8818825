"""Which format a file is of: by what is in it, never by its name. The first that claims it has it."""

from typing import Any, NamedTuple

from armarius.errors import BookError
from armarius.lorebooks.formats import (
    agnai,
    ai_dungeon,
    cards,
    kobold,
    novelai,
    novelcrafter,
    obsidian,
    risu,
    sillytavern,
)
from armarius.lorebooks.formats.containers import Container
from armarius.lorebooks.formats.format import Format
from armarius.lorebooks.losses import Loss

__all__ = ["FORMATS", "Found", "by_name", "by_short", "found_in"]

FORMATS: tuple[Format, ...] = (
    obsidian.FORMAT,
    novelai.LOREBOOK,
    novelai.SCENARIO,
    novelai.STORY,
    risu.LOREBOOK,
    risu.MODULE,
    agnai.FORMAT,
    cards.CARD_V2,
    cards.CARD_V3,
    cards.LOREBOOK_V3,
    kobold.STORY_V2,
    kobold.LITE_SAVE,
    kobold.STORY,
    sillytavern.TAVERN_HELPER,
    cards.CHARACTER_BOOK,
    sillytavern.FORMAT,
    cards.CARD_V1,
    ai_dungeon.FORMAT,
    kobold.LITE,
    novelcrafter.FORMAT,
)


class Found(NamedTuple):
    """The book of a container.

    Attributes:
        format: Of the tree that holds it.
        label: The tree's name in the container; "" for all of them together.
        name: What the file is, as `detect` says it: `charx` for an archive with a card.
        losses: Between the trees.
    """

    format: Format
    label: str
    name: str
    losses: tuple[Loss, ...] = ()


def by_name(name: str) -> Format:
    """The format of a name."""
    return next(one for one in FORMATS if one.name == name)


def by_short(short: str) -> Format | None:
    """The format that an export asks for."""
    return next((one for one in FORMATS if short and short in (one.short, one.name) and one.begin), None)


def card_format(tree: Any) -> Format | None:  # noqa: ANN401
    """The format of a tree that is a character card; None where it is none."""
    format_ = _claimed(tree)
    return format_ if format_ is not None and format_.members is not None else None


def _claimed(tree: Any) -> Format | None:  # noqa: ANN401
    return next((one for one in FORMATS if one.claims(tree)), None)


def found_in(container: Container, name: str) -> Found:
    """The format of a container, and which of its trees holds the book.

    Raises:
        BookError: Nothing that is known claims it.
    """
    trees = container.trees
    if container.kind == "novelcrafter":
        return Found(novelcrafter.FORMAT, "", novelcrafter.FORMAT.name)
    if container.kind == "charx":
        card = _claimed(trees["card.json"])
        if card is None:
            raise BookError(f"{name}: card.json is no card that is known")
        module = trees.get("module.risum")
        if module is not None and (format_ := _claimed(module)) is not None:
            lost = Loss("data.character_book", None, "module.risum holds the book that counts; kept, not read")
            return Found(format_, "module.risum", "charx", (lost,))
        return Found(card, "card.json", "charx")
    label = next((one for one in ("", "ccv3", "chara", "naidata") if one in trees), "")
    format_ = _claimed(trees[label])
    if format_ is None:
        raise BookError(f"{name}: {_what(trees[label])}: no format that is known")
    return Found(format_, label, format_.name)


def _what(tree: Any) -> str:  # noqa: ANN401
    if isinstance(tree, dict):
        return f"an object with {', '.join(list(tree)[:5]) or 'nothing in it'}"
    return f"a list of {len(tree)}" if isinstance(tree, list) else f"JSON of {type(tree).__name__}"
