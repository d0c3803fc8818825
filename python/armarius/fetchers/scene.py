"""Who of those named around the cursor matters to the scene: whose cards a prompt gets unasked."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, Final

from armarius._core import Speech
from armarius.codex.model import Entity
from armarius.names.lexicon import letters, words
from armarius.text.matcher import EntityMatcher, Mention

__all__ = ["MOST", "Ties", "presence", "present", "weights"]

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


def present(
    text: str, cursor: int, matcher: EntityMatcher
) -> tuple[dict[str, Mention], dict[str, int], dict[str, float], dict[str, str]]:
    """Who is named in a window, as the core reads it in one pass.

    Args:
        text: The window.
        cursor: Where the cursor is in it, in code points.
        matcher: Of the project's names.

    Returns:
        By id the first mention, how many there are, what `presence` says; and of those whose name stands only inside a
        longer one, which.

    Cost: two searches; an object for each entity and none for each mention.
    """
    named, hidden = matcher.scene(text, (cursor - _NEAR, cursor + _NEAR), _speech())
    firsts, counts, weight = {}, {}, {}
    for mention, count, near, speaks in named:
        id_ = mention.entity_id
        firsts[id_], counts[id_], weight[id_] = mention, count, _weight(count, near=near, speaks=speaks)
    return firsts, counts, weight, {id_: f"{term} inside {by}" for id_, term, by in hidden}


@cache
def _speech() -> Speech:
    return Speech("".join(sorted(letters("han", "speech"))), sorted(words("latin", "speech")))


def presence(text: str, cursor: int, mentions: Sequence[Any]) -> dict[str, float]:
    """What each entity has of its weight from the window alone: how often it is named, whether near, whether it speaks.

    For the matcher of a host; of our own the core reads the window (`present`, rust/matching/scene.rs) to the same end.

    Args:
        text: The window.
        cursor: Where the cursor is in it, in code points.
        mentions: What a matcher found in it.

    Returns:
        Weight by id, 0.1 to 2.4.

    Cost: linear in the mentions.
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
    return {id_: _weight(count, near=id_ in near, speaks=id_ in speaks) for id_, count in found.items()}


def _weight(count: int, *, near: bool, speaks: bool) -> float:
    return round(min(count, _MOST_MENTIONS) * _PER_MENTION + (_NEARBY * near + _SPEAKS * speaks), 3)


def weights(present: Mapping[str, float], ties: "Ties", asked: Collection[str]) -> dict[str, float]:
    """How much each entity matters to the scene around the cursor; those named in passing have 0.

    Args:
        present: What each has from the window alone (`presence`).
        ties: Whose profile names whom.
        asked: Ids of those whom the user's words name.

    Returns:
        Weight by id, 0 to 2.9.

    Cost: a look-up for each pair of one who is asked for and one who is present; the first time, at their profiles.
    """
    total = dict(present)
    known = [one for one in asked if one in ties]
    for id_ in total if known else ():
        if id_ in ties and any(ties.between(one, id_) for one in known if one != id_):
            total[id_] += _RELATED
    return {id_: weight if weight >= _ENOUGH else 0.0 for id_, weight in total.items()}


class Ties:
    """Whose profile names whom among some entities, looked up once for each pair. Threads may share it.

    Args:
        entities: By id; not changed.
    """

    _MOST: Final = 20_000  # pairs

    def __init__(self, entities: Mapping[str, Entity]) -> None:
        self._entities = entities
        self._known: dict[tuple[str, str], bool] = {}

    def __contains__(self, id_: object) -> bool:
        return id_ in self._entities

    def between(self, one: str, other: str) -> bool:
        """Whether the profile of either names the other."""
        pair = (one, other) if one < other else (other, one)
        known = self._known.get(pair)
        if known is None:
            if len(self._known) >= self._MOST:
                self._known = {}
            first, second = (self._entities[id_] for id_ in pair)
            known = self._known[pair] = _names(_said(first), second) or _names(_said(second), first)
        return known


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
