"""`armarius.toml`: optional, at the root of a project; what it may say (`MAY_SAY`), and the books that may make rules.

    [documents]
    exclude = ["drafts/old/**"]          # gitignore patterns, in addition to .gitignore and .ignore
    max_bytes = 33554432                 # larger files are reported and skipped; at most 268435456
    index_dir = ".armarius/index"        # where the index lives instead of the user's cache directory: a folder of the
                                         # project, or a name under [indexes] of the user's configuration
    read = [".story/**"]                 # files of folders with a dot before their name that are read
    "reviews/**" = "review"              # what these files are, whatever else says otherwise; first match wins
    "draft2/**" = {kind = "chapter", edition = "main"}     # also their edition and their place in the story

    [kinds]                              # the same by kind; after those
    chapter = ["manuscript/**"]
    setting = ["bible/**"]

    [people]                             # a name and the other names of that person
    "Magwitch" = ["Provis"]
    no_names = ["Brief description"]     # headings that are nobody
    tables = [{path = "staff.md", name = "Who", aliases = ["Code"]}]

    [model]
    never = ["diary/**"]                 # files of which no request to a language model holds anything

    [proposed.documents]                 # the same words from a model, as a guess: any line above goes before it
    "notes/**" = "setting"

Other tables belong to the rooms that read them (`Config.table`). The file came with the project: it names no program
and nothing outside the project but by a name that the user's own configuration explains (`armarius.trust`).

The permission of a book is stored in `allowed.toml`, next to `trusted.toml`, with a hash of the book's contents
(docs/decisions/0114). A changed or replaced book has no permission.
"""

import os
import re
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, Final, NamedTuple, get_args

import armarius._core as _core
from armarius.arguments import KINDS, Edition
from armarius.errors import ConfigError, ContextWarning, ContractError
from armarius.io import folder_lock, no_path, write_atomic
from armarius.io.toml import quote_toml, read_toml, refuse_unknown, settings_of
from armarius.trust.folders import (
    UserConfig,
    check_storable,
    config_folder,
    display_path,
    is_trusted,
    own_folder,
    path_inside,
    read_user_config,
)
from armarius.validation import near, suggestion
from armarius.warnings import SETTING_IGNORED

CONFIG_NAME = "armarius.toml"
BUILT_IN_MODELS = frozenset({"e5", "lexical"})
"""Names of embedders that are installed with the package or an extra of it: any project may choose them."""
_MAX_DOCUMENT = 256 * 1024 * 1024  # a document is held in memory, several times over while it is read
_LONGEST_S = 86_400
_NOWHERE = "\0"  # no system has a folder of that name
_MOST_PATTERNS, _LONGEST_PATTERN = 500, 500  # each is tried on every file

_OF_DOCUMENTS = ("exclude", "max_bytes", "index_dir", "read")
OF_PEOPLE: Final = ("no_names", "tables")
"""What may stand in `[people]` besides people."""
TABLES = frozenset(
    {"assembly", "books", "budget", "code", "documents", "embedding", "graph", "kinds", "model", "people", "project",
     "proposed", "skills", "style"}
)  # fmt: skip
"""What may stand in `armarius.toml`; each room checks the keys of its own."""
ABOUT: Final = ("form", "language", "unit", "about")
"""What `[project]` says of the work: novel, game, …; its language; what its chapters are called; a sentence."""
_PLACE = re.compile(r"first|last|end of part|(?:before|after) \d{1,5}")


class FileLine(NamedTuple):
    """What `[documents]` says of the files that a pattern matches; "" is nothing.

    Attributes:
        pattern: A path, or a gitignore-like pattern.
        kind: What they are.
        edition: Of the story.
        place: In it: `first`, `last`, `end of part`, `before 3`, `after 29`.
        proposed: A model said it.
    """

    pattern: str
    kind: str = ""
    edition: str = ""
    place: str = ""
    proposed: bool = False


class PeopleTable(NamedTuple):
    """A table of people in a file: its column of names, and those of other names."""

    path: str
    name: str
    aliases: tuple[str, ...] = ()


class People(NamedTuple):
    """What `[people]` says: names with their other names, headings that are nobody, tables of people."""

    names: tuple[tuple[str, tuple[str, ...]], ...] = ()
    no_names: tuple[str, ...] = ()
    tables: tuple[PeopleTable, ...] = ()


NO_PEOPLE: Final = People()


@dataclass(frozen=True, slots=True)
class Config:
    """What a project says about itself; every field has a default, so an empty file equals no file.

    Attributes:
        kinds: `(kind, glob)` pairs, those of `[documents]` before those of `[kinds]`, each in file order; the first
            that matches a path decides.
        lines: What is said of files besides a kind, and then what a model proposed of them.
        read: Patterns of files below hidden folders that are read.
        people: What the project says of people.
        proposed_people: What a model said of them.
        about: What the project is, by the names in `ABOUT`.
        never: Patterns of files that no request to a language model holds.
        exclude: Gitignore patterns of files that are not documents; the folder of a configured embedding model is
            among them, for its `vocab.txt` is nobody's prose.
        max_bytes: Files larger than this, and manuscripts with more text, are skipped with a reason.
        index_dir: What the project says about the folder of its index; `armarius.trust` says what that may mean.
        tables: The remaining top-level tables, unread.
    """

    kinds: tuple[tuple[str, str], ...] = ()
    lines: tuple[FileLine, ...] = ()
    read: tuple[str, ...] = ()
    people: People = NO_PEOPLE
    proposed_people: People = NO_PEOPLE
    about: Mapping[str, str] = field(default_factory=dict)
    never: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_bytes: int = 32 * 1024 * 1024
    index_dir: str | None = None
    tables: Mapping[str, Any] = field(default_factory=dict)

    def table(self, name: str, known: Collection[str] = ()) -> Mapping[str, Any]:
        """The top-level table `name`, {} when absent.

        Raises:
            ConfigError: It is there but no table, or has a key that is not `known`.
        """
        value = self.tables.get(name, {})
        if not isinstance(value, dict):
            raise ConfigError(f"{CONFIG_NAME}: {name} must be a table, got {type(value).__name__}")
        if known:
            refuse_unknown(value, known, f"{CONFIG_NAME}: unknown key {name}.")
        return value

    def typed_table(self, name: str, kinds: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
        """A table of texts and of numbers above 0; seconds are at most a day.

        Args:
            name: Of the table.
            kinds: Its keys, each with the types of its value.

        Raises:
            ConfigError: As `table`, or a value of the wrong kind; names file and key.
        """
        table = self.table(name, kinds)
        for key, value in table.items():
            if not isinstance(value, kinds[key]) or isinstance(value, bool):
                wanted = " or ".join(kind.__name__ for kind in kinds[key])
                raise ConfigError(f"{CONFIG_NAME}: {name}.{key} must be {wanted}, got {value!r}")
            most = _LONGEST_S if key.endswith("_s") else float("inf")
            if isinstance(value, int | float) and not 0 < value <= most:
                upto = f" and <= {most:,}" if key.endswith("_s") else ""
                raise ConfigError(f"{CONFIG_NAME}: {name}.{key} must be > 0{upto}, got {value!r}")
        return dict(table)


def load_config(root: Path) -> Config:
    """Read `armarius.toml` under `root`; a missing file is the default configuration.

    Raises:
        ConfigError: Not a regular file of at most 256 KiB, not TOML, not UTF-8, an unknown key, a value of the wrong
            type, or an invalid pattern; names file and key.
    """
    return _config(read_toml(root / CONFIG_NAME, name=CONFIG_NAME) or {})


def parse_config(text: str) -> Config:
    """The configuration that a text states, as `load_config` reads a file; an empty one states the default.

    Raises:
        ConfigError: Not TOML, an unknown key or a value of the wrong type; names file and key.
    """
    return _config(settings_of(text, name=CONFIG_NAME))


def _config(raw: Mapping[str, Any]) -> Config:
    documents, kinds = _table(raw, "documents"), _table(raw, "kinds")
    if stray := sorted(name for name, value in raw.items() if not isinstance(value, dict | list)):
        raise ConfigError(f"{CONFIG_NAME}: unknown key {stray[0]}; settings stand in tables such as [documents]")
    refuse_unknown(raw, sorted(TABLES), f"{CONFIG_NAME}: unknown table ")
    model, proposed = Config(tables=raw).table("model", ["never"]), _table(raw, "proposed")
    refuse_unknown(proposed, ("documents", "people", "project"), f"{CONFIG_NAME}: unknown table proposed.")
    lines = _file_lines(documents, "documents")
    guesses = _file_lines(guessed := _table(proposed, "documents"), "proposed.documents", proposed=True)
    refuse_unknown(kinds, KINDS, f"{CONFIG_NAME}: unknown kind kinds.")
    max_bytes = documents.get("max_bytes", Config.__dataclass_fields__["max_bytes"].default)
    if type(max_bytes) is not int or not 1 <= max_bytes <= _MAX_DOCUMENT:
        wanted = f"a number >= 1 and <= {_MAX_DOCUMENT:,}"
        raise ConfigError(f"{CONFIG_NAME}: documents.max_bytes must be {wanted}, got {max_bytes!r}")
    index_dir = documents.get("index_dir")
    if index_dir is not None and not isinstance(index_dir, str):
        raise ConfigError(f"{CONFIG_NAME}: documents.index_dir must be a string, got {index_dir!r}")
    return Config(
        kinds=(
            *((line.kind, line.pattern) for line in lines if line.kind),
            *((kind, glob) for kind in kinds for glob in _strings(kinds, kind, "kinds")),
        ),
        lines=(*(line for line in lines if line.edition or line.place), *guesses),
        read=(*_strings(documents, "read", "documents"), *_strings(guessed, "read", "proposed.documents")),
        people=_people(_table(raw, "people"), "people"),
        proposed_people=_people(_table(proposed, "people"), "proposed.people"),
        never=(*_strings(model, "never", "model"),),
        about={
            key: value
            for key in ABOUT
            for value in [_table(raw, "project").get(key) or _table(proposed, "project").get(key)]
            if isinstance(value, str)
        },
        exclude=(*_strings(documents, "exclude", "documents"), *_model_folder(_table(raw, "embedding"))),
        max_bytes=max_bytes,
        index_dir=index_dir,
        tables={
            name: value
            for name, value in raw.items()
            if name not in ("documents", "kinds", "model", "people", "proposed")
        },
    )


def _file_lines(table: Mapping[str, Any], section: str, *, proposed: bool = False) -> tuple[FileLine, ...]:
    lines = []
    for pattern, entry in table.items():
        if pattern in _OF_DOCUMENTS and (not proposed or pattern == "read"):
            continue
        line = {"kind": entry} if isinstance(entry, str) else entry
        keys = {"kind", "edition", "place"}
        if not isinstance(line, dict) or not line or line.keys() - keys or {*map(type, line.values())} != {str}:
            raise _unknown_kind(section, pattern)
        result = FileLine(pattern, **line, proposed=proposed)
        if result.kind and result.kind not in KINDS:
            raise _unknown_kind(section, pattern)
        if result.edition and result.edition not in get_args(Edition):
            what = f"{section}.{pattern}: edition must be one of {', '.join(get_args(Edition))}"
            raise ConfigError(f"{CONFIG_NAME}: {what}, got {result.edition!r}")
        if result.place and not _PLACE.fullmatch(result.place):
            what = f"{section}.{pattern}: place must be first, last, end of part, before 3 or after 3"
            raise ConfigError(f"{CONFIG_NAME}: {what}, got {result.place!r}")
        lines.append(result)
    return tuple(lines)


def _unknown_kind(section: str, pattern: str) -> ConfigError:
    kinds_of_a_pattern = f"to a pattern of files belongs one of {', '.join(KINDS)}"
    hint = f"known: {', '.join(_OF_DOCUMENTS)}"
    return ConfigError(f"{CONFIG_NAME}: unknown key {section}.{pattern}; {kinds_of_a_pattern}; {hint}")


def _people(table: Mapping[str, Any], section: str) -> People:
    stated = table.get("tables", [])
    tables = stated if isinstance(stated, list) else [stated]
    for row in tables:
        has_keys = isinstance(row, dict) and {"path", "name"} <= row.keys() <= set(PeopleTable._fields)
        if not has_keys or not all(isinstance(row[key], str) for key in ("path", "name")):
            raise ConfigError(f"{CONFIG_NAME}: {section}.tables: expected path, name and aliases, got {row!r}")
    names = [name for name in table if name not in OF_PEOPLE]
    return People(
        tuple((name, tuple(_texts(table, name, section))) for name in names),
        tuple(_texts(table, "no_names", section)),
        tuple(
            PeopleTable(row["path"], row["name"], tuple(_texts(row, "aliases", f"{section}.tables"))) for row in tables
        ),
    )


def _texts(table: Mapping[str, Any], key: str, section: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        what = f"{section}.{key} must be a list of names, got {value!r}; known: no_names, tables"
        raise ConfigError(f"{CONFIG_NAME}: {what}")
    return value


def _table(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return Config(tables=raw).table(name)


def _model_folder(embedding: Mapping[str, Any]) -> list[str]:
    model = embedding.get("model")
    if not isinstance(model, str) or model in BUILT_IN_MODELS:
        return []
    path = PurePosixPath(model.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or not path.parts:
        return []
    return ["/" + "".join(f"\\{char}" if char in "*?[]{}!#\\" else char for char in str(path)) + "/"]


def _strings(table: Mapping[str, Any], key: str, section: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ConfigError(f"{CONFIG_NAME}: {section}.{key} must be a list of patterns, got {value!r}")
    if len(value) > _MOST_PATTERNS or any(len(item) > _LONGEST_PATTERN for item in value):
        raise ConfigError(
            f"{CONFIG_NAME}: {section}.{key} may have {_MOST_PATTERNS} patterns of {_LONGEST_PATTERN} characters each"
        )
    if _fault(value):
        wrong, why = next(((item, why) for item in value if (why := _fault([item]))), ("", _fault(value)))
        raise ConfigError(f"{CONFIG_NAME}: {section}.{key}: not a pattern: {wrong!r}: {why}")
    return value


def _fault(patterns: list[str]) -> str:
    """What is wrong with gitignore patterns, "" for nothing: the core reads them, and finds nowhere to walk."""
    try:
        if patterns:
            _core.walk(_NOWHERE, patterns, [])
    except ContractError as error:
        return error.message.rpartition("': ")[2]
    return ""


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
    path = _real_path(project)
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
    _change((str(check_storable(Path(_real_path(project)))), book), seal)


def disallow(project: Path, book: str) -> bool:
    """Remove the permission of a book, which need not exist. Returns whether there was one. Raises as `allow`."""
    return _change((_real_path(project), book), None)


def _real_path(project: Path) -> str:
    return os.path.normcase(os.path.realpath(project))


def _read(home: Path) -> _Rows:
    name = display_path(home / _FILE)
    raw = read_toml(home / _FILE, name=name, follow=True) or {}
    rows = raw.get("books", [])
    if raw.keys() - {"books"} or not isinstance(rows, list):
        raise ConfigError(f"{name}: expected [[books]] with project, id and seal, and nothing else")
    seals: _Rows = {}
    for number, row in enumerate(rows, 1):
        where = f"{name}: books[{number}]"
        if not isinstance(row, dict) or row.keys() != {"project", "id", "seal"}:
            raise ConfigError(f"{where}: expected project, id and seal, and nothing else")
        project, id_, seal = row["project"], row["id"], row["seal"]
        if not isinstance(project, str) or not Path(project).is_absolute():
            raise ConfigError(f"{where}: project must be an absolute path, got {project!r}")
        if not isinstance(id_, str) or not isinstance(seal, str) or _SEAL.fullmatch(seal) is None:
            raise ConfigError(f"{where}: id must be a text and seal 64 hexadecimal digits")
        seals[project, id_] = seal
    return seals


def _change(key: tuple[str, str], seal: str | None) -> bool:
    home = own_folder(project=Path(key[0]))
    with folder_lock(home, name=".trusted.lock"):
        rows = _read(home)
        before = rows.pop(key, None)
        if seal is not None:
            rows[key] = seal
        if before != seal:
            lines = "".join(
                f"\n[[books]]\nproject = {quote_toml(at)}\nid = {quote_toml(id_)}\nseal = {quote_toml(kept)}\n"
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
        return f"{self.key} = {quote_toml(value)} (it may be {self.allowed})"


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
        results = []
        for key, (allowed, allows) in ({} if self.trusted else MAY_SAY).items():
            value = value_of(config, key)
            if isinstance(value, str) and not no_path(value) and not allows(self, value):
                hint = suggestion(near(value, self.user.indexes)) if key == "documents.index_dir" else ""
                results.append(Ignored(key, value, allowed.format(user=self.user.name) + hint))
        return results

    def warning(self, config: Config) -> ContextWarning | None:
        """One warning of all settings that are not heeded; None when all are."""
        ignored = self.ignored(config)
        return SETTING_IGNORED(what="; ".join(map(str, ignored)), command=self.command) if ignored else None

    def heeded_config(self, config: Config) -> Config:
        """The configuration without the settings that are not heeded."""
        return without_keys(config, [item.key for item in self.ignored(config)])

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
    return value in BUILT_IN_MODELS or value in user.models or path_inside(permissions.root, value) is not None


def _is_inside(permissions: Permissions, value: str) -> bool:
    return path_inside(permissions.root, value) is not None


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
    section = config.tables.get(table)
    return config.index_dir if table == "documents" else section.get(name) if isinstance(section, dict) else None


def without_keys(config: Config, keys: Collection[str]) -> Config:
    """The configuration as if it did not say these keys of `MAY_SAY`."""
    tables = {
        table: {name: value for name, value in section.items() if f"{table}.{name}" not in keys}
        if isinstance(section, dict)
        else section
        for table, section in config.tables.items()
    }
    return replace(config, tables=tables, index_dir=None if "documents.index_dir" in keys else config.index_dir)
