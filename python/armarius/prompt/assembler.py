"""One request through the whole line: fetch, take in, fit, account. Holds no text between calls."""

import threading
import time
from collections.abc import Callable, Collection, Hashable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from armarius.config import CONFIG_NAME, Config
from armarius.deadline import Cancelled, patiently, stage
from armarius.errors import Backpressure, BudgetError, ConfigError, ContextWarning
from armarius.headings import FRAMES, Language, heading
from armarius.positions import PositionEncoding
from armarius.prompt.admit import QUERY_SOURCE, Admitted, admit
from armarius.prompt.allocate import Previous, available_tokens
from armarius.prompt.continuation import fit, still_true
from armarius.prompt.counter import CachedCounter, Counter
from armarius.prompt.fetch import FetchOutcome, confirmed, gather
from armarius.prompt.history import has_turns, spoken, story_layers, told_within, within_share, without_older
from armarius.prompt.passages import fill, window_share
from armarius.prompt.pins import let_go, settled
from armarius.prompt.plan import FittedPrompt, Plan, is_window
from armarius.prompt.prefix import PrefixMemory, stable_hash
from armarius.prompt.profile import BudgetProfile, LayerBudget, profile_number
from armarius.prompt.report.build import account
from armarius.prompt.report.continuation import Continuation
from armarius.prompt.report.items import UNKNOWN, Known, Texts
from armarius.prompt.report.pack import Pack
from armarius.prompt.shares import cards_within
from armarius.requests import AssembleRequest
from armarius.types import (
    LAYERS,
    Candidate,
    Evidence,
    Fetched,
    Fetcher,
    FetchRequest,
    LayerName,
)
from armarius.validation import shown
from armarius.warnings import COUNTER_FAILED

__all__ = ["Assembler", "AssemblySettings", "SingleFlight", "Task", "read_settings"]

_SPARE_TOKENS = 256  # that paragraphs leave before the window is given them


@dataclass(frozen=True, slots=True)
class Task:
    """A request resolved: document read, cursor in code points, counter and profile chosen.

    Attributes:
        fetchers: Who is asked for candidates.
        counter: Of the request's model, with its memory.
        layers: Changes to the profile for this request only.
        previous: The prompt that this one should continue.
        warnings: Said before the fetchers were asked, such as an index that is behind.
        stamps: Path to stamp of the project's files, as the fetchers see them.
        texts: The text of each, the buffer in the place of the open one.
        known: What names mean in them.
        encoding: Of positions in the request, and so of those in the answer that travels.
    """

    request: AssembleRequest
    fetch: FetchRequest
    fetchers: tuple[Fetcher, ...]
    counter: CachedCounter
    profile: BudgetProfile
    layers: Mapping[LayerName, LayerBudget] = field(default_factory=dict)
    previous: Continuation | None = None
    warnings: tuple[ContextWarning, ...] = ()
    stamps: Mapping[str, str] = field(default_factory=dict)
    texts: Texts = field(default=lambda _path: None, compare=False)
    known: Known = field(default=UNKNOWN, compare=False)
    encoding: PositionEncoding = "code-point"


class Assembler:
    """Turns tasks into packs. Threads may share one.

    Args:
        fallback: The counter used when a task's counter fails (CONTEXT_BUDGET_FALLBACK).
        fetch_timeout: Seconds after which a fetcher counts as failed.
    """

    def __init__(self, *, fallback: Counter | None = None, fetch_timeout: float = 5.0) -> None:
        self._fetch_timeout = fetch_timeout
        self._fallback = None if fallback is None else CachedCounter(fallback)
        self._memory = PrefixMemory()

    def assemble(self, task: Task, *, remember: bool = True) -> Pack:
        """The pack for `task`.

        Args:
            task: The request, resolved.
            remember: Whether the next request's `stable_prefix_unchanged` is against this one.

        Raises:
            BudgetError: The budget is not positive after the reserve, or too small for what must be in.
        """
        available = available_tokens(task.request, task.profile)
        with stage("fetch"):
            answers = settled(gather(task.fetchers, task.fetch, timeout=self._fetch_timeout), task.fetch.wishes)
            sure, unsure = _confirmed(task, self._fetch_timeout)
        staying = task.previous.retrieved if task.previous else ()
        with stage("admit"):
            said = [*answers, *unsure, spoken(task.fetch), _query(task)]
            admitted = admit(said, task.fetch.project_id, staying=staying)
        warnings = task.warnings
        line = _Continuing(task, admitted, sure)
        try:
            with stage("fit"):
                plan, fitted = line.fit(task.counter, available)
        except BudgetError:
            raise
        except Exception as error:
            if self._fallback is None:
                raise
            failed = COUNTER_FAILED(counter=task.counter.counter.name, kind=type(error).__name__, error=error)
            warnings = (*warnings, failed)
            with stage("fit"):
                plan, fitted = line.fit(self._fallback, available)
        key = _identity(task.request, plan)
        before = task.previous.stable_prefix_hash if task.previous and _same_identity(task, key, plan) else None
        stable = fitted.rendered.contents["rules"] + fitted.rendered.contents["settings"]
        unchanged = self._memory.unchanged(key, stable_hash(stable), before, remember=remember)
        with stage("account"):
            return _Accounting(task, line, plan.measured, warnings, unchanged).pack(task.request, plan, fitted)


@dataclass(frozen=True, slots=True)
class _Accounting:
    """Makes packs of one task. A pack keeps it to ask for another budget, and it keeps no pack: no circle."""

    task: Task
    line: "_Continuing"
    counter: CachedCounter
    warnings: tuple[ContextWarning, ...]
    unchanged: bool

    def pack(self, request: AssembleRequest, plan: Plan, fitted: FittedPrompt) -> Pack:
        task = self.task
        return account(
            request,
            plan,
            fitted,
            stamps=task.stamps,
            extra=self.warnings,
            unchanged=self.unchanged,
            again=self.under,
            texts=task.texts,
            known=task.known,
            encoding=task.encoding,
        )

    def under(self, budget: int) -> Pack:
        """The same candidates under another budget."""
        request = AssembleRequest(**{**self.task.request.model_dump(), "budget": budget})
        return self.pack(request, *self.line.fit(self.counter, available_tokens(request, self.task.profile)))


class _Continuing:
    """Candidates of one task, and what of the previous prompt still holds."""

    def __init__(self, task: Task, admitted: Admitted, sure: Collection[str]) -> None:
        self._admitted = admitted
        profile = task.profile.with_layers(task.layers)
        self._profile = profile.with_layers(story_layers(admitted, profile, profile.story_percent))
        self._language = task.fetch.language
        self._previous = Previous()
        self._true: set[str] = set()
        if task.previous is not None:
            self._previous = task.previous.previous
            if _same_place(task.previous, task):
                self._true = still_true(task.previous.retrieved, task.previous.stamps, task.stamps, sure)
                self._true.difference_update(let_go(task.fetch.wishes, task.fetch.bounds, task.previous.retrieved))

    def fit(self, counter: CachedCounter, available: int) -> tuple[Plan, FittedPrompt]:
        """Demand first, then the paragraphs on offer in what it leaves; turns give way to what must be in."""
        limit = self._profile.limit(available)
        admitted = cards_within(self._admitted, counter, available)
        admitted = told_within(within_share(admitted, counter, limit), counter, limit, self._profile.story_percent)
        while True:
            try:
                return self._fit(admitted, counter, available)
            except BudgetError:
                if not has_turns(admitted):
                    raise
                admitted = without_older(admitted)

    def _fit(self, admitted: Admitted, counter: CachedCounter, available: int) -> tuple[Plan, FittedPrompt]:
        offers = [offer for offer in admitted.offers if offer.rows]
        if not offers:
            return self._demand(admitted, counter, available)
        limit = self._profile.limit(available)
        most = window_share(limit, self._profile.insisted_min(available))
        plan, fitted = self._demand(admitted, counter, available, most)
        for offer in offers:
            fitted = fill(plan, fitted, offer, available, self._previous, most, self._language)
        spare = limit - fitted.token_count
        if spare <= _SPARE_TOKENS or not any(is_window(c) and f == "truncated" for c, f in _forms(fitted)):
            return plan, fitted
        # What no paragraph wanted is the window's again.
        plan, demand = self._demand(admitted, counter, available, most + spare - _SPARE_TOKENS // 2)
        for offer in offers:
            demand = fill(plan, demand, offer, available, self._previous, None, self._language)
        return plan, demand

    def _demand(
        self, admitted: Admitted, counter: CachedCounter, available: int, most: int | None = None
    ) -> tuple[Plan, FittedPrompt]:
        return fit(admitted, counter, self._profile, available, self._previous, self._true, most)


def _forms(fitted: FittedPrompt) -> list[tuple[Candidate, str]]:
    return [(item.candidate, item.form) for item in fitted.rendered.placed]


def _confirmed(task: Task, timeout: float) -> tuple[set[str], list[FetchOutcome]]:
    """What of the previous prompt its fetchers confirm, and who failed to say."""
    if task.previous is None or not _same_place(task.previous, task):
        return set(), []
    return confirmed(task.fetchers, task.previous.retrieved, task.fetch, timeout=timeout)


def _same_place(before: Continuation, task: Task) -> bool:
    """Whether what held there holds here: of the same document, within the same bounds, in the same language."""
    now = task.request
    there = (before.project_id, before.document, before.chapters, before.kinds, before.as_of, before.language)
    return there == (now.project_id, now.document, now.chapters, now.kinds, now.as_of, task.fetch.language)


def _query(task: Task) -> FetchOutcome:
    """The user's words close the prompt; they are kept before anything else of their layer."""
    query = task.fetch.query
    candidate = Candidate(
        id=QUERY_SOURCE,
        layer="immediate",
        source=QUERY_SOURCE,
        content=query,
        score=-1e308,
        evidence=(
            Evidence("query", "the user's words"),
            *(Evidence("query", carried) for carried in task.fetch.carried),
        ),
        group=heading("query", task.fetch.language),
        pinned=True,
        keep="head",
    )
    return FetchOutcome("query", "immediate", Fetched((candidate,) if query.strip() else ()))


def _identity(request: AssembleRequest | Continuation, plan: Plan) -> tuple[str, ...]:
    return (
        request.project_id,
        request.skill,
        request.provider or "",
        request.model or "",
        f"{plan.measured.counter.name}@{request.tokenizer_version or ''}",
    )


def _same_identity(task: Task, key: tuple[str, ...], plan: Plan) -> bool:
    previous = task.previous
    return (
        previous is not None and previous.counter == plan.measured.counter.name and (_identity(previous, plan) == key)
    )


_DEFAULT_MODEL = "gpt-4o"
_MOST = 86_400  # of seconds, and of assemblies at once
_OF_LAYER = ("min", "max", "ratio")


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """The tables `project`, `budget` and `assembly`, checked.

    Attributes:
        project_id: None when the project does not insist on one.
        model: Whose counter is used when a request names no model.
        language: Of headings and labels; None is that of the texts.
    """

    project_id: str | None = None
    model: str = _DEFAULT_MODEL
    language: Language | None = None
    fetch_timeout_s: float = 5.0
    max_concurrent: int = 8
    queue_timeout_s: float = 30.0
    profile: BudgetProfile = field(default_factory=BudgetProfile)


def read_settings(config: Config) -> AssemblySettings:
    """The settings in `config`.

    Raises:
        ConfigError: An unknown key or a value of the wrong kind; names file, table and key.
    """
    project = _checked(config.table("project"), "project", {"id": str})
    assembly = _checked(
        config.table("assembly"),
        "assembly",
        {"model": str, "language": str, "fetch_timeout_s": float, "max_concurrent": int, "queue_timeout_s": float},
    )
    budget = _checked(
        config.table("budget"),
        "budget",
        {"tokens": int, "warn_percent": int, "trim_percent": int, "story": int, "layers": dict},
    )
    if (language := assembly.get("language")) is not None and language not in FRAMES:
        known = ", ".join(FRAMES)
        raise ConfigError(f"{CONFIG_NAME}: assembly.language must be one of {known}, got {language!r}")
    for name, value in assembly.items():
        if not isinstance(value, str) and not 0 < value <= _MOST:
            raise ConfigError(f"{CONFIG_NAME}: assembly.{name} must be > 0 and <= {_MOST:,}, got {value!r}")
    return AssemblySettings(project_id=project.get("id"), profile=_profile(budget), **assembly)


def _profile(budget: Mapping[str, Any]) -> BudgetProfile:
    names = {
        "tokens": "budget", "warn_percent": "warn_percent", "trim_percent": "trim_percent", "story": "story_percent",
    }  # fmt: skip
    try:
        values: dict[str, Any] = {
            names[key]: profile_number(names[key], value, key) for key, value in budget.items() if key != "layers"
        }
        return BudgetProfile(layers=_layers(budget.get("layers", {})), **values)
    except BudgetError as error:
        raise ConfigError(f"{CONFIG_NAME}: budget.{error.message}") from None


def _layers(layers: Mapping[str, Any]) -> dict[LayerName, LayerBudget]:
    if unknown := sorted(layers.keys() - set(LAYERS)):
        raise ConfigError(f"{CONFIG_NAME}: unknown key budget.layers.{unknown[0]}; known: {', '.join(LAYERS)}")
    return {name: _layer(name, layers[name]) for name in LAYERS if name in layers}


def _layer(name: LayerName, said: object) -> LayerBudget:
    if not isinstance(said, Mapping):
        wanted = "a table of min, max and ratio"
        raise ConfigError(f"{CONFIG_NAME}: budget.layers.{name} must be {wanted}, got {shown(said)}")
    if unknown := sorted(said.keys() - set(_OF_LAYER)):
        raise ConfigError(
            f"{CONFIG_NAME}: unknown key budget.layers.{name}.{unknown[0]}; known: {', '.join(_OF_LAYER)}"
        )
    try:
        return LayerBudget(**said)
    except BudgetError as error:  # begins with the key
        key = error.message.partition(" ")[0]
        raise ConfigError(f"{CONFIG_NAME}: budget: {error.message} (budget.layers.{name}.{key})") from None


def _checked(table: Mapping[str, Any], name: str, kinds: Mapping[str, type]) -> dict[str, Any]:
    if unknown := sorted(table.keys() - kinds.keys()):
        raise ConfigError(f"{CONFIG_NAME}: unknown key {name}.{unknown[0]}; known: {', '.join(kinds)}")
    for key, value in table.items():
        accepted = (int, float) if kinds[key] is float else (kinds[key],)
        if isinstance(value, bool) or not isinstance(value, accepted):
            raise ConfigError(f"{CONFIG_NAME}: {name}.{key} must be of type {kinds[key].__name__}, got {value!r}")
    return dict(table)


T = TypeVar("T")
_FOR_EVER = 1e6  # seconds; the work itself has limits


class SingleFlight(Generic[T]):
    """Runs work under a limit; work with the key of work in flight waits for that answer instead.

    Args:
        limit: At most so many at once.
        patience: Seconds that one more waits for its turn before `Backpressure`.

    Attributes:
        waiting: How many wait for the answer of another right now.
    """

    def __init__(self, limit: int, patience: float) -> None:
        self._limit = limit
        self._patience = patience
        self._turns = threading.BoundedSemaphore(limit)
        self._flying: dict[Hashable, Future[T]] = {}
        self._lock = threading.Lock()
        self.waiting = 0

    def run(self, key: Hashable, work: Callable[[], T]) -> T:
        """The answer of `work`, or of the same work already under way.

        Raises:
            Backpressure: No turn within the patience.
        """
        while True:
            with self._lock:
                under_way = self._flying.get(key)
                if under_way is None:
                    future: Future[T] = Future()
                    self._flying[key] = future
                    break
                self.waiting += 1
            try:
                patiently(partial(_lands, under_way), _FOR_EVER)
            finally:
                with self._lock:
                    self.waiting -= 1
            try:
                return under_way.result()
            except Cancelled:  # nobody waited for that one any longer, and here somebody does
                continue
        try:
            answer = self._in_turn(work)
        except BaseException as error:
            self._land(key)
            future.set_exception(error)
            raise
        self._land(key)
        future.set_result(answer)
        return answer

    def _in_turn(self, work: Callable[[], T]) -> T:
        started = time.monotonic()
        if not patiently(lambda seconds: self._turns.acquire(timeout=seconds), self._patience):
            waited = time.monotonic() - started
            raise Backpressure(f"{self._limit} assemblies are running, no turn came within {waited:.1f} s")
        try:
            return work()
        finally:
            self._turns.release()

    def _land(self, key: Hashable) -> None:
        with self._lock:
            del self._flying[key]


def _lands(flight: "Future[T]", seconds: float) -> bool:
    return bool(wait([flight], seconds).done)
