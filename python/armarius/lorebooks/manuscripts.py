"""A manuscript brought into a project: its chapters as Markdown files, the file itself kept under `.armarius/`."""

import re
from dataclasses import dataclass
from pathlib import Path

from armarius.config import load_config
from armarius.documents.classify import MANUSCRIPTS, NOT_READ
from armarius.documents.decode import Undecodable
from armarius.documents.manuscripts.extract import extract
from armarius.documents.numerals import appended, chapter_number
from armarius.errors import BookError
from armarius.io import folder_lock, read_file, write_atomic
from armarius.io.read import MAX_BYTES
from armarius.lorebooks.record import book_id

FOLDER = ".armarius/manuscripts"
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
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
        kept: Where the file itself is kept, "" in a preview.
    """

    file: str
    chapters: tuple[ImportedChapter, ...]
    kept: str


def is_manuscript(path: Path) -> bool:
    """Whether a file is one, or would be if its format were read."""
    return path.suffix.lower() in MANUSCRIPTS or path.suffix.lower() in NOT_READ


def import_manuscript(path: Path, root: Path, *, write: bool) -> ManuscriptReport:
    """Show, and with `write` bring in, the chapters of a manuscript. A file that is there is never written over.

    Raises:
        BookError: Not read at all, damaged, or its reader is not installed (the message names the extra), or its
            text is more than `documents.max_bytes`.
        ConfigError: `armarius.toml` is wrong.
        StoreFull: It cannot be written.
    """
    if reason := NOT_READ.get(path.suffix.lower()):
        raise BookError(f"{path.name}: {reason}")
    try:
        data = read_file(path, limit=MAX_BYTES, follow=True)
        text = extract(path.name, data, limit=load_config(root).max_bytes)
    except FileNotFoundError:
        raise BookError(f"{path.name}: no such file") from None
    except (OSError, Undecodable) as error:
        raise BookError(f"{path.name}: not read: {getattr(error, 'strerror', None) or error}") from None
    chapters: list[ImportedChapter] = []
    taken: set[str] = set()
    for title, body in split(text):
        name = _file_name(title, len(chapters), path.stem, taken)
        taken.add(name)
        target = f"chapters/{name}"
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


def split(text: str) -> list[tuple[str, str]]:
    """Title and text of each chapter: by the level of heading that numbers most chapters, else by the highest one."""
    notes = dict(_NOTE.findall(text))
    body = _NOTE.sub("", text).rstrip() + "\n"
    headings = list(_HEADING.finditer(body))
    levels = {len(one[1]) for one in headings}
    numbered = {
        level: sum(len(h[1]) == level and chapter_number(h[2]) is not None for h in headings) for level in levels
    }
    level = max(sorted(levels), key=lambda one: (numbered[one], -one), default=0)
    cuts = [one for one in headings if len(one[1]) == level]
    if len(cuts) < 2:
        return [(headings[0][2] if headings else "", _with_notes(body, notes))]
    found = []
    if before := body[: cuts[0].start()].strip():
        found.append(("", _with_notes(before + "\n", notes)))
    for at, cut in enumerate(cuts):
        end = cuts[at + 1].start() if at + 1 < len(cuts) else len(body)
        found.append((cut[2], _with_notes(body[cut.start() : end].rstrip() + "\n", notes)))
    return found


def _with_notes(text: str, notes: dict[str, str]) -> str:
    mine = [number for number in dict.fromkeys(_MARK.findall(text)) if number in notes]
    return text + "".join(f"\n[^{number}]: {notes[number]}\n" for number in mine)


def _file_name(title: str, at: int, stem: str, taken: set[str]) -> str:
    number = chapter_number(title) if title and not appended(title) else None
    name = f"ch{number:03d}" if number is not None else f"{at:03d}-{book_id(title or stem)}"
    return f"{name}.md" if f"{name}.md" not in taken else f"{name}-{at:03d}.md"


def _state(root: Path, target: str, body: str) -> str:
    try:
        data = read_file(root / target, limit=MAX_BYTES, below=root)
    except FileNotFoundError:
        return "new"
    except OSError:
        return "other"
    return "same" if data == body.encode() else "other"
