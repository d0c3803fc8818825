"""The last valid configuration of an open project, and the location of its index."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from armarius.config import Config
from armarius.errors import ConfigError, ContextWarning, ProjectError
from armarius.io import is_passing
from armarius.io.folder import no_path
from armarius.store.sqlite.location import IndexPlace, place_for
from armarius.warnings import CONFIG_KEPT

if TYPE_CHECKING:
    from armarius.codex.authored.protocol import Authored
    from armarius.trust.settings import Permissions

# Version of the document reader: raise it when `documents` reads the same bytes differently.
_READER = 4


def reader_note(config: Config) -> str:
    """Reader version and settings, stored in the index; when they change, all texts are read again."""
    return f"{_READER}:{config.kinds!r}:{config.max_bytes}"


class LiveConfig:
    """Reads the configuration again when it has changed.

    Args:
        authored: Source of the configuration.
        first: The present configuration, if already read.

    Attributes:
        now: The last valid configuration.
        warning: Why the present one is invalid; None if it is valid.
        ignored: Warning about a setting of `first` that was ignored.
    """

    def __init__(self, authored: "Authored", first: Config | None = None) -> None:
        self._authored = authored
        self._stamp = ""
        self.now = Config() if first is None else first
        self.warning: ContextWarning | None = None
        self.ignored: ContextWarning | None = None

    def reload(self) -> None:
        """Read the configuration."""
        self._stamp = self._authored.config_stamp()
        try:
            self.now, self.warning = self._authored.config(), None
        except ConfigError as error:
            self.warning = CONFIG_KEPT(error=error)
            if is_passing(error.__context__):
                self.forget()

    def forget(self) -> None:
        """Make `is_stale` true until the next `reload`."""
        self._stamp = "not read"

    @property
    def note(self) -> str:
        """See `reader_note`."""
        return reader_note(self.now)

    @property
    def folders(self) -> "Mapping[str, LiveConfig]":
        """The configurations of the other folders of a series, by the name before their paths."""
        return {}

    @property
    def warnings(self) -> tuple[ContextWarning, ...]:
        """Present warnings about the configuration."""
        return tuple(one for one in (self.warning, self.ignored) if one is not None)

    def is_stale(self) -> bool:
        """Whether the configuration changed since the last `reload`."""
        return self._authored.config_stamp() != self._stamp


def place_of(
    root: Path,
    config: Config,
    index_dir: str | PathLike[str] | None = None,
    *,
    permissions: "Permissions | None" = None,
    others: Sequence[Path] = (),
) -> tuple[IndexPlace, ContextWarning | None]:
    """The place of the index of the project at `root`, and a warning of what `armarius.toml` says in vain.

    Args:
        root: The project folder.
        config: Its `index_dir` is a name from the user's configuration or, in a trusted project, any folder.
        index_dir: The caller's choice; takes precedence.
        permissions: What the project may set; None reads the user's configuration.
        others: The other folders of a series; each set of folders has an index of its own.

    Raises:
        ProjectError: `index_dir` is not a path.
        ConfigError: The configured folder is not a path.
    """
    if index_dir is not None and (problem := no_path(index_dir)):
        raise ProjectError(f"index_dir: {problem}")
    from armarius.trust.settings import Permissions, without

    permissions = Permissions.of(root) if permissions is None else permissions
    if index_dir is not None:
        config = without(config, ["documents.index_dir"])
    said = permissions.heeded(config).index_dir
    chosen = index_dir if said is None else permissions.place("documents.index_dir", said)
    return place_for(root, chosen, others=others), permissions.warning(config)
