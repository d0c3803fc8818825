"""A question under way: how long it may take, whether it is still waited for, where its time goes; verbs of parts.

A verb begins a call (`calling`); code that waits on its behalf asks here how long (`remaining`, `patiently`), and says
what it is at (`stage`). So no room hands a clock to the next one.
"""

import re
import threading
import time
from collections.abc import Callable, Coroutine, Hashable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial, wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast

from armarius.errors import Backpressure, ContractError
from armarius.validation import shown

if TYPE_CHECKING:
    import asyncio

__all__ = [
    "CALLER",
    "CANCEL",
    "Call",
    "Cancelled",
    "Observer",
    "SingleFlight",
    "awaitable",
    "bounded",
    "calling",
    "current",
    "observe",
    "patiently",
    "remaining",
    "stage",
    "verb_of",
]

Self = TypeVar("Self")
P = ParamSpec("P")
Answer = TypeVar("Answer")
_FOR_EVER = 1e6  # seconds
_SLICE_SECONDS = 0.05
"""How long a call goes on waiting, at most, after the coroutine that asked was cancelled."""


class Cancelled(BaseException):
    """Nobody waits for the answer any longer. Ends the work in its thread, and reaches no caller."""


class Observer(Protocol):
    """Told of every verb and every stage of it, in the thread that does them."""

    def verb(self, call: "Call") -> AbstractContextManager[object]:
        """Entered when a verb begins, left when it ends or raises."""
        ...

    def stage(self, name: str) -> AbstractContextManager[object]:
        """Likewise for a stage of one."""
        ...


class Call:
    """One question; belongs to the thread that answers it.

    Attributes:
        verb: Of the engine.
        until: On the monotonic clock, when the answer is due; None is whenever.
        stages: Milliseconds by stage, each without the stages inside it, in the order in which they ended.
        answer: What the verb returned; None until it has.
    """

    def __init__(self, verb: str, until: float | None, cancel: threading.Event | None) -> None:
        self.verb = verb
        self.until = until
        self.stages: dict[str, float] = {}
        self.answer: object = None
        self._began = time.perf_counter()
        self._cancel = cancel
        self._thread = threading.get_ident()
        self._inner = 0.0

    @property
    def is_here(self) -> bool:
        """Whether it is this thread's: a context may be carried into others."""
        return self._thread == threading.get_ident()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.perf_counter() - self._began

    @property
    def may_be_cancelled(self) -> bool:
        """Whether a coroutine waits for it."""
        return self._cancel is not None

    def check(self) -> None:
        """Go on only while somebody waits.

        Raises:
            Cancelled: Nobody does.
        """
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what is done inside as time of this stage."""
        self.check()
        before, self._inner = self._inner, 0.0
        began = time.perf_counter()
        try:
            yield
        finally:
            took = time.perf_counter() - began
            self.stages[name] = self.stages.get(name, 0.0) + 1000 * (took - self._inner)
            self._inner = before + took


class _Observed:
    """Who watches the calls of this process: like the tracer that it hands them to, one for all of it."""

    by: Observer | None = None


_CALL: ContextVar[Call | None] = ContextVar("armarius_call", default=None)
CANCEL: ContextVar[threading.Event | None] = ContextVar("armarius_cancel", default=None)
"""Set when the coroutine that waits for an answer is cancelled."""
CALLER: ContextVar["asyncio.AbstractEventLoop | None"] = ContextVar("armarius_caller", default=None)
"""The event loop that waits for an answer, where it is one: what a verb awaits in turn may be awaited there."""


def observe(observer: Observer | None) -> Observer | None:
    """Report every call of this process to `observer`, None for nobody; the observer before."""
    before, _Observed.by = _Observed.by, observer
    return before


def current() -> Call | None:
    """The call of this thread."""
    call = _CALL.get()
    return call if call is not None and call.is_here else None


@contextmanager
def calling(verb: str, timeout_s: float | None = None) -> Iterator[Call]:
    """A verb is being answered; inside another one, it is a part of that.

    Args:
        verb: Its name.
        timeout_s: Seconds that it may wait for what may be late.

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
    """What is done inside is this stage of the call; nothing when there is none.

    Raises:
        Cancelled: Nobody waits for the answer any longer.
    """
    call = current()
    if call is None:
        yield
        return
    observer = _Observed.by
    with call.stage(name), nullcontext() if observer is None else observer.stage(name):
        yield


def remaining(at_most: float, *, share: float = 1.0) -> float:
    """Seconds that something may be waited for: `at_most`, less where the answer is due before.

    Args:
        at_most: Its own limit.
        share: Of what is left of the call, for what others come after.
    """
    call = current()
    if call is None or call.until is None:
        return at_most
    return max(0.0, min(at_most, share * (call.until - time.monotonic())))


def patiently(wait: Callable[[float], bool], at_most: float) -> bool:
    """Wait with `wait(seconds)`, which says whether it is over, as long as the call allows; whether it is over.

    Raises:
        Cancelled: Nobody waits for the answer any longer.

    Cost: where a coroutine waits, a look every 50 ms.
    """
    call = current()
    seconds = remaining(at_most)
    if call is None or not call.may_be_cancelled:
        return wait(seconds)
    end = time.monotonic() + seconds
    while True:
        call.check()
        left = max(0.0, end - time.monotonic())
        if wait(min(left, _SLICE_SECONDS)):
            return True
        if left <= _SLICE_SECONDS:
            return False


def bounded(work: Callable[[], Answer], late: Callable[[float], Exception]) -> Answer:
    """`work` in this thread; where the call has limits, in one of its own that is left to end by itself.

    Args:
        work: May take long, and cannot be stopped.
        late: The error to raise after so many seconds.

    Raises:
        What `work` raises, or `late`.
    """
    call = current()
    if call is None or (call.until is None and not call.may_be_cancelled):
        return work()
    done: Future[Answer] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - the thread that waits gets it
            done.set_exception(error)

    threading.Thread(target=run, name="armarius-bounded", daemon=True).start()
    seconds = remaining(_FOR_EVER)
    if not patiently(lambda left: bool(wait([done], left).done), seconds):
        raise late(seconds)
    return done.result()


def _seconds(timeout_s: object) -> float:
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not 0 < timeout_s < float("inf"):
        raise ContractError(f"timeout_s must be a number of seconds above 0, got {shown(timeout_s)}")
    return float(min(timeout_s, _FOR_EVER))  # a whole number may be more than a float holds


def verb_of(
    part: str, verb: Callable[Concatenate[Any, P], Answer], name: str = "", *, question: bool = True
) -> Callable[Concatenate[Any, P], Answer]:
    """A verb of a part as a verb of the whole: the same signature and docstring, written once, where it is done.

    Args:
        part: Which attribute of the whole is asked, dots and all.
        verb: Of the class of that part. A `TypeError` for a keyword that it does not have names the nearest it has.
        name: What the whole calls it, when that is something else.
        question: Whether it is one that a host asks, with its time taken; `timeout_s`, where it has that, is obeyed.
    """
    find = attrgetter(part)
    name = name or verb.__name__
    code = verb.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @wraps(verb)
    def call(self: object, *args: P.args, **keywords: P.kwargs) -> Answer:
        for keyword in keywords:
            if keyword not in known:
                raise TypeError(_unexpected(name, keyword, known))
        if not question:
            return verb(find(self), *args, **keywords)
        with calling(name, cast("float | None", keywords.get("timeout_s"))) as this:
            answer = verb(find(self), *args, **keywords)
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


def _unexpected(verb: str, name: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    names = [one for one in known if one != "self"]
    meant = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()  # as on the wire
    near = [meant] if meant in names else get_close_matches(meant, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(names)}"
    return f"{verb}() got an unexpected keyword argument {name!r}; {hint}"


_FOR_EVER = 1e6  # seconds; the work itself has limits


class SingleFlight(Generic[Answer]):
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
        self._flying: dict[Hashable, Future[Answer]] = {}
        self._lock = threading.Lock()
        self.waiting = 0

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

    def _in_turn(self, work: Callable[[], Answer]) -> Answer:
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


def _lands(flight: "Future[Answer]", seconds: float) -> bool:
    return bool(wait([flight], seconds).done)
