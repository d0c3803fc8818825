"""The books of a project: one folder each under `.armarius/books/`, or where a host keeps projects.

The folder is data like the rest of a project: it can make no rules (docs/decisions/0002), and what is wrong in it costs
that book.

    original    the file, byte for byte
    original.1  the one before, when it was imported again
    codex.json  the entities and relations that a vault or a Novelcrafter export says, for the codex of the project
    book.json   id, name, file, profile, edits, and the hash of the original that they belong to

They lie in `.armarius/books/<id>/`, or wherever a host keeps projects. The edits are about one original: where
`book.json` names the hash of another, an import was broken off. Then the one before is taken if it is that file, else
the book is refused; edits never meet entries that they were not made for.
"""

import hashlib
import json
import os
import threading
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, get_args

from armarius.arguments import ProfileName
from armarius.codex.model import Deleted
from armarius.errors import BookError, ConfigError, ContractError, UnknownId
from armarius.headings import count_noun
from armarius.io import MAX_BYTES, folder_lock, names_in, read_file, remove_folder, stat_of, write_atomic
from armarius.io.toml import refuse_unknown
from armarius.lorebooks.book import Book, read_book
from armarius.lorebooks.formats.notes import NO_ENTITIES, codex_json
from armarius.lorebooks.record import apply_edits, checked_profile, to_json
from armarius.trust.folders import read_user_config
from armarius.trust.settings import CONFIG_NAME, Config, allowed, disallow
from armarius.trust.settings import allow as remember
from armarius.validation import near, shown, suggestion

FOLDER = ".armarius/books"


class BookKeeping(Protocol):
    """The files of the books of one project: `.armarius/books/<id>/<name>`. Threads may share it."""

    def is_empty(self) -> bool:
        """Whether there is no book at all; every prompt asks."""

    def ids(self) -> list[str]:
        """Of the books, sorted."""

    def stamp(self, id_: str, name: str) -> object:
        """What changes with a file; None without a file."""

    def read(self, id_: str, name: str, *, limit: int) -> bytes:
        """The bytes of a file.

        Raises:
            FileNotFoundError: There is no such file.
            OSError: It cannot be read, or has more than `limit` bytes.
        """

    def write(self, id_: str, files: Mapping[str, bytes]) -> None:
        """Keep these files of a book, in this order; one writer at a time.

        Raises:
            StoreError: They cannot be kept.
        """

    def remove(self, id_: str) -> None:
        """Forget a book and its files."""


class BooksInFolder:
    """`BookKeeping` in a project folder.

    Args:
        root: Of the project.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._shelf = str(root / FOLDER)

    def is_empty(self) -> bool:
        """See `BookKeeping`. Cost: one look."""
        return not os.path.lexists(self._shelf)

    def ids(self) -> list[str]:
        """See `BookKeeping`."""
        return names_in(self._root / FOLDER, below=self._root)

    def stamp(self, id_: str, name: str) -> object:
        """See `BookKeeping`. Cost: one look."""
        info = stat_of(self._root / FOLDER / id_ / name, below=self._root)
        return None if info is None else (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)

    def read(self, id_: str, name: str, *, limit: int) -> bytes:
        """See `BookKeeping`."""
        return read_file(self._root / FOLDER / id_ / name, limit=limit, below=self._root)

    def write(self, id_: str, files: Mapping[str, bytes]) -> None:
        """See `BookKeeping`; each file atomically."""
        folder = self._root / FOLDER / id_
        with folder_lock(folder, below=self._root):
            for name, data in files.items():
                write_atomic(folder / name, data, below=self._root)

    def remove(self, id_: str) -> None:
        """See `BookKeeping`."""
        remove_folder(self._root / FOLDER / id_, below=self._root)


_ORIGINAL, _BEFORE, _CARD, _CODEX = "original", "original.1", "book.json", "codex.json"
FILES = (_ORIGINAL, _BEFORE, _CODEX, _CARD)
"""Of a book, the one that vouches for the others last."""
_MAX_CARD = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StoredBook:
    """What was found in the folder of a book.

    Attributes:
        stamp: Of its files when they were read.
        book: None when it is broken.
        original: Hash of the original.
        seal: Hash of original and `book.json` together: what a permission is about.
        problem: Why it is broken, else "".
    """

    stamp: object
    book: Book | None
    original: str = ""
    seal: str = ""
    problem: str = ""


def digest(*parts: bytes) -> str:
    """One hash of several contents."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.hexdigest()


def book_stamp(keeping: BookKeeping, id_: str) -> object:
    """What changes with the files of a book, None where there is no `book.json`, which is written last.

    Cost: a look at each of two files.
    """
    card = keeping.stamp(id_, _CARD)
    return None if card is None else (card, keeping.stamp(id_, _ORIGINAL))


def save_book(keeping: BookKeeping, book: Book, data: bytes | None, before: StoredBook | None) -> StoredBook:
    """Write a book.

    Args:
        keeping: Of the project.
        book: With its edits.
        data: Its original; None leaves the one that is there.
        before: What is there, its original kept as `original.1` when another takes its place.

    Raises:
        StoreFull: It cannot be written.
    """
    original = digest(data) if data is not None else before.original if before is not None else ""
    card = {
        "version": 1,
        "id": book.id,
        "name": book.name,
        "file": book.file,
        "profile": book.profile,
        "off": book.switched_off,
        "original": original,
        "edits": edits_of(book),
    }
    text = (json.dumps(card, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace")
    files: dict[str, bytes] = {}
    old = before.book.container if before is not None and before.book is not None else None
    if data is not None:
        if old is not None and old.data != data:
            files[_BEFORE] = old.data
        files[_ORIGINAL] = data
    codex = NO_ENTITIES if book.switched_off else book.extracted_entities()
    if codex.entities or keeping.stamp(book.id, _CODEX) is not None:
        files[_CODEX] = codex_json(codex)
    keeping.write(book.id, {**files, _CARD: text})
    return StoredBook(
        book_stamp(keeping, book.id), replace(book, rules=False), original, digest(original.encode(), text)
    )


def load_book(keeping: BookKeeping, id_: str, now: object) -> StoredBook:
    """Read a book; a broken one is its stamp and the reason, so that it is not read again until it changes.

    Cost: linear in the size of its files.
    """
    try:
        return _load(keeping, id_, now)
    except (BookError, OSError) as error:
        return StoredBook(now, None, problem=str(error))


def _load(keeping: BookKeeping, id_: str, now: object) -> StoredBook:
    name = f"{FOLDER}/{id_}/{_CARD}"
    text = keeping.read(id_, _CARD, limit=_MAX_CARD)
    try:
        card: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BookError(f"{name}: not JSON: {error}") from None
    if not isinstance(card, dict):
        raise BookError(f"{name}: an object was expected")
    data = _original(keeping, id_, card.get("original"))
    profile = card.get("profile")
    book = read_book(
        data,
        name=str(card.get("file") or id_),
        profile=profile if profile in get_args(ProfileName) else None,
        id_=id_,
    )
    edits = card.get("edits")
    entries, _, losses = apply_edits(book.read, edits if isinstance(edits, dict) else {}, {}, id_)
    book = replace(
        book,
        name=str(card.get("name") or book.name),
        entries=entries,
        losses=(*book.losses, *losses),
        switched_off=card.get("off") is True,
    )
    original = digest(data)
    return StoredBook(now, book, original, digest(original.encode(), text))


def _original(keeping: BookKeeping, id_: str, belongs: object) -> bytes:
    """The original that the edits belong to."""
    try:
        data = keeping.read(id_, _ORIGINAL, limit=MAX_BYTES)
    except FileNotFoundError:
        raise BookError(f"{FOLDER}/{id_}/{_ORIGINAL}: the file is not there, and {_CARD} is") from None
    if belongs is None or digest(data) == belongs:  # a book.json made before there was a hash in it
        return data
    try:
        data = keeping.read(id_, _BEFORE, limit=MAX_BYTES)
    except FileNotFoundError:
        data = b""
    if digest(data) != belongs:
        raise BookError(f"{FOLDER}/{id_}/{_ORIGINAL}: not the file that {_CARD} was written for")
    return data


def edits_of(book: Book) -> dict[str, Any]:
    """The edits of a book as `book.json` keeps them; None for a deleted entry."""
    kept = {entry.id for entry in book.entries}
    return {
        id_: {leaf: to_json(leaf, value) for leaf, value in values.items()} if id_ in kept else None
        for id_, values in book.changes().items()
    }


_MAX_BOOKS = 1_000
_NAMED = 12
_LONGEST_USER = 100


class Books(Mapping[str, Book]):
    """The books of a project, by id; a name will do where only one has it. Read again when their files change.

    Each call looks at the folder once: `books.snapshot()` is for those who ask several questions. Threads may share it.

    Args:
        root: The project folder; None for a project without one.
        keeping: Where its books are kept; None is in the folder, or in memory without one.

    Attributes:
        problems: Why a book of the folder is not there, by its id.
    """

    def __init__(self, root: Path | None, keeping: BookKeeping | None = None) -> None:
        self._root = root
        self._keeping = BooksInFolder(root) if keeping is None and root is not None else keeping
        self._lock = threading.RLock()
        self._kept: dict[str, StoredBook] = {}
        self._allowed: dict[str, str] = {}  # id to the seal of what may make rules
        self._remembered = allowed(root) if root is not None else {}  # likewise, by the user's configuration
        self.problems: Mapping[str, str] = {}

    def __repr__(self) -> str:
        books, problems = self.look()
        named = ", ".join([*list(books)[:_NAMED], *(["…"] if len(books) > _NAMED else [])])
        entries = count_noun(sum(len(book) for book in books.values()), "entry", "entries")
        broken = f", {len(problems)} broken" if problems else ""
        text = f"<{count_noun(len(books), 'book')}{': ' if named else ''}{named}; {entries}{broken}>"
        return "".join(char if char.isprintable() else "\ufffd" for char in text)

    def snapshot(self) -> Mapping[str, Book]:
        """The books by id as their files are now; it does not change. Cost: two looks a book when nothing changed."""
        return self.look()[0]

    def look(self) -> tuple[Mapping[str, Book], Mapping[str, str]]:
        """As `snapshot`, with the `problems` of the same look."""
        with self._lock:
            self._look()
            books = {id_: item.book for id_, item in self._kept.items() if item.book is not None}
            return MappingProxyType(books), self.problems

    def __getitem__(self, key: object) -> Book:
        books, problems = self.look()
        if isinstance(key, str) and key in problems:
            raise UnknownId(f"the book {shown(key)} is broken: {problems[key]}")
        return _book_named(books, key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key in self.snapshot()

    def __iter__(self) -> Iterator[str]:
        return iter(self.snapshot())

    def __len__(self) -> int:
        return len(self.snapshot())

    def get(self, key: object, default: Any = None) -> Any:  # noqa: ANN401 - as of a mapping
        """The book of an id or a name, else `default`; without one UnknownId, as `get` of every collection."""
        return self[key] if default is None or key in self else default

    def list(self) -> tuple[Book, ...]:
        """All books, of one look."""
        return tuple(self.snapshot().values())

    def values(self) -> ValuesView[Book]:
        """All books, of one look."""
        return self.snapshot().values()

    def items(self) -> ItemsView[str, Book]:
        """All books with their ids, of one look."""
        return self.snapshot().items()

    def taken(self) -> frozenset[str]:
        """Ids in use, those of broken books too."""
        with self._lock:
            self._look()
            return frozenset(self._kept)

    def update(self, book: Book) -> Book:
        """Keep a changed book: its edits, profile and name; the original stays as it is. Changed, it makes no rules.

        Raises:
            UnknownId: The project has no book of this id: `engine.importing.add` brings it in.
            StoreFull: It cannot be written.
        """
        with self._lock:
            if book.id not in self.snapshot():
                raise UnknownId(f"no book {book.id!r}: import it first")
            return self._save(book, None)

    def use_profile(self, key: str, profile: ProfileName) -> Book:
        """Have another engine's rules decide over a book, `armarius` for our own.

        Raises:
            UnknownId: No such book.
            ContractError: No such profile.
        """
        return self.update(replace(self[key], profile=checked_profile(profile)))

    def allow_rules(self, key: str, allow: bool = True, *, lasting: bool = False) -> None:
        """Let the always active entries of a book be rules of every prompt: the caller's word.

        It holds for the book as it is now. Nothing in a project folder can grant this, and any change of the book
        revokes it: an edit, an import, another file in its place.

        Args:
            key: Id or name of the book.
            allow: False takes it back, the lasting one too.
            lasting: Remember it in the user's configuration, for every engine that is opened from now on; else it is
                for this engine alone.

        Raises:
            UnknownId: No such book.
            ContractError: `lasting` for books without a folder.
            ConfigError, StoreFull, StoreBusy: The user's configuration cannot be read or written.
        """
        with self._lock:
            id_ = self[key].id
            kept = self._kept[id_]
            assert kept.book is not None
            if lasting and self._root is None:
                raise ContractError("lasting: a book without a folder can be remembered nowhere")
            if not allow:
                self._disallow(id_)
            else:
                if lasting and self._root is not None:
                    remember(self._root, id_, kept.seal)
                    self._remembered = allowed(self._root)
                self._allowed[id_] = kept.seal
            self._kept[id_] = replace(kept, book=replace(kept.book, rules=allow))

    def delete(self, key: str) -> Deleted:
        """Take a book out of the project, with its original.

        Raises:
            UnknownId: No such book.
        """
        with self._lock:
            book = self[key]
            self._disallow(book.id)
            if self._keeping is not None:
                self._keeping.remove(book.id)
            self._kept.pop(book.id, None)
            return Deleted(book.id, "folder", f"{FOLDER}/{book.id}")

    def _disallow(self, id_: str) -> None:
        self._allowed.pop(id_, None)
        if self._root is not None and id_ in self._remembered:
            disallow(self._root, id_)
            self._remembered = allowed(self._root)

    def put(self, book: Book, data: bytes) -> Book:
        """Store a book with its original; the original of a replaced book of the same id stays as `original.1`."""
        with self._lock:
            ids = self.taken()
            if book.id not in ids and len(ids) >= _MAX_BOOKS:
                raise BookError(f"a project has at most {_MAX_BOOKS:,} books")
            return self._save(book, data)

    def _save(self, book: Book, data: bytes | None) -> Book:
        self._allowed.pop(book.id, None)
        if self._keeping is None:
            kept = StoredBook(None, replace(book, rules=False))
        else:
            kept = save_book(self._keeping, book, data, self._kept.get(book.id))
            if kept.book is not None and kept.seal == self._remembered.get(book.id):
                kept = replace(kept, book=replace(kept.book, rules=True))
        self._kept[book.id] = kept
        return self[book.id]

    def _look(self) -> None:
        """Read what changed since the last look; a permission ends with what it was given for."""
        if self._keeping is None:
            return
        if self._keeping.is_empty():  # most projects have none, and every prompt asks
            self._kept, self._allowed, self.problems = {}, {}, MappingProxyType({})
            return
        items: dict[str, StoredBook] = {}
        for id_ in self._keeping.ids()[:_MAX_BOOKS]:
            now = book_stamp(self._keeping, id_)
            if now is None:
                continue
            item = self._kept.get(id_)
            if item is None or item.stamp != now:
                item = load_book(self._keeping, id_, now)
                if item.book is not None and item.seal in (self._allowed.get(id_), self._remembered.get(id_)):
                    item = replace(item, book=replace(item.book, rules=True))
            items[id_] = item
        self._kept = items
        self._allowed = {id_: seal for id_, seal in self._allowed.items() if id_ in items and items[id_].seal == seal}
        self.problems = MappingProxyType({id_: item.problem for id_, item in items.items() if item.book is None})


def available_books(ids: list[str]) -> str:
    """The end of an error's sentence about a name that is near none."""
    if not ids:
        return "; the project has none: armarius import brings one in"
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f"; there are {', '.join(ids[:_NAMED])}{more}"


def _book_named(books: Mapping[str, Book], key: object) -> Book:
    if isinstance(key, str) and key in books:
        return books[key]
    named = [book for book in books.values() if book.name == key]
    if len(named) == 1:
        return named[0]
    called = {book.id: (book.id, book.name, book.file) for book in books.values()}
    close = near(key, [name for names in called.values() for name in names])
    ids = tuple(dict.fromkeys(id_ for name in close for id_, names in called.items() if name in names))
    raise UnknownId(f"no book {shown(key)}{suggestion(ids) or available_books(list(books))}", ids)


def user_of(config: Config, root: Path | None) -> str:
    """The name that stands for `{{user}}`, "" where none is set.

    It is `user` of the table `[books]` in armarius.toml for one project, else in the user's config.toml for all.

    Raises:
        ConfigError: An unknown key or an invalid name; names file and key.

    Cost: one small file.
    """
    mine = read_user_config(project=root)
    return _user(config.table("books"), CONFIG_NAME) or _user(mine.books, mine.name)


def _user(table: Mapping[str, Any], file: str) -> str:
    refuse_unknown(table, ["user"], f"{file}: unknown key books.")
    user = table.get("user", "")
    if not isinstance(user, str) or len(user) > _LONGEST_USER or not user.isprintable():
        raise ConfigError(
            f"{file}: books.user must be a name on one line of at most {_LONGEST_USER} characters, got {user!r:.120}"
        )
    return user.strip()
