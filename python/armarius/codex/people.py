"""Persons of a cast: gender, family names, titles, rows of `names.toml`; short forms that their names allow.

>>> [one.text for one in short_names([{"id": "bob", "name": "Bob Finch", "type": "character"}])]
['Bob', 'Finch']

Short forms follow from the names alone; no text is read (docs/decisions/0044). Where a Japanese name without a blank is
cut, the story decides (`codex/names_in_story.py`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal

from armarius.lexicon import word_file
from armarius.text.matcher import ShortName, field_of, kind_of, names_of
from armarius.text.unicode import HAN, KANA, LEADING_CLAUSE, after_sentence, caseless, is_han

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
    genders: dict[str, Gender] = {}
    for entity in entities:
        if kind_of(entity) == "person":
            entity_id, names = names_of(entity)
            raw = field_of(entity, "attributes")
            attributes = raw if isinstance(raw, Mapping) else {}
            genders[entity_id] = _gender(attributes, map(str.strip, names), str(field_of(entity, "description") or ""))
    return genders


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
        if by_title := title_gender(_title_word(name)):
            return by_title
    clause = LEADING_CLAUSE.match(description)
    by_kin = _gender_of_kin(clause[0] if clause else "")
    if by_kin:
        return by_kin
    for he, she in ((_HE_BEGINS, _SHE_BEGINS), (_HE, _SHE)):
        men, women = bool(he.search(description)), bool(she.search(description))
        if men != women:
            return "m" if men else "f"
    return ""


def _title_word(name: str) -> str:
    """The word of a name that may be a title ("Mrs. Hale", "the widow"); none for a name of one word."""
    parts = name.lower().split()
    if len(parts) < _TITLED:
        return ""
    return (parts[1] if parts[0] == "the" else parts[0]).rstrip(".")


def _gender_of_kin(clause: str) -> Gender:
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
    at = 2 if len(name) in (3, 4) and name[:2] in words("han", "compound_surnames") else 1
    is_named = at > 1 or (len(name) in (2, 3) and name[0] in letters("han", "surnames"))
    if not (is_named and is_han(name)) or name[at:] == "儿":  # 平儿: no family name
        return None
    return name[:at], "" if _KIN.issuperset(name[at:]) or name[at:] in all_titles() else name[at:]


@cache
def all_titles() -> frozenset[str]:
    """All titles that may stand behind a family name."""
    rows = ("male", "female", "either", "professions", "wives")
    return frozenset(word for row in rows for word in words("han", row))


def title_gender(word: str) -> Gender | None:
    """The gender of a title, "" without gender, None for any other word."""
    title = word.rstrip(".").lower()
    rows: dict[str, Gender] = {"male": "m", "female": "f", "titles": ""}
    return next((gender for row, gender in rows.items() if title in words("latin", row)), None)


_POINT: Final = re.compile(r"[\s·•‧・．]+")
_CHAR: Final = f"[{HAN}{KANA}々]"
_PARTED: Final = re.compile(rf"{_CHAR}.*[·•‧・．].*|{_CHAR}{{1,5}}\s{_CHAR}{{1,5}}")
_UNPARTED: Final = re.compile(rf"[{HAN}々]+[{HAN}{KANA}々]{{1,4}}(?<=...)(?<!......)")
_GIVEN: Final = re.compile(rf"[{HAN}々]{{2,}}|[ァ-ヺー]{{2,}}|[ぁ-ゖー]{{3,}}")
_QUOTED: Final = re.compile(r"(?<!\s)\s*[\"“”‘]([A-Z][^\"“”’]{1,19})[\"“”’]\s*")
_BRACKETS: Final = re.compile(r"(?<!\s)\s*[(（][^()（）]*[)）]")
_Form = tuple[str, Literal["given name", "family name", "part of the name"]]


def short_names(entities: Iterable[object], *, cut: bool = False) -> tuple[ShortName, ...]:
    """The short forms of the persons among entities that no other entity may have.

    A form that two persons may have, or that some entity lists, is left out; so are the forms of a person who lists a
    part of the name, for that list is taken as complete.

    Args:
        entities: As for `EntityMatcher`, with valid names; persons have the `type` "character".
        cut: With the parts of Japanese names without a blank (佐藤, 美咲), which only the story can confirm.

    Returns:
        Sorted by text, then entity.

    Cost: linear in the names.
    """
    index: dict[str, list[ShortName]] = {}
    listed: list[str] = []
    for entity in entities:
        entity_id, names = names_of(entity)
        listed += names
        spelt = next((item for item in names[1:] if caseless(item) == caseless(names[0])), names[0])  # of RUTH CALDER
        forms = dict(_forms(spelt.strip(), cut=cut)) if kind_of(entity) == "person" else {}
        complete = forms.keys() & {part for name in names[1:] if name != spelt for part in (name, *name.split())}
        listed += forms if complete else []
        for text, kind in () if complete else forms.items():
            index.setdefault(caseless(text), []).append(ShortName(text, entity_id, kind, names[0].strip()))
    texts = {caseless(name.strip()) for name in listed} if index else set()
    alone = [
        ones[0] for text, ones in index.items() if text not in texts and len({form.entity_id for form in ones}) == 1
    ]
    return tuple(sorted(alone, key=lambda form: (form.text, form.entity_id)))


def _forms(name: str, *, cut: bool) -> Iterator[_Form]:
    split = split_name(name)
    yield from _cut_forms(name) if cut else ()
    if split is not None:
        if len(split[1]) == 2 and split[1] not in words("han", "given_words"):
            yield split[1], "given name"
    elif len(name) == 3 and all("가" <= char <= "힣" for char in name) and name[0] in letters("hangul", "surnames"):
        yield name[1:], "given name"
    elif _PARTED.fullmatch(name):  # 桜咲 さくら: the family name first, and mostly without the blank
        parts = _POINT.split(name)
        if " " in name:
            yield "".join(parts), "part of the name"
            parts.reverse()
        if len(parts[0]) > 1 and parts[0] not in all_titles():  # 约翰逊 博士
            yield parts[0], "given name"
        if len(parts[-1]) > 1:
            yield parts[-1], "family name"
    elif name[:1].isupper() and not name.startswith(("The ", "A ", "An ")):
        yield from _latin_forms(name)


def _cut_forms(name: str) -> Iterator[_Form]:
    """The parts of a Japanese name of three to five characters, cut behind what may end a family name."""
    for at in range(1, len(name)) if _UNPARTED.fullmatch(name) else ():
        family, given = name[:at], name[at:]
        if family[-1] in letters("japanese", "surnames"):
            if at > 1:
                yield family, "family name"
            if _GIVEN.fullmatch(given) and given not in all_titles() | words("japanese", "titles"):
                yield given, "given name"


def _latin_forms(name: str) -> Iterator[_Form]:
    """Of a given and a family name, or of one name with a title; more words are no name for certain."""
    for match in _QUOTED.finditer(name):
        yield match[1], "given name"
    parts = _BRACKETS.sub("", _QUOTED.sub(" ", name)).replace(",", " ").split()
    bare = _drop_titles(parts)
    small = [at for at, word in enumerate(bare) if at and word in words("latin", "particles")]
    first, family = (bare[: small[0]], bare[small[0] :]) if small else (bare[:1], bare[1:])
    if not bare or not (bare[0][0].isupper() and bare[-1][0].isupper()):
        return
    if title_gender(bare[-1]) is not None or bare[-1].lower() in words("latin", "roles"):
        return
    if len(bare) == 1:
        if parts != bare and _fold_word(parts[0]) not in words("latin", "by_marriage"):
            yield bare[0], "part of the name"
    elif len(first) == 1 and (small or len(family) == 1):
        if " ".join(bare) != name:
            yield " ".join(bare), "part of the name"
        yield first[0], "given name"
        yield " ".join(family), "family name"


def _drop_titles(parts: Sequence[str]) -> list[str]:
    """The words of a name behind its last title, without suffixes and initials."""
    kept = [word for word in parts if len(word.rstrip(".")) > 1 and _fold_word(word) not in words("latin", "suffixes")]
    titles = [at for at, word in enumerate(kept[:-1]) if title_gender(word) is not None]
    return kept[titles[-1] + 1 :] if titles else kept


def _fold_word(word: str) -> str:
    return word.rstrip(".").lower()
