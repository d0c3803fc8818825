r"""`/pattern/flags`: JavaScript's regular expressions, detected, checked and translated to those of the core.

Source: ECMAScript 2024, 22.2 (RegExp) with Annex B; what SillyTavern takes for one. Differences that matter: `\d \w
\b` are ASCII there, `.` stops at four line ends, and a class may hold `[` and end at once.
"""

import re
from functools import lru_cache

from armarius._core import KeyPattern

_WHOLE = re.compile(r"/([\s\S]+?)/([gimsuy]*)\Z")
_BARE_SLASH = re.compile(r"(?:^|[^\\])/")
_QUANTIFIER = re.compile(r"\{\d+(?:,\d*)?\}")
_MAX_LENGTH = 10_000


def expression_of(text: str) -> tuple[str, str] | None:
    """Pattern and flags of `/pattern/flags`; None when it is plain text: an unescaped slash is inside."""
    if len(text) > _MAX_LENGTH:
        return None
    found = _WHOLE.match(text)
    if found is None or _BARE_SLASH.search(found[1]):
        return None
    return found[1], found[2]


def is_expression(text: str) -> bool:
    """Whether a text is meant as an expression, right or wrong."""
    return expression_of(text) is not None


@lru_cache(maxsize=20_000)
def compiled(pattern: str, flags: str) -> KeyPattern | None:
    """A pattern ready to search; None when it is no valid one, or too large.

    Cost: compiled once for a process; searching is linear in the text, or ends after a number of steps.
    """
    if len(pattern) > _MAX_LENGTH or len(set(flags)) != len(flags):
        return None
    try:
        return KeyPattern(
            _translated(pattern, "y" in flags),
            ignore_case="i" in flags,
            multi_line="m" in flags,
            dot_all="s" in flags,
        )
    except ValueError:
        return None


def _translated(pattern: str, sticky: bool) -> str:
    """A JavaScript pattern in the syntax of the `regex` crate."""
    made: list[str] = [r"\A(?:"] if sticky else []
    at, in_class = 0, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\" and at + 1 < len(pattern):
            text, at = _escape(pattern, at, in_class)
            made.append(text)
            continue
        if in_class:
            in_class = char != "]"
            made.append(rf"\{char}" if char in "[&~" or (char == "-" and pattern[at : at + 2] == "--") else char)
        elif char == "[":
            text, at, in_class = _class_start(pattern, at)
            made.append(text)
            continue
        elif char == "{" and not _QUANTIFIER.match(pattern, at):
            made.append(r"\{")
        elif char == "}" and not _closes_quantifier(pattern, at):
            made.append(r"\}")
        elif char == ".":
            made.append(".")
        else:
            made.append(char)
        at += 1
    if sticky:
        made.append(")")
    return "".join(made)


def _class_start(pattern: str, at: int) -> tuple[str, int, bool]:
    if pattern.startswith("[^]", at):
        return r"(?s:.)", at + 3, False
    if pattern.startswith("[]", at):
        return r"[^\x00-\x{10FFFF}]", at + 2, False
    return ("[^", at + 2, True) if pattern.startswith("[^", at) else ("[", at + 1, True)


def _closes_quantifier(pattern: str, at: int) -> bool:
    start = pattern.rfind("{", 0, at)
    return start >= 0 and _QUANTIFIER.fullmatch(pattern, start, at + 1) is not None


_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_"}
_SAME = frozenset("sStnrfvDW")


def _escape(pattern: str, at: int, in_class: bool) -> tuple[str, int]:
    char = pattern[at + 1]
    if char in _CLASSES:
        return (_CLASSES[char] if in_class else f"[{_CLASSES[char]}]"), at + 2
    if char in "DW":
        return f"[^{_CLASSES[char.lower()]}]", at + 2
    if char in "bB" and not in_class:
        return rf"(?-u:\{char})" if char == "b" else _not_boundary(), at + 2
    if char == "b":
        return r"\x08", at + 2
    if char in _SAME:
        return rf"\{char}", at + 2
    if char == "0" and not pattern[at + 2 : at + 3].isdigit():
        return r"\x00", at + 2
    if char.isdigit() and not in_class:
        return rf"\{char}", at + 2  # a reference back
    if char in "ux":
        return _code(pattern, at)
    if char == "k" and pattern.startswith("<", at + 2):
        return r"\k", at + 2
    if char in "pP" and pattern.startswith("{", at + 2):
        end = pattern.find("}", at)
        return (pattern[at : end + 1], end + 1) if end > 0 else (char, at + 2)
    if char == "c" and pattern[at + 2 : at + 3].isalpha():
        return rf"\x{ord(pattern[at + 2].upper()) % 32:02x}", at + 3
    return re.escape(char) if char.isascii() else char, at + 2


def _not_boundary() -> str:
    return r"(?-u:\B)"


def _code(pattern: str, at: int) -> tuple[str, int]:
    r"""`\xHH`, `\uHHHH`, `\u{H…}`, and pairs of surrogates as the one character they are."""
    braced = re.compile(r"\\u\{([0-9A-Fa-f]{1,6})\}").match(pattern, at)
    if braced:
        return rf"\x{{{braced[1]}}}", braced.end()
    pair = re.compile(r"\\u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})").match(pattern, at)
    if pair:
        code = 0x10000 + ((int(pair[1], 16) - 0xD800) << 10) + int(pair[2], 16) - 0xDC00
        return rf"\x{{{code:x}}}", pair.end()
    plain = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))").match(pattern, at)
    if plain:
        return rf"\x{{{plain[1] or plain[2]}}}", plain.end()
    return pattern[at + 1], at + 2
