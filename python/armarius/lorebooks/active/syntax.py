r"""Syntax inside entries: macros in a text, decorators, expressions as keys.

Macros in the text of an entry, and decorators taken into the entry as far as a profile knows them. Source: Character
Card Specification V3, "Curly Braced Syntaxes" and "Decorators". `{{char}}` and the other macros are filled in by the
host's names, drawn with a seed, or taken out; what is not known stays as it is written.

Expressions are JavaScript's, translated to those of the core. Source: ECMAScript 2024, 22.2 (RegExp) with Annex B; what
SillyTavern takes for one. Differences that matter: `\d \w \b` are ASCII there, `.` stops at four line ends, and a class
may hold `[` and end at once.
"""

import re
from functools import lru_cache
from typing import Any, NamedTuple

from armarius._core import KeyPattern
from armarius.lorebooks.active.records import Random
from armarius.lorebooks.record import LONGEST_EXPRESSION, Condition, Decorator, Entry, Key, Range

_COMMENT = re.compile(r"\{\{(?://|comment:)[^{}]*\}\}", re.IGNORECASE)
_HIDDEN = re.compile(r"\{\{hidden_key:([^{}]*)\}\}", re.IGNORECASE)
_NAME = re.compile(r"\{\{(char|user)\}\}|<(user|bot|char)>", re.IGNORECASE)
_DRAWN = re.compile(r"\{\{(random|pick|roll)[:\s]([^{}]*)\}\}", re.IGNORECASE)
_REVERSE = re.compile(r"\{\{reverse:([^{}]*)\}\}", re.IGNORECASE)
_COMMA = re.compile(r"(?<!\\),")
_MOST = 1_000_000


def without_comments(text: str) -> str:
    """The text without `{{// }}` and `{{comment: }}`, which are neither sent nor searched."""
    return _COMMENT.sub("", text) if "{{" in text else text


def searched(text: str, character: str, user: str) -> str:
    """An entry's text as recursion searches it: hidden keys are found there."""
    return _named(_HIDDEN.sub(lambda hidden: hidden[1], without_comments(text)), character, user)


def expanded(text: str, character: str, user: str, luck: Random, *what: str) -> str:
    """An entry's text as it is sent."""
    if "{{" not in text and "<" not in text:
        return text
    text = _named(_HIDDEN.sub("", without_comments(text)), character, user)
    text = _DRAWN.sub(lambda drawn: _draw(drawn[1].lower(), drawn[2], luck, *what), text)
    return _REVERSE.sub(lambda found: found[1][::-1], text)


def with_user(text: str, user: str) -> str:
    """A text that was sent without a name for `{{user}}`, with one."""
    return _named(text, "", user)


def _named(text: str, character: str, user: str) -> str:
    def name(found: re.Match[str]) -> str:
        return (user if (found[1] or found[2]).lower() == "user" else character) or found[0]

    return _NAME.sub(name, text)


def _draw(kind: str, said: str, luck: Random, *what: str) -> str:
    roll = luck.roll(*what, kind, said)
    if kind == "roll":
        sides = said.strip().lower().lstrip("d")
        return str(1 + int(roll * int(sides))) if sides.isdigit() and 0 < int(sides) <= _MOST else ""
    options = [one.strip().replace("\\,", ",") for one in _COMMA.split(said)]
    return options[min(int(roll * len(options)), len(options) - 1)]


SILLYTAVERN = frozenset({"activate", "dont_activate"})
SPECIFICATION = SILLYTAVERN | {
    "activate_only_after", "activate_only_every", "keep_activate_after_match", "dont_activate_after_match", "depth",
    "reverse_depth", "instruct_depth", "reverse_instruct_depth", "role", "position", "scan_depth",
    "instruct_scan_depth", "is_greeting", "additional_keys", "exclude_keys", "ignore_on_max_context",
}  # fmt: skip
RISU = (
    SPECIFICATION - {"instruct_depth", "reverse_instruct_depth", "instruct_scan_depth"}
) | {
    "exclude_keys_all", "probability", "priority", "recursive", "unrecursive", "no_recursive_search",
    "match_full_word", "match_partial_word", "end", "inject_lore", "inject_at", "inject_replace", "inject_prepend",
}  # fmt: skip
_COUNTS = {"activate_only_after": "timing__after", "activate_only_every": "timing__every"}
_LAST = -1_000_000_000


class Decorated(NamedTuple):
    """An entry with its decorators applied.

    Attributes:
        forced: True activates the entry without keys, False never activates it, None uses the keys.
        inject: Address and mode of an entry that is inserted into the text of another.
        exclude_all: The entry is inactive if all of these keys are present.
    """

    entry: Entry
    forced: bool | None = None
    inject: tuple[str, str] | None = None
    exclude_all: tuple[Key, ...] = ()


def decorated(entry: Entry, known: frozenset[str]) -> Decorated:
    """The entry with the decorators that a profile knows applied."""
    if not entry.decorators:
        return Decorated(entry)
    changes: dict[str, Any] = {}
    require = list(entry.match.require)
    forced: bool | None = None
    inject = None
    exclude_all: tuple[Key, ...] = ()
    accepted = True
    for one in entry.decorators:
        if one.fallback and accepted:
            continue
        accepted = one.name in known and _sound(one)
        if not accepted:
            continue
        keys = tuple(Key(word) for word in one.args if word)
        match one.name:
            case "activate":
                forced = True
            case "dont_activate":
                forced = forced or False
            case "additional_keys" if keys:
                require.append(Condition("any", keys))
            case "exclude_keys" if keys:
                require.append(Condition("none", keys))
            case "exclude_keys_all":
                exclude_all = keys
            case "inject_lore" | "inject_at" | "inject_replace" | "inject_prepend":
                inject = (one.name, " ".join(one.args))
            case "activate_only_after" | "activate_only_every":
                changes[_COUNTS[one.name]] = int(one.args[0])
            case _:
                changes |= _simple(one)
    changes["match__require"] = tuple(require)
    return Decorated(entry.changed(**changes), forced, inject, exclude_all)


_NUMBERED = frozenset(
    {
        "activate_only_after", "activate_only_every", "depth", "reverse_depth", "instruct_depth",
        "reverse_instruct_depth", "scan_depth", "instruct_scan_depth", "is_greeting", "probability", "priority",
    }
)  # fmt: skip


def _sound(one: Decorator) -> bool:
    """Whether its value is one."""
    first = one.args[0] if one.args else ""
    if one.name in _NUMBERED:
        bare = first.removeprefix("-")
        return bare.isascii() and bare.isdigit() and len(bare) < 10
    if one.name == "role":
        return first in ("system", "user", "assistant")
    return True


def _simple(one: Decorator) -> dict[str, Any]:
    number = int(one.args[0]) if one.name in _NUMBERED else 0
    first = one.args[0] if one.args else ""
    said: dict[str, dict[str, Any]] = {
        "keep_activate_after_match": {"timing__keep": True},
        "dont_activate_after_match": {"timing__once": True},
        "depth": {"place__slot": "at_depth", "place__depth": number},
        "instruct_depth": {"place__slot": "at_depth", "place__depth": number, "place__name": "tokens"},
        "reverse_depth": {"place__slot": "at_depth", "place__depth": number, "place__name": "reverse"},
        "reverse_instruct_depth": {"place__slot": "at_depth", "place__depth": number, "place__name": "reverse tokens"},
        "end": {"place__slot": "at_depth", "place__depth": 0},
        "role": {"place__role": first},
        "position": {"place__name": first},
        "scan_depth": {"match__range": Range(number)},
        "instruct_scan_depth": {"match__range": Range(number, "tokens")},
        "is_greeting": {"scope__greeting": number},
        "ignore_on_max_context": {"share__keep_priority": _LAST},
        "probability": {"chance__probability": number},
        "priority": {"share__keep_priority": number},
        "recursive": {"wake__wakes_others": True},
        "unrecursive": {"wake__wakes_others": False},
        "no_recursive_search": {"wake__by_entries": False},
        "match_full_word": {"match__boundary": "word"},
        "match_partial_word": {"match__boundary": "substring"},
    }
    return said.get(one.name, {})


_QUANTIFIER = re.compile(r"\{\d+(?:,\d*)?\}")


@lru_cache(maxsize=20_000)
def compiled(pattern: str, flags: str) -> KeyPattern | None:
    """A pattern ready to search; None when it is no valid one, or too large.

    Cost: compiled once for a process; searching is linear in the text, or ends after a number of steps.
    """
    if len(pattern) > LONGEST_EXPRESSION or len(set(flags)) != len(flags):
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
        elif char == "}" and not _QUANTIFIER.fullmatch(pattern, max(0, pattern.rfind("{", 0, at)), at + 1):
            made.append(r"\}")
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


_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_"}
_SAME = frozenset("sStnrfvDW")


def _escape(pattern: str, at: int, in_class: bool) -> tuple[str, int]:
    char = pattern[at + 1]
    if char in _CLASSES:
        return (_CLASSES[char] if in_class else f"[{_CLASSES[char]}]"), at + 2
    if char in "DW":
        return f"[^{_CLASSES[char.lower()]}]", at + 2
    if char in "bB" and not in_class:
        return rf"(?-u:\{char})", at + 2
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
