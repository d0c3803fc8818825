"""Whoever follows the folders of an index, without keeping that alive: what it calls, it holds weakly."""

import weakref
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

if TYPE_CHECKING:
    from armarius.index.watcher import Watcher

__all__ = ["Following", "weakly"]

Given = ParamSpec("Given")


class Following:
    """The watchers of an index, while there are any; they know nothing of the index."""

    def __init__(self) -> None:
        self.watchers: tuple[Watcher, ...] = ()

    @property
    def on(self) -> bool:
        """Whether changes are followed."""
        return bool(self.watchers)

    def is_told(self) -> bool:
        """Whether events come, and none is waiting."""
        return self.on and not any(one.blind or one.pending for one in self.watchers)

    def start(self, folders: Mapping[str, Path], changed: Callable[[set[str] | None], None]) -> None:
        """Follow folders, by what the paths of each begin with; starting twice is fine."""
        from armarius.index.watcher import Watcher

        if not self.watchers:
            self.watchers = tuple(Watcher(root, partial(_told, name, changed)) for name, root in folders.items())
            for one in self.watchers:
                one.start()

    def stop(self) -> None:
        """Follow them no longer; stopping twice is fine."""
        watchers, self.watchers = self.watchers, ()
        for one in watchers:
            one.stop()


def _told(name: str, changed: Callable[[set[str] | None], None], paths: set[str] | None) -> None:
    changed({f"{name}/{path}" for path in paths} if name and paths is not None else paths)


def weakly(method: Callable[Given, None]) -> Callable[Given, None]:
    """A bound method that does not keep its object alive; nothing happens once that is gone."""
    known = weakref.WeakMethod(method)

    def call(*args: Given.args, **kwargs: Given.kwargs) -> None:
        alive = known()
        if alive is not None:
            alive(*args, **kwargs)

    return call
