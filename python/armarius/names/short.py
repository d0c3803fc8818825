"""Short forms that the names of a cast allow: 雨桐 of 林雨桐, Finch of "Bob Finch".

>>> [one.text for one in short_names([{"id": "bob", "name": "Bob Finch", "type": "character"}])]
['Bob', 'Finch']

They follow from the names alone; no text is read (docs/decisions/0044).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from armarius.names.people import letters, split_name, title_gender, words
from armarius.text.matcher import ShortName, kind_of, names_of
from armarius.text.unicode import caseless, is_han

_POINT: Final = re.compile(r"\s*[·•‧・．]\s*")
_QUOTED: Final = re.compile(r"\s*[\"“”‘]([A-Z][^\"“”’]{1,19})[\"“”’]\s*")
_BRACKETS: Final = re.compile(r"\s*[(（][^)）]*[)）]")
_Form = tuple[str, Literal["given name", "family name", "part of the name"]]


def short_names(entities: Iterable[object]) -> tuple[ShortName, ...]:
    """The short forms of the persons among entities that no other entity may have.

    A form that two persons may have, or that some entity lists, is left out; so are the forms of a person who lists a
    part of the name, for that list is taken as complete.

    Args:
        entities: As for `EntityMatcher`, with valid names; persons have the `type` "character".

    Returns:
        Sorted by text, then entity.

    Cost: linear in the names.
    """
    found: dict[str, list[ShortName]] = {}
    listed: list[str] = []
    for entity in entities:
        entity_id, names = names_of(entity)
        listed += names
        forms = dict(_forms(names[0].strip())) if kind_of(entity) == "person" else {}
        if forms.keys() & {part for name in names[1:] for part in (name, *name.split())}:
            continue
        for text, kind in forms.items():
            found.setdefault(caseless(text), []).append(ShortName(text, entity_id, kind, names[0].strip()))
    taken = {caseless(name.strip()) for name in listed} if found else set()
    alone = [ones[0] for text, ones in found.items() if text not in taken and len({one.entity_id for one in ones}) == 1]
    return tuple(sorted(alone, key=lambda one: (one.text, one.entity_id)))


def _forms(name: str) -> Iterator[_Form]:
    split = split_name(name)
    if split is not None:
        if len(split[1]) == 2 and split[1] not in words("han", "given_words"):
            yield split[1], "given name"
    elif len(name) == 3 and all("가" <= char <= "힣" for char in name) and name[0] in letters("hangul", "surnames"):
        yield name[1:], "given name"
    elif is_han(name[:1]) and len(parts := _POINT.split(name)) > 1:
        if len(parts[0]) > 1:
            yield parts[0], "given name"
        if len(parts[-1]) > 1:
            yield parts[-1], "family name"
    elif name[:1].isupper() and not name.startswith(("The ", "A ", "An ")):
        yield from _spaced(name)


def _spaced(name: str) -> Iterator[_Form]:
    """Of a given and a family name, or of one name with a title; more words are no name for certain."""
    for match in _QUOTED.finditer(name):
        yield match[1], "given name"
    parts = _BRACKETS.sub("", _QUOTED.sub(" ", name)).replace(",", " ").split()
    bare = _untitled(parts)
    small = [at for at, word in enumerate(bare) if at and word in words("latin", "particles")]
    given, family = (bare[: small[0]], bare[small[0] :]) if small else (bare[:1], bare[1:])
    if not bare or not (bare[0][0].isupper() and bare[-1][0].isupper()):
        return
    if title_gender(bare[-1]) is not None or bare[-1].lower() in words("latin", "roles"):
        return
    if len(bare) == 1:
        if parts != bare and _plain(parts[0]) not in words("latin", "by_marriage"):
            yield bare[0], "part of the name"
    elif len(given) == 1 and (small or len(family) == 1):
        if " ".join(bare) != name:
            yield " ".join(bare), "part of the name"
        yield given[0], "given name"
        yield " ".join(family), "family name"


def _untitled(parts: Sequence[str]) -> list[str]:
    """The words of a name behind its last title, without suffixes and initials."""
    kept = [word for word in parts if len(word.rstrip(".")) > 1 and _plain(word) not in words("latin", "suffixes")]
    titles = [at for at, word in enumerate(kept[:-1]) if title_gender(word) is not None]
    return kept[titles[-1] + 1 :] if titles else kept


def _plain(word: str) -> str:
    return word.rstrip(".").lower()
