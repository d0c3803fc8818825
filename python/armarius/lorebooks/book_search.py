"""The books of a project searched: for a text or a chat, and the constant entries apart from it.

Settings and rules stand at the head of a prompt, and a difference there invalidates a prefix cache for all that follows
(docs/decisions/0032). So constant entries are drawn by a seed of book and entry, without timing, in a search without
text. The search of the text then takes them as they were decided: they wake others and use budget there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from armarius.lorebooks.activation import Activator, scan_of
from armarius.lorebooks.active.result import Activation, State
from armarius.lorebooks.active.scan import Scan
from armarius.lorebooks.book import Book
from armarius.lorebooks.project_books import Books
from armarius.lorebooks.record import Decorator, Entry, Timing
from armarius.text.tokens import TokenCounter
from armarius.validation import texts


def cast_of(books: Iterable[Book]) -> dict[str, str]:
    """Id of a book to the character of the card that it came with, for those that came with one."""
    return {book.id: str(book.settings["character"]) for book in books if book.settings.get("character")}


class BookSearch:
    """Searches the books of a project; their keys are made ready once. Threads may share it.

    Args:
        books: Of the project.
        user: `{{user}}` where a call names none.
    """

    def __init__(self, books: Books, *, user: str = "") -> None:
        self.books = books
        self.user = user
        self.activator = Activator()

    def active(
        self,
        *,
        messages: Sequence[object] = (),
        text: str = "",
        story: str | tuple[str, Sequence[str]] = "",
        books: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        turn: int | None = None,
        rolls: Sequence[float] = (),
        state: State | None = None,
        character: str = "",
        user: str = "",
        trigger: str = "normal",
        tags: Sequence[str] = (),
        sources: Mapping[str, str] | None = None,
        greeting: int | None = None,
        model: str | None = None,
        budget: int | None = None,
    ) -> Activation:
        """The lorebook entries that are active, in order, with book, place and reason; and those that were close.

        Args:
            messages: Of a chat, oldest first: `{"name", "text"}`, a text, or any form that `assemble` takes.
            text: Instead, the text of a story.
            story: Instead, opening and actions; or the id of a book whose file holds a story.
            books: Ids; None is all of the project that are not switched off.
            settings: Of the programs whose rules the books follow, by their own names, as `world_info_depth`.
            turn: Its number, part of the seed of draws; None is the number of messages.
            rolls: Draws from 0 to 1, used up in turn; then they are made from book, entry and turn.
            state: What the turn before answered; None replays it from the messages.
            character: `{{char}}`; when not given, the character of the card that a book came with, else of the first.
            user: `{{user}}`; when not given the `user` of `[books]`, and without one it stays as written. Messages of
                this name end a turn when state is replayed.
            trigger: Kind of generation: `normal`, `continue`, `swipe`, ….
            tags: Of the character.
            sources: Other texts that entries may search: `persona`, `character`, `scenario`, `memory`, ….
            greeting: Number of the opening message.
            model: Decides how tokens are counted; None estimates.
            budget: Tokens for entries; None as each profile says.

        Raises:
            UnknownId: No such book.
            ContractError: An argument of the wrong kind, or a setting that no profile here knows.

        Cost: one pass over the searched text, independent of the size of the books.
        """
        if books is None:
            chosen = list(self.books.values())
        else:
            chosen = [self.books[one] for one in texts("books", books, what="ids")]
        searched_story: tuple[str, Sequence[str]] | None
        if isinstance(story, str):
            held = self.books[story].settings.get("story") if story in self.books else None
            searched_story = held or ((story, ()) if story else None)
        else:
            searched_story = story
        cast = cast_of(chosen)
        counter = TokenCounter.for_model(model) if model else TokenCounter.estimate()
        scan = scan_of(
            messages=messages,
            text=text,
            story=searched_story,
            settings=settings,
            turn=turn,
            character=character or next(iter(cast.values()), ""),
            cast={} if character else cast,
            user=user or self.user,
            trigger=trigger,
            tags=tags,
            sources=sources,
            greeting=greeting,
            count=counter.count,
            budget=budget,
        )
        return self.activator.search(chosen, scan, rolls=rolls, state=state)


_TIMED = frozenset(
    {"activate_only_after", "activate_only_every", "keep_activate_after_match", "dont_activate_after_match"}
)
_DRAWN = _TIMED | {"probability"}
_DECIDED = ("lost ", "budget")  # beginnings of reasons that the text must not overturn


@dataclass(frozen=True, slots=True)
class ConstantEntries:
    """The constant entries of some books.

    Attributes:
        found: The active ones, and those that were close.
        books: To be searched with the text: the active ones certain, those that lost gone.
        active: `book/entry` of the active ones.
    """

    found: Activation
    books: tuple[Book, ...]
    active: frozenset[str]


def constant_entries(activator: Activator, books: Sequence[Book], scan: Scan) -> ConstantEntries:
    """Decide on the constant entries.

    Args:
        activator: Keeps the keys ready.
        books: All that are searched.
        scan: Without messages or text.

    Cost: one search of nothing; linear in the number of entries.
    """
    constant = [
        replace(book, entries=tuple(_timeless(one, _TIMED) for one in book.entries if one.level == "always"))
        for book in books
    ]
    found = activator.search([book for book in constant if book.entries], scan, state=State())
    active = frozenset(f"{one.book}/{one.entry.id}" for one in found)
    lost = frozenset(f"{one.book}/{one.entry.id}" for one in found.left if one.reason.startswith(_DECIDED))
    decided = []
    for book, fixed in zip(books, constant, strict=True):
        if not fixed.entries:  # nothing to decide: the very book, whose keys may be ready
            decided.append(book)
            continue
        entries = []
        for one in book.entries:
            address = f"{book.id}/{one.id}"
            if address in active:
                one = _timeless(one, _DRAWN)
                one = replace(one, chance=replace(one.chance, probability=None))
            if address not in lost:
                entries.append(one)
        decided.append(replace(book, entries=tuple(entries)))
    return ConstantEntries(found, tuple(decided), active)


def _timeless(entry: Entry, names: frozenset[str]) -> Entry:
    kept: list[Decorator] = []
    dropped = False
    for one in entry.decorators:
        if one.fallback and dropped:
            continue
        dropped = one.name in names
        if not dropped:
            kept.append(one)
    return replace(entry, timing=Timing(), decorators=tuple(kept))
