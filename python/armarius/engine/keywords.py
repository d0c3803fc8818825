"""What every verb of the engine has: a wrong keyword is answered with the nearest right one; a form for coroutines."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

__all__ = ["awaitable", "keywords_checked"]

Self = TypeVar("Self")
P = ParamSpec("P")
Answer = TypeVar("Answer")


def keywords_checked(verb: Callable[P, Answer]) -> Callable[P, Answer]:
    """`verb`, whose `TypeError` for a keyword it does not have names the nearest that it has."""
    code = verb.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @wraps(verb)
    def call(*args: P.args, **keywords: P.kwargs) -> Answer:
        for name in keywords:
            if name not in known:
                raise TypeError(_unexpected(verb.__name__, name, known))
        return verb(*args, **keywords)

    return call


def awaitable(
    verb: Callable[Concatenate[Self, P], Answer],
) -> Callable[Concatenate[Self, P], Coroutine[Any, Any, Answer]]:
    """`verb` for coroutines: same arguments, same answer, from a worker thread. Its name has an `a` before it."""

    @wraps(verb)
    async def call(self: Self, *args: P.args, **keywords: P.kwargs) -> Answer:
        import asyncio

        return await asyncio.to_thread(verb, self, *args, **keywords)

    name = verb.__name__
    call.__name__, call.__qualname__ = f"a{name}", verb.__qualname__.removesuffix(name) + f"a{name}"
    call.__doc__ = f"`{name}` for coroutines: same arguments, same answer, from a worker thread."
    return cast("Callable[Concatenate[Self, P], Coroutine[Any, Any, Answer]]", call)


def _unexpected(verb: str, name: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    from armarius.contract import python_name

    names = [one for one in known if one != "self"]
    meant = python_name(name)
    near = [meant] if meant in names else get_close_matches(meant, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(names)}"
    return f"{verb}() got an unexpected keyword argument {name!r}; {hint}"
