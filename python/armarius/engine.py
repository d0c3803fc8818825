"""The engine: one project folder, opened; every method is a call into one room.

engine = armarius.open("path/to/novel")
pack = engine.assemble(query="检查第3章的角色一致性", document="chapters/ch003.md", cursor=1200, budget=8000)
"""

import asyncio
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Self, Unpack

from armarius.assembly.assembler import Assembler, Task
from armarius.assembly.budget import BudgetProfile, LayerBudget, ProfileStore
from armarius.assembly.counting import Counter
from armarius.assembly.flight import Flight
from armarius.assembly.inspection import inspection
from armarius.assembly.report import Pack
from armarius.assembly.resolve import CounterFor, RequestKeywords, Resolver, read_request
from armarius.assembly.settings import read_settings
from armarius.code.fetcher import SubgraphFetcher
from armarius.code.index import CodeIndex
from armarius.code.options import read_options
from armarius.code.subgraph import KINDS, Direction, Subgraph, TextMatches
from armarius.codex import AuthoredCodex, Constraints, Entity, Memories
from armarius.config import load_config
from armarius.contract import AssembleRequest, InspectRequest, InspectResult
from armarius.counting import TokenCounter
from armarius.errors import ContextWarning, ContractError, EmbeddingError, ProjectError
from armarius.fetchers.base import Fetcher, LayerName
from armarius.graph import GraphStore, ProjectGraph
from armarius.graph.options import read_graph_options
from armarius.index import ProjectIndex
from armarius.indexstate import IndexStatus, Progress
from armarius.matching import EntityMatcher, Match, Mention
from armarius.progressbar import progress_bar
from armarius.project.documents import Document
from armarius.project.kinds import Kind
from armarius.project.searching import SearchHit
from armarius.recall import ProjectRecall, recall_of
from armarius.retrieval.conflicts import Statement
from armarius.retrieval.disputes import said_of
from armarius.retrieval.excerpt import excerpt
from armarius.retrieval.hits import Hit, Retrieval
from armarius.vectors.base import Embedder
from armarius.vectors.hits import SimilarPassage
from armarius.vectors.near import Nearby
from armarius.wiring import Project, counter_for

__all__ = ["ContextEngine", "open"]

Layers = Mapping[LayerName, LayerBudget]
Wire = Mapping[str, Any]


class ContextEngine:
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

    Raises:
        ProjectError: `root` is no folder.
        ConfigError: `armarius.toml` is wrong.
        StoreError: The index can be neither used nor rebuilt.
    """

    def __init__(
        self,
        root: str | PathLike[str],
        *,
        fetchers: Sequence[Fetcher] | None = None,
        more_fetchers: Sequence[Fetcher] = (),
        counters: CounterFor = counter_for,
        fallback: Counter | None = None,
        project_id: str | None = None,
        watch: bool = True,
        wait: bool = True,
        index_dir: str | PathLike[str] | None = None,
        progress: Callable[[Progress], None] | None = None,
        embedder: Embedder | None = None,
        graph: GraphStore | None = None,
    ) -> None:
        self.root = Path(root)
        if not self.root.is_dir():
            raise ProjectError(f"not a project folder: {self.root}")
        self.config = load_config(self.root)
        settings = read_settings(self.config)
        graphs = read_graph_options(self.config, self.root)
        graph = graphs.store if graph is None else graph
        fallback = TokenCounter.estimate() if fallback is None else fallback
        self._index = ProjectIndex.open(
            self.root, config=self.config, index_dir=index_dir, wait=wait, watch=watch, progress=progress
        )
        try:
            self._recall, self._no_recall = recall_of(self._index, embedder, self.config)
        except BaseException:
            self._index.close()
            raise
        near = self._near if self._recall is not None or self._no_recall else None
        self._code = CodeIndex(self.root, options=read_options(self.config, self.root))
        more = (*more_fetchers, SubgraphFetcher(self._code))
        # The project's own graph says what the files say, which retrieval has at hand.
        asked = None if graph is None or isinstance(graph, ProjectGraph) else graphs.guard(graph)
        self._project = Project(self._index, self.config, fetchers=fetchers, more=more, vectors=near, graph=asked)
        self._graph = ProjectGraph(self._index, self._project.codex) if graph is None else graph
        self._guard = asked
        self._profiles = ProfileStore(self.root / ".armarius" / "budget.json", settings.profile)
        self._resolver = Resolver(self.root.resolve().name, settings, counters, fallback, self._profiles, project_id)
        self._assembler = Assembler(fallback=fallback, fetch_timeout=settings.fetch_timeout_s)
        self._flight: Flight[Pack] = Flight(settings.max_concurrent, settings.queue_timeout_s)

    @property
    def project_id(self) -> str:
        """The id this project goes by; the folder's name unless one is configured."""
        return self._resolver.project_id

    @property
    def codex(self) -> AuthoredCodex:
        """Entities and relations: list all, create, update, delete; kept in `.armarius/codex.toml`."""
        return self._project.codex

    @property
    def graph(self) -> GraphStore:
        """The graph that was given or configured; else the project's own: entities and relations of its files.

        `armarius.open(other).graph.snapshot().load_into(engine.graph)` copies a project into it.
        """
        return self._graph

    @property
    def memories(self) -> Memories:
        """What has been learnt: list, create, update, delete; kept in `.armarius/memories.toml`."""
        return self._project.memories

    @property
    def constraints(self) -> Constraints:
        """What every prompt states: list, create, update, delete; kept in `.armarius/constraints.toml`."""
        return self._project.constraints

    def assemble(
        self,
        request: AssembleRequest | Wire | None = None,
        /,
        *,
        previous: Pack | None = None,
        layers: Layers | None = None,
        **keywords: Unpack[RequestKeywords],
    ) -> Pack:
        """A prompt within its budget, and the account of it.

        Args:
            request: A request object or its wire form, instead of keywords.
            previous: The last pack of this task: what it shares with the new prompt stays in place.
            layers: Budgets for this request only.
            keywords: `query`, `document`, `cursor`, `additional_input`, `skill`, `project_id`, `model`,
                `provider`, `tokenizer_version`, `budget`, `reserve_output`, `position_encoding`;
                see `RequestKeywords`.

        Raises:
            UnknownDocument: No such document.
            CursorOutOfRange: The cursor lies outside it or inside a character.
            BudgetError: The budget is not positive, or too small for what must be in.
            ScopeViolation: The request or `previous` belongs to another project.
            Backpressure: Too many assemblies at once.
            ContractError: Anything else that is wrong with the request.

        Cost: the slowest fetcher, one allocation, two counts of the prompt.
        """
        task = self._resolver.task(
            self._project.view(), read_request(AssembleRequest, request, keywords), previous, layers
        )
        return self._flight.run(_key("assemble", task), lambda: self._assembler.assemble(task))

    async def aassemble(
        self,
        request: AssembleRequest | Wire | None = None,
        /,
        *,
        previous: Pack | None = None,
        layers: Layers | None = None,
        **keywords: Unpack[RequestKeywords],
    ) -> Pack:
        """`assemble` for coroutines: same arguments, same answer, from a worker thread."""
        return await asyncio.to_thread(self.assemble, request, previous=previous, layers=layers, **keywords)

    def inspect(
        self,
        request: InspectRequest | AssembleRequest | Wire | None = None,
        /,
        *,
        previous: Pack | None = None,
        layers: Layers | None = None,
        debug_mode: bool = False,
        requested_by: str = "",
        **keywords: Unpack[RequestKeywords],
    ) -> InspectResult:
        """What `assemble` would send, layer by layer; never the prompt.

        Args:
            request: As for `assemble`; may carry `debugMode` and `requestedBy`.
            previous: As for `assemble`.
            layers: As for `assemble`.
            debug_mode: Echoed in `inspectMeta`.
            requested_by: Echoed in `inspectMeta`.
            keywords: As for `assemble`.
        """
        wanted = read_request(InspectRequest, request, keywords)
        if isinstance(wanted, InspectRequest):
            debug_mode, requested_by = debug_mode or wanted.debug_mode, requested_by or wanted.requested_by
            wanted = wanted.assembly()
        task = self._resolver.task(self._project.view(), wanted, previous, layers)
        pack = self._flight.run(_key("inspect", task), lambda: self._assembler.assemble(task, remember=False))
        return inspection(pack, debug_mode=debug_mode, requested_by=requested_by)

    async def ainspect(
        self,
        request: InspectRequest | AssembleRequest | Wire | None = None,
        /,
        *,
        previous: Pack | None = None,
        layers: Layers | None = None,
        debug_mode: bool = False,
        requested_by: str = "",
        **keywords: Unpack[RequestKeywords],
    ) -> InspectResult:
        """`inspect` for coroutines: same arguments, same answer, from a worker thread."""
        return await asyncio.to_thread(
            lambda: self.inspect(
                request,
                previous=previous,
                layers=layers,
                debug_mode=debug_mode,
                requested_by=requested_by,
                **keywords,
            )
        )

    def retrieve(self, query: str, *, limit: int = 5, document: str = "", chapter: int | None = None) -> Retrieval:
        """The documents and sections that answer a question, best first, each with every reason for it.

        Args:
            query: The user's words.
            limit: At most so many hits.
            document: The current document: its chapter is the current chapter, for 前一章 and for the timeline.
            chapter: The current chapter, when there is no document.

        Returns:
            A sequence of hits with `understanding`, `outcome` and `omitted`; later chapters than the current
            one are omitted unless the question names them.

        Raises:
            UnknownDocument: No such document.
            ValueError: `limit` is negative.

        Cost: about 1 ms per question on 120 chapters; the first question reads the project.
        """
        view = self._project.view()
        current = view.document(document).chapter if document else chapter
        with view.retriever.at(view.documents, view.codex, view.matcher) as retriever:
            return retriever.retrieve(query, limit=limit, chapter=current)

    def excerpt(self, hit: Hit) -> str:
        """The text behind a hit: its section, or the paragraphs its evidence points at; "" when the file is gone."""
        document = self._project.view().documents.get(hit.path)
        return "" if document is None else excerpt(document, hit)

    def entities(self) -> tuple[Entity, ...]:
        """Every known entity, by whichever file."""
        return self._project.view().codex.entities

    @property
    def recall(self) -> ProjectRecall:
        """Recall by meaning: progress, focus, cancel, status.

        Raises:
            EmbeddingError: The engine was opened without an embedder, or the configured one is missing or broken
                (EMBEDDING_UNAVAILABLE).
        """
        if self._recall is None:
            reason = self._no_recall or (
                "opened without an embedder; give one to armarius.open(..., "
                "embedder=armarius.embedders.text2vec(folder)), or .lexical() for one without a model, "
                "or name one in armarius.toml: [embedding] model"
            )
            raise EmbeddingError(f"EMBEDDING_UNAVAILABLE: {reason}")
        return self._recall

    def _near(self, query: str) -> Nearby:
        return Nearby(trouble=self._no_recall) if self._recall is None else self._recall.near(query)

    def similar(
        self,
        query: str,
        *,
        limit: int = 10,
        kinds: Sequence[Kind] = (),
        chapters: tuple[int | None, int | None] = (None, None),
    ) -> list[SimilarPassage]:
        """The paragraphs nearest to `query` in meaning, best first, each with its similarity.

        Args:
            query: Any text; one without letters or digits finds nothing.
            limit: At most so many; fewer only when fewer paragraphs pass the filters and are embedded.
            kinds: Kinds of documents; empty is all.
            chapters: Inclusive bounds, None is open; with one, paragraphs outside chapters are left out.

        Raises:
            EmbeddingError: No embedder, or it failed.
            DimensionMismatch: The index holds vectors of another model; `reembed` replaces them.

        Cost: one forward pass for a new query, then about 1 ms, or 3 ms per 1,000 vectors below 1,500.
        """
        return self.recall.similar(query, limit=limit, kinds=kinds, chapters=chapters)

    def reembed(self, embedder: Embedder | None = None, *, wait: bool = False) -> None:
        """Replace all vectors by those of `embedder` (default: the one the engine was opened with).

        New vectors are made in the background while the old ones keep answering, and take over at once. Interrupted,
        it is resumed by calling it again.

        Raises:
            EmbeddingError: No embedder; with `wait`, that it failed. The old vectors stay.
        """
        self.recall.reembed(embedder, wait=wait)

    def evidence(self, name: str, *, attribute: str | None = None, chapter: int | None = None) -> list[Statement]:
        """Everything the project says about an entity, or about one attribute of it; competing statements marked.

        Args:
            name: Name, alias or id of an entity.
            attribute: 年龄, 住处, "eye colour", …; None takes what the settings say, and whatever is disputed.
            chapter: Later chapters are left out.

        Returns:
            Statements with their sources, settings first; `competes_with` names sources that say otherwise and
            `attributes` what about. No verdict is made.

        Raises:
            ContractError: No entity goes by that name.
        """
        view = self._project.view()
        entity = next((one for one in view.codex.entities if name in (one.id, one.name)), None) or next(
            (one for one in view.codex.entities if name in one.aliases), None
        )
        if entity is None:
            raise ContractError(f"no entity is called {name!r}")
        with view.retriever.at(view.documents, view.codex, view.matcher) as retriever:
            assert retriever.library is not None
            return said_of(retriever.library, entity.id, attribute, chapter=chapter)

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        kinds: Sequence[Kind] = (),
        chapters: tuple[int | None, int | None] = (None, None),
    ) -> list[SearchHit]:
        """Paragraphs that hold the words of `text` as written, best first; see `ProjectIndex.search`."""
        self._index.freshen()
        return self._index.search(text, limit=limit, kinds=kinds, chapters=chapters)

    def detect(self, text: str) -> list[Match]:
        """Which known entities `text` names: one match each, the earliest, by position; see `EntityMatcher.detect`."""
        return self.matcher.detect(text)

    def mentions(self, text: str) -> list[Mention]:
        """Every mention of a known entity in `text`; see `EntityMatcher.find_all`."""
        return self.matcher.find_all(text)

    @property
    def matcher(self) -> EntityMatcher:
        """What finds names in every answer: the codex, with what the project's prose taught about its names."""
        return self._project.matcher()

    def documents(self) -> tuple[Document, ...]:
        """Every document of the project, by path."""
        return tuple(self._project.view().documents.values())

    def document(self, path: str) -> Document:
        """One document; raises UnknownDocument."""
        return self._project.view().document(path)

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

    def subgraph(
        self,
        symbol: str,
        *,
        depth: int | None = None,
        direction: Direction = "both",
        kinds: Sequence[str] = KINDS,
        max_nodes: int | None = None,
        max_edges: int | None = None,
        external: bool = False,
    ) -> Subgraph | TextMatches:
        """What calls, references, inherits, imports and overrides what around a symbol of a code project.

        Args:
            symbol: A name, qualified as far as needed: `invoke`, `Context.invoke`, `click.core.Context.invoke`.
            depth: Steps; None is the configured maximum (5), more than that is the maximum.
            direction: `callers`, `callees` or `both`.
            kinds: Edges to follow.
            max_nodes: Budget; within a depth, what is used most stays. None is the configured one.
            max_edges: Budget. None is the configured one.
            external: Show symbols outside of the project as leaves.

        Returns:
            A Subgraph; without SCIP index and CKB a TextMatches, whose warnings say why.

        Raises:
            UnknownSymbol: Carries near matches.
            AmbiguousSymbol: Carries the candidates.
        """
        return self._code.subgraph(
            symbol,
            depth=depth,
            direction=direction,
            kinds=kinds,
            max_nodes=max_nodes,
            max_edges=max_edges,
            external=external,
        )

    def refresh(self) -> None:
        """Make the index equal to the folder now, and read the graph's entities again; requests do so by themselves.

        A graph without a `stamp` cannot say that it has changed: after writing to one, call this.
        """
        self._index.refresh()
        if self._guard is not None:
            self._guard.forget()

    def close(self) -> None:
        """Stop watching and building, close the index; calling it again does nothing."""
        if self._recall is not None:
            self._recall.close()
        self._index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def budget_profile(self) -> BudgetProfile:
        """How this project divides its prompts, with the version an update must name."""
        return self._profiles.read()

    def update_budget_profile(self, profile: BudgetProfile, *, version: int) -> BudgetProfile:
        """Replace the profile, if it is still at `version`; kept in `.armarius/budget.json`.

        Raises:
            BudgetConflict: It has moved on (CONTEXT_BUDGET_CONFLICT).
        """
        return self._profiles.update(profile, version=version)


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

    Raises:
        ProjectError: `path` is no folder.
        ConfigError: Its `armarius.toml` is wrong.
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
        )


def _key(kind: str, task: Task) -> Hashable:
    """Two tasks with one key have the same answer."""
    return kind, task.request, task.fetch, tuple(sorted(task.layers.items())), id(task.previous), task.profile.version
