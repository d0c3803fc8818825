"""From a file, its bytes or a folder of notes to a `Book`."""

from os import PathLike
from pathlib import Path
from typing import Any

from armarius.documents.decode import Undecodable, decode
from armarius.errors import BookError
from armarius.io import is_regular, names_in, read_file, stat_of
from armarius.io.folder import no_path
from armarius.io.read import MAX_BYTES, MAX_MEMBERS, MAX_UNPACKED, check_size
from armarius.lorebooks.book import Book
from armarius.lorebooks.formats.containers import Container, Found, found_in, open_container
from armarius.lorebooks.formats.file_encoding import dump_json
from armarius.lorebooks.formats.format import ProfileName, Reader, checked_profile
from armarius.lorebooks.formats.notes import VAULT_MARK
from armarius.validation import valid_text

__all__ = ["detect_book", "file_bytes", "read_book"]


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
