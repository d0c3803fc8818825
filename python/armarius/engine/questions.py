"""Queries to a project without a prompt: retrieval, full-text search, statements about entities, documents."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import armarius.doors as doors
from armarius._core import find_terms, text_grams
from armarius.arguments import (
    OPEN,
    Bounds,
    Chapters,
    Kind,
    Turn,
    asked_last,
    check_arg,
    read_chapter,
    read_messages,
    read_wordings,
)
from armarius.codex import Codex
from armarius.codex.cards import Visible, entity_card, visible, visible_text
from armarius.codex.model import Entities, Entity
from armarius.deadline import Recent, stage
from armarius.documents.document import Document, Documents
from armarius.documents.kinds import HIDDEN_KINDS, STORY_KINDS, glob
from armarius.engine.project import PATIENCE, Project, ProjectView, entities_for_models
from armarius.errors import ContextWarning, ContractError
from armarius.headings import Language, sentence
from armarius.index.derived import count_by_entity
from armarius.index.project_index import is_quoted, search
from armarius.prompt.fetchers.entities import hidden_spans
from armarius.search.hits import PAGE, Retrieval, Stretches, excerpt, row_of, stretch
from armarius.search.query.recipe import understand
from armarius.search.rank import STOP_SHARE
from armarius.search.retrieve import find, retrieve
from armarius.text.unicode import is_han
from armarius.trust.settings import ABOUT, Config
from armarius.types import Hit, Hits
from armarius.validation import LONGEST_QUESTION, cleaned, flag, valid_text, whole
from armarius.validation import text as strict_text

if TYPE_CHECKING:
    from armarius.codex.proposals import ProposedName
    from armarius.search.contradictions.statements import Statement, Statements
    from armarius.search.query.coreference import Cast

_WORDS = re.compile(r"[^\W_]+")
_DETAIL = attrgetter("detail")
_SHORT = 3  # letters of a word that headings are not looked through for
_REMEMBERED = 8  # cached `Reworder`s of models passed per call


@dataclass(frozen=True, slots=True)
class Worded:
    """Query variants, and warnings about them."""

    also: tuple[str, ...] = ()
    warnings: tuple[ContextWarning, ...] = ()


class QueryRewriter:
    """Asks a language model for query variants. Thread-safe.

    Args:
        model: The engine's model; None asks only a model passed per call.
    """

    def __init__(self, model: "doors.Model | doors.Reworder | None" = None) -> None:
        self._own = None if model is None else doors.Reworder.of(model)
        self.project: Project | None = None  # of the engine
        self._others = Recent["doors.Reworder"](_REMEMBERED)

    def ask(
        self,
        view: ProjectView,
        query: str,
        also: tuple[str, ...],
        model: "doors.Model | doors.Reworder | Literal[False] | None" = None,
        skill: str = "",
    ) -> Worded:
        """`also` if not empty, else the variants of `model` or the engine's model; none for a task and no words."""
        reworder = None if model is False else self._own if model is None else self._reworder_of(model)
        words = query.strip()
        if also or reworder is None or not words or "plain" not in understand(words, skill=skill).parts:
            return Worded(also)
        config, log = (
            (view.config, None) if self.project is None else (self.project.index.config, self.project.model_log)
        )
        answer = reworder.ask(words, log=log, **_model_facts(view, words, config))
        return Worded(answer.wordings, () if answer.warning is None else (answer.warning,))

    def _reworder_of(self, model: "doors.Model | doors.Reworder") -> "doors.Reworder":
        """The cached `Reworder` of a model, which caches its answers."""
        if isinstance(model, doors.Reworder):
            return model
        reworder = self._others.get(id(model))
        if reworder is None or reworder.model is not model:
            reworder = doors.Reworder(model)
            self._others.keep(id(model), reworder)
        return reworder


def _model_facts(view: ProjectView, query: str, config: Config) -> dict[str, Any]:
    """What a model is told with a question: names, what the project is, headings with words of the question.

    Names that the question concerns come first, with aliases, then those related to them; none of entities hidden from
    prompts, and no heading of a file that no request to a model may hold.
    """
    named = {mention.entity_id for mention in view.matcher.find_in_question(query.encode("utf-8", "replace").decode())}
    near = {end for arc in view.codex.relations if named & {arc.source, arc.target} for end in (arc.source, arc.target)}
    closed = [glob(pattern) for pattern in config.never]
    entities = entities_for_models(view.codex.entities, config)
    names = [name for entity in entities if entity.id in named for name in (entity.name, *entity.aliases)]
    names += [entity.name for entity in entities if entity.id in near] + [entity.name for entity in entities]
    words = {word for word in _WORDS.findall(query.casefold()) if len(word) > _SHORT}
    words |= {query[at : at + 2] for at in range(len(query) - 1) if all(map(is_han, query[at : at + 2]))}
    headings = Counter[str]()
    for path, document in view.documents.items():
        if words and document.kind not in HIDDEN_KINDS and not any(pattern.matches(path) for pattern in closed):
            for part in document.paragraphs:
                if part.role == "heading" and (shared := sum(key in part.heading_path[-1].casefold() for key in words)):
                    headings[part.heading_path[-1]] = shared
    about = ", ".join(config.about[key] for key in ABOUT if key in config.about)
    about = about or ("code" if view.map.is_code else "")
    return {
        "names": tuple(dict.fromkeys(names))[: doors.MOST_NAMES], "about": about,
        "headings": tuple(title for title, _ in headings.most_common(12)),
    }  # fmt: skip


class FollowUps:
    """Resolves follow-up questions; caches the cast of the last codex. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[Codex, Cast] | None = None

    def of(self, view: ProjectView, query: str, turns: tuple[Turn, ...]) -> tuple[str, tuple[str, ...]]:
        """`query` with the referents and topic that it takes from the `turns` before it, and what it takes."""
        if not turns or not query.strip():
            return query, ()
        from armarius.search.query.coreference import cast_of
        from armarius.search.query.follow_up import follow_up

        with self._lock:
            if self._known is None or self._known[0] is not view.codex:
                self._known = (view.codex, cast_of(view.codex))
            cast = self._known[1]
        resolved = follow_up(query, turns, matcher=view.matcher, cast=cast)
        return resolved.asked, resolved.carried


_PLACES = 200  # of each way to find, in all pages


def _place(hit: Hit) -> tuple[str, int]:
    return hit.path, hit.paragraph or 0


def _stretch(
    view: ProjectView, bounds: Bounds, place: tuple[str, int], grams: Sequence[str], *, worded: bool
) -> Hit | None:
    """The best sentences of a paragraph; None where nothing of it may be seen, or holds a gram if it is to."""
    path, number = place
    document = view.documents.get(path)
    if document is None or number >= document.paragraph_count:
        return None
    document = visible(document, bounds)
    part = document.paragraphs[number]
    start, end = stretch(document.text, part, grams)
    text = document.text[start:end]
    if not text.strip() or (worded and not any(find_terms([document.text[part.start : part.end]], list(grams)))):
        return None
    return Hit(
        path, (start, end), part.heading_path, 0.0, title=document.title, kind=document.kind, chapter=part.chapter,
        paragraph=number, role=part.role, text=text, line=document.line_at(start),
    )  # fmt: skip


Found = TypeVar("Found", bound="Hit | Statement")


@dataclass(eq=False)
class Questions:
    """Answers queries, each from one view of `project`. Thread-safe.

    Args:
        project: Provides the view that a query reads.
        rewords: Query variants of a language model.
        follow_ups: Resolves questions that refer to a conversation.
        language: Language of cards; None is that of the texts.
    """

    _project: Project
    _rewords: QueryRewriter
    _follow_ups: FollowUps
    _language: Language | None = None

    def retrieve(
        self,
        query: str,
        *,
        limit: int = 5,
        document: str = "",
        chapter: int | None = None,
        chapters: int | Chapters | None = OPEN,
        kinds: Kind | Sequence[Kind] = (),
        as_of: int | None = None,
        also: Sequence[str] = (),
        messages: Sequence[object] = (),
        reword: "doors.Model | doors.Reworder | Literal[False] | None" = None,
        timeout_s: float | None = None,
    ) -> Retrieval:
        """The documents and sections that answer a question, best first, each with every reason for it.

        Args:
            query: The user's words.
            limit: Maximum number of hits.
            document: The current document: its chapter is the current chapter, for 前一章 and for the timeline.
            chapter: The current chapter, when there is no document.
            chapters: First and last chapter to look into, inclusive, either None; one number is that chapter alone.
                With it, what is no chapter is left out.
            kinds: The kinds of documents to look into, one or several; empty is all.
            as_of: Excludes later chapters, also where the query names them. Overrides the current chapter.
            also: The query in other words, at most 8 of at most 400 characters.
            messages: The conversation that the query stands in, oldest first, as `assemble` takes it: what the query
                takes from it is searched too, and returned as `carried`.
            reword: Asked for other wordings when there are none in `also`; None is the engine's, if it has one,
                False nobody.
            timeout_s: Seconds to wait for what may be late, as `assemble` says; it is left out with its warning.

        Returns:
            A sequence of hits with `understanding`, `outcome` and `omitted`; later chapters than the current
            one are omitted unless the question names them.

        Raises:
            UnknownDocument: No such document.
            ContractError: An argument has the wrong type or value, or `limit` is negative.

        Cost: about 3 ms, and .2 ms per wording, on 120 chapters; the first question reads the project.
        """
        query, limit = strict_text("query", query, most=LONGEST_QUESTION), whole("limit", limit)
        document = valid_text("document", document or "")
        bounds, others = Bounds.of(chapters, kinds, as_of), check_arg("also", read_wordings, also)
        chapter = check_arg("chapter", read_chapter, chapter)
        query, earlier = asked_last(query, check_arg("messages", read_messages, messages))
        with stage("look"):
            view = self._project.view()
        with stage("understand"):
            current = view.document(document).chapter if document else chapter
            spelled, carried = self._follow_ups.of(view, query, earlier)
            worded = self._rewords.ask(view, spelled, others, reword)
            outside = view.files.outside(spelled, document=document, kinds=bounds.kinds)
        with stage("retrieve"):
            answer = retrieve(
                view.corpus, spelled, limit=limit, chapter=current, bounds=bounds, also=worded.also,
                sources=view.sources, outside=outside,
            )  # fmt: skip
        leveled, language = _level_marker(view), self._language or view.language
        hits = [replace(hit, reason=sentence(map(_DETAIL, hit.evidence), language)) for hit in answer]
        warnings = (*view.stale, *answer.warnings, *worded.warnings)
        return replace(answer, hits=tuple(map(leveled, hits) if leveled else hits), warnings=warnings, carried=carried)

    def excerpt(self, hit: Hit, *, chapters: int | Chapters | None = OPEN, as_of: int | None = None) -> str:
        """The text behind a hit: its section, or the paragraphs its evidence points at; "" when the file is gone.

        Args:
            hit: Of `retrieve`, `search` or `similar`.
            chapters: As it was asked with: a file may hold several chapters.
            as_of: As it was asked with: a profile may tell what holds later.

        Raises:
            ContractError: No hit, or invalid chapters.
        """
        if not isinstance(hit, Hit):
            raise ContractError(f"hit: expected a Hit, as retrieve and search give them, got {type(hit).__name__}")
        bounds = Bounds.of(chapters, (), as_of)
        document = self._project.view().documents.get(hit.path)
        if document is None:
            return ""
        seen = visible(document, bounds)
        return excerpt(seen, hit, is_part=seen is not document)

    def rewording_request(self, query: str) -> "doors.RewordingRequest":
        """What a model of `reword=` is asked about a question: the messages, and what reads the reply."""
        query = valid_text("query", query)
        return doors.RewordingRequest.of(query, **_model_facts(self._project.view(), query, self._project.index.config))

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        kinds: Kind | Sequence[Kind] = (),
        chapters: int | Chapters | None = OPEN,
        as_of: int | None = None,
        also: Sequence[str] = (),
        timeout_s: float | None = None,
    ) -> Hits:
        """Paragraphs that hold the words of `text` as written, best first.

        Args:
            text: Anything; no query language. Quoted phrases stay whole.
            limit: At most so many.
            kinds: Only documents of these kinds, one or several; empty is all.
            chapters: First and last chapter, inclusive, either None; one number is that chapter alone.
            as_of: Nothing of a later chapter than this.
            also: Other words, as written too; what holds any of them is found, what holds several stands higher.
            timeout_s: Seconds to wait for a graph or a server, as `assemble` says.

        Raises:
            ContractError: An invalid text, limit, chapters, kinds or wordings; a `limit` below 1.
        """
        query, limit = strict_text("text", text, most=LONGEST_QUESTION), whole("limit", limit, least=1)
        bounds, others = Bounds.of(chapters, kinds, as_of), check_arg("also", read_wordings, also)
        with stage("look"):
            view = self._project.view()
        with stage("search"):
            hits = self._full_text(view, query, limit, bounds, others)("all")
        leveled = _level_marker(view)
        hits = Hits(map(leveled, hits)) if leveled else hits
        hits.warnings = view.stale
        return hits

    def find(
        self,
        query: str,
        *,
        cursor: int = 0,
        kinds: Kind | Sequence[Kind] = (),
        chapters: int | Chapters | None = OPEN,
        as_of: int | None = None,
        also: Sequence[str] = (),
        timeout_s: float | None = None,
    ) -> Stretches:
        """Where words stand together or any of them do, or what answers a question: some sentences each, best first.

        Args:
            query: Words in any order, or a question; what is in quotation marks alone is looked up as it is written.
            cursor: Of the page before; a page has at most 800 characters.
            kinds: Only documents of these kinds, one or several; empty is all.
            chapters: First and last chapter, inclusive, either None; one number is that chapter alone.
            as_of: Nothing of a later chapter than this.
            also: The query in other words.
            timeout_s: As for `search`.

        Returns:
            Hits whose `text` is four sentences at most, with their `line`; `str` of them is what an agent reads.

        Raises:
            ContractError: An argument has the wrong type or value.

        Cost: a question of `retrieve` and two of `search`.
        """
        query, cursor = cleaned(strict_text("query", query, most=LONGEST_QUESTION)), whole("cursor", cursor, least=0)
        bounds, others = Bounds.of(chapters, kinds, as_of), tuple(map(cleaned, check_arg("also", read_wordings, also)))
        with stage("look"):
            view = self._project.view()
        exact, results = is_quoted(query), Stretches()
        with stage("search"):
            words = self._full_text(view, query, _PLACES, bounds, others)
            together, any_ = words("all"), Hits() if exact else words("any")
        ranked: list[tuple[str, int]] = []
        if not exact and view.corpus.ready:
            with stage("understand"):
                outside = view.files.outside(query, kinds=bounds.kinds)
            with stage("retrieve"), view.corpus.acquire(bounds, outside=outside) as scoped:
                answer = find(scoped, query, understand(query), also=others, sources=view.sources, listed=False)
                best, scores = answer.ranked, answer.ranked.scores
                if best.outcome == "found" or best.stated or together or any_:
                    ranked = [place[:2] for place in scores.paragraphs(_PLACES, scores.best * STOP_SHARE)]
            results.missing, results.confidence = best.missing, answer.answer.confidence
        turns = zip_longest(ranked, map(_place, any_))
        places = (*map(_place, together), *(place for turn in turns for place in turn if place is not None))
        worded = bool(any_) and view.sources.vectors is None  # else what is near in meaning shares no word
        grams = [gram for wording in (query, *others) for gram in text_grams(wording)]
        leveled, room = _level_marker(view), PAGE
        for at, place in enumerate(dict.fromkeys(places)):
            if at < cursor or (hit := _stretch(view, bounds, place, grams, worded=worded)) is None:
                continue
            hit = replace(hit if leveled is None else leveled(hit), score=1 / (1 + at))
            room -= len(row_of(hit)) + 1
            if room < 0 and results:
                results.next_cursor = at
                break
            results.append(hit)
        if exact:
            results.confidence = float(bool(together))
        results.warnings = view.stale
        return results

    def evidence(
        self,
        name: str,
        *,
        attribute: str | None = None,
        chapter: int | None = None,
        chapters: int | Chapters | None = OPEN,
        kinds: Kind | Sequence[Kind] = (),
        as_of: int | None = None,
        timeout_s: float | None = None,
    ) -> "Statements":
        """Everything the project says about an entity, or about one attribute of it; competing statements marked.

        Args:
            name: Name, alias or id of an entity, or any name that `detect` finds it by, such as a short one.
            attribute: 年龄, 住处, "eye colour", …; None returns the statements of settings, those on attributes that
                a profile gives or that can be compared (age, home, marks, wounds, looks), and all conflicting ones.
            chapter: The current chapter; later ones are left out.
            chapters: Only what these chapters say, first and last, inclusive; one number is that chapter alone.
            kinds: Only what documents of these kinds say, one or several; empty is the story, settings and plans;
                notes, reviews and drafts are named here to be heard.
            as_of: Nothing of a later chapter than this, nor what settings say of a later one (第7章起：…).
            timeout_s: As for `search`.

        Returns:
            Statements with their sources, settings first; `competes_with` names sources that say otherwise and
            `attributes` what about. No verdict is made.

        Raises:
            UnknownId: No entity goes by that name; names near ones.
            ContractError: An invalid name, attribute, chapters or kinds.
        """
        from armarius.search.contradictions.detect import statements_about
        from armarius.search.contradictions.statements import Statements

        name, chapter = valid_text("name", name), check_arg("chapter", read_chapter, chapter)
        attribute = None if attribute is None else valid_text("attribute", attribute)
        bounds = Bounds.of(chapters, kinds, as_of)
        view = self._project.view()
        entity = view.entity(name)
        outside = view.files.outside(kinds=bounds.kinds, task=True)
        with view.corpus.acquire(bounds, outside=outside) as corpus:
            rows = statements_about(corpus, entity.id, attribute, chapter=chapter)
        leveled = _level_marker(view)
        results = Statements(map(leveled, rows) if leveled else rows)
        results.warnings = view.stale
        return results

    def entities(self) -> Entities:
        """All entities, of all files and the graph, with their mentions and what was taken for no entity."""
        view = self._project.view()
        codex, ask = view.codex, self._project.index.ask
        results = Entities(
            codex.entities, codex.rejected, lambda: ask(lambda store: count_by_entity(store, view.map.hidden))
        )
        results.warnings = view.stale
        return results

    def entity(self, name: str) -> Entity:
        """The entity of that id, name, alias, or of any other name that finds exactly it; UnknownId names near ones."""
        return self._project.view(PATIENCE).entity(valid_text("name", name))

    def card(self, name: str, *, as_of: int | None = None) -> str:
        """The card of an entity as a prompt shows it.

        Args:
            name: As for `entity`.
            as_of: Only the facts that hold in this chapter; None is all, each with its chapters.

        Raises:
            UnknownId: Nothing goes by that name; names near ones.
            ContractError: `as_of` is no chapter.
        """
        name, bounds = valid_text("name", name), Bounds.of(as_of=as_of)
        view = self._project.view(PATIENCE)
        language = self._language or view.language
        return entity_card(view.entity(name), chapter=bounds.as_of, chapters=(None, bounds.as_of), language=language)

    def propose(
        self, *, least: int = 10, known: bool = False, timeout_s: float | None = None
    ) -> "tuple[ProposedName, ...]":
        """People, places and things that the chapters name and no profile describes; nothing is made of them.

        Args:
            least: How often a name must be written.
            known: Also those that are described, marked.
            timeout_s: As for `search`.

        Returns:
            Most written first, with likely aliases, the first place, and what speaks for each.

        Raises:
            ContractError: `least` is no number, or below 2.

        Cost: reads every chapter: about 3 s for 800,000 Chinese characters, 1 s for 180,000 English words.
        """
        least, known = whole("least", least, least=2), flag("known", known)
        view = self._project.view()
        documents = [doc for doc in view.documents.values() if doc.path not in view.map.hidden and doc.kind != "code"]
        story = [doc for doc in documents if doc.kind in STORY_KINDS] or documents
        described = [name for entity in view.codex.entities for name in (entity.name, *entity.aliases)]
        described += [term.text for term in self._project.index.snapshot.short_names]  # as `detect` finds them
        texts = [(doc.path, doc.text) for doc in story]
        from armarius.codex.proposals import propose_names  # 400 lines that no prompt needs

        return propose_names(texts, known=described, least=least, keep_known=known)

    def documents(self) -> Documents:
        """Every document of the project, by path."""
        view = self._project.view()
        results = Documents(view.documents.values())
        results.warnings = view.stale
        return results

    def document(self, path: str) -> Document:
        """One document; raises UnknownDocument, and ContractError for what is no path."""
        return self._project.view(PATIENCE).document(valid_text("path", path))

    def _full_text(
        self, view: ProjectView, text: str, limit: int, bounds: Bounds, also: Sequence[str]
    ) -> Callable[[Literal["all", "any"]], Hits]:
        """Paragraphs of the view that hold all of the words, or any of them; see `search` of the index."""
        text_of = None if bounds.as_of is None else visible_text(view.documents, bounds)
        with view.corpus.acquire() as corpus:
            lookup = partial(
                search, corpus=corpus.core, text=text, limit=limit, kinds=bounds.kinds, chapters=bounds.chapters,
                also=also, shown=text_of,
            )  # fmt: skip
        return lambda match: self._project.index.ask(partial(lookup, match=match))


def _level_marker(view: ProjectView) -> Callable[[Found], Found] | None:
    """Adds to a result why prompts do not show it: the level of an entity, the kind or edition of a hidden file."""
    never = {entity.id for entity in view.codex.entities if entity.level == "never"}
    kept = never | {entity.id for entity in view.codex.entities if entity.level == "manual_only"}
    described = view.described_entities() if kept else {}
    levels = {"never": hidden_spans(described, never), "manual_only": hidden_spans(described, kept)}
    seen = {level: Visible(view.documents, Bounds(hidden=spans)) for level, spans in levels.items() if spans}
    if not seen and not view.map.hidden:
        return None

    def leveled(hit: Found) -> Found:
        if hit.path in view.map.hidden:
            file = view.map.files[hit.path]
            return replace(hit, level=file.kind if file.edition == "main" else file.edition)
        document, span = view.documents.get(hit.path), hit.span
        if document is None or span is None or not document.text[slice(*span)].strip():
            return hit
        level = next((name for name, texts in seen.items() if not texts[hit.path].text[slice(*span)].strip()), "")
        return replace(hit, level=level) if level else hit

    return leveled
