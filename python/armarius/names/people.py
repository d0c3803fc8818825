"""Persons as far as their names go: what they are called in full, whether a man or a woman, what is said of them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

from armarius.names.lexicon import words
from armarius.text.matcher import field_of, kind_of, names_of
from armarius.text.name_model import FormKind
from armarius.text.sentences import LEADING_CLAUSE, after_sentence

__all__ = ["Form", "Gender", "Person", "person_of", "persons_of", "stated_gender"]

Gender = Literal["", "m", "f"]

_HE: Final = re.compile(r"\b(?:he|him|his)\b|他(?!们)", re.IGNORECASE)
_HE_BEGINS: Final = re.compile(after_sentence(r"(?:He\b|他(?!们))"), re.MULTILINE)
_SHE_BEGINS: Final = re.compile(after_sentence(r"(?:She\b|她(?!们))"), re.MULTILINE)
_SHE: Final = re.compile(r"\b(?:she|her|hers)\b|她(?!们)", re.IGNORECASE)
_SOMEBODYS: Final = frozenset({"his", "her", "their"})
_TITLED: Final = 2  # words of a name with a title


@dataclass(frozen=True)
class Person:
    """A person of the cast; `said` is everything the profile says."""

    id: str
    names: tuple[str, ...]
    said: str
    description: str
    attributes: Mapping[str, Any] = field(compare=False, repr=False)

    @cached_property
    def gender(self) -> Gender:
        """A man, a woman, or neither is known. Worked out when first asked for: few of a large cast are asked about."""
        return _gender(self.attributes, self.names, self.description)


@dataclass(frozen=True, slots=True)
class Form:
    """A short form that one name of a person allows.

    Attributes:
        text: The form.
        kind: What it is of the name.
        of: The name it is a form of.
        person: Whose name that is.
    """

    text: str
    kind: FormKind
    of: str
    person: Person


def persons_of(entities: Iterable[object]) -> list[Person]:
    """The persons among entities."""
    return [person_of(entity, *names_of(entity)) for entity in entities if kind_of(entity) == "person"]


def person_of(entity: object, entity_id: str, names: Iterable[str]) -> Person:
    """An entity that is a person, whose id and names have been read."""
    told = field_of(entity, "attributes")
    attributes: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    description = str(field_of(entity, "description") or "")
    values = [str(value) for value in attributes.values()]
    said = "\n".join([description, *values])
    return Person(entity_id, tuple(map(str.strip, names)), said, description, attributes)


def stated_gender(attributes: Mapping[str, Any]) -> Gender | None:
    """What the first field for it says, "" for a word that is neither; None when there is no such field."""
    for key, value in attributes.items():
        if str(key).strip().lower() in words("stated", "fields"):
            word = str(value).strip().lower()
            return "m" if word in words("stated", "male") else "f" if word in words("stated", "female") else ""
    return None


def _gender(attributes: Mapping[str, Any], names: Iterable[str], description: str) -> Gender:
    """As stated; else by title, kin word of the first clause, or pronouns: those that begin sentences, else all."""
    stated = stated_gender(attributes)
    if stated is not None:
        return stated
    for name in names:
        first = _titled(name)
        if first in words("latin", "male") or first in words("latin", "female"):
            return "m" if first in words("latin", "male") else "f"
    clause = LEADING_CLAUSE.match(description)
    by_kin = _by_kin(clause[0] if clause else "")
    if by_kin:
        return by_kin
    for he, she in ((_HE_BEGINS, _SHE_BEGINS), (_HE, _SHE)):
        men, women = bool(he.search(description)), bool(she.search(description))
        if men != women:
            return "m" if men else "f"
    return ""


def _titled(name: str) -> str:
    """The word of a name that may be a title: that of "Mrs. Hale", of "the widow"; none of a name of one word."""
    parts = name.lower().split()
    if len(parts) < _TITLED:
        return ""
    return (parts[1] if parts[0] == "the" else parts[0]).rstrip(".")


def _by_kin(clause: str) -> Gender:
    """林默的妹妹, "Tobias's younger sister": in Chinese the last kin word, at the end; in English the first.

    Behind "her" or "his" stands somebody else: "keeps the inn since her husband drowned".
    """
    bare = clause.strip()
    ends: list[tuple[int, Gender]] = []
    for row, gender in (("men", "m"), ("women", "f")):
        ends += [(len(word), gender) for word in words("han", row) if bare.endswith(word)]  # type: ignore[misc]
    if ends:
        return max(ends)[1]
    for at, word in enumerate(re.findall(r"[a-z]+", bare.lower())):
        if at and word in _SOMEBODYS:
            break
        if word in words("latin", "men"):
            return "m"
        if word in words("latin", "women"):
            return "f"
    return ""
