"""Trusted folders, remembered in `trusted.toml`; the user's own configuration, with programs; paths inside a project.

    # ~/.config/armarius/config.toml
    [models]
    text2vec = "/models/text2vec-base-chinese"   # a project says: [embedding] model = "text2vec"

    [programs]                                   # what is run for these, instead of what the PATH has
    ckb = "/opt/ckb/bin/ckb"

    [indexes]
    fast = "/mnt/ssd/armarius"                   # a project says: [documents] index_dir = "fast"

    [servers.mine]                               # of embeddings; texts of the project are sent there
    base_url = "http://127.0.0.1:8000/v1"
    query_model = "e5-query"
    document_model = "e5-passage"
    api_key_env = "MY_KEY"                       # or api_key = "…"

    [embedding]                                  # for projects that name no model of their own
    model = "mine"                               # one of [models] or [servers], "e5", "lexical", or a folder

    [books]
    user = "阿宁"                                # what {{user}} of lorebooks reads as

Paths are absolute or begin with `~`. A folder under `indexes` holds one folder for each project. A server is used where
`[embedding]` here names it, or a project that is trusted: no other sends its texts anywhere.
"""

import os
import shutil
import stat
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from armarius.errors import ConfigError, ProjectError
from armarius.io import folder_lock, no_path, project_folder, write_atomic
from armarius.io.toml import quote_toml, read_toml, refuse_unknown

if TYPE_CHECKING:
    import subprocess


PROGRAMS = ("ckb", "nervusdb", "scip-python", "scip-typescript")
"""The programs that are ever run."""

_NOTHING: Mapping[str, Path] = MappingProxyType({})
_NOBODY: Mapping[str, Any] = MappingProxyType({})
_TEXTS = ("base_url", "query_model", "document_model", "api_key", "api_key_env", "query_prompt", "document_prompt")
_OF_PATHS = ("models", "programs", "indexes")
_MOST_SECONDS = 600
_OF_A_SERVER = (*_TEXTS, "extra", "timeout_s")


@dataclass(frozen=True, slots=True)
class UserConfig:
    """What the user allows by name; an absent file equals an empty one.

    Attributes:
        file: Where it is, or would be; None when there is no place for one.
        models: Folders of embedding models.
        programs: By the name of the program that they stand for, one of `PROGRAMS`.
        indexes: Folders that hold indexes.
        servers: Servers of embeddings; the values are what `armarius.embedders.openai` takes, and `api_key_env`.
        embedding, books: As the tables of these names in `armarius.toml`, for projects that say nothing; unread.
    """

    file: Path | None = None
    models: Mapping[str, Path] = field(default_factory=lambda: _NOTHING)
    programs: Mapping[str, Path] = field(default_factory=lambda: _NOTHING)
    indexes: Mapping[str, Path] = field(default_factory=lambda: _NOTHING)
    servers: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: _NOBODY)
    embedding: Mapping[str, Any] = field(default_factory=lambda: _NOBODY)
    books: Mapping[str, Any] = field(default_factory=lambda: _NOBODY)

    @property
    def name(self) -> str:
        """What messages call the file."""
        return "config.toml in the folder that ARMARIUS_CONFIG names" if self.file is None else display_path(self.file)


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
    name = display_path(file)
    raw = read_toml(file, name=name, follow=True) or {}
    tables = ("models", "programs", "indexes", "servers", "embedding", "books")
    refuse_unknown(raw, tables, f"{name}: unknown table ")
    paths = {table: _paths(raw[table], table, name) for table in _OF_PATHS if table in raw}
    refuse_unknown(paths.get("programs", {}), PROGRAMS, f"{name}: unknown program ")
    servers = _servers(raw.get("servers", {}), name)
    for title, named in (("models", paths.get("models", {})), ("servers", servers)):
        if "lexical" in named:
            raise ConfigError(f"{name}: {title}.lexical: this name means the embedder that needs no model")
    if twice := sorted(servers.keys() & paths.get("models", {}).keys()):
        raise ConfigError(f"{name}: {twice[0]} is a name under [models] and under [servers]")
    unread = {title: _table(raw.get(title, {}), title, name) for title in ("embedding", "books")}
    return UserConfig(file, **paths, servers=servers, **unread)


def _table(table: object, title: str, file: str) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: {title} must be a table, got {type(table).__name__}")
    return table


def _servers(servers: object, file: str) -> dict[str, Mapping[str, Any]]:
    table = _table(servers, "servers", file)
    for key, server in table.items():
        where = f"{file}: servers.{quote_toml(key, key=True)}"
        if not isinstance(server, dict):
            raise ConfigError(f"{where} must be a table with base_url and the names of models, got {server!r}")
        refuse_unknown(server, _OF_A_SERVER, f"{where}: unknown key ")
        for name in ("base_url", *(text for text in _TEXTS if text in server)):
            if not isinstance(server.get(name), str):
                raise ConfigError(f"{where}.{name} must be a text, got {type(server.get(name)).__name__}")
        if not isinstance(server.get("extra", {}), dict):
            raise ConfigError(f"{where}.extra must be a table, got {type(server['extra']).__name__}")
        seconds = server.get("timeout_s", 1)
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= _MOST_SECONDS:
            raise ConfigError(f"{where}.timeout_s must be seconds > 0 and <= {_MOST_SECONDS}, got {seconds!r}")
        if "api_key" in server and "api_key_env" in server:
            raise ConfigError(f"{where} has api_key and api_key_env, expected one of them")
    return table


def _paths(table: object, title: str, file: str) -> dict[str, Path]:
    paths: dict[str, Path] = {}
    for key, value in _table(table, title, file).items():
        where = f"{file}: {title}.{quote_toml(key, key=True)}"
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
    path = user.programs.get(program)
    return None if path is None else (f"programs.{program} in {user.name}", str(path))


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
        program = shutil.which(name, path=folder)
        if program is not None and _is_outside(Path(program).parent, project):
            return program
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


def bounded_output(process: "subprocess.Popen[bytes]", *, timeout_s: float, max_bytes: int) -> tuple[int | None, bytes]:
    """What a program writes to standard output, and its exit status; it is ended when this returns.

    Args:
        process: In a session of its own.
        timeout_s: Maximum seconds.
        max_bytes: Maximum bytes; of a longer output one more is read.

    Returns:
        The status, None where the time was over, and the bytes.
    """
    overdue = threading.Event()

    def end() -> None:
        overdue.set()
        end_program(process)

    clock = threading.Timer(timeout_s, end)
    clock.daemon = True
    clock.start()
    try:
        output = process.stdout.read(max_bytes + 1) if process.stdout is not None else b""
        if len(output) <= max_bytes:
            process.wait()
    finally:
        clock.cancel()
        end_program(process)
        status = process.wait()  # reap the killed program
        if process.stdout is not None:
            process.stdout.close()
    return None if overdue.is_set() else status, output


CONFIG_ENV = "ARMARIUS_CONFIG"


def config_file(*, project: Path | None = None) -> Path | None:
    """Path of the user's `config.toml`, which may not exist; None without a configuration folder.

    `ARMARIUS_CONFIG` names its folder, or the file itself if it ends in `.toml`; default is the system's folder for
    user configuration (`~/.config/armarius`, XDG).

    Args:
        project: A system folder inside this folder is ignored: it came with the project, as when a repository is
            checked out as a home folder with a `.config` of its own.

    Raises:
        ConfigError: `ARMARIUS_CONFIG` is not an absolute path; a relative one could point into a project.
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


def own_folder(*, project: Path | None = None) -> Path:
    """As `config_folder`, to write to.

    Raises:
        ConfigError: There is no home folder.
    """
    home = config_folder(project=project)
    if home is None:
        raise ConfigError(f"there is no folder for the user's configuration; {CONFIG_ENV} may name one")
    return home


def display_path(path: Path) -> str:
    """A path for messages: `~` for the home folder, control characters escaped."""
    text = str(path)
    home = os.path.expanduser("~")  # noqa: PTH111 - Path raises where there is no home
    if os.path.isabs(home) and text.startswith(home.rstrip(os.sep) + os.sep) and home.strip(os.sep):  # noqa: PTH117
        text = "~" + text[len(home.rstrip(os.sep)) :]
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


TRUSTED_ENV = "ARMARIUS_TRUSTED"
_FILE = "trusted.toml"
_HEAD = "# Folders whose armarius.toml counts as your own words; kept by `armarius trust` (`--revoke`, `--list`).\n"


def trust(folder: str | PathLike[str]) -> Path:
    """Trust a folder: its `armarius.toml` gets the rights of the user's configuration.

    It may then name paths outside the folder (programs, models, index folders, the graph's database), and programs
    that read settings of the project are run on it. Takes effect when an engine is opened. Idempotent.

    Args:
        folder: A project folder. Only this resolved path is trusted, not its parents or subfolders.

    Returns:
        The resolved path.

    Raises:
        ProjectError: Not a folder, or its path is not valid Unicode.
        ConfigError: There is no folder for the user's configuration, or `trusted.toml` is damaged.
        StoreFull: The configuration cannot be written; nothing changes.
        StoreBusy: Another process has held the lock for five seconds.
    """
    path = check_storable(_resolve_folder(project_folder(folder)))
    _change(add=path)
    return path


def check_storable(path: Path) -> Path:
    """`path`, to be remembered.

    Raises:
        ProjectError: It is not valid Unicode.
    """
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise ProjectError(f"the path is not valid Unicode and cannot be remembered: {display_path(path)}") from None
    return path


def revoke(folder: str | PathLike[str]) -> bool:
    """Stop trusting a folder, which need not exist.

    Returns:
        Whether it was in `trusted.toml`. Folders in `ARMARIUS_TRUSTED` stay trusted.

    Raises:
        ConfigError, StoreFull, StoreBusy: As `trust`.
    """
    return _change(remove=_resolve_folder(folder))


def is_trusted(folder: str | PathLike[str]) -> bool:
    """Whether this folder is trusted, by `trust` or by the environment.

    Raises:
        ConfigError: `trusted.toml` is damaged, or `ARMARIUS_TRUSTED` names a relative path.
    """
    return who_trusts(folder) != ""


def who_trusts(folder: str | PathLike[str]) -> str:
    """Why the folder is trusted: `trusted.toml`, `ARMARIUS_TRUSTED`, or "" if it is not."""
    path = _resolve_folder(folder)
    if path in _folders_of_env():
        return TRUSTED_ENV
    return _FILE if path in _read_trusted(config_folder(project=path)) else ""


def trusted() -> tuple[Path, ...]:
    """All trusted folders, of `trusted.toml` and of the environment, sorted.

    Raises:
        ConfigError: As `is_trusted`.
    """
    return tuple(sorted({*_read_trusted(config_folder()), *_folders_of_env()}))


def _resolve_folder(folder: str | PathLike[str]) -> Path:
    if problem := no_path(folder):
        raise ProjectError(f"no path: {problem}")
    return Path(os.path.normcase(os.path.realpath(folder)))


def _folders_of_env() -> frozenset[Path]:
    named = [part for part in os.environ.get(TRUSTED_ENV, "").split(os.pathsep) if part]
    if relative := [part for part in named if not Path(part).is_absolute()]:
        raise ConfigError(f"{TRUSTED_ENV} must hold absolute paths, got {relative[0]!r}")
    return frozenset(_resolve_folder(part) for part in named)


def _read_trusted(home: Path | None) -> tuple[Path, ...]:
    if home is None:
        return ()
    name = display_path(home / _FILE)
    raw = read_toml(home / _FILE, name=name, follow=True) or {}
    folders = raw.get("folders", [])
    if raw.keys() - {"folders"} or not isinstance(folders, list) or not all(isinstance(item, str) for item in folders):
        raise ConfigError(f'{name}: expected folders = ["/one", …] and nothing else')
    if relative := [item for item in folders if not Path(item).is_absolute()]:
        raise ConfigError(f"{name}: folders must be absolute paths, got {relative[0]!r}")
    return tuple(Path(item) for item in folders)


def _change(*, add: Path | None = None, remove: Path | None = None) -> bool:
    home = own_folder()
    with folder_lock(home, name=".trusted.lock"):
        before = _read_trusted(home)
        after = {*before, *({add} if add else ())} - {remove}
        if after != set(before):
            lines = "".join(f"    {quote_toml(str(path))},\n" for path in sorted(after))
            write_atomic(home / _FILE, f"{_HEAD}folders = [\n{lines}]\n".encode())
    return remove in before


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
                return Way(_join_path(at.parent, todo), within=False, linked=links > 0)
            at = at.parent
            continue
        at = at / part
        if not at.is_relative_to(root):  # an absolute path that begins elsewhere
            return Way(_join_path(at, todo), within=False, linked=links > 0)
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


def path_inside(root: Path, value: str) -> Path | None:
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
    target = way(root, path)
    return None if target.linked or not target.within else target.end


def is_file_within(root: Path, relative: str) -> bool:
    """Whether `relative` names a regular file of the project, or none at all; links may lead to another of its files.

    Args:
        root: The project folder, resolved.
        relative: A path that something in the project states, such as an index of its code.
    """
    path = PurePath(relative)
    if path.anchor or ".." in path.parts or "\0" in relative:
        return False
    target = way(root, path)
    if not target.within:
        return False
    try:
        return stat.S_ISREG(target.end.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False


def _parts(root: Path, path: PurePath) -> list[str]:
    """The steps to `path`, last first; from the project folder when it begins there."""
    if path.anchor and path.is_relative_to(root):
        path = path.relative_to(root)
    return list(reversed(path.parts))


def _join_path(at: Path, todo: list[str]) -> Path:
    return Path(os.path.normpath(at.joinpath(*reversed(todo))))


def _target(path: Path) -> str | None:
    """What a link says; None for anything else, there or not."""
    with suppress(OSError, ValueError):
        info = path.lstat()
        # Windows: junctions and mount points are reparse points as links are.
        if stat.S_ISLNK(info.st_mode) or getattr(info, "st_reparse_tag", None):
            return os.readlink(path)  # noqa: PTH115 - as text, not as a path that may be resolved
    return None
