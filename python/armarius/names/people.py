"""Persons of a cast: names, gender, profile text; the short forms, kin terms and titles that their names allow."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Final, Literal

from armarius.names.words import letters, words
from armarius.text.matcher import Mention, field_of, kind_of, names_of
from armarius.text.name_model import DoubtfulAlias, FormKind, LongerName
from armarius.text.unicode import HAN, LEADING_CLAUSE, after_sentence, is_han

Gender = Literal["", "m", "f"]

_HE: Final = re.compile(r"\b(?:he|him|his)\b|他(?!们)", re.IGNORECASE)
_HE_BEGINS: Final = re.compile(after_sentence(r"(?:He\b|他(?!们))"), re.MULTILINE)
_SHE_BEGINS: Final = re.compile(after_sentence(r"(?:She\b|她(?!们))"), re.MULTILINE)
_SHE: Final = re.compile(r"\b(?:she|her|hers)\b|她(?!们)", re.IGNORECASE)
_SOMEBODYS: Final = frozenset({"his", "her", "their"})
_TITLED: Final = 2  # words of a name with a title


@dataclass(frozen=True)
class Person:
    """A person of the cast; `profile` is the text of the profile."""

    id: str
    names: tuple[str, ...]
    profile: str
    description: str
    attributes: Mapping[str, Any] = field(compare=False, repr=False)

    @cached_property
    def gender(self) -> Gender:
        """The gender, "" when unknown. Computed at first use: few of a large cast need it."""
        return _gender(self.attributes, self.names, self.description)


@dataclass(frozen=True, slots=True)
class NameForm:
    """A short form that one name of a person allows.

    Attributes:
        text: The form.
        kind: The part of the name that it is.
        of: The full name.
        person: The person with that name.
    """

    text: str
    kind: FormKind
    of: str
    person: Person


def persons_of(entities: Iterable[object]) -> list[Person]:
    """The persons among entities."""
    return [person_of(entity, *names_of(entity)) for entity in entities if kind_of(entity) == "person"]


def person_of(entity: object, entity_id: str, names: Iterable[str]) -> Person:
    """The person of an entity with this id and these names."""
    raw = field_of(entity, "attributes")
    attributes: Mapping[str, Any] = raw if isinstance(raw, Mapping) else {}
    description = str(field_of(entity, "description") or "")
    values = [str(value) for value in attributes.values()]
    profile = "\n".join([description, *values])
    return Person(entity_id, tuple(map(str.strip, names)), profile, description, attributes)


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


_POINTED: Final = re.compile("[·•‧・．]")
_POINT: Final = re.compile(rf"\s*{_POINTED.pattern}\s*")
_END: Final = r"(?=[，。、；,;）)！\s”」』]|$)"
_KIN: Final = letters("han", "bare_titles") | frozenset("妈爸爹姥嬷母父")
_HAN: Final = f"[{HAN}]"
_COURTESY: Final = re.compile(
    rf"(?:^|[，。、；,;（(\s])(?:表字|字)(?:是|为|曰)?[“「]?({_HAN}{{2}})[”」]?{_END}", re.MULTILINE
)
_BYNAME: Final = re.compile(
    r"(?:^|[，。、；,;（(\s])(?:别号|道号|法号|雅号|小名|小字|乳名|绰号|外号|诨名|诨号|人称|世称|又名|又叫|又称|原名|本名|化名|笔名|艺名|昵称)"
    rf"(?:是|为|叫|作|唤|曰|做)?[“「『]?({_HAN}{{2,4}})[”」』]?{_END}",
    re.MULTILINE,
)


def han_forms(person: Person) -> Iterator[NameForm]:
    """Short forms of a Chinese name; none for a name without a family name."""
    for pattern in (_COURTESY, _BYNAME):
        for match in pattern.finditer(person.profile):
            yield NameForm(match[1], "byname", person.names[0], person)
    if _POINTED.search("".join(person.names)) is not None:
        for name in person.names:
            yield from _foreign(name, person)
    parts = split_name(person.names[0])
    if parts is None:
        return
    family, given = parts
    name = person.names[0]
    if len(given) == 2:
        yield NameForm(given, "given name", name, person)
    if len(person.names) > 1 or not given:
        return  # the list of names is complete
    if len(family) == 2:
        yield NameForm(family, "family name", name, person)
    else:
        yield from (NameForm(prefix + family, "familiar form", name, person) for prefix in "小老阿")
    last = given[-1]
    if last != "儿":
        for form in (f"小{last}", f"阿{last}", f"{last}儿", last * 2):
            yield NameForm(form, "familiar form", name, person)
    if len(given) == 2 and given[0] != last:
        yield NameForm(f"阿{given[0]}", "familiar form", name, person)


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


def _foreign(name: str, person: Person) -> Iterator[NameForm]:
    """Parts of a transliterated name: 安娜 and 卡列尼娜 of 安娜·卡列尼娜."""
    parts = _POINT.split(name)
    if len(parts) < 2 or not is_han("".join(parts)):
        return
    for part, kind in ((parts[0], "given name"), (parts[-1], "family name")):
        if len(part) >= 2:
            yield NameForm(part, kind, name, person)  # type: ignore[arg-type]


# Share of occurrences outside its company from which a term is doubtful, and least count of either.
_SHARED: Final = 0.1
_OFTEN: Final = 3
# Code points before a term that are searched for its company; `FAR` of rust/matching/ambiguity.rs, in bytes there.
_FAR: Final = 10_922
_RANKS: Final = frozenset("二三四五六七八九堂表")
_THEIRS: Final = ("他的", "她的", "他", "她")


class Kinship:
    """The kin terms and titles of a cast.

    Args:
        people: Of the cast, with valid names.

    Attributes:
        owners: Term to the only person with that term as a name.
        company: Term to names that mark that person when near it: their own, and those of people linked by profiles in
            either direction. Not for relatives of a first-person narrator, who is mentioned everywhere.
    """

    def __init__(self, people: Sequence[Person]) -> None:
        last = letters("han", "relational") | letters("han", "respectful")  # last characters of such terms
        called = Counter(name for person in people for name in person.names if name[-1:] in last)
        telling = [person for person in people if person.profile]
        by_id = {person.id: person for person in people}
        proper = cache(lambda id_: frozenset(_proper(by_id[id_])))  # computed for few of a large cast
        self.owners: Final[dict[str, Person]] = {}
        self.company: Final[dict[str, tuple[str, ...]]] = {}
        self._own: Final[dict[str, tuple[bool, frozenset[str]]]] = {}  # of the terms that occur
        for person in people:
            ending = [name for name in person.names if name[-1:] in last]
            terms = [name for name in ending if called[name] == 1 and (_is_term(name) or _is_respectful(name))]
            self.owners.update((term, person) for term in terms)
            if not terms or _is_narrators(person):
                continue
            near = set(proper(person.id))
            for other in people if person.profile else telling:
                named = bool(person.profile) and any(name in person.profile for name in proper(other.id))
                if named or any(name in other.profile for name in proper(person.id)):
                    near |= proper(other.id)
            if near:
                self.company.update((term, tuple(sorted(near - {term}))) for term in terms)

    def look(self, text: str, mentions: Sequence[Mention], alone: Counter[Any], led: Counter[Any]) -> None:
        """Count one document: terms outside their company, and terms behind a word that changes their owner."""
        for mention in mentions:
            term = mention.term
            if term not in self.owners:
                continue
            lead = self._lead(term, text[max(0, mention.start - 3) : mention.start])
            if lead:
                led[term, lead] += 1
            elif term in self.company and not _in_company(text, mention, self.company[term]):
                alone[mention.entity_id, term] += 1

    def longer(self, led: Counter[tuple[str, str]]) -> Iterator[LongerName]:
        """Longer terms for other people: 李老太太, 堂伯父, a narrator's 他伯父."""
        verbs = letters("han", "verbs_that_are_surnames")
        for (term, lead), count in sorted(led.items()):
            if lead not in verbs:
                yield LongerName(lead + term, term, f"{lead}{term} occurs {count} times: somebody else")

    def doubtful(self, times: Counter[tuple[str, str]], alone: Counter[tuple[str, str]]) -> Iterator[DoubtfulAlias]:
        """Terms that the prose also uses for other people."""
        for (entity_id, term), count in sorted(alone.items()):
            total = times[entity_id, term]
            if min(count, total - count) >= _OFTEN and count > _SHARED * total:
                because = f"{count} of {total} times without anybody who belongs to {self.owners[term].names[0]}"
                yield DoubtfulAlias(term, entity_id, "company", "\n".join(self.company[term]), because)

    def _lead(self, term: str, before: str) -> str:
        """The word before a term that changes its owner, or ""."""
        last = before[-1:]
        narrators, own = self._own_letters(term)
        if narrators:
            for word in _THEIRS:
                if before.endswith(word):
                    return word
        if last in _RANKS:
            return last
        family = last in letters("han", "surnames") and last not in letters("han", "function")
        # 禀明老太太: such a character is a family name for certain only at the beginning of a clause.
        return last if last and family and last not in own and not is_han(before[-2:-1]) else ""

    def _own_letters(self, term: str) -> tuple[bool, frozenset[str]]:
        """Whether a term is the narrator's, and the first characters of its company's names."""
        known = self._own.get(term)
        if known is None:
            owner = self.owners[term]
            names = (*owner.names, *self.company.get(owner.names[0], ()))
            known = self._own[term] = _is_narrators(owner), frozenset(name[0] for name in names)
        return known


def _is_term(name: str) -> bool:
    """Whether a name consists of kin words, titles and ranks."""
    return letters("han", "relational").issuperset(name) and not letters("han", "kin").isdisjoint(name)


def _is_respectful(name: str) -> bool:
    """Whether a name is one character and a respectful one (子翁), which fits every name with that character."""
    return len(name) == 2 and name[1] in letters("han", "respectful")


def _proper(person: Person) -> Iterator[str]:
    for name in person.names:
        if len(name) > 1 and not _is_term(name) and not _is_respectful(name):
            yield name
            parts = split_name(name)
            if parts and len(parts[1]) > 1:
                yield parts[1]


def _is_narrators(person: Person) -> bool:
    """Whether a person is named by the relation to the narrator."""
    starts = tuple(f"{word}的" for word in words("han", "narrator"))
    return person.profile.lstrip().startswith(starts) or any(name.startswith("我") for name in person.names)


def _in_company(text: str, term: Mention, names: Sequence[str]) -> bool:
    stop = text.find("\n", term.end)
    stop = len(text) if stop < 0 else stop
    start = max(0, term.start - _FAR)
    return any(text.find(name, start, term.start) >= 0 or text.find(name, term.end, stop) >= 0 for name in names)


_QUOTED: Final = re.compile(r"\s*[\"“”‘]([^\"“”’]{2,20})[\"“”’]\s*")
_BRACKETS: Final = re.compile(r"\s*[(（][^)）]*[)）]")
_NAMED: Final = r"[\"“‘']?([A-Z][\w’'-]*(?:\s[A-Z][\w’'-]*)?)"
# Only about the person of the profile, unlike "her parrot is called Admiral".
_CALLED: Final = re.compile(
    r"(?:\b(?:nicknamed|goes by|answers to|a\.k\.a\.|aka|known (?:to [\w ]{1,30} )?as|calls? (?:him|her|them))"
    r"|(?:^|[.,;] )[Cc]alled)\s+(?:the name\s+)?" + _NAMED
)


def latin_forms(person: Person) -> Iterator[NameForm]:
    """Short forms of a name of several words, all capitalised but for particles."""
    for match in _CALLED.finditer(person.profile):
        yield NameForm(match[1], "byname", person.names[0], person)
    if person.names[0][:1].isupper():  # in Chinese text a name in Latin letters is a gloss
        for name in person.names:
            yield from _forms(name, person)


def bare(word: str) -> str:
    """A title in its vocabulary form: "Mr." is mr."""
    return word.rstrip(".").lower()


def title_gender(word: str) -> str | None:
    """The gender of a title, "" without gender, None for any other word."""
    title = bare(word)
    if title in words("latin", "male"):
        return "m"
    if title in words("latin", "female"):
        return "f"
    return "" if title in words("latin", "titles") else None


def untitled(name: str) -> list[str]:
    """The words of a name without titles and suffixes."""
    return [
        word for word in name.split() if title_gender(word) is None and bare(word) not in words("latin", "suffixes")
    ]


def _forms(name: str, person: Person) -> Iterator[NameForm]:
    for match in _QUOTED.finditer(name):
        if match[1][0].isupper():
            yield NameForm(match[1], "given name", name, person)
    parts = _BRACKETS.sub("", _QUOTED.sub(" ", name)).replace(",", " ").split()
    if not parts or any(not any(char.isalpha() for char in part) for part in parts):
        return
    title = ""
    while len(parts) > 1 and title_gender(parts[0]) is not None:
        title = bare(parts.pop(0))
    while len(parts) > 1 and bare(parts[-1]) in words("latin", "suffixes"):
        parts.pop()
    full = " ".join(parts)
    parts = [part for part in parts if len(part.rstrip(".")) > 1]
    if not parts or not _is_name(parts):
        return
    if len(parts) == 1:
        if title and title not in words("latin", "by_marriage"):
            yield NameForm(parts[0], "part of the name", name, person)
        return
    if full != name:
        yield NameForm(full, "part of the name", name, person)
    yield NameForm(parts[0], "given name", name, person)
    small = [at for at, part in enumerate(parts) if bare(part) in words("latin", "particles") and at]
    family = " ".join(parts[small[0] :]) if small else parts[-1]
    if "of" in parts:
        return  # Joan of Arc: a place, not a family name
    yield NameForm(family, "family name", name, person)
    if small and len(parts) - small[0] > 1:
        yield NameForm(parts[-1], "family name", name, person)
    elif len(parts) > 2:
        yield NameForm(f"{parts[0]} {parts[-1]}", "part of the name", name, person)
        yield NameForm(" ".join(parts[:-1]), "given name", name, person)
        yield NameForm(" ".join(parts[1:]), "family name", name, person)


def _is_name(parts: list[str]) -> bool:
    """Whether all words but inner particles are capitalised, without a leading article."""
    if parts[0].lower() in ("the", "a", "an") or not parts[0][0].isupper() or not parts[-1][0].isupper():
        return False
    between = words("latin", "particles") | {"of"}
    return all(part[0].isupper() or part.lower() in between for part in parts)
