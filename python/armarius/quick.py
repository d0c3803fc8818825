"""Frozen records that are made by the hundred in a request, at a third of the cost.

The `__init__` that `dataclass(frozen=True)` writes looks every field up by name to get past its own guard: a tenth of a
request went there (docs/performance.md). With slots there is a descriptor for each field that sets it; the `__init__`
written here calls those. Nothing else of the class changes: it is frozen, compares, prints and pickles as before.
"""

import dataclasses
import inspect
from typing import Any, TypeVar

__all__ = ["quick"]

Record = TypeVar("Record")


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
