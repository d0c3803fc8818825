"""`Book`: the entries of one file, with the file itself beside them, and how it is read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from armarius.documents.decode import Undecodable, decode
from armarius.errors import BookError, UnknownId
from armarius.io import is_regular, names_in, read_file, stat_of
from armarius.io.folder import no_path
from armarius.io.read import MAX_BYTES, MAX_MEMBERS, MAX_UNPACKED, check_size
from armarius.lorebooks.entities import NO_ENTITIES, ExtractedEntities, extract_entities
from armarius.lorebooks.export import Exported, exported
from armarius.lorebooks.formats.containers import Container, Found, found_in, open_container
from armarius.lorebooks.formats.file_encoding import dump_json
from armarius.lorebooks.formats.format import ProfileName, Reader, checked_profile
from armarius.lorebooks.formats.notes import VAULT_MARK
from armarius.lorebooks.record import LEAVES, Entry, Loss, value_of
from armarius.text.unicode import near, suggestion
from armarius.validation import shown, valid_text

__all__ = ["Book", "detect_book", "read_book"]


@dataclass(frozen=True, slots=True)
class Book:
    """A lorebook. Immutable: a changed one is another book.

    Attributes:
        id: Unique among the books of a project.
        name: As the file says; its own name when it says none.
        format: What the file is, as `sillytavern-world-info`.
        profile: Whose rules decide what is active; `armarius` for Armarius' own.
        entries: In the order of the file.
        settings: What the book says for all its entries: `range`, `budget`, `recursion`, `case`, `character`, ….
        losses: What has no effect here, what was repaired, what disagrees.
        file: The name it was imported under.
        rules: Whether the user lets its constant entries be rules of every prompt.
        switched_off: The user keeps it and does not want it in prompts.
    """

    id: str
    name: str
    format: str
    profile: ProfileName
    entries: tuple[Entry, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    losses: tuple[Loss, ...] = ()
    file: str = ""
    description: str = ""
    rules: bool = False
    switched_off: bool = False
    container: Container | None = field(default=None, repr=False, compare=False)
    found: Found | None = field(default=None, repr=False, compare=False)
    read: tuple[Entry, ...] = field(default=(), repr=False, compare=False)

    def entry(self, id_: str, /) -> Entry:
        """The entry of that id, or of that name where only one has it.

        Raises:
            UnknownId: There is none; names near ones.
        """
        found = next((one for one in self.entries if one.id == id_), None)
        if found is None:
            named = [one for one in self.entries if one.name == id_]
            if len(named) == 1:
                return named[0]
            close = near(id_, [called for one in self.entries for called in (one.id, one.name) if called])
            raise UnknownId(f"{self.id}: no entry {shown(id_)}{suggestion(close)}", close)
        return found

    def with_entry(self, entry: Entry, /) -> "Book":
        """The book with this entry in the place of the one of its id, or behind all others."""
        entry = replace(entry, book=self.id)
        if any(one.id == entry.id for one in self.entries):
            return replace(self, entries=tuple(entry if one.id == entry.id else one for one in self.entries))
        return replace(self, entries=(*self.entries, entry))

    def without(self, id_: str, /) -> "Book":
        """The book without an entry.

        Raises:
            UnknownId: There is none.
        """
        gone = self.entry(id_)
        return replace(self, entries=tuple(one for one in self.entries if one is not gone))

    def said(self) -> ExtractedEntities:
        """The entities and relations that the file says by itself: notes of a vault, a Novelcrafter export; else none.

        Cost: linear in the text of its notes.
        """
        if self.container is None or self.found is None:
            return NO_ENTITIES
        tree = self.container.trees if self.container.kind == "novelcrafter" else self.container.trees[self.found.label]
        return extract_entities(self.format, tree, self.entries)

    @property
    def changed(self) -> bool:
        """Whether anything differs from what was read."""
        return self.entries != self.read

    def changes(self) -> dict[str, dict[str, Any]]:
        """Entry id to changed fields (dotted) with their new values; all fields of a new entry, {} of a deleted one."""
        before = {one.id: one for one in self.read}
        found: dict[str, dict[str, Any]] = {}
        for entry in self.entries:
            old = before.pop(entry.id, None)
            if old is entry:
                continue
            base = Entry(entry.id) if old is None else old
            said = {leaf: value_of(entry, leaf) for leaf in LEAVES if value_of(entry, leaf) != value_of(base, leaf)}
            if said or old is None:
                found[entry.id] = said
        return found | {key: {} for key in before}

    def export(self, to: str | None = None) -> bytes:
        """The book as a file.

        Args:
            to: `sillytavern`, `card-v2`, `card-v3`, `novelai`, `risu`, `agnai`, `kobold`, `ai-dungeon`,
                `character-book` or `lorebook-v3`; None is what it came in. An unchanged book of that very format is
                given back byte for byte; after an edit only what was edited is written into it.

        Raises:
            BookError: No such format, or one that cannot hold it.

        Cost: none for an unchanged book; else a copy of its tree.
        """
        return self.exported(to).data

    def exported(self, to: str | None = None) -> Exported:
        """As `export`, with a row for every field that the format cannot say."""
        return exported(self, to)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def detect_book(source: bytes | str | PathLike[str]) -> str:
    """What a file is, as `character-card-v2`, told by its content.

    Raises:
        BookError: Nothing that is known, damaged, or above a limit.
    """
    data, name = file_bytes(source)
    return found_in(open_container(data, name), name).name


def read_book(
    source: bytes | str | PathLike[str], *, name: str = "", profile: ProfileName | None = None, id_: str = ""
) -> Book:
    """Read a lorebook, card, module, vault or export.

    Args:
        source: A path, or the bytes of a file.
        name: Of the file, when bytes are given.
        profile: Whose rules decide; None is what the file is of.
        id_: Of the book; made from its name when not given.

    Raises:
        BookError: Nothing that is known, damaged as a whole, or above a limit. A damaged entry is a loss, not an error.

    Cost: linear in the size; 10,000 entries of SillyTavern's world info in under a second.
    """
    if profile is not None:
        profile = checked_profile(profile)
    name, id_ = valid_text("name", name), valid_text("id_", id_)
    data, file = file_bytes(source)
    file = name or file
    container = open_container(data, file)
    return _book(container, found_in(container, file), file, profile, id_)


def file_bytes(source: bytes | str | PathLike[str]) -> tuple[bytes, str]:
    """Bytes and name of a file; of a folder of notes, a JSON text of them.

    Raises:
        BookError: It is not there, no regular file, or above a limit.
    """
    if not isinstance(source, bytes) and (problem := no_path(source)):
        raise BookError(f"not a book: {problem}")
    if isinstance(source, bytes):
        check_size(len(source), "data")
        return source, "data"
    path = Path(source)
    try:
        if path.is_dir():
            return _vault(path), path.resolve().name
        return read_file(path, limit=MAX_BYTES, follow=True), path.name
    except FileNotFoundError:
        raise BookError(f"{path.name}: no such file") from None
    except (OSError, ValueError) as error:
        raise BookError(f"{path.name}: not read: {getattr(error, 'strerror', None) or error}") from None


def _vault(folder: Path) -> bytes:
    """The notes of a folder; what begins with a dot is not read, links are not followed."""
    files: dict[str, str] = {}
    total = 0
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        for name in names_in(here, below=folder):
            path = here / name
            if name.startswith("."):
                continue
            if name.lower().endswith(".md") and is_regular(path, below=folder):
                data = read_file(path, limit=MAX_BYTES, below=folder)
                total += len(data)
                check_size(total, folder.name, MAX_UNPACKED)
                try:
                    files[path.relative_to(folder).as_posix()] = decode(data).text
                except Undecodable:
                    continue
                if len(files) > MAX_MEMBERS:
                    raise BookError(f"{folder.name}: more than {MAX_MEMBERS:,} notes")
            elif (info := stat_of(path, below=folder)) is not None and (info.st_mode & 0o170000) == 0o040000:
                waiting.append(path)
    if not files:
        raise BookError(f"{folder.name}: a folder without notes (.md)")
    return dump_json({**VAULT_MARK, "files": dict(sorted(files.items()))})


def _book(container: Container, found: Found, file: str, profile: ProfileName | None, id_: str) -> Book:
    tree: Any = container.trees if container.kind == "novelcrafter" else container.trees[found.label]
    reader = Reader(file, found.format.name, id_)
    reader.losses += [*container.losses, *found.losses]
    try:
        found.format.read(tree, reader)
    except (TypeError, AttributeError, KeyError, ValueError, IndexError, OverflowError) as error:
        raise BookError(f"{file}: {found.name}: {type(error).__name__}: {error}") from error
    entries = tuple(reader.entries)
    return Book(
        id=reader.book_id,
        name=reader.book_name,
        format=found.name,
        profile=profile or found.format.profile_of(tree),
        entries=entries,
        settings={key: value for key, value in reader.settings.items() if value is not None},
        losses=tuple(reader.losses),
        file=file,
        description=reader.description,
        container=container,
        found=found,
        read=entries,
    )
