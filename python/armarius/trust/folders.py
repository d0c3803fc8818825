"""The folders that the user trusts: remembered in `trusted.toml` beside the user's configuration, by resolved path."""

import os
from os import PathLike
from pathlib import Path

from armarius.errors import ConfigError, ProjectError
from armarius.files import folder_lock, write_atomic
from armarius.files.paths import no_path, project_folder
from armarius.toml_file import quoted, read_toml
from armarius.trust.home import CONFIG_ENV, config_folder, shown

__all__ = ["TRUSTED_ENV", "is_trusted", "revoke", "trust", "trusted", "who_trusts"]

TRUSTED_ENV = "ARMARIUS_TRUSTED"
_FILE = "trusted.toml"
_HEAD = "# Folders whose armarius.toml counts as your own words; kept by `armarius trust` (`--revoke`, `--list`).\n"


def trust(folder: str | PathLike[str]) -> Path:
    """From now on take what the `armarius.toml` of this folder says as the user's own words.

    What it names outside the folder is used then (programs, model folders, index folders, the graph's database), and
    programs that read the project's own settings are run over it. Engines that are open learn of it when they are
    opened again. Trusting twice is fine.

    Args:
        folder: A project folder. It is remembered by its resolved path, alone: no folder above or below it.

    Returns:
        The resolved path.

    Raises:
        ProjectError: No folder, or one whose path is not valid Unicode.
        ConfigError: There is no folder for the user's configuration, or `trusted.toml` is damaged.
        StoreFull: The configuration cannot be written; what was trusted before still is.
        StoreBusy: Another process has been writing it for five seconds.
    """
    path = _resolved(project_folder(folder))
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise ProjectError(f"the path is not valid Unicode and cannot be remembered: {shown(path)}") from None
    _change(add=path)
    return path


def revoke(folder: str | PathLike[str]) -> bool:
    """Trust this folder no longer; one that is gone can be revoked too.

    Returns:
        Whether it had been remembered. What `ARMARIUS_TRUSTED` names stays trusted where it is set.

    Raises:
        ConfigError, StoreFull, StoreBusy: As `trust`.
    """
    return _change(remove=_resolved(folder))


def is_trusted(folder: str | PathLike[str]) -> bool:
    """Whether the user trusts this very folder, by `trust` or by the environment.

    Raises:
        ConfigError: `trusted.toml` is damaged, or `ARMARIUS_TRUSTED` names a relative path.
    """
    return who_trusts(folder) != ""


def who_trusts(folder: str | PathLike[str]) -> str:
    """Who trusts the folder: `trusted.toml`, `ARMARIUS_TRUSTED`, or "" for nobody."""
    path = _resolved(folder)
    if path in _of_the_environment():
        return TRUSTED_ENV
    return _FILE if path in _remembered(config_folder(project=path)) else ""


def trusted() -> tuple[Path, ...]:
    """The remembered folders, sorted, and those of the environment.

    Raises:
        ConfigError: As `is_trusted`.
    """
    return tuple(sorted({*_remembered(config_folder()), *_of_the_environment()}))


def _resolved(folder: str | PathLike[str]) -> Path:
    if problem := no_path(folder):
        raise ProjectError(f"no path: {problem}")
    return Path(os.path.normcase(os.path.realpath(folder)))


def _of_the_environment() -> frozenset[Path]:
    named = [part for part in os.environ.get(TRUSTED_ENV, "").split(os.pathsep) if part]
    if relative := [part for part in named if not Path(part).is_absolute()]:
        raise ConfigError(f"{TRUSTED_ENV} must hold absolute paths, got {relative[0]!r}")
    return frozenset(_resolved(part) for part in named)


def _remembered(home: Path | None) -> tuple[Path, ...]:
    if home is None:
        return ()
    name = shown(home / _FILE)
    raw = read_toml(home / _FILE, name=name, follow=True) or {}
    folders = raw.get("folders", [])
    if raw.keys() - {"folders"} or not isinstance(folders, list) or not all(isinstance(item, str) for item in folders):
        raise ConfigError(f'{name}: expected folders = ["/one", …] and nothing else')
    if relative := [item for item in folders if not Path(item).is_absolute()]:
        raise ConfigError(f"{name}: folders must be absolute paths, got {relative[0]!r}")
    return tuple(Path(item) for item in folders)


def _change(*, add: Path | None = None, remove: Path | None = None) -> bool:
    home = config_folder()
    if home is None:
        raise ConfigError(f"there is no folder for the user's configuration; {CONFIG_ENV} may name one")
    with folder_lock(home, name=".trusted.lock"):
        before = _remembered(home)
        after = {*before, *({add} if add else ())} - {remove}
        if after != set(before):
            lines = "".join(f"    {quoted(str(path))},\n" for path in sorted(after))
            write_atomic(home / _FILE, f"{_HEAD}folders = [\n{lines}]\n".encode())
    return remove in before
