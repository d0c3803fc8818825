"""Creates and connects the parts of an engine; packs and restores the snapshot of a project in memory."""

from collections.abc import Callable, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, cast

import armarius.doors as doors
from armarius.codex.record_file import FOLDER
from armarius.deadline import SingleFlight
from armarius.engine.maps import Maps, Understanding
from armarius.engine.project import Project
from armarius.engine.prompts import Prompts
from armarius.engine.questions import FollowUps, QueryRewriter, Questions
from armarius.errors import BookError, ContextWarning, ContractError, EmbeddingError, MissingExtra
from armarius.index.freshness import Progress
from armarius.index.project_index import ProjectIndex
from armarius.io import folder_lock
from armarius.io.files import Archive, files_in, pack_zip, project_folder, project_name
from armarius.io.write import fill_folder, is_project_path
from armarius.prompt.assembler import Assembler
from armarius.prompt.counter import Counter
from armarius.prompt.profile import ProfileStore, read_settings
from armarius.prompt.request import CounterFor, Resolver
from armarius.store.sqlite.location import place_for
from armarius.store.sqlite.schema import SCHEMA_VERSION
from armarius.store.sqlite.store import SqliteStore
from armarius.text.tokens import TokenCounter
from armarius.trust.folders import read_user_config
from armarius.trust.settings import Config, Permissions, load_config, without_keys
from armarius.types import LAYERS, Fetcher, VectorHits
from armarius.warnings import SNAPSHOT_IGNORED

if TYPE_CHECKING:
    from armarius.graph.entity_cache import GraphGuard
    from armarius.graph.protocol import GraphStore
    from armarius.search.models import Reranker, Reranking, VectorGuard

NO_EMBEDDER = (
    "opened without an embedder; give one to armarius.open(..., embedder=armarius.embedders.text2vec(folder)), "
    "or .lexical() for one without a model, or have armarius.toml name one: [embedding] model"
)

_TEXTS = "texts/"  # before the paths of a project in its snapshot

_GRAPH_METHODS = ("neighbors", "subgraph", "upsert_entity", "upsert_relation", "delete_entity", "snapshot")


class EngineParts:
    """The parts of a `ContextEngine`, which documents the arguments; its `close` closes them.

    Attributes:
        root: The project folder; None for other sources, which have no code index.
        recall: Vector search; None without an embedder, or if it is unavailable; then `no_recall` says why.
        guard: Queries an external graph with a deadline; None for the project's own.
    """

    def __init__(
        self,
        root: str | PathLike[str] | ProjectIndex,
        *,
        fetchers: Sequence[Fetcher] | None,
        more_fetchers: Sequence[Fetcher],
        counters: CounterFor,
        fallback: Counter | None,
        project_id: str | None,
        watch: bool,
        wait: bool,
        index_dir: str | PathLike[str] | None,
        progress: Callable[[Progress], None] | None,
        embedder: "doors.AnyEmbedder | None",
        graph: "GraphStore | None",
        rerank: "Reranker | Reranking | None",
        trusted: bool | None = None,
        reword: "doors.Model | doors.Reworder | None" = None,
        with_: Sequence[str | PathLike[str]] = (),
    ) -> None:
        _check_fetchers((*(fetchers or ()), *more_fetchers))
        rewords, follow_ups = QueryRewriter(reword), FollowUps()
        folder = root.root if isinstance(root, ProjectIndex) else project_folder(root)
        reranking = None if rerank is None else _reranking(rerank)
        model = None if embedder is None else doors.as_embedder(embedder)
        config = root.config if isinstance(root, ProjectIndex) else load_config(project_folder(root))
        settings = read_settings(config)
        # What the caller decides is not asked of the project.
        given_keys = [*(["embedding.model"] if model else []), *(["graph.store", "graph.path"] if graph else [])]
        config = without_keys(config, given_keys)
        permissions = None if folder is None else Permissions.of(folder, trusted=trusted)
        guard = None
        if graph is not None or config.table("graph"):
            graph, guard = _graph_of(graph, config, folder, permissions)
        fallback = TokenCounter.estimate() if fallback is None else fallback
        if isinstance(root, ProjectIndex) and with_:
            raise ContractError("with_: an index that is open already has its folders; give them to ProjectIndex.open")
        index = root if isinstance(root, ProjectIndex) else ProjectIndex.open(
            root, config=config, index_dir=index_dir, wait=wait, watch=watch, progress=progress,
            permissions=permissions, with_=with_,
        )  # fmt: skip
        try:
            recall, no_recall = _recall(index, model, config, permissions)
        except BaseException:
            index.close()
            raise
        vectors = _vectors(recall, no_recall, settings.fetch_timeout_s)
        project = Project(
            index, config, fetchers=fetchers, more=more_fetchers, vectors=vectors, graph=guard, reranking=reranking,
            permissions=permissions,
        )  # fmt: skip
        profiles = ProfileStore(index.authored, settings.profile)
        name = index.project_id if folder is None else project_name(folder)
        resolver = Resolver(name, settings, counters, fallback, profiles, project_id)
        assembler = Assembler(fallback=fallback, fetch_timeout=settings.fetch_timeout_s)
        queue = settings.max_concurrent, settings.queue_timeout_s
        self.root, self.config, self.index, self.project = folder, config, index, project
        self.recall, self.no_recall = recall, no_recall
        self._graph, self.guard = graph, guard
        self.resolver = resolver
        self.prompts = Prompts(project, resolver, assembler, SingleFlight(*queue), profiles, rewords, follow_ups)
        self.questions = Questions(project, rewords, follow_ups, settings.language)
        rewords.project = project
        self.maps, self.understanding = Maps(project), Understanding(project)

    @cached_property
    def graph(self) -> "GraphStore":
        """The given or configured graph, else the project's own."""
        if self._graph is not None:
            return self._graph
        from armarius.index.graph import ProjectGraph  # no prompt needs it

        return ProjectGraph(self.index, self.project.codex)


def snapshot(parts: EngineParts) -> bytes:
    """Texts, records and index of a project in a folder of ours, as a zip. Cost: reads and packs all of them."""
    root = parts.index.root
    assert root is not None
    with folder_lock(root / FOLDER, below=root):
        files = {_TEXTS + path: data for path, data in files_in(root).items() if is_project_path(path)}
        index = parts.index.ask(lambda store: cast("SqliteStore", store).serialize())
    data = pack_zip({**files, _index_of(root): index})
    Archive(data, "snapshot")  # what could not be restored is refused while the texts are still there
    return data


def restore(snapshot: bytes, root: Path, index_dir: Path) -> tuple[ContextWarning, ...]:
    """Write what `snapshot` packed into a new folder; a warning for each part that was left out."""
    try:
        archive = Archive(snapshot, "snapshot")
    except BookError as error:
        return (SNAPSHOT_IGNORED(part="all", why=error.message),)
    warnings, texts, index = list[ContextWarning](), dict[str, bytes](), _index_of(root)
    for name in archive.names:
        path = name.removeprefix(_TEXTS)
        try:
            if name == index:
                place_for(root, index_dir).put(archive.read(name))
            elif name != path and is_project_path(path):
                texts[path] = archive.read(name)
        except BookError as error:
            warnings.append(SNAPSHOT_IGNORED(part=path, why=error.message.removeprefix(f"snapshot: {name}: ")))
    fill_folder(root, texts)
    if index not in archive.names:
        why = "it is of another version of armarius, or of another project"
        warnings.append(SNAPSHOT_IGNORED(part="the index", why=why))
    return tuple(warnings)


def _index_of(root: Path) -> str:
    """The member that is the index of the project, by version and name: another one's would be built anew."""
    return f"index-{SCHEMA_VERSION}-{root.name}.sqlite"


def _check_fetchers(fetchers: Sequence[Fetcher]) -> None:
    for item in fetchers:
        if not isinstance(item, Fetcher):
            kind = type(item).__name__
            raise ContractError(f"fetchers: {kind} is no Fetcher, which has a name, a layer and fetch(request)")
        if item.layer not in LAYERS:
            raise ContractError(
                f"fetchers: {item.name!r} is for the layer {item.layer!r}; there are {', '.join(LAYERS)}"
            )


def _reranking(rerank: "Reranker | Reranking") -> "Reranking | None":
    from armarius.search.models import Reranking

    return Reranking.of(rerank)


def _graph_of(
    graph: "GraphStore | None", config: Config, folder: Path | None, permissions: Permissions | None
) -> "tuple[GraphStore | None, GraphGuard | None]":
    """The given or configured graph, and what queries it with a deadline."""
    from armarius.graph.entity_cache import read_graph_options
    from armarius.graph.protocol import GraphStore
    from armarius.index.graph import ProjectGraph

    if graph is not None and not isinstance(graph, GraphStore):
        lacking = [name for name in _GRAPH_METHODS if not callable(getattr(graph, name, None))]
        raise ContractError(f"graph: {type(graph).__name__} is no GraphStore, it lacks {', '.join(lacking)}")
    graphs = read_graph_options(config, folder, permissions=permissions)
    graph = graphs.store if graph is None else graph
    # The entities of the project's own graph are those of the files, which retrieval already has.
    return graph, None if graph is None or isinstance(graph, ProjectGraph) else graphs.guard(graph)


def _recall(
    index: ProjectIndex, embedder: "doors.Embedder | None", config: Config, permissions: Permissions | None
) -> "tuple[doors.ProjectRecall | None, str]":
    """Vector search with the given or configured embedder; None, and why, if it is missing, broken or not allowed.

    An unavailable model is a warning, not an error: the project stays usable.
    """
    if embedder is None and _names_model(config, permissions):
        try:
            embedder = doors.configured(config, index.root, permissions=permissions)
        except (EmbeddingError, MissingExtra) as error:
            return None, error.message
    return (None if embedder is None else doors.ProjectRecall(index, embedder)), ""


def _names_model(config: Config, permissions: Permissions | None) -> bool:
    """Whether the project or the user configures an embedder."""
    user = read_user_config() if permissions is None else permissions.user
    return bool(config.table("embedding") or user.embedding)


def _vectors(recall: "doors.ProjectRecall | None", no_recall: str, timeout_s: float) -> "VectorGuard | None":
    """The vector search of retrieval; None if no embedder is configured."""
    if recall is None and not no_recall:
        return None
    from armarius.search.models import VectorGuard

    search = recall.near if recall is not None else lambda _: VectorHits(trouble=no_recall)
    return VectorGuard(search, timeout_s=timeout_s)
