"""How a whole has the verbs of its parts: one line each; a form for coroutines; wrong keywords answered."""

from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from functools import wraps
from operator import attrgetter
from threading import Event
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from armarius.deadline import CANCEL, calling

if TYPE_CHECKING:
    import asyncio

__all__ = ["CALLER", "awaitable", "verb_of"]

CALLER: ContextVar["asyncio.AbstractEventLoop | None"] = ContextVar("armarius_caller", default=None)
"""The event loop that waits for an answer, where it is one: what a verb awaits in turn may be awaited there."""

Self = TypeVar("Self")
P = ParamSpec("P")
Answer = TypeVar("Answer")


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
        cancel = Event()
        told = CANCEL.set(cancel)
        try:
            return await asyncio.to_thread(verb, self, *args, **keywords)
        except asyncio.CancelledError:
            cancel.set()
            raise
        finally:
            CANCEL.reset(told)
            CALLER.reset(waiting)

    name = verb.__name__
    call.__name__, call.__qualname__ = f"a{name}", verb.__qualname__.removesuffix(name) + f"a{name}"
    call.__doc__ = f"`{name}` for coroutines: same arguments, same answer, from a worker thread."
    return cast("Callable[Concatenate[Self, P], Coroutine[Any, Any, Answer]]", call)


def _unexpected(verb: str, name: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    from armarius.requests import python_name

    names = [one for one in known if one != "self"]
    meant = python_name(name)
    near = [meant] if meant in names else get_close_matches(meant, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(names)}"
    return f"{verb}() got an unexpected keyword argument {name!r}; {hint}"
