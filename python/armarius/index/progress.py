"""A bar on the terminal while an index is built."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from armarius.console import is_terminal
from armarius.index.status import Progress

__all__ = ["progress_bar"]


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None] | None]:
    """A callback that draws on standard error, None when that is no terminal; gone when the index is built."""
    if not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("indexing", total=None)

        def advance(progress: Progress) -> None:
            bar.update(task, completed=progress.done, total=progress.total, visible=progress.done < progress.total)

        yield advance
