"""From a request to a task: the document read, the cursor in code points, counter and profile chosen."""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, Final, Protocol

from armarius.arguments import Hidden
from armarius.codex.cards import visible_until
from armarius.codex.model import Entity
from armarius.corpus.story import story_end, story_parts
from armarius.deadline import Recent
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.project_map import ProjectMap
from armarius.documents.units import SCENE
from armarius.errors import ContextWarning, ContractError, CounterError, CursorOutOfRange, ScopeViolation, message_of
from armarius.headings import Language, Reason
from armarius.index.source import LIVE
from armarius.prompt.continuation import Continuation
from armarius.prompt.counter import CachedCounter, Counter
from armarius.prompt.profile import AssemblySettings, LayerBudget, ProfileStore, layer_budgets
from armarius.prompt.report.items import SourceCatalog
from armarius.prompt.report.pack import Pack, Task
from armarius.requests import AssembleRequest, RequestFields
from armarius.search.query.recipe import understand
from armarius.text.matcher import EntityMatcher
from armarius.text.tokens import TokenCounter
from armarius.types import Fetcher, FetchRequest, LayerName, Recipe, Wish
from armarius.validation import clamped, code_points, shown, suggestion, units
from armarius.validation import text as strict_text
from armarius.warnings import CONTEXT_CURSOR_CLAMPED, COUNTER_MISSING, MODEL_UNKNOWN

_COUNTERS_KEPT = 8  # with what each has counted, up to 16 M characters; a host may ask for a new one each time

CounterFor = Callable[[str, str | None], Counter]


class RequestState(Protocol):
    """One state of a project: everything a request sees comes from it."""

    @property
    def fetchers(self) -> tuple[Fetcher, ...]:
        """Who is asked for candidates."""

    @property
    def warnings(self) -> tuple[ContextWarning, ...]:
        """What is wrong with the project as a whole."""

    @property
    def stamps(self) -> Mapping[str, str]:
        """Path to stamp of every file; a stamp changes with its file."""

    @property
    def language(self) -> Language:
        """Of the texts."""

    @property
    def documents(self) -> Mapping[str, Document]:
        """By path."""

    @property
    def map(self) -> ProjectMap:
        """What the files are."""

    @property
    def matcher(self) -> EntityMatcher:
        """Finds the names of the entities."""

    def resolve_pins(
        self, request: AssembleRequest, live: Document | None, /
    ) -> tuple[tuple[Wish, ...], Hidden, Sequence[ContextWarning]]:
        """The pins and mutes of a request, the texts hidden by mutes, and warnings about permanent pins."""

    def named(self, name: str, /) -> Collection[str]:
        """Ids of candidates (cards, relations) of the entities with that id, name or alias."""

    def entities(self) -> Mapping[str, Entity]:
        """Every entity by its id."""

    def document(self, document_id: str, /) -> Document:
        """One document; raises UnknownDocument."""

    def unsaved(self, document_id: str, text: str, /) -> tuple[Document, bool]:
        """The document with an editor's text, and whether it differs from the saved one."""


def read_request(verb: str, query: object, fields: RequestFields) -> AssembleRequest:
    """The request of a verb's arguments, or the object that stands in their place.

    Args:
        verb: What was called, for errors: `assemble(budget=…) must be a whole number, got 'x'`.
        query: The user's words, or a request that says everything.
        fields: The other fields of the request; None is the default of each.

    Raises:
        ContractError: A field that breaks the contract; an object and keywords together; a wire form.
    """
    if isinstance(query, AssembleRequest):
        defaults = {name: (None, field.default) for name, field in AssembleRequest.model_fields.items()}
        if both := sorted(name for name, value in fields.items() if value not in defaults[name]):
            raise ContractError(f"a request object and keywords together: {', '.join(both)}")
        return query
    if isinstance(query, Mapping):
        raise ContractError(
            f"query: a {type(query).__name__} is no text; AssembleRequest.from_wire reads the wire form"
        )
    query = strict_text(f"{verb}(query=…)", query)
    values: dict[str, Any] = {"query": query, **fields}
    try:
        return AssembleRequest(**values)
    except ContractError as error:
        raise ContractError(re.sub(r"\bAssembleRequest\.([\w.]+)", rf"{verb}(\1=…)", str(error))) from None


_start: Final = attrgetter("start")
_FOR_FETCHERS: Final = (
    *("query", "additional_input", "document", "skill", "chapters", "kinds", "as_of", "also", "marks", "story"),
    *("messages", "include_messages"),
)
"""Fields of a request that fetchers see as they are."""


class Resolver:
    """Checks requests against one project. Threads may share it."""

    def __init__(
        self,
        name: str,
        settings: AssemblySettings,
        counter_for: CounterFor,
        fallback: Counter | None,
        profiles: ProfileStore,
        project_id: str | None,
    ) -> None:
        self._settings, self._counter_for, self._fallback = settings, counter_for, fallback
        self._profiles = profiles
        self._insists = project_id or settings.project_id
        self.project_id = self._insists or name
        self._counters = Recent[CachedCounter](_COUNTERS_KEPT)

    def scope(self, project_id: str) -> str:
        """The id of the project that a request for `project_id`, or for no project by name, is for.

        Raises:
            ScopeViolation: It is for another than the one that this engine insists on.
        """
        wanted = project_id or self.project_id
        if self._insists and wanted != self._insists:
            raise ScopeViolation(f"the request is for project {wanted!r}, this is {self._insists!r}")
        return wanted

    def task(
        self,
        view: RequestState,
        request: AssembleRequest,
        previous: Pack | bytes | None,
        layers: Mapping[LayerName, LayerBudget | Mapping[str, Any]] | None,
        extra: tuple[ContextWarning, ...] = (),
        *,
        asked: str = "",
        carried: tuple[str, ...] = (),
    ) -> Task:
        """The task for `request`, as the project stands in `view`; `extra` is what has to be said already.

        `asked` is the query with what it leaves to earlier turns, `carried` what that is.

        Raises:
            ScopeViolation: The request or `previous` belongs to another project.
            UnknownDocument: No such document.
            CursorOutOfRange: Cursor or selection lie inside a character, are negative, or outside the live text.
            BudgetError: The budget of a layer is invalid.
            UnknownId: Nothing is called what the request pins or mutes.
            ContractError: `previous` is neither a pack nor a continuation of one; other wordings of no question.
        """
        if request.also and not request.query.strip() and not request.additional_input.strip():
            raise ContractError("also: other wordings of a question, and the request has none")
        continued = _continuation_of(previous)
        project_id = self.scope(request.project_id)
        if continued is not None and continued.project_id != project_id:
            raise ScopeViolation(
                f"previous is a pack of project {continued.project_id!r}, the request is for {project_id!r}"
            )
        document, live = _open(view, request)
        cursor, selection, clamps = _places(request, document)
        says = selection or request.query.strip() or request.additional_input.strip() or request.messages
        opened = bool(request.document) and not says
        asked, skill = asked if asked != request.query else "", self._settings.skills.get(request.skill, request.skill)
        query = request.query
        if view.map.of_scenes and SCENE.search(query):
            query, asked = (SCENE.sub(r"chapter \1 ", words) for words in (query, asked))
        recipe = understand(
            query, asked=asked, text=request.additional_input, skill=skill, story=request.story, opened=opened
        )
        if not recipe.parts and view.matcher.find_in_question(query):  # a greeting may be a name
            recipe = Recipe(query=query)
        if request.as_of is None and recipe.as_of is not None:
            request = request.model_copy(update={"as_of": recipe.as_of})
        language = request.language or self._settings.language or view.language
        places = {"cursor": cursor, "selection": selection, "position_encoding": "code-point"}
        resolved = request.model_copy(update={"language": language, "project_id": project_id, **places})
        furthest = cursor if selection is None else max(cursor, selection[1])
        wishes, hidden, unknown = view.resolve_pins(request, document if live else None)
        text, withheld = ("", "") if document is None else _known_text(document, furthest, request.as_of)
        start, end = (0, None) if document is None else _chapter_span(document, cursor, furthest)
        counter, warnings = self._counter(request.model or self._settings.model, request.tokenizer_version)
        fetch = FetchRequest(
            **{name: getattr(request, name) for name in _FOR_FETCHERS},
            project_id=project_id,
            text=text,
            cursor=cursor if text else 0,
            chapter=None if document is None else _chapter(document, cursor),
            chapter_start=start,
            chapter_end=end,
            withheld=withheld,
            live=live,
            selection=selection if text else None,
            marks_cursor=request.marks and request.cursor is not None,
            wishes=wishes,
            hidden=hidden,
            language=language,
            asked=asked,
            carried=carried,
            recipe=recipe,
        )
        profile, damaged = self._profiles.served()
        return Task(
            request=resolved,
            fetch=fetch,
            fetchers=view.fetchers,
            counter=counter,
            profile=profile,
            layers={} if layers is None else layer_budgets(layers),
            previous=continued,
            warnings=(*view.warnings, *damaged, *warnings, *clamps, *unknown, *extra),
            texts=lambda path: _text(view, document, path),
            known=SourceCatalog(view.named, lambda path: _read(view, document, path), view.entities),
            encoding=request.position_encoding,
            stamps=_live_stamps(view, document) if document is not None and live else view.stamps,
        )

    def _counter(self, model: str, version: str | None) -> tuple[CachedCounter, tuple[ContextWarning, ...]]:
        cache = self._counters.get((model, version))
        if cache is not None:
            return cache, self._model_warning(model, cache.counter)
        try:
            measured = CachedCounter(_counting(self._counter_for(model, version)))
        except ContractError:  # an invalid name of a model
            raise
        except Exception as error:  # a host's own function may raise anything
            if self._fallback is None:
                raise
            why = message_of(error) if isinstance(error, CounterError | OSError) else f"{type(error).__name__}: {error}"
            return CachedCounter(self._fallback), (COUNTER_MISSING(model=model, why=why),)
        self._counters.keep((model, version), measured)
        return measured, self._model_warning(model, measured.counter)

    @staticmethod
    def _model_warning(model: str, counter: Counter) -> tuple[ContextWarning, ...]:
        """A name that nobody knows is most often misspelt; a vendor that publishes no tokenizer is no news."""
        if isinstance(counter, TokenCounter) and counter.name == "estimate" and not TokenCounter.knows(model):
            return (MODEL_UNKNOWN(model=model, near=suggestion(TokenCounter.near(model))),)
        return ()


def _counting(made: Counter) -> Counter:
    """What a host's function gave, if it is a counter.

    Raises:
        CounterError: It is no counter; says what it lacks.
    """
    if lacking := [name for name in ("name", "exact", "count") if not hasattr(made, name)]:
        raise CounterError(f"{type(made).__name__} is no counter, it lacks {', '.join(lacking)}")
    return made


def _open(view: RequestState, request: AssembleRequest) -> tuple[Document | None, bool]:
    """The open document, and whether it is ahead of the project."""
    if request.text is not None:
        return view.unsaved(request.document, request.text)
    return (view.document(request.document) if request.document else None), False


def _chapter(document: Document, cursor: int) -> int | None:
    """The chapter of a document at the cursor; of a file that holds several, the one that the cursor is in."""
    if document.chapter is not None or document.kind not in STORY_KINDS:
        return document.chapter
    at = bisect_right(document.paragraphs, cursor, key=_start) - 1
    return document.paragraphs[at].chapter if at >= 0 else None


def _chapter_span(document: Document, cursor: int, last: int) -> tuple[int, int | None]:
    """Where the chapter at the cursor begins in a file that holds several, and where the one behind `last` does.

    0 and None where there is no other.
    """
    here = None if document.chapter is not None else _chapter(document, cursor)
    if here is None:
        return 0, None
    paragraphs = document.paragraphs
    first = bisect_right(paragraphs, cursor, key=_start) - 1
    while first and paragraphs[first - 1].chapter == here:
        first -= 1
    there = _chapter(document, last)
    behind = islice(paragraphs, bisect_right(paragraphs, last, key=_start), None)
    end = next((part.start for part in behind if part.chapter is not None and part.chapter != there), None)
    return paragraphs[first].start if first else 0, end


def _live_stamps(view: RequestState, document: Document) -> Mapping[str, str]:
    """The stamps of the project, with one of the buffer for the open document."""
    return {**view.stamps, document.path: f"{LIVE}:{document.content_hash}"}


def _text(view: RequestState, document: Document | None, path: str) -> str | None:
    """What a request read at `path`: of the open document the buffer."""
    result = _read(view, document, path)
    return None if result is None else result.text


def _read(view: RequestState, document: Document | None, path: str) -> Document | None:
    return document if document is not None and document.path == path else view.documents.get(path)


def _places(
    request: AssembleRequest, document: Document | None
) -> tuple[int, tuple[int, int] | None, list[ContextWarning]]:
    """Cursor and selection in code points, and what had to be clamped. An empty selection is dropped.

    A live text is what the offsets are about, so that one outside it is wrong; a saved one may be behind the editor.
    """
    text = "" if document is None else document.text
    clamps: list[ContextWarning] = []

    def place(name: str, position: int) -> int:
        if document is None and position:
            raise CursorOutOfRange(f"{name} {position} needs a document, and the request names none")
        if request.text is not None:
            return code_points(text, position, request.position_encoding, name=name)
        point = clamped(text, position, request.position_encoding, name=name)
        if point is not None:
            return point
        end = units(text, len(text), request.position_encoding)
        clamps.append(CONTEXT_CURSOR_CLAMPED(what=name, position=shown(position), document=request.document, end=end))
        return len(text)

    selection: tuple[int, int] | None = None
    if request.selection is not None:
        start, end = (place("selection", point) for point in request.selection)
        selection = (start, end)
    if request.cursor is not None:
        cursor = place("cursor", request.cursor)
    else:
        cursor = _end(document) if selection is None else selection[1]
    return cursor, None if selection is None or selection[0] == selection[1] else selection, clamps


def _end(document: Document | None) -> int:
    """Where a document is written on: of the story, behind its last prose."""
    if document is None or document.kind not in STORY_KINDS:
        return 0 if document is None else len(document.text)
    last = max((part.start for part in story_parts(document)), default=0)
    end = story_end(document, last)
    return end if end < len(document.text.rstrip()) else len(document.text)


def _known_text(document: Document, cursor: int, as_of: int | None) -> tuple[str, str]:
    """What of an open document may be known as of a chapter, and why that is not all; nothing when the cursor is later.

    The text ends before the first thing that is later, so that places stay as they are.
    """
    end = len(document.text) if as_of is None else visible_until(document, as_of)
    if as_of is None or end == len(document.text):
        return document.text, ""
    if cursor > end or not document.text[:end].strip():
        return "", Reason("out.open_behind", moment=as_of)
    return document.text[:end], Reason("out.open_after", moment=as_of)


def _continuation_of(previous: object) -> Continuation | None:
    """What the next prompt continues; `previous` is what a caller gave."""
    if previous is None:
        return None
    if isinstance(previous, Pack):
        return previous.continued
    if isinstance(previous, bytes):
        return Continuation.from_bytes(previous)
    raise ContractError(
        f"previous must be a Pack, as assemble returns it, or its continuation(), got {type(previous).__name__}"
    )
