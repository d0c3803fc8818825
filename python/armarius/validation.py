"""Validators for numbers, texts and flags from callers: Python, JSON wire form, channel and MCP use the same ones.

A number is an `int` between two bounds, a text is a `str`, a flag is a `bool`. Nothing is converted: `1.0`, `"5"`,
`True` and bytes are refused as numbers. The error names the field and shows the value. Arguments of a method (`limit`,
`depth`) may also be numpy integers; fields of a request (`budget`, `cursor`), which are sent as JSON, may not.

Text positions of editors are checked and converted between UTF-16, UTF-8 and code points (position encodings).
`near` finds the names that an unknown one was probably to be; every error and warning takes them from there.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from operator import index
from pathlib import PurePosixPath
from reprlib import Repr
from typing import Final, Literal, NoReturn, SupportsIndex

from armarius.errors import ContractError, CursorOutOfRange

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
        number = None if isinstance(value, bool) else _index_value(value)
    if number is None or (least is not None and number < least):
        _refuse(field, "a whole number" + ("" if least is None else f" >= {least}"), value, error)
    if most is not None and number > most:
        _refuse(field, f"a whole number <= {most}", value, error)
    return number


def _index_value(value: object) -> int | None:
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
    string = text(field, value, most=LONGEST_NAME)
    encoded(field, string)
    return string


def encoded(field: str, value: object) -> bytes:
    """A string in UTF-8.

    Raises:
        ContractError: Not a string, holds a lone surrogate, or has more than `LONGEST_TEXT` code points.
    """
    string = text(field, value, most=LONGEST_TEXT)
    try:
        return string.encode()
    except UnicodeEncodeError as problem:
        raise ContractError(f"{field}: character {problem.start} is a lone surrogate, which is no text") from None


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
    return [text(f"{field}[{at}]", item) for at, item in enumerate(value)]


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
        message = _BRIEF.repr(part) if isinstance(part, list | tuple) else repr(part)
    except Exception:  # noqa: BLE001 - a foreign `__repr__` may raise anything
        message = f"a {type(value).__name__}"
    return message if len(message) <= _SHOWN else f"{message[: _SHOWN - 1]}…"


def _refuse(field: str, wanted: str, value: object, error: type[ContractError] = ContractError) -> NoReturn:
    raise error(f"{field} must be {wanted}, got {shown(value)}")


_COMPARED = 300  # code points of what was asked for that are compared; the comparison is quadratic
_NEAREST = 3
_ALIKE = 0.6  # share of characters in common, as difflib counts them


def near(wanted: object, names: Iterable[str]) -> tuple[str, ...]:
    """At most three of `names`, best first: equal but for case, of the same numbers, around it, its beginning, similar.

    Of two that are as similar the one with the nearer numbers is first: `ch03` is near `ch003`, then `ch013`. Of a name
    with colons the last part is compared too: `c_clock` is near `constraint:user:c-clock`. Nothing is near what is no
    text.

    Cost: one comparison per name, about 10 µs each.
    """
    if not isinstance(wanted, str) or not wanted.strip():
        return ()
    names = dict.fromkeys(names)
    folded = wanted.strip()[:_COMPARED].casefold()
    spelt = {name: name.casefold() for name in names}
    same = [name for name in names if spelt[name] == folded]
    numbered = [name for name in names if _strip_zeros(spelt[name]) == _strip_zeros(folded)]
    holding = sorted((name for name in names if folded in spelt[name]), key=lambda name: (len(name), name))
    written: dict[str, str] = {}
    for name, lower in spelt.items():
        written.setdefault(lower, name)
        written.setdefault(lower.rpartition(":")[2], name)
    alike = [written[form] for form in _similar_names(folded, written)]
    begins = sorted((name for name in names if len(name) > 3 and folded.startswith(spelt[name])), key=len, reverse=True)
    return tuple(dict.fromkeys((*same, *numbered, *holding, *begins, *alike)))[:_NEAREST]


def near_paths(wanted: str, paths: Iterable[str]) -> tuple[str, ...]:
    """At most three of `paths`, best first: with the file name, with or without suffix, else similar ones."""
    paths = tuple(paths)
    name = PurePosixPath(wanted.replace("\\", "/")).name.casefold()
    files = {path: PurePosixPath(path.casefold()) for path in paths}
    stems = {_strip_zeros(name), _strip_zeros(PurePosixPath(name).stem)}
    same = [path for path, file in files.items() if name and file.name == name]
    stem = [path for path, file in files.items() if name and _strip_zeros(file.stem) in stems]
    ends = {file.stem: path for path, file in files.items()}
    alike = [ends[end] for end in _similar_names(PurePosixPath(name).stem[:_COMPARED], ends)]
    return (tuple(dict.fromkeys((*same, *stem))) or tuple(dict.fromkeys((*near(wanted, paths), *alike))))[:_NEAREST]


def _strip_zeros(name: str) -> str:
    """`name` with its numbers without leading zeros."""
    return re.sub(r"\d+", lambda number: number[0].lstrip("0") or "0", name)


def _similar_names(wanted: str, names: Iterable[str]) -> list[str]:
    """Names with at least `_ALIKE` of their characters in common with `wanted`, in the same order; the best first."""
    from difflib import SequenceMatcher  # it and what it loads take 5 ms

    def distance(name: str) -> int:
        return sum(abs(number - other) for number, other in zip_longest(numbers, _numbers(name), fillvalue=0))

    numbers, compared, pairs = _numbers(wanted), SequenceMatcher(b=wanted), []
    for name in names:
        compared.set_seq1(name)
        if compared.real_quick_ratio() >= _ALIKE and compared.quick_ratio() >= _ALIKE:
            pairs.append((compared.ratio(), name))
    return [name for ratio, name in sorted(pairs, key=lambda pair: (-pair[0], distance(pair[1]))) if ratio >= _ALIKE]


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,18}", name)]


def option_error(options: Sequence[str], value: object) -> str:
    """What an error says of a value outside `options`, with the near ones."""
    return f"expected one of {', '.join(options)}, got {shown(value)}{suggestion(near(value, options))}"


def suggestion(names: Iterable[str]) -> str:
    """The suggestion at the end of an error message; "" without names."""
    listed = ", ".join(names)
    return f"; near it: {listed}" if listed else ""


PositionEncoding = Literal["code-point", "utf-16", "utf-8"]

_CODECS: Final = {"utf-16": ("utf-16-le", 2), "utf-8": ("utf-8", 1)}
_LONE: Final = re.compile("[\ud800-\udfff]")


def read_text(value: object) -> object:
    """Replace lone surrogates of a live text by U+FFFD; offsets stay valid. Other types are returned unchanged.

    Raises:
        ValueError: Longer than `LONGEST_TEXT`.
    """
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        raise ValueError(f"has {len(value):,} characters, at most {LONGEST_TEXT:,} are read")
    return cleaned(value) if isinstance(value, str) else value


_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


def control_in(text: str) -> str:
    """The first control character of a text other than a tab and a line feed, as `U+0000`; "" without one."""
    match = _CONTROL.search(text)
    return f"U+{ord(match[0]):04X}" if match else ""


def has_surrogate(text: str) -> bool:
    """Whether a text holds a lone surrogate, which no file and no matcher can hold."""
    return not text.isascii() and _LONE.search(text) is not None


def cleaned(text: str) -> str:
    """Replace each lone surrogate by U+FFFD."""
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def read_selection(value: object) -> tuple[int, int] | None:
    """Start and end of a selection, sorted: editors report a backward selection with the end first.

    Raises:
        ValueError: Not a pair of whole numbers.
    """
    if value is None:
        return None
    ends = list(value) if isinstance(value, tuple | list) else []
    if len(ends) != 2 or any(type(end) is not int for end in ends):
        raise ValueError("expected two offsets, where the selection begins and where it ends")
    return min(ends), max(ends)


def code_points(text: str, position: int, encoding: PositionEncoding = "code-point", *, name: str = "cursor") -> int:
    """Convert an offset into `text` to code points.

    Args:
        text: The whole document.
        position: Offset in units of `encoding`; 0 to the text's length in that unit, inclusive.
        encoding: `code-point`, `utf-16` (JavaScript, LSP) or `utf-8`.
        name: Name of the field, for errors.

    Returns:
        The offset in code points.

    Raises:
        CursorOutOfRange: Negative, past the end, or inside a character.
        ContractError: An unknown encoding.

    Cost: one encode of the text up to the offset.
    """
    _check(position, encoding, name)
    if encoding == "code-point":
        if position > len(text):
            raise CursorOutOfRange(f"{name} {position} is past the end: the document has {len(text)} code points")
        return position
    codec, unit = _CODECS[encoding]
    # Every character takes at least one unit, so encoding the first `position` characters is enough.
    encoded = text[:position].encode(codec, "surrogatepass")
    if len(encoded) < position * unit:
        length = units(text, len(text), encoding)
        raise CursorOutOfRange(f"{name} {position} is past the end: the document has {length} {encoding} units")
    try:
        return len(encoded[: position * unit].decode(codec, "strict"))
    except UnicodeDecodeError:
        raise CursorOutOfRange(f"{name} {position} ({encoding}) lies inside a character") from None


def clamped(text: str, position: int, encoding: PositionEncoding = "code-point", *, name: str = "cursor") -> int | None:
    """Convert an offset as `code_points` does, but return None for one past the end.

    Raises:
        CursorOutOfRange: Negative or inside a character.
        ContractError: An unknown encoding.
    """
    _check(position, encoding, name)
    past = position > len(text) and position > units(text, len(text), encoding)
    return None if past else code_points(text, position, encoding, name=name)


def units(text: str, position: int, encoding: PositionEncoding = "code-point") -> int:
    """Convert an offset in code points to units of `encoding`.

    Raises:
        ContractError: An unknown encoding.

    Cost: one encode of the text up to the offset.
    """
    _check(position, encoding, "position")
    if encoding == "code-point":
        return position
    codec, unit = _CODECS[encoding]
    return len(text[:position].encode(codec, "surrogatepass")) // unit


def _check(position: int, encoding: object, name: str) -> None:
    if encoding != "code-point" and not (isinstance(encoding, str) and encoding in _CODECS):
        raise ContractError(f"positionEncoding must be code-point, utf-16 or utf-8, got {shown(encoding)}")
    if whole(name, position, least=None, most=None) < 0:
        raise CursorOutOfRange(f"{name} {shown(position)} is negative")
