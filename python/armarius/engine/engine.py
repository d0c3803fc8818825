"""`ContextEngine`: the parts of an open project, and the verbs that need several of them; `armarius.open`."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import armarius.doors as doors
from armarius.arguments import OPEN, Chapters, Kind
from armarius.codex import AuthoredCodex, Constraints, Memories, Pins
from armarius.codex.record_file import FOLDER
from armarius.deadline import awaitable, verb_of
from armarius.documents.document import refusal_of
from armarius.engine import build
from armarius.engine.build import NO_EMBEDDER, EngineParts
from armarius.engine.maps import Maps, Understanding
from armarius.engine.project import counter_for
from armarius.engine.prompts import Prompts
from armarius.engine.questions import Questions
from armarius.errors import (
    ArmariusError,
    ContextWarning,
    ContractError,
    EmbeddingError,
    ProjectError,
    StoreError,
    UnknownDocument,
)
from armarius.headings import html_table, rich_table
from armarius.index.freshness import IndexStatus, Progress, progress_bar
from armarius.index.project_index import ProjectIndex
from armarius.io import MAX_BYTES, folder_lock, make_folder, read_file, scratch_folder
from armarius.io.processes import PerProcess
from armarius.io.write import is_project_path, write_files
from armarius.prompt.counter import Counter
from armarius.prompt.request import CounterFor
from armarius.text.matcher import EntityMatcher
from armarius.trust.settings import Config
from armarius.types import EDGE_KINDS, Direction, Fetcher, Hits
from armarius.validation import encoded, flag
from armarius.warnings import EMBEDDING_UNAVAILABLE

if TYPE_CHECKING:
    from rich.table import Table

    from armarius.engine.summaries import ProjectSummaries
    from armarius.graph.protocol import GraphStore
    from armarius.search.models import Reranker, Reranking

_CLOSED = "this engine is closed; open the project again"


class _NoRecall(EmbeddingError, AttributeError):
    """An engine without an embedder has no attribute `recall`."""


class _NoCode(ProjectError, AttributeError):
    """An engine without a folder has no attribute `code`."""


def _active(  # noqa: D417 - its first argument is the part that is asked
    search: "doors.BookSearch",
    *,
    messages: Sequence[object] = (),
    text: str = "",
    story: str | tuple[str, Sequence[str]] = "",
    books: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    turn: int | None = None,
    rolls: Sequence[float] = (),
    state: "doors.State | None" = None,
    character: str = "",
    user: str = "",
    trigger: str = "normal",
    tags: Sequence[str] = (),
    sources: Mapping[str, str] | None = None,
    greeting: int | None = None,
    model: str | None = None,
    budget: int | None = None,
) -> "doors.Activation":
    """The active lorebook entries, in order, with book, position and reason; and the skipped ones.

    Args:
        messages: Messages of a chat, oldest first: `{"name", "text"}`, a text, or any form that `assemble` takes.
        text: Instead, the text of a story.
        story: Instead, opening and actions; or the id of a book with a story in its file.
        books: Book ids; None is all that are not switched off.
        settings: Settings of the emulated programs, by their own names, such as `world_info_depth`.
        turn: Number of the turn, part of the random seed; None is the number of messages.
        rolls: Random numbers between 0 and 1, used in order; further ones are derived from book, entry and turn.
        state: State of the previous turn; None replays it from the messages.
        character: `{{char}}`; default is the character of the book's card, else of the first card.
        user: `{{user}}`; default is `user` in `[books]`, and without one the macro stays as written. A message of
            this name ends a turn when state is replayed.
        trigger: Kind of generation: `normal`, `continue`, `swipe`, ….
        tags: Tags of the character.
        sources: Other texts that entries may scan: `persona`, `character`, `scenario`, `memory`, ….
        greeting: Number of the opening message.
        model: Selects the token counter; None estimates.
        budget: Tokens for entries; None uses each profile's setting.

    Raises:
        UnknownId: No such book.
        ContractError: An argument has the wrong type, or no profile here knows a setting.

    Cost: one pass over the scanned text, independent of the size of the books.
    """
    return search.active(
        messages=messages, text=text, story=story, books=books, settings=settings, turn=turn, rolls=rolls, state=state,
        character=character, user=user, trigger=trigger, tags=tags, sources=sources, greeting=greeting, model=model,
        budget=budget,
    )  # fmt: skip


def _similar(
    recall: "doors.ProjectRecall",
    query: str,
    *,
    limit: int = 10,
    kinds: Kind | Sequence[Kind] = (),
    chapters: int | Chapters | None = OPEN,
    timeout_s: float | None = None,
) -> Hits:
    """The paragraphs nearest to `query` in meaning (with the built-in embedder: in wording), best first.

    Arguments, answer and errors are those of `armarius.vectors.ProjectRecall.similar`.
    """
    return recall.similar(query, limit=limit, kinds=kinds, chapters=chapters, timeout_s=timeout_s)


def _reembed(recall: "doors.ProjectRecall", embedder: "doors.AnyEmbedder | None" = None, *, wait: bool = False) -> None:
    """Replace all vectors by those of `embedder`, by default the current one: see `armarius.vectors.ProjectRecall`."""
    recall.reembed(embedder, wait=wait)


def _subgraph(
    code: "doors.CodeIndex",
    symbol: str,
    *,
    depth: int | None = None,
    direction: Direction = "both",
    kinds: Sequence[str] = EDGE_KINDS,
    max_nodes: int | None = None,
    max_edges: int | None = None,
    external: bool = False,
) -> "doors.Subgraph | doors.TextMatches":
    """What calls, references, inherits, imports and overrides what around `symbol`.

    Arguments, answer and errors are those of `armarius.code.CodeIndex.subgraph`.
    """
    return code.subgraph(
        symbol, depth=depth, direction=direction, kinds=kinds, max_nodes=max_nodes, max_edges=max_edges,
        external=external,
    )  # fmt: skip


class ContextEngine:
    """Assembles prompts for one project, and answers queries about it. Thread-safe.

    Created by `armarius.open`, or by this constructor with the host's own parts.

    Args are those of `armarius.open`, and:
        root: A folder; or an open index of another source (`ProjectIndex.over`), which the engine closes. The
            arguments about folder and index are then ignored.
        fetchers: Replace the project's own fetchers.
        more_fetchers: Run in addition to the project's own.
        counters: Model name and tokenizer version to a counter.
        fallback: The counter used when the model's fails (CONTEXT_BUDGET_FALLBACK); None is the estimate.

    Attributes:
        in_memory: Whether the texts are gone when it is closed.
    """

    in_memory = False
    _restored: tuple[ContextWarning, ...] = ()  # of its snapshot

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
        embedder: "doors.AnyEmbedder | None" = None,
        graph: "GraphStore | None" = None,
        rerank: "Reranker | Reranking | None" = None,
        trusted: bool | None = None,
        reword: "doors.Model | doors.Reworder | None" = None,
        with_: Sequence[str | PathLike[str]] = (),
    ) -> None:
        watch, wait = flag("watch", watch), flag("wait", wait)
        trusted = None if trusted is None else flag("trusted", trusted)
        self._closed = ""  # the project id, once it is
        self._scratch = ExitStack()  # of a project in memory
        self._build = partial(
            EngineParts, root, fetchers=fetchers, more_fetchers=more_fetchers, counters=counters, fallback=fallback,
            project_id=project_id, watch=watch, index_dir=index_dir, embedder=embedder, graph=graph, rerank=rerank,
            trusted=trusted, reword=reword, with_=with_,
        )  # fmt: skip
        self._made = PerProcess(self._build(wait=wait, progress=progress))

    @property
    def _parts(self) -> EngineParts:
        """What it is made of; in a forked child they are made anew, over the same folder."""
        if self._closed:
            raise StoreError(_CLOSED)
        return self._made.here(lambda: self._build(wait=True, progress=None))

    @property
    def root(self) -> Path | None:
        """The project folder; None where the texts are in no folder."""
        return self._parts.root

    @property
    def config(self) -> Config:
        """`armarius.toml`, read when the engine was opened."""
        return self._parts.config

    @property
    def index(self) -> ProjectIndex:
        """Paragraphs, mentions and full text of the folder's files, kept equal to it."""
        return self._parts.index

    @property
    def codex(self) -> AuthoredCodex:
        """Entities and relations: list all, create, update, delete; kept in `.armarius/codex.toml`."""
        return self._parts.project.codex

    @property
    def memories(self) -> Memories:
        """What has been learnt: list, create, update, delete; kept in `.armarius/memories.toml`."""
        return self._parts.project.memories

    @property
    def constraints(self) -> Constraints:
        """What every prompt states: list, create, update, delete; kept in `.armarius/constraints.toml`."""
        return self._parts.project.constraints

    @property
    def pins(self) -> Pins:
        """What is always or never in prompts: list, add, remove; kept in `.armarius/pins.toml`."""
        return self._parts.project.pins

    @property
    def summaries(self) -> "ProjectSummaries":
        """What sums chapters up: list, get, set, delete, stale, refresh; kept in `.armarius/summaries.toml`."""
        from armarius.engine.summaries import ProjectSummaries

        return ProjectSummaries(self._parts.project)

    @property
    def books(self) -> "doors.Books":
        """Lorebooks by id: entries, export, profiles, edits; kept under `.armarius/books/`."""
        return self._parts.project.doors.lore.books

    @property
    def importing(self) -> "doors.Importing":
        """`preview` and `add` of lorebooks, cards, modules, vaults and exports."""
        return doors.Importing(self.books, self.codex.list)

    @property
    def graph(self) -> "GraphStore":
        """The graph that was given or configured; else the project's own: entities and relations of its files.

        `armarius.open(other).graph.snapshot().load_into(engine.graph)` copies a project into it.
        """
        return self._parts.graph

    @property
    def code(self) -> "doors.CodeIndex":
        """The code graph of a project with source files.

        Raises:
            ProjectError: The project is no folder. It is an AttributeError too: `hasattr(engine, "code")` is False.
        """
        code = self._parts.project.doors.code
        if code is None:
            raise _NoCode("the code graph needs a project folder")
        return code

    @property
    def recall(self) -> "doors.ProjectRecall":
        """Recall by meaning: progress, focus, cancel, status.

        Raises:
            EmbeddingError: The engine was opened without an embedder, or the configured one is missing or broken
                (EMBEDDING_UNAVAILABLE). It is an AttributeError too: `hasattr(engine, "recall")` is False.
        """
        if self._parts.recall is None:
            raise _NoRecall(self._parts.no_recall or NO_EMBEDDER)
        return self._parts.recall

    @property
    def project_id(self) -> str:
        """The id this project goes by; the folder's name unless one is configured."""
        return self._closed or self._parts.resolver.project_id

    def check_project(self, project_id: str) -> None:
        """Refuse what is meant for another project, as `assemble` does; "" is this one.

        Raises:
            ScopeViolation: This engine was opened for another project id.
        """
        self._parts.resolver.scope(project_id)

    @property
    def matcher(self) -> EntityMatcher:
        """What finds names in every answer: the codex, with what the project's prose taught about its names."""
        return self._parts.project.matcher()

    assemble = verb_of(lambda self: self._parts.prompts, Prompts.assemble)
    """A prompt within its budget, and the account of it."""
    inspect = verb_of(lambda self: self._parts.prompts, Prompts.inspect)
    """What `assemble` would send, layer by layer; never the prompt."""
    aassemble = awaitable(assemble)
    ainspect = awaitable(inspect)
    locate = verb_of(lambda self: self._parts.prompts, Prompts.locate)
    budget_profile = verb_of(lambda self: self._parts.prompts, Prompts.budget_profile)
    update_budget_profile = verb_of(lambda self: self._parts.prompts, Prompts.update_budget_profile)

    retrieve = verb_of(lambda self: self._parts.questions, Questions.retrieve)
    """The documents and sections that answer a question, best first, each with every reason for it."""
    aretrieve = awaitable(retrieve)
    search = verb_of(lambda self: self._parts.questions, Questions.search)
    """Paragraphs that hold the words of a text as written, best first."""
    asearch = awaitable(search)
    find = verb_of(lambda self: self._parts.questions, Questions.find)
    """Where words stand together or any of them do, or what answers a question: some sentences each, best first."""
    afind = awaitable(find)
    excerpt = verb_of(lambda self: self._parts.questions, Questions.excerpt)
    rewording_request = verb_of(lambda self: self._parts.questions, Questions.rewording_request)
    """What a model of `reword=` would be asked about a question."""
    evidence = verb_of(lambda self: self._parts.questions, Questions.evidence)
    """Everything the project says about an entity, or about one attribute of it; competing statements marked."""
    aevidence = awaitable(evidence)
    propose = verb_of(lambda self: self._parts.questions, Questions.propose)
    """People, places and things that the chapters name and no profile describes; nothing is made of them."""
    entities = verb_of(lambda self: self._parts.questions, Questions.entities)
    entity = verb_of(lambda self: self._parts.questions, Questions.entity)
    card = verb_of(lambda self: self._parts.questions, Questions.card)
    """The card of an entity as a prompt shows it."""
    documents = verb_of(lambda self: self._parts.questions, Questions.documents)
    document = verb_of(lambda self: self._parts.questions, Questions.document)

    map = verb_of(lambda self: self._parts.maps, Maps.map)
    """What every file is taken for, doubts first."""
    amap = awaitable(map)  # noqa: A003 - the verb
    set_kind = verb_of(lambda self: self._parts.maps, Maps.set_kind)
    """Say what files are: one line of armarius.toml."""
    understand = verb_of(lambda self: self._parts.understanding, Understanding.understand)
    """Ask a host's model once what the project, its files and its people are; what it proposes."""
    aunderstand = awaitable(understand)
    understanding_request = verb_of(lambda self: self._parts.understanding, Understanding.understanding_request)
    """What `understand` would send, and what reads a reply."""
    model_log = verb_of(lambda self: self._parts.understanding, Understanding.model_log)
    """What was asked of models of the host's: tokens, and what came of it."""

    active = verb_of(lambda self: self._parts.project.doors.lore.asked, _active, "active")
    """The lorebook entries that are active for messages or a text, in order; and those that were close."""
    similar = verb_of(lambda self: self.recall, _similar, "similar")
    """The paragraphs nearest to a question in meaning, best first."""
    asimilar = awaitable(similar)
    reembed = verb_of(lambda self: self.recall, _reembed, "reembed")
    subgraph = verb_of(lambda self: self.code, _subgraph, "subgraph")
    """What calls, references, inherits, imports and overrides what around a symbol."""
    detect = verb_of(lambda self: self.matcher, EntityMatcher.detect)
    """Which known entities a text names: one match each, the earliest, by position."""
    mentions = verb_of(lambda self: self.matcher, EntityMatcher.find_all, "mentions")
    """Every mention of a known entity in a text."""
    wait = verb_of(lambda self: self.index, ProjectIndex.wait)
    cancel = verb_of(lambda self: self.index, ProjectIndex.cancel)

    def status(self) -> IndexStatus:
        """What the index is doing and what it holds; `EMBEDDING_UNAVAILABLE` when a model is asked for and fails."""
        status = self.index.status()
        recall = self._parts.recall
        trouble = self._parts.no_recall if recall is None else recall.trouble
        warnings = (*self._restored, *([EMBEDDING_UNAVAILABLE(why=trouble)] if trouble else ()))
        return replace(status, warnings=(*status.warnings, *warnings))

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

    def write(
        self, files: Mapping[str, str | bytes] | None = None, *, remove: Iterable[str] = (), expect: int | None = None
    ) -> int:
        """Write and remove texts of the project, all of them or none; the next answer has them.

        Args:
            files: By path: chapters, outlines, settings, `codex.json`, `armarius.toml`, … Text is kept as UTF-8.
            remove: Paths to forget; unknown ones are ignored.
            expect: On a server: the version that these were made from.

        Returns:
            The version of the project that has them; 0 in a folder, which has none.

        Raises:
            ContractError: A path that leads out of the project, a text with half a character, or `expect` in a folder.
            ProjectError: The project is no folder: its texts are written where they are kept.
            StoreFull: A file cannot be written; nothing is.

        Cost: in a folder two fsyncs for each text that differs, and reading those again; a few µs for the others.
        """
        root = self.root
        if root is None:
            raise ProjectError("the texts of this project are in no folder; write them where they are kept")
        if expect is not None:
            raise ContractError("expect: a folder has no versions")
        contents = {path: raw if isinstance(raw, bytes) else encoded(path, raw) for path, raw in (files or {}).items()}
        gone = [remove] if isinstance(remove, str) else list(remove)
        with folder_lock(root / FOLDER, below=root):
            write_files(root, contents, gone)
        self.index.refresh([*contents, *gone])
        return 0

    def move(self, document: str, to: str) -> int:
        """Give a document another path, with its summary and its pins; what `write` says of paths and versions holds.

        Raises:
            UnknownDocument: There is no such document.
            ContractError: There is a file at the new path, or it would be read as no document.
        """
        root = self.root
        seen = self.index.moment()[1] if root is None else None
        text = self.document(document).text
        if not is_project_path(to) or refusal_of(to, 0, self.config) != "":
            raise ContractError(f"to: {to!r:.200} would be read as no document")
        taken = f"to: there is a file at {to!r}"
        if any(entry.path == to for entry in self.documents()):
            raise ContractError(taken)
        if root is None:
            version = self.write({to: text}, remove=[document], expect=seen)
        else:
            version = 0
            with folder_lock(root / FOLDER, below=root):  # another one may move or write it, or to the same path
                if os.path.lexists(root / to):
                    raise ContractError(taken)
                try:
                    data = read_file(root / document, limit=MAX_BYTES, below=root)
                except FileNotFoundError:
                    raise UnknownDocument(f"no such document: {document!r}") from None
                write_files(root, {to: data}, [document])
        self.index.follow_moves({document: to})  # a refresh between the two writes has seen a copy
        if root is not None:  # now: if this process ends before, the next refresh sees the move
            self.index.refresh([to, document])
        return version

    def snapshot(self) -> bytes:
        """Texts, records and index of a project in memory, for `open(None, snapshot=…)` at the next start.

        It is derived and never the only copy: another version of armarius takes its texts and builds the index anew.

        Raises:
            ContractError: The project is no project in memory; the index of a folder is kept.
            BookError: It is too large to be restored: 20,000 files, or 256 MiB with the index.

        Cost: a copy of all of it, packed: 2 to 3 times the packed texts, 0.1 s for a novel.
        """
        if not self.in_memory:
            raise ContractError("snapshot: only a project in memory has one; the index of a folder is kept")
        return build.snapshot(self._parts)

    def close(self) -> None:
        """Stop watching and building, close the index. Again it does nothing; any other call raises StoreError."""
        parts = self._made.current()
        if parts is None:  # of a parent, which closes them
            return
        self._closed = parts.resolver.project_id
        if parts.recall is not None:
            parts.recall.close()
        parts.index.close()
        self._scratch.close()

    def __repr__(self) -> str:
        try:
            now = self.status()
        except ArmariusError as error:  # it is closed, or cannot say more
            return f"ContextEngine({self.project_id!r}: {error})"
        warned = f", {len(now.warnings)} warning{'s' * (len(now.warnings) != 1)}" if now.warnings else ""
        counted = f"{now.documents:,} documents, {now.entities:,} entities, {now.state}{warned}"
        return f"ContextEngine({self.project_id!r}: {counted})"

    def _summary(self) -> list[tuple[str, str]]:
        try:
            now, recall = self.status(), self._parts.recall
            model = recall.model if recall is not None else self._parts.no_recall or "no embedder"
        except ArmariusError as error:  # it is closed, or cannot say more
            return [("project", self.project_id), ("index", str(error))]
        return [
            ("project", self.project_id),
            ("documents", f"{now.documents:,} ({now.paragraphs:,} paragraphs)"),
            ("entities", f"{now.entities:,} ({now.mentions:,} mentions)"),
            ("index", f"{now.state}, {now.bytes / 1e6:.1f} MB{', watching' * now.watching}"),
            ("recall", model),
            ("graph", type(self.graph).__name__),
            *(("warning", str(warning)) for warning in now.warnings),
        ]

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


def open(  # noqa: A001 - armarius.open
    path: str | PathLike[str] | None,
    *,
    snapshot: bytes | None = None,
    project_id: str | None = None,
    watch: bool = True,
    wait: bool = True,
    index_dir: str | PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    embedder: "doors.AnyEmbedder | None" = None,
    graph: "GraphStore | None" = None,
    rerank: "Reranker | Reranking | None" = None,
    trusted: bool | None = None,
    reword: "doors.Model | doors.Reworder | None" = None,
    with_: Sequence[str | PathLike[str]] = (),
) -> ContextEngine:
    """Open the project at `path`; needs no configuration. Builds or repairs its index.

    Args:
        path: A folder of text files. None is a project in memory: `write` gives it its texts, and all of it is gone
            when it is closed (it lies in a temporary folder that is this user's alone).
        snapshot: What `snapshot()` of a project in memory gave: its texts, records and index are there at once. One
            that is damaged or of another version is left out, as far as it is, with `SNAPSHOT_IGNORED` in `status()`.
        project_id: Requests that name another project are refused.
        watch: Whether changes are followed as they happen; without, every request looks first.
        wait: Whether to return when the index equals the folder, or at once and build in the background:
            answers then come from what is there, with `INDEX_STALE`.
        index_dir: Where the index lives, relative to the project; the user's cache directory when it is neither given
            nor configured.
        progress: Called after every committed batch of a build, from the thread that builds; when not given
            and `wait`, a bar is drawn where standard error is a terminal.
        embedder: Makes vectors for recall by meaning, in the background; see `armarius.embedders`. Also an object with
            one `embed`, or a function from texts to vectors. None takes the model that `armarius.toml` names
            ([embedding] model), else the one of the user's configuration, if any.
        graph: A graph store. Its entities are matched in texts and its relations are followed, in addition to those of
            the files. If it fails or is slow, the result has only those of the files, with `KG_UNAVAILABLE`. See
            `armarius.graph`.
        rerank: A function from a question and texts to scores: the 50 best paragraphs are put in its order before the
            prompt is filled. `armarius.search.Reranking` sets how many and how long is waited (2 s); late or broken
            leaves the order without it, with `RERANK_UNAVAILABLE`.
        trusted: Whether the project's `armarius.toml` speaks for the user: may name what lies outside, and have
            programs run over the folder. None asks the user's configuration (`armarius.trust`).
        reword: Asked for other wordings of every question that comes without `also`: a function from messages to a
            reply, also a coroutine function, a chat model, or an `armarius.rewording.Reworder`, which says how long
            and how many. Asked once for each question; late or broken, it is `REWORDING_UNAVAILABLE`.
        with_: Other folders of a series, such as a bible and the books before this one: read, never written, their
            documents and entities in one prompt with the project's own. Ids and paths of each begin with the name of
            its folder (`book1/chapters/ch001.md`); chapter numbers mean the project's chapters alone, and a folder
            with chapters is wholly past. If folders disagree about an entity, the project wins, then earlier folders.
            A missing folder gives the warning `SERIES_UNAVAILABLE`.

    Raises:
        ContractError: `snapshot` is no bytes, or given for a folder; `graph` is no GraphStore, `embedder` none,
            `rerank` cannot be called, `reword` is no model, or `with_` no list of folders.
        ProjectError: `path` is no folder, or `index_dir` no path; or a folder of `with_` lies in another one.
        ConfigError: Its `armarius.toml`, or the user's own configuration, is wrong.
        StoreError: The index can be neither used nor rebuilt.
    """
    in_memory, restored = path is None, tuple[ContextWarning, ...]()
    if snapshot is not None and not (in_memory and isinstance(snapshot, bytes)):
        raise ContractError("snapshot: expected the bytes of one, for a project in memory, which `path` None is")
    with ExitStack() as stack, progress_bar() if progress is None and wait else nullcontext(progress) as report:
        if path is None:
            index_dir = stack.enter_context(scratch_folder())
            name = project_id or ""
            path = index_dir / (name if "/" not in name and is_project_path(name) else "memory")
            make_folder(path)
            restored = () if snapshot is None else build.restore(snapshot, path, index_dir)
        engine = ContextEngine(
            path, project_id=project_id, watch=watch, wait=wait, index_dir=index_dir, progress=report,
            embedder=embedder, graph=graph, rerank=rerank, trusted=trusted, reword=reword, with_=with_,
        )  # fmt: skip
        engine._scratch, engine.in_memory, engine._restored = stack.pop_all(), in_memory, restored
        return engine
