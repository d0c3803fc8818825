"""Macros in the text of an entry, and decorators taken into the entry as far as a profile knows them.

Source: Character Card Specification V3, "Curly Braced Syntaxes" and "Decorators". `{{char}}` and the other macros are
filled in by the host's names, drawn with a seed, or taken out; what is not known stays as it is written.
"""

import re
from typing import Any, NamedTuple

from armarius.lorebooks.active.result import Random
from armarius.lorebooks.record import Condition, Decorator, Entry, Key, Range

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
