"""Filling what demand leaves: paragraphs of the project, best first, until the room is used.

Demand is everything a request cannot do without; it has been fitted before, the window around the cursor to a share of
the prompt. Paragraphs are no demand. They enter greedily by worth while they fit, and stand in the order of the story;
what a previous prompt held keeps its place, and new ones follow. Neighbours join under one heading.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import attrgetter

from armarius.deadline import stage
from armarius.headings import DEFAULT_LANGUAGE, Language, frame
from armarius.prompt.allocate import Previous
from armarius.prompt.counter import CachedCounter
from armarius.prompt.escape import escape, group_heading
from armarius.prompt.plan import FittedPrompt, Plan, is_window
from armarius.prompt.render import Placed, closing_piece, heading_piece, opening_piece, render
from armarius.prompt.sizes import cards_of, layer_tokens, prompt_tokens, said_by_card
from armarius.types import STORY, Candidate, Offer, Row

__all__ = ["WINDOW_PERCENT", "fill", "window_share"]

WINDOW_PERCENT = 25
"""Of the prompt's limit: what the window around the cursor keeps beside paragraphs on offer (docs/decisions/0034)."""
_STEP = 256  # tokens: room changes in steps, so that a key stroke moves no paragraph
_BATCH = 48  # rows counted at once
_MISSES = 96  # rows in a row that do not fit before the search for a smaller one ends
_LEAST = 24  # tokens: no paragraph worth reading is shorter with its heading
_LONG = 40  # code points that are not said twice by chance
_RUN = re.compile(r"\w{4,16}")
_SUBHEADING = 7  # tokens of the line between two paragraphs of one chapter that are no neighbours
_REPAIRS = 12
_LINES_PERCENT = 8  # of the room: single lines about the rows that enter, where the offer has any
_OTHERS_PERCENT = 40  # of the room: more is not kept from rows that are asked for, however small it is
_Key = tuple[str, int, bool]
_PLACE = attrgetter("place")
_KEPT_PERCENT = 90  # of the worth of a prompt without history: what one that continues another holds at least


def window_share(plan_limit: int, least: int) -> int:
    """Tokens that the window may take while paragraphs are on offer."""
    return max(plan_limit * WINDOW_PERCENT // 100, least)


def fill(
    plan: Plan,
    fitted: FittedPrompt,
    offer: Offer,
    available: int,
    previous: Previous,
    window_most: int | None,
    language: Language = DEFAULT_LANGUAGE,
) -> FittedPrompt:
    """`fitted` with the paragraphs of `offer` that fit beside it.

    Args:
        plan: What `fitted` was made from.
        fitted: A prompt of demand alone.
        offer: The paragraphs, best first.
        available: The budget less the reserve.
        previous: Whose paragraphs keep their place.
        window_most: What the window was held to; its share stays reserved while it is not full.
        language: Of the line above a paragraph.

    Cost: one count of each paragraph tried, remembered; one count of the final prompt.
    """
    limit = plan.profile.limit(available)
    filling = _Filling(plan, fitted, offer, previous, plan.profile.most("retrieved", available), language, available)
    rows = filling.choose(filling.room(limit, window_most))
    for attempt in range(_REPAIRS):
        if not rows:
            break
        placed = filling.place(rows)
        with stage("render"):
            rendered = render(filling.arranged(placed))
        total, by_layer = prompt_tokens(rendered, plan.measured)
        if total <= limit:
            line = min((row.score for row in rows if not (row.asked or row.signature)), default=0.0)
            return replace(
                fitted, rendered=rendered, token_count=total, by_layer=by_layer, entered=len(placed), line=line
            )
        worst = sorted(rows, key=lambda row: (not row.asked, -row.score, row.source))
        gone = {row.source for row in worst[-(1 << attempt) :]}
        rows = [row for row in rows if row.source not in gone]
    return fitted


@dataclass
class _Filling:
    """One prompt being filled."""

    plan: Plan
    fitted: FittedPrompt
    offer: Offer
    previous: Previous
    layer_most: int
    language: Language
    available: int

    def __post_init__(self) -> None:
        self.group = group_heading(self.offer.group)  # as it may stand in a prompt
        self.cards = cards_of(self.fitted.rendered.placed)
        self.shown = self._shown()

    @property
    def _measured(self) -> CachedCounter:
        return self.plan.measured

    def room(self, limit: int, window_most: int | None) -> int:
        """Tokens that rows may take in all."""
        placed = self.fitted.rendered.placed
        layer = [item for item in placed if item.candidate.layer == "retrieved"]
        frame = 0 if layer else sum(self._measured.counts([opening_piece("retrieved"), closing_piece("retrieved")]))
        if all(item.candidate.group != self.group for item in layer):
            frame += self._measured.count(heading_piece(self.group))
        window = next((item for item in placed if is_window(item.candidate)), None)
        unused = 0
        if window is not None and window_most is not None:
            tokens = self._measured.section(window.text)
            unused = min(-(-tokens // _STEP) * _STEP, max(window_most, tokens)) - tokens
        room = limit - self.fitted.token_count - unused - frame
        held = (self.fitted.by_layer or layer_tokens(self.fitted.rendered, self._measured))["retrieved"]
        return min(room, self.layer_most - frame - held)

    def choose(self, room: int) -> list[Row]:
        """The rows that enter, in the order of the prompt: what a previous one held, from its first row on, then new.

        As many of those are kept as leave room for most of what a prompt without history would hold.
        """
        held = [row for row in map(self._still, self.previous.rows) if row is not None]
        fresh = self._pick((), room)
        if not held:
            return sorted(fresh.values(), key=_PLACE)
        kept, rows = held, self._pick(held, room)
        if not _serves(rows, fresh):
            least, most, rows = 0, len(held), fresh
            while most - least > 1:
                middle = (least + most) // 2
                tried = self._pick(held[:middle], room)
                if _serves(tried, fresh):
                    least, rows = middle, tried
                else:
                    most = middle
            kept = held[:least]
        first = {key: row for row in kept if (key := _key(row)) in rows}
        new = sorted((row for key, row in rows.items() if key not in first), key=_PLACE)
        return [*first.values(), *new]

    def _pick(self, first: Sequence[Row], room: int) -> dict[_Key, Row]:
        """Rows by key: `first`, what is asked for, then the best of the offer."""
        lines = room * _LINES_PERCENT // 100 if self.offer.lines else 0
        groups = self.plan.admitted.groups
        taken = _Taken(self._measured, self.shown, self.cards, groups, room - lines, self.language)
        taken.greedily(first)
        offered = iter(self.offer.rows)
        asked = []
        for row in offered:  # they come first
            if not row.asked:
                offered = chain([row], offered)
                break
            asked.append(row)
        kept = self._kept_for_others(asked, room)
        taken.widen(-kept)
        if not taken.all(asked):
            taken.greedily(asked)
        taken.widen(kept)
        taken.greedily(offered)
        if kept:
            taken.greedily(asked)
        if lines:
            taken.widen(lines)
            taken.greedily(self.offer.beside(list(taken.rows.values())))
        return taken.rows

    def _kept_for_others(self, asked: Sequence[Row], room: int) -> int:
        """Tokens of the room that rows asked for leave to others, where the offer says how a prompt is divided."""
        shares = self.offer.shares
        if shares is None:
            return 0
        paths = {row.path for row in asked}
        window = sum(
            self._measured.section(item.text)
            for item in self.fitted.rendered.placed
            if is_window(item.candidate) and not paths.isdisjoint(item.candidate.documents)
        )
        least = min(self.available * shares.others // 100, room * _OTHERS_PERCENT // 100)
        return max(least, room - max(0, self.available * shares.asked // 100 - window))

    def _still(self, item: Placed) -> Row | None:
        """The row of a paragraph of the previous prompt that reads as it did."""
        path, _, number = item.candidate.source.removeprefix("rag:passage:").rpartition("#")
        row = self.offer.row(path, int(number)) if number.isdecimal() else None
        if row is None or not row.text:
            return None
        return row if item.text.endswith(escape(row.text, self.plan.admitted.groups)) else None

    def _shown(self) -> str:
        """What the immediate layer and the story so far say already, line by line."""
        placed = (item for item in self.fitted.rendered.placed if _is_text(item.candidate))
        return _lines("\n\n".join(map(_unmarked, placed)))

    def place(self, rows: Sequence[Row]) -> list[Placed]:
        """The rows as they stand in the prompt, each under its heading unless it continues the one before."""
        placed, before = [], None
        groups, evidence = self.plan.admitted.groups, self.offer.evidence
        for row in rows:
            head = _head(row, before, self.language)
            text = escape(row.text, groups)
            if head:
                text = escape(head, groups) + text
            source, score = row.source, row.score
            candidate = Candidate(
                source, "retrieved", source, text, score, (evidence(row),), self.group, documents=(row.path,)
            )
            placed.append(Placed(candidate, text, "full", None, True))
            before = row
        return placed

    def arranged(self, rows: Sequence[Placed]) -> list[Placed]:
        """Everything demanded as it stood, and the rows at the end of their layer under one heading."""
        before: list[Placed] = []
        group: list[Placed] = []
        behind: list[Placed] = []
        for item in self.fitted.rendered.placed:
            if item.candidate.layer == "immediate":
                behind.append(item)
            elif item.candidate.layer == "retrieved" and item.candidate.group == self.group:
                group.append(item)
            else:
                before.append(item)
        return [*before, *group, *rows, *behind]


def _serves(rows: Mapping[_Key, Row], fresh: Mapping[_Key, Row]) -> bool:
    """Whether `rows` are worth nearly what those of a prompt without history are, and hold all that is asked for."""
    worth, enough = (sum(row.score for row in some.values() if not row.asked) for some in (rows, fresh))
    asked = {key for key, row in fresh.items() if row.asked}
    return asked <= rows.keys() and 100 * worth >= _KEPT_PERCENT * enough


def _is_text(candidate: Candidate) -> bool:
    """Whether it shows the project's texts as they are written, which a paragraph may then not show again."""
    return candidate.layer == "immediate" or candidate.source.startswith(STORY)


def _unmarked(item: Placed) -> str:
    if not item.candidate.marks:
        return item.text
    return item.candidate.content[slice(*item.part)] if item.part else item.candidate.content


class _Taken:
    """Rows taken so far, and the room they leave."""

    def __init__(
        self,
        measured: CachedCounter,
        shown: str,
        cards: Sequence[Placed],
        groups: tuple[str, ...],
        room: int,
        language: Language,
    ) -> None:
        self.rows: dict[_Key, Row] = {}
        self._measured = measured
        self._shown = shown
        self._cards = cards
        self._of_cards = {path for card in cards for path in card.candidate.documents}
        self._groups = groups
        self._room = room
        self._language = language
        self._texts: set[str] = set()
        self._places: set[tuple[str, int]] = set()
        self._titles: set[tuple[str, str]] = set()

    def widen(self, tokens: int) -> None:
        """More room; less where `tokens` are negative."""
        self._room += tokens

    def all(self, rows: Sequence[Row]) -> bool:
        """Take every one of `rows`, if all fit."""
        kept = (self._room, dict(self.rows), set(self._texts), set(self._places), set(self._titles))
        for row, tokens in self._counted(rows):
            self._try(row, tokens, None)
        if self._room >= 0:
            return True
        self._room, self.rows, self._texts, self._places, self._titles = kept
        return False

    def greedily(self, rows: Iterable[Row]) -> None:
        """Take each of `rows` that still fits, in their order; looks no further than there is room."""
        missed, attempt = 0, self._try
        for row, tokens in self._counted(rows):
            if self._room < _LEAST or missed > _MISSES:
                return
            entered = attempt(row, tokens, self._room)
            if entered is not None:
                missed = 0 if entered else missed + 1

    def _counted(self, rows: Iterable[Row]) -> Iterator[tuple[Row, int]]:
        rows = iter(rows)
        while part := list(islice(rows, _BATCH)):
            yield from zip(part, self._measured.sections([row.text for row in part]), strict=True)

    def _try(self, row: Row, tokens: int, room: int | None) -> bool | None:
        """Take `row` if it costs no more than `room`; None when the prompt says already what it says.

        Called for some ninety rows of a request: what tells rows apart is written out, not `row.source`.
        """
        text, path, paragraph = row.text, row.path, row.paragraph
        key = path, paragraph, row.signature
        if not text or text in self._texts or key in self.rows:
            return None
        if path in self._of_cards and said_by_card(row, self._cards) is not None:
            return None
        run = _RUN.search(text)
        # Letters stand in a prompt as they are, whatever becomes of what is around them.
        if (run is None or run[0] in self._shown) and self._is_shown(text):
            return None
        titled = _titled(row)
        if titled not in self._titles:
            tokens += self._measured.count(_head(row, None, self._language))
        elif not row.signature:
            places = self._places
            tokens += _SUBHEADING * (1 - ((path, paragraph - 1) in places) - ((path, paragraph + 1) in places))
        if room is not None and tokens > room:
            return False
        self.rows[key] = row
        self._texts.add(text)
        self._places.add((path, paragraph))
        self._titles.add(titled)
        self._room -= tokens
        return True

    def _is_shown(self, text: str) -> bool:
        said = _lines(escape(text, self._groups))
        # A short line stands alone or says something else there; a piece of a long paragraph has no line ends.
        return (said.strip() if len(text) >= _LONG else said) in self._shown


def _key(row: Row) -> _Key:
    """What tells rows apart, as `row.source` does, without the cost of writing it."""
    return row.path, row.paragraph, row.signature


def _lines(text: str) -> str:
    """A text between line ends, each line without the white space around it: what is said stands in it line by line."""
    return "\n" + "\n".join(line.strip() for line in text.splitlines()) + "\n"


def _head(row: Row, before: Row | None, language: Language) -> str:
    if before is None or _titled(before) != _titled(row):
        said = frame(language)
        if row.signature:
            return said.signatures + "\n"
        return said.passage.format(title=row.title, place=f"{row.path}{_place(row)}") + "\n"
    return "" if row.signature or before.paragraph + 1 == row.paragraph else f"### … {_place(row)}\n"


def _place(row: Row) -> str:
    """Where in its file: of source code the line, else the number of the paragraph."""
    return f":{row.line}" if row.line else f"#{row.paragraph}"


def _titled(row: Row) -> tuple[str, str]:
    """Rows with the same stand under one heading."""
    return ("", "signatures") if row.signature else (row.path, row.title)
