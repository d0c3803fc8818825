"""What an engine is made of: index, project, graph, recall, resolver and assembler of one folder."""

from collections.abc import Callable, Sequence
from os import PathLike

from armarius.assembly.assembler import Assembler
from armarius.assembly.fit.cached_counter import Counter
from armarius.assembly.fit.profile import ProfileStore
from armarius.assembly.request import CounterFor, Resolver
from armarius.assembly.settings import read_settings
from armarius.assembly.singleflight import Flight
from armarius.code.index import CodeIndex
from armarius.code.options import read_options
from armarius.codex import AuthoredCodex, Constraints, Memories
from armarius.config import load_config
from armarius.documents.folder import project_folder
from armarius.embedders.protocol import Embedder
from armarius.errors import ContractError
from armarius.fetchers.code import SubgraphFetcher
from armarius.graph import GraphStore, ProjectGraph
from armarius.graph.options import read_graph_options
from armarius.index.project_index import ProjectIndex
from armarius.index.status import Progress
from armarius.pack.pack import Pack
from armarius.project import Project, counter_for
from armarius.records import Fetcher
from armarius.semantic.outliers import Nearby
from armarius.semantic.recall import recall_of
from armarius.text.tokens import TokenCounter
from armarius.trust.asked import Permissions

__all__ = ["Parts"]

_GRAPH_METHODS = ("neighbors", "subgraph", "upsert_entity", "upsert_relation", "delete_entity", "snapshot")


class Parts:
    """The parts of an engine, put together; `ContextEngine` says what the arguments are."""

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
        trusted: bool | None = None,
    ) -> None:
        if graph is not None and not isinstance(graph, GraphStore):
            lacking = [name for name in _GRAPH_METHODS if not callable(getattr(graph, name, None))]
            raise ContractError(f"graph: {type(graph).__name__} is no GraphStore, it lacks {', '.join(lacking)}")
        self.root = project_folder(root)
        self.config = load_config(self.root)
        settings = read_settings(self.config)
        permissions = Permissions.of(self.root, trusted=trusted)
        graphs = read_graph_options(self.config, self.root, permissions=permissions)
        graph = graphs.store if graph is None else graph
        fallback = TokenCounter.estimate() if fallback is None else fallback
        self._index = ProjectIndex.open(
            self.root,
            config=self.config,
            index_dir=index_dir,
            wait=wait,
            watch=watch,
            progress=progress,
            permissions=permissions,
        )
        try:
            self._recall, self._no_recall = recall_of(self._index, embedder, self.config, permissions=permissions)
        except BaseException:
            self._index.close()
            raise
        near = self._near if self._recall is not None or self._no_recall else None
        self._code = CodeIndex(self.root, options=read_options(self.config, self.root, permissions=permissions))
        more = (*more_fetchers, SubgraphFetcher(self._code))
        # The project's own graph says what the files say, which retrieval has at hand.
        asked = None if graph is None or isinstance(graph, ProjectGraph) else graphs.guard(graph)
        self._project = Project(self._index, self.config, fetchers=fetchers, more=more, vectors=near, graph=asked)
        self._graph = ProjectGraph(self._index, self._project.codex) if graph is None else graph
        self._guard = asked
        self._profiles = ProfileStore(self.root / ".armarius" / "budget.json", settings.profile, root=self.root)
        self._resolver = Resolver(self.root.resolve().name, settings, counters, fallback, self._profiles, project_id)
        self._assembler = Assembler(fallback=fallback, fetch_timeout=settings.fetch_timeout_s)
        self._flight: Flight[Pack] = Flight(settings.max_concurrent, settings.queue_timeout_s)

    @property
    def project_id(self) -> str:
        """The id this project goes by; the folder's name unless one is configured."""
        return self._resolver.project_id

    def check_project(self, project_id: str) -> None:
        """Refuse what is meant for another project, as `assemble` does; "" is this one.

        Raises:
            ScopeViolation: This engine was opened for another project id.
        """
        self._resolver.scope(project_id)

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

    def _near(self, query: str) -> Nearby:
        return Nearby(trouble=self._no_recall) if self._recall is None else self._recall.near(query)
