"""`ProjectIndex`: the index of one project, kept equal to the source of its texts; full-text search in it.

It owns the manager of the store and the watcher. The index is derived data: the next comparison rebuilds what is lost.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, cast

import armarius._core as _core
import armarius.doors as doors
from armarius._core import is_local
from armarius.arguments import Bounds, Kind, check_arg, joined_scores, read_wordings
from armarius.codex.collection import Pins, Summaries
from armarius.codex.load import FolderAuthored
from armarius.codex.protocol import Authored
from armarius.corpus.part import StoreCorpus, by_words
from armarius.deadline import verb_of
from armarius.documents.classify import is_hidden
from armarius.documents.document import Document, Skipped
from armarius.documents.features import Features
from armarius.documents.project_map import ProjectMap
from armarius.errors import ArmariusError, ContractError, StoreError
from armarius.index.derived import mentions_by_document
from armarius.index.freshness import Freshness, IndexStatus, IndexWatch, Progress, Snapshot, weak_callback
from armarius.index.manager import IndexManager, Refresher
from armarius.index.source import DocumentSource, FolderSource, LiveConfig, place_of
from armarius.io.files import project_folder, project_name
from armarius.io.processes import close_abandoned
from armarius.store.protocol import Passage, Store, TextQuery
from armarius.store.sqlite.store import SqliteStore
from armarius.trust.settings import Config, Permissions
from armarius.types import Evidence, Hit, Hits, PassageKey
from armarius.validation import LONGEST_QUESTION, whole
from armarius.validation import shown as what_came
from armarius.validation import text as strict_text
from armarius.warnings import WATCH_UNAVAILABLE

if TYPE_CHECKING:
    from armarius.index.series import SeriesSource
    from armarius.index.watcher import Watcher


class ProjectIndex:
    """An open index; thread-safe. Created by `ProjectIndex.open` (a folder) or `ProjectIndex.over` (other sources).

    An index that is garbage collected without `close` is closed in the background.

    Attributes:
        source: Source of the documents.
        authored: The user's codex, records and configuration.
        root: The project folder, None for other sources.
        books: Storage of lorebooks, if not the project folder.
        project_id: Id of the project.
    """

    def __init__(
        self,
        source: DocumentSource,
        authored: Authored,
        open_store: Callable[[], Store],
        *,
        config: LiveConfig,
        project_id: str,
        root: Path | None = None,
        whole: Callable[[Store], AbstractContextManager[object]] | None = None,
        roots: Mapping[str, Path] | None = None,
        books: "doors.BookKeeping | None" = None,
    ) -> None:
        self.source, self.authored, self.root, self.books = source, authored, root, books
        self.project_id = project_id
        self._folders = {} if root is None else {"": root, **(roots or {})}
        self._series = cast("SeriesSource", source) if roots else None
        self._config = config
        self._process = os.getpid()
        self._following = IndexWatch()
        self._fresh = Freshness(source, authored, config, self._following.is_current)
        self._refresher = Refresher(source, authored, config, self._fresh)
        self._corpus = StoreCorpus()
        self._kept = IndexManager(
            self._refresher,
            open_store,
            whole=whole,
            local=all(map(is_local, self._folders.values())),
        )
        self._unclosed = close_abandoned(self, self._kept.cancel, self._following.stop, self._kept.close)

    @classmethod
    def open(
        cls,
        root: str | PathLike[str],
        *,
        config: Config | None = None,
        project_id: str | None = None,
        index_dir: str | PathLike[str] | None = None,
        wait: bool = True,
        watch: bool = False,
        progress: Callable[[Progress], None] | None = None,
        permissions: Permissions | None = None,
        with_: Sequence[str | PathLike[str]] = (),
    ) -> Self:
        """Open the index of a project, building or repairing it.

        Args:
            root: The project folder.
            config: Default: read from `armarius.toml`.
            project_id: Default: the folder's name.
            index_dir: Folder of the index; default: the configured one, else the user's cache directory.
            wait: Return when the index is up to date; otherwise at once, and build in the background.
            watch: Watch the folder for changes.
            progress: Called after every committed batch, from the thread that builds.
            permissions: What the project may set; None reads the user's configuration.
            with_: Other folders of a series, read-only; see `armarius.open`.

        Raises:
            ProjectError: `root` is not a folder, `index_dir` is not a path, or folders of `with_` overlap.
            ContractError: `with_` is not a list of folders.
            ConfigError: `armarius.toml` is invalid.
            StoreError: The index cannot be used. A damaged index is rebuilt instead.
        """
        folder = project_folder(root)
        authored: FolderAuthored = FolderAuthored(folder)
        roots: Mapping[str, Path] = {}
        if isinstance(with_, tuple | list) and not with_:
            live = LiveConfig(authored, authored.config() if config is None else config)
            source: DocumentSource = FolderSource(folder, lambda: live.now)
        else:
            from armarius.index.series import series_of  # other folders than one

            authored, source, live, roots = series_of(folder, config, with_)
        others = [*roots.values()]
        place, live.ignored = place_of(folder, live.now, index_dir, permissions=permissions, others=others)
        name = project_id or project_name(folder)
        index = cls(
            source,
            authored,
            partial(SqliteStore.open_repaired, place, project_id=name),
            config=live,
            project_id=name,
            root=folder,
            roots=roots,
        )
        return index._start_index(wait=wait, watch=watch, progress=progress)

    @classmethod
    def over(
        cls,
        source: DocumentSource,
        authored: Authored,
        open_store: Callable[[], Store],
        *,
        project_id: str,
        wait: bool = True,
        progress: Callable[[Progress], None] | None = None,
        whole: Callable[[Store], AbstractContextManager[object]] | None = None,
        books: "doors.BookKeeping | None" = None,
    ) -> Self:
        """Open the index of a source that is not a folder.

        Args:
            source: Source of the documents.
            authored: Source of codex, records, configuration and profile.
            open_store: Opens the store of this project.
            project_id: Id of the project.
            wait: As for `open`.
            progress: As for `open`.
            whole: For a store that also holds the texts: runs all writes in one transaction, while other writers wait.
            books: Storage of lorebooks; None is in memory.

        Raises:
            ConfigError: The configuration is invalid.
            StoreError: The index cannot be used.
        """
        live = LiveConfig(authored, authored.config())
        index = cls(source, authored, open_store, config=live, project_id=project_id, whole=whole, books=books)
        return index._start_index(wait=wait, watch=False, progress=progress)

    def _start_index(self, *, wait: bool, watch: bool, progress: Callable[[Progress], None] | None) -> Self:
        try:
            if wait:
                self.refresh(progress=progress)
            else:
                self._kept.refresh_in_background(progress)
            if watch:
                self.start_watching()
        except BaseException:
            self.close()
            raise
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def store(self) -> Store:
        """The open store. A rebuilt index is another object: do not keep it."""
        return self._kept.store

    @property
    def config(self) -> Config:
        """The last valid configuration."""
        return self._config.now

    @property
    def equal(self) -> tuple[Store, int] | None:
        """The store and the generation that the last `freshen` left equal to the texts, else None."""
        return self._fresh.equal

    @property
    def snapshot(self) -> Snapshot:
        """Codex and matcher as of the last refresh."""
        return self._kept.snapshot

    @property
    def map(self) -> ProjectMap:
        """What the files are, as of the last refresh."""
        return self._refresher.map

    @property
    def complete(self) -> bool:
        """Whether all texts have been read; before that, an unknown name may be described in an unread text."""
        return self._kept.complete

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Files that could not be read as documents, with the reason, in path order."""
        skipped = dict(self._refresher.skipped)
        return tuple(skipped[path] for path in sorted(skipped))

    def follow_moves(self, other: dict[str, str] | None = None) -> None:
        """Give summaries and pins of moved texts the new paths; those that cannot be written stay with the former.

        Args:
            other: New paths of texts that the caller moved, by the former path.
        """
        moves = self._refresher.moves
        if other is not None:
            moves.append(other)
        while moves:
            with suppress(IndexError, ArmariusError):  # another thread took the last one; the file is not writable
                moved = moves.pop(0)
                Summaries(self.authored).follow(moved)
                Pins(self.authored).follow(moved)

    def features(self) -> Mapping[str, Features]:
        """The evidence of what each file is, by path."""
        return self.ask(self._refresher.features)

    def marked(self, document: Document) -> Document:
        """A document of the store, marked `past` if it belongs to an earlier book of a series."""
        return document if self._series is None else self._series.marked(document)

    def placed(self, document: Document) -> Document:
        """A document that was read by its path alone, as this source and its map would read it."""
        placed = document if self._series is None else self._series.placed(document)
        return self.ask(lambda store: self._refresher.as_mapped(placed, store))

    refresh = verb_of(lambda self: self._kept, IndexManager.refresh, question=False)
    """Update the index from the folder, or from some paths of it."""
    freshen = verb_of(lambda self: self._kept, IndexManager.freshen, question=False)
    """Update the index before a request, or return warnings about what it lacks."""
    ask = verb_of(lambda self: self._kept, IndexManager.ask, question=False)
    """Run a query on the store; a damaged or replaced index is repaired first."""
    write = verb_of(lambda self: self._kept, IndexManager.write, question=False)
    """Run a write and the refresh that follows in one transaction."""
    wait = verb_of(lambda self: self._kept, IndexManager.wait, question=False)
    cancel = verb_of(lambda self: self._kept, IndexManager.cancel, question=False)

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        kinds: Sequence[Kind] = (),
        chapters: tuple[int | None, int | None] = (None, None),
        match: Literal["all", "any"] = "all",
        also: Sequence[str] = (),
    ) -> Hits:
        """Paragraphs that contain the words of `text`, best first; see `search`.

        Raises:
            ContractError: An argument is invalid, such as an unknown kind.
        """
        text, bounds = strict_text("text", text, most=LONGEST_QUESTION), Bounds.of(chapters, kinds)
        if match not in ("all", "any"):
            raise ContractError(f"match must be 'all' or 'any', got {what_came(match)}")
        also = check_arg("also", read_wordings, also)
        lookup = partial(
            search, text=text, limit=limit, kinds=bounds.kinds, chapters=bounds.chapters, match=match, also=also
        )
        return self.ask(lambda store: lookup(store, self._corpus.at(store)))

    def moment(self) -> tuple[str, int, int, int]:
        """State, generation, and files done of all in a refresh, as in `status`. Cost: one statement of the store."""
        progress = self._refresher.progress
        return self._kept.state, self.ask(lambda store: store.generation()), progress.done, progress.total

    def status(self) -> IndexStatus:
        """State, progress and contents of the index. Cost: counts all rows; `moment` does not."""
        state, mentions = self.ask(lambda store: (store.state(), mentions_by_document(store)))
        refresher = self._refresher
        warnings = (
            *(refresher.snapshot.warnings if refresher.snapshot and self.complete else ()),
            *self._config.warnings,
            self._kept.trouble,
            WATCH_UNAVAILABLE(why=trouble) if (trouble := self._following.trouble) else None,
        )
        return IndexStatus(
            state=self._kept.state,
            progress=refresher.progress,
            watching=self._following.on,
            documents=state.documents,
            paragraphs=state.paragraphs,
            mentions=sum(counts.total() for counts in mentions.values()),
            entities=state.entities,
            bytes=state.bytes,
            generation=state.generation,
            path=self.store.location,
            skipped=self.skipped,
            warnings=tuple(warning for warning in warnings if warning is not None),
        )

    def start_watching(self) -> None:
        """Watch the folder until `stop_watching`. Idempotent.

        Does nothing for sources that are not folders: their stamp is compared before every answer.
        """
        self._watch_folders()

    def _watch_folders(self, by: "Watcher | None" = None) -> None:
        """Watch all folders of the project; `by`, a watcher shared between projects, watches the project's own."""
        if self._folders:
            self._following.start(self._folders, weak_callback(self._refresh_paths), by)
            live = self._config
            self._following.folders[""].is_hidden = lambda path: is_hidden(path, live.now)
            self._read_queues()

    def stop_watching(self) -> None:
        """Stop watching. Idempotent."""
        self._following.stop()
        self._read_queues()

    def _read_queues(self) -> None:
        queues = self._following.queues
        if self._series is not None:
            self._series.follow(queues)
        elif isinstance(self.source, FolderSource):
            self.source.follow(queues.get(""))

    @contextmanager
    def watch(self) -> Iterator[Self]:
        """Watch the folder inside a `with` block."""
        already = self._following.on
        self.start_watching()
        try:
            yield self
        finally:
            if not already:
                self.stop_watching()

    def rest(self) -> None:
        """Release watcher and store; the next request opens the store again."""
        self.stop_watching()
        self._kept.rest()

    def close(self) -> None:
        """Stop watching and building, and close the store. Idempotent."""
        if self._process != os.getpid():  # threads and store belong to the parent process
            return
        self._unclosed.detach()
        self.cancel()
        self.stop_watching()
        self.follow_moves()
        self._kept.close()

    def _refresh_paths(self, paths: set[str] | None) -> None:
        with suppress(StoreError, OSError):  # already in the status; the next comparison tries again
            self.refresh(paths)
            self.follow_moves()


_SNIPPET = 80  # code points
_QUOTED = re.compile(r"[\"“「『«]([^\"“”「」『』«»]+)[\"”」』»]")


def terms_of(text: str) -> list[str]:
    """The terms of a search: quoted phrases whole, the rest parted at white space and punctuation."""
    quoted = _QUOTED.findall(text)
    rest = re.split(r"[\s,，、。；;！!？?：:…]+", _QUOTED.sub(" ", text))
    return list(dict.fromkeys(term for term in (*quoted, *rest) if _core.term_phrase(term)))


def is_quoted(text: str) -> bool:
    """Whether there is nothing but phrases in quotation marks: what is looked up word for word."""
    return bool(_QUOTED.search(text)) and not _QUOTED.sub("", text).strip()


def search(
    store: Store,
    corpus: _core.Corpus,
    text: str,
    *,
    limit: int = 10,
    kinds: Sequence[Kind] = (),
    chapters: tuple[int | None, int | None] = (None, None),
    match: Literal["all", "any"] = "all",
    also: Sequence[str] = (),
    shown: Callable[[Passage], str] | None = None,
) -> Hits:
    """Paragraphs that contain every term of `text` (with `match="any"`, its rarest n-grams), best first.

    Args:
        store: The index.
        corpus: The corpus of the same texts.
        text: Plain text; there is no query syntax.
        limit: Maximum number of hits.
        kinds: Only documents of these kinds.
        chapters: Inclusive bounds on the chapter.
        match: "all" requires every term; "any" ranks by the terms that are present.
        also: Query variants. A paragraph that matches any of them is a hit; one that matches several ranks higher.
        shown: Returns the visible text of a paragraph, with hidden parts replaced by spaces.

    Raises:
        ContractError: `limit` is not an integer of at least 1.

    The full-text index of the store finds the paragraphs; the corpus ranks them (docs/decisions/0061).

    Cost: a full-text query per variant, a score of each matching paragraph, `limit` texts.
    """
    limit = whole("limit", limit, least=1)
    texts = (item.encode("utf-8", "replace").decode() for item in (text, *also))  # no text holds a lone surrogate
    query = TextQuery((), match, tuple(kinds), chapters, None)
    answers = [_search(store, corpus, item, query, limit, shown) for item in texts]
    if not also:
        return answers[0]
    first = {(hit.path, hit.paragraph): hit for hits in reversed(answers) for hit in hits}
    scores = [{(hit.path, hit.paragraph): hit.score for hit in hits} for hits in answers]
    results = [replace(first[key], score=score) for key, score in joined_scores(scores[0], scores[1:]).items()]
    return Hits(sorted(results, key=lambda hit: (-hit.score, hit.path, hit.start))[:limit])


def _search(
    store: Store,
    corpus: _core.Corpus,
    text: str,
    query: TextQuery,
    limit: int,
    text_of: Callable[[Passage], str] | None,
) -> Hits:
    terms = terms_of(text)
    if not terms:
        return Hits()
    words = terms if query.match == "all" else _core.text_grams(text)
    rows = store.search(replace(query, terms=tuple(terms)))
    ordered = _by_score(corpus, words, [(hit.path, hit.paragraph) for hit in rows])
    hits: list[Hit] = []
    at, wanted = 0, limit
    # A phrase of pairs may match across punctuation; such hits fall away, and more are looked at in their place.
    while len(hits) < limit and at < len(ordered):
        part = ordered[at : at + wanted]
        passages = {passage.key: passage for passage in store.passages([key for key, _ in part])}
        if text_of is not None:
            passages = {key: replace(passage, text=text_of(passage)) for key, passage in passages.items()}
        read = [(passages[key], score) for key, score in part if key in passages]
        hits += _locate_hits(read, words, exact=query.match == "all")
        at, wanted = at + wanted, 4 * wanted
    return Hits(hits[:limit])


def _by_score(corpus: _core.Corpus, words: Sequence[str], keys: Sequence[PassageKey]) -> list[tuple[PassageKey, float]]:
    """Best first, ties in project order; paragraphs that the corpus does not score (function words) last."""
    if not keys:
        return []
    scores = by_words(corpus, words)
    best = scores.strongest["paragraph"]
    scored = [(key, best * (scores.score_of(*key) or 0.0)) for key in keys]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def _locate_hits(hits: list[tuple[Passage, float]], terms: list[str], *, exact: bool) -> list[Hit]:
    texts = [passage.text for passage, _ in hits]
    missing = {i for i, text in enumerate(texts) if not text.strip()}
    if exact:
        for term in terms:
            missing |= {i for i, spans in enumerate(_core.find_terms(texts, [term])) if not spans}
    results = []
    for i, ((p, score), spans) in enumerate(zip(hits, _core.find_terms(texts, terms), strict=True)):
        if i not in missing:
            words = tuple(Evidence("fulltext", p.text[a:b], p.path, (p.start + a, p.start + b)) for a, b in spans)
            results.append(p.hit(score, words, _snippet(p.text, spans[0] if spans else (0, 0))))
    return results


def _snippet(text: str, span: tuple[int, int]) -> str:
    """One line around the span."""
    start = max(0, min((span[0] + span[1] - _SNIPPET) // 2, len(text) - _SNIPPET))
    return re.sub(r"\s+", " ", text[start : start + _SNIPPET])
