"""Calls a language model for query variants, with a cache and a timeout; a failure becomes a warning."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from armarius.deadline import CALLER, remaining, wait_until
from armarius.errors import ContextWarning, ContractError, RewordingError
from armarius.rewording.asking import RewordingRequest, how_many, request
from armarius.validation import seconds, whole
from armarius.warnings import REWORDING_UNAVAILABLE

if TYPE_CHECKING:
    import asyncio

__all__ = ["ChatModel", "Model", "Reworded", "Reworder"]

logger = logging.getLogger("armarius")

_SHARE = 0.5  # of the time left of a call; retrieval, which uses the variants, needs the rest
_AT_ONCE = 8  # concurrent requests, so that a model that hangs does not get ever more threads


@runtime_checkable
class ChatModel(Protocol):
    """A chat model with LangChain's interface. If it has `ainvoke` too, coroutines use that."""

    def invoke(self, messages: Any, /) -> Any:  # noqa: ANN401 - messages in, a message out
        """Send the messages; returns the model's message."""
        ...


Model = Callable[[RewordingRequest], Any] | ChatModel
"""A function (or coroutine function) from messages to a reply, or a chat model."""


@dataclass(frozen=True, slots=True)
class Reworded:
    """The variants of a query, or the warning why there are none."""

    wordings: tuple[str, ...] = ()
    warning: ContextWarning | None = None


class Reworder:
    """Asks a model for query variants. Thread-safe.

    Args:
        model: Takes the messages and returns a text, a message or a list of texts; may be a coroutine function.
        n: Number of variants to ask for, 1 to 8.
        timeout_s: Seconds to wait for the model.
        remembered: Size of the cache, in queries.
        language: Language of the variants; see `armarius.rewording.request`.

    Raises:
        ContractError: `model` is neither callable nor a chat model; a number out of range.
    """

    def __init__(
        self,
        model: Model,
        *,
        n: int = 4,
        timeout_s: float = 10.0,
        remembered: int = 256,
        language: str | None = None,
    ) -> None:
        if not (callable(model) or isinstance(model, ChatModel)):
            raise ContractError(f"reword: a {type(model).__name__} is neither callable nor a chat model with invoke")
        n, remembered = how_many(n), whole("remembered", remembered)
        if timeout_s == 0:
            raise ContractError(f"timeout_s must be > 0, got {timeout_s!r}")
        seconds("timeout_s", timeout_s)
        self.model = model
        self.timeout_s = timeout_s
        self._n = n
        self._remembered = remembered
        self._language = language
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, tuple[str, ...]], tuple[str, ...]] = OrderedDict()
        self._asked: dict[tuple[str, tuple[str, ...]], Future[tuple[str, ...]]] = {}

    @classmethod
    def of(cls, model: "Model | Reworder") -> "Reworder":
        """Wrap `model`, unless it is a `Reworder` already."""
        return model if isinstance(model, Reworder) else cls(model)

    def ask(self, question: str, *, names: Iterable[str] = ()) -> Reworded:
        """The variants of `question`, or the warning `REWORDING_UNAVAILABLE` if there are none in time.

        A late reply is cached for the next call; failures are not cached.

        Cost: one call of the model, in a background thread, for each new question and names.
        """
        key = (question, tuple(names))
        with self._lock:
            if (known := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return Reworded(known)
            flight = self._asked.get(key)
            if flight is None and len(self._asked) >= _AT_ONCE:
                return _unavailable(f"{_AT_ONCE} questions are under way already")
            if flight is None:
                flight = self._asked[key] = Future()
                asked = (key, flight, CALLER.get())
                threading.Thread(target=self._answer, args=asked, name="armarius-reword", daemon=True).start()
        seconds = remaining(self.timeout_s, share=_SHARE)
        if not wait_until(lambda left: _is_over(flight, left), seconds):
            return _unavailable(f"no reply within {round(seconds, 2):g} s")
        try:
            wordings = flight.result(0)
        except Exception as error:  # noqa: BLE001 - no source failure may fail the call
            return _unavailable(self._why(error))
        return Reworded(wordings) if wordings else _unavailable("the reply holds no wording")

    def _why(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"no reply within {self.timeout_s:g} s"
        if isinstance(error, RewordingError):
            return error.message
        # The message of a host's library may contain addresses and keys, so only its type is reported.
        logger.debug("rewording failed", exc_info=error)
        return type(error).__name__

    def _answer(
        self,
        key: tuple[str, tuple[str, ...]],
        flight: "Future[tuple[str, ...]]",
        caller: "asyncio.AbstractEventLoop | None",
    ) -> None:
        try:
            asked = request(key[0], names=key[1], language=self._language, n=self._n)
            wordings = asked.parse(self._reply(asked, caller))
        except BaseException as error:  # noqa: BLE001 - passed on to the waiting threads
            self._done(key)
            flight.set_exception(error if isinstance(error, Exception) else RuntimeError(type(error).__name__))
            return
        self._done(key, wordings)
        flight.set_result(wordings)

    def _done(self, key: tuple[str, tuple[str, ...]], wordings: tuple[str, ...] = ()) -> None:
        with self._lock:
            self._asked.pop(key, None)
            if wordings and self._remembered:
                self._known[key] = wordings
                while len(self._known) > self._remembered:
                    self._known.popitem(last=False)

    def _reply(self, asked: RewordingRequest, caller: "asyncio.AbstractEventLoop | None") -> Any:  # noqa: ANN401
        invoke: Any = getattr(self.model, "invoke", self.model)
        if caller is not None:
            invoke = getattr(self.model, "ainvoke", invoke)
        reply = invoke(asked)
        return self._awaited(reply, caller) if isawaitable(reply) else reply

    def _awaited(self, reply: Awaitable[Any], caller: "asyncio.AbstractEventLoop | None") -> Any:  # noqa: ANN401
        """Run a coroutine within the timeout, on the caller's event loop if it is running, else on a new one."""
        import asyncio

        async def wait() -> Any:  # noqa: ANN401
            return await asyncio.wait_for(reply, self.timeout_s)

        if caller is None or not caller.is_running():
            return asyncio.run(wait())
        return asyncio.run_coroutine_threadsafe(wait(), caller).result(2 * self.timeout_s)


def _unavailable(why: str) -> Reworded:
    return Reworded(warning=REWORDING_UNAVAILABLE(why=why))


def _is_over(flight: "Future[tuple[str, ...]]", seconds: float) -> bool:
    return bool(wait([flight], seconds).done)
