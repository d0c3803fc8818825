"""The books of a project under `.armarius/books/<id>/`: the file as it came, and what was changed here.

    original    the file, byte for byte
    book.json   id, name, file, profile, edits

The folder is data like the rest of a project: it can make no rules (docs/decisions/0002), and what is wrong in it costs
that book.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from armarius.books.book import Book
from armarius.books.edits import applied, to_json
from armarius.books.formats.format import ProfileName
from armarius.books.limits import MAX_BYTES
from armarius.books.opening import read_book
from armarius.errors import BookError, ContractError, UnknownId
from armarius.files import folder_lock, names_in, read_file, remove_folder, stat_of, write_atomic
from armarius.text.near import near, suggestion

__all__ = ["FOLDER", "Books", "edits_of", "there_are"]

FOLDER = ".armarius/books"
_ORIGINAL, _CARD = "original", "book.json"
_MAX_CARD = 16 * 1024 * 1024
_MAX_BOOKS = 1_000
_NAMED = 12


class Books(Mapping[str, Book]):
    """The books of a project, by id; a name will do where only one has it. Read again when their files change.

    Args:
        root: The project folder; None keeps books in memory.

    Attributes:
        problems: Why a book of the folder is not there, by its id.
    """

    def __init__(self, root: Path | None) -> None:
        self._root = root
        self._lock = threading.RLock()
        self._books: dict[str, tuple[object, Book]] = {}
        self._rules: set[str] = set()
        self.problems: dict[str, str] = {}

    def __getitem__(self, key: str) -> Book:
        books = self._present()
        if key in books:
            return books[key]
        named = [book for book in books.values() if book.name == key]
        if len(named) == 1:
            return named[0]
        called = {book.id: (book.id, book.name, book.file) for book in books.values()}
        close = near(key, [name for names in called.values() for name in names])
        ids = tuple(dict.fromkeys(id_ for one in close for id_, names in called.items() if one in names))
        raise UnknownId(f"no book {key!r}{suggestion(ids) or there_are(list(books))}", ids)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key in self._present()

    def __iter__(self) -> Iterator[str]:
        return iter(self._present())

    def __len__(self) -> int:
        return len(self._present())

    def update(self, book: Book) -> Book:
        """Keep a changed book: its edits, profile and name; the original stays as it is.

        Raises:
            UnknownId: The project has no book of this id: `engine.importing.add` brings it in.
            StoreFull: It cannot be written.
        """
        with self._lock:
            if book.id not in self._present():
                raise UnknownId(f"no book {book.id!r}: import it first")
            self._save(book, None)
            return self[book.id]

    def use_profile(self, key: str, profile: ProfileName) -> Book:
        """Have another engine's rules decide over a book, `armarius` for our own.

        Raises:
            UnknownId: No such book.
            ContractError: No such profile.
        """
        if profile not in get_args(ProfileName):
            raise ContractError(f"profile: expected one of {', '.join(get_args(ProfileName))}, got {profile!r}")
        return self.update(replace(self[key], profile=profile))

    def allow_rules(self, key: str, allowed: bool = True) -> None:
        """Let the always active entries of a book be rules of every prompt of this engine: the caller's word.

        Nothing in a project folder can say this, and it is not remembered.

        Raises:
            UnknownId: No such book.
        """
        book = self[key]
        (self._rules.add if allowed else self._rules.discard)(book.id)
        with self._lock:
            stamp, kept = self._books[book.id]
            self._books[book.id] = (stamp, replace(kept, rules=allowed))

    def remove(self, key: str) -> None:
        """Take a book out of the project, with its original.

        Raises:
            UnknownId: No such book.
        """
        book = self[key]
        with self._lock:
            if self._root is not None:
                remove_folder(self._root / FOLDER / book.id, below=self._root)
            self._books.pop(book.id, None)

    def put(self, book: Book, data: bytes) -> Book:
        """Keep a book with its original; in the place of one of the same id."""
        with self._lock:
            if book.id not in self._books and len(self._present()) >= _MAX_BOOKS:
                raise BookError(f"a project has at most {_MAX_BOOKS:,} books")
            self._save(book, data)
            return self[book.id]

    def _save(self, book: Book, data: bytes | None) -> None:
        if self._root is None:
            self._books[book.id] = (None, replace(book, rules=book.id in self._rules))
            return
        folder = self._root / FOLDER / book.id
        card = {
            "version": 1,
            "id": book.id,
            "name": book.name,
            "file": book.file,
            "profile": book.profile,
            "off": book.switched_off,
            "edits": edits_of(book),
        }
        with folder_lock(folder, below=self._root):
            if data is not None:
                write_atomic(folder / _ORIGINAL, data, below=self._root)
            text = json.dumps(card, ensure_ascii=False, indent=2) + "\n"
            write_atomic(folder / _CARD, text.encode("utf-8", "backslashreplace"), below=self._root)
            self._books[book.id] = (self._stamp(book.id), replace(book, rules=book.id in self._rules))

    def _present(self) -> dict[str, Book]:
        """The books as their files are now. Cost: two looks a book when nothing changed."""
        with self._lock:
            if self._root is None:
                return {id_: book for id_, (_, book) in self._books.items()}
            problems: dict[str, str] = {}
            found: dict[str, tuple[object, Book]] = {}
            for id_ in names_in(self._root / FOLDER, below=self._root)[:_MAX_BOOKS]:
                stamp = self._stamp(id_)
                if stamp is None:
                    continue
                known = self._books.get(id_)
                if known is not None and known[0] == stamp:
                    found[id_] = known
                    continue
                try:
                    found[id_] = (stamp, self._read(id_))
                except (BookError, OSError) as error:
                    problems[id_] = str(error)
            self._books, self.problems = found, problems
            return {id_: book for id_, (_, book) in found.items()}

    def _stamp(self, id_: str) -> object:
        assert self._root is not None
        stamps = []
        for name in (_CARD, _ORIGINAL):
            info = stat_of(self._root / FOLDER / id_ / name, below=self._root)
            if info is None:
                return None
            stamps.append((info.st_mtime_ns, info.st_size, info.st_ino))
        return tuple(stamps)

    def _read(self, id_: str) -> Book:
        assert self._root is not None
        folder = self._root / FOLDER / id_
        name = f"{FOLDER}/{id_}/{_CARD}"
        try:
            card: Any = json.loads(read_file(folder / _CARD, limit=_MAX_CARD, below=self._root))
        except (ValueError, RecursionError) as error:
            raise BookError(f"{name}: not JSON: {error}") from None
        if not isinstance(card, dict):
            raise BookError(f"{name}: an object was expected")
        data = read_file(folder / _ORIGINAL, limit=MAX_BYTES, below=self._root)
        profile = card.get("profile")
        book = read_book(
            data,
            name=str(card.get("file") or id_),
            profile=profile if profile in get_args(ProfileName) else None,
            id_=id_,
        )
        edits = card.get("edits")
        entries, _, losses = applied(book.read, edits if isinstance(edits, dict) else {}, {}, id_)
        return replace(
            book,
            name=str(card.get("name") or book.name),
            entries=entries,
            losses=(*book.losses, *losses),
            rules=id_ in self._rules,
            switched_off=card.get("off") is True,
        )


def there_are(ids: list[str]) -> str:
    """The end of an error's sentence about a name that is near none."""
    if not ids:
        return "; the project has none: armarius import brings one in"
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f"; there are {', '.join(ids[:_NAMED])}{more}"


def edits_of(book: Book) -> dict[str, Any]:
    """The edits of a book as `book.json` keeps them; None for a deleted entry."""
    kept = {entry.id for entry in book.entries}
    return {
        id_: {leaf: to_json(leaf, value) for leaf, value in said.items()} if id_ in kept else None
        for id_, said in book.changes().items()
    }
