"""Persons of a cast and their gender; family names and titles; rows of `names.toml`."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, Literal

from armarius.lexicon import word_file
from armarius.text.matcher import field_of, kind_of, names_of
from armarius.text.unicode import LEADING_CLAUSE, after_sentence, is_han

Gender = Literal["", "m", "f"]

_HE: Final = re.compile(r"\b(?:he|him|his)\b|他(?!们)", re.IGNORECASE)
_HE_BEGINS: Final = re.compile(after_sentence(r"(?:He\b|他(?!们))"), re.MULTILINE)
_SHE_BEGINS: Final = re.compile(after_sentence(r"(?:She\b|她(?!们))"), re.MULTILINE)
_SHE: Final = re.compile(r"\b(?:she|her|hers)\b|她(?!们)", re.IGNORECASE)
_SOMEBODYS: Final = frozenset({"his", "her", "their"})
_TITLED: Final = 2  # words of a name with a title


@cache
def _data() -> dict[str, dict[str, str]]:
    return word_file("names")


@cache
def words(table: str, row: str) -> frozenset[str]:
    """The words of a row."""
    return frozenset(_data()[table][row].split())


@cache
def letters(table: str, row: str) -> frozenset[str]:
    """The characters of a row of single-character words."""
    return frozenset("".join(_data()[table][row].split()))


def genders_of(entities: Iterable[object]) -> dict[str, Gender]:
    """The gender of each person among entities, by id; "" when unknown."""
    found: dict[str, Gender] = {}
    for entity in entities:
        if kind_of(entity) == "person":
            entity_id, names = names_of(entity)
            raw = field_of(entity, "attributes")
            attributes = raw if isinstance(raw, Mapping) else {}
            found[entity_id] = _gender(attributes, map(str.strip, names), str(field_of(entity, "description") or ""))
    return found


def stated_gender(attributes: Mapping[str, Any]) -> Gender | None:
    """The gender in the first field for it, "" for any other word; None when there is no such field."""
    for key, value in attributes.items():
        if str(key).strip().lower() in words("stated", "fields"):
            word = str(value).strip().lower()
            return "m" if word in words("stated", "male") else "f" if word in words("stated", "female") else ""
    return None


def _gender(attributes: Mapping[str, Any], names: Iterable[str], description: str) -> Gender:
    """The gender: stated, else by title, kin word of the first clause, or pronouns (first at sentence beginnings)."""
    stated = stated_gender(attributes)
    if stated is not None:
        return stated
    for name in names:
        if by_title := title_gender(_titled(name)):
            return by_title
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
    """The word of a name that may be a title ("Mrs. Hale", "the widow"); none for a name of one word."""
    parts = name.lower().split()
    if len(parts) < _TITLED:
        return ""
    return (parts[1] if parts[0] == "the" else parts[0]).rstrip(".")


def _by_kin(clause: str) -> Gender:
    """林默的妹妹, "Tobias's younger sister": in Chinese the last kin word, at the end; in English the first.

    A kin word behind "her" or "his" is another person: "keeps the inn since her husband drowned".
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


_KIN: Final = letters("han", "bare_titles") | frozenset("妈爸爹姥嬷母父")


def split_name(name: str) -> tuple[str, str] | None:
    """Family name and given name (林, 雨桐).

    Returns:
        The given name is "" when a title stands in its place (王夫人); None for any other kind of name.
    """
    if not is_han(name):
        return None
    if len(name) in (3, 4) and name[:2] in words("han", "compound_surnames"):
        family = name[:2]
    elif len(name) in (2, 3) and name[0] in letters("han", "surnames"):
        family = name[0]
    else:
        return None
    given = name[len(family) :]
    if given == "儿":  # 平儿: no family name
        return None
    return family, "" if _KIN.issuperset(given) or given in all_titles() else given


@cache
def all_titles() -> frozenset[str]:
    """All titles that may stand behind a family name."""
    rows = ("male", "female", "either", "professions", "wives")
    return frozenset(word for row in rows for word in words("han", row))


def title_gender(word: str) -> Gender | None:
    """The gender of a title, "" without gender, None for any other word."""
    title = word.rstrip(".").lower()
    if title in words("latin", "male"):
        return "m"
    if title in words("latin", "female"):
        return "f"
    return "" if title in words("latin", "titles") else None
