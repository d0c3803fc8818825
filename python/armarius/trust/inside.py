"""Whether a path stays inside a project: what it says, and every link on the way.

Nothing outside is looked at, not even to see whether it is there: on an automounter, or by a Windows share, looking
contacts whatever address the project names. Links are read as text, one by one, and followed only inside.
"""

import os
import stat
from pathlib import Path, PurePath
from typing import NamedTuple

__all__ = ["Way", "inside", "is_file_within", "leading_out", "way"]

_MOST_ENTRIES = 10_000
_MOST_LINKS = 40


class Way(NamedTuple):
    """Where a path leads.

    Attributes:
        end: The path without the links that were read; outside the project it may have further ones.
        within: Whether it ends in the project.
        linked: Whether a link is on it.
    """

    end: Path
    within: bool
    linked: bool


def way(root: Path, path: str | PurePath) -> Way:
    """Where `path` leads from the project folder.

    Args:
        root: The project folder, resolved.
        path: Relative to it, or absolute.

    Cost: one `lstat` per part, one more read per link.
    """
    at, links = root, 0
    todo = _parts(root, PurePath(path))
    while todo:
        part = todo.pop()
        if part == "..":
            if at == root:
                return Way(_joined(at.parent, todo), within=False, linked=links > 0)
            at = at.parent
            continue
        at = at / part
        if not at.is_relative_to(root):  # an absolute path that begins elsewhere
            return Way(_joined(at, todo), within=False, linked=links > 0)
        target = _target(at)
        if target is None:
            continue
        links += 1
        if links > _MOST_LINKS:
            return Way(at, within=False, linked=True)
        aim = PurePath(target)
        at = root if aim.anchor else at.parent
        todo += _parts(root, aim)
    return Way(at, within=True, linked=links > 0)


def inside(root: Path, value: str) -> Path | None:
    """The path below `root` that `value` names, there or not; None when it leads elsewhere.

    No absolute path, no `..`, no `~`, not the project itself, and no link at any step, not even one that leads back:
    it may lead elsewhere tomorrow.

    Args:
        root: The project folder, resolved.
        value: What the project says.
    """
    path = PurePath(value)
    if path.anchor or not path.parts or ".." in path.parts or path.parts[0].startswith("~") or "\0" in value:
        return None
    found = way(root, path)
    return None if found.linked or not found.within else found.end


def leading_out(root: Path, folder: Path) -> str:
    """The first link below `folder` that leads out of `root`, relative to `folder`; "" when none does.

    Links from file to file inside of a project are how model caches are laid out, and are left in peace.

    Args:
        root: The project folder, resolved.
        folder: A folder of it, as `inside` gave it.
    """
    seen = 0
    for place, folders, files in os.walk(folder, followlinks=False):
        for name in sorted((*folders, *files)):
            path = Path(place) / name
            if _target(path) is not None and not way(root, path.relative_to(root)).within:
                return str(path.relative_to(folder))
            seen += 1
            if seen > _MOST_ENTRIES:
                return f"one of more than {_MOST_ENTRIES:,} files"
    return ""


def is_file_within(root: Path, relative: str) -> bool:
    """Whether `relative` names a regular file of the project, or none at all; links may lead to another of its files.

    Args:
        root: The project folder, resolved.
        relative: A path that something in the project states, such as an index of its code.
    """
    path = PurePath(relative)
    if path.anchor or ".." in path.parts or "\0" in relative:
        return False
    found = way(root, path)
    if not found.within:
        return False
    try:
        return stat.S_ISREG(found.end.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False


def _parts(root: Path, path: PurePath) -> list[str]:
    """The steps to `path`, last first; from the project folder when it begins there."""
    if path.anchor and path.is_relative_to(root):
        path = path.relative_to(root)
    return list(reversed(path.parts))


def _joined(at: Path, todo: list[str]) -> Path:
    return Path(os.path.normpath(at.joinpath(*reversed(todo))))


def _target(path: Path) -> str | None:
    """What a link says; None for anything else, there or not."""
    try:
        info = path.lstat()
        # Windows: junctions and mount points are reparse points as links are.
        if stat.S_ISLNK(info.st_mode) or getattr(info, "st_reparse_tag", None):
            return os.readlink(path)  # noqa: PTH115 - as text, not as a path that may be resolved
    except (OSError, ValueError):
        return None
    return None
