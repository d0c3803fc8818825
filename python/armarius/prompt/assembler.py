"""The steps of a prompt in their order: fetch, admit, allocate, pack, render, report.

The assembler holds no text between calls.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from armarius.deadline import stage
from armarius.errors import BudgetError, ContextWarning
from armarius.prompt.admit import Admitted, admit
from armarius.prompt.allocate import FittedPrompt, available_tokens
from armarius.prompt.continuation import Continuation, Previous, still_valid
from armarius.prompt.counter import CachedCounter, Counter, PrefixMemory, stable_hash
from armarius.prompt.fetch import apply_pins, confirm_all, dropped_pins, fetch_all
from armarius.prompt.pack import pack
from armarius.prompt.report.pack import Pack, Task, account
from armarius.prompt.shares import query_candidate, recent_turns
from armarius.requests import AssembleRequest
from armarius.warnings import COUNTER_FAILED


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
        before = task.previous
        continues = before is not None and _same_place(before, task)
        with stage("fetch"):
            outcomes = apply_pins(fetch_all(task.fetchers, task.fetch, timeout=self._fetch_timeout), task.fetch.wishes)
            confirmed_ids: set[str] = set()
            if before is not None and continues:
                confirmed_ids, failed = confirm_all(
                    task.fetchers, before.retrieved, task.fetch, timeout=self._fetch_timeout
                )
                outcomes += failed
        with stage("admit"):
            outcomes += [recent_turns(task.fetch), query_candidate(task.fetch)]
            admitted = admit(outcomes, task.fetch.project_id, staying=before.retrieved if before else ())
        previous, valid = Previous(), set[str]()
        if before is not None:
            previous = before.previous
            if continues:
                valid = still_valid(before.retrieved, before.stamps, task.stamps, confirmed_ids)
                valid.difference_update(dropped_pins(task.fetch.wishes, task.fetch.bounds, before.retrieved))
        line = _Line(task, admitted, previous, valid, task.counter, task.warnings)
        with stage("fit"):
            try:
                fitted = line.fit(available)
            except BudgetError:
                raise
            except Exception as error:
                if self._fallback is None:
                    raise
                failure = COUNTER_FAILED(counter=task.counter.counter.name, kind=type(error).__name__, error=error)
                line = replace(line, counter=self._fallback, warnings=(*line.warnings, failure))
                fitted = line.fit(available)
        with stage("render"):
            contents = fitted.rendered.contents
        stable = stable_hash(contents["rules"] + contents["settings"])
        key, last = _identity(task.request, line.counter), None
        if before is not None and (before.counter, _identity(before, line.counter)) == (line.counter.counter.name, key):
            last = before.stable_prefix_hash
        line = replace(line, unchanged=self._memory.unchanged(key, stable, last, remember=remember))
        with stage("account"):
            return line.report(task.request, fitted)


@dataclass(frozen=True, slots=True)
class _Line:
    """A task behind `admit`: its pack under any budget. A pack keeps it for `what_if`, and it keeps no pack."""

    task: Task
    admitted: Admitted
    previous: Previous
    valid: Collection[str]
    counter: CachedCounter
    warnings: tuple[ContextWarning, ...]
    unchanged: bool = False

    def fit(self, available: int) -> FittedPrompt:
        """The prompt of at most that many tokens."""
        profile = self.task.profile.with_layers(self.task.layers)
        fetch = self.task.fetch
        return pack(
            self.admitted, self.counter, profile, available, fetch.recipe, self.previous, self.valid, fetch.language
        )

    def report(self, request: AssembleRequest, fitted: FittedPrompt) -> Pack:
        """The pack of a prompt."""
        return account(self.task, request, fitted, extra=self.warnings, unchanged=self.unchanged, again=self.under)

    def under(self, budget: int) -> Pack:
        """The same candidates under another budget."""
        request = AssembleRequest(**{**self.task.request.model_dump(), "budget": budget})
        return self.report(request, self.fit(available_tokens(request, self.task.profile)))


def _same_place(before: Continuation, task: Task) -> bool:
    """Whether what held there holds here: of the same document, within the same bounds, in the same language."""
    now = task.request
    there = (before.project_id, before.document, before.chapters, before.kinds, before.as_of, before.language)
    return there == (now.project_id, now.document, now.chapters, now.kinds, now.as_of, task.fetch.language)


def _identity(request: AssembleRequest | Continuation, counter: CachedCounter) -> tuple[str, ...]:
    """The key under which stable prefixes are compared."""
    return (
        request.project_id,
        request.skill,
        request.provider or "",
        request.model or "",
        f"{counter.counter.name}@{request.tokenizer_version or ''}",
    )
