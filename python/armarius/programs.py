"""Finding a program by its name without running what a cloned folder brings along."""

import os
import shutil
from pathlib import Path

__all__ = ["find_program"]


def find_program(name: str, *, project: Path | None = None, path: str | None = None) -> str | None:
    """The program `name`, or None.

    A bare name is looked for in the absolute folders of the PATH, but never in the current directory, where Windows
    looks first, nor inside the project: what lies there came with the files. A name with a folder in it is taken as it
    is.

    Args:
        name: A bare name or a path.
        project: A folder from which no program is run, with all below it.
        path: Folders instead of those of the PATH.

    Cost: a look at each folder until it is found.
    """
    if os.path.dirname(name):  # noqa: PTH120 - Path drops the "./" that tells a path from a bare name
        return shutil.which(name)
    here = Path.cwd().resolve()
    forbidden = None if project is None else project.resolve()
    folders = os.environ.get("PATH", os.defpath) if path is None else path
    for folder in folders.split(os.pathsep):
        found = shutil.which(name, path=folder) if Path(folder).is_absolute() else None
        if found is None:
            continue
        place = Path(found).parent.resolve()
        if place != here and (forbidden is None or not place.is_relative_to(forbidden)):
            return found
    return None
