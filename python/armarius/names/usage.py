"""Counts of how prose uses short forms of names: as an acting person, as a word, next to which words.

Counts are sums over documents, as in `counts`.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, Literal

from armarius.names.people import (
    NameForm,
    Person,
    all_titles,
    han_forms,
    latin_forms,
    split_name,
    title_gender,
    untitled,
)
from armarius.names.words import letters, words
from armarius.text.matcher import EntityMatcher, Mention
from armarius.text.name_model import DoubtfulAlias, LongerName
from armarius.text.unicode import caseless, is_han


class Forms:
    """The short forms of a cast.

    Args:
        people: Of the cast, with valid names.
        names: Names of all entities of the cast.

    Attributes:
        by_text: Form to its readings, without family names with titles.
        families: Chinese family name to the persons with it and a given name.
        titled: Family name with a title to its two parts.
        given: Given name to the id of the only person with it.
        loose: Familiar form or family name with title to the ids of candidates.
        complete: Ids of persons with parts of their first name in the list: such a list is taken as complete.
        taken: Listed names, which no form may equal; folded by `caseless`.
        matcher: Finds the forms; their ids are the forms.
    """

    def __init__(self, people: Sequence[Person], names: Iterable[str]) -> None:
        self.taken: Final = {caseless(name.strip()) for name in names}
        self.by_text: Final[dict[str, list[NameForm]]] = {}
        self.complete: Final = {person.id for person in people if _lists_parts(person)}
        self.families: Final[dict[str, list[Person]]] = {}
        for person in people:
            for form in chain(han_forms(person), _korean_forms(person), latin_forms(person)):
                known = self.by_text.setdefault(form.text, [])
                if caseless(form.text) not in self.taken and form.person.id not in [one.person.id for one in known]:
                    known.append(form)
            parts = split_name(person.names[0])
            if parts is not None and parts[1]:
                self.families.setdefault(parts[0], []).append(person)
        for text in [text for text, forms in self.by_text.items() if not forms]:
            del self.by_text[text]
        titles = sorted(all_titles() - words("han", "wives"))
        self.titled: Final[dict[str, tuple[str, str]]] = {}
        self.given: Final = {
            text: forms[0].person.id
            for text, forms in self.by_text.items()
            if len(forms) == 1 and forms[0].kind == "given name"
        }
        self.loose: Final = {
            text: frozenset(form.person.id for form in forms)
            for text, forms in self.by_text.items()
            if forms[0].kind == "familiar form"
        }
        for family in sorted(self.families):
            bearers = frozenset(one.id for one in self.families[family])
            called = {family + title: (family, title) for title in titles if family + title not in self.taken}
            self.titled.update(called)
            self.loose.update(dict.fromkeys(called, bearers))
        self.matcher: Final = EntityMatcher.of_texts([*self.by_text, *self.titled])

    def is_listed(self, form: NameForm) -> bool:
        """Whether a complete list of a person's names would contain a form."""
        return form.kind != "byname" and (form.of != form.person.names[0] or form.person.id in self.complete)


def _lists_parts(person: Person) -> bool:
    """Whether a list has parts of the first name: 林雨桐 with 雨桐, "Dolge Orlick" with "Mr. Orlick"."""
    name, *others = person.names
    if is_han(name):
        return any(other != name and other in name for other in others)
    parts = frozenset(untitled(name))
    if len(parts) < 2:
        return False
    return any(frozenset() < frozenset(untitled(other)) < parts for other in others)


def _korean_forms(person: Person) -> Iterator[NameForm]:
    """민수 of 김민수."""
    name = person.names[0]
    if len(name) == 3 and all("가" <= char <= "힣" for char in name) and name[0] in letters("hangul", "surnames"):
        yield NameForm(name[1:], "given name", name, person)


# bare: outside longer names. acting: of these, as a person who acts or is addressed. counted: as a thing. inside,
# initial: with a capital, inside a sentence or at its beginning. small: in lower case. near: bare and near a mention of
# a candidate; only for loose forms.
Use = Literal["bare", "acting", "counted", "near", "inside", "initial", "small"]

_NUMBERS: Final = letters("han", "numbers")
_MEASURES: Final = letters("han", "measures")
_NEAR: Final = 500  # code points on either side
_STOPS: Final = frozenset("，。！？、：；!?,.…")
# Characters between sentences, opening marks, and sentence ends; as in rust/matching/ambiguity.rs.
_OPEN: Final = " \t　*_(（\"'“‘「『«《"
_QUOTES: Final = frozenset('"“‘「『«')
_ENDS: Final = frozenset(".!?…:;。！？：；—–\n\r#")
_BEFORE: Final = re.compile(r"([^\W\d_][\w’'-]*\.?)[ ]$")
_SHORTENED: Final = re.compile(r"([^\W\d_]+)\.$")
_AFTER: Final = re.compile(r"[ ]([^\W\d_][\w’-]*)")
_NO_NAME: Final = frozenset({"I"})
# Persons act in about a third of their mentions, things in one of fifty: a value between them.
_ACTING: Final = 0.08

Uses = Counter[tuple[str, str]]
Neighbors = Counter[tuple[str, str, str]]


class Usage:
    """Counts of uses.

    Args:
        forms: The forms to count.

    Attributes:
        uses: (form, use) to count.
        neighbors: (form, "before" or "after", word) to count: in Chinese a preceding family name, elsewhere an adjacent
            capitalised word inside a sentence.
    """

    def __init__(self, forms: Forms) -> None:
        self.forms: Final = forms
        self.uses: Final = Counter[tuple[str, str]]()
        self.neighbors: Final = Counter[tuple[str, str, str]]()

    def look(self, text: str, mentions: Sequence[Mention], uses: Uses, neighbors: Neighbors) -> None:
        """Count the forms in one document outside mentions of listed names, into `uses` and `neighbors`."""
        starts = [mention.start for mention in mentions]
        own = []
        for found in self.forms.matcher.find_overlapping(text):
            at = bisect_right(starts, found.start) - 1
            inside = at >= 0 and mentions[at].end > found.start
            if not inside and (at + 1 == len(mentions) or mentions[at + 1].start >= found.end):
                own.append(found)
        around: list[Mention] = []
        places: list[int] = []
        for found in own:
            if not is_han(found.term[0]):
                _spaced(text, found, uses, neighbors)
                continue
            _han(text, found, uses, neighbors)
            candidates = self.forms.loose.get(found.entity_id)
            if candidates and not around:
                given = self.forms.given
                names = [Mention(given[one.entity_id], "", one.start, one.end) for one in own if one.entity_id in given]
                around = sorted([*mentions, *names], key=lambda one: (one.start, one.end))
                places = [mention.start for mention in around]
            if candidates and _is_near(found, around, bisect_right(places, found.start) - 1, candidates):
                uses[found.entity_id, "near"] += 1

    def of(self, form: str, use: Use) -> int:
        """The count of one use of a form."""
        return self.uses.get((form, use), 0)  # a missing key of a `Counter` calls `__missing__`

    def acts(self, form: str) -> bool:
        """Whether a form acts as often as persons do."""
        acting = self.of(form, "acting")
        return acting > 0 and acting >= _ACTING * self.of(form, "bare")


def _han(text: str, found: Mention, uses: Uses, neighbors: Neighbors) -> None:
    form = found.entity_id
    before, after = text[max(0, found.start - 2) : found.start], text[found.end : found.end + 1]
    last = before[-1:]
    if last in letters("han", "surnames") and last not in letters("han", "function"):
        neighbors[form, "before", last] += 1
    if len(before) == 2 and before[0] in _NUMBERS and last in _MEASURES:
        uses[form, "counted"] += 1
        return
    uses[form, "bare"] += 1
    addressed = after in _STOPS and last in ("“", "「", "，", "‘", "『")
    if after in letters("han", "acts") or addressed or last in letters("han", "done_to"):
        uses[form, "acting"] += 1


def _spaced(text: str, found: Mention, uses: Uses, neighbors: Neighbors) -> None:
    form = found.entity_id
    line = text.rfind("\n", 0, found.start) + 1
    if not found.term[0].isupper():
        # "van der Berg", and scripts without case: capitals distinguish nothing.
        named = found.term[0] == form[0]
        uses[form, "inside" if named else "small"] += 1
        return
    before = text[max(0, found.start - 40) : found.start]
    initial = begins_sentence(before)
    uses[form, "initial" if initial else "inside"] += 1
    if text.startswith("#", line):
        return  # headings may capitalise every word
    previous = _BEFORE.search(before)
    if previous and previous[1][0].isupper() and previous[1] not in _NO_NAME:
        title = title_gender(previous[1]) is not None
        if title or not begins_sentence(before[: previous.start()]):
            neighbors[form, "before", previous[1]] += 1
    following = _AFTER.match(text, found.end)
    if following and following[1][0].isupper() and following[1] not in _NO_NAME:
        neighbors[form, "after", following[1].removesuffix("’s")] += 1


def _is_near(found: Mention, mentions: Sequence[Mention], at: int, candidates: frozenset[str]) -> bool:
    """Whether an entity of `candidates` is mentioned near a form; `at` is the last mention before it."""
    for step, position in ((-1, at), (1, at + 1)):
        while 0 <= position < len(mentions):
            mention = mentions[position]
            if found.start - mention.end > _NEAR or mention.start - found.end > _NEAR:
                break
            if mention.entity_id in candidates:
                return True
            position += step
    return False


def begins_sentence(before: str) -> bool:
    """Whether a sentence begins after `before`, which ends with a sentence end or a quotation mark.

    The same rule as `begins_sentence` of rust/matching/ambiguity.rs; tests/cases/beginnings.json checks both.
    """
    bare = before.rstrip(_OPEN)
    if _QUOTES.intersection(before[len(bare) :]):
        return True
    short = _SHORTENED.search(bare)  # "Dr." and "J." do not end a sentence
    if short and (len(short[1]) == 1 or short[1].lower() in words("latin", "shortened")):
        return False
    return not bare or bare[-1] in _ENDS


# Lower-case uses from which a name is also a word; fewer may be errors.
_SMALL: Final = 3
# Edited prose: with this many usual names of this count, and at most one in ten ever in lower case, one lower-case use
# is no error.
_NAMES: Final = 3
_USES: Final = 5
_CAREFUL: Final = 0.9
_AFTER_SENTENCE: Final = re.compile(r"[ ]([A-Z][\w’'-]+)")


class Capitals:
    """Capitalised names of a cast.

    Args:
        named: Kind, id and names of each entity, as `kind_of` and `names_of` give them.
    """

    def __init__(self, named: Sequence[tuple[str, str, Sequence[str]]]) -> None:
        self._named: Final = named
        self._rows: dict[str, list[int]] = {}
        # Computed for names that occur: a cast may be a hundred times as large.
        self._parts: Final[dict[str, frozenset[str] | None]] = {}
        self._looked_up: Final[set[str]] = set()
        self._spellings: Final[defaultdict[str, list[str]]] = defaultdict(list)
        self._owner: Final[dict[str, str]] = {}

    def look(self, text: str, mentions: Sequence[Mention], joined: Counter[Any]) -> None:
        """Count capitalised words behind a name that are in no name of its entity."""
        for mention in mentions:
            if not mention.term[-1].isascii():
                continue
            parts = self._parts_of(mention.entity_id)
            if parts is None:
                continue
            following = _AFTER_SENTENCE.match(text, mention.end)
            if following is None or _plain(following[1]) in parts or _plain(following[1]) in words("latin", "suffixes"):
                continue
            if not text.startswith("#", text.rfind("\n", 0, mention.start) + 1):
                joined[mention.term, following[1].removesuffix("’s").removesuffix("'s")] += 1

    def longer(self, joined: Counter[tuple[str, str]]) -> Iterator[LongerName]:
        """Longer names of something else: London Bridge, John Hart."""
        for (term, word), count in sorted(joined.items()):
            yield LongerName(f"{term} {word}", term, f"{term} {word} occurs {count} times: another name")

    def doubtful(self, times: Counter[tuple[str, str]]) -> Iterator[DoubtfulAlias]:
        """Names that are also words in edited prose: Will, Hope, the Castle."""
        self._look_up({caseless(term) for _, term in times})
        capital, small = Counter[str](), Counter[str]()
        for (_, term), count in times.items():
            folded = caseless(term)
            spellings = self._spellings.get(folded, ())
            lacking = spellings and all(spelled != term and lacks_capitals(spelled, term) for spelled in spellings)
            written = small if lacking else capital
            written[folded] = written.get(folded, 0) + count
        usual: dict[str, str] = {}
        for folded in sorted(capital):
            owner = self._owner.get(folded)
            if owner is not None and self._spellings[folded][0][:1].isupper():
                usual[owner] = max(usual.get(owner, folded), folded, key=lambda one: (capital[one], one))
        often = [one for one in usual.values() if capital[one] >= _USES]
        careful = len(often) >= _NAMES and sum(not small[one] for one in often) >= _CAREFUL * len(often)
        for folded in sorted(small):
            if small[folded] >= (1 if careful else _SMALL):
                alias = self._spellings[folded][0]
                why = f"{alias.lower()} occurs {small[folded]} times, {alias} {capital[folded]} times"
                rule = "capital" if small[folded] >= _SMALL else "case"
                yield DoubtfulAlias(alias, self._owner[folded], rule, alias, why)  # type: ignore[arg-type]

    def heeds(self, terms: Iterable[str]) -> bool:
        """Whether `doubtful` depends on the counts of these names: only if a spelling has a capital."""
        folded = {caseless(term) for term in terms}
        self._look_up(folded)
        return any(char.isupper() for key in folded for one in self._spellings.get(key, ()) for char in one)

    def _parts_of(self, entity_id: str) -> frozenset[str] | None:
        """The words of an entity's names; None for a person who may have an unlisted family name."""
        if entity_id not in self._parts:
            found = None
            if not self._rows:
                for at, (_, one, _) in enumerate(self._named):
                    self._rows.setdefault(one, []).append(at)
            for kind, _, names in (self._named[at] for at in self._rows.get(entity_id, ())):
                if kind != "person" or any(len(untitled(name)) > 1 for name in names):
                    found = frozenset(_plain(word) for name in names for word in name.split())
            self._parts[entity_id] = found
        return self._parts[entity_id]

    def _look_up(self, folded: set[str]) -> None:
        """Record the spellings and owners of these names."""
        new = folded - self._looked_up
        if not new:
            return
        self._looked_up.update(new)
        for _, entity_id, names in self._named:
            for name in names:
                bare = name.strip()
                key = caseless(bare)
                if key in new:
                    self._spellings[key].append(bare)
                    self._owner[key] = entity_id


def lacks_capitals(spelled: str, written: str) -> bool:
    """Whether the text lacks a capital of the spelling, other than the article's; as in ambiguity.rs."""
    article = 4 if spelled.startswith("The ") else 0
    pairs = zip(spelled[article:], written[article:], strict=False)
    return any(one.isupper() and other.islower() for one, other in pairs)


def _plain(word: str) -> str:
    return word.lower().strip(".,").removesuffix("’s").removesuffix("'s")
