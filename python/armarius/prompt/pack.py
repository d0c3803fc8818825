"""From admitted candidates to a prompt that fits: demand first, then paragraphs of the project in the room left.

Demand is everything a request cannot do without; the window around the cursor is held to a share of the prompt while
paragraphs are on offer. Paragraphs enter greedily by worth while they fit, and stand in the order of the story; what a
previous prompt held keeps its place, and new ones follow. Neighbours join under one heading.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice, takewhile
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Final

from armarius.codex.profile_fields import is_known, role_of
from armarius.documents.classify import DATA_SUFFIXES
from armarius.documents.data import values_in
from armarius.errors import BudgetError
from armarius.headings import DEFAULT_LANGUAGE, Frame, Language, frame
from armarius.prompt.admit import Admitted, escape_short, group_heading
from armarius.prompt.allocate import FittedPrompt
from armarius.prompt.continuation import Previous, fit_demand
from armarius.prompt.counter import CachedCounter
from armarius.prompt.profile import BudgetProfile
from armarius.prompt.render import CLOSING, OPENING, PromptItem, layer_pieces
from armarius.prompt.shares import drop_older_turns, limit_shares, turns_of
from armarius.types import PASSAGE, STORY, Candidate, PassageRow, PassageStream, Recipe
from armarius.warnings import CONTEXT_SHARE_TRIMMED

WINDOW_PERCENT = 25
"""Of the prompt's limit: the window's share while paragraphs are on offer (docs/decisions/0034)."""
_STEP = 256  # tokens: room changes in steps, so that a key stroke moves no paragraph
_BATCH = 16  # rows counted at once, as many as an offer makes at once
_MISSES = 96  # rows in a row that do not fit before the search for a smaller one ends
_MISSED_STRETCHES = 12  # that do not fit before the search for a smaller one ends
_LEAST = 24  # tokens: no paragraph worth reading is shorter with its heading
_LONG = 40  # code points that are not said twice by chance
_RUN = re.compile(r"\w{4,16}")
_SPARE = 256  # tokens that paragraphs leave before the window is given them
_NOTHING = Previous()
_GAP_TOKENS = 2  # of the mark between two paragraphs of one section that are no neighbours
_MOST_BACK = 96  # that rows between their neighbours give back
_REPAIRS = 12
_MOST_CUT = 4  # texts that a warning names
_OTHERS_PERCENT = 40  # of the room: more is not kept from rows that are asked for, however small it is
_PLACE, _TEXT = attrgetter("place"), attrgetter("text")
_KEY: Final[Callable[[PassageRow], "_Key"]] = attrgetter("path", "paragraph")
_Key = tuple[str, int]
_FIELD: Final = re.compile(r"\s*[-*+•]\s+(?P<label>[^：:\n]{1,40})[：:]\s*(?P<value>\S.*)")
_VALUES: Final = re.compile(r" ?[、，,;；/／|｜] ?")
_OF_DATA: Final = tuple(DATA_SUFFIXES)
_one_line: Final = " ".join
_LABEL: Final = re.compile(r"[：:]")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_NO_LETTERS = re.compile(r"[\W_]+")
_SHARD = 60  # code points: what is shorter is not read alone, but with what stands around it in its scene
_KEPT_PERCENT = 90  # of the worth of a prompt without history: what one that continues another holds at least


def plain_share(room: int) -> float:
    """The share of a room that plain search fills: a tenth up to 4,000 tokens, a quarter from 10,000 on."""
    return min(0.25, max(0.1, room / 40_000))


CLEAR_SHARE: Final = 0.4
"""Of a room: what plain search fills with stretches that hold most of the question."""


def pack(
    admitted: Admitted,
    counter: CachedCounter,
    profile: BudgetProfile,
    available: int,
    recipe: Recipe,
    previous: Previous = _NOTHING,
    valid: Collection[str] = (),
    language: Language = DEFAULT_LANGUAGE,
) -> FittedPrompt:
    """The prompt of `admitted`: demand first, then the paragraphs on offer in what it leaves.

    Args:
        admitted: The candidates of a request.
        counter: Counts tokens.
        profile: How the budget is divided.
        available: The budget less the reserve.
        recipe: What the request asks for.
        previous: The prompt that this one continues.
        valid: Ids of its items that still hold although this request may not offer them.
        language: Of the line above a paragraph.

    Raises:
        BudgetError: What must be in does not fit, without any turn of the conversation either.
    """
    admitted, profile = limit_shares(admitted, counter, profile, available, recipe)
    offers = [offer for offer in admitted.offers if next(chain(offer.rows, offer.stretches), None) is not None]
    limit = profile.limit(available)
    share = max(limit * WINDOW_PERCENT // 100, profile.insisted_min(available)) if offers else None
    most = window_most = share
    while True:
        try:
            fitted = fit_demand(admitted, counter, profile, available, previous, valid, window_most)
        except BudgetError:
            if not turns_of(admitted):
                raise
            admitted, most, window_most = drop_older_turns(admitted), share, share
            continue
        for offer in offers:
            fitted = _fill_room(fitted, offer, previous, most, language)
        spare = limit - fitted.token_count
        if most is None or spare <= _SPARE or fitted.window is None or fitted.window.form != "truncated":
            return _warn_of_cut(fitted, offers)
        # What no paragraph wanted is the window's again.
        window_most, most = most + spare - _SPARE // 2, None


def _fill_room(
    fitted: FittedPrompt, offer: PassageStream, previous: Previous, window_most: int | None, language: Language
) -> FittedPrompt:
    """`fitted` with the paragraphs of `offer` that fit in the room left.

    Args:
        fitted: A prompt of demand alone.
        offer: The paragraphs, best first.
        previous: The prompt continued; its paragraphs keep their places.
        window_most: What the window was held to; its share stays reserved while it is not full.
        language: Of the line above a paragraph.

    Cost: one count of each paragraph tried, remembered; one count of the final prompt.
    """
    packer = _Packer(fitted, offer, previous, language)
    rows = packer.choose(packer.room(window_most))
    for attempt in range(_REPAIRS):
        if not rows:
            break
        placed = packer.place(rows)
        items = packer.arrange_rows(placed)
        total, by_layer = fitted.demand.counter.of_prompt(layer_pieces(items))
        if total <= fitted.demand.limit:
            line = min([row.score for row in rows if not (row.asked or row.plain)], default=0.0)
            return replace(fitted, items=items, token_count=total, by_layer=by_layer, entered=len(placed), line=line)
        worst = sorted(rows, key=lambda row: (not row.asked, not row.plain, -row.score, row.source))
        gone = {row.source for row in worst[-(1 << attempt) :]}
        rows = [row for row in rows if row.source not in gone]
    return fitted


def _warn_of_cut(fitted: FittedPrompt, offers: Iterable[PassageStream]) -> FittedPrompt:
    """`fitted` with a warning for what is to be read and is there in part: how much of it, and how long the whole is.

    Cost: one count of each paragraph that is to be read, remembered.
    """
    cut = list[str]()
    for offer in [offer for offer in offers if offer.shares is not None]:
        sources = {item.candidate.source for item in fitted.items}
        rows = [row for row in takewhile(attrgetter("asked"), offer.rows) if any(map(str.isalnum, row.text))]
        packer, texts = _Packer(fitted, offer, _NOTHING, DEFAULT_LANGUAGE), dict[str, set[str]]()
        inside = {row.text for row in rows if row.source in sources}
        for row in rows:
            if row.text in inside or packer.lines(row.text) not in packer.shown:
                texts.setdefault(row.path, set()).add(row.text)
        for path, paragraphs in texts.items():
            if (count := len(paragraphs & inside)) < len(paragraphs):
                tokens = sum(packer.measured.counts([*paragraphs]))
                cut.append(f"{path} ({count} of {len(paragraphs)} paragraphs of {tokens:,} tokens)")
    if not cut:
        return fitted
    more = f" and {len(cut) - _MOST_CUT} more" if len(cut) > _MOST_CUT else ""
    warning = CONTEXT_SHARE_TRIMMED(cut=f"{', '.join(cut[:_MOST_CUT])}{more}")
    warnings = (*fitted.admitted.warnings, ("retrieved", warning))
    return replace(fitted, admitted=replace(fitted.admitted, warnings=warnings))


class _Packer:
    """Chooses and places the paragraphs of one offer for one prompt."""

    def __init__(self, fitted: FittedPrompt, offer: PassageStream, previous: Previous, language: Language) -> None:
        self.fitted, self.offer, self.previous = fitted, offer, previous
        self.frame = frame(language)
        self.measured = fitted.demand.counter
        self.groups = fitted.admitted.groups
        self.group = group_heading(offer.group)  # as it may stand in a prompt
        placed = fitted.items
        self.cards = cards_of(placed)
        # What the window and the story so far show already, line by line.
        texts = [i for i in placed if i.candidate.layer == "immediate" or i.candidate.source.startswith(STORY)]
        self.shown = "\n".join(["", *map(str.strip, "\n\n".join(map(_unmarked_text, texts)).splitlines()), ""])

    def lines(self, text: str) -> str:
        """A text as it may stand in `shown`."""
        return "\n".join(map(str.strip, escape_short(text, self.groups).splitlines()))

    def room(self, window_most: int | None) -> int:
        """Tokens that rows may take in all."""
        demand, placed = self.fitted.demand, self.fitted.items
        layer = [item for item in placed if item.candidate.layer == "retrieved"]
        fences = 0 if layer else sum(self.measured.counts([OPENING["retrieved"], CLOSING["retrieved"]]))
        if not [1 for item in layer if item.candidate.group == self.group]:
            fences += self.measured.count(self.group + "\n")
        unused = 0
        if self.fitted.window is not None and window_most is not None:
            tokens = self.measured.section(self.fitted.window.text)
            unused = min(-(-tokens // _STEP) * _STEP, max(window_most, tokens)) - tokens
        total = (self.fitted.by_layer or self.measured.of_layers(layer_pieces(placed)))["retrieved"]
        room = demand.limit - self.fitted.token_count - unused - fences
        return min(room, demand.profile.most("retrieved", demand.available) - fences - total)

    def choose(self, room: int) -> list[PassageRow]:
        """The rows that enter, in the order of the prompt: what a previous one held, from its first row on, then new.

        As many of those are kept as leave room for most of what a prompt without history would hold.
        """
        history = [row for row in map(self._unchanged_row, self.previous.rows) if row is not None]
        fresh = self._pick((), room)
        if not history:
            return sorted(fresh.values(), key=_PLACE)
        kept, rows = history, self._pick(history, room)
        if not _is_worth_as_much(rows, fresh):
            least, most, rows = 0, len(history), fresh
            while most - least > 1:
                middle = (least + most) // 2
                tried = self._pick(history[:middle], room)
                if _is_worth_as_much(tried, fresh):
                    least, rows = middle, tried
                else:
                    most = middle
            kept = history[:least]
        first = {_KEY(row): row for row in kept if _KEY(row) in rows}
        new = sorted((row for key, row in rows.items() if key not in first), key=_PLACE)
        return [*first.values(), *new]

    def _pick(self, first: Sequence[PassageRow], room: int) -> dict[_Key, PassageRow]:
        """Rows by key: what plain search finds, `first`, what is asked for, then the best of the offer."""
        chosen = _ChosenRows(self, room)
        chosen.add_stretches(self.offer.stretches)
        chosen.add(first)
        offered = self.offer.rows
        answers: list[PassageRow] = []
        for row in offered:  # they come first
            if not row.asked:
                offered = chain([row], offered)
                break
            answers.append(row)
        reserved = self._reserved_tokens(answers, room) if answers else 0
        chosen.room -= reserved
        grows = self.offer.shares is None  # a check has its own order
        if answers and not chosen.add(answers, whole=True):
            chosen.add(answers, grows=grows)
        chosen.room += reserved
        chosen.add(offered, grows=grows)
        if reserved:
            chosen.add(answers, grows=grows)
        return chosen.rows

    def _reserved_tokens(self, answers: Sequence[PassageRow], room: int) -> int:
        """Tokens of the room that rows asked for leave to others, as the offer says."""
        shares = self.offer.shares
        if shares is None:
            return 0
        item, window = self.fitted.window, 0
        if item is not None and not {row.path for row in answers}.isdisjoint(item.candidate.documents):
            window = self.measured.section(item.text)
        least = min(self.fitted.demand.available * shares.others // 100, room * _OTHERS_PERCENT // 100)
        return max(least, room - max(0, self.fitted.demand.available * shares.asked // 100 - window))

    def _unchanged_row(self, item: PromptItem) -> PassageRow | None:
        """The row of a paragraph of the previous prompt that reads as it did."""
        path, _, number = item.candidate.source.removeprefix(PASSAGE).rpartition("#")
        row = self.offer.row(path, int(number)) if number.isdecimal() else None
        if row is None or not row.text:
            return None
        return row if item.text.endswith(escape_short(row.text, self.groups)) else None

    def place(self, rows: Sequence[PassageRow]) -> list[PromptItem]:
        """The rows as they stand in the prompt, each under its heading unless it continues the one before."""
        placed, before = [], None
        for row in rows:
            head = _head(row, before, self.frame)
            text = (escape_short(head, self.groups) if head else "") + escape_short(row.text, self.groups)
            source, why = row.source, (self.offer.evidence(row),)
            candidate = Candidate(source, "retrieved", source, text, row.score, why, self.group, documents=(row.path,))
            placed.append(PromptItem(candidate, text, "full", None, True))
            before = row
        return placed

    def arrange_rows(self, rows: Sequence[PromptItem]) -> list[PromptItem]:
        """Everything demanded as it stood, and the rows at the end of their layer under one heading."""
        before: list[PromptItem] = []
        group: list[PromptItem] = []
        behind: list[PromptItem] = []
        for item in self.fitted.items:
            layer = item.candidate.layer
            is_mine = layer == "retrieved" and item.candidate.group == self.group
            (behind if layer == "immediate" else group if is_mine else before).append(item)
        return [*before, *group, *rows, *behind]


def _is_worth_as_much(rows: Mapping[_Key, PassageRow], fresh: Mapping[_Key, PassageRow]) -> bool:
    """Whether `rows` are worth nearly what those of a prompt without history are, and hold all that is asked for."""
    worth, enough = (sum(row.score for row in some.values() if not row.asked) for some in (rows, fresh))
    keys = {key for key, row in fresh.items() if row.asked or row.plain}
    return keys <= rows.keys() and 100 * worth >= _KEPT_PERCENT * enough


def _unmarked_text(item: PromptItem) -> str:
    if not item.candidate.marks:
        return item.text
    return item.candidate.content[slice(*item.part)] if item.part else item.candidate.content


class _ChosenRows:
    """Rows chosen so far, by key, and the tokens of room that they leave."""

    def __init__(self, packer: _Packer, room: int) -> None:
        self.rows: dict[_Key, PassageRow] = {}
        self.room = room
        self._packer = packer
        self._seen: set[object] = set()  # texts, (path, paragraph) and headings of the rows

    def add_stretches(self, stretches: Iterable[Sequence[PassageRow]]) -> None:
        """Add each of `stretches` that fits whole into the share of plain search, in their order."""
        missed, whole = 0, self.room
        shares = plain_share(whole), CLEAR_SHARE
        for stretch in stretches:
            others = whole - int(whole * shares[stretch[0].clear])
            if self.room - others < _LEAST or missed > _MISSED_STRETCHES:
                return
            self.room -= others
            missed += not self.add(stretch, whole=True)
            self.room += others

    def add(self, rows: Iterable[PassageRow], *, whole: bool = False, grows: bool = False) -> bool:
        """Add each of `rows` that still fits, in their order, or with `whole` all of them or none; whether those fit.

        Looks no further than there is room, and skips what the prompt has already. With `grows` a short row brings
        what stands around it.
        """
        packer, counter = self._packer, self._packer.measured
        before = (self.room, dict(self.rows), set(self._seen)) if whole else None
        missed, rows = 0, iter(rows)
        while part := list(islice(rows, _BATCH)):
            for row, tokens in zip(part, counter.sections(list(map(_TEXT, part))), strict=True):
                if not whole and (self.room < _LEAST or missed > _MISSES):
                    return True
                path, paragraph, text, seen = row.path, row.paragraph, row.text, self._seen
                if not text or text in seen or (key := (path, paragraph)) in self.rows:
                    continue
                heading = path, row.title  # rows with the same stand under one
                if heading in packer.cards and covering_card(row, packer.cards[heading]) is not None:
                    continue
                run = _RUN.search(text)  # escaping changes no letters
                if run is None or run[0] in packer.shown:  # by the window or the story so far, with all of its text
                    lines = packer.lines(text)
                    # A short line stands alone or says something else there; a long paragraph may be a piece of one.
                    if (lines if len(text) >= _LONG else f"\n{lines}\n") in packer.shown:
                        continue
                if tokens > self.room + _MOST_BACK:  # whatever stands above it
                    if before is not None:
                        self.room, self.rows, self._seen = before
                        return False
                    missed += 1
                    continue
                if path not in seen:
                    tokens += counter.count(_head(row, None, packer.frame))
                elif heading not in seen or (row.line and (path, paragraph - 1) not in seen):
                    tokens += counter.count(f"### {row.title} :{row.line}\n" if row.line else f"### {row.title}\n")
                else:
                    adjacent = ((path, paragraph - 1) in seen) + ((path, paragraph + 1) in seen)
                    tokens += _GAP_TOKENS * (1 - adjacent)
                if not whole and tokens > self.room:
                    missed += 1
                    continue
                missed = 0
                self.rows[key] = row
                seen.update((text, key, heading, path))
                self.room -= tokens
                if grows and len(text) < _SHARD:
                    self._add_neighbours(row)
        if before is None or self.room >= 0:
            return True
        self.room, self.rows, self._seen = before
        return False

    def _add_neighbours(self, row: PassageRow) -> None:
        """Add what stands around a short row in its scene, likelier side first, until it can be read."""
        offer, length = self._packer.offer, len(row.text)
        ends = {1: offer.neighbour(row, 1), -1: offer.neighbour(row, -1)}
        while length < _SHARD and (open_ends := [(step, side) for step, side in ends.items() if side is not None]):
            step, there = max(open_ends, key=lambda end: (_KEY(end[1]) in self.rows, end[1].score))
            ends[step] = None
            if _KEY(there) not in self.rows and not (self.add([there], whole=True) and _KEY(there) in self.rows):
                continue
            length += len(there.text)
            ends[step] = offer.neighbour(there, step)


Card = tuple[PromptItem, set[str]]
"""A card of a prompt and what it states, which is empty until it is first asked."""


def cards_of(placed: Iterable[PromptItem]) -> dict[tuple[str, str], list[Card]]:
    """The cards that are in whole, by the path of each document that they draw on and the name of their entity."""
    cards: dict[tuple[str, str], list[Card]] = {}
    for item in placed:
        if item.form == "full" and item.candidate.id.startswith("entity:"):
            name = _LABEL.split(item.text.partition("\n")[0], maxsplit=1)[-1].strip()
            card = item, set[str]()
            for path in dict.fromkeys(item.candidate.documents):
                cards.setdefault((path, name), []).append(card)
    return cards


def covering_card(row: PassageRow, cards: Iterable[Card]) -> PromptItem | None:
    """The one of `cards` that says all of a paragraph under its name: every value of its fields, or of its data."""
    data = values_in(row.path, row.text) if row.path.lower().endswith(_OF_DATA) else []
    values = list(map(_one_line, map(str.split, data)))
    lines = [] if values else list(filter(None, map(_one_line, map(str.split, row.text.splitlines()))))
    fields = list(filter(None, map(_FIELD.fullmatch, lines)))
    if not values and len(fields) < max(len(lines), 1):
        return None
    plain = [*chain.from_iterable(map(_VALUES.split, values))]
    for card, stated in cards:
        if not stated:
            stated |= _stated_values(card.text)
        if not stated.issuperset(plain):
            continue
        for field in fields:
            label, value = field["label"].strip(), field["value"]
            role = role_of(label)
            if role == "type" or stated.issuperset(_VALUES.split(f"{label}={value}")):
                continue  # the type is on every card
            if label in stated or not stated.issuperset(_VALUES.split(value)) or not (role or is_known(label)):
                break
        else:
            return card
    return None


def _stated_values(card: str) -> set[str]:
    """What stands between the commas of a card's lines, and of `label=value` the label and the value too; and ""."""
    stated = {""}
    for line in card.splitlines():
        stated.update(_VALUES.split(_one_line(_LABEL.split(line, maxsplit=1)[-1].split())))
    for item in list(stated):
        label, mark, value = item.partition("=")
        if mark:
            stated |= {label, value}
    return stated


def _head(row: PassageRow, before: PassageRow | None, labels: Frame) -> str:
    """What stands above a row: of another document its place, of another section its title, of a gap a mark."""
    line = f" :{row.line}" if row.line else ""
    if before is None or before.path != row.path:
        # of source code the line, else the number of the paragraph
        place = f"{row.path}:{row.line}" if row.line else f"{row.path}#{row.paragraph}"
        form = labels.place if _is_said_by_path(row.title, row.path) else labels.passage
        return form.format(title=row.title, place=place) + "\n"
    if before.title != row.title:
        return f"### {row.title}{line}\n"
    return "" if before.paragraph + 1 == row.paragraph else f"…{line}\n"


@lru_cache(maxsize=256)  # of each document twice in a prompt
def _is_said_by_path(title: str, path: str) -> bool:
    """Whether the name of a file says the title, or most of it: 第1章 进入游戏 and 第0001章-进入游戏.md."""
    name, title = _letters(PurePosixPath(path).stem), _letters(title)
    return bool(title) and (title in name or (name in title and 2 * len(name) >= len(title)))


def _letters(text: str) -> str:
    return _ZEROS.sub("", _NO_LETTERS.sub("", text.casefold()))
