"""A project folder to its codex: profiles, `codex.json`, merged."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from armarius.codex.codex_json import CodexFile, parse_codex_json
from armarius.codex.draft import Draft
from armarius.codex.merge import merge
from armarius.codex.model import Codex
from armarius.codex.profiles import parse_profiles
from armarius.errors import CodexError, ContextWarning, ProjectError

CODEX_FILE = "codex.json"
PROFILE_SUFFIXES = (".md", ".markdown", ".txt")
_MAX_BYTES = 16 * 1024 * 1024
_SKIPPED = frozenset({"node_modules", "target", "dist", "build", "venv", "__pycache__"})


def load_codex(root: str | Path, *, strict: bool = False) -> Codex:
    """Read the codex of the project at `root`.

    Args:
        root: A folder. Hidden folders, symbolic links and files over 16 MiB are not read.
        strict: Raise the first fault of `codex.json` instead of going on with what is right.

    Raises:
        ProjectError: `root` is not a folder.
        CodexError: Only when `strict`: file, entry and field, or line.

    Cost: one pass over every Markdown and text file.
    """
    root = Path(root)
    if not root.is_dir():
        raise ProjectError(f"not a folder: {root}")
    unread: list[str] = []
    return build_codex(_texts(root, unread), unread=unread, strict=strict)


def build_codex(files: Iterable[tuple[str, str]], *, unread: Iterable[str] = (), strict: bool = False) -> Codex:
    """The codex of files that are already in memory, for a caller that has read the project anyway.

    Args:
        files: `(path, text)`, project-relative and `/`-separated, each path once; the order does not matter.
        unread: Messages about unreadable files, passed on as warnings; looked at after `files` is exhausted.
        strict: As in `load_codex`.
    """
    profiles: dict[str, list[Draft]] = {}
    declared = CodexFile()
    for path, text in files:
        if path == CODEX_FILE:
            declared = parse_codex_json(path, text)
        elif path.lower().endswith(PROFILE_SUFFIXES):
            profiles[path] = parse_profiles(path, text)
    merged = merge(
        [draft for path in sorted(profiles) for draft in profiles[path]], declared.drafts, declared.relations
    )
    errors = [*declared.errors, *(CodexError(problem) for problem in merged.problems)]
    if strict and errors:
        raise errors[0]
    return Codex(
        entities=merged.entities,
        relations=merged.relations,
        warnings=tuple(ContextWarning("CODEX_INVALID", message) for message in [*unread, *map(str, errors)]),
        title=declared.title,
        language=declared.language,
    )


def _texts(root: Path, unread: list[str]) -> Iterator[tuple[str, str]]:
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(files):
            path = Path(folder, name)
            relative = path.relative_to(root).as_posix()
            if relative != CODEX_FILE and (name.startswith(".") or not name.lower().endswith(PROFILE_SUFFIXES)):
                continue
            try:
                text = _read(path)
            except (OSError, UnicodeDecodeError) as error:
                unread.append(f"{relative}: not read: {getattr(error, 'strerror', None) or 'not UTF-8'}")
                continue
            if text is not None:
                yield relative, text


def _read(path: Path) -> str | None:
    """The text of a regular file of bearable size; None for anything else (links, pipes, giants)."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_BYTES:
            return None
        return file.read().decode("utf-8")
