"""Validators for numbers, texts and flags from callers: Python, JSON wire form, channel and MCP use the same ones.

A number is an `int` between two bounds, a text is a `str`, a flag is a `bool`. Nothing is converted: `1.0`, `"5"`,
`True` and bytes are refused as numbers. The error names the field and shows the value. Arguments of a method (`limit`,
`depth`) may also be numpy integers; fields of a request (`budget`, `cursor`), which are sent as JSON, may not.
"""

from collections.abc import Iterable
from operator import index
from reprlib import Repr
from typing import Final, NoReturn, SupportsIndex

from armarius.errors import ContractError

MOST: Final = 2**31 - 1
"""Upper bound of limits, chapters and depths: the core uses 32-bit integers."""
LONGEST_QUESTION: Final = 1 << 20
"""Maximum length of a query, in code points."""
LONGEST_TEXT: Final = 1 << 24
"""Maximum length of a live document, and of all messages together, in code points."""
LONGEST_NAME: Final = 1 << 12
"""Maximum length of a path, a name or an id, in code points."""
_SHOWN: Final = 60
_BRIEF: Final = Repr()  # visits only the items it prints, unlike repr()
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxdict = _BRIEF.maxstring = _BRIEF.maxother = _SHOWN


def whole(
    field: str,
    value: object,
    *,
    least: int | None = 0,
    most: int | None = MOST,
    error: type[ContractError] = ContractError,
) -> int:
    """Check that `value` is a whole number from `least` to `most`; None for either is no bound.

    Args:
        field: Name of the field, for the error.
        value: The value to check, of any type.
        least: Smallest accepted number.
        most: Greatest accepted number.
        error: Class of the error.

    Raises:
        ContractError: Not such a number, for example `limit must be a whole number >= 1, got '5'`.
    """
    if type(value) is int:  # the usual case, without the slower protocol check
        number: int | None = value
    else:
        number = None if isinstance(value, bool) else _indexed(value)
    if number is None or (least is not None and number < least):
        _refuse(field, "a whole number" + ("" if least is None else f" >= {least}"), value, error)
    if most is not None and number > most:
        _refuse(field, f"a whole number <= {most}", value, error)
    return number


def _indexed(value: object) -> int | None:
    """The result of `__index__`; None without one, or if it raises (numpy arrays of several items do)."""
    try:
        return index(value) if isinstance(value, SupportsIndex) else None
    except Exception:  # noqa: BLE001 - a foreign `__index__` may raise anything
        return None


def text(field: str, value: object, *, most: int | None = None) -> str:
    """Check that `value` is a string of at most `most` code points.

    Raises:
        ContractError: Not a string, or longer.

    Cost: constant.
    """
    if not isinstance(value, str):
        _refuse(field, "a text", value)
    if most is not None and len(value) > most:
        raise ContractError(f"{field} has {len(value):,} characters, at most {most:,} are read")
    return value


def valid_text(field: str, value: object) -> str:
    """Check that `value` is a string that UTF-8 can encode; required of names, paths and ids.

    Raises:
        ContractError: Not a string, holds a lone surrogate, or has more than `LONGEST_NAME` code points.
    """
    found = text(field, value, most=LONGEST_NAME)
    try:
        found.encode()
    except UnicodeEncodeError as problem:
        raise ContractError(f"{field}: character {problem.start} is a lone surrogate, which is no text") from None
    return found


def texts(field: str, value: object, *, what: str = "texts") -> list[str]:
    """Check that `value` is an iterable of strings. A single string is refused, because it iterates over characters.

    Args:
        field: Name of the field, for the error.
        value: The value to check, of any type.
        what: Name of the items, for the error.

    Raises:
        ContractError: Not an iterable, or an item that is not a string; names the first such item by its index.
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        _refuse(field, f"a list of {what}", value)
    return [text(f"{field}[{at}]", one) for at, one in enumerate(value)]


def flag(field: str, value: object) -> bool:
    """Check that `value` is True or False.

    Raises:
        ContractError: Anything else, 0 and 1 included.
    """
    if not isinstance(value, bool):
        _refuse(field, "True or False", value)
    return value


def seconds(field: str, value: object) -> float:
    """Check that `value` is a number of seconds above 0; infinity is accepted and becomes `MOST`.

    Raises:
        ContractError: Not a number, a bool, NaN, or 0 and below.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        _refuse(field, "a number of seconds above 0", value)
    return float(value) if value < MOST else float(MOST)


def shown(value: object) -> str:
    """A `repr` of at most 60 characters for error messages; never raises."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a number of {value.bit_length()} bits"
    try:
        part = value[:_SHOWN] if isinstance(value, str | bytes) else value
        said = _BRIEF.repr(part) if isinstance(part, list | tuple) else repr(part)
    except Exception:  # noqa: BLE001 - a foreign `__repr__` may raise anything
        said = f"a {type(value).__name__}"
    return said if len(said) <= _SHOWN else f"{said[: _SHOWN - 1]}…"


def _refuse(field: str, wanted: str, value: object, error: type[ContractError] = ContractError) -> NoReturn:
    raise error(f"{field} must be {wanted}, got {shown(value)}")
