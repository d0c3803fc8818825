"""Prompts of a project: resolves a request against a view and assembles it; equal concurrent requests share it."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from inspect import Parameter, signature
from textwrap import fill
from typing import Any, Literal, TypeVar, Unpack, get_type_hints

import armarius.doors as doors
from armarius.arguments import asked_last
from armarius.deadline import Recent, SingleFlight, current, stage
from armarius.engine.project import PATIENCE, Project, ProjectView
from armarius.engine.questions import FollowUps, QueryRewriter
from armarius.prompt.assembler import Assembler
from armarius.prompt.profile import BudgetProfile, LayerBudget, ProfileStore
from armarius.prompt.render import PromptPlace, Region, locate_quote
from armarius.prompt.report.pack import Pack, Task, inspection
from armarius.prompt.request import Resolver, read_request
from armarius.requests import AssembleRequest, InspectRequest, InspectResult, RequestFields
from armarius.types import LayerName
from armarius.validation import LONGEST_TEXT, cleaned, valid_text
from armarius.validation import text as strict_text

_TASKS = 32  # whose last pack is kept; a pack is some hundreds of kilobytes
Layers = Mapping[LayerName, LayerBudget | Mapping[str, Any]]
Verb = TypeVar("Verb", bound=Callable[..., Any])


def _with_fields(verb: Verb) -> Verb:
    """`verb` with the fields of a request among its parameters, and their descriptions in its docstring."""
    rows = (f"{name}: {field.description}" for name, field in AssembleRequest.model_fields.items())
    lines = "\n".join(fill(row, 116, initial_indent=" " * 12, subsequent_indent=" " * 16) for row in rows)
    verb.__doc__ = (verb.__doc__ or "").replace("Args:\n", f"Args:\n{lines}\n", 1)
    of_verb = signature(verb)
    engine, query, *own, _ = of_verb.parameters.values()
    fields = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=AssembleRequest.model_fields[name].default, annotation=kind)
        for name, kind in get_type_hints(RequestFields).items()
    ]
    verb.__signature__ = of_verb.replace(parameters=[engine, query, *fields, *own])  # type: ignore[attr-defined]
    return verb


@dataclass(eq=False)
class Prompts:
    """Assembles and inspects prompts. Thread-safe.

    Args:
        project: Provides the view that a request reads.
        resolver: Turns a request into a task.
        assembler: Turns a task into a pack.
        flight: Limits concurrent assemblies; equal tasks share one.
        profiles: The project's budget profile.
        rewords: Query variants of a language model.
        follow_ups: Resolves questions that refer to a conversation.
    """

    _project: Project
    _resolver: Resolver
    _assembler: Assembler
    _flight: SingleFlight[Pack]
    _profiles: ProfileStore
    _rewords: QueryRewriter
    _follow_ups: FollowUps
    _tasks: Recent[Pack] = field(default_factory=lambda: Recent[Pack](_TASKS), init=False)  # the last pack of each

    @_with_fields
    def assemble(  # noqa: D417 - the fields of the request are put there
        self,
        query: str | AssembleRequest = "",
        *,
        previous: Pack | bytes | None = None,
        layers: Layers | None = None,
        reword: "doors.Model | doors.Reworder | Literal[False] | None" = None,
        timeout_s: float | None = None,
        **fields: Unpack[RequestFields],
    ) -> Pack:
        """A prompt within its budget, and the account of it.

        The keywords up to `task` are the fields of `AssembleRequest`, which says what each means; a request object may
        stand in the place of the query and all of them. `messages` may be objects of LangChain or LlamaIndex too, or
        pairs of role and text.

        Args:
            previous: The last pack of this task, or its `continuation()`: what it shares with the new prompt stays in
                place.
            layers: Budgets for this request only; a mapping with `min`, `max`, `ratio` will do for a `LayerBudget`.
            reword: Asked for other wordings when there are none in `also`; None is the engine's, if it has one,
                False nobody. A task is never reworded.
            timeout_s: Seconds to wait for what may be late: a model, a reranker, a graph, a host's fetchers, a server.
                What has not answered is left out with its warning, as when it fails. What the project answers from
                memory is never left out, and takes its time: opening a project, reading what has changed. None leaves
                each source its own limit.

        Raises:
            UnknownDocument: No such document.
            CursorOutOfRange: Cursor or selection are negative, inside a character, or outside `text`.
            BudgetError: The budget is not positive, or too small for what must be in, the selection included.
            ScopeViolation: The request or `previous` belongs to another project.
            UnknownId: Nothing is called what `include` or `exclude` names.
            Backpressure: Too many assemblies at once.
            ContractError: Anything else that is wrong with the request.

        Cost: the slowest fetcher, one allocation, two counts of the prompt.
        """
        request = read_request("assemble", query, fields)
        pack = self._assemble_kind(("assemble", timeout_s), request, previous, layers, reword)
        if request.task:
            self._tasks.keep(request.task, pack)
        return pack

    @_with_fields
    def inspect(
        self,
        query: str | AssembleRequest = "",
        *,
        previous: Pack | bytes | None = None,
        layers: Layers | None = None,
        reword: "doors.Model | doors.Reworder | Literal[False] | None" = None,
        debug_mode: bool = False,
        requested_by: str = "",
        timeout_s: float | None = None,
        **fields: Unpack[RequestFields],
    ) -> InspectResult:
        """What `assemble` would send, layer by layer; never the prompt.

        Arguments, errors and cost are those of `assemble`; `debug_mode` and `requested_by` are echoed in
        `inspect_meta`. A request object may be an `InspectRequest`, which carries them.
        """
        request = read_request("inspect", query, fields)
        if isinstance(request, InspectRequest):
            debug_mode, requested_by = debug_mode or request.debug_mode, requested_by or request.requested_by
            request = request.assembly()
        pack = self._assemble_kind(("inspect", timeout_s), request, previous, layers, reword)
        return inspection(pack, debug_mode=debug_mode, requested_by=requested_by)

    def locate(
        self, quote: str, *, document: str = "", text: str | None = None, timeout_s: float | None = None
    ) -> tuple[PromptPlace, ...]:
        """Positions of a quotation: in the open document or its buffer, then in all others.

        Args:
            quote: The quoted words.
            document: Project-relative path of the current document.
            text: That document as the editor holds it; None is as saved.
            timeout_s: As for `assemble`.

        Returns:
            Every place where they stand word for word; if nowhere, every place where they stand with other width, case,
            white space, quotation marks or dashes. Those of the open document first, then by path and offset; their
            `source` is their document's path.

        Raises:
            UnknownDocument: No such document.
            ContractError: The quote is empty; a document or text is invalid.

        Cost: one search of the project.
        """
        document = valid_text("document", document)
        text = None if text is None else cleaned(strict_text("text", text, most=LONGEST_TEXT))
        view = self._project.view(PATIENCE)
        opened = None
        if text is not None:
            opened, _ = view.unsaved(document, text)
        elif document:
            opened = view.document(document)
        first = {} if opened is None else {opened.path: opened}
        documents = {**first, **view.documents, **first}
        regions = (Region(path, path, 0, len(entry.text)) for path, entry in documents.items())
        return locate_quote(quote, regions, lambda path: documents[path].text)

    def budget_profile(self) -> BudgetProfile:
        """The project's budget profile, with the version that an update must name.

        Raises:
            ConfigError: The stored profile is invalid; prompts are made without it, with a warning (CODEX_INVALID).
        """
        return self._profiles.read()

    def update_budget_profile(self, profile: BudgetProfile, *, version: int) -> BudgetProfile:
        """Replace the profile, if it is still at `version`; kept in `.armarius/budget.json`.

        Raises:
            BudgetConflict: It has moved on (CONTEXT_BUDGET_CONFLICT), here or in another process.
            ConfigError: What is stored is no profile.
            StoreBusy, StoreFull: It cannot be written; what is stored is untouched.
        """
        return self._profiles.update(profile, version=version)

    def _assemble_kind(
        self,
        kind: tuple[str, float | None],
        request: AssembleRequest,
        previous: Pack | bytes | None,
        layers: Layers | None,
        reword: "doors.Model | doors.Reworder | Literal[False] | None",
    ) -> Pack:
        with stage("look"):
            view = self._project.view()
            previous = self._tasks.get(request.task) if previous is None else previous
        with stage("understand"):
            query, earlier = asked_last(request.query, request.messages)
            if earlier is not request.messages:
                request = request.model_copy(update={"query": query, "messages": earlier})
            spelled, carried = self._follow_ups.of(view, request.query, request.messages)
            worded = self._rewords.ask(view, spelled, request.also, reword, request.skill)
            request = request if worded.also == request.also else request.model_copy(update={"also": worded.also})
            warnings = (*worded.warnings, *view.skipped_in(request.query))
            task = self._resolver.task(view, request, previous, layers, warnings, asked=spelled, carried=carried)
        remember = kind[0] == "assemble"
        return self._flight.run(_key(kind, task, view), lambda: self._assemble_timed(task, remember=remember))

    def _assemble_timed(self, task: Task, *, remember: bool) -> Pack:
        pack = self._assembler.assemble(task, remember=remember)
        call = current()
        return pack if call is None else replace(pack, timings=dict(call.stages))


def _key(kind: tuple[str, float | None], task: Task, view: ProjectView) -> Hashable:
    """Key of equal tasks. The id of `stamps` identifies the view; a running task holds it, so the id is not reused."""
    layers = tuple(sorted(task.layers.items()))
    return kind, task.request, task.fetch, layers, id(task.previous), task.profile.version, id(view.stamps)
