"""Paths that somebody gave, checked before anything is done with them."""

import os
from os import PathLike
from pathlib import Path

from armarius.errors import ProjectError
from armarius.strict import shown

__all__ = ["no_path", "project_folder"]

_SHOWN = 120
_LONGEST_PART, _LONGEST = 255, 4096  # bytes, as on Linux; macOS and Windows allow less, and say so when it is used


def project_folder(root: str | PathLike[str]) -> Path:
    """The folder of a project.

    Raises:
        ProjectError: Empty, no folder, or nothing that can be a path.
    """
    if problem := no_path(root):
        raise ProjectError(f"not a project folder: {problem}")
    if not os.fspath(root):
        raise ProjectError('the project folder is an empty path; the working directory is "."')
    folder = Path(root)
    try:
        found = folder.is_dir()
        if found and not folder.is_absolute():
            Path.cwd()  # whoever asks where it lies is told here that the working directory has gone
    except OSError as error:
        raise ProjectError(f"not a project folder: {folder}: {error.strerror or error}") from None
    if not found:
        raise ProjectError(f"not a project folder: {folder}")
    return folder


def project_name(folder: Path) -> str:
    """What a project is called that says no name: as its folder, with what is no text there written out."""
    return folder.resolve().name.encode("utf-8", "backslashreplace").decode()


def no_path(path: object) -> str:
    """Why this cannot be a path, "" when it can; nothing is looked at."""
    text = os.fspath(path) if isinstance(path, str | PathLike) else path
    if not isinstance(text, str):
        return f"expected a path, got {shown(path)}"
    what = repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
    if "\0" in text:
        return f"{what} holds a NUL character"
    try:
        data = os.fsencode(text)
    except UnicodeEncodeError:
        return f"{what} is not valid Unicode"
    if len(data) > _LONGEST or any(len(part) > _LONGEST_PART for part in data.split(os.sep.encode())):
        return f"{what} is too long"
    return ""
