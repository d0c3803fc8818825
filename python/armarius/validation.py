"""One rule for numbers, texts and switches that a caller gives, at every surface: Python, wire, channel, MCP.

A number is an `int` between two bounds, never a `bool`, a text with digits in it, a float that happens to be whole or
bytes; a text is a `str`, a switch a `bool`. Nothing is converted: what `1.0` or `"5"` should mean, the caller knows.
The error names the field and shows what came. Numbers that are arguments of a method (`limit`, `depth`) may be numpy's
whole ones as well; the fields of a request (`budget`, `cursor`), which go over the wire, may not.
"""

from collections.abc import Iterable
from operator import index
from reprlib import Repr
from typing import Final, NoReturn, SupportsIndex

from armarius.errors import ContractError

__all__ = [
    "LONGEST_NAME",
    "LONGEST_QUESTION",
    "LONGEST_TEXT",
    "MOST",
    "flag",
    "seconds",
    "shown",
    "text",
    "texts",
    "valid_text",
    "whole",
]

MOST: Final = 2**31 - 1
"""No list of answers is longer, no chapter later, no depth greater; the core counts in 32 bits."""
LONGEST_QUESTION: Final = 1 << 20
"""Code points of what is asked."""
LONGEST_TEXT: Final = 1 << 24
"""Code points of a document that an editor hands over, and of all messages together."""
LONGEST_NAME: Final = 1 << 12
"""Code points of a path, a name, an id."""
_SHOWN: Final = 60
_BRIEF: Final = Repr()  # looks at no more of a list than is shown
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxdict = _BRIEF.maxstring = _BRIEF.maxother = _SHOWN


def whole(
    field: str,
    value: object,
    *,
    least: int | None = 0,
    most: int | None = MOST,
    error: type[ContractError] = ContractError,
) -> int:
    """`value` as a whole number from `least` to `most`, either None for any.

    Args:
        field: What the error calls it.
        value: Any object.
        least: The smallest that will do.
        most: The greatest.
        error: What is raised.

    Raises:
        ContractError: Anything else: `limit must be a whole number >= 1, got '5'`.
    """
    if type(value) is int:  # nearly always; to ask a protocol takes three microseconds
        number: int | None = value
    else:
        number = None if isinstance(value, bool) else _indexed(value)
    if number is None or (least is not None and number < least):
        _refuse(field, "a whole number" + ("" if least is None else f" >= {least}"), value, error)
    if most is not None and number > most:
        _refuse(field, f"a whole number <= {most}", value, error)
    return number


def _indexed(value: object) -> int | None:
    """The number that something says it is; None when it is none, as an array of two."""
    try:
        return index(value) if isinstance(value, SupportsIndex) else None
    except Exception:  # noqa: BLE001 - the class is a host's
        return None


def text(field: str, value: object, *, most: int | None = None, error: type[ContractError] = ContractError) -> str:
    """`value` as a text of at most `most` code points.

    Raises:
        ContractError: It is none, or longer.

    Cost: none that grows with it.
    """
    if not isinstance(value, str):
        _refuse(field, "a text", value, error)
    if most is not None and len(value) > most:
        raise error(f"{field} has {len(value):,} characters, at most {most:,} are read")
    return value


def valid_text(field: str, value: object, *, error: type[ContractError] = ContractError) -> str:
    """`value` as a text that can be written in UTF-8, as names, paths and ids must be.

    Raises:
        ContractError: It is none, holds a lone surrogate, or more than `LONGEST_NAME` code points.
    """
    found = text(field, value, most=LONGEST_NAME, error=error)
    try:
        found.encode()
    except UnicodeEncodeError as problem:
        raise error(f"{field}: character {problem.start} is a lone surrogate, which is no text") from None
    return found


def texts(field: str, value: object, *, what: str = "texts", error: type[ContractError] = ContractError) -> list[str]:
    """`value` as several texts: any iterable of them, but no text, whose characters would be several.

    Args:
        field: What the error calls it.
        value: Any object.
        what: What the error calls them.
        error: What is raised.

    Raises:
        ContractError: Anything else, at the first that is no text.
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        _refuse(field, f"a list of {what}", value, error)
    return [text(f"{field}[{at}]", one, error=error) for at, one in enumerate(value)]


def flag(field: str, value: object, *, error: type[ContractError] = ContractError) -> bool:
    """`value` as a switch.

    Raises:
        ContractError: It is neither True nor False.
    """
    if not isinstance(value, bool):
        _refuse(field, "True or False", value, error)
    return value


def seconds(field: str, value: object, *, error: type[ContractError] = ContractError) -> float:
    """`value` as seconds to wait, above 0; any number will do, infinity too.

    Raises:
        ContractError: Anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        _refuse(field, "a number of seconds above 0", value, error)
    return float(value) if value < MOST else float(MOST)


def shown(value: object) -> str:
    """`value` as an error shows it: 60 characters of it at most."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a number of {value.bit_length()} bits"
    try:
        part = value[:_SHOWN] if isinstance(value, str | bytes) else value
        said = _BRIEF.repr(part) if isinstance(part, list | tuple) else repr(part)
    except Exception:  # noqa: BLE001 - the class is a host's
        said = f"a {type(value).__name__}"
    return said if len(said) <= _SHOWN else f"{said[: _SHOWN - 1]}…"


def _refuse(field: str, wanted: str, value: object, error: type[ContractError]) -> NoReturn:
    raise error(f"{field} must be {wanted}, got {shown(value)}")
