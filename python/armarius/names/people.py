"""Persons as far as their names go: what they are called in full, whether a man or a woman, what is said of them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from armarius.names.lexicon import words
from armarius.names.model import FormKind
from armarius.text.matcher import field_of, kind_of, names_of

__all__ = ["Form", "Gender", "Person", "persons_of"]

Gender = Literal["", "m", "f"]

_GENDER: Final = frozenset({"性别", "性別", "gender", "sex", "pronouns"})
_MALE: Final = frozenset({"男", "男性", "male", "m", "man", "he", "he/him"})
_FEMALE: Final = frozenset({"女", "女性", "female", "f", "woman", "she", "she/her"})
_CLAUSE: Final = re.compile(r"[^，。；;,.!！?？\n]*")
_HE: Final = re.compile(r"\b(?:he|him|his)\b|他(?!们)", re.IGNORECASE)
_HE_BEGINS: Final = re.compile(r"(?:^|[.!?。！？]\s*)(?:He\b|他(?!们))", re.MULTILINE)
_SHE_BEGINS: Final = re.compile(r"(?:^|[.!?。！？]\s*)(?:She\b|她(?!们))", re.MULTILINE)
_SHE: Final = re.compile(r"\b(?:she|her|hers)\b|她(?!们)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Person:
    """A person of the cast; `said` is everything the profile says."""

    id: str
    names: tuple[str, ...]
    gender: Gender
    said: str


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
    return [_person(entity) for entity in entities if kind_of(entity) == "person"]


def _person(entity: object) -> Person:
    entity_id, names = names_of(entity)
    told = field_of(entity, "attributes")
    attributes: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    description = str(field_of(entity, "description") or "")
    values = [str(value) for value in attributes.values()]
    said = "\n".join([description, *values])
    return Person(entity_id, tuple(name.strip() for name in names), _gender(attributes, names, description), said)


def _gender(attributes: Mapping[str, Any], names: list[str], description: str) -> Gender:
    """As stated; else by title, kin word of the first clause, or pronouns: those that begin sentences, else all."""
    for key, value in attributes.items():
        if str(key).strip().lower() in _GENDER:
            word = str(value).strip().lower()
            return "m" if word in _MALE else "f" if word in _FEMALE else ""
    for name in names:
        first = name.split()[0].lower().rstrip(".") if " " in name else ""
        if first in words("latin", "male") or first in words("latin", "female"):
            return "m" if first in words("latin", "male") else "f"
    clause = _CLAUSE.match(description)
    by_kin = _by_kin(clause[0] if clause else "")
    if by_kin:
        return by_kin
    for he, she in ((_HE_BEGINS, _SHE_BEGINS), (_HE, _SHE)):
        men, women = bool(he.search(description)), bool(she.search(description))
        if men != women:
            return "m" if men else "f"
    return ""


def _by_kin(clause: str) -> Gender:
    """林默的妹妹, "Tobias's younger sister": in Chinese the last kin word, at the end; in English the first."""
    bare = clause.strip()
    ends: list[tuple[int, Gender]] = []
    for row, gender in (("men", "m"), ("women", "f")):
        ends += [(len(word), gender) for word in words("han", row) if bare.endswith(word)]  # type: ignore[misc]
    if ends:
        return max(ends)[1]
    for word in re.findall(r"[a-z]+", bare.lower()):
        if word in words("latin", "men"):
            return "m"
        if word in words("latin", "women"):
            return "f"
    return ""
