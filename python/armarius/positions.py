"""Text positions of editors: validation, and conversion between UTF-16, UTF-8 and code points (position encodings)."""

import re
from typing import Final, Literal

from armarius.errors import ContractError, CursorOutOfRange
from armarius.validation import LONGEST_TEXT, shown, whole

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
