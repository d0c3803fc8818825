"""Activation of lorebooks: books of one profile together, with replay of earlier turns for timed entries.

The books of a project are activated in two steps: constant entries, then entries found in a text or chat. Settings and
rules are at the head of a prompt, where any difference invalidates the provider's prefix cache (docs/decisions/0032).
So constant entries are activated first, without text and timing, with a random seed of book and entry alone. The second
step keeps that result: constant entries activate others and use budget there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from armarius.arguments import ProfileName, check_arg, read_messages
from armarius.deadline import Recent
from armarius.errors import ContractError
from armarius.lorebooks.active.compiled import ROUNDS, SETTINGS, CompiledBooks, Rules, read_settings, unknown_settings
from armarius.lorebooks.active.programs import (
    RISU_SETTINGS,
    STORY_SETTINGS,
    CompiledRisu,
    CompiledStory,
    full_words,
    search_risu,
    search_story,
)
from armarius.lorebooks.active.records import Activation, Active, Random, Scan, SkippedEntry, State
from armarius.lorebooks.active.rounds import search_rounds
from armarius.lorebooks.book import Book
from armarius.lorebooks.project_books import Books
from armarius.lorebooks.record import Decorator, Entry, Timing
from armarius.text.tokens import TokenCounter
from armarius.validation import MOST, cleaned, shown, texts, whole
from armarius.validation import text as strict_text
from armarius.validation import texts as strict_texts

_READ_ELSEWHERE = frozenset({"trigger", "world_info_character_strategy", "world_info_budget", "budget"})
_KEPT = 16
Keys = CompiledBooks | CompiledRisu | CompiledStory
_REPLAYED = 400


def known_settings(profile: str) -> frozenset[str]:
    """The names of a profile's settings."""
    if profile in SETTINGS:
        return frozenset(SETTINGS[profile]) | _READ_ELSEWHERE
    return {"risu": RISU_SETTINGS, **STORY_SETTINGS}[profile] | {"budget"}


def scan_of(
    *,
    messages: Iterable[object] = (),
    text: str = "",
    story: tuple[str, Sequence[str]] | None = None,
    settings: Mapping[str, Any] | None = None,
    turn: int | None = None,
    character: str = "",
    cast: Mapping[str, str] | None = None,
    user: str = "",
    trigger: str = "normal",
    tags: Sequence[str] = (),
    sources: Mapping[str, str] | None = None,
    greeting: int | None = None,
    count: Callable[[str], int] = len,
    budget: int | None = None,
) -> Scan:
    """Validate the arguments of an activation.

    Raises:
        ContractError: An argument of the wrong kind; names it.
    """
    for name, value in (("text", text), ("character", character), ("user", user), ("trigger", trigger)):
        strict_text(name, value)
    _check_named("settings", settings)
    for name, values in (("cast", cast), ("sources", sources)):
        _check_named(name, values, texts=True)
    story = _checked_story(story)
    tags = strict_texts("tags", tags)
    turns = tuple(messages) if isinstance(messages, Iterator) else messages
    lines = check_arg("messages", partial(read_messages, lines=True), turns)
    turn = None if turn is None else whole("turn", turn, least=-MOST)
    greeting = None if greeting is None else whole("greeting", greeting)
    budget = None if budget is None else whole("budget", budget)
    return Scan(
        messages=lines,
        text=cleaned(text),
        story=None if story is None else (cleaned(story[0]), tuple(cleaned(action) for action in story[1])),
        settings=dict(settings or {}),
        turn=len(lines) if turn is None else turn,
        character=cleaned(character),
        cast={book: cleaned(name) for book, name in (cast or {}).items()},
        user=cleaned(user),
        trigger=str((settings or {}).get("trigger", trigger)),
        tags=tuple(tags),
        sources={name: cleaned(source) for name, source in (sources or {}).items()},
        greeting=greeting,
        count=count,
        budget=budget,
    )


def _check_named(field: str, mapping: object, *, texts: bool = False) -> None:
    """Check that an argument maps names to values, or to texts."""
    if mapping is None:
        return
    if not isinstance(mapping, Mapping) or not all(isinstance(name, str) for name in mapping):
        raise ContractError(f"{field}: expected names and values, got {shown(mapping)}")
    for name, value in mapping.items() if texts else ():
        strict_text(f"{field}[{shown(name)}]", value)


def _checked_story(story: object) -> tuple[str, Sequence[str]] | None:
    if story is None:
        return None
    if not isinstance(story, tuple | list) or len(story) != 2:
        raise ContractError(f"story: expected an opening and a list of actions, got {shown(story)}")
    return strict_text("story[0]", story[0]), strict_texts("story[1]", story[1])


class Activator:
    """Activates entries; caches the compiled keys of books. Thread-safe.

    Cost: linear in the text; for the first search of a book, also in its keys.
    """

    def __init__(self) -> None:
        self._ready = Recent[tuple[Sequence[Book], Keys]](_KEPT)

    def search(
        self, books: Iterable[Book], scan: Scan, *, rolls: Sequence[float] = (), state: State | None = None
    ) -> Activation:
        """The active entries of these books, profile by profile.

        Raises:
            ContractError: A setting that none of their profiles knows, or invalid `rolls`.
        """
        by_profile: dict[str, list[Book]] = {}
        for book in books:
            by_profile.setdefault(book.profile, []).append(book)
        names = frozenset(name for profile in by_profile for name in known_settings(profile))
        if by_profile:
            unknown_settings(scan.settings, names)
        luck = Random(rolls, str(scan.turn))
        active: list[Active] = []
        left: list[SkippedEntry] = []
        after = State() if state is None else state
        for profile, some in by_profile.items():
            before = self._replayed(profile, some, scan) if state is None else after
            result = self._search(profile, some, scan, luck, before)
            base = len(active)
            active += (replace(item, order=item.order + base) for item in result.active) if base else result.active
            left += result.left
            done = result.state.done | after.done
            after = State({**after.sticky, **result.state.sticky}, {**after.cooldown, **result.state.cooldown}, done)
            if state is not None:
                after = result.state
        return Activation(tuple(active), tuple(left), after)

    def _replayed(self, profile: str, books: Sequence[Book], scan: Scan) -> State:
        """The state after the earlier turns, one per message of the user, or per message if none is the user's."""
        ready = self._keys_of(profile, books, scan)
        lines = scan.messages
        if not ready.timed or len(lines) < 2:
            return State()
        positions = [
            at for at, line in enumerate(lines, 1) if line.role == "user" or (scan.user and line.name == scan.user)
        ]
        turns = [at for at in positions or range(1, len(lines) + 1) if at < len(lines)][-_REPLAYED:]
        state = State()
        for at in turns:
            earlier = replace(scan, messages=lines[:at], turn=scan.turn - len(lines) + at)
            state = self._search(profile, books, earlier, Random((), str(earlier.turn)), state).state
        return state

    def _search(self, profile: str, books: Sequence[Book], scan: Scan, luck: Random, state: State) -> Activation:
        ready = self._keys_of(profile, books, scan)
        if isinstance(ready, CompiledBooks):
            return search_rounds(ready, _rules(profile, books, scan), scan, luck, state)
        if isinstance(ready, CompiledRisu):
            return search_risu(ready, books, scan, luck, state)
        return search_story(ready, scan, luck, state)

    def _keys_of(self, profile: str, books: Sequence[Book], scan: Scan) -> Keys:
        """The compiled keys of these books under this profile, from an LRU cache."""
        names = tuple(scan.names(book.id) for book in books)
        rules = _rules(profile, books, scan) if profile in ROUNDS else None
        how: Any = (rules.words, rules.case, rules.recursion) if rules is not None else None
        if profile == "risu":
            how = full_words(books, scan)
        elif rules is None:
            how = (scan.settings.get("case_sensitive_wi"), scan.settings.get("wirmvwhtsp"))
        key = (profile, names, how, *(id(book) for book in books))
        if (kept := self._ready.get(key)) is not None:
            return kept[1]
        made: Keys
        if rules is not None:
            made = CompiledBooks(books, rules, scan.names)
        elif profile == "risu":
            made = CompiledRisu(books, how, scan.names)
        else:
            made = CompiledStory(profile, books, scan)
        self._ready.keep(key, (tuple(books), made))  # the books are held: their ids stay theirs
        return made


def _rules(profile: str, books: Sequence[Book], scan: Scan) -> Rules:
    rules = ROUNDS[profile]
    settings = dict(scan.settings)
    if rules.book_facts and len(books) == 1:
        facts = books[0].settings
        values = {"budget": facts.get("budget"), "recursion": facts.get("recursion")}
        rules = replace(rules, **{name: value for name, value in values.items() if value is not None})
    whole = settings.pop("world_info_match_whole_words", None)
    if isinstance(whole, bool):
        rules = replace(rules, words="ascii" if whole else "none")
    rules = read_settings(rules, settings, SETTINGS[profile])
    return replace(rules, min_activations=0) if rules.max_steps else rules


def activate(
    books: Iterable[Book],
    *,
    rolls: Sequence[float] = (),
    state: State | None = None,
    **question: Any,  # noqa: ANN401
) -> Activation:
    """The active entries of some books, without a project.

    Args:
        books: Books, each with its profile.
        rolls: Random numbers between 0 and 1, used in order; further ones are derived from book, entry and turn.
        state: State of the previous turn; None replays it from the messages.
        question: As in `ContextEngine.active`.

    Raises:
        ContractError: An argument has the wrong type, or no profile knows a setting.
    """
    return Activator().search(tuple(books), scan_of(**question), rolls=rolls, state=state)


class ProfileDifference(NamedTuple):
    """An entry that is active under one of two profiles only.

    Attributes:
        entry: The entry.
        before: Why it is active under the book's own profile; "" if it is not.
        after: Why it is active under the other; "" if it is not.
    """

    entry: Entry
    before: str
    after: str


def profile_differences(book: Book, profile: ProfileName, scan: Scan) -> tuple[ProfileDifference, ...]:
    """The entries that only one of the two profiles activates, in book order. Ignores the settings of `scan`.

    Cost: two searches.
    """
    scan = replace(scan, settings={})
    activator = Activator()
    ours = {item.entry.id: item.reason for item in activator.search([book], scan)}
    theirs = {item.entry.id: item.reason for item in activator.search([replace(book, profile=profile)], scan)}
    return tuple(
        ProfileDifference(entry, ours.get(entry.id, ""), theirs.get(entry.id, ""))
        for entry in book.entries
        if (entry.id in ours) != (entry.id in theirs)
    )


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
        story: str | tuple[str, Sequence[str]] = "",
        books: Sequence[str] | None = None,
        rolls: Sequence[float] = (),
        state: State | None = None,
        character: str = "",
        user: str = "",
        model: str | None = None,
        **question: Any,  # noqa: ANN401 - as `scan_of` takes them
    ) -> Activation:
        """See `armarius.ContextEngine.active`."""
        if books is None:
            chosen = list(self.books.values())
        else:
            chosen = [self.books[book_id] for book_id in texts("books", books, what="ids")]
        searched_story: tuple[str, Sequence[str]] | None
        if isinstance(story, str):
            parts = self.books[story].settings.get("story") if story in self.books else None
            searched_story = parts or ((story, ()) if story else None)
        else:
            searched_story = story
        cast = cast_of(chosen)
        scan = scan_of(
            story=searched_story,
            character=character or next(iter(cast.values()), ""),
            cast={} if character else cast,
            user=user or self.user,
            count=(TokenCounter.for_model(model) if model else TokenCounter.estimate()).count,
            **question,
        )
        return self.activator.search(chosen, scan, rolls=rolls, state=state)


_TIMED = frozenset(
    {"activate_only_after", "activate_only_every", "keep_activate_after_match", "dont_activate_after_match"}
)
_DRAWN = _TIMED | {"probability"}
_DECIDED = frozenset(  # reasons that the text must not overturn
    ("lore.group_sticky", "lore.group_before", "lore.group", "lore.group_keys", "lore.draw", "lore.budget")
)


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
        replace(book, entries=tuple(_drop_timing(entry, _TIMED) for entry in book.entries if entry.level == "always"))
        for book in books
    ]
    result = activator.search([book for book in constant if book.entries], scan, state=State())
    active = frozenset(f"{item.book}/{item.entry.id}" for item in result)
    lost = frozenset(f"{item.book}/{item.entry.id}" for item in result.left if item.reason.code in _DECIDED)
    decided = []
    for book, fixed in zip(books, constant, strict=True):
        if not fixed.entries:  # no constant entries: keep the same object, which has cached keys
            decided.append(book)
            continue
        entries = []
        for entry in book.entries:
            address = f"{book.id}/{entry.id}"
            if address in active:
                entry = _drop_timing(entry, _DRAWN)
                entry = replace(entry, chance=replace(entry.chance, probability=None))
            if address not in lost:
                entries.append(entry)
        decided.append(replace(book, entries=tuple(entries)))
    return ConstantEntries(result, tuple(decided), active)


def _drop_timing(entry: Entry, names: frozenset[str]) -> Entry:
    kept: list[Decorator] = []
    dropped = False
    for decorator in entry.decorators:
        if decorator.fallback and dropped:
            continue
        dropped = decorator.name in names
        if not dropped:
            kept.append(decorator)
    return replace(entry, timing=Timing(), decorators=tuple(kept))
