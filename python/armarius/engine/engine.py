"""`ContextEngine`: the parts of an open project, and the verbs that need several of them."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

from armarius.assembly.assembler import Task
from armarius.assembly.fit.cached_counter import Counter
from armarius.assembly.fit.profile import BudgetProfile, LayerBudget
from armarius.assembly.report.inspection import inspection
from armarius.assembly.report.pack import Pack
from armarius.assembly.request import CounterFor, read_request
from armarius.code.index import CodeIndex
from armarius.code.subgraph import KINDS, Direction, Subgraph, TextMatches
from armarius.codex.model import Entity
from armarius.contract import AssembleRequest, InspectRequest, InspectResult, PositionEncoding
from armarius.documents.classify import Kind
from armarius.documents.document import Document, Documents
from armarius.embedders.protocol import Embedder
from armarius.engine.build import build
from armarius.engine.keywords import awaitable, keywords_checked
from armarius.engine.summary import brief, rows
from armarius.errors import EmbeddingError, ProjectError
from armarius.graph.protocol import GraphStore
from armarius.hits import Hit, Hits
from armarius.index.project_index import ProjectIndex
from armarius.index.status import IndexStatus, Progress
from armarius.project import counter_for
from armarius.records import Fetcher, LayerName
from armarius.retrieval.contradictions.detect import said_of
from armarius.retrieval.contradictions.statements import Statement
from armarius.retrieval.excerpt import excerpt
from armarius.retrieval.hits import Retrieval
from armarius.retrieval.retrieve import retrieve
from armarius.semantic.recall import ProjectRecall
from armarius.shown import html_table, rich_table
from armarius.text.matcher import EntityMatcher, Matches, Mention
from armarius.warnings_table import EMBEDDING_UNAVAILABLE

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["ContextEngine"]

Layers = Mapping[LayerName, LayerBudget | Mapping[str, Any]]
Chapters = tuple[int | None, int | None]


class ContextEngine:
    """Assembles prompts for one project, and answers for it. Threads may share an engine.

    Made by `armarius.open`, or by this constructor where a host brings its own parts.

    Args are those of `armarius.open`, and:
        root: A folder; or an open index over other texts (`ProjectIndex.over`), which the engine closes: what is said
            of folder and index besides means nothing then.
        fetchers: Asked instead of the project's own, when given.
        more_fetchers: Asked beside the project's own.
        counters: Model name and tokenizer version to a counter.
        fallback: The counter used when the model's fails (CONTEXT_BUDGET_FALLBACK); None is the estimate.

    Attributes:
        root: The project folder; None where the texts are in no folder.
        config: `armarius.toml`, read when the engine was opened.
        index: Paragraphs, mentions and full text of the folder's files, kept equal to it.
        recall: Recall by meaning: progress, focus, cancel, status.
        codex: Entities and relations: list all, create, update, delete; kept in `.armarius/codex.toml`.
        memories: What has been learnt: list, create, update, delete; kept in `.armarius/memories.toml`.
        constraints: What every prompt states: list, create, update, delete; kept in `.armarius/constraints.toml`.
        graph: The graph that was given or configured; else the project's own: entities and relations of its files.
            `armarius.open(other).graph.snapshot().load_into(engine.graph)` copies a project into it.
    """

    def __init__(
        self,
        root: str | PathLike[str] | ProjectIndex,
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
        parts = build(
            root,
            fetchers=fetchers,
            more_fetchers=more_fetchers,
            counters=counters,
            fallback=fallback,
            project_id=project_id,
            watch=watch,
            wait=wait,
            index_dir=index_dir,
            progress=progress,
            embedder=embedder,
            graph=graph,
            trusted=trusted,
        )
        self._parts = parts
        self.root = parts.root
        self.config = parts.config
        self.index = parts.index
        self.codex = parts.project.codex
        self.memories = parts.project.memories
        self.constraints = parts.project.constraints
        self.graph = parts.graph

    @property
    def code(self) -> CodeIndex:
        """The code graph of a project with source files.

        Raises:
            ProjectError: The project is no folder.
        """
        if self._parts.code is None:
            raise ProjectError("the code graph needs a project folder")
        return self._parts.code

    @property
    def recall(self) -> ProjectRecall:
        """Recall by meaning: progress, focus, cancel, status.

        Raises:
            EmbeddingError: The engine was opened without an embedder, or the configured one is missing or broken
                (EMBEDDING_UNAVAILABLE).
        """
        if self._parts.recall is None:
            reason = self._parts.no_recall or (
                "opened without an embedder; give one to armarius.open(..., "
                "embedder=armarius.embedders.text2vec(folder)), or .lexical() for one without a model, "
                "or have armarius.toml name one: [embedding] model"
            )
            raise EmbeddingError(reason)
        return self._parts.recall

    @property
    def project_id(self) -> str:
        """The id this project goes by; the folder's name unless one is configured."""
        return self._parts.resolver.project_id

    def check_project(self, project_id: str) -> None:
        """Refuse what is meant for another project, as `assemble` does; "" is this one.

        Raises:
            ScopeViolation: This engine was opened for another project id.
        """
        self._parts.resolver.scope(project_id)

    @keywords_checked
    def assemble(
        self,
        query: str | AssembleRequest = "",
        *,
        document: str = "",
        cursor: int | None = None,
        additional_input: str = "",
        skill: str = "",
        project_id: str = "",
        model: str | None = None,
        provider: str | None = None,
        tokenizer_version: str | None = None,
        budget: int | None = None,
        reserve_output: int = 0,
        position_encoding: PositionEncoding = "code-point",
        previous: Pack | bytes | None = None,
        layers: Layers | None = None,
    ) -> Pack:
        """A prompt within its budget, and the account of it.

        Args:
            query: The user's words; or a request object in place of all but the last two keywords.
            document: Project-relative path of the current document.
            cursor: Offset into it, in units of `position_encoding`; None is its end.
            additional_input: The text around the cursor, or the selection.
            skill: The host's name for the task; part of the identity of the stable prefix.
            project_id: Must be the engine's, where one is configured.
            model: Decides the counter and the provider's cache rules; None is the configured one.
            provider: Part of the identity of the stable prefix.
            tokenizer_version: Likewise.
            budget: Tokens for prompt and reserve together; None is the profile's.
            reserve_output: Tokens of `budget` kept free for the answer.
            position_encoding: `code-point`, `utf-16` (JavaScript, LSP) or `utf-8`.
            previous: The last pack of this task, or its `continuation()`: what it shares with the new prompt stays in
                place.
            layers: Budgets for this request only; a mapping with `min`, `max`, `ratio` will do for a `LayerBudget`.

        Raises:
            UnknownDocument: No such document.
            CursorOutOfRange: The cursor lies outside it or inside a character.
            BudgetError: The budget is not positive, or too small for what must be in.
            ScopeViolation: The request or `previous` belongs to another project.
            Backpressure: Too many assemblies at once.
            ContractError: Anything else that is wrong with the request.

        Cost: the slowest fetcher, one allocation, two counts of the prompt.
        """
        request = read_request(locals())
        return self._assembled("assemble", request, previous, layers)

    @keywords_checked
    def inspect(
        self,
        query: str | AssembleRequest = "",
        *,
        document: str = "",
        cursor: int | None = None,
        additional_input: str = "",
        skill: str = "",
        project_id: str = "",
        model: str | None = None,
        provider: str | None = None,
        tokenizer_version: str | None = None,
        budget: int | None = None,
        reserve_output: int = 0,
        position_encoding: PositionEncoding = "code-point",
        previous: Pack | bytes | None = None,
        layers: Layers | None = None,
        debug_mode: bool = False,
        requested_by: str = "",
    ) -> InspectResult:
        """What `assemble` would send, layer by layer; never the prompt.

        Args, errors and cost are those of `assemble`; `debug_mode` and `requested_by` are echoed in `inspect_meta`.
        A request object may be an `InspectRequest`, which carries them.
        """
        request = read_request(locals())
        if isinstance(request, InspectRequest):
            debug_mode, requested_by = debug_mode or request.debug_mode, requested_by or request.requested_by
            request = request.assembly()
        pack = self._assembled("inspect", request, previous, layers)
        return inspection(pack, debug_mode=debug_mode, requested_by=requested_by)

    aassemble = awaitable(assemble)
    ainspect = awaitable(inspect)

    def _assembled(
        self, kind: str, request: AssembleRequest, previous: Pack | bytes | None, layers: Layers | None
    ) -> Pack:
        parts = self._parts
        task = parts.resolver.task(parts.project.view(), request, previous, layers)
        remember = kind == "assemble"
        return parts.flight.run(_key(kind, task), lambda: parts.assembler.assemble(task, remember=remember))

    def budget_profile(self) -> BudgetProfile:
        """How this project divides its prompts, with the version an update must name."""
        return self._parts.profiles.read()

    def update_budget_profile(self, profile: BudgetProfile, *, version: int) -> BudgetProfile:
        """Replace the profile, if it is still at `version`; kept in `.armarius/budget.json`.

        Raises:
            BudgetConflict: It has moved on (CONTEXT_BUDGET_CONFLICT), here or in another process.
            ConfigError: What is stored is no profile.
            StoreBusy, StoreFull: It cannot be written; what is stored is untouched.
        """
        return self._parts.profiles.update(profile, version=version)

    @keywords_checked
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
        view = self._parts.project.view()
        current = view.document(document).chapter if document else chapter
        return retrieve(view.corpus, query, limit=limit, chapter=current, sources=view.sources)

    def excerpt(self, hit: Hit) -> str:
        """The text behind a hit: its section, or the paragraphs its evidence points at; "" when the file is gone."""
        document = self._parts.project.view().documents.get(hit.path)
        return "" if document is None else excerpt(document, hit)

    @keywords_checked
    def search(
        self, text: str, *, limit: int = 10, kinds: Sequence[Kind] = (), chapters: Chapters = (None, None)
    ) -> Hits:
        """Paragraphs that hold the words of `text` as written, best first.

        Args:
            text: Anything; no query language. Quoted phrases stay whole.
            limit: At most so many.
            kinds: Only documents of these kinds; empty is all.
            chapters: Inclusive bounds on the chapter, None is open.

        Raises:
            ValueError: `limit` is below 1.
        """
        self.index.freshen()
        return self.index.search(text, limit=limit, kinds=kinds, chapters=chapters)

    @keywords_checked
    def similar(
        self, query: str, *, limit: int = 10, kinds: Sequence[Kind] = (), chapters: Chapters = (None, None)
    ) -> Hits:
        """The paragraphs nearest to `query` in meaning, best first; see `ProjectRecall.similar`."""
        return self.recall.similar(query, limit=limit, kinds=kinds, chapters=chapters)

    def reembed(self, embedder: Embedder | None = None, *, wait: bool = False) -> None:
        """Replace all vectors by those of `embedder`; see `ProjectRecall.reembed`."""
        self.recall.reembed(embedder, wait=wait)

    @keywords_checked
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
        """What calls, references, inherits, imports and overrides what around a symbol; see `CodeIndex.subgraph`."""
        return self.code.subgraph(
            symbol,
            depth=depth,
            direction=direction,
            kinds=kinds,
            max_nodes=max_nodes,
            max_edges=max_edges,
            external=external,
        )

    @keywords_checked
    def evidence(self, name: str, *, attribute: str | None = None, chapter: int | None = None) -> list[Statement]:
        """Everything the project says about an entity, or about one attribute of it; competing statements marked.

        Args:
            name: Name, alias or id of an entity, or any name that `detect` finds it by, such as a short one.
            attribute: 年龄, 住处, "eye colour", …; None takes what the settings say, and whatever is disputed.
            chapter: Later chapters are left out.

        Returns:
            Statements with their sources, settings first; `competes_with` names sources that say otherwise and
            `attributes` what about. No verdict is made.

        Raises:
            UnknownId: No entity goes by that name; names near ones.
        """
        view = self._parts.project.view()
        entity = view.entity(name)
        with view.corpus.tables() as tables:
            return said_of(tables, entity.id, attribute, chapter=chapter)

    def entities(self) -> tuple[Entity, ...]:
        """Every known entity, by whichever file."""
        return self._parts.project.view().codex.entities

    def documents(self) -> Documents:
        """Every document of the project, by path."""
        return Documents(self._parts.project.view().documents.values())

    def document(self, path: str) -> Document:
        """One document; raises UnknownDocument."""
        return self._parts.project.view().document(path)

    @property
    def matcher(self) -> EntityMatcher:
        """What finds names in every answer: the codex, with what the project's prose taught about its names."""
        return self._parts.project.matcher()

    def detect(self, text: str) -> Matches:
        """Which known entities `text` names: one match each, the earliest, by position; see `EntityMatcher.detect`."""
        return self.matcher.detect(text)

    def mentions(self, text: str) -> list[Mention]:
        """Every mention of a known entity in `text`; see `EntityMatcher.find_all`."""
        return self.matcher.find_all(text)

    def status(self) -> IndexStatus:
        """What the index is doing and what it holds; `EMBEDDING_UNAVAILABLE` when a model is asked for and fails."""
        status = self.index.status()
        recall = self._parts.recall
        trouble = self._parts.no_recall if recall is None else recall.trouble
        warnings = (EMBEDDING_UNAVAILABLE(why=trouble),) if trouble else ()
        return replace(status, warnings=(*status.warnings, *warnings))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a build in the background; False when it still runs after `timeout` seconds."""
        return self.index.wait(timeout)

    def cancel(self) -> None:
        """Stop a build after the transaction it is in; what is committed stays."""
        self.index.cancel()

    @contextmanager
    def watch(self) -> Iterator[Self]:
        """Follow changes inside a `with` block, for an engine opened with `watch=False`."""
        with self.index.watch():
            yield self

    def refresh(self) -> None:
        """Make the index equal to the folder now, and read the graph's entities again; requests do so by themselves.

        A graph without a `stamp` cannot say that it has changed: after writing to one, call this.
        """
        self.index.refresh()
        if self._parts.guard is not None:
            self._parts.guard.cast.forget()

    def close(self) -> None:
        """Stop watching and building, close the index; calling it again does nothing."""
        if self._parts.recall is not None:
            self._parts.recall.close()
        self.index.close()

    def __repr__(self) -> str:
        return brief(self.project_id, self.status)

    def _summary(self) -> list[tuple[str, str]]:
        recall = self._parts.recall
        model = str(recall.embedder.fingerprint) if recall is not None else self._parts.no_recall or "no embedder"
        return rows(self.project_id, self.status, model, type(self.graph).__name__)

    def __rich__(self) -> "Table":
        """What the engine holds, as a terminal with rich shows it."""
        return rich_table(("", ""), self._summary())

    def _repr_html_(self) -> str:
        """What the engine holds, as a notebook shows it."""
        return html_table(("", ""), self._summary())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _key(kind: str, task: Task) -> Hashable:
    """Two tasks with one key have the same answer."""
    return kind, task.request, task.fetch, tuple(sorted(task.layers.items())), id(task.previous), task.profile.version
