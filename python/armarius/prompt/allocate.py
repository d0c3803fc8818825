"""What each candidate costs, counted once; and the allocation of the core: one decision per candidate."""

import logging
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple

from armarius._core import BudgetItems, allocate
from armarius.codex.cards import one_line
from armarius.codex.profiles.fields import role_of
from armarius.documents.data import values_in
from armarius.errors import BudgetError
from armarius.prompt.counter import CachedCounter
from armarius.prompt.escape import marked, trimmed
from armarius.prompt.prefix import cut, window
from armarius.prompt.profile import MOST_TOKENS, BudgetProfile
from armarius.prompt.render import CLOSING, OPENING, SEPARATOR, PromptItem, Rendered, heading_piece
from armarius.requests import AssembleRequest
from armarius.types import LAYER_INDEX, LAYERS, Candidate, LayerName, PassageRow
from armarius.validation import shown

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
    the thing is on every card. An entry of data is on the card when all its values are.

    Cost: none for what does not stand under the name of a card.
    """
    for card in cards:
        if row.path not in card.candidate.documents:
            continue
        name, said, pairs, names = _read(card.text)
        if row.title == name:
            if (values := values_in(row.path, row.text)) and all(one_line(value) in card.text for value in values):
                return card
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


# What `_core.allocate` answers for an item; from 0 on it is the tokens the item may be cut to.
OMITTED, SHORT, FULL = -1, -2, -3
_WINDOWS = 8  # that are remembered: while its author asks one thing after another, a document stands where it stood


@dataclass(frozen=True, slots=True)
class Previous:
    """What of the previous prompt decides about the next one.

    Attributes:
        prompt: Its text.
        retrieved: The items of its retrieved layer, in their order.
        rows: The paragraphs that filled its room, in their order; not among `retrieved`.
        demand: Its text before they did.
        ends: Where each of `retrieved` ends in `demand`, code points.
        windows: By item: where its piece started in its content, and how that piece began.
    """

    prompt: str = ""
    retrieved: tuple[PromptItem, ...] = ()
    rows: tuple[PromptItem, ...] = ()
    demand: str = ""
    ends: tuple[int, ...] = ()
    windows: Mapping[str, tuple[int, str]] = field(default_factory=dict)


def place(
    candidates: Sequence[Candidate],
    sizes: Sizes,
    decisions: Sequence[int],
    measured: CachedCounter,
    windows: Mapping[str, tuple[int, str]],
) -> tuple[list[PromptItem], bool]:
    """The items that `decisions` let in, and whether a window starts elsewhere than in the previous prompt."""
    placed, moved = [], False
    for index, decision in enumerate(decisions):
        if decision == OMITTED:
            continue
        candidate = candidates[index]
        if decision == FULL:
            placed.append(PromptItem(candidate, marked(candidate.content, candidate.marks)))
        elif decision == SHORT and candidate.short is not None:
            placed.append(PromptItem(candidate, candidate.short, "short"))
        elif decision >= 0:
            before = _started(candidate, windows)
            start, end = _cut(candidate, sizes.piece(index), decision, before, measured)
            if start < end:
                text = marked(candidate.content, candidate.marks, start, end)
                placed.append(PromptItem(candidate, text, "truncated", (start, end)))
                moved |= before is not None and before != start
    return placed, moved


def _started(candidate: Candidate, windows: Mapping[str, tuple[int, str]]) -> int | None:
    """Where the previous window of this candidate starts in its present content."""
    if candidate.id not in windows:
        return None
    start, head = windows[candidate.id]
    if candidate.content.startswith(head, start):
        return start
    found = candidate.content.find(head)
    return found if found >= 0 else None


def _cut(
    candidate: Candidate, piece: tuple[str, int], tokens: int, before: int | None, measured: CachedCounter
) -> tuple[int, int]:
    """Which code points of a content fit into `tokens`; (0, 0) for none. A core is always among them.

    `piece` is what of the content can matter, and where it starts there.
    """
    text, base = piece
    marks = tuple((offset - base, mark) for offset, mark in candidate.marks)
    allowed = tokens - measured.count(SEPARATOR) - sum(measured.counts([mark for _, mark in marks]))
    for _ in range(4):
        if candidate.keep == "around":
            start, end = _around(candidate, piece, allowed, None if before is None else before - base, measured)
        else:
            start, end = cut(text, allowed, keep=candidate.keep or "head", counter=measured.counter)
        start, end = trimmed(text, marks, start, end)
        if start >= end:
            break
        over = measured.section(marked(text, marks, start, end)) - tokens
        if over <= 0:
            return start + base, end + base
        allowed -= over
    return (0, 0) if candidate.core is None else candidate.core


def _around(
    candidate: Candidate, piece: tuple[str, int], allowed: int, before: int | None, measured: CachedCounter
) -> tuple[int, int]:
    """The window around the cursor, or around the core: it counts as one place, and what is around it is cut."""
    text, base = piece
    if candidate.core is None:
        key = text, candidate.anchor - base, allowed, before
        known = measured.windows.get(key)
        if known is None:
            if len(measured.windows) >= _WINDOWS:
                measured.windows.clear()
            known = measured.windows[key] = window(text, key[1], allowed, measured, before)
        return known
    first, last = (end - base for end in candidate.core)
    rest = text[:first] + text[last:]
    room = allowed - measured.count(text[first:last])
    start, end = window(rest, first, room, measured, before if before is None or before <= first else None)
    return min(start, first), max(end, first) + last - first


def available_tokens(request: AssembleRequest, profile: BudgetProfile) -> int:
    """The budget less the reserve.

    Raises:
        BudgetError: Nothing is left, one of the two is negative, or the budget is beyond 2**30.
    """
    budget = profile.budget if request.budget is None else request.budget
    if budget > MOST_TOKENS:
        raise BudgetError(f"budget must be <= {MOST_TOKENS} tokens, got {shown(budget)}")
    if budget <= 0:
        raise BudgetError(f"budget must be > 0 tokens, got {shown(budget)}")
    if request.reserve_output < 0:
        raise BudgetError(f"reserve_output must be >= 0 tokens, got {request.reserve_output}")
    if request.reserve_output >= budget:
        raise BudgetError(f"reserve_output {request.reserve_output} leaves nothing of the budget {budget}")
    return budget - request.reserve_output


class Allocation(NamedTuple):
    """One decision for each candidate (OMITTED, SHORT, FULL, or the tokens it is cut to); tokens for each layer."""

    decisions: list[int]
    granted: dict[LayerName, int]
    used: dict[LayerName, int]


class Allocator:
    """The rules by which some candidates share a budget.

    Args:
        candidates: In their canonical order.
        measured: Counts headings and fences.
        profile: What each layer may take.
        barred: Ids of the retrieved layer that never enter.

    Attributes:
        frame: Tokens of all headings, and of the fences of the layers that have candidates.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        measured: CachedCounter,
        profile: BudgetProfile,
        barred: Collection[str] = (),
    ) -> None:
        self._profile = profile
        barred = frozenset(barred)
        # Of a candidate the row among those that compete: a range is the mapping of numbers to themselves.
        self._row: Sequence[int] | Mapping[int, int] = range(len(candidates))
        rows = candidates
        if barred:
            competing = [i for i, one in enumerate(candidates) if one.layer != "retrieved" or one.id not in barred]
            self._row = {index: row for row, index in enumerate(competing)}
            rows = [candidates[index] for index in competing]
        groups = {(c.layer, c.group): None for c in candidates if c.group}
        bundles = {(c.layer, c.together): None for c in candidates if c.together}
        self._groups = {key: index for index, key in enumerate(groups)}
        bundled = {key: index for index, key in enumerate(bundles)}
        self._items = BudgetItems(
            [LAYER_INDEX[c.layer] for c in rows],
            [self._groups[c.layer, c.group] if c.group else None for c in rows],
            [bundled[c.layer, c.together] if c.together else None for c in rows],
            [c.pinned for c in rows],
            [c.keep is not None for c in rows],
            [c.score for c in rows],
            [c.source for c in rows],
            [c.id for c in rows],
        )
        self._headings = measured.counts([heading_piece(group) for _, group in groups])
        ends = measured.counts([piece[layer] for layer in LAYERS for piece in (OPENING, CLOSING)])
        self._overheads = {layer: ends[2 * i] + ends[2 * i + 1] for i, layer in enumerate(LAYERS)}
        present = {candidate.layer for candidate in candidates}
        self.frame = sum(self._headings) + sum(self._overheads[layer] for layer in present)

    def allocate(self, target: int, available: int, measured: Sizes, fixed: Mapping[int, int]) -> Allocation:
        """The allocation of `target` tokens; what is `fixed` is pinned at its tokens."""
        row = self._row
        everyone = isinstance(row, range)
        tokens = measured.tokens.copy() if everyone else [measured.tokens[index] for index in row]
        shorts = measured.shorts.copy() if everyone else [measured.shorts[index] for index in row]
        settled = [row[index] for index in fixed if index in row]
        for index, cost in fixed.items():
            if index in row:
                tokens[row[index]], shorts[row[index]] = cost, None
        # What is around a core is an item of its own: the core enters whole, this as far as there is room.
        cores = {index: core for index, core in measured.cores.items() if core and index not in fixed and index in row}
        around = {index: core for index, core in cores.items() if core < measured.tokens[index]}
        for index, core in cores.items():
            tokens[row[index]], shorts[row[index]] = core, None
        layers = self._profile.rows(available, self._overheads)
        found = allocate(
            max(target, 0),
            layers,
            self._headings,
            self._items,
            tokens,
            shorts,
            settled,
            [row[index] for index in cores],
            [(row[index], measured.tokens[index] - core) for index, core in around.items()],
        )
        taken = found.decisions
        around_cores = taken[len(row) :]
        if everyone:
            decisions = taken[: len(row)]
        else:
            decisions = [OMITTED] * len(measured.tokens)
            for index, decision in zip(row, taken, strict=False):
                decisions[index] = decision
        for (index, core), decision in zip(around.items(), around_cores, strict=True):
            if decisions[index] == FULL and decision != FULL:
                decisions[index] = core + max(decision, 0)
        granted = dict(zip(LAYERS, found.granted, strict=True))
        return Allocation(decisions, granted, dict(zip(LAYERS, found.used, strict=True)))
