"""One request through the whole line: fetch, take in, fit, account. Holds no text between calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from armarius.assembly.budget import BudgetProfile, LayerBudget
from armarius.assembly.carry import carry, outgrown, still_true
from armarius.assembly.counting import Counter, Measured
from armarius.assembly.gather import Answer, gather
from armarius.assembly.intake import Intake, take_in
from armarius.assembly.plan import Fitted, Plan, Previous
from armarius.assembly.prefix import PrefixMemory, stable_hash
from armarius.assembly.report import Pack, PackOmission, account
from armarius.contract import AssembleRequest, AssembleResult, LayerResult, LayerResults
from armarius.errors import BudgetError, ContextWarning
from armarius.fetchers.base import LAYERS, Candidate, Evidence, Fetched, Fetcher, FetchRequest, LayerName

__all__ = ["Assembler", "Task"]

QUERY_SOURCE = "request:query"
QUERY_GROUP = "[用户请求]"


@dataclass(frozen=True, slots=True)
class Task:
    """A request resolved: document read, cursor in code points, counter and profile chosen.

    Attributes:
        fetchers: Who is asked for candidates.
        counter: Of the request's model, with its memory.
        layers: Changes to the profile for this request only.
        previous: The pack whose prompt this one should continue.
        warnings: Said before the fetchers were asked, such as an index that is behind.
        stamps: Path to stamp of the project's files, as the fetchers see them.
    """

    request: AssembleRequest
    fetch: FetchRequest
    fetchers: tuple[Fetcher, ...]
    counter: Measured
    profile: BudgetProfile
    layers: Mapping[LayerName, LayerBudget] = field(default_factory=dict)
    previous: Pack | None = None
    warnings: tuple[ContextWarning, ...] = ()
    stamps: Mapping[str, str] = field(default_factory=dict)


class Assembler:
    """Turns tasks into packs. Threads may share one.

    Args:
        fallback: The counter used when a task's counter fails (CONTEXT_BUDGET_FALLBACK).
        fetch_timeout: Seconds after which a fetcher counts as failed.
    """

    def __init__(self, *, fallback: Counter | None = None, fetch_timeout: float = 5.0) -> None:
        self._fetch_timeout = fetch_timeout
        self._fallback = None if fallback is None else Measured(fallback)
        self._memory = PrefixMemory()

    def assemble(self, task: Task, *, remember: bool = True) -> Pack:
        """The pack for `task`.

        Args:
            task: The request, resolved.
            remember: Whether the next request's `stable_prefix_unchanged` is against this one.

        Raises:
            BudgetError: The budget is not positive after the reserve, or too small for what must be in.
        """
        available = _available(task.request, task.profile)
        answers = gather(task.fetchers, task.fetch, timeout=self._fetch_timeout)
        intake = take_in([*answers, _query(task)], task.fetch.project_id)
        previous = task.previous.as_previous() if task.previous else Previous()
        profile = task.profile.with_layers(task.layers)
        warnings = task.warnings
        try:
            plan, fitted = _fit(task, intake, task.counter, profile, previous, available)
        except BudgetError:
            raise
        except Exception as error:
            if self._fallback is None:
                raise
            message = f"{task.counter.counter.name} failed ({type(error).__name__}: {error}); counted by estimate"
            warnings = (*warnings, ContextWarning("CONTEXT_BUDGET_FALLBACK", message))
            plan, fitted = _fit(task, intake, self._fallback, profile, previous, available)
        key = _identity(task.request, plan)
        before = task.previous.stable_prefix_hash if task.previous and _same_identity(task, key, plan) else None
        stable = fitted.rendered.contents["rules"] + fitted.rendered.contents["settings"]
        unchanged = self._memory.unchanged(key, stable_hash(stable), before, remember=remember)
        return _pack(task, task.request, plan, fitted, warnings, unchanged)


def _fit(
    task: Task, intake: Intake, counter: Measured, profile: BudgetProfile, previous: Previous, available: int
) -> tuple[Plan, Fitted]:
    """The best prompt that continues the previous one; a new beginning when that has outgrown its room."""
    if task.previous is not None:
        same = _same_place(task.previous.request, task.request)
        stayers = still_true(task.previous.retrieved, task.previous.stamps, task.stamps) if same else []
        plan = Plan(carry(intake, stayers), counter, profile, previous, hold=True)
        fitted = plan.fit(available)
        if not outgrown(plan, fitted, profile.limit(available)):
            return plan, fitted
        plan = Plan(intake, counter, profile, previous)
        return plan, replace(plan.fit(available), anchor_moved=True)
    plan = Plan(intake, counter, profile, previous)
    return plan, plan.fit(available)


def _same_place(before: AssembleRequest, now: AssembleRequest) -> bool:
    return (before.project_id, before.document_id) == (now.project_id, now.document_id)


def _available(request: AssembleRequest, profile: BudgetProfile) -> int:
    budget = profile.budget if request.budget is None else request.budget
    if budget <= 0:
        raise BudgetError(f"budget must be > 0 tokens, got {budget}")
    if request.reserve_output < 0:
        raise BudgetError(f"reserve_output must be >= 0 tokens, got {request.reserve_output}")
    if request.reserve_output >= budget:
        raise BudgetError(f"reserve_output {request.reserve_output} leaves nothing of the budget {budget}")
    return budget - request.reserve_output


def _query(task: Task) -> Answer:
    """The user's words close the prompt; they are kept before anything else of their layer."""
    query = task.fetch.query
    candidate = Candidate(
        id=QUERY_SOURCE,
        layer="immediate",
        source=QUERY_SOURCE,
        content=query,
        score=-1e308,
        evidence=(Evidence("query", "the user's words"),),
        group=QUERY_GROUP,
        pinned=True,
        keep="head",
    )
    return Answer("query", "immediate", Fetched((candidate,) if query.strip() else ()))


def _identity(request: AssembleRequest, plan: Plan) -> tuple[str, ...]:
    return (
        request.project_id,
        request.skill_id,
        request.provider or "",
        request.model or "",
        f"{plan.measured.counter.name}@{request.tokenizer_version or ''}",
    )


def _same_identity(task: Task, key: tuple[str, ...], plan: Plan) -> bool:
    previous = task.previous
    return (
        previous is not None
        and previous.counter == plan.measured.counter.name
        and (_identity(previous.request, plan) == key)
    )


def _pack(
    task: Task,
    request: AssembleRequest,
    plan: Plan,
    fitted: Fitted,
    extra: tuple[ContextWarning, ...],
    unchanged: bool,
) -> Pack:
    available = _available(request, plan.profile)
    contents = fitted.rendered.contents
    items = account(plan, fitted)
    left_out = [
        PackOmission(
            id=candidate.id,
            layer=candidate.layer,
            source=candidate.source,
            reason="budget",
            detail=f"{tokens} tokens did not fit",
            tokens=tokens,
            score=candidate.score,
            evidence=candidate.evidence,
        )
        for candidate, tokens in fitted.left_out
    ]
    refused = [PackOmission(o.id, o.layer, o.source, o.reason, o.detail) for o in plan.intake.omitted]
    omitted = sorted([*refused, *left_out], key=lambda o: (LAYERS.index(o.layer), o.source, o.id, o.reason))
    tokens = {layer: plan.measured.fresh(contents[layer]) if contents[layer] else 0 for layer in LAYERS}
    said: dict[LayerName, list[str]] = {layer: [] for layer in LAYERS}
    for layer, warning in plan.intake.warnings:
        said[layer].append(str(warning))
    if "rules" in {item.layer for item in items}:
        share = plan.profile.layers["rules"].ratio or 0
        if tokens["rules"] * 100 > share * available:
            message = f"rules take {tokens['rules']} tokens, more than {share:g} % of {available}"
            said["rules"].append(str(ContextWarning("CONTEXT_RULES_OVERBUDGET", message)))
    everything = [str(warning) for warning in extra] + [text for layer in LAYERS for text in said[layer]]
    everything += _capacity(plan.profile, fitted, available, bool(left_out) or any(i.form != "full" for i in items))
    trimmed = {item.layer for item in items if item.form != "full"} | {gone.layer for gone in left_out}
    layers = {
        layer: LayerResult(
            source=tuple(item.source for item in items if item.layer == layer),
            token_count=tokens[layer],
            truncated=layer in trimmed,
            warnings=tuple(said[layer]) or None,
        )
        for layer in LAYERS
    }
    stable = contents["rules"] + contents["settings"]
    result = AssembleResult(
        prompt=fitted.rendered.prompt,
        token_count=fitted.token_count,
        stable_prefix_hash=stable_hash(stable),
        stable_prefix_unchanged=unchanged,
        warnings=tuple(dict.fromkeys(everything)),
        capacity_percent=round(100 * fitted.token_count / available, 1),
        layers=LayerResults(**layers),
    )

    def again(budget: int) -> Pack:
        changed = AssembleRequest(**{**request.model_dump(), "budget": budget})
        fresh = plan.fit(_available(changed, plan.profile))
        return _pack(task, changed, plan, fresh, extra, unchanged)

    return Pack(
        result=result,
        request=request,
        counter=plan.measured.counter.name,
        counter_exact=plan.measured.counter.exact,
        budget=available + request.reserve_output,
        items=items,
        omitted=tuple(omitted),
        contents=contents,
        granted=fitted.granted,
        stamps={path: task.stamps[path] for item in items for path in item.documents if path in task.stamps},
        _plan=plan,
        _fitted=fitted,
        _again=again,
    )


def _capacity(profile: BudgetProfile, fitted: Fitted, available: int, trimmed: bool) -> list[str]:
    said = []
    if fitted.token_count * 100 >= profile.warn_percent * available:
        percent = 100 * fitted.token_count / available
        said.append(
            ContextWarning("CONTEXT_CAPACITY_WARNING", f"the prompt fills {percent:.1f} % of {available} tokens")
        )
    if trimmed and fitted.demanded * 100 >= profile.trim_percent * available:
        message = f"{fitted.demanded} tokens were on offer; trimmed to at most {profile.trim_percent} % of {available}"
        said.append(ContextWarning("CONTEXT_CAPACITY_FORCE_TRIM", message))
    return [str(warning) for warning in said]
