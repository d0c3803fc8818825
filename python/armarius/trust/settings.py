"""Settings that a project may use, and books that may make rules.

The permission of a book is stored in `allowed.toml`, next to `trusted.toml`, with a hash of the book's contents
(docs/decisions/0114). A changed or replaced book has no permission.
"""

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from armarius.config import BUILT_IN_MODELS, CONFIG_NAME, Config
from armarius.errors import ConfigError, ProjectError, SettingRefused
from armarius.io import folder_lock, write_atomic
from armarius.io.folder import no_path
from armarius.io.toml import quoted, read_toml
from armarius.trust.folders import CONFIG_ENV, config_folder, display_path, inside, is_trusted, leading_out, way
from armarius.trust.user import UserConfig, near, read_user_config

__all__ = ["Permissions", "allow", "allowed", "allowed_anywhere", "disallow"]

_FILE = "allowed.toml"
_HEAD = (
    "# Books whose always active entries are rules of every prompt, as they were when you said so;\n"
    "# kept by `armarius import --allow-rules` and `armarius trust PROJECT --rules-of BOOK` (`--revoke`).\n"
)
_SEAL = re.compile(r"[0-9a-f]{64}")
_NOBODY: Mapping[str, str] = MappingProxyType({})
_Rows = dict[tuple[str, str], str]


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
    path = _resolved(project)
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise ProjectError(
            f"the path is not valid Unicode and cannot be remembered: {display_path(Path(path))}"
        ) from None
    _change((path, book), seal)


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
    home = config_folder(project=Path(key[0]))
    if home is None:
        raise ConfigError(f"there is no folder for the user's configuration; {CONFIG_ENV} may name one")
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


_MUST = "must lie inside the project, without a link on the way"
_RISKS = {
    "ckb": "whose .ckb/config.json and .git/config may name commands that it runs",
    "nervusdb-cli": "whose database it would open and write as it lies there",
}


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

    def model(self, value: str) -> Path:
        """The folder of `embedding.model`.

        Raises:
            SettingRefused: Outside the project and not the user's; or a name that nobody knows.
        """
        key, allowed = "embedding.model", self.user.models
        if found := self._named(key, value, allowed):
            return found
        path = inside(self.root, value)
        if path is None:
            raise self._outside(key, value, "models")
        if not path.exists() and value == path.name:
            line = f'{quoted(value, key=True)} = "/where/the/model/is"'
            raise SettingRefused(
                f"{CONFIG_NAME}: {key} {quoted(value)} is no embedding model: neither a folder of the project nor a "
                f"name that {self.user.name} has{near(value, allowed)}. To name one there, add under [models]: {line}",
                key=key,
                value=value,
                table="models",
                line=line,
            )
        if link := leading_out(self.root, path):
            raise self._refused(key, value, f"{_MUST}: {link} leads out of it")
        return path

    def server(self, value: str) -> Mapping[str, Any] | None:
        """What the user says about the server that `embedding.model` names; None when it names none.

        Raises:
            SettingRefused: The project is not trusted: it would have its texts sent there.
        """
        found = self.user.servers.get(value)
        if found is None or self.trusted:
            return found
        key, name = "embedding.model", quoted(value)
        line = f"model = {name}"
        raise SettingRefused(
            f"{CONFIG_NAME}: {key} {name} is a server, to which the texts of the project would be sent; a project "
            f"cannot ask for that. To allow it, run: {self.command} ; or, for every project that names no model, add "
            f"under [embedding] in {self.user.name}: {line}",
            key=key,
            value=value,
            table="embedding",
            line=line,
        )

    def index(self, value: str) -> Path:
        """The folder of `documents.index_dir`.

        Raises:
            SettingRefused: The project is not trusted, and the user's configuration does not have this name or folder.
        """
        key, allowed = "documents.index_dir", self.user.indexes
        self._checked(key, value)
        target = self._target(value)
        same = [path for path in allowed.values() if Path(os.path.normpath(path)) == target]
        if value in allowed or same:
            return allowed.get(value) or same[0]
        if self.trusted:
            return self._own(value)
        name = quoted(target.name or "root", key=True)
        line = "" if target.is_relative_to(self.root) else f"{name} = {quoted(str(target))}"
        reason = f"is not heeded in a project that is not trusted, got {quoted(value)}{near(value, allowed)}"
        raise self._refused(key, value, reason, "indexes" if line else "", line)

    def data(self, key: str, value: str) -> Path:
        """The file or folder of a setting that has no names: `graph.path`, `code.index`.

        Raises:
            SettingRefused: Outside the project.
        """
        self._checked(key, value)
        if self.trusted:
            return self._own(value)
        path = inside(self.root, value)
        if path is None:
            raise self._outside(key, value, "")
        return path

    def ckb(self, value: str) -> str | None:
        """The program of `code.ckb`; None is the user's: `CKB_BIN`, the user's configuration, the PATH.

        Raises:
            SettingRefused: A project names no program.
        """
        self._checked("code.ckb", value)
        if value == "ckb" or "ckb" in self.user.programs:
            return None
        is_path = bool(os.path.dirname(value))  # noqa: PTH120 - Path drops the "./" that tells a path from a name
        if self.trusted:
            return str(self._own(value)) if is_path else value
        where = str(self._target(value)) if is_path else "/where/it/is/ckb"
        line = f"ckb = {quoted(where)}"
        raise SettingRefused(
            f"{CONFIG_NAME}: code.ckb names the program {quoted(value)}, which a project cannot. To allow it, run: "
            f"{self.command} ; a program of your own, for every project that you trust, is named under [programs] in "
            f"{self.user.name}: {line}",
            key="code.ckb",
            value=value,
            table="programs",
            line=line,
        )

    def graph_store(self) -> None:
        """Whether `graph.store` may be a database in the project.

        Raises:
            SettingRefused: The project is not trusted.
        """
        if reason := self.to_run("nervusdb-cli"):
            key = "graph.store"
            raise SettingRefused(f'{CONFIG_NAME}: {key} = "nervusdb": {reason}', key=key, value="nervusdb")

    def to_run(self, program: str) -> str:
        """Why one of the user's programs is not run over the folder, with what would allow it; "" when it may be."""
        if self.trusted:
            return ""
        reason = f"{program} is not run over a folder that is not trusted, {_RISKS[program]}"
        return f"{reason}. To allow it, run: {self.command}"

    @property
    def command(self) -> str:
        """The command that trusts the project."""
        path = str(self.root)
        return f"armarius trust {shlex.quote(path) if path.isprintable() else 'FOLDER'}"

    def refusals(self, config: Config) -> list[SettingRefused]:
        """All settings of the project that are refused; values of a wrong type are skipped."""
        rules: tuple[tuple[str, str, Callable[[str], object]], ...] = (
            ("documents", "index_dir", self.index),
            ("embedding", "model", self._embedding),
            ("code", "index", lambda value: self.data("code.index", value)),
            ("code", "ckb", self.ckb),
            ("graph", "store", lambda value: self.graph_store() if value == "nervusdb" else None),
            ("graph", "path", lambda value: self.data("graph.path", value)),
        )
        found: list[SettingRefused] = []
        for table, name, rule in rules:
            try:
                value = config.index_dir if name == "index_dir" else config.table(table).get(name)
                if isinstance(value, str) and value:
                    rule(value)
            except SettingRefused as error:
                found.append(error)
            except ConfigError:
                continue  # of a wrong type: reported where the setting is read
        return found

    def _embedding(self, value: str) -> object:
        return value in BUILT_IN_MODELS or self.server(value) or self.model(value)

    def _named(self, key: str, value: str, allowed: Mapping[str, Path]) -> Path | None:
        """The path of a setting if it is allowed: by its name, by an equal path, or because the project is trusted."""
        self._checked(key, value)
        if value in allowed:
            return allowed[value]
        if not self.trusted and inside(self.root, value) is not None:
            return None
        target = self._target(value)
        same = [path for path in allowed.values() if Path(os.path.normpath(path)) == target]
        return same[0] if same else self._own(value).resolve() if self.trusted else None

    def _own(self, value: str) -> Path:
        """A path of a trusted project: `~` is the home folder, others are relative to the project."""
        if value == "~" or value.startswith(("~/", f"~{os.sep}")):
            return Path(value).expanduser()
        return self.root / value

    def _target(self, value: str) -> Path:
        """The normalised path that a setting names; no I/O outside the project."""
        return Path(os.path.normpath(way(self.root, self._own(value)).end))

    def _checked(self, key: str, value: str) -> None:
        if problem := no_path(value):
            raise ConfigError(f"{CONFIG_NAME}: {key}: {problem}")

    def _outside(self, key: str, value: str, table: str) -> SettingRefused:
        """The error for a path outside the project, with the line of configuration that would allow it."""
        target = self._target(value)
        if target == self.root:
            return self._refused(key, value, f"must be a folder of its own, got {quoted(value)}")
        reason = f"{_MUST}, got {quoted(value)}"
        if not table or target.is_relative_to(self.root):
            return self._refused(key, value, reason)
        name = quoted(target.name or "root", key=True)
        return self._refused(key, value, reason, table, f"{name} = {quoted(str(target))}")

    def _refused(self, key: str, value: str, reason: str, table: str = "", line: str = "") -> SettingRefused:
        way_out = f"add under [{table}] in {self.user.name}: {line} ; or run: " if line else "run: "
        message = f"{CONFIG_NAME}: {key} {reason}. To allow it, {way_out}{self.command}"
        return SettingRefused(message, key=key, value=value, table=table, line=line)
