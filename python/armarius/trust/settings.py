"""What a project may say (`MAY_SAY`), and the books that may make rules, kept in `allowed.toml` next to `trusted.toml`.

The permission of a book is stored in `allowed.toml`, next to `trusted.toml`, with a hash of the book's contents
(docs/decisions/0114). A changed or replaced book has no permission.
"""

import os
import re
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from armarius.config import BUILT_IN_MODELS, CONFIG_NAME, Config
from armarius.errors import ConfigError, ContextWarning
from armarius.io import folder_lock, write_atomic
from armarius.io.folder import no_path
from armarius.io.toml import quoted, read_toml
from armarius.trust.folders import inside, is_trusted, storable
from armarius.trust.user_config import UserConfig, config_folder, display_path, own_folder, read_user_config
from armarius.validation import near, suggestion
from armarius.warnings import SETTING_IGNORED

_FILE = "allowed.toml"
_HEAD = (
    "# Books whose always active entries are rules of every prompt, as they were when you said so;\n"
    "# kept by `armarius import --allow-rules` and `armarius trust PROJECT --rules-of BOOK` (`--revoke`).\n"
)
_SEAL = re.compile(r"[0-9a-f]{64}")
_NOBODY: Mapping[str, str] = MappingProxyType({})
_Rows = dict[tuple[str, str], str]
_SHOWN = 120


def allowed(project: Path) -> Mapping[str, str]:
    """Hashes of the books of this project that may make rules, by book id.

    Raises:
        ConfigError: `allowed.toml` is damaged.

    Cost: one small file.
    """
    path = _resolved(project)
    home = config_folder(project=Path(path))
    if home is None:
        return _NOBODY
    return MappingProxyType({id_: seal for (at, id_), seal in _read(home).items() if at == path})


def allowed_anywhere() -> tuple[tuple[Path, str], ...]:
    """Project folder and id of every book with a permission, sorted; the book may have changed since.

    Raises:
        ConfigError: `allowed.toml` is damaged.
    """
    home = config_folder()
    return () if home is None else tuple((Path(at), id_) for at, id_ in sorted(_read(home)))


def allow(project: Path, book: str, seal: str) -> None:
    """Allow a book to make rules while its contents have this hash.

    Raises:
        ProjectError: The path is not valid Unicode.
        ConfigError: There is no folder for the user's configuration, or `allowed.toml` is damaged.
        StoreFull: It cannot be written; nothing changes.
        StoreBusy: Another process has held the lock for five seconds.
    """
    _change((str(storable(Path(_resolved(project)))), book), seal)


def disallow(project: Path, book: str) -> bool:
    """Remove the permission of a book, which need not exist. Returns whether there was one. Raises as `allow`."""
    return _change((_resolved(project), book), None)


def _resolved(project: Path) -> str:
    return os.path.normcase(os.path.realpath(project))


def _read(home: Path) -> _Rows:
    name = display_path(home / _FILE)
    raw = read_toml(home / _FILE, name=name, follow=True) or {}
    rows = raw.get("books", [])
    if raw.keys() - {"books"} or not isinstance(rows, list):
        raise ConfigError(f"{name}: expected [[books]] with project, id and seal, and nothing else")
    found: _Rows = {}
    for number, row in enumerate(rows, 1):
        where = f"{name}: books[{number}]"
        if not isinstance(row, dict) or row.keys() != {"project", "id", "seal"}:
            raise ConfigError(f"{where}: expected project, id and seal, and nothing else")
        project, id_, seal = row["project"], row["id"], row["seal"]
        if not isinstance(project, str) or not Path(project).is_absolute():
            raise ConfigError(f"{where}: project must be an absolute path, got {project!r}")
        if not isinstance(id_, str) or not isinstance(seal, str) or _SEAL.fullmatch(seal) is None:
            raise ConfigError(f"{where}: id must be a text and seal 64 hexadecimal digits")
        found[project, id_] = seal
    return found


def _change(key: tuple[str, str], seal: str | None) -> bool:
    home = own_folder(project=Path(key[0]))
    with folder_lock(home, name=".trusted.lock"):
        rows = _read(home)
        before = rows.pop(key, None)
        if seal is not None:
            rows[key] = seal
        if before != seal:
            lines = "".join(
                f"\n[[books]]\nproject = {quoted(at)}\nid = {quoted(id_)}\nseal = {quoted(kept)}\n"
                for (at, id_), kept in sorted(rows.items())
            )
            write_atomic(home / _FILE, f"{_HEAD}{lines}".encode())
    return before is not None


@dataclass(frozen=True, slots=True)
class Ignored:
    """A setting of `armarius.toml` that is not heeded, for the project is not trusted.

    Attributes:
        key: Such as `documents.index_dir`.
        value: What it says.
        allowed: What it may say.
    """

    key: str
    value: str
    allowed: str

    def __str__(self) -> str:
        value = self.value if len(self.value) <= _SHOWN else f"{self.value[:_SHOWN]}…"
        return f"{self.key} = {quoted(value)} (it may be {self.allowed})"


@dataclass(frozen=True, slots=True)
class Permissions:
    """The settings that one project may use, at one moment.

    Attributes:
        root: The project folder, resolved.
        trusted: Whether its `armarius.toml` has the rights of the user's configuration.
        user: The user's configuration, with the allowed names.
    """

    root: Path
    trusted: bool
    user: UserConfig

    @classmethod
    def of(cls, root: Path, *, trusted: bool | None = None) -> "Permissions":
        """The permissions of the project at `root`.

        Args:
            root: The project folder.
            trusted: What the caller says; None asks the user's configuration and the environment.

        Raises:
            ConfigError: A file of the user's configuration is wrong.

        Cost: two small files.
        """
        resolved = Path(os.path.realpath(root))
        user = read_user_config(project=resolved)
        return cls(resolved, is_trusted(resolved) if trusted is None else trusted, user)

    def ignored(self, config: Config) -> list[Ignored]:
        """The settings that are not heeded, in the order of `MAY_SAY`; values of a wrong kind are left to readers."""
        found = []
        for key, (allowed, allows) in ({} if self.trusted else MAY_SAY).items():
            value = value_of(config, key)
            if isinstance(value, str) and not no_path(value) and not allows(self, value):
                hint = suggestion(near(value, self.user.indexes)) if key == "documents.index_dir" else ""
                found.append(Ignored(key, value, allowed.format(user=self.user.name) + hint))
        return found

    def warning(self, config: Config) -> ContextWarning | None:
        """One warning of all settings that are not heeded; None when there is none."""
        ignored = self.ignored(config)
        return SETTING_IGNORED(what="; ".join(map(str, ignored)), command=self.command) if ignored else None

    def heeded(self, config: Config) -> Config:
        """The configuration without the settings that are not heeded."""
        return without(config, [one.key for one in self.ignored(config)])

    def place(self, key: str, value: str) -> Path:
        """The path that a heeded setting names: by a name of the user's, or relative to the project, `~` the home.

        Raises:
            ConfigError: It is no path.
        """
        if problem := no_path(value):
            raise ConfigError(f"{CONFIG_NAME}: {key}: {problem}")
        names = {"documents.index_dir": self.user.indexes, "embedding.model": self.user.models}.get(key, {})
        own = Path(value).expanduser() if value == "~" or value.startswith(("~/", f"~{os.sep}")) else self.root / value
        return names.get(value, own)

    def ckb(self, value: str) -> str | None:
        """The program that a heeded `code.ckb` names; None is the user's: `CKB_BIN`, the configuration, the PATH."""
        if value == "ckb" or "ckb" in self.user.programs:
            return None
        is_path = bool(os.path.dirname(value))  # noqa: PTH120 - Path drops the "./" that tells a path from a name
        return str(self.place("code.ckb", value)) if is_path else value

    def to_run_ckb(self) -> str:
        """Why CKB is not run over the folder, with what would allow it; "" when it may be."""
        if self.trusted:
            return ""
        risk = "whose .ckb/config.json and .git/config may name commands that it runs"
        return f"ckb is not run over a folder that is not trusted, {risk}. To allow it, run: {self.command}"

    @property
    def command(self) -> str:
        """The command that trusts the project."""
        path = str(self.root)
        return f"armarius trust {shlex.quote(path) if path.isprintable() else 'FOLDER'}"


def _is_model(permissions: Permissions, value: str) -> bool:
    user = permissions.user
    if value in user.servers:
        return False  # the texts of the project would be sent there
    return value in BUILT_IN_MODELS or value in user.models or inside(permissions.root, value) is not None


def _is_inside(permissions: Permissions, value: str) -> bool:
    return inside(permissions.root, value) is not None


MAY_SAY: Final[Mapping[str, tuple[str, Callable[[Permissions, str], bool]]]] = MappingProxyType(
    {
        "documents.index_dir": ("a name under [indexes] of {user}", lambda its, value: value in its.user.indexes),
        "embedding.model": ('"lexical", "e5", a name under [models] of {user}, or a folder of the project', _is_model),
        "code.index": ("a file of the project, without a link on the way", _is_inside),
        "code.ckb": ('"ckb"', lambda _, value: value == "ckb"),
        "graph.store": ('"project"', lambda _, value: value != "nervusdb"),
        "graph.path": ("a folder of the project, without a link on the way", _is_inside),
    }
)
"""What an `armarius.toml` that is not trusted may say where a setting names a program, a place or a server.

Anything else is ignored with one warning. Settings that are not listed name none of these, and are free.
"""


def value_of(config: Config, key: str) -> object:
    """What a configuration says under a key of `MAY_SAY`; None for nothing."""
    table, _, name = key.partition(".")
    found = config.tables.get(table)
    return config.index_dir if table == "documents" else found.get(name) if isinstance(found, dict) else None


def without(config: Config, keys: Collection[str]) -> Config:
    """The configuration as if it did not say these keys of `MAY_SAY`."""
    tables = {
        table: {name: value for name, value in found.items() if f"{table}.{name}" not in keys}
        if isinstance(found, dict)
        else found
        for table, found in config.tables.items()
    }
    return replace(config, tables=tables, index_dir=None if "documents.index_dir" in keys else config.index_dir)
