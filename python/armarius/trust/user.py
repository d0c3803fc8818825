"""The user's own configuration: what projects may name by name.

    # ~/.config/armarius/config.toml
    [models]
    text2vec = "/models/text2vec-base-chinese"   # a project says: [embedding] model = "text2vec"

    [programs]                                   # what is run for these, instead of what the PATH has
    ckb = "/opt/ckb/bin/ckb"

    [indexes]
    fast = "/mnt/ssd/armarius"                   # a project says: [documents] index_dir = "fast"

Paths are absolute or begin with `~`. A folder under `indexes` holds one folder for each project.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

from armarius.errors import ConfigError
from armarius.toml_file import quoted, read_toml
from armarius.trust.home import config_file, shown

__all__ = ["PROGRAMS", "UserConfig", "near", "read_user_config"]

PROGRAMS = ("ckb", "nervusdb-cli", "scip-python", "scip-typescript")
"""The programs that are ever run."""

_NOTHING: Mapping[str, Path] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class UserConfig:
    """What the user allows by name; an absent file equals an empty one.

    Attributes:
        file: Where it is, or would be; None when there is no place for one.
        models: Folders of embedding models.
        programs: By the name of the program that they stand for, one of `PROGRAMS`.
        indexes: Folders that hold indexes.
    """

    file: Path | None = None
    models: Mapping[str, Path] = field(default_factory=lambda: _NOTHING)
    programs: Mapping[str, Path] = field(default_factory=lambda: _NOTHING)
    indexes: Mapping[str, Path] = field(default_factory=lambda: _NOTHING)

    @property
    def name(self) -> str:
        """What messages call the file."""
        return "config.toml in the folder that ARMARIUS_CONFIG names" if self.file is None else shown(self.file)


def read_user_config(*, project: Path | None = None) -> UserConfig:
    """The user's configuration.

    Args:
        project: See `home.config_file`.

    Raises:
        ConfigError: It is no TOML file of at most 256 KiB, or has an unknown key or a value of the wrong kind; names
            file and key.

    Cost: one small file.
    """
    file = config_file(project=project)
    if file is None:
        return UserConfig()
    name = shown(file)
    raw = read_toml(file, name=name, follow=True) or {}
    tables = ("models", "programs", "indexes")
    if unknown := sorted(raw.keys() - set(tables)):
        raise ConfigError(f"{name}: unknown table {unknown[0]}; known: {', '.join(tables)}{near(unknown[0], tables)}")
    found = {table: _paths(raw[table], table, name) for table in tables if table in raw}
    if unknown := sorted(found.get("programs", {}).keys() - set(PROGRAMS)):
        known = ", ".join(PROGRAMS)
        raise ConfigError(f"{name}: unknown program {unknown[0]}; known: {known}{near(unknown[0], PROGRAMS)}")
    if "lexical" in found.get("models", {}):
        raise ConfigError(f"{name}: models.lexical: this name means the embedder that needs no model")
    return UserConfig(file, **found)


def near(name: str, known: Mapping[str, Any] | tuple[str, ...]) -> str:
    """`; near it: …` with the names like `name`, or nothing."""
    found = get_close_matches(name[:100], list(known), n=3, cutoff=0.6)
    return f"; near it: {', '.join(found)}" if found else ""


def _paths(table: object, title: str, file: str) -> dict[str, Path]:
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: {title} must be a table, got {type(table).__name__}")
    paths: dict[str, Path] = {}
    for key, value in table.items():
        where = f"{file}: {title}.{quoted(key, key=True)}"
        if not isinstance(value, str) or not value or "\0" in value:
            raise ConfigError(f"{where} must be a path, got {value!r}")
        try:
            path = Path(value).expanduser()
        except RuntimeError as error:  # no such home
            raise ConfigError(f"{where}: {error}") from None
        if not path.is_absolute():
            raise ConfigError(f"{where} must be an absolute path or begin with ~, got {value!r}")
        paths[key] = path
    return paths
