"""Deadline, cancellation and stage timings of the call in progress.

A verb opens a call (`calling`), kept in a context variable. The code below it reads the time left (`remaining`), waits
within it (`wait_until`, `run_with_deadline`) and names its stage (`stage`). No function has to pass a deadline on.
`verb_of` and `awaitable` make the methods of `ContextEngine` from those of its parts.
`SingleFlight` joins equal calls, `Recent` keeps the last values.
"""

import logging
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast

from armarius.errors import Backpressure, ContractError
from armarius.validation import near, shown

if TYPE_CHECKING:
    import asyncio

Self = TypeVar("Self")
P = ParamSpec("P")
Part = TypeVar("Part")
Answer = TypeVar("Answer")
_FOR_EVER = 1e6  # seconds
_SLICE_SECONDS = 0.05
"""The interval at which a waiting call checks for cancellation."""


class Cancelled(BaseException):
    """The caller was cancelled. Ends the work in its thread; never reaches a caller."""


class Observer(Protocol):
    """Receives every verb and its stages, in the thread that runs them; see `observe`."""

    def verb(self, call: "Call") -> AbstractContextManager[object]:
        """A context manager around one verb; it sees the exception that the verb raises."""

    def stage(self, name: str) -> AbstractContextManager[object]:
        """A context manager around one stage of a verb."""


class Call:
    """One call of a verb; belongs to the thread that runs it.

    Attributes:
        verb: Name of the engine's method.
        until: Deadline in seconds of `time.monotonic`; None is no deadline.
        stages: Milliseconds by stage, nested stages subtracted, in the order in which they ended.
        answer: The verb's return value; None until it has returned.
        cancel: Set when the coroutine that started it is cancelled; None where none did.
        thread: That runs it. A copied context may carry a call into other threads.
        inner: Seconds of the stages inside the present one.
    """

    def __init__(self, verb: str, until: float | None, cancel: threading.Event | None) -> None:
        self.verb = verb
        self.until = until
        self.stages: dict[str, float] = {}
        self.answer: object = None
        self.cancel = cancel
        self.thread = threading.get_ident()
        self.inner = 0.0
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the call began."""
        return time.perf_counter() - self._began

    def check(self) -> None:
        """Raise if the call was cancelled.

        Raises:
            Cancelled: The coroutine that waits for the answer was cancelled.
        """
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled


class _Observed:
    """The observer of this process; one for all threads, as tracers are."""

    by: Observer | None = None


_CALL: ContextVar[Call | None] = ContextVar("armarius_call", default=None)
CANCEL: ContextVar[threading.Event | None] = ContextVar("armarius_cancel", default=None)
"""Set when the coroutine that waits for an answer is cancelled."""
request_id: ContextVar[str] = ContextVar("armarius_request_id", default="")
"""Id of the host's request, which it sets in its own context: in spans, and in records of the log as `request_id`."""
CALLER: ContextVar["asyncio.AbstractEventLoop | None"] = ContextVar("armarius_caller", default=None)
"""The event loop that waits for an answer, where it is one: what a verb awaits in turn may be awaited there."""


def _with_request_id(record: logging.LogRecord) -> bool:
    record.request_id = request_id.get()
    return True


logging.getLogger("armarius").addFilter(_with_request_id)


def observe(observer: Observer | None) -> Observer | None:
    """Set the observer of all calls of this process, None to remove it.

    Returns:
        The previous observer.
    """
    before, _Observed.by = _Observed.by, observer
    return before


def current() -> Call | None:
    """The call that this thread runs, or None."""
    call = _CALL.get()
    return call if call is not None and call.thread == threading.get_ident() else None


@contextmanager
def calling(verb: str, timeout_s: float | None = None) -> Iterator[Call]:
    """Open a call. Inside another call, join it and tighten its deadline for the time of the block.

    Args:
        verb: Name of the engine's method.
        timeout_s: Seconds until the deadline; None sets none. Only waiting ends at the deadline, not computation.

    Raises:
        ContractError: `timeout_s` is no number above 0.
    """
    until = None if timeout_s is None else time.monotonic() + _seconds(timeout_s)
    outer = current()
    if outer is not None:
        before = outer.until
        outer.until = before if until is None else until if before is None else min(before, until)
        try:
            yield outer
        finally:
            outer.until = before
        return
    call = Call(verb, until, CANCEL.get())
    token = _CALL.set(call)
    observer = _Observed.by
    try:
        with nullcontext() if observer is None else observer.verb(call):
            yield call
    finally:
        _CALL.reset(token)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Measure the block as a stage of the current call; does nothing outside a call.

    Raises:
        Cancelled: The call was cancelled.
    """
    call = _CALL.get()
    if call is None or call.thread != threading.get_ident():
        yield
        return
    if call.cancel is not None:
        call.check()
    observer = _Observed.by
    before, call.inner = call.inner, 0.0
    began = time.perf_counter()
    try:
        with nullcontext() if observer is None else observer.stage(name):
            yield
    finally:
        took = time.perf_counter() - began
        call.stages[name] = call.stages.get(name, 0.0) + 1000 * (took - call.inner)
        call.inner = before + took


def remaining(at_most: float, *, share: float = 1.0) -> float:
    """Seconds to wait for one thing: `at_most`, or less if the deadline of the call is nearer.

    Args:
        at_most: The limit of that thing itself, in seconds.
        share: Fraction of the time left that it may use, 0 to 1; the rest is kept for later steps.
    """
    call = current()
    if call is None or call.until is None:
        return at_most
    return max(0.0, min(at_most, share * (call.until - time.monotonic())))


def wait_until(wait: Callable[[float], bool], at_most: float) -> bool:
    """Wait until `wait(seconds)` returns True, the limit is reached, or the deadline of the call has passed.

    Args:
        wait: Blocks for at most the given seconds; returns whether the condition holds.
        at_most: Seconds.

    Returns:
        Whether the condition holds.

    Raises:
        Cancelled: The call was cancelled.

    Cost: a call that can be cancelled checks for that every 50 ms.
    """
    call = current()
    if call is None or (call.until is None and call.cancel is None):
        return wait(at_most)
    seconds = remaining(at_most)
    if call.cancel is None:
        return wait(seconds)
    end = time.monotonic() + seconds
    while True:
        call.check()
        left = max(0.0, end - time.monotonic())
        if wait(min(left, _SLICE_SECONDS)):
            return True
        if left <= _SLICE_SECONDS:
            return False


def run_with_deadline(work: Callable[[], Answer], late: Callable[[float], Exception]) -> Answer:
    """Run `work` within the deadline of the call.

    Without deadline and cancellation it runs in this thread. Otherwise it runs in a daemon thread, which continues
    after the deadline: Python cannot stop a thread.

    Args:
        work: A function that may block and cannot be interrupted.
        late: Makes the error for a missed deadline, from the seconds that were waited.

    Raises:
        Exception: The one that `work` raised, or that `late` made.
        Cancelled: The call was cancelled.
    """
    call = current()
    if call is None or (call.until is None and call.cancel is None):
        return work()
    done = run_in_thread(work, "armarius-bounded")
    seconds = remaining(_FOR_EVER)
    if not wait_until(partial(is_ready, done), seconds):
        raise late(seconds)
    return done.result()


def run_in_thread(work: Callable[[], Answer], name: str) -> "Future[Answer]":
    """Begin `work` in a daemon thread of this name; what it returns, or raises, is that of the future."""
    done: Future[Answer] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - re-raised in the waiting thread by done.result()
            done.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return done


def _seconds(timeout_s: object) -> float:
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not 0 < timeout_s < float("inf"):
        raise ContractError(f"timeout_s must be a number of seconds above 0, got {shown(timeout_s)}")
    return float(min(timeout_s, _FOR_EVER))  # float() of a very large int overflows


def verb_of(
    part: Callable[[Any], Part], verb: Callable[Concatenate[Part, P], Answer], name: str = "", *, question: bool = True
) -> Callable[Concatenate[Any, P], Answer]:
    """A verb of a part as a verb of the whole: the same signature and docstring, written once, where it is done.

    Args:
        part: The part of a whole that is asked.
        verb: Of the class of that part. A `TypeError` for a keyword that it does not have names the nearest it has.
        name: What the whole calls it, when that is something else.
        question: Whether it is one that a host asks, with its time taken; `timeout_s`, where it has that, is obeyed.
    """
    name = name or verb.__name__
    params = tuple(signature(verb).parameters)

    @wraps(verb)
    def call(self: object, *args: P.args, **keywords: P.kwargs) -> Answer:
        for keyword in keywords:
            if keyword not in params:
                raise TypeError(_unexpected_keyword(name, keyword, params))
        if not question:
            return verb(part(self), *args, **keywords)
        with calling(name, cast("float | None", keywords.get("timeout_s"))) as this:
            answer = verb(part(self), *args, **keywords)
            this.answer = answer
            return answer

    call.__name__, call.__qualname__ = name, verb.__qualname__.removesuffix(verb.__name__) + name
    return cast("Callable[Concatenate[Any, P], Answer]", call)


def awaitable(
    verb: Callable[Concatenate[Self, P], Answer],
) -> Callable[Concatenate[Self, P], Coroutine[Any, Any, Answer]]:
    """`verb` for coroutines: same arguments, same answer, from a worker thread. Its name has an `a` before it.

    Cancelled, its thread stops at the next stage of the work, and at once where it waits.
    """

    @wraps(verb)
    async def call(self: Self, *args: P.args, **keywords: P.kwargs) -> Answer:
        import asyncio

        waiting = CALLER.set(asyncio.get_running_loop())
        cancel = threading.Event()
        token = CANCEL.set(cancel)
        try:
            return await asyncio.to_thread(verb, self, *args, **keywords)
        except asyncio.CancelledError:
            cancel.set()
            raise
        finally:
            CANCEL.reset(token)
            CALLER.reset(waiting)

    name = verb.__name__
    call.__name__, call.__qualname__ = f"a{name}", verb.__qualname__.removesuffix(name) + f"a{name}"
    call.__doc__ = f"`{name}` for coroutines: same arguments, same answer, from a worker thread."
    return cast("Callable[Concatenate[Self, P], Coroutine[Any, Any, Answer]]", call)


def _unexpected_keyword(verb: str, name: str, params: tuple[str, ...]) -> str:
    names = [param for param in params if param != "self"]
    close = near(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name), names)  # as on the wire
    hint = f"did you mean {close[0]!r}?" if close else f"it takes {', '.join(names)}"
    return f"{verb}() got an unexpected keyword argument {name!r}; {hint}"


class SingleFlight(Generic[Answer]):
    """Runs work under a limit; work with the key of work in flight waits for that answer instead.

    Args:
        limit: At most so many at once.
        patience: Seconds that one more waits for its turn before `Backpressure`.
    """

    def __init__(self, limit: int, patience: float) -> None:
        self._limit = limit
        self._patience = patience
        self._turns = threading.BoundedSemaphore(limit)
        self._flying: dict[Hashable, Future[Answer]] = {}
        self._lock = threading.Lock()

    def run(self, key: Hashable, work: Callable[[], Answer]) -> Answer:
        """The answer of `work`, or of the same work already under way.

        Raises:
            Backpressure: No turn within the patience.
        """
        while True:
            with self._lock:
                under_way = self._flying.get(key)
                if under_way is None:
                    future: Future[Answer] = Future()
                    self._flying[key] = future
                    break
            wait_until(partial(is_ready, under_way), _FOR_EVER)
            try:
                return under_way.result()
            except Cancelled:  # nobody waited for that one any longer, and here somebody does
                continue
        try:
            answer = self._run_in_turn(work)
        except BaseException as error:
            self._land(key)
            future.set_exception(error)
            raise
        self._land(key)
        future.set_result(answer)
        return answer

    def _run_in_turn(self, work: Callable[[], Answer]) -> Answer:
        started = time.monotonic()
        if not wait_until(lambda seconds: self._turns.acquire(timeout=seconds), self._patience):
            waited = time.monotonic() - started
            raise Backpressure(f"{self._limit} assemblies are running, no turn came within {waited:.1f} s")
        try:
            return work()
        finally:
            self._turns.release()

    def _land(self, key: Hashable) -> None:
        with self._lock:
            del self._flying[key]


def is_ready(flight: "Future[Answer]", seconds: float) -> bool:
    """Whether an answer is there within so many seconds; for `wait_until`."""
    return bool(wait([flight], seconds).done)


class Recent(Generic[Answer]):
    """The values that were used last, by key; others are dropped. Thread-safe.

    Args:
        most: At most so many.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Answer] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Answer | None:
        """The value of a key, or None."""
        with self._lock:
            value = self._kept.get(key)
            if value is not None:
                self._kept.move_to_end(key)
            return value

    def keep(self, key: Hashable, value: Answer) -> None:
        """Keep a value, in the place of an earlier one of its key."""
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
