"""What the user lets make rules: books by project, id and contents, remembered in `allowed.toml` beside `trusted.toml`.

A permission is about contents (docs/decisions/0114): the seal is the hash of everything that decides what a book says.
Whoever changes the book, or puts another in its place, has no permission; what it was given for keeps it.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from armarius.errors import ConfigError, ProjectError
from armarius.files import folder_lock, write_atomic
from armarius.toml_file import quoted, read_toml
from armarius.trust.home import CONFIG_ENV, config_folder, shown

__all__ = ["allow", "allowed", "allowed_anywhere", "disallow"]

_FILE = "allowed.toml"
_HEAD = (
    "# Books whose always active entries are rules of every prompt, as they were when you said so;\n"
    "# kept by `armarius import --allow-rules` and `armarius trust PROJECT --rules-of BOOK` (`--revoke`).\n"
)
_SEAL = re.compile(r"[0-9a-f]{64}")
_NOBODY: Mapping[str, str] = MappingProxyType({})
_Rows = dict[tuple[str, str], str]


def allowed(project: Path) -> Mapping[str, str]:
    """Id of a book of this project to the seal of what may make rules.

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
    """Project folder and id of every book that has a permission, sorted; the book may have changed since.

    Raises:
        ConfigError: `allowed.toml` is damaged.
    """
    home = config_folder()
    return () if home is None else tuple((Path(at), id_) for at, id_ in sorted(_read(home)))


def allow(project: Path, book: str, seal: str) -> None:
    """Remember that a book may make rules as long as its contents have this seal.

    Raises:
        ProjectError: The path is not valid Unicode.
        ConfigError: There is no folder for the user's configuration, or `allowed.toml` is damaged.
        StoreFull: It cannot be written; what was allowed before still is.
        StoreBusy: Another process has been writing it for five seconds.
    """
    path = _resolved(project)
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise ProjectError(f"the path is not valid Unicode and cannot be remembered: {shown(Path(path))}") from None
    _change((path, book), seal)


def disallow(project: Path, book: str) -> bool:
    """Forget the permission of a book; one that is gone too. Returns whether there was one. Raises: as `allow`."""
    return _change((_resolved(project), book), None)


def _resolved(project: Path) -> str:
    return os.path.normcase(os.path.realpath(project))


def _read(home: Path) -> _Rows:
    name = shown(home / _FILE)
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
