"""Active lorebook entries: constant ones as settings, the others as retrieved, rules only on the user's word.

One search serves all three layers of a request. Where an entry goes is one table: `layer_of` and `SLOTS` below, see
docs/lorebooks.md.
"""

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from armarius.arguments import Bounds, Turn
from armarius.codex.cards import drop_blanks, one_line, without_later
from armarius.deadline import Recent
from armarius.documents.data import NOBODY
from armarius.headings import DEFAULT_LANGUAGE, FRAMES, HeadingKey, Language, Reason, frame, heading
from armarius.lorebooks.activation import BookSearch, ConstantEntries, cast_of, constant_entries, scan_of
from armarius.lorebooks.active.records import Active, SkippedEntry, with_user
from armarius.lorebooks.book import Book
from armarius.lorebooks.project_books import Books
from armarius.text.tokens import TokenCounter
from armarius.types import Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission, OmitReason
from armarius.warnings import LORE_FAILED, LORE_INVALID

_LONGEST_NAME: Final = 60
_LABELS: Final = "|".join(
    dict.fromkeys(word for frame in FRAMES.values() for word in (*frame.begins, *frame.types.values(), frame.other))
)
# `#` of any width, colon of any width, and what nobody sees between and before.
_UNSEEN: Final = r"[^\S\r\n\x0b\x0c\x85\u2028\u2029]|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
_POSING: Final = re.compile(
    rf"(^|[\r\n\x0b\x0c\x85\u2028\u2029])((?:{_UNSEEN}|[>*\-•])*)[#＃﹟](?=[#＃﹟]*(?:{_UNSEEN})*"
    rf"(?:{'|'.join(rf'(?:{_UNSEEN})*'.join(label) for label in _LABELS.split('|'))})(?:{_UNSEEN})*[:：﹕︰])"
)


def header(name: str, book: str, language: Language = DEFAULT_LANGUAGE) -> str:
    """The line above an entry: `## 条目：<name>（<book>）`; names are cut after 60 characters."""
    return frame(language).entry.format(name=_short(name), book=_short(book))


def body(text: str, as_of: int | None) -> tuple[str, bool]:
    """What of the text of an entry may stand below its header, and whether lines of later chapters were left out.

    A line that would begin a card, a passage or another entry has its first `#` changed to `♯`.

    Cost: one pass over the lines, and one of a pattern.
    """
    content = text if as_of is None else without_later(text, as_of)
    hidden = content != text
    if hidden:
        content = drop_blanks(content)
    return _POSING.sub(r"\1\2♯", content).strip(), hidden


def _short(name: str) -> str:
    line = one_line(name)
    return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"


SLOTS: Final = (
    "before", "examples_before", "examples_after", "after", "", "outlet", "note_top", "key", "note_bottom", "at_depth",
)  # fmt: skip
"""The order of the places inside a layer, from the top; within a place the entry that is kept longest stands first."""
_SOURCES: Final[dict[LayerName, str]] = {"rules": "rule", "settings": "constant", "retrieved": "active"}
_GROUPS: Final[dict[LayerName, HeadingKey]] = {
    "rules": "constraints",
    "settings": "lore_always",
    "retrieved": "lore",
}
# Constant entries are omitted last of their layer: above the style (2) and every memory (at most 1).
_CONSTANT = 3.0
# Woken entries stand between names in the user's words (1) and those around the cursor (0.5).
_WOKEN, _PER_SLOT, _PER_PLACE = 0.79, 0.02, 0.02
_BACK = 20_000  # code points before the cursor that count as messages, by paragraphs
_PARAGRAPHS = 64
_REQUESTS = 4  # with their answers kept: a request has three layers, and several may be under way
_BLANK = re.compile(r"\n\s*\n|\n")
_WHY: Final[Mapping[str, OmitReason]] = {
    "lore.budget": "budget",
    "lore.secondary": "no match",
    "lore.level": "level",
    "lore.off": "level",
}


def layer_of(active: Active, *, rules: bool) -> LayerName:
    """The layer of an active entry: what is always active is a setting, or a rule where the user allows it."""
    if active.entry.level == "always":
        return "rules" if rules else "settings"
    return "retrieved"


@dataclass(frozen=True, slots=True)
class ActiveLore:
    """What the books say to one request: all three layers are of one look at them.

    Attributes:
        books: By id, those that are not switched off.
        standing: Active entries that are constant.
        woken: Active entries that the text woke.
        left: Those that were close.
        problems: Why a book is not there, by its id.
    """

    books: Mapping[str, Book]
    standing: tuple[Active, ...]
    woken: tuple[Active, ...]
    left: tuple[SkippedEntry, ...]
    problems: Mapping[str, str]

    def of(self, layer: LayerName) -> list[Active]:
        """The active entries of a layer."""
        if layer == "retrieved":
            return list(self.woken)
        return [item for item in self.standing if layer_of(item, rules=self.books[item.book].rules) == layer]


class LoreSearch:
    """Searches the books of a project for a request; the last answers are kept for the other layers.

    Args:
        books: Of the project.
        user: `{{user}}`, of the settings; "" for nobody in particular.
    """

    def __init__(self, books: Books, *, user: str = "") -> None:
        self.books = books
        self.user = user or NOBODY
        self.asked = BookSearch(books, user=user)
        self._count = TokenCounter.estimate().count
        self._lock = threading.Lock()
        self._last = Recent[tuple[FetchRequest, ActiveLore]](_REQUESTS)  # the request is held: its id stays
        self._standing: tuple[tuple[Book, ...], ConstantEntries] | None = None

    def of(self, request: FetchRequest) -> ActiveLore:
        """What is active for a request.

        Cost: for each request one look at the books, and one search of the text before the cursor, the conversation
        and the user's words.
        """
        with self._lock:
            if (kept := self._last.get(id(request))) is not None:
                return kept[1]
            looked = self._find_active(request)
            self._last.keep(id(request), (request, looked))
            return looked

    def _find_active(self, request: FetchRequest) -> ActiveLore:
        present, problems = self.books.look()
        books = MappingProxyType({id_: book for id_, book in present.items() if not book.switched_off})
        if not books:
            return ActiveLore(books, (), (), (), problems)
        some = tuple(books.values())
        cast = cast_of(some)
        character = next(iter(cast.values()), "")
        if self._standing is None or [id(book) for book in self._standing[0]] != [id(book) for book in some]:
            empty = scan_of(character=character, cast=cast, user=self.asked.user, turn=0, count=self._count)
            self._standing = (some, constant_entries(self.asked.activator, some, empty))
        fixed = self._standing[1]
        messages, turn = _messages(request)
        scan = scan_of(
            messages=messages, turn=turn, character=character, cast=cast, user=self.asked.user, count=self._count
        )
        result = self.asked.activator.search(fixed.books, scan)
        woken = tuple(item for item in result if f"{item.book}/{item.entry.id}" not in fixed.active)
        active = fixed.active | {f"{item.book}/{item.entry.id}" for item in woken}
        left = {f"{item.book}/{item.entry.id}": item for item in (*fixed.found.left, *result.left)}
        return ActiveLore(
            books, tuple(fixed.found), woken, tuple(item for id_, item in left.items() if id_ not in active), problems
        )


def _messages(request: FetchRequest) -> tuple[list[Turn], int]:
    """The paragraphs before the cursor, then the turns of the conversation, then the user's words: newest last."""
    written = request.text[max(0, request.cursor - _BACK) : request.cursor]
    paragraphs = [part for part in _BLANK.split(written) if part.strip()]
    turns = [Turn("", part.strip()) for part in paragraphs[-_PARAGRAPHS:]]
    turns += [turn for turn in request.messages if turn.is_spoken]
    turns += [Turn("user", part) for part in (request.additional_input, request.query) if part.strip()]
    return turns, request.text.count("\n", 0, request.cursor) + len(turns)


class LoreFetcher:
    """The entries of one layer, as `lore:constant:<book>/<id>`, `lore:active:…` or `lore:rule:…`.

    Args:
        search: Shared by the fetchers of all layers.
        layer: Which one.
    """

    inline = True

    def __init__(self, search: LoreSearch, layer: LayerName) -> None:
        self._search = search
        self.layer: LayerName = layer
        self.name = f"lore-{layer}"

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """The active entries of the layer; a failing book is a warning and leaves the others.

        Of what a request may see (docs/decisions/0068) `kinds` without `setting` leaves entries out but for rules, and
        `as_of` leaves out lines of later chapters.
        """
        try:
            lore = self._search.of(request)
        except Exception as error:  # noqa: BLE001 - no source failure may fail the call
            failed = Omission("lore", self.layer, "lore", "source failed", str(error))
            return Fetched(omitted=(failed,), warnings=(LORE_FAILED(kind=type(error).__name__, error=error),))
        candidates: list[Candidate] = []
        omitted: list[Omission] = []
        unwanted = None if self.layer == "rules" else Bounds(kinds=request.kinds).leaves_out("setting", None)
        for at, item in enumerate(_order_by_keep([item for item in lore.of(self.layer) if item.text])):
            content, hidden = body(with_user(item.text, NOBODY), request.as_of)
            id_, source = self._names(item)
            if unwanted is not None:
                omitted.append(Omission(id_, self.layer, source, *unwanted))
                continue
            if hidden:
                reason = Reason("out.later_lines", moment=request.as_of)
                omitted.append(Omission(f"{id_}:later", self.layer, source, "timeline", reason))
            if content:
                title = header(item.entry.name or item.entry.id, lore.books[item.book].name, request.language)
                content = f"{title}\n{content}"
                candidates.append(self._candidate(item, content, request, at))
        if self.layer != "retrieved":
            return Fetched(tuple(candidates), tuple(omitted))
        omitted += (_omission(left) for left in lore.left)
        problems = sorted(lore.problems.items())
        omitted += (
            Omission(f"lore:{id_}", "retrieved", f"lore:book:{id_}", "source failed", Reason("lore.no_book", why=why))
            for id_, why in problems
        )
        warnings = tuple(LORE_INVALID(book=id_, why=why) for id_, why in problems)
        return Fetched(tuple(candidates), tuple(omitted), warnings)

    def _names(self, item: Active) -> tuple[str, str]:
        return f"lore:{item.book}/{item.entry.id}", f"lore:{_SOURCES[self.layer]}:{item.book}/{item.entry.id}"

    def _candidate(self, item: Active, content: str, request: FetchRequest, at: int) -> Candidate:
        slot = SLOTS.index(item.place.slot) if item.place.slot in SLOTS else 0
        if self.layer == "retrieved":
            score = _WOKEN - _PER_SLOT * slot - _PER_PLACE * at / (at + 1)
        else:
            score = _CONSTANT + 1 / (at + 2)
        id_, source = self._names(item)
        return Candidate(
            id=id_,
            layer=self.layer,
            source=source,
            content=content,
            score=score,
            evidence=(Evidence("mention" if self.layer == "retrieved" else "level", item.reason),),
            group=heading(_GROUPS[self.layer], request.language),
            project_id=request.project_id,
        )


def _order_by_keep(active: list[Active]) -> list[Active]:
    def worth(item: Active) -> tuple[int, float, int]:
        slot = SLOTS.index(item.place.slot) if item.place.slot in SLOTS else 0
        return (slot, -item.entry.share.keep, item.order)

    return sorted(active, key=worth)


def _omission(left: SkippedEntry) -> Omission:
    reason = _WHY.get(left.reason.code, "excluded")
    source = f"lore:active:{left.book}/{left.entry.id}"
    return Omission(f"lore:{left.book}/{left.entry.id}", "retrieved", source, reason, left.reason)
