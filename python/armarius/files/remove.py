"""The one place that deletes. That it is ours is for the caller to know; that it is what was meant is seen to here."""

import shutil
import stat
from contextlib import suppress
from pathlib import Path

from armarius.files.folder import Refused, opened_folder, refusal

__all__ = ["remove_file", "remove_folder", "remove_other"]


def remove_file(path: Path, *, below: Path | None = None) -> bool:
    """Remove a regular file.

    Args:
        path: The file.
        below: A trusted folder; see `opened_folder`. Without it the file's own folder is trusted.

    Returns:
        Whether there was one.

    Raises:
        Refused: A link, a folder, a pipe or a device lies there, or a link on the way; it is left as it is.
        OSError: It cannot be removed.
    """
    try:
        with opened_folder(path.parent, below=below) as folder:
            info = folder.lstat(path.name)
            if info is None:
                return False
            if what := refusal(info):
                raise Refused(what, path.name)
            # A link put there since the look is removed itself: unlink never follows.
            folder.unlink(path.name)
            return True
    except FileNotFoundError:
        return False


def remove_other(path: Path, *, below: Path) -> None:
    """Remove what is no regular file and lies where only ours may: a link itself, a pipe, an empty folder.

    Raises:
        OSError: It cannot be removed, such as a folder with something in it.
    """
    with suppress(FileNotFoundError), opened_folder(path.parent, below=below) as folder:
        info = folder.lstat(path.name)
        if info is None:
            return
        if stat.S_ISDIR(info.st_mode) and not refusal(info).startswith("symbolic"):
            folder.rmdir(path.name)
        else:
            folder.unlink(path.name)


def remove_folder(path: Path, *, below: Path) -> bool:
    """Remove a real folder with all in it; links in it are removed, not followed.

    Returns:
        Whether all of it is gone now.

    Raises:
        Refused: A link, or no folder; it is left as it is.
    """
    with opened_folder(path.parent, below=below) as folder:
        info = folder.lstat(path.name)
        if info is None:
            return True
        if not stat.S_ISDIR(info.st_mode) or refusal(info).startswith("symbolic"):
            raise Refused("not a folder", path.name)
        if folder.descriptor is None:  # Windows: by path; rmtree refuses a link in the place of the folder
            shutil.rmtree(path, ignore_errors=True)
        else:
            shutil.rmtree(path.name, ignore_errors=True, dir_fd=folder.descriptor)
        return folder.lstat(path.name) is None
