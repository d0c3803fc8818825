"""Who of those named around the cursor matters to the scene: whose cards a prompt gets unasked."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from armarius.codex.model import Entity
from armarius.names.lexicon import letters, words

__all__ = ["MOST", "weights"]

# Cards of the scene in one prompt, by weight.
MOST: Final = 6
# Code points from the cursor within which a name is near.
_NEAR: Final = 600
_PER_MENTION: Final = 0.1
_MOST_MENTIONS: Final = 9
# What speaks for somebody: named beside the cursor, speaking, belonging to whom the user names.
_NEARBY, _SPEAKS, _RELATED = 1.0, 0.5, 0.5
_ENOUGH: Final = 0.3  # less is a name in passing: twice in the window, never near, never speaking
_WORD: Final = re.compile(r"\W*(\w+)")
_LATIN: Final = re.compile("[A-Za-z]")
_LAST: Final = re.compile(r"(\w+)\W*$")


def weights(
    text: str, cursor: int, mentions: Sequence[Any], entities: Mapping[str, Entity], asked: Collection[str]
) -> dict[str, float]:
    """How much each entity matters to the scene around the cursor; those named in passing have 0.

    Args:
        text: The window.
        cursor: Where the cursor is in it, in code points.
        mentions: What a matcher found in it.
        entities: By id.
        asked: Ids of those whom the user's words name.

    Returns:
        Weight by id, 0 to 2.9.

    Cost: linear in the mentions, and the profiles of `entities` that are mentioned.
    """
    speech = letters("han", "speech"), words("latin", "speech")
    latin = _LATIN.search(text) is not None
    found = Counter([mention.entity_id for mention in mentions])
    near: set[str] = set()
    speaks: set[str] = set()
    first, last = cursor - _NEAR, cursor + _NEAR
    for mention in mentions:
        id_, start, end = mention.entity_id, mention.start, mention.end
        if start <= last and end >= first:
            near.add(id_)
        if id_ not in speaks and (_is_said(text, end, speech[0]) or (latin and _says(text, start, end, speech[1]))):
            speaks.add(id_)
    total = {
        id_: round(min(count, _MOST_MENTIONS) * _PER_MENTION + (_NEARBY * (id_ in near) + _SPEAKS * (id_ in speaks)), 3)
        for id_, count in found.items()
    }
    known = [(one, entities[one], _said(entities[one])) for one in asked if one in entities]
    for id_ in (total.keys() & entities.keys()) if known else ():
        said = _said(entities[id_])
        if any(_names(said, other) or _names(told, entities[id_]) for one, other, told in known if one != id_):
            total[id_] += _RELATED
    return {id_: weight if weight >= _ENOUGH else 0.0 for id_, weight in total.items()}


def _is_said(text: str, end: int, han: Collection[str]) -> bool:
    """Whether a character for speaking follows a name, at once or after one other."""
    return text[end : end + 1] in han or text[end + 1 : end + 2] in han


def _says(text: str, start: int, end: int, latin: Collection[str]) -> bool:
    """Whether a word for speaking stands before a name or behind it."""
    beside = text[max(0, start - 2) : start] + text[end : end + 2]
    if _LATIN.search(beside) is None:  # no word of Latin script stands there
        return False
    following, previous = _WORD.match(text, end, end + 24), _LAST.search(text[max(0, start - 24) : start])
    return bool((following and following[1] in latin) or (previous and previous[1] in latin))


def _said(one: Entity) -> str:
    """What a profile says."""
    return " ".join([one.description, *one.attributes.values()])


def _names(said: str, other: Entity) -> bool:
    return any(name in said for name in (other.name, *other.aliases) if len(name) > 1)
