"""A book as a file: the one it came in with the edits written into it, or one of another format."""

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from armarius.errors import BookError
from armarius.lorebooks.formats.containers import Container, Found, by_short, card_format
from armarius.lorebooks.formats.file_encoding import dump_json
from armarius.lorebooks.formats.format import Format, Origin, Path, Reader, at, is_empty
from armarius.lorebooks.record import LEAVES, Entry, Loss, dotted, value_of
from armarius.validation import shown

__all__ = ["Exported"]

EXPORTS = (
    "sillytavern", "card-v2", "card-v3", "novelai", "risu", "agnai", "kobold", "ai-dungeon", "character-book",
    "lorebook-v3",
)  # fmt: skip
_FREE = frozenset({"entity"})  # ours alone: no format says it, and nothing of the file is lost


class Exported(NamedTuple):
    """An export.

    Attributes:
        data: The file.
        losses: Every field that it cannot say, by entry.
    """

    data: bytes
    losses: tuple[Loss, ...]


class Exportable(Protocol):
    """What an export needs of a book."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def entries(self) -> tuple[Entry, ...]: ...
    @property
    def read(self) -> tuple[Entry, ...]: ...
    @property
    def changed(self) -> bool: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def losses(self) -> tuple[Loss, ...]: ...
    @property
    def container(self) -> Container | None: ...
    @property
    def found(self) -> Found | None: ...


def exported(book: Exportable, to: str | None) -> Exported:
    """The book as a file of the format `to`; None is what it came in.

    Raises:
        BookError: No such format.
    """
    own = None if book.found is None else book.found.format
    if book.container is not None and book.found is not None and own is not None:
        if to is None or to == book.format:
            return _edited(book, own)
        if to in (own.short, own.name):
            if book.container.kind == "json":
                return _edited(book, own)
            tree, losses = _edited_tree(book, own)  # the JSON of a picture or an archive, alone
            return Exported(dump_json(tree), losses)
    target = by_short(to or "sillytavern")
    if target is None:
        raise BookError(f"no format {shown(to)} to export to; there are {', '.join(EXPORTS)}")
    return _converted(book, target)


def _edited(book: Exportable, own: Format) -> Exported:
    assert book.container is not None
    assert book.found is not None
    if not book.changed:
        return Exported(book.container.data, ())
    tree, losses = _edited_tree(book, own)
    label = book.found.label
    if book.container.kind == "novelcrafter":
        trees = {name: text for name, text in tree.items() if text != book.container.trees.get(name)}
        return Exported(book.container.repacked(trees), losses)
    trees = {label: tree}
    if label == "ccv3" and book.container.trees.get("chara", {}).get("data") == book.container.trees[label].get("data"):
        trees["chara"] = {**book.container.trees["chara"], "data": tree["data"]}  # both chunks hold the same card
    return Exported(book.container.repacked(trees), losses)


def _edited_tree(book: Exportable, own: Format) -> tuple[Any, tuple[Loss, ...]]:
    """The tree that was read, with what differs written into it."""
    assert book.container is not None
    assert book.found is not None
    trees = book.container.trees
    tree = copy.deepcopy(trees if book.container.kind == "novelcrafter" else trees[book.found.label])
    before = {one.id: one for one in book.read}
    losses: list[Loss] = []
    added = []
    for entry in book.entries:
        old = before.pop(entry.id, None)
        if old is None:
            added.append(entry)
        elif old != entry:
            _write(tree, own, entry, old, old.source.path, losses)
    for gone in sorted(before.values(), key=lambda one: str(one.source.path[-1]).zfill(12), reverse=True):
        _remove(tree, gone, losses)
    for entry in added:
        if own.add is None:
            losses.append(Loss(entry.id, entry.name, f"{own.name} takes no new entries; not written"))
        else:
            _add(tree, own, entry, losses)
    return tree, tuple(losses)


def _remove(tree: Any, entry: Entry, losses: list[Loss]) -> None:  # noqa: ANN401
    place = tree
    for part in entry.source.path[:-1]:
        place = place[part]
    last = entry.source.path[-1]
    if isinstance(place, list) and isinstance(last, int):
        place.pop(last)
    elif isinstance(place, dict) and last in place:
        del place[last]
    else:
        losses.append(Loss(dotted(entry.source.path), entry.name, "cannot be taken out of this format; it stays"))


def _write(
    tree: Any,  # noqa: ANN401
    format_: Format,
    entry: Entry,
    base: Entry,
    path: Path,
    losses: list[Loss],
    unsaid: Entry | None = None,
) -> None:
    """Write every field that differs from `base` into the raw object at `path`; what is as in `unsaid` is no loss."""
    raw = format_.raw(tree, path)
    for leaf in LEAVES:
        value = value_of(entry, leaf)
        if value == value_of(base, leaf) or leaf in _FREE or format_.write(raw, leaf, entry):
            continue
        if unsaid is None or value != value_of(unsaid, leaf):
            losses.append(Loss(f"{entry.id}.{leaf}", value, f"{format_.name} cannot say it"))
    if format_.put is not None:
        format_.put(tree, path, raw)


def _add(tree: Any, format_: Format, entry: Entry, losses: list[Loss]) -> None:  # noqa: ANN401
    assert format_.add is not None
    path = format_.add(tree, entry)
    base = _read_back(tree, format_, path)
    _write(tree, format_, entry, base, path, losses, _UNSAID)


def _read_back(tree: Any, format_: Format, path: Path) -> Entry:  # noqa: ANN401
    """The entry that a new raw object is read as: what need not be written."""
    reader = Reader("", format_.name)
    format_.read(tree, reader)
    return next((one for one in reader.entries if one.source.path == path), Entry(""))


def _converted(book: Exportable, target: Format) -> Exported:
    assert target.begin is not None
    tree = target.begin(book.name, book.description)
    losses: list[Loss] = []
    own = None if book.found is None else book.found.format
    said: set[str] = set()
    if target.fill is not None:
        said.update(target.fill(tree, _origin(book)))
    template = None
    for entry in book.entries:
        assert target.add is not None
        path = target.add(tree, entry)
        if template is None:  # every new raw object reads alike
            template = _read_back(tree, target, path)
        _write(tree, target, entry, template, path, losses, _UNSAID)
        if target.carry is not None and own is not None and own.carry is not None:
            carried = target.carry(target.raw(tree, path), entry.original)
            said.update(dotted((*entry.source.path, name)) for name in carried)
        if entry.decorators and target.name not in _WITH_DECORATORS:
            names = ", ".join(f"@@{one.name}" for one in entry.decorators)
            losses.append(Loss(f"{entry.id}.decorators", names, f"{target.name} has none; left out"))
    if own is not None:
        losses += [
            Loss(loss.path, loss.value, f"{loss.reason}; not in {target.name}")
            for loss in book.losses
            if loss.path not in said
        ]
        losses += _unheard(book, target, said)
        if book.settings.get("budget") is not None and "book.budget" not in said:
            losses.append(Loss("book.budget", book.settings["budget"], f"{target.name}: set it where it is used"))
    return Exported(dump_json(tree), tuple(losses))


def _card(book: Exportable) -> tuple[Mapping[str, Any], Path]:
    """The members of the card that a book came with, and where in its file they stand; empty for no card."""
    if book.container is None or book.found is None:
        return {}, ()
    trees = book.container.trees
    for label in (book.found.label, "card.json"):  # a module of a CHARX stands beside its card
        format_ = card_format(trees[label]) if label in trees else None
        if format_ is not None and format_.members is not None:
            return at(trees[label], format_.members) or {}, format_.members
    return {}, ()


def _origin(book: Exportable) -> Origin:
    assert book.found is None or book.container is not None
    card, card_at = _card(book)
    if book.found is None or book.found.format.carry is None or book.container is None:
        return Origin(book.settings, card, card_at)
    tree = book.container.trees[book.found.label]
    book_at = book.found.format.book(tree)
    raw = {} if book_at is None else at(tree, book_at)
    return Origin(book.settings, card, card_at, raw if isinstance(raw, Mapping) else {}, book_at or ())


def _unheard(book: Exportable, target: Format, said: set[str]) -> list[Loss]:
    """What a card says that its import had no reason to report, and that the target, a card too, has no member for."""
    card, card_at = _card(book)
    if target.members is None:
        return []
    told = {loss.path for loss in book.losses}
    losses = []
    for name, value in card.items():
        path = dotted((*card_at, name))
        if path not in said and path not in told and name not in _APART and not is_empty(value):
            losses.append(Loss(path, value, f"{target.name} has no such member"))
    if card.get("assets") and book.container is not None and book.container.kind != "json":
        path = dotted((*card_at, "assets"))
        losses.append(Loss(path, card["assets"], "pictures and sounds of the original file; JSON does not hold them"))
    return losses


_APART = frozenset({"character_book", "extensions", "spec", "spec_version", "data"})
_UNSAID = Entry("")  # what an entry leaves to its program, the target's default says
_WITH_DECORATORS = frozenset({"character-card-v3", "lorebook-v3", "risu-lorebook", "sillytavern-world-info"})
