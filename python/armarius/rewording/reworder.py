"""Asking a language model for other wordings: cached, within a time, and never a reason for a question to fail."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from armarius.deadline import CALLER, patiently, remaining
from armarius.errors import ContextWarning, ContractError, RewordingError
from armarius.rewording.asking import RewordingRequest, how_many, request
from armarius.validation import seconds, whole
from armarius.warnings import REWORDING_UNAVAILABLE

if TYPE_CHECKING:
    import asyncio

__all__ = ["ChatModel", "Model", "Reworded", "Reworder"]

logger = logging.getLogger("armarius")

_SHARE = 0.5  # of what is left of a call: what is asked with the wordings comes after
_AT_ONCE = 8  # questions to a model that have not come back; a model that hangs is not asked for ever


@runtime_checkable
class ChatModel(Protocol):
    """A chat model as LangChain has it; one with `ainvoke` too is awaited where the caller is a coroutine."""

    def invoke(self, messages: Any, /) -> Any:  # noqa: ANN401 - messages in, a message out
        """The model's message."""
        ...


Model = Callable[[RewordingRequest], Any] | ChatModel
"""Messages to a reply: a function, also a coroutine function, or a chat model."""


@dataclass(frozen=True, slots=True)
class Reworded:
    """Other wordings of a question, or why there are none."""

    wordings: tuple[str, ...] = ()
    warning: ContextWarning | None = None


class Reworder:
    """A model that is asked for other wordings of questions. Threads may share one.

    Args:
        model: Takes the messages, gives text, a message or a list of wordings; may be a coroutine function.
        n: How many wordings to ask for, 1 to 8.
        timeout_s: Seconds that a question waits for it.
        remembered: Questions whose wordings are kept; the model is asked once for each.
        language: Of the wordings; see `armarius.rewording.request`.

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
        """`model` itself when it is one already."""
        return model if isinstance(model, Reworder) else cls(model)

    def ask(self, question: str, *, names: Iterable[str] = ()) -> Reworded:
        """Other wordings of `question`; with the warning `REWORDING_UNAVAILABLE` when there are none in time.

        A reply that comes late is kept for the next time. Failures are not.

        Cost: the model, in a thread of its own, once for a question and its names.
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
        if not patiently(lambda left: _is_over(flight, left), seconds):
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
        # What a host's library says may name addresses and keys.
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
        except BaseException as error:  # noqa: BLE001 - whoever waits is told, and this thread is nobody's
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
        """What a coroutine gives: on the loop of whoever waits, else on one of its own; not longer than the time."""
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
