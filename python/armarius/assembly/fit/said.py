"""Paragraphs of a profile whose card is in the prompt whole, and which say no more than it."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from armarius.assembly.render import Placed
from armarius.codex.cards import one_line
from armarius.codex.profiles.labels import role_of
from armarius.records import Row

__all__ = ["cards_of", "said_by_card"]

_FIELD: Final = re.compile(r"\s*[-*+•]\s+(?P<label>[^：:\n]{1,40})[：:]\s*(?P<value>\S.*)")
_NAMES: Final = re.compile(r"[、，,;；/／|｜]")


def cards_of(placed: Iterable[Placed]) -> list[Placed]:
    """The cards that are in whole."""
    return [item for item in placed if item.form == "full" and item.candidate.id.startswith("entity:")]


def said_by_card(row: Row, cards: Iterable[Placed]) -> Placed | None:
    """The card that says all of a paragraph; None where one of its lines is not on it, or is no labelled line.

    The paragraph stands in a document that the card draws on, under the name of the card. A line is on the card when
    the card has its value whole: as a line, as an attribute of that label, or all of it among the names. The type of
    the thing is on every card.

    Cost: none for what does not stand under the name of a card.
    """
    for card in cards:
        if row.path not in card.candidate.documents:
            continue
        name, said, pairs, names = _read(card.text)
        if row.title == name:
            found = [_FIELD.fullmatch(line) for line in row.text.splitlines() if line.strip()]
            if found and all(one is not None and _is_said(one, said, pairs, names) for one in found):
                return card
    return None


def _is_said(field: re.Match[str], said: frozenset[str], pairs: str, names: frozenset[str]) -> bool:
    label, value = one_line(field["label"]), one_line(field["value"])
    role = role_of(label)
    if role == "type":
        return True
    if role == "aliases":
        return names.issuperset(one.strip() for one in _NAMES.split(value) if one.strip())
    return value in said or f", {label}={value}, " in f", {pairs}, "


@lru_cache(maxsize=256)
def _read(card: str) -> tuple[str, frozenset[str], str, frozenset[str]]:
    """Name, values of the lines, and of those which lines hold attributes and names each may."""
    first, *lines = card.splitlines()
    name = one_line(re.split(r"[：:]", first, maxsplit=1)[-1])
    values = [one_line(re.split(r"[：:]", line, maxsplit=1)[-1]) for line in lines]
    names = {one.strip() for value in values for one in _NAMES.split(value)}
    return name, frozenset(values), ", ".join(value for value in values if "=" in value), frozenset(names)
