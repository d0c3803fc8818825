"""`{{char}}` and the other macros of cards: filled in by the host's names, drawn with a seed, or taken out.

Source: Character Card Specification V3, "Curly Braced Syntaxes". What is not known stays as it is written.
"""

import re

from armarius.lorebooks.active.scan import Luck

__all__ = ["expanded", "searched", "with_user", "without_comments"]

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


def expanded(text: str, character: str, user: str, luck: Luck, *what: str) -> str:
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


def _draw(kind: str, said: str, luck: Luck, *what: str) -> str:
    roll = luck.roll(*what, kind, said)
    if kind == "roll":
        sides = said.strip().lower().lstrip("d")
        return str(1 + int(roll * int(sides))) if sides.isdigit() and 0 < int(sides) <= _MOST else ""
    options = [one.strip().replace("\\,", ",") for one in _COMMA.split(said)]
    return options[min(int(roll * len(options)), len(options) - 1)]
