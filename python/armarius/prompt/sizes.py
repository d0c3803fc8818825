"""Token counts of candidates, layers and the prompt; facts of a passage that a card in the prompt already states."""

import logging
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from armarius.codex.cards import one_line
from armarius.codex.profiles.fields import role_of
from armarius.prompt.counter import CachedCounter
from armarius.prompt.cursor_markers import marked
from armarius.prompt.render import PromptItem, Rendered
from armarius.types import Candidate, LayerName, PassageRow

__all__ = ["Sizes", "cards_of", "core_of", "covering_card", "layer_tokens", "prompt_tokens", "sizes"]

# No encoding in use averages more code points per token over prose or code; beyond it the text is counted whole.
_CHARACTERS_PER_TOKEN = 8


@dataclass(frozen=True, slots=True)
class Sizes:
    """What some candidates cost, in their order, marks and separators included.

    Attributes:
        candidates: The candidates, in order.
        tokens: Of the whole, or of the piece of it that can matter.
        shorts: Of the short form, where that is shorter.
        cores: By index, of what no truncation may touch.
        pieces: By index, the piece of a long content that can matter, and where it starts in it.
    """

    candidates: Sequence[Candidate]
    tokens: list[int]
    shorts: list[int | None]
    cores: Mapping[int, int]
    pieces: Mapping[int, tuple[str, int]]

    def piece(self, index: int) -> tuple[str, int]:
        """The piece of a content that can matter, and where it starts."""
        return self.pieces.get(index) or (self.candidates[index].content, 0)

    def with_tokens(self, index: int, tokens: int) -> "Sizes":
        """As if that candidate had so many."""
        counts = self.tokens.copy()
        counts[index] = tokens
        return replace(self, tokens=counts)


def sizes(candidates: Sequence[Candidate], measured: CachedCounter, limit: int) -> Sizes:
    """The sizes of `candidates`, separators included.

    Args:
        candidates: In any order.
        measured: Remembers what it counted before.
        limit: Tokens of the prompt; of a longer content only what could fit is counted.

    Cost: a look-up for each that was counted before.
    """
    pieces = {
        index: piece
        for index, one in enumerate(candidates)
        if one.keep is not None and len((piece := _piece(one, limit))[0]) < len(one.content)
    }
    tokens = measured.sections(
        [
            one.content if not one.marks and index not in pieces else _said(one, *pieces.get(index, (one.content, 0)))
            for index, one in enumerate(candidates)
        ]
    )
    for index in [index for index in pieces if tokens[index] <= limit]:
        del pieces[index]
        tokens[index] = measured.section(_said(candidates[index], candidates[index].content, 0))
    shorts: list[int | None] = [None] * len(candidates)
    for index, one in enumerate(candidates):
        if one.short is not None and (short := measured.section(one.short)) < tokens[index]:
            shorts[index] = short
    cores = {
        index: min(measured.section(core_of(one)), tokens[index])
        for index, one in enumerate(candidates)
        if one.core is not None
    }
    return Sizes(candidates, tokens, shorts, cores, pieces)


def core_of(candidate: Candidate) -> str:
    """What of a candidate no truncation may touch, with its marks."""
    start, end = candidate.core or (0, 0)
    return marked(candidate.content, candidate.marks, start, end)


def _said(candidate: Candidate, text: str, base: int) -> str:
    return marked(candidate.content, candidate.marks, base, base + len(text)) if candidate.marks else text


def _piece(candidate: Candidate, limit: int) -> tuple[str, int]:
    """The part of a long content that can matter at all, and where it starts."""
    content = candidate.content
    if candidate.keep is None or len(content) <= (reach := limit * _CHARACTERS_PER_TOKEN + 64):
        return content, 0
    if candidate.keep == "head":
        return content[:reach], 0
    if candidate.keep == "tail":
        return content[-reach:], len(content) - reach
    first, last = candidate.core or (candidate.anchor, candidate.anchor)
    start = max(0, min(first, candidate.anchor) - reach)
    return content[start : max(last, candidate.anchor) + reach], start


logger = logging.getLogger("armarius")


def layer_tokens(rendered: Rendered, measured: CachedCounter) -> dict[LayerName, int]:
    """The tokens of each layer on its own.

    Cost: a look-up per piece; for counters that do not add up, a count of the prompt.
    """
    return {layer: measured.of_pieces(pieces) for layer, pieces in rendered.pieces().items()}


def prompt_tokens(rendered: Rendered, measured: CachedCounter) -> tuple[int, Mapping[LayerName, int] | None]:
    """The tokens of the prompt as it is sent, and of its layers where they add up to that.

    A layer begins with its tag, which no counter that adds up joins with what stands before it. In Python's development
    mode the prompt is counted as a whole, too; if the two differed, that would be logged and the whole would count.

    Cost: as `layer_tokens`.
    """
    if not measured.adds_up:
        return measured.count_uncached(rendered.prompt), None
    layers = layer_tokens(rendered, measured)
    total = sum(layers.values())
    if sys.flags.dev_mode and (whole := measured.count_uncached(rendered.prompt)) != total:
        logger.error("%s: pieces count %d, the prompt %d", measured.counter.name, total, whole)
        return whole, None
    return total, layers


_FIELD: Final = re.compile(r"\s*[-*+•]\s+(?P<label>[^：:\n]{1,40})[：:]\s*(?P<value>\S.*)")
_NAMES: Final = re.compile(r"[、，,;；/／|｜]")


def cards_of(placed: Iterable[PromptItem]) -> list[PromptItem]:
    """The cards that are in whole."""
    return [item for item in placed if item.form == "full" and item.candidate.id.startswith("entity:")]


def covering_card(row: PassageRow, cards: Iterable[PromptItem]) -> PromptItem | None:
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
