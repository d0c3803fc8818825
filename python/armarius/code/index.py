"""The code graph of one repository: find a source, build, update, query.

The table `code` of `armarius.toml`:

[code]
source = "auto"            # auto, scip or ckb
index = "build/index.scip" # a file of the project; default: the cache folder's, then the root's index.scip
timeout_s = 20.0           # for one answer of CKB
max_depth = 5
max_nodes = 200
max_edges = 600

CKB is run over trusted projects only, and only the `armarius.toml` of one may name the program (`ckb = "tools/ckb"`);
else `CKB_BIN`, the user's configuration or the PATH does. What such a project may not say is ignored with a warning.
"""

import contextlib
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

import armarius._core as _core
from armarius.code import scip as freshness
from armarius.code.ckb import CkbSource
from armarius.code.scip import ScipSource, build_graph
from armarius.code.subgraph import Subgraph, TextMatches, text_search, walk
from armarius.documents.classify import CODE_SUFFIXES
from armarius.documents.document import walk_files
from armarius.errors import ConfigError, MissingExtra, ProjectError, SourceUnavailable, StoreError, UnknownSymbol
from armarius.io import folder_lock, is_regular
from armarius.io.write import cache_of
from armarius.trust.folders import way
from armarius.trust.settings import CONFIG_NAME, Config, Permissions, load_config
from armarius.types import EDGE_KINDS, Direction
from armarius.validation import valid_text
from armarius.warnings import CODE_INDEX_STALE


@dataclass(frozen=True, slots=True)
class CodeOptions:
    """Options for building and walking a code graph.

    Attributes:
        source: `scip` reads an index file, `ckb` queries the server, `auto` takes the first available in this order:
            the edges are equal, the file is a hundred times faster.
        index: The index file; None looks for `index.scip` in the cache folder, then in the repository.
        ckb: The CKB program; None looks up `CKB_BIN`, the user's configuration, then the PATH.
        timeout: Seconds for one answer of CKB, and for the lock of the repository.
        max_depth: Maximum depth of a walk.
        max_nodes: Node budget of a walk.
        max_edges: Edge budget of a walk.
        withheld: Why CKB is not run over the folder, for a project that is not trusted; "" when it may be.
    """

    source: Literal["auto", "scip", "ckb"] = "auto"
    index: str | None = None
    ckb: str | None = None
    timeout: float = 20.0
    max_depth: int = 5
    max_nodes: int = 200
    max_edges: int = 600
    withheld: str = ""


_KEYS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("source", "index", "ckb"), (str,)),
    "timeout_s": (int, float),
    **dict.fromkeys(("max_depth", "max_nodes", "max_edges"), (int,)),
}


def read_options(config: Config, root: Path, *, permissions: Permissions | None = None) -> CodeOptions:
    """The table `code` of a project's configuration.

    Args:
        config: The project's configuration.
        root: The project folder.
        permissions: Permissions of the project; None reads the user's configuration.

    Raises:
        ConfigError: An unknown key or a value of the wrong kind; names file and key.
    """
    values = {key.removesuffix("_s"): value for key, value in config.typed_table("code", _KEYS).items()}
    if values.get("source", "auto") not in ("auto", "scip", "ckb"):
        raise ConfigError(f"{CONFIG_NAME}: code.source must be auto, scip or ckb, got {values['source']!r}")
    permissions = Permissions.of(root) if permissions is None else permissions
    heeded = permissions.heeded_config(config).table("code")
    index, ckb = heeded.get("index"), heeded.get("ckb")
    values["index"] = None if index is None else str(permissions.place("code.index", index))
    values["ckb"] = permissions.ckb(ckb) if ckb else None
    return CodeOptions(**values, withheld=permissions.to_run_ckb())


@dataclass(slots=True)
class _Loaded:
    graph: _core.CodeGraph
    name: str
    index: Path
    index_stamp: freshness.Stamp | None
    files: dict[str, str]
    seen: dict[str, tuple[freshness.Stamp | None, str]] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)
    checked: float = 0.0
    check_cost: float = 0.0


class CodeIndex:
    """The code graph of a repository; safe to use from several threads.

    Nothing is read before the first query. The graph is rebuilt when the index file or an indexed file changes.

    Args:
        root: The repository.
        cache_dir: Folder of the index of `armarius code-index` and the hashes; None: in the user's cache directory.
        options: See `CodeOptions`. Given options are trusted; None are the defaults, without CKB for an untrusted
            folder.

    Raises:
        ProjectError: `root` is no folder.
        ConfigError: The user's configuration is invalid.
    """

    def __init__(
        self, root: str | Path, *, cache_dir: str | Path | None = None, options: CodeOptions | None = None
    ) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir():
            raise ProjectError(f"{root} is not a folder")
        self.cache_dir = cache_of(self.root, "code") if cache_dir is None else Path(cache_dir)
        if options is None:
            options = CodeOptions(withheld=Permissions.of(self.root).to_run_ckb())
        self.options = options
        self._lock = threading.RLock()
        self._loaded: _Loaded | None = None
        self._failures: list[SourceUnavailable] = []
        self._failed_with: tuple[freshness.Stamp | None, ...] | None = None

    def subgraph(
        self,
        symbol: str,
        *,
        depth: int | None = None,
        direction: Direction = "both",
        kinds: Sequence[str] = EDGE_KINDS,
        max_nodes: int | None = None,
        max_edges: int | None = None,
        external: bool = False,
    ) -> Subgraph | TextMatches:
        """The calls, references, inheritance, imports and overrides around `symbol`.

        Args:
            symbol: A name, qualified as far as needed: `invoke`, `Context.invoke`, `click.core.Context.invoke`.
            depth: Steps; None or more than the configured maximum is the maximum.
            direction: `callers`, `callees` or `both`.
            kinds: Edges to follow.
            max_nodes: Budget; None is the configured one.
            max_edges: Budget; None is the configured one.
            external: Show symbols outside of the repository as leaves.

        Returns:
            A Subgraph. Without a source, or for a symbol that is in the files but not in a stale index, a TextMatches
            with the notice and the reasons in `warnings`.

        Raises:
            UnknownSymbol: Carries near matches.
            AmbiguousSymbol: Carries the candidates.

        Cost: below 5 ms once built, plus one stat per indexed file.
        """
        symbol = valid_text("symbol", symbol)
        loaded = self._current_index()
        if loaded is None:
            return text_search(self.root, symbol, self._failures)
        options = self.options
        try:
            result = walk(
                loaded.graph,
                symbol,
                prefix=f"{loaded.name}:{self.root.name}",
                depth=depth,
                direction=direction,
                max_depth=options.max_depth,
                max_nodes=options.max_nodes if max_nodes is None else max_nodes,
                max_edges=options.max_edges if max_edges is None else max_edges,
                kinds=kinds,
                external=external,
                warnings=(CODE_INDEX_STALE(changes=_stale_text(loaded)),) if loaded.stale else (),
            )
        except UnknownSymbol:
            if not loaded.stale or not (instead := self._search_text(symbol, loaded)).results:
                raise
            return instead
        if not result.edges and result.root.path in loaded.stale:
            return self._search_text(symbol, loaded)
        return result

    def _search_text(self, symbol: str, loaded: _Loaded) -> TextMatches:
        reason = SourceUnavailable("stale", f"{symbol!r} is not in the index, and {_stale_text(loaded)}")
        return text_search(self.root, symbol, [reason])

    @property
    def graph(self) -> _core.CodeGraph | None:
        """The current graph, built if needed; None without a source (see `failures`)."""
        loaded = self._current_index()
        return None if loaded is None else loaded.graph

    @property
    def source(self) -> str | None:
        """The source in use, `scip` or `ckb`; None without one."""
        loaded = self._current_index()
        return None if loaded is None else loaded.name

    @property
    def failures(self) -> tuple[SourceUnavailable, ...]:
        """The reasons why tried sources failed."""
        self._current_index()
        return tuple(self._failures)

    def has_code(self) -> bool:
        """Whether there is anything to index: an index, or a file of source code. Cost: one walk of the folder."""
        if any(is_regular(path) for path in self._index_candidates()):
            return True
        stamps, _ = walk_files(self.root, load_config(self.root))
        return any(PurePosixPath(stamp.path).suffix.lower() in CODE_SUFFIXES for stamp in stamps)

    def close(self) -> None:
        """Drop the graph. No process outlives a call."""
        with self._lock:
            self._loaded = None

    def _index_candidates(self) -> list[Path]:
        if self.options.index is not None:
            index = Path(self.options.index)
            return [index if self.options.withheld else index.resolve()]  # a path given by the user may be a link
        own = self.root / "index.scip"
        # In an untrusted project a link out of it is refused.
        usable = not self.options.withheld or way(self.root, "index.scip").within
        return [self.cache_dir / "index.scip", *([own] if usable else [])]

    def _current_index(self) -> _Loaded | None:
        with self._lock:
            loaded = self._loaded
            if loaded is not None and freshness.stamp(loaded.index) == loaded.index_stamp:
                if not self._files_changed(loaded):
                    return loaded
            elif loaded is None:
                now = tuple(freshness.stamp(path) for path in (*self._index_candidates(), self.root / ".ckb"))
                if self._failed_with == now:
                    return None
                self._failed_with = now
            self._loaded = self._load()
            return self._loaded

    def _files_changed(self, loaded: _Loaded) -> bool:
        """Whether indexed files have changed since the graph was built; always checked when that is cheap."""
        start = time.monotonic()
        if loaded.check_cost > 0.002 and start - loaded.checked < 20 * loaded.check_cost:
            return False
        before = dict(loaded.seen)
        stale = freshness.changed(loaded.files, self.root, loaded.seen)
        loaded.checked = time.monotonic()
        loaded.check_cost = loaded.checked - start
        loaded.stale = stale
        return any(before[path][1] != entry[1] for path, entry in loaded.seen.items())

    def _load(self) -> _Loaded | None:
        self._failures = []
        attempts = {"scip": [self._load_scip], "ckb": [self._load_ckb], "auto": [self._load_scip, self._load_ckb]}
        for attempt in attempts[self.options.source]:
            try:
                return self._compare_files(attempt())
            except SourceUnavailable as error:
                self._failures.append(error)
            except MissingExtra as error:
                self._failures.append(SourceUnavailable("no_binary", str(error)))
        return None

    def _load_scip(self) -> _Loaded:
        file = next((path for path in self._index_candidates() if is_regular(path)), None)
        if file is None:
            named = self.options.index is not None
            places = "no file where code.index says" if named else "neither in the cache nor index.scip in the project"
            raise SourceUnavailable("no_index", f"{places}; make one with: armarius code-index PROJECT")
        before = freshness.stamp(file)
        return _Loaded(build_graph(ScipSource(file, self.root)), "scip", file, before, {})

    def _load_ckb(self) -> _Loaded:
        index = self.root / "index.scip"
        options = self.options
        with contextlib.ExitStack() as stack:
            source = CkbSource(self.root, binary=options.ckb, timeout=options.timeout)
            if options.withheld:  # said only where there is a program to run
                raise SourceUnavailable("untrusted", options.withheld)
            try:
                stack.enter_context(folder_lock(self.cache_dir, name="ckb.lock", timeout=options.timeout))
            except StoreError as error:
                raise SourceUnavailable("timeout", str(error)) from None
            before = freshness.stamp(index)
            stack.enter_context(source)
            return _Loaded(build_graph(source), "ckb", index, before, {})

    def _compare_files(self, loaded: _Loaded) -> _Loaded:
        graph, documents = loaded.graph, loaded.graph.documents()
        if not documents:
            raise SourceUnavailable("no_index", f"the index that {loaded.name} reads is empty")
        manifest = self.cache_dir / f"{loaded.name}-files.json"
        loaded.files = freshness.baseline(
            manifest, loaded.index, self.root, documents, moved=graph.stale(), grown=graph.grown()
        )
        loaded.stale = freshness.changed(loaded.files, self.root, loaded.seen)
        if documents and 2 * len(loaded.stale) > len(documents):
            raise SourceUnavailable("stale", f"{_stale_text(loaded)}; run: armarius code-index PROJECT")
        return loaded


def _stale_text(loaded: _Loaded) -> str:
    names = ", ".join(loaded.stale[:3]) + (", …" if len(loaded.stale) > 3 else "")
    return f"{len(loaded.stale)} of {len(loaded.files)} indexed files changed since the index was made ({names})"
