"""The configuration of a project while it is open: the last one that was right; and where its index lives."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from armarius.config import Config
from armarius.errors import ConfigError, ContextWarning, ProjectError, SettingRefused
from armarius.io import is_passing
from armarius.io.folder import no_path
from armarius.store.sqlite.location import Place, place_for
from armarius.warnings import CONFIG_KEPT, INDEX_DIR_IGNORED

if TYPE_CHECKING:
    from armarius.codex.authored.protocol import Authored
    from armarius.trust.settings import Permissions

__all__ = ["LiveConfig", "place_of", "reader_note"]

# What is stored of a text depends on how it is read: raise this when `documents` reads the same bytes differently.
_READER = 2


def reader_note(config: Config) -> str:
    """How texts are read, as the store notes it: what was read otherwise is read again."""
    return f"{_READER}:{config.kinds!r}:{config.max_bytes}"


class LiveConfig:
    """Reads the configuration again when it has changed.

    Args:
        authored: Where it comes from.
        first: It as it is now, when it has been read already.

    Attributes:
        now: The last configuration that was right.
        warning: Why the present one is not; None when it is.
        ignored: What of the first one was not heeded.
    """

    def __init__(self, authored: "Authored", first: Config | None = None) -> None:
        self._authored = authored
        self._stamp = ""
        self.now = Config() if first is None else first
        self.warning: ContextWarning | None = None
        self.ignored: ContextWarning | None = None

    def reload(self) -> None:
        """Take the configuration as it is now."""
        self._stamp = self._authored.config_stamp()
        try:
            self.now, self.warning = self._authored.config(), None
        except ConfigError as error:
            self.warning = CONFIG_KEPT(error=error)
            if is_passing(error.__context__):
                self.forget()

    def forget(self) -> None:
        """Read it again at the next look."""
        self._stamp = "not read"

    @property
    def note(self) -> str:
        """How texts are read; see `reader_note`."""
        return reader_note(self.now)

    @property
    def warnings(self) -> tuple[ContextWarning, ...]:
        """What is wrong with it now."""
        return tuple(one for one in (self.warning, self.ignored) if one is not None)

    def is_stale(self) -> bool:
        """Whether it has changed since."""
        return self._authored.config_stamp() != self._stamp


def place_of(
    root: Path,
    config: Config,
    index_dir: str | PathLike[str] | None = None,
    *,
    permissions: "Permissions | None" = None,
    besides: Sequence[Path] = (),
) -> tuple[Place, ContextWarning | None]:
    """The place of the index of the project at `root`, and a warning where `armarius.toml` names one in vain.

    Args:
        root: The project folder.
        config: What the project says: a name that the user's configuration has, or, of a trusted project, any folder.
        index_dir: The caller's choice, before all others.
        permissions: What the project may say; None asks the user's configuration.
        besides: Other folders that the index holds: an index apart from the project's own.

    Raises:
        ProjectError: `index_dir` is no path.
        ConfigError: The configured folder is no path.
    """
    if index_dir is not None and (problem := no_path(index_dir)):
        raise ProjectError(f"index_dir: {problem}")
    if index_dir is not None or config.index_dir is None:
        return place_for(root, index_dir, besides=besides), None
    if permissions is None:
        from armarius.trust.settings import Permissions

        permissions = Permissions.of(root)
    try:
        return place_for(root, permissions.index(config.index_dir), besides=besides), None
    except SettingRefused as error:
        return place_for(root, besides=besides), INDEX_DIR_IGNORED(error=error)
