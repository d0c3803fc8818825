"""The configuration of a project while it is open: the last one that was right."""

from typing import TYPE_CHECKING

from armarius.config import Config
from armarius.errors import ConfigError, ContextWarning
from armarius.io import is_passing
from armarius.warnings import CONFIG_KEPT

if TYPE_CHECKING:
    from armarius.codex.authored.protocol import Authored

__all__ = ["LiveConfig", "reader_note"]

# What is stored of a text depends on how it is read: raise this when `documents` reads the same bytes differently.
_READER = 1


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
    """

    def __init__(self, authored: "Authored", first: Config | None = None) -> None:
        self._authored = authored
        self._stamp = ""
        self.now = Config() if first is None else first
        self.warning: ContextWarning | None = None

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
        return () if self.warning is None else (self.warning,)

    def is_stale(self) -> bool:
        """Whether it has changed since."""
        return self._authored.config_stamp() != self._stamp
