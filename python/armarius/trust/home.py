"""Where the user's own word is kept: a folder with `config.toml` and `trusted.toml`, outside every project."""

import os
from pathlib import Path

from armarius.errors import ConfigError

__all__ = ["CONFIG_ENV", "config_file", "config_folder", "shown"]

CONFIG_ENV = "ARMARIUS_CONFIG"


def config_file(*, project: Path | None = None) -> Path | None:
    """The user's `config.toml`, whether or not it is there; None when there is no place for one.

    `ARMARIUS_CONFIG` names its folder, or the file itself when it ends in `.toml`; else it is in the folder that the
    system keeps for a user's configuration (`~/.config/armarius`, XDG).

    Args:
        project: What the system's folder would hold inside this one came with the project, and counts for nothing:
            a repository that is checked out as somebody's home brings a `.config` of its own.

    Raises:
        ConfigError: `ARMARIUS_CONFIG` is not an absolute path: relative to a project, it would be the project's word.
    """
    if named := os.environ.get(CONFIG_ENV):
        if not Path(named).is_absolute() or "\0" in named:
            raise ConfigError(f"{CONFIG_ENV} must be an absolute path, got {named!r}")
        return Path(named) if named.endswith(".toml") else Path(named) / "config.toml"
    import platformdirs

    folder = Path(platformdirs.user_config_dir("armarius", appauthor=False))
    if not folder.is_absolute():  # no home: a container under a number that no user has
        return None
    if project is not None and Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(project)):
        return None
    return folder / "config.toml"


def config_folder(*, project: Path | None = None) -> Path | None:
    """The folder of `config_file`, where `trusted.toml` lies too."""
    file = config_file(project=project)
    return None if file is None else file.parent


def shown(path: Path) -> str:
    """A path of the user's as messages show it: `~` for the home folder, nothing that a terminal would obey."""
    text = str(path)
    home = os.path.expanduser("~")  # noqa: PTH111 - Path raises where there is no home
    if os.path.isabs(home) and text.startswith(home.rstrip(os.sep) + os.sep) and home.strip(os.sep):  # noqa: PTH117
        text = "~" + text[len(home.rstrip(os.sep)) :]
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
