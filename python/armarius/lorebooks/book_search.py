"""Activation of the books of a project, in two steps: constant entries, then entries found in a text or chat.

Settings and rules are at the head of a prompt, where any difference invalidates the provider's prefix cache
(docs/decisions/0032). So constant entries are activated first, without text and timing, with a random seed of book and
entry alone. The second step keeps that result: constant entries activate others and use budget there.
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
    """Book id to the name of the card's character, for books of a card."""
    return {book.id: str(book.settings["character"]) for book in books if book.settings.get("character")}


class BookSearch:
    """Activates entries of a project's books; caches compiled keys. Thread-safe.

    Args:
        books: The project's books.
        user: Default of `{{user}}`.
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
        """The active lorebook entries, in order, with book, position and reason; and the skipped ones.

        Args:
            messages: Messages of a chat, oldest first: `{"name", "text"}`, a text, or any form that `assemble` takes.
            text: Instead, the text of a story.
            story: Instead, opening and actions; or the id of a book with a story in its file.
            books: Book ids; None is all that are not switched off.
            settings: Settings of the emulated programs, by their own names, such as `world_info_depth`.
            turn: Number of the turn, part of the random seed; None is the number of messages.
            rolls: Random numbers between 0 and 1, used in order; further ones are derived from book, entry and turn.
            state: State of the previous turn; None replays it from the messages.
            character: `{{char}}`; default is the character of the book's card, else of the first card.
            user: `{{user}}`; default is `user` in `[books]`, and without one the macro stays as written. A message of
                this name ends a turn when state is replayed.
            trigger: Kind of generation: `normal`, `continue`, `swipe`, ….
            tags: Tags of the character.
            sources: Other texts that entries may scan: `persona`, `character`, `scenario`, `memory`, ….
            greeting: Number of the opening message.
            model: Selects the token counter; None estimates.
            budget: Tokens for entries; None uses each profile's setting.

        Raises:
            UnknownId: No such book.
            ContractError: An argument has the wrong type, or no profile here knows a setting.

        Cost: one pass over the scanned text, independent of the size of the books.
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
        if not fixed.entries:  # no constant entries: keep the same object, which has cached keys
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
