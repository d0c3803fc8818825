"""Files brought into a project: a preview, then the book; a manuscript becomes chapters as Markdown files.

Two books may have one name. A file updates a book when it has its format, its file name or name, and half of the
entries of the smaller of both; or when the caller says so. Anything else is another book under a free id.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

import armarius.doors as doors
from armarius.arguments import ProfileName
from armarius.codex.model import Entity, SharedName, shared_names
from armarius.documents.classify import MANUSCRIPTS, NOT_READ, PROSE_SUFFIXES
from armarius.documents.decode import Undecodable
from armarius.documents.document import make_document
from armarius.documents.features import kinds_of_name
from armarius.documents.markup import MARKUP
from armarius.documents.project_map import MappedFile
from armarius.documents.units import chapter_number, is_supplement, volume_number
from armarius.errors import BookError, UnknownId
from armarius.io import MAX_BYTES, folder_lock, read_file, write_atomic
from armarius.lorebooks.book import Book, file_bytes, read_book
from armarius.lorebooks.formats.notes import NO_ENTITIES, ExtractedEntities
from armarius.lorebooks.project_books import FOLDER as BOOKS_FOLDER
from armarius.lorebooks.project_books import Books, edits_of
from armarius.lorebooks.record import (
    Change,
    Conflict,
    Entry,
    UnsupportedField,
    apply_edits,
    book_id,
    checked_profile,
    decide_conflicts,
    differences,
    to_json,
)
from armarius.trust.settings import Config, load_config
from armarius.validation import texts, valid_text

_LONGEST_NAME = 40
_SIDES = ("base", "ours", "theirs")


@dataclass(frozen=True, slots=True)
class Proposal:
    """An entity that entries are about, for the user to accept with `engine.codex.create`.

    Attributes:
        name: As the entry is called.
        aliases: Plain keys that look like names.
        type: What the format says, "" when it says nothing.
        description: The text of the first entry.
        entries: Ids of the entries about it.
    """

    name: str
    aliases: tuple[str, ...]
    type: str
    description: str
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import is, or would be.

    Attributes:
        book: With its profile; in the project unless this is a preview.
        entries: Of the book.
        losses: What has no effect here, what was repaired, what disagrees: path, value, reason.
        conflicts: Fields that were changed here and in the file since the last import; ours stay.
        kind: `new`, `update`, or `same` when the very file is there already.
        entities: Proposed from names and keys; none is made.
        said: Entities and relations that the file says by itself (a vault, a Novelcrafter export): with the book they
            are in the codex of the project.
        kept: Whether it is in the project now.
        changes: Of an update: entries that are new or gone, and fields that say something else than before it.
        shared: Names and aliases that one of `said` has and another entity of it or of the project too. Nothing is
            refused for them. Keys of entries are no names.
    """

    book: Book
    losses: tuple[UnsupportedField, ...]
    conflicts: tuple[Conflict, ...]
    kind: str
    entities: tuple[Proposal, ...]
    kept: bool
    said: ExtractedEntities = NO_ENTITIES
    changes: tuple[Change, ...] = ()
    shared: tuple[SharedName, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Of the book."""
        return self.book.entries

    def to_wire(self) -> dict[str, Any]:
        """As JSON: the book, and every row of the report; values in the form of `book.json`."""
        book = self.book
        return {
            "kind": self.kind,
            "book": _fields(book, "id", "name", "format", "profile"),
            "character": book.settings.get("character") or None,
            "folder": f"{BOOKS_FOLDER}/{book.id}" if self.kept else None,
            "entries": [
                {**_fields(entry, "id", "name", "level"), "keys": [key.text for key in entry.match.keys]}
                | _fields(entry, "folder")
                for entry in book
            ],
            "losses": [row._asdict() for row in self.losses],
            "changes": [
                {**row._asdict(), **dict(zip(("was", "now"), row.values(), strict=True))} for row in self.changes
            ],
            "conflicts": [
                {name: to_json(row.field, value) if name in _SIDES else value for name, value in row._asdict().items()}
                for row in self.conflicts
            ],
            "entities": [_fields(item, "name", "aliases", "type", "entries") for item in self.entities],
            "codex": {
                "entities": [_fields(item, "id", "name", "type") for item in self.said.entities],
                "relations": [dict(zip(("source", "target", "type"), row, strict=True)) for row in self.said.relations],
            },
            "shared": [name.to_wire() for name in self.shared],
            "kept": self.kept,
        }


def _fields(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


class ImportOptions(TypedDict, total=False):
    """Options of an import.

    Attributes:
        name: Name of the file, if bytes are given.
        profile: Profile of the activation rules; None is the one chosen before, else that of the format.
        updates: Id of the book to update; "" detects it. The previous original stays in the folder of the book as
            `original.1`.
        theirs: Edits to replace by the values of the file, of this or an earlier import: entry ids, `entry.field` such
            as `2.text`, or `all` for every conflict of this import. All other edits stay. A named entry that the file
            does not have is deleted.
    """

    name: str
    profile: ProfileName | None
    updates: str
    theirs: Sequence[str]


class Importing:
    """`engine.importing`: lorebooks, cards, modules, vaults and exports into the project.

    Args:
        books: The project's books.
        entities: Returns the project's entities; called for files that state entities.
    """

    def __init__(self, books: Books, entities: Callable[[], Iterable[Entity]] = tuple) -> None:
        self._books = books
        self._entities = entities

    def __repr__(self) -> str:
        return f"<importing into {self._books!r}: preview(file), add(file)>"

    def preview(self, source: bytes | str | PathLike[str], **options: Unpack[ImportOptions]) -> ImportReport:
        """The report of `add`, without writing. Arguments and errors are those of `add`."""
        return self._report(source, **options)[0]

    def add(self, source: bytes | str | PathLike[str], **options: Unpack[ImportOptions]) -> ImportReport:
        """Import a book; a newer version of an existing book updates it under its id.

        Args:
            source: A path, or the bytes of a file; a folder of notes is a vault.
            options: See `ImportOptions`.

        Raises:
            UnknownId: There is no book `updates`, or no edit that `theirs` names.
            BookError: The format is unknown, the file is damaged, or it exceeds a limit.
            StoreFull: It cannot be written.

        Cost: linear in the size of the file; two durable writes.
        """
        report, data = self._report(source, **options)
        if report.kind == "same":
            return replace(report, kept=True)
        return replace(report, book=self._books.put(report.book, data), kept=True)

    def _report(
        self,
        source: bytes | str | PathLike[str],
        *,
        name: str = "",
        profile: ProfileName | None = None,
        updates: str = "",
        theirs: Sequence[str] = (),
    ) -> tuple[ImportReport, bytes]:
        if profile is not None:
            profile = checked_profile(profile)
        name, updates = valid_text("name", name), valid_text("updates", updates)
        theirs = [valid_text("theirs", address) for address in texts("theirs", theirs)]
        data, file = file_bytes(source)
        file = name or file
        if (there := self._find_unchanged(data, file, profile, updates)) is not None and not theirs:
            return self._import_report(there, there.losses, "same"), data
        book = read_book(data, name=file, profile=profile)
        before = self._books[updates] if updates else self._find_book(book, file, data)
        conflicts: list[Conflict] = []
        losses = list(book.losses)
        kind = "new"
        changes: tuple[Change, ...] = ()
        if before is None:
            book = self._assign_free_id(book)
        else:
            base = {entry.id: entry for entry in before.read}
            book = _assign_id(replace(book, profile=profile or before.profile), before.id)
            edits = edits_of(before)
            entries, conflicts, more = apply_edits(book.read, edits, base, before.id)
            if theirs:
                edits, conflicts = decide_conflicts(edits, conflicts, theirs)
                entries, _, more = apply_edits(book.read, edits, base, before.id)
            losses += more
            book = replace(book, entries=entries, name=before.name, switched_off=before.switched_off)
            changes = differences(before.settings, before.entries, book.settings, book.entries)
            kind = "same" if _is_made_of(before, data) and book.profile == before.profile and not changes else "update"
        if theirs and before is None:
            raise UnknownId(f"theirs: nothing here differs from the file at {theirs[0]!r}: the book is new")
        return self._import_report(book, losses, kind, conflicts, changes), data

    def _import_report(
        self,
        book: Book,
        losses: Iterable[UnsupportedField],
        kind: str,
        conflicts: Iterable[Conflict] = (),
        changes: tuple[Change, ...] = (),
    ) -> ImportReport:
        codex = book.extracted_entities()
        names = {name for item in codex.entities for name in (item.name, *item.aliases)}
        proposed = tuple(proposal for proposal in proposals(book) if proposal.name not in names)
        shared = shared_names(codex.entities, self._entities()) if codex.entities else ()
        losses = (*losses, *codex.losses)
        return ImportReport(book, losses, tuple(conflicts), kind, proposed, False, codex, changes, shared)

    def _find_unchanged(self, data: bytes, file: str, profile: ProfileName | None, updates: str) -> Book | None:
        """The book that was made of these very bytes under this name, so that they need not be read again."""
        some = [self._books[updates]] if updates else [book for book in self._books.values() if book.file == file]
        return next((book for book in some if _is_made_of(book, data) and profile in (None, book.profile)), None)

    def _find_book(self, book: Book, file: str, data: bytes) -> Book | None:
        """The book that this file is the same as, or a newer state of."""
        near = [
            item
            for item in self._books.values()
            if item.format == book.format and ((file and item.file == file) or book_id(item.name) == book_id(book.name))
        ]
        near.sort(key=lambda item: item.file != file)
        same = [item for item in near if _is_made_of(item, data)]
        return next(iter(same or [item for item in near if _overlap(item.read, book.read)]), None)

    def _assign_free_id(self, book: Book) -> Book:
        """The book under an id that no other has, a broken one included: books of one name are several."""
        ids = self._books.taken()
        if book.id not in ids:
            return book
        number = 2
        while f"{book.id}-{number}" in ids:
            number += 1
        return _assign_id(book, f"{book.id}-{number}")


def _assign_id(book: Book, id_: str) -> Book:
    """A book as it was read, under another id."""
    if book.id == id_:
        return book
    entries = tuple(replace(entry, book=id_) for entry in book.read)
    return replace(book, id=id_, entries=entries, read=entries)


def _is_made_of(book: Book, data: bytes) -> bool:
    return book.container is not None and book.container.data == data


def _overlap(before: tuple[Entry, ...], now: tuple[Entry, ...]) -> bool:
    """Whether at least half of the entries of the smaller book are in the other: by text, or by id with name or key.

    An id alone says nothing, many formats count from 0. A book without entries is a state of any.
    """
    if not before or not now:
        return not before
    texts = {entry.text.strip() for entry in before} - {""}
    by_id = {entry.id: entry for entry in before}
    shared = sum(entry.text.strip() in texts or _is_same_entry(by_id.get(entry.id), entry) for entry in now)
    return 2 * shared >= min(len(before), len(now))


def _is_same_entry(before: Entry | None, now: Entry) -> bool:
    if before is None:
        return False
    if before.name and before.name == now.name:
        return True
    return not {key.text for key in before.match.keys}.isdisjoint(key.text for key in now.match.keys)


def proposals(book: Book) -> tuple[Proposal, ...]:
    """Proposed entities of a book: entries with a type, or with their name among their keys."""
    result: dict[str, Proposal] = {}
    for entry in book.entries:
        keys = [key.text.strip() for key in entry.match.keys if key.kind == "plain" and _is_name_like(key.text)]
        name = entry.name.strip()
        if not _is_name_like(name) or (name not in keys and not entry.type):
            continue
        aliases = tuple(dict.fromkeys(key for key in keys if key != name))
        before = result.get(name)
        if before is None:
            result[name] = Proposal(name, aliases, entry.type, entry.text, (entry.id,))
        else:
            merged = tuple(dict.fromkeys((*before.aliases, *aliases)))
            result[name] = replace(before, aliases=merged, entries=(*before.entries, entry.id))
    return tuple(result.values())


def _is_name_like(text: str) -> bool:
    text = text.strip()
    cased = text[:1].isupper() or not text[:1].isascii()
    return 0 < len(text) <= _LONGEST_NAME and cased and any(char.isalpha() for char in text)


FOLDER = ".armarius/manuscripts"
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
_STARS = re.compile(r"^[ \t\u3000]*(?:[*＊][ \t\u3000]*){3,}$", re.MULTILINE)
_PAGES = 2_000  # characters between lines of stars that part chapters
_MARK = re.compile(r"\[\^(\d+)\]")
_NOTE = re.compile(r"^\[\^(\d+)\]: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ImportedChapter:
    """One chapter of a manuscript.

    Attributes:
        path: In the project.
        title: Its heading; "" for what stands before the first.
        text: Markdown.
        state: `new`, `same` when the file is there and says just this, `other` when it says something else and is left.
    """

    path: str
    title: str
    text: str
    state: str


@dataclass(frozen=True, slots=True)
class ManuscriptReport:
    """What an import of a manuscript is, or would be.

    Attributes:
        file: Its name.
        chapters: With the title page, whose `path` is below `notes/`.
        kept: Where the file itself is kept, "" in a preview.
    """

    file: str
    chapters: tuple[ImportedChapter, ...]
    kept: str


def is_manuscript(path: Path) -> bool:
    """Whether a file is one, or would be if its format were read; a book in one text file is one."""
    return path.suffix.lower() in MANUSCRIPTS | PROSE_SUFFIXES | NOT_READ.keys() and not path.is_dir()


def story_folder(files: Iterable[MappedFile]) -> str:
    """The folder that holds every chapter of a project's main story; `chapters` where several do, or none."""
    paths = [file.path for file in files if file.kind == "chapter" and file.edition == "main"]
    folders = {path.partition("/")[0] for path in paths}
    return folders.pop() if len(folders) == 1 and all("/" in path for path in paths) else "chapters"


def import_manuscript(path: Path, root: Path, *, write: bool, into: str = "chapters") -> ManuscriptReport:
    """Show, and with `write` bring in, the chapters of a manuscript. A file that is there is never written over.

    The chapters of a volume are in a folder of its name; a title page before the first chapter is a note.

    Args:
        path: The file.
        root: The project folder.
        write: Whether to bring them in.
        into: The folder of the project that the chapters are put into.

    Raises:
        BookError: Not read at all, damaged, or its reader is not installed (the message names the extra), or its
            text is more than `documents.max_bytes`.
        ConfigError: `armarius.toml` is wrong.
        StoreFull: It cannot be written.
    """
    if reason := NOT_READ.get(path.suffix.lower()):
        raise BookError(f"{path.name}: {reason}")
    data, _ = file_bytes(path)
    try:
        text = _text(path.name, data, load_config(root))
    except Undecodable as error:
        raise BookError(f"{path.name}: not read: {error}") from None
    chapters: list[ImportedChapter] = []
    names: set[str] = set()
    parts = split(text)
    for volume, title, body in parts:
        folder = f"{book_id(volume)}/" if volume else ""
        name = folder + _file_name(title, len(chapters), path.stem, {file.removeprefix(folder) for file in names})
        names.add(name)
        is_page = not title and not chapters and len(parts) > 1 and bool(parts[1][1]) and len(body) < _PAGES
        page = book_id(path.stem) + ("-frontmatter" if kinds_of_name(path.stem) else "")  # book.md would be a chapter
        target = f"notes/{page}.md" if is_page else f"{into}/{name}"
        state = _state(root, target, body)
        if write and state == "new":
            write_atomic(root / target, body.encode(), below=root)
        chapters.append(ImportedChapter(target, title, body, state))
    kept = ""
    if write:
        with folder_lock(root / FOLDER, below=root):
            kept = _free_name(root, f"{FOLDER}/{book_id(path.stem)}", path.suffix.lower(), data)
            write_atomic(root / kept, data, below=root)
    return ManuscriptReport(path.name, tuple(chapters), kept)


def _text(name: str, data: bytes, config: Config) -> str:
    """A manuscript as Markdown; of a text file, lines such as 第三章 … and CHAPTER IV. become headings."""
    if Path(name).suffix.lower() in MANUSCRIPTS:
        return doors.extract(name, data, limit=config.max_bytes)
    book = make_document(name, data)
    marks = Path(name).suffix.lower() in MARKUP
    parts, at = [], 0
    for part in book.paragraphs:
        if part.role == "heading" and not (_HEADING.match(line := book.text[part.start : part.end]) and not marks):
            title = part.heading_path[-1] or line
            level = len(part.heading_path) if marks else 1 if _is_volume(title) else 2
            parts += [book.text[at : part.start].rstrip(" \t\u3000"), f"{'#' * min(level, 6)} {title}"]
            at = part.end
    return re.sub(r"\r\n?", "\n", "".join([*parts, book.text[at:]]))


def _free_name(root: Path, stem: str, suffix: str, data: bytes) -> str:
    """Where a file is kept: a name that nothing has yet, or the one under which these very bytes lie."""
    number = 1
    while True:
        name = f"{stem}{f'-{number}' if number > 1 else ''}{suffix}"
        try:
            if read_file(root / name, limit=MAX_BYTES, below=root) == data:
                return name
        except FileNotFoundError:
            return name
        except OSError:  # too large to be this one, or no file at all: not ours
            pass
        number += 1


def split(text: str) -> list[tuple[str, str, str]]:
    """Volume, title and text of each chapter: by the heading level that numbers most chapters, else by the highest.

    The lines of a table of contents are no chapters. A text without headings is cut at its lines of stars where they
    stand pages apart.
    """
    notes = dict(_NOTE.findall(text))
    body = _NOTE.sub("", text).rstrip() + "\n"
    headings = list(_HEADING.finditer(body))
    levels = {len(match[1]) for match in headings}
    numbered = {
        level: sum(len(h[1]) == level and chapter_number(h[2]) is not None for h in headings) for level in levels
    }
    level = max(sorted(levels), key=lambda depth: (numbered[depth], -depth), default=0)
    cuts = [match for match in headings if len(match[1]) == level or (len(match[1]) < level and _is_volume(match[2]))]
    last = {chapter_number(match[2]) or match[2]: match for match in cuts}
    chapters = [("", "", body[: cuts[0].start()].strip() + "\n")] if cuts and body[: cuts[0].start()].strip() else []
    before, volume = len(chapters), ""
    for at, cut in enumerate(cuts):
        end = cuts[at + 1].start() if at + 1 < len(cuts) else len(body)
        is_empty = not _HEADING.sub("", body[cut.start() : end]).strip()
        if len(cut[1]) < level:
            volume = cut[2]
        if not is_empty or (len(cut[1]) == level and last[chapter_number(cut[2]) or cut[2]] is cut):
            chapters.append((volume, cut[2], body[cut.start() : end].rstrip() + "\n"))
    if len(chapters) - before < 2:
        pages = [page.strip() + "\n" for page in _STARS.split(body)]
        if headings or len(pages) < 2 or len(body) < _PAGES * len(pages):
            pages = [body]
        chapters = [("", headings[0][2] if headings else "", page) for page in pages]
    return [(volume, title, _append_notes(page, notes)) for volume, title, page in chapters]


def _is_volume(title: str) -> bool:
    return volume_number(title) is not None and chapter_number(title) is None


def _append_notes(text: str, notes: dict[str, str]) -> str:
    mine = [number for number in dict.fromkeys(_MARK.findall(text)) if number in notes]
    return text + "".join(f"\n[^{number}]: {notes[number]}\n" for number in mine)


def _file_name(title: str, at: int, stem: str, names: set[str]) -> str:
    number = chapter_number(title) if title and not is_supplement(title) else None
    name = f"ch{number:03d}" if number is not None else f"{at:03d}-{book_id(title or stem)}"
    return f"{name}.md" if f"{name}.md" not in names else f"{name}-{at:03d}.md"


def _state(root: Path, target: str, body: str) -> str:
    try:
        data = read_file(root / target, limit=MAX_BYTES, below=root)
    except FileNotFoundError:
        return "new"
    except OSError:
        return "other"
    return "same" if data == body.encode() else "other"
