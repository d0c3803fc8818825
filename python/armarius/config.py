"""`armarius.toml`: optional, at the root of a project.

    [documents]
    exclude = ["drafts/old/**"]          # gitignore patterns, in addition to .gitignore and .ignore
    max_bytes = 33554432                 # larger files are reported and skipped; at most 268435456
    index_dir = ".armarius/index"        # where the index lives instead of the user's cache directory: a folder of the
                                         # project, or a name under [indexes] of the user's configuration
    "reviews/**" = "review"              # what these files are, whatever else says otherwise; first match wins

    [kinds]                              # the same by kind; after those
    chapter = ["manuscript/**"]
    setting = ["bible/**"]

Other tables belong to the rooms that read them (`Config.table`). The file came with the project: it names no program
and nothing outside the project but by a name that the user's own configuration explains (`armarius.trust`).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import armarius._core as _core
from armarius.arguments import KINDS
from armarius.errors import ConfigError, ContractError
from armarius.io.toml import read_toml, settings_of

CONFIG_NAME = "armarius.toml"
BUILT_IN_MODELS = frozenset({"e5", "lexical"})
"""Names of embedders that are installed with the package or an extra of it: any project may choose them."""
_MAX_DOCUMENT = 256 * 1024 * 1024  # a document is held in memory, several times over while it is read
_LONGEST_S = 86_400
_NOWHERE = "\0"  # no system has a folder of that name
_MOST_PATTERNS, _LONGEST_PATTERN = 500, 500  # each is tried on every file

_OF_DOCUMENTS = ("exclude", "max_bytes", "index_dir")
TABLES = frozenset(
    {"assembly", "books", "budget", "code", "documents", "embedding", "graph", "kinds", "project", "skills", "style"}
)
"""What may stand in `armarius.toml`; each room checks the keys of its own."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a project says about itself; every field has a default, so an empty file equals no file.

    Attributes:
        kinds: `(kind, glob)` pairs, those of `[documents]` before those of `[kinds]`, each in file order; the first
            that matches a path decides.
        exclude: Gitignore patterns of files that are not documents; the folder of a configured embedding model is
            among them, for its `vocab.txt` is nobody's prose.
        max_bytes: Files larger than this, and manuscripts with more text, are skipped with a reason.
        index_dir: What the project says about the folder of its index; `armarius.trust` says what that may mean.
        tables: The remaining top-level tables, unread.
    """

    kinds: tuple[tuple[str, str], ...] = ()
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
        if known and (unknown := sorted(value.keys() - set(known))):
            raise ConfigError(f"{CONFIG_NAME}: unknown key {name}.{unknown[0]}; known: {', '.join(known)}")
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
            type, or a pattern that is none; names file and key.
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
    if unknown := sorted(raw.keys() - TABLES):
        raise ConfigError(f"{CONFIG_NAME}: unknown table {unknown[0]}; known: {', '.join(sorted(TABLES))}")
    stated = [(kind, pattern) for pattern, kind in documents.items() if pattern not in _OF_DOCUMENTS]
    if wrong := [pattern for kind, pattern in stated if kind not in KINDS]:
        kinds_of_a_pattern = f"to a pattern of files belongs one of {', '.join(KINDS)}"
        known = f"known: {', '.join(_OF_DOCUMENTS)}"
        raise ConfigError(f"{CONFIG_NAME}: unknown key documents.{wrong[0]}; {kinds_of_a_pattern}; {known}")
    if unknown := sorted(kinds.keys() - set(KINDS)):
        raise ConfigError(f"{CONFIG_NAME}: unknown kind kinds.{unknown[0]}; known: {', '.join(KINDS)}")
    max_bytes = documents.get("max_bytes", Config.__dataclass_fields__["max_bytes"].default)
    if type(max_bytes) is not int or not 1 <= max_bytes <= _MAX_DOCUMENT:
        wanted = f"a number >= 1 and <= {_MAX_DOCUMENT:,}"
        raise ConfigError(f"{CONFIG_NAME}: documents.max_bytes must be {wanted}, got {max_bytes!r}")
    index_dir = documents.get("index_dir")
    if index_dir is not None and not isinstance(index_dir, str):
        raise ConfigError(f"{CONFIG_NAME}: documents.index_dir must be a string, got {index_dir!r}")
    return Config(
        kinds=(*stated, *((kind, glob) for kind in kinds for glob in _strings(kinds, kind, "kinds"))),
        exclude=(*_strings(documents, "exclude", "documents"), *_model_folder(_table(raw, "embedding"))),
        max_bytes=max_bytes,
        index_dir=index_dir,
        tables={name: value for name, value in raw.items() if name not in ("documents", "kinds")},
    )


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
        wrong, why = next(((one, why) for one in value if (why := _fault([one]))), ("", _fault(value)))
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
