"""The engine of one opened project: what it is doing, following the folder, closing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from os import PathLike
from typing import Self

from armarius.cli.progress import progress_bar
from armarius.embedders.protocol import Embedder
from armarius.engine.asking import Asking
from armarius.engine.assembling import Assembling
from armarius.engine.relating import Relating
from armarius.errors import ContextWarning
from armarius.graph import GraphStore
from armarius.index.status import IndexStatus, Progress

__all__ = ["ContextEngine", "open"]


class ContextEngine(Assembling, Asking, Relating):
    """Assembles prompts for one project. Threads may share an engine.

    Made by `armarius.open`, or by this constructor where a host brings its own parts.

    Args:
        root: The project folder.
        fetchers: Asked instead of the project's own, when given.
        more_fetchers: Asked beside the project's own.
        counters: Model name and tokenizer version to a counter.
        fallback: The counter used when the model's fails (CONTEXT_BUDGET_FALLBACK); None is the estimate.
        project_id: Requests that name another are refused. None takes it from `armarius.toml`; with
            none there either, any id is accepted.
        watch: Whether changes are followed as they happen; without, every request looks first.
        wait: Whether to return when the index equals the folder, or at once and build in the background.
        index_dir: Where the index lives; the user's cache directory when neither given nor configured.
        progress: Called after every committed batch of a build, from the thread that builds.
        embedder: Makes vectors; None takes what `armarius.toml` names. A configured model that is missing or broken
            is `EMBEDDING_UNAVAILABLE` in `status()` and in every answer that would have used it.
        graph: Entities and relations beside what the files say; None takes it from `armarius.toml`.
        trusted: Whether `armarius.toml` speaks for the user; None asks the user's configuration.

    Raises:
        ContractError: `graph` is no GraphStore.
        ProjectError: `root` is no folder, or `index_dir` no path.
        ConfigError: `armarius.toml` is wrong, or names an index or graph folder that only the user may name.
        StoreError: The index can be neither used nor rebuilt.
    """

    def status(self) -> IndexStatus:
        """What the index is doing and what it holds; `EMBEDDING_UNAVAILABLE` when a model is asked for and fails."""
        status = self._index.status()
        trouble = self._no_recall if self._recall is None else self._recall.trouble
        warnings = (ContextWarning("EMBEDDING_UNAVAILABLE", trouble),) if trouble else ()
        return replace(status, warnings=(*status.warnings, *warnings))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a build in the background; False when it still runs after `timeout` seconds."""
        return self._index.wait(timeout)

    def cancel(self) -> None:
        """Stop a build after the transaction it is in; what is committed stays."""
        self._index.cancel()

    @contextmanager
    def watch(self) -> Iterator[Self]:
        """Follow changes inside a `with` block, for an engine opened with `watch=False`."""
        with self._index.watch():
            yield self

    def refresh(self) -> None:
        """Make the index equal to the folder now, and read the graph's entities again; requests do so by themselves.

        A graph without a `stamp` cannot say that it has changed: after writing to one, call this.
        """
        self._index.refresh()
        if self._guard is not None:
            self._guard.cast.forget()

    def close(self) -> None:
        """Stop watching and building, close the index; calling it again does nothing."""
        if self._recall is not None:
            self._recall.close()
        self._index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open(  # noqa: A001 - armarius.open
    path: str | PathLike[str],
    *,
    project_id: str | None = None,
    watch: bool = True,
    wait: bool = True,
    index_dir: str | PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    embedder: Embedder | None = None,
    graph: GraphStore | None = None,
    trusted: bool | None = None,
) -> ContextEngine:
    """Open the project at `path`; needs no configuration. Builds or repairs its index.

    Args:
        path: A folder of text files.
        project_id: Requests that name another project are refused.
        watch: Whether changes are followed as they happen; without, every request looks first.
        wait: Whether to return when the index equals the folder, or at once and build in the background:
            answers then come from what is there, with `INDEX_STALE`.
        index_dir: Where the index lives; the user's cache directory when neither given nor configured.
        progress: Called after every committed batch of a build, from the thread that builds; when not given
            and `wait`, a bar is drawn where standard error is a terminal.
        embedder: Makes vectors for recall by meaning, in the background; see `armarius.embedders`. None takes the
            model that `armarius.toml` names ([embedding] model), if any.
        graph: A graph of the user's own: its entities are found in texts and its relations walked, beside what the
            files say. One that fails or is slow leaves the files' answer, with `KG_UNAVAILABLE`. See
            `armarius.graph`.
        trusted: Whether the project's `armarius.toml` speaks for the user: may name what lies outside, and have
            programs run over the folder. None asks the user's configuration (`armarius.trust`).

    Raises:
        ContractError: `graph` is no GraphStore.
        ProjectError: `path` is no folder, or `index_dir` no path.
        ConfigError: Its `armarius.toml` is wrong, or names an index or graph folder that only the user may name
            (`SettingRefused`); or the user's own configuration is wrong.
        StoreError: The index can be neither used nor rebuilt.
    """
    with progress_bar() if progress is None and wait else nullcontext(progress) as report:
        return ContextEngine(
            path,
            project_id=project_id,
            watch=watch,
            wait=wait,
            index_dir=index_dir,
            progress=report,
            embedder=embedder,
            graph=graph,
            trusted=trusted,
        )
