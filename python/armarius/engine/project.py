"""`Project` makes immutable views of a project: documents, codex, corpus and fetchers, all of one moment.

`Project.view()` reads the present index and graph. Consecutive views share unchanged documents, corpus tables and
fetchers.
"""

import logging
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from operator import attrgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from armarius.arguments import Hidden, Kind
from armarius.codex import AuthoredCodex, Codex, Constraints, Memories, Pins, Summaries
from armarius.codex.codex_json import IMPORTERS
from armarius.codex.load import AUTHORED_FILE
from armarius.codex.model import Entity, NameIndex
from armarius.corpus.part import KIND, StoredParts
from armarius.documents.classify import unread_files
from armarius.documents.document import Document, Skipped, language_of
from armarius.documents.kinds import CARD_KINDS, STORY_KINDS, glob
from armarius.documents.project_map import ProjectMap
from armarius.documents.units import chapter_number
from armarius.errors import (
    ContextWarning,
    DocumentSkipped,
    StoreError,
    StoreUnavailable,
    UnknownDocument,
    UnknownId,
)
from armarius.headings import DEFAULT_LANGUAGE, Language
from armarius.index.freshness import Snapshot
from armarius.index.project_index import ProjectIndex
from armarius.index.source import DocumentSource, EditorTexts
from armarius.prompt.fetchers.detected import RetrievedFetcher
from armarius.prompt.fetchers.doors import ProjectDoors
from armarius.prompt.fetchers.entities import About, CodexSource, Described, file_warnings, relation_source
from armarius.prompt.fetchers.layers import ImmediateFetcher, ProjectStyle, RulesFetcher, SettingsFetcher
from armarius.prompt.fetchers.passages import PassageFetcher
from armarius.prompt.fetchers.pins import PinFetcher, same_target, wishes
from armarius.prompt.fetchers.story import StoryFetcher
from armarius.requests import AssembleRequest
from armarius.search.retrieve import Sources
from armarius.search.scope import FileScope, ProjectCorpus
from armarius.search.signals import SummaryIndex
from armarius.store.protocol import Changed, DerivedRow, Store
from armarius.text.chat import ModelLog
from armarius.text.matcher import EntityMatcher
from armarius.text.tokens import TokenCounter
from armarius.trust.settings import Config, Permissions
from armarius.types import Fetcher, Wish
from armarius.validation import near, near_paths, shown, suggestion
from armarius.warnings import (
    DOCUMENT_SKIPPED,
    INDEX_AWAY,
    INDEX_BUILDING,
    PROJECT_EMPTY,
    PROJECT_GONE,
    SOURCE_EMPTY,
)

if TYPE_CHECKING:
    from armarius.codex.model import GraphEntities
    from armarius.graph.entity_cache import GraphGuard
    from armarius.index.graph import FolderPages
    from armarius.search.models import Reranking, VectorGuard

logger = logging.getLogger("armarius")

_GRAPH = "codex"
_STALE_SECONDS = 300.0
PATIENCE = 1.0
"""Seconds that an answer without `warnings` waits for a comparison or a refresh under way."""


def counter_for(model: str, tokenizer_version: str | None) -> TokenCounter:
    """The counter of a model; a tokenizer version that names an embedded encoding overrides it."""
    if tokenizer_version in TokenCounter.encodings():
        return TokenCounter.for_encoding(tokenizer_version)
    return TokenCounter.for_model(model)


@dataclass(frozen=True, slots=True)
class ProjectView:
    """One state of a project. Immutable: a later state is another view.

    Attributes:
        documents: By path.
        skipped: Files that could not be read as documents.
        map: What the files are: kinds, the order of the story, editions.
        codex: Entities and relations, of files and graph.
        who: Resolves an id, name or alias to an entity.
        matcher: Matches the names of those entities in texts.
        corpus: The same documents and codex for search: `retrieve(view.corpus, query, sources=view.sources)`.
        files: Which documents are candidates for a request: `retrieve(…, outside=view.files.outside(query))`.
        sources: Further sources of retrieval: vectors and graph.
        fetchers: Sources of candidates for prompts.
        warnings: Warnings about the project as a whole.
        stamps: Path to stamp of every file; a stamp changes with its file.
        lives: Parses unsaved texts of an editor.
        pins: Permanent pins and mutes.
        described: Cache of the entities that each document describes.
        language: Language of the texts.
        complete: All texts have been read; before that, an unknown name may be described in an unread text.
    """

    source: DocumentSource
    config: Config
    documents: Mapping[str, Document]
    skipped: tuple[Skipped, ...]
    map: ProjectMap
    codex: Codex
    who: NameIndex
    matcher: EntityMatcher
    corpus: ProjectCorpus
    files: FileScope
    sources: Sources
    fetchers: tuple[Fetcher, ...]
    warnings: tuple[ContextWarning, ...]
    stamps: Mapping[str, str]
    lives: EditorTexts
    pins: Pins
    described: Described
    language: Language
    complete: bool

    @property
    def stale(self) -> tuple[ContextWarning, ...]:
        """Those of `warnings` that say that documents may be missing or old (`INDEX_STALE`)."""
        return tuple(warning for warning in self.warnings if warning.code == INDEX_BUILDING.code)

    def resolve_pins(
        self, request: AssembleRequest, live: Document | None, /
    ) -> tuple[tuple[Wish, ...], Hidden, Sequence[ContextWarning]]:
        """The pins and mutes of a request, the texts hidden by mutes, and warnings about permanent pins.

        Args:
            request: Entities at `manual_only` are included if its query names them.
            live: The open document with unsaved changes.

        Raises:
            UnknownId: The request names an unknown target.
            ContractError: The request pins and mutes the same target.
        """
        targets, hidden, unknown = wishes(
            self.codex,
            self.who,
            self.documents,
            request.include,
            request.exclude,
            self.pins.of(request.document),
            named=self.named_in(request.query),
            described=cache(lambda: self.described_entities(live)),
        )
        return targets, hidden, [*file_warnings(self.pins), *(unknown if self.complete else ())]

    def named_in(self, query: str) -> Collection[str]:
        """Ids of entities at `manual_only` that a query names. Cost: one match of the query, if there are any."""
        waiting = {entity.id for entity in self.codex.entities if entity.level == "manual_only"}
        if not waiting or not query.strip():
            return ()
        readable = query.encode("utf-8", "replace").decode()  # no name holds a lone surrogate
        return waiting.intersection(map(attrgetter("entity_id"), self.matcher.find_in_question(readable)))

    def skipped_in(self, query: str) -> tuple[ContextWarning, ...]:
        """Warnings about the files that a query names, with their ending, and that could not be read."""
        words = query.casefold()
        names = ((PurePosixPath(file.path.casefold()), file) for file in self.skipped)
        return tuple(_warn_skip(file) for path, file in names if path.suffix and path.name in words)

    def described_entities(self, live: Document | None = None) -> Mapping[str, Sequence[About]]:
        """The sections of settings, outlines and notes about a single entity, by path; `live` replaces its saved text.

        Cost: matches each document the first time; afterwards linear in the number of documents.
        """
        documents = self.documents if live is None else {**self.documents, live.path: live}
        cast = self.codex.entities, self.matcher
        cards = {path: document for path, document in documents.items() if document.kind in CARD_KINDS}
        return {path: self.described.of(document, *cast, self.documents.get(path)) for path, document in cards.items()}

    def named(self, name: str, /) -> Collection[str]:
        """Ids of candidates (cards, relations) of the entities with that id, name or alias."""
        entities = self.codex.entities
        bearers = {row.id for row in entities if name == row.id} or {row.id for row in entities if name == row.name}
        bearers = bearers or {row.id for row in entities if name in row.aliases}
        tied = [edge for edge in self.codex.relations if not bearers.isdisjoint((edge.source, edge.target))]
        return {f"entity:{id_}" for id_ in bearers} | {relation_source(edge) for edge in tied}

    def entities(self) -> Mapping[str, Entity]:
        """Every entity by its id. Cost: built at each call."""
        return {entity.id: entity for entity in self.codex.entities}

    def unsaved(self, document_id: str, text: str, /) -> tuple[Document, bool]:
        """The document with an editor's text, and whether it differs from the saved one.

        Raises:
            UnknownDocument: The path leads out of the project.
        """
        document = self.documents.get(document_id)
        if document is not None and document.text == text:
            return document, False
        return self.lives.read(document_id, text), True

    def document(self, document_id: str, /) -> Document:
        """One document as it is in the source now, which may be newer than the index.

        Raises:
            UnknownDocument: There is no document of that path; `DocumentSkipped` if the file could not be read.
        """
        document = self.documents.get(document_id)
        if document is None:
            try:
                return self.source.document(document_id)
            except DocumentSkipped:
                raise
            except UnknownDocument as error:
                number = chapter_number(PurePosixPath(document_id).stem)
                named = [path for path, entry in self.documents.items() if number and entry.chapter == number]
                close = tuple(dict.fromkeys((*named, *near_paths(document_id, self.documents))))[:3]
                raise UnknownDocument(f"{error}{suggestion(close)}", close) from None
        return self.source.document(document_id, document)

    def entity(self, name: str, /) -> Entity:
        """The entity with that id, name, alias, or other name that matches only it, such as a short one.

        Raises:
            UnknownId: No entity has that name (the error names similar ones), or several have (it names their ids).
        """
        entities = self.codex.entities
        entity = self.who.one(name)
        if entity is None:
            whole = [mention.entity_id for mention in self.matcher.find_all(name) if mention.term == name.strip()]
            entity = next((row for row in entities if row.id in whole), None)
        if entity is None:
            close = near(name, [called for row in entities for called in (row.name, *row.aliases, row.id)])
            raise UnknownId(f"no entity is called {shown(name)}{suggestion(close)}", close)
        return entity


_SHOWN = ("always", "when_detected")


def entities_for_models(entities: Iterable[Entity], config: Config) -> list[Entity]:
    """The entities that a request to a language model may name.

    Those that prompts show without being asked, and that no file of `[model] never` describes.
    """
    closed = [glob(pattern) for pattern in config.never]
    return [
        entity
        for entity in entities
        if entity.level in _SHOWN and not any(glob.matches(origin.path) for origin in entity.origins for glob in closed)
    ]


def _codex_of_files(index: ProjectIndex) -> Codex:
    index.freshen()
    return index.snapshot.codex


def _kept_rows(index: ProjectIndex, paths: Sequence[str] | None) -> Mapping[str, DerivedRow]:
    """The rows for retrieval from the index; empty if the store fails."""
    try:
        return index.ask(lambda store: store.learnt(KIND, paths))
    except StoreError as error:
        logger.warning("%s; the texts are worked out again", error)
        return {}


def _warn_skip(item: Skipped) -> ContextWarning:
    return DOCUMENT_SKIPPED(path=item.path, reason=item.reason)


def _pages(index: ProjectIndex, config: Config) -> "FolderPages":
    from armarius.index.graph import FolderPages  # for edits alone

    return FolderPages(index, config)


class Project:
    """Makes views of the present state of a project.

    Nothing that it owns refers back to it, so that an engine that a shelf lets go is freed at once.

    Args:
        index: An open index; the caller closes it.
        config: The project's configuration.
        fetchers: Replace the project's own fetchers.
        more: Run in addition to them.
        vectors: Vector search, if there is an embedder.
        reranking: Reranks the candidate paragraphs, if there is a reranker.
        graph: Adds its entities and relations to those of the files.
        permissions: What the project may set.

    Attributes:
        stale_s: How long the last view is used while the server of the project is unreachable, in seconds.

    Cost: `view` compares the folder with the index (one stat per file), and reads the changes since the last view.
    """

    def __init__(
        self,
        index: ProjectIndex,
        config: Config,
        *,
        fetchers: Sequence[Fetcher] | None = None,
        more: Sequence[Fetcher] = (),
        vectors: "VectorGuard | None" = None,
        graph: "GraphGuard | None" = None,
        reranking: "Reranking | None" = None,
        permissions: Permissions | None = None,
    ) -> None:
        self.index = index
        self._config = config
        self._given = None if fetchers is None else tuple(fetchers)
        self._more = tuple(more)
        self._lock = threading.Lock()
        self._graph = graph
        self._reranking = reranking
        self._whole: tuple[Snapshot, GraphEntities, Snapshot] | None = None
        pages = partial(_pages, index, config)
        self.codex = AuthoredCodex(index.authored, whole=partial(_codex_of_files, index), pages=pages)
        self.memories = Memories(index.authored)
        self.constraints = Constraints(index.authored)
        self._pins = Pins(index.authored)
        self.summaries = Summaries(index.authored)
        self.model_log = ModelLog()
        self.doors = ProjectDoors(index.root, index.books, config, permissions)
        self._sources = Sources(index.root, vectors, graph, SummaryIndex(self.summaries))
        self._lives = EditorTexts(config, index.placed)
        self._described = Described()
        self._language: Language | None = None
        self._own_fetchers: tuple[Fetcher, ...] = ()
        self._fetcher_inputs: tuple[object, ...] | None = None
        self._seen: tuple[Store, int, Snapshot, bool, bool, bool] | None = None
        self._view: ProjectView | None = None
        self._measured: tuple[Mapping[str, Document], int] = ({}, 0)
        self.stale_s = _STALE_SECONDS

    def view(self, patience: float = 0.0) -> ProjectView:
        """The present view.

        Args:
            patience: Seconds that an answer without `warnings` waits for a comparison of the folder under way.
        """
        if self._graph is not None:
            self._graph.cast.look()
        with self._lock:
            view = self._current_view(self.index.freshen(patience))
        self.index.follow_moves()
        return view

    def unread(self, view: ProjectView) -> Mapping[str, int]:
        """What of the folder is not read: folders and endings to their number of files. Cost: a walk of the folder."""
        root, why = self.index.root, {file.path: file.reason for file in view.skipped}
        return {} if root is None else unread_files(root, self.index.config, view.stamps, why)

    @property
    def characters(self) -> int:
        """Characters of the documents in the last view; no I/O."""
        view, measured = self._view, self._measured
        if view is not None and measured[0] is not view.documents:
            measured = self._measured = (view.documents, sum(len(doc.text) for doc in view.documents.values()))
        return measured[1]

    @property
    def pins(self) -> Pins:
        """The pins and mutes; a target is looked up in the present view."""
        return self._pins.with_targets(self._same_target)

    def _same_target(self, target: str, others: Sequence[str]) -> str | None:
        """See `Pins`; unknown targets are refused, except while the project is being indexed."""
        view = self.view()
        ready = view.corpus.ready and all(warning.code != INDEX_BUILDING.code for warning in view.warnings)
        return same_target(target, others, view.who, view.documents, ready=ready)

    def matcher(self) -> EntityMatcher:
        """Matcher of the present entities, of files and graph."""
        self.index.freshen()
        if self._graph is None:
            return self.index.snapshot.matcher
        self._graph.cast.look()
        with self._lock:
            return self._snapshot()[0].matcher

    def _snapshot(self) -> tuple[Snapshot, tuple[ContextWarning, ...]]:
        """The snapshot of the files with the additional entities of the graph, and warnings about the graph."""
        snapshot = self.index.snapshot
        if self._graph is None:
            return snapshot, ()
        cast = self._graph.cast.missing_from(snapshot.codex)
        if not cast.entities:
            return snapshot, cast.warnings
        if self._whole is None or self._whole[0] is not snapshot or self._whole[1].entities is not cast.entities:
            self._whole = (snapshot, cast, snapshot.with_entities(cast.entities))
        return self._whole[2], cast.warnings

    def _current_view(self, troubles: tuple[ContextWarning, ...]) -> ProjectView:
        behind = INDEX_BUILDING.code in map(attrgetter("code"), troubles)
        complete = self.index.complete  # before the snapshot: what is said of it must not be newer
        snapshot, missing = self._snapshot()
        try:
            store, generation = self.index.equal or self.index.ask(lambda store: (store, store.generation()))
        except StoreUnavailable as error:
            return self._last_view(error)
        books = self.doors.has_books()
        if self._view is None or self._seen != (store, generation, snapshot, behind, complete, books):
            store, changed = self.index.ask(self._read)
            documents = self._documents(changed)
            stamps = {path: document.content_hash for path, document in documents.items()}
            # Codex files and books have no stamp of their own: use the digest of the codex.
            others = {origin.path for entity in snapshot.codex.entities for origin in entity.origins} - stamps.keys()
            stamps |= dict.fromkeys((_GRAPH, *IMPORTERS, AUTHORED_FILE, *sorted(others)), snapshot.codex_digest)
            self._view = self._build(snapshot, documents, stamps, behind=behind, complete=complete, books=books)
            self._seen = (store, changed.generation, snapshot, behind, complete, books)
        skipped = self.index.skipped
        warnings = (
            *troubles,
            *self._empty_warning(troubles),
            *(snapshot.warnings if complete else ()),
            *missing,
            *(_warn_skip(item) for item in skipped if not PurePosixPath(item.path).suffix),  # a folder, an ignore file
        )
        if warnings != self._view.warnings or skipped != self._view.skipped:
            self._view = replace(self._view, warnings=warnings, skipped=skipped)
        return self._view

    def _last_view(self, error: StoreUnavailable) -> ProjectView:
        """The last view with a warning, while the server is unreachable.

        Raises:
            StoreUnavailable: There is no view, or the server has been unreachable for more than `stale_s`.
        """
        if self._view is None or self._seen is None or error.seconds > self.stale_s:
            raise error
        away = INDEX_AWAY(error=error.message, generation=self._seen[1])
        return replace(self._view, warnings=(away, *self._view.warnings))

    def _empty_warning(self, troubles: tuple[ContextWarning, ...]) -> tuple[ContextWarning, ...]:
        """A warning about a project without documents, unless the host has its own fetchers."""
        if troubles or self._given is not None or self._view is None or self._view.documents:
            return ()
        root = self.index.root
        if root is None:
            return (SOURCE_EMPTY(project=self.index.project_id),)
        return ((PROJECT_EMPTY if root.is_dir() else PROJECT_GONE)(folder=root.absolute().name),)

    def _read(self, store: Store) -> tuple[Store, Changed]:
        """Changes since the last view; everything if the store was replaced, as generations are not comparable."""
        seen = self._seen
        return store, store.changed(seen[1] if seen is not None and seen[0] is store else 0)

    def _documents(self, changed: Changed) -> Mapping[str, Document]:
        """Documents by path, in path order. Unchanged documents, or the unchanged mapping, are the same objects."""
        before = self._view.documents if self._view is not None else {}
        if not (changed.whole or changed.documents or changed.removed) and self._view is not None:
            return before
        documents = {} if changed.whole else {path: doc for path, doc in before.items() if path not in changed.removed}
        for document in map(self.index.marked, changed.documents):
            twin = before.get(document.path)
            documents[document.path] = twin if twin is not None and twin == document else document
        return {path: documents[path] for path in sorted(documents)}

    def _build(
        self,
        snapshot: Snapshot,
        documents: Mapping[str, Document],
        stamps: dict[str, str],
        *,
        behind: bool,
        complete: bool,
        books: bool,
    ) -> ProjectView:
        quiet = {path for path, document in documents.items() if document.kind in (*STORY_KINDS, "code")}
        watched = {path: stamp for path, stamp in stamps.items() if path not in quiet}
        mapped = self.index.map
        declared = {path: file.kind for path, file in mapped.files.items() if file.declared}
        inputs = (snapshot.codex, snapshot.matcher, watched, declared)
        if inputs != self._fetcher_inputs:
            self._own_fetchers = self._build_fetchers(snapshot, documents, declared)
            self._fetcher_inputs = inputs
        if self._language is None and documents and not behind:  # once: a prompt's frame does not change with a draft
            self._language = language_of(documents.values())
        before = None if self._view is None else self._view.corpus
        ready = bool(documents) or not behind
        kept = StoredParts(snapshot.match_digest, partial(_kept_rows, self.index))
        corpus = ProjectCorpus(
            documents,
            snapshot.codex,
            snapshot.matcher,
            ready=ready,
            before=before,
            kept=kept,
            project_map=mapped,
        )
        scope = FileScope(mapped, documents)
        fetchers = self._given
        if fetchers is None:
            paths = (*documents, *(file.path for file in self.index.skipped))
            fetchers = (
                *self._own_fetchers,
                *(self.doors.lore_fetchers() if books else ()),
                PassageFetcher(corpus, self._sources, files=scope, reranking=self._reranking, lives=self._lives),
                PinFetcher(snapshot.codex.entities, documents),
                StoryFetcher(documents, snapshot.codex.entities, mapped, self.summaries, snapshot.matcher),
                *self._more,
                *(self.doors.code_fetchers() if self.doors.has_code(paths) else ()),
            )
        return ProjectView(
            source=self.index.source,
            config=self._config,
            documents=documents,
            skipped=(),
            map=mapped,
            codex=snapshot.codex,
            who=snapshot.who,
            matcher=snapshot.matcher,
            corpus=corpus,
            files=scope,
            sources=self._sources,
            fetchers=fetchers,
            warnings=(),
            stamps=stamps,
            lives=self._lives,
            pins=self._pins,
            described=self._described,
            language=self._language or DEFAULT_LANGUAGE,
            complete=complete,
        )

    def _build_fetchers(
        self, snapshot: Snapshot, documents: Mapping[str, Document], declared: Mapping[str, Kind]
    ) -> tuple[Fetcher, ...]:
        source = CodexSource(snapshot.codex)
        every = {id(entity) for entity in snapshot.codex.entities}  # held by the snapshot: an id stays its own
        style = ProjectStyle(documents.values(), self._config, declared)

        def matcher(entities: Sequence[Entity]) -> EntityMatcher:
            if {id(entity) for entity in entities} == every:
                return snapshot.matcher
            return EntityMatcher.from_valid(entities, short_names=snapshot.short_names)[0]

        return (
            RulesFetcher(source, constraints=self.constraints),
            SettingsFetcher(self.memories, style=style),
            RetrievedFetcher(source, matcher=matcher, report_levels=True),
            ImmediateFetcher(),
        )
