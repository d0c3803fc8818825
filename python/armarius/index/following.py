"""Whoever follows the folders of an index, without keeping that alive: what it calls, it holds weakly."""

import weakref
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

if TYPE_CHECKING:
    from armarius.index.watcher import Followed, Watcher

__all__ = ["Following", "weakly"]

Given = ParamSpec("Given")


class Following:
    """What watchers follow for an index, while there are any; they know nothing of the index."""

    def __init__(self) -> None:
        self.watchers: tuple[Followed, ...] = ()

    @property
    def on(self) -> bool:
        """Whether changes are followed."""
        return bool(self.watchers)

    @property
    def trouble(self) -> str:
        """Why changes are looked for and not told, "" when they are."""
        return next((one.trouble for one in self.watchers if one.trouble), "")

    def is_told(self) -> bool:
        """Whether events come, and none is waiting."""
        return self.on and not any(one.blind or one.pending for one in self.watchers)

    def start(
        self, folders: Mapping[str, Path], changed: Callable[[set[str] | None], None], by: "Watcher | None" = None
    ) -> None:
        """Follow folders, by what the paths of each begin with; starting twice is fine.

        Args:
            folders: The project's own has "" before its paths.
            changed: Called as `Watcher` says.
            by: Who follows the project's own folder; the others have a watcher of their own.
        """
        from armarius.index.watcher import Watcher

        if not self.watchers:
            self.watchers = tuple(
                (Watcher(root) if by is None or name else by).follow(root, partial(_told, name, changed))
                for name, root in folders.items()
            )

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
