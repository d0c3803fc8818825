"""Active lorebook entries: constant ones as settings, the others as retrieved, rules only on the user's word.

One search serves all three layers of a request. Where an entry goes is one table: `layer_of` and `SLOTS` below, told in
docs/lorebooks.md.
"""

import re
import threading
from collections.abc import Iterable
from typing import Any, Final

from armarius.books.activate import Activator, scan_of
from armarius.books.active.macros import with_user
from armarius.books.active.result import Activation, Active, Left
from armarius.books.active.scan import Message
from armarius.books.asking import AskBooks, cast_of
from armarius.books.shelf import Books
from armarius.headings import HeadingKey, heading
from armarius.records import Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission, OmitReason
from armarius.warnings_table import LORE_FAILED, LORE_INVALID

__all__ = ["SLOTS", "LoreFetcher", "LoreSearch", "layer_of"]

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
_BACK = 20_000  # code points before the cursor whose paragraphs count as messages
_PARAGRAPHS = 64
_BLANK = re.compile(r"\n\s*\n|\n")
_USER = "User"  # {{user}}: a project does not say who writes in it; SillyTavern's name for nobody in particular
_WHY: Final[tuple[tuple[str, OmitReason], ...]] = (
    ("budget", "budget"),
    ("secondary key", "no match"),
    ("is ", "level"),
    ("switched off", "level"),
)


def layer_of(active: Active, *, rules: bool) -> LayerName:
    """The layer of an active entry: what is always active is a setting, or a rule where the user allows it."""
    if active.entry.level == "always":
        return "rules" if rules else "settings"
    return "retrieved"


class LoreSearch:
    """Searches the books of a project for a request; the last answer is kept for the other layers.

    Args:
        books: Of the project.
    """

    def __init__(self, books: Books) -> None:
        self.books = books
        self.asked = AskBooks(books)
        self._lock = threading.Lock()
        self._last: tuple[FetchRequest, tuple[int, ...], Activation] | None = None

    def of(self, request: FetchRequest) -> Activation:
        """What is active for a request. Cost: one search of the text before the cursor and the user's words."""
        books = [book for book in self.books.values() if not book.switched_off]
        if not books:
            return Activation((), (), _NOTHING.state)
        with self._lock:
            shape = tuple(id(book) for book in books)
            if self._last is None or self._last[0] is not request or self._last[1] != shape:
                cast = cast_of(books)
                messages, turn = _messages(request)
                scan = scan_of(messages=messages, turn=turn, character=next(iter(cast.values()), ""), cast=cast)
                self._last = (request, shape, self.asked.activator.search(books, scan))
            return self._last[2]


_NOTHING = Activator().search((), scan_of())


def _messages(request: FetchRequest) -> tuple[list[Message], int]:
    """The messages of a request; where it has none, the paragraphs before the cursor and the user's words."""
    given: Iterable[Any] = getattr(request, "messages", ())
    found = [one if isinstance(one, Message) else Message(str(getattr(one, "content", one))) for one in given]
    written = request.text[max(0, request.cursor - _BACK) : request.cursor]
    paragraphs = [part for part in _BLANK.split(written) if part.strip()]
    found += [Message(part.strip()) for part in paragraphs[-_PARAGRAPHS:]]
    found += [Message(part, role="user") for part in (request.additional_input, request.query) if part.strip()]
    return found, request.text.count("\n", 0, request.cursor) + len(found)


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
        """The active entries of the layer; a failing book is a warning and leaves the others."""
        try:
            found = self._search.of(request)
            problems = dict(self._search.books.problems)
        except Exception as error:  # noqa: BLE001 - no source failure may fail the call
            failed = Omission("lore", self.layer, "lore", "source failed", str(error))
            return Fetched(omitted=(failed,), warnings=(LORE_FAILED(kind=type(error).__name__, error=error),))
        allowed = {book.id for book in self._search.books.values() if book.rules}
        mine = [one for one in found if one.text and layer_of(one, rules=one.book in allowed) == self.layer]
        omitted: tuple[Omission, ...] = ()
        if self.layer == "retrieved":
            omitted = tuple(_omission(left) for left in found.left)
            omitted += tuple(
                Omission(f"lore:{id_}", "retrieved", f"lore:book:{id_}", "source failed", why)
                for id_, why in sorted(problems.items())
            )
        warnings = tuple(LORE_INVALID(book=id_, why=why) for id_, why in sorted(problems.items()))
        return Fetched(
            tuple(self._candidate(one, request.project_id, at) for at, one in enumerate(_kept_first(mine))),
            omitted,
            warnings if self.layer == "retrieved" else (),
        )

    def _candidate(self, one: Active, project_id: str, at: int) -> Candidate:
        slot = SLOTS.index(one.place.slot) if one.place.slot in SLOTS else 0
        if self.layer == "retrieved":
            score = _WOKEN - _PER_SLOT * slot - _PER_PLACE * at / (at + 1)
        else:
            score = _CONSTANT + 1 / (at + 2)
        trimmed = one.entry.share.trim
        return Candidate(
            id=f"lore:{one.book}/{one.entry.id}",
            layer=self.layer,
            source=f"lore:{_SOURCES[self.layer]}:{one.book}/{one.entry.id}",
            content=with_user(one.text.strip(), _USER),
            score=score,
            evidence=(Evidence("level" if one.entry.level == "always" else "mention", one.reason),),
            group=heading(_GROUPS[self.layer]),
            keep="tail" if trimmed is not None and trimmed[0] == "start" else None,
            project_id=project_id,
        )


def _kept_first(active: list[Active]) -> list[Active]:
    def worth(one: Active) -> tuple[int, float, int]:
        share = one.entry.share
        keep = share.order if share.keep_priority is None else share.keep_priority
        slot = SLOTS.index(one.place.slot) if one.place.slot in SLOTS else 0
        return (slot, -keep, one.order)

    return sorted(active, key=worth)


def _omission(left: Left) -> Omission:
    matching = [reason for words, reason in _WHY if left.reason.startswith(words)]
    reason: OmitReason = matching[0] if matching else "excluded"
    source = f"lore:active:{left.book}/{left.entry.id}"
    return Omission(f"lore:{left.book}/{left.entry.id}", "retrieved", source, reason, left.reason)
