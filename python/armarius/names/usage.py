"""How the short forms of names are used in prose: as a person acts, as a word, before and behind which words.

Counts are sums over documents, as in `counts`.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, Literal

from armarius.names.people import Form, Person, all_titles, han_forms, latin_forms, split_name, title_gender, untitled
from armarius.names.words import letters, words
from armarius.text.matcher import EntityMatcher, Mention
from armarius.text.name_model import DoubtfulAlias, LongerName
from armarius.text.unicode import caseless, is_han

__all__ = ["Capitals", "Forms", "Usage", "Use", "begins_sentence", "lacks_capitals"]


class Forms:
    """The short forms of a cast.

    Args:
        people: Of the cast, all of whose names can be matched.
        names: Of everything in the cast.

    Attributes:
        by_text: Form to every way to read it, but for family names with titles.
        families: Chinese family name to the persons who bear it in front of a given name.
        titled: Family name with a title to its two parts.
        given: Given name to the id of the only person who has it.
        loose: Familiar form or family name with title to the ids of those who may be meant.
        complete: Ids of persons whose list of names has parts of the first: whoever listed one has listed all.
        taken: The names that are given; no form is one of them. Folded as `caseless` does.
        matcher: Finds the forms; the ids are the forms.
    """

    def __init__(self, people: Sequence[Person], names: Iterable[str]) -> None:
        self.taken: Final = {caseless(name.strip()) for name in names}
        self.by_text: Final[dict[str, list[Form]]] = {}
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

    def is_listed(self, form: Form) -> bool:
        """Whether the list of a person's names would have a form if they were called so."""
        return form.kind != "byname" and (form.of != form.person.names[0] or form.person.id in self.complete)


def _lists_parts(person: Person) -> bool:
    """林雨桐 with 雨桐, "Dolge Orlick" with "Mr. Orlick"."""
    name, *others = person.names
    if is_han(name):
        return any(other != name and other in name for other in others)
    parts = frozenset(untitled(name))
    if len(parts) < 2:
        return False
    return any(frozenset() < frozenset(untitled(other)) < parts for other in others)


def _korean_forms(person: Person) -> Iterator[Form]:
    """민수 of 김민수."""
    name = person.names[0]
    if len(name) == 3 and all("가" <= char <= "힣" for char in name) and name[0] in letters("hangul", "surnames"):
        yield Form(name[1:], "given name", name, person)


# bare: outside longer names. acting: of these, as a person acts or is addressed. counted: as a thing. inside, initial:
# with a capital, inside a sentence or at its beginning. small: without the capital. near: of the bare ones, not far
# from a mention of somebody whose form it may be; only of loose forms.
Use = Literal["bare", "acting", "counted", "near", "inside", "initial", "small"]

_NUMBERS: Final = letters("han", "numbers")
_MEASURES: Final = letters("han", "measures")
_NEAR: Final = 500  # code points to either side
_STOPS: Final = frozenset("，。！？、：；!?,.…")
# What may stand between two sentences, which of it opens one, and what ends one; as in rust/matching/ambiguity.rs.
_OPEN: Final = " \t　*_(（\"'“‘「『«《"
_QUOTES: Final = frozenset('"“‘「『«')
_ENDS: Final = frozenset(".!?…:;。！？：；—–\n\r#")
_BEFORE: Final = re.compile(r"([^\W\d_][\w’'-]*\.?)[ ]$")
_SHORTENED: Final = re.compile(r"([^\W\d_]+)\.$")
_AFTER: Final = re.compile(r"[ ]([^\W\d_][\w’-]*)")
_NO_NAME: Final = frozenset({"I"})
# A person is seen to act in about a third of the mentions of a name, a thing in one of fifty: between them.
_ACTING: Final = 0.08

Uses = Counter[tuple[str, str]]
Beside = Counter[tuple[str, str, str]]


class Usage:
    """Counts of uses.

    Args:
        forms: What is looked for.

    Attributes:
        uses: (form, use) to how often.
        beside: (form, "before" or "after", word) to how often; in Chinese a family name in front, elsewhere a word
            with a capital, inside a sentence.
    """

    def __init__(self, forms: Forms) -> None:
        self.forms: Final = forms
        self.uses: Final = Counter[tuple[str, str]]()
        self.beside: Final = Counter[tuple[str, str, str]]()

    def look(self, text: str, mentions: Sequence[Mention], uses: Uses, beside: Beside) -> None:
        """Count one document into `uses` and `beside`: every form outside the mentions of given names."""
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
                _spaced(text, found, uses, beside)
                continue
            _han(text, found, uses, beside)
            whose = self.forms.loose.get(found.entity_id)
            if whose and not around:
                given = self.forms.given
                names = [Mention(given[one.entity_id], "", one.start, one.end) for one in own if one.entity_id in given]
                around = sorted([*mentions, *names], key=lambda one: (one.start, one.end))
                places = [mention.start for mention in around]
            if whose and _is_near(found, around, bisect_right(places, found.start) - 1, whose):
                uses[found.entity_id, "near"] += 1

    def of(self, form: str, use: Use) -> int:
        """How often a form is used so."""
        return self.uses.get((form, use), 0)  # a `Counter` asked for what it has not calls Python

    def acts(self, form: str) -> bool:
        """Whether a form is seen to act as persons do."""
        acting = self.of(form, "acting")
        return acting > 0 and acting >= _ACTING * self.of(form, "bare")


def _han(text: str, found: Mention, uses: Uses, beside: Beside) -> None:
    form = found.entity_id
    before, after = text[max(0, found.start - 2) : found.start], text[found.end : found.end + 1]
    last = before[-1:]
    if last in letters("han", "surnames") and last not in letters("han", "function"):
        beside[form, "before", last] += 1
    if len(before) == 2 and before[0] in _NUMBERS and last in _MEASURES:
        uses[form, "counted"] += 1
        return
    uses[form, "bare"] += 1
    addressed = after in _STOPS and last in ("“", "「", "，", "‘", "『")
    if after in letters("han", "acts") or addressed or last in letters("han", "done_to"):
        uses[form, "acting"] += 1


def _spaced(text: str, found: Mention, uses: Uses, beside: Beside) -> None:
    form = found.entity_id
    line = text.rfind("\n", 0, found.start) + 1
    if not found.term[0].isupper():
        # "van der Berg", and scripts without capitals: no word to be told apart from.
        named = found.term[0] == form[0]
        uses[form, "inside" if named else "small"] += 1
        return
    before = text[max(0, found.start - 40) : found.start]
    initial = begins_sentence(before)
    uses[form, "initial" if initial else "inside"] += 1
    if text.startswith("#", line):
        return  # every word of a heading may have a capital
    previous = _BEFORE.search(before)
    if previous and previous[1][0].isupper() and previous[1] not in _NO_NAME:
        title = title_gender(previous[1]) is not None
        if title or not begins_sentence(before[: previous.start()]):
            beside[form, "before", previous[1]] += 1
    following = _AFTER.match(text, found.end)
    if following and following[1][0].isupper() and following[1] not in _NO_NAME:
        beside[form, "after", following[1].removesuffix("’s")] += 1


def _is_near(found: Mention, mentions: Sequence[Mention], at: int, whose: frozenset[str]) -> bool:
    """Whether somebody of `whose` is mentioned around a form; `at` is the last mention before it."""
    for step, position in ((-1, at), (1, at + 1)):
        while 0 <= position < len(mentions):
            mention = mentions[position]
            if found.start - mention.end > _NEAR or mention.start - found.end > _NEAR:
                break
            if mention.entity_id in whose:
                return True
            position += step
    return False


def begins_sentence(before: str) -> bool:
    """Whether a sentence begins behind `before`: an end of one, or a quotation mark, stands there.

    `begins_sentence` of rust/matching/ambiguity.rs is the same for what learnt doubts are applied to;
    tests/cases/beginnings.json holds both to the same answers.
    """
    bare = before.rstrip(_OPEN)
    if _QUOTES.intersection(before[len(bare) :]):
        return True
    short = _SHORTENED.search(bare)  # "Dr." and "J." end no sentence
    if short and (len(short[1]) == 1 or short[1].lower() in words("latin", "shortened")):
        return False
    return not bare or bare[-1] in _ENDS


# A name written small this often is also a word; fewer may be slips.
_SMALL: Final = 3
# Where so many usual names, used so often, are never written small but for one in ten, one small word is no slip.
_NAMES: Final = 3
_USES: Final = 5
_CAREFUL: Final = 0.9
_AFTER_SENTENCE: Final = re.compile(r"[ ]([A-Z][\w’'-]+)")


class Capitals:
    """The names of a cast that are written with capitals.

    Args:
        named: Kind, id and names of each entity, as `kind_of` and `names_of` give them.
    """

    def __init__(self, named: Sequence[tuple[str, str, Sequence[str]]]) -> None:
        self._named: Final = named
        self._rows: dict[str, list[int]] = {}
        # What follows is of the names that the prose has: a cast may be a hundred times as large.
        self._parts: Final[dict[str, frozenset[str] | None]] = {}
        self._looked_up: Final[set[str]] = set()
        self._spellings: Final[defaultdict[str, list[str]]] = defaultdict(list)
        self._owner: Final[dict[str, str]] = {}

    def look(self, text: str, mentions: Sequence[Mention], joined: Counter[Any]) -> None:
        """Count the words with a capital behind a name that are no part of any of its entity's names."""
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
        """London Bridge is not London, John Hart not the John of the story."""
        for (term, word), count in sorted(joined.items()):
            yield LongerName(f"{term} {word}", term, f"{term} {word} occurs {count} times: another name")

    def doubtful(self, times: Counter[tuple[str, str]]) -> Iterator[DoubtfulAlias]:
        """Will, Hope, the Castle: what edited prose writes small is another word, however the list of names has it."""
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
        """Whether `doubtful` can depend on how often these are written: not where no spelling has a capital."""
        folded = {caseless(term) for term in terms}
        self._look_up(folded)
        return any(char.isupper() for key in folded for one in self._spellings.get(key, ()) for char in one)

    def _parts_of(self, entity_id: str) -> frozenset[str] | None:
        """The words of an entity's names; None where one that they lack may be the family name of a person."""
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
        """How these names are spelled and whose they are."""
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
    """Whether a capital of the spelling, but for its article's, is small in the text; as in ambiguity.rs."""
    article = 4 if spelled.startswith("The ") else 0
    pairs = zip(spelled[article:], written[article:], strict=False)
    return any(one.isupper() and other.islower() for one, other in pairs)


def _plain(word: str) -> str:
    return word.lower().strip(".,").removesuffix("’s").removesuffix("'s")
