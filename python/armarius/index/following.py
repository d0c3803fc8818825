"""Whoever follows the folder of an index, without keeping that alive: what it calls, it holds weakly."""

import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

if TYPE_CHECKING:
    from armarius.index.watcher import Followed, Watcher

__all__ = ["Following", "weakly"]

Given = ParamSpec("Given")


class Following:
    """What a watcher follows for an index, while there is one; it knows nothing of the index."""

    def __init__(self) -> None:
        self.watcher: Followed | None = None

    @property
    def on(self) -> bool:
        """Whether changes are followed."""
        return self.watcher is not None

    @property
    def trouble(self) -> str:
        """Why changes are looked for and not told, "" when they are."""
        watcher = self.watcher
        return "" if watcher is None else watcher.trouble

    def is_told(self) -> bool:
        """Whether events come, and none is waiting."""
        watcher = self.watcher
        return watcher is not None and not watcher.blind and not watcher.pending

    def start(self, root: Path, changed: Callable[[set[str] | None], None], by: "Watcher | None" = None) -> None:
        """Follow a folder, with a watcher of its own unless one is given; starting twice is fine."""
        from armarius.index.watcher import Watcher

        if self.watcher is None:
            self.watcher = (Watcher(root) if by is None else by).follow(root, changed)

    def stop(self) -> None:
        """Follow it no longer; stopping twice is fine."""
        watcher, self.watcher = self.watcher, None
        if watcher is not None:
            watcher.stop()


def weakly(method: Callable[Given, None]) -> Callable[Given, None]:
    """A bound method that does not keep its object alive; nothing happens once that is gone."""
    known = weakref.WeakMethod(method)

    def call(*args: Given.args, **kwargs: Given.kwargs) -> None:
        alive = known()
        if alive is not None:
            alive(*args, **kwargs)

    return call
