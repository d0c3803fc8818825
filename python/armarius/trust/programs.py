"""Finding a program without running what a cloned folder brings along, and what it is told of where programs are.

Whatever reaches this module comes from the caller, the environment, the user's configuration or a trusted project; an
`armarius.toml` of another names none (`armarius.trust`).
"""

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from armarius.errors import ConfigError
from armarius.trust.user import read_user_config

if TYPE_CHECKING:
    import subprocess

__all__ = ["child_path", "end_program", "find_program", "named_by_user"]


def named_by_user(program: str, variable: str, *, project: Path | None = None) -> tuple[str, str] | None:
    """What the user calls `program`: the environment variable, else `[programs]` of the user's configuration.

    Returns:
        Who says so and what: a bare name or an absolute path; None when nobody does.

    Raises:
        ConfigError: The user's configuration is wrong, or the variable holds a path relative to wherever we stand.
    """
    if named := os.environ.get(variable):
        if os.path.dirname(named) and not Path(named).is_absolute():  # noqa: PTH120 - as below
            raise ConfigError(f"{variable} must be a bare name or an absolute path, got {named!r}")
        return variable, named
    user = read_user_config(project=project)
    found = user.programs.get(program)
    return None if found is None else (f"programs.{program} in {user.name}", str(found))


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
    for folder in _folders(os.environ.get("PATH", os.defpath) if path is None else path):
        found = shutil.which(name, path=folder)
        if found is not None and _is_outside(Path(found).parent, project):
            return found
    return None


def child_path(project: Path | None) -> str:
    """The PATH for a program that is run over a project: what it starts in turn does not come from there either."""
    folders = [folder for folder in _folders(os.environ.get("PATH", os.defpath)) if _is_outside(Path(folder), project)]
    return os.pathsep.join(folders or _folders(os.defpath))  # an empty PATH would be the current directory


def _folders(path: str) -> list[str]:
    return [folder for folder in path.split(os.pathsep) if Path(folder).is_absolute()]


def _is_outside(folder: Path, project: Path | None) -> bool:
    """Whether a folder is neither the current directory nor inside the project."""
    place = folder.resolve()
    return place != Path.cwd().resolve() and (project is None or not place.is_relative_to(project.resolve()))


def end_program(process: "subprocess.Popen[bytes]") -> None:
    """End a program that still runs in a session of its own; with all that it has started, but on Windows."""
    with suppress(OSError):
        if process.returncode is not None:
            return
        if sys.platform != "win32":
            import signal

            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
