"""`Book`: the entries of one file with the original file; reading, editing and export."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, get_args

from armarius.arguments import BookFormat, ProfileName
from armarius.documents.decode import Undecodable, decode
from armarius.errors import BookError, UnknownId
from armarius.io import is_regular, names_in, no_path, read_file, stat_of
from armarius.io.files import MAX_BYTES, MAX_MEMBERS, MAX_UNPACKED, check_size
from armarius.lorebooks.formats.containers import (
    Container,
    EmbeddedText,
    by_short,
    card_format,
    dump_json,
    find_book,
    open_container,
)
from armarius.lorebooks.formats.format import FieldOrigin, Format, Reader, TreePath, at, is_empty
from armarius.lorebooks.formats.notes import NO_ENTITIES, VAULT_MARK, ExtractedEntities, extract_entities
from armarius.lorebooks.record import LEAVES, Entry, UnsupportedField, checked_profile, dotted_path, value_of
from armarius.validation import near, shown, suggestion, valid_text

EXPORTS = get_args(BookFormat)
_FREE = frozenset({"entity"})  # fields of ours that no format has; leaving them out is no loss


class Exported(NamedTuple):
    """An export.

    Attributes:
        data: The file.
        losses: Fields that the format does not support, by entry.
    """

    data: bytes
    losses: tuple[UnsupportedField, ...]


@dataclass(frozen=True, slots=True)
class Book:
    """A lorebook. Immutable: a changed one is another book.

    Attributes:
        id: Unique among the books of a project.
        name: As the file says; its own name when it says none.
        format: What the file is, as `sillytavern-world-info`.
        profile: Profile of its activation rules, named after the emulated program; `armarius` for our own.
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
    losses: tuple[UnsupportedField, ...] = ()
    file: str = ""
    description: str = ""
    rules: bool = False
    switched_off: bool = False
    container: Container | None = field(default=None, repr=False, compare=False)
    found: EmbeddedText | None = field(default=None, repr=False, compare=False)
    read: tuple[Entry, ...] = field(default=(), repr=False, compare=False)

    def entry(self, id_: str, /) -> Entry:
        """The entry of that id, or of that name where only one has it.

        Raises:
            UnknownId: There is no such entry; names near ones.
        """
        match = next((entry for entry in self.entries if entry.id == id_), None)
        if match is None:
            named = [entry for entry in self.entries if entry.name == id_]
            if len(named) == 1:
                return named[0]
            close = near(id_, [called for entry in self.entries for called in (entry.id, entry.name) if called])
            raise UnknownId(f"{self.id}: no entry {shown(id_)}{suggestion(close)}", close)
        return match

    def with_entry(self, entry: Entry, /) -> "Book":
        """The book with this entry; it replaces the entry with the same id, or is appended."""
        entry = replace(entry, book=self.id)
        if any(item.id == entry.id for item in self.entries):
            return replace(self, entries=tuple(entry if item.id == entry.id else item for item in self.entries))
        return replace(self, entries=(*self.entries, entry))

    def without(self, id_: str, /) -> "Book":
        """The book without an entry.

        Raises:
            UnknownId: There is no such entry.
        """
        gone = self.entry(id_)
        return replace(self, entries=tuple(entry for entry in self.entries if entry is not gone))

    def extracted_entities(self) -> ExtractedEntities:
        """The entities and relations stated in the file (notes of a vault, a Novelcrafter export, a card), else none.

        Cost: linear in the text of its notes.
        """
        if self.container is None or self.found is None:
            return NO_ENTITIES
        charx = self.container.kind == "charx"
        tree = self.container.trees["card.json"] if charx else _tree(self.container, self.found)
        return extract_entities(self.format, tree, self.entries)

    @property
    def changed(self) -> bool:
        """Whether anything differs from what was read."""
        return self.entries != self.read

    def changes(self) -> dict[str, dict[str, Any]]:
        """Entry id to changed fields (dotted) with their new values; all fields of a new entry, {} of a deleted one."""
        before = {entry.id: entry for entry in self.read}
        result: dict[str, dict[str, Any]] = {}
        for entry in self.entries:
            old = before.pop(entry.id, None)
            if old is entry:
                continue
            base = Entry(entry.id) if old is None else old
            values = {leaf: value_of(entry, leaf) for leaf in LEAVES if value_of(entry, leaf) != value_of(base, leaf)}
            if values or old is None:
                result[entry.id] = values
        return result | {key: {} for key in before}

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
        if self.container is not None and self.found is not None:
            own = self.found.format
            if to in (None, self.format, own.short, own.name):
                if to in (None, self.format) or self.container.kind == "json":
                    return _export_edited(self, self.container, self.found)
                tree, losses = _edited_tree(self, self.container, self.found)  # the JSON of a picture or archive, alone
                return Exported(dump_json(tree), losses)
        target = by_short(to or "sillytavern")
        if target is None:
            raise BookError(f"no format {shown(to)} to export to; there are {', '.join(EXPORTS)}")
        return _export_converted(self, target)

    def to_wire(self, *, texts: bool = False) -> dict[str, Any]:
        """As JSON: what it is and its number of entries; with `texts` the entries."""
        return {
            "id": self.id,
            "name": self.name,
            "character": self.settings.get("character") or None,
            "format": self.format,
            "profile": self.profile,
            "entries": [entry.to_wire() for entry in self.entries] if texts else len(self),
            "file": self.file,
            "switchedOff": self.switched_off,
        }

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def detect_book(source: bytes | str | PathLike[str]) -> str:
    """The format of a file, as `character-card-v2`, detected by its content.

    Raises:
        BookError: Nothing that is known, damaged, or above a limit.
    """
    data, name = file_bytes(source)
    return find_book(open_container(data, name), name).name


def read_book(
    source: bytes | str | PathLike[str], *, name: str = "", profile: ProfileName | None = None, id_: str = ""
) -> Book:
    """Read a lorebook, card, module, vault or export.

    Args:
        source: A path, or the bytes of a file.
        name: Of the file, when bytes are given.
        profile: Profile of the activation rules; None is that of the format.
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
    return _book(container, find_book(container, file), file, profile, id_)


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


def _tree(container: Container, part: EmbeddedText) -> Any:  # noqa: ANN401
    """The tree of a book; of a Novelcrafter export all texts."""
    return container.trees if container.kind == "novelcrafter" else container.trees[part.label]


def _book(container: Container, part: EmbeddedText, file: str, profile: ProfileName | None, id_: str) -> Book:
    tree = _tree(container, part)
    reader = Reader(file, part.format.name, id_)
    reader.losses += [*container.losses, *part.losses]
    try:
        part.format.read(tree, reader)
    except (TypeError, AttributeError, KeyError, ValueError, IndexError, OverflowError) as error:
        raise BookError(f"{file}: {part.name}: {type(error).__name__}: {error}") from error
    entries, own = tuple(reader.entries), part.format.profile
    return Book(
        id=reader.book_id,
        name=reader.book_name,
        format=part.name,
        profile=profile or (own if isinstance(own, str) else own(tree)),
        entries=entries,
        settings={key: value for key, value in reader.settings.items() if value is not None},
        losses=tuple(reader.losses),
        file=file,
        description=reader.description,
        container=container,
        found=part,
        read=entries,
    )


def _export_edited(book: Book, container: Container, part: EmbeddedText) -> Exported:
    if not book.changed:
        return Exported(container.data, ())
    tree, losses = _edited_tree(book, container, part)
    label, before = part.label, container.trees
    if container.kind == "novelcrafter":
        trees = {name: text for name, text in tree.items() if text != before.get(name)}
        return Exported(container.repacked(trees), losses)
    trees = {label: tree}
    if label == "ccv3" and before.get("chara", {}).get("data") == before[label].get("data"):
        trees["chara"] = {**before["chara"], "data": tree["data"]}  # both chunks hold the same card
    return Exported(container.repacked(trees), losses)


def _edited_tree(book: Book, container: Container, part: EmbeddedText) -> tuple[Any, tuple[UnsupportedField, ...]]:
    """The tree that was read, with what differs written into it."""
    own = part.format
    tree = copy.deepcopy(_tree(container, part))
    before = {entry.id: entry for entry in book.read}
    losses: list[UnsupportedField] = []
    added = []
    for entry in book.entries:
        old = before.pop(entry.id, None)
        if old is None:
            added.append(entry)
        elif old != entry:
            _write(tree, own, entry, old, old.source.path, losses)
    for gone in sorted(before.values(), key=lambda item: str(item.source.path[-1]).zfill(12), reverse=True):
        _remove(tree, gone, losses)
    for entry in added:
        if own.add is None:
            losses.append(UnsupportedField(entry.id, entry.name, f"{own.name} takes no new entries; not written"))
        else:
            _add(tree, own, entry, losses)
    return tree, tuple(losses)


def _remove(tree: Any, entry: Entry, losses: list[UnsupportedField]) -> None:  # noqa: ANN401
    place = tree
    for part in entry.source.path[:-1]:
        place = place[part]
    last = entry.source.path[-1]
    if isinstance(place, list) and isinstance(last, int):
        place.pop(last)
    elif isinstance(place, dict) and last in place:
        del place[last]
    else:
        losses.append(
            UnsupportedField(dotted_path(entry.source.path), entry.name, "cannot be taken out of this format; it stays")
        )


def _write(
    tree: Any,  # noqa: ANN401
    format_: Format,
    entry: Entry,
    base: Entry,
    path: TreePath,
    losses: list[UnsupportedField],
    unsaid: Entry | None = None,
) -> None:
    """Write every field that differs from `base` into the raw object at `path`; what is as in `unsaid` is no loss."""
    raw = format_.raw(tree, path)
    for leaf in LEAVES:
        value = value_of(entry, leaf)
        if value == value_of(base, leaf) or leaf in _FREE or format_.write(raw, leaf, entry):
            continue
        if unsaid is None or value != value_of(unsaid, leaf):
            losses.append(UnsupportedField(f"{entry.id}.{leaf}", value, f"{format_.name} cannot say it"))
    if format_.put is not None:
        format_.put(tree, path, raw)


def _add(tree: Any, format_: Format, entry: Entry, losses: list[UnsupportedField]) -> None:  # noqa: ANN401
    assert format_.add is not None
    path = format_.add(tree, entry)
    base = _reread_entry(tree, format_, path)
    _write(tree, format_, entry, base, path, losses, _UNSAID)


def _reread_entry(tree: Any, format_: Format, path: TreePath) -> Entry:  # noqa: ANN401
    """The entry that a new raw object is read as: what need not be written."""
    reader = Reader("", format_.name)
    format_.read(tree, reader)
    return next((entry for entry in reader.entries if entry.source.path == path), Entry(""))


def _export_converted(book: Book, target: Format) -> Exported:
    assert target.begin is not None
    tree = target.begin(book.name, book.description)
    losses: list[UnsupportedField] = []
    own = None if book.found is None else book.found.format
    paths: set[str] = set()
    if target.fill is not None:
        paths.update(target.fill(tree, _origin(book)))
    template = None
    for entry in book.entries:
        assert target.add is not None
        path = target.add(tree, entry)
        if template is None:  # every new raw object reads alike
            template = _reread_entry(tree, target, path)
        _write(tree, target, entry, template, path, losses, _UNSAID)
        if target.carry is not None and own is not None and own.carry is not None:
            carried = target.carry(target.raw(tree, path), entry.original)
            paths.update(dotted_path((*entry.source.path, name)) for name in carried)
        if entry.decorators and target.name not in _WITH_DECORATORS:
            names = ", ".join(f"@@{decorator.name}" for decorator in entry.decorators)
            losses.append(UnsupportedField(f"{entry.id}.decorators", names, f"{target.name} has none; left out"))
    if own is not None:
        losses += [
            UnsupportedField(loss.path, loss.value, f"{loss.reason}; not in {target.name}")
            for loss in book.losses
            if loss.path not in paths
        ]
        losses += _lost_members(book, target, paths)
        if book.settings.get("budget") is not None and "book.budget" not in paths:
            losses.append(
                UnsupportedField("book.budget", book.settings["budget"], f"{target.name}: set it where it is used")
            )
    return Exported(dump_json(tree), tuple(losses))


def _card(book: Book) -> tuple[Mapping[str, Any], TreePath]:
    """The members of the card in the book's file, and their path; empty without a card."""
    if book.container is None or book.found is None:
        return {}, ()
    trees = book.container.trees
    for label in (book.found.label, "card.json"):  # in a CHARX the module and the card are separate members
        format_ = card_format(trees[label]) if label in trees else None
        if format_ is not None and format_.members is not None:
            return at(trees[label], format_.members) or {}, format_.members
    return {}, ()


def _origin(book: Book) -> FieldOrigin:
    assert book.found is None or book.container is not None
    card, card_at = _card(book)
    if book.found is None or book.found.format.carry is None or book.container is None:
        return FieldOrigin(book.settings, card, card_at)
    tree = book.container.trees[book.found.label]
    book_at = book.found.format.book(tree)
    raw = {} if book_at is None else at(tree, book_at)
    return FieldOrigin(book.settings, card, card_at, raw if isinstance(raw, Mapping) else {}, book_at or ())


def _lost_members(book: Book, target: Format, paths: set[str]) -> list[UnsupportedField]:
    """Members of a card that were not reported at import and that the target, also a card, does not support."""
    card, card_at = _card(book)
    if target.members is None:
        return []
    reported = {loss.path for loss in book.losses}
    losses = []
    for name, value in card.items():
        path = dotted_path((*card_at, name))
        if path not in paths and path not in reported and name not in _APART and not is_empty(value):
            losses.append(UnsupportedField(path, value, f"{target.name} has no such member"))
    if card.get("assets") and book.container is not None and book.container.kind != "json":
        path = dotted_path((*card_at, "assets"))
        losses.append(
            UnsupportedField(path, card["assets"], "pictures and sounds of the original file; JSON does not hold them")
        )
    return losses


_APART = frozenset({"character_book", "extensions", "spec", "spec_version", "data"})
_UNSAID = Entry("")  # what an entry leaves to its program, the target's default says
_WITH_DECORATORS = frozenset({"character-card-v3", "lorebook-v3", "risu-lorebook", "sillytavern-world-info"})
