"""Where the files of a project's books are kept, and how one book is written there and read.

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
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, get_args

from armarius.errors import BookError
from armarius.io import folder_lock, names_in, read_file, remove_folder, stat_of, write_atomic
from armarius.io.read import MAX_BYTES
from armarius.lorebooks.book import Book, read_book
from armarius.lorebooks.edits import applied, to_json
from armarius.lorebooks.entities import NO_ENTITIES, codex_json
from armarius.lorebooks.formats.format import ProfileName

__all__ = ["BookKeeping"]

FOLDER = ".armarius/books"


class BookKeeping(Protocol):
    """The files of the books of one project: `.armarius/books/<id>/<name>`. Threads may share it."""

    def is_empty(self) -> bool:
        """Whether there is no book at all; every prompt asks."""
        ...

    def ids(self) -> list[str]:
        """Of the books, sorted."""
        ...

    def stamp(self, id_: str, name: str) -> object:
        """What changes with a file; None where there is none."""
        ...

    def read(self, id_: str, name: str, *, limit: int) -> bytes:
        """The bytes of a file.

        Raises:
            FileNotFoundError: There is none.
            OSError: It cannot be read, or has more than `limit` bytes.
        """
        ...

    def write(self, id_: str, files: Mapping[str, bytes]) -> None:
        """Keep these files of a book, in this order; one writer at a time.

        Raises:
            StoreError: They cannot be kept.
        """
        ...

    def remove(self, id_: str) -> None:
        """Forget a book and its files."""
        ...


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
    said = NO_ENTITIES if book.switched_off else book.said()
    if said.entities or keeping.stamp(book.id, _CODEX) is not None:
        files[_CODEX] = codex_json(said)
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
    entries, _, losses = applied(book.read, edits if isinstance(edits, dict) else {}, {}, id_)
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
        id_: {leaf: to_json(leaf, value) for leaf, value in said.items()} if id_ in kept else None
        for id_, said in book.changes().items()
    }
