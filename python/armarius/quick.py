"""Records that are made by the hundred in a request, or by the hundred thousand at an opening, at a third of the cost.

The `__init__` that `dataclass(frozen=True)` writes looks every field up by name to get past its own guard: a tenth of a
request went there (docs/performance.md). With slots there is a descriptor for each field that sets it; the `__init__`
written here calls those. Nothing else of the class changes: it is frozen, compares, prints and pickles as before.
"""

import dataclasses
import gc
import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = ["quick", "uncollected"]

Record = TypeVar("Record")


@contextmanager
def uncollected() -> Iterator[None]:
    """Put the search for cycles off while records are made of which none has any (`docs/decisions/0186`).

    CPython looks all objects through each time that their number has grown by a quarter, which is a third of the time
    of reading a long list. Nothing is put off where it is off already, by the host or by another thread.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    _put_off.append(None)
    try:
        yield
    finally:
        _put_off.clear()
        gc.enable()


_put_off: list[None] = []


def _after_fork() -> None:
    """Whoever put it off is not here any more."""
    if _put_off:
        _put_off.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)


def quick(cls: type[Record]) -> type[Record]:
    """A frozen dataclass with slots, with an `__init__` of the same signature that sets the slots directly.

    Raises:
        TypeError: The class is no such dataclass, or has a field that this cannot write: keyword-only, made by a
            factory, or none of its `__init__`.
    """
    known = dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    if not known or "__slots__" not in cls.__dict__:
        raise TypeError(f"{cls.__name__} is no frozen dataclass with slots")
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    for field in fields:
        if field.kw_only or not field.init or field.default_factory is not dataclasses.MISSING:
            raise TypeError(f"{cls.__name__}.{field.name}: only plain fields")
    names = [field.name for field in fields]
    lines = [f"def __init__(self, {', '.join(names)}):", *(f"    _set_{name}(self, {name})" for name in names)]
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    scope: dict[str, Any] = {f"_set_{name}": inspect.getattr_static(cls, name).__set__ for name in names}
    exec("\n".join(lines), scope)  # noqa: S102 - of field names alone, as dataclass does
    made, before = scope["__init__"], cls.__init__
    made.__defaults__ = before.__defaults__
    made.__annotations__ = before.__annotations__
    made.__qualname__, made.__module__, made.__doc__ = f"{cls.__name__}.__init__", cls.__module__, before.__doc__
    cls.__init__ = made  # type: ignore[method-assign]
    return cls
