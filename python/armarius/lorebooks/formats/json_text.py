"""JSON as it was written: parsed within limits, written back in its own manner."""

import json
import re
from dataclasses import dataclass
from typing import Any

from armarius.errors import BookError
from armarius.lorebooks.limits import MAX_DEPTH, MAX_OBJECTS, check_size

__all__ = ["Manner", "dump", "encoding_of", "load"]

_MARKS = {"utf-8": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
_FEW, _MANY = 4, 30  # fields of an object; CPython shares at most 30 keys
_SHAPES = 200  # a class each, about 1 KB
_INDENT = re.compile(r"\A\s*[\[{]\r?\n([ \t]+)")


@dataclass(frozen=True, slots=True)
class Manner:
    """How a JSON text was laid out.

    Attributes:
        indent: Of its second line; None for a text without lines.
        tight: No space behind `,` and `:`.
        bom: A byte order mark stood before it.
        encoding: UTF-8, or UTF-16 in one of its orders.
        end: White space behind it.
    """

    indent: str | None = None
    tight: bool = False
    bom: bool = False
    end: str = ""
    encoding: str = "utf-8"


def load(data: bytes, name: str) -> tuple[Any, Manner]:
    """A JSON text and its manner; numbers keep their kind, integers their size.

    Raises:
        BookError: Too large, too deep, not UTF-8 or UTF-16, not JSON; with the place.

    Cost: three passes over the text, one of them the parser's.
    """
    check_size(len(data), name)
    encoding = encoding_of(data)
    mark = _MARKS[encoding]
    bom = data.startswith(mark)
    if encoding == "utf-8" and data.count(b"{") + data.count(b"[") > MAX_OBJECTS:
        raise BookError(f"{name}: more than {MAX_OBJECTS:,} lists and objects")
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise BookError(f"{name}: not {encoding.upper()} text at byte {error.start}") from None
    if encoding != "utf-8" and text.count("{") + text.count("[") > MAX_OBJECTS:
        raise BookError(f"{name}: more than {MAX_OBJECTS:,} lists and objects")
    try:
        tree = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_Rows().one)
    except json.JSONDecodeError as error:
        raise BookError(f"{name}: not JSON: {error.msg} in line {error.lineno}") from None
    except RecursionError:
        raise BookError(f"{name}: nested more than {MAX_DEPTH} deep") from None
    except ValueError as error:
        raise BookError(f"{name}: not JSON: {error}") from None
    if isinstance(tree, dict | list) and _too_deep(tree):
        raise BookError(f"{name}: nested more than {MAX_DEPTH} deep")
    indent = _INDENT.match(text)
    stripped = text.rstrip()
    manner = Manner(
        indent=indent[1] if indent else None,
        tight=indent is None and '": ' not in text[:4096],
        bom=bom,
        end=text[len(stripped) :],
        encoding=encoding,
    )
    return tree, manner


class _Rows:
    """Makes objects whose dicts share their table of keys, as those of instances do: 280 bytes for 26 fields, not 832.

    A lorebook is thousands of objects with the same keys, and their tables were half of what reading one took. Each is
    a plain dict, in the order of the file; where the interpreter does not share, it is only larger.
    """

    def __init__(self) -> None:
        self._shapes: dict[tuple[int, str], type] = {}

    def one(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """The object that holds these pairs; of two of one name the last counts."""
        if not _FEW <= len(pairs) <= _MANY:
            return dict(pairs)
        key = (len(pairs), pairs[0][0])
        shape = self._shapes.get(key)
        if shape is None:
            if len(self._shapes) >= _SHAPES:
                return dict(pairs)
            shape = self._shapes[key] = type("Row", (), {})
        made: dict[str, Any] = shape().__dict__
        made.update(pairs)
        return made


def dump(tree: Any, manner: Manner = Manner(indent="  ", end="\n")) -> bytes:  # noqa: ANN401
    """A tree as bytes. Lone surrogates, which UTF-8 cannot hold, are written as escapes.

    Raises:
        BookError: It holds what JSON cannot, or is nested too deeply.
    """
    separators = (",", ":") if manner.tight else (",", ": ") if manner.indent is not None else (", ", ": ")
    try:
        text = json.dumps(tree, ensure_ascii=False, indent=manner.indent, separators=separators, allow_nan=False)
        try:
            data = text.encode(manner.encoding)
        except UnicodeEncodeError:
            text = json.dumps(tree, indent=manner.indent, separators=separators, allow_nan=False)
            data = text.encode(manner.encoding)
    except (TypeError, ValueError, RecursionError) as error:
        raise BookError(f"cannot be written as JSON: {error}") from None
    return (_MARKS[manner.encoding] if manner.bom else b"") + data + manner.end.encode(manner.encoding)


def encoding_of(data: bytes) -> str:
    """UTF-16 where a byte order mark or the zero beside the first bracket says so, else UTF-8."""
    head = data[:2]
    if head == _MARKS["utf-16-le"] or head in (b"{\0", b"[\0"):
        return "utf-16-le"
    return "utf-16-be" if head == _MARKS["utf-16-be"] or head in (b"\0{", b"\0[") else "utf-8"


def _too_deep(tree: Any) -> bool:  # noqa: ANN401
    """Whether lists and objects are nested deeper than is read; looked at level by level."""
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _no_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON value")
