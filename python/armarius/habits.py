"""What a project's own documents teach about its names: longer names that are nobody's, names that are also words.

An optional step on top of `EntityMatcher`, deterministic, each finding with its figures:

>>> people = [{"id": "li", "name": "李纨", "type": "character", "aliases": ["大奶奶"]}]
>>> habits = learn_habits(people, ["李璜家的璜大奶奶来了。", "那璜大奶奶道", "大奶奶说"])
>>> print(habits.longer[0].because)
璜大奶奶 occurs 2 times, 67 % of all 璜: somebody else's title
>>> EntityMatcher(people, habits=habits).find_all("璜大奶奶和大奶奶")
[Mention(entity_id='li', term='大奶奶', start=5, end=8)]

The thresholds were tuned on one classical novel (benches/eval_mentions.py); the decision page says what each rule
may get wrong.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from armarius.matching import EntityMatcher, Mention, kind_of, names_of

__all__ = ["DoubtfulAlias", "Habits", "LongerName", "learn_habits"]

# Characters that bare titles of a household consist of; the same closed class as in rust/reading.rs.
_TITLE: Final = frozenset("大二三四五六七八九十小老少太姐妹哥弟叔伯舅婶姨姑嫂奶爷公婆娘夫人祖宗")
# Words of one character that stand before a title in any sentence; a closed class, never a given name's only use.
_FUNCTION: Final = frozenset(
    "了的着过是在和与跟同对向给被把让叫请见问说道听想知怕等去来到回上下进出有没不也都就又还才只便先再"
    "那这你我他她它们将命使替为因从随带陪扶看找接送求打骂笑忙便连与及或并之而以于"
)
# A character that is followed by a title this often exists for it: a given name in front of a title.
_BOUND_TO_TITLE: Final = 0.10
# A character that follows an alias this often, the alias being counted as a thing, heads a compound (鸳鸯剑).
_BOUND_TO_THING: Final = 0.05
# An alias this rare among an entity's mentions, without a character of its usual name, is seldom the entity.
_RARE: Final = 0.05
# A capitalised name written small this often is also a word; fewer may be slips.
_SMALL: Final = 3
# Fewer mentions of an entity say nothing about what is usual.
_ENOUGH: Final = 40


@dataclass(frozen=True, slots=True)
class LongerName:
    """A longer name or word that contains an alias and belongs to no entity: it covers the alias."""

    text: str
    alias: str
    because: str


@dataclass(frozen=True, slots=True)
class DoubtfulAlias:
    """An alias that is not always its entity's name.

    Attributes:
        rule: `beside`: where `usual`, the entity's usual name, stands in the same paragraph, a narrator's use of the
            alias means something else. `word`: also a plain word, a mention only where someone is being named.
            `capital`: its lower-case form is a plain word (Will, will), a mention only with a capital.
    """

    alias: str
    entity_id: str
    rule: Literal["beside", "capital", "word"]
    usual: str
    because: str


@dataclass(frozen=True, slots=True)
class Habits:
    """What was learnt, sorted; `EntityMatcher(entities, habits=…)` takes it into account."""

    longer: tuple[LongerName, ...] = ()
    doubtful: tuple[DoubtfulAlias, ...] = ()


def learn_habits(entities: Iterable[object], texts: Iterable[str]) -> Habits:
    """Learn from documents which aliases are parts of longer names and which are plain words.

    Chinese habits are learnt only about entities whose `type` says that they are persons or things.

    Args:
        entities: As for `EntityMatcher`.
        texts: Whole documents, in any order; the answer does not depend on it.

    Returns:
        Habits, sorted by text, then alias.

    Cost: one search of all texts and one count of their characters.
    """
    known, documents = list(entities), list(texts)
    matcher = EntityMatcher(known)
    found = list(zip(documents, matcher.find_batch(documents), strict=True))
    counted = Counter[str]()
    longer_things = Counter[tuple[str, str]]()
    for text in documents:
        for rejection in matcher.explain(text):
            if rejection.reason == "counted as a thing":
                counted[rejection.term] += 1
                longer_things[rejection.term, text[rejection.end : rejection.end + 1]] += 1
    characters = Counter(character for text in documents for character in text)
    titles = _titles(found, _given(known, documents), characters)
    compounds = _compounds(longer_things, documents, characters)
    return Habits(
        longer=tuple(sorted([*titles, *compounds], key=lambda one: (one.text, one.alias))),
        doubtful=_doubtful(known, found, counted),
    )


def _given(known: Sequence[object], documents: Sequence[str]) -> frozenset[str]:
    """Characters that stand behind a family name of the project (璜 in 贾璜), but for those that do so as words."""
    families = {names[0][0] for _, names in map(names_of, known) if len(names[0]) in (2, 3) and _is_han(names[0][0])}
    pairs = (pair for text in documents for pair in pairwise(text))
    return frozenset(second for first, second in pairs if first in families and _is_han(second)) - _FUNCTION


def _titles(
    found: Sequence[tuple[str, list[Mention]]], given: frozenset[str], characters: Counter[str]
) -> list[LongerName]:
    """璜大奶奶: a bare title behind a given name that hardly occurs otherwise is that person's title."""
    before = Counter[tuple[str, str]]()
    for text, mentions in found:
        for mention in mentions:
            character = text[mention.start - 1 : mention.start]
            if character in given and _TITLE.issuperset(mention.term):
                before[character, mention.term] += 1
    longer = []
    for (character, title), count in before.items():
        share = count / characters[character]
        if count >= 2 and share >= _BOUND_TO_TITLE:
            because = f"{character}{title} occurs {count} times, {share:.0%} of all {character}: somebody else's title"
            longer.append(LongerName(character + title, title, because.replace("%", " %")))
    return longer


def _compounds(
    counted: Counter[tuple[str, str]], documents: Sequence[str], characters: Counter[str]
) -> list[LongerName]:
    """一把鸳鸯剑: what is counted as a thing is one, and so is the word that it heads."""
    longer = []
    for alias, head in counted:
        if not _is_han(head):
            continue
        word = alias + head
        count = sum(text.count(word) for text in documents)
        share = count / characters[head]
        if count >= 2 and share >= _BOUND_TO_THING:
            because = f"{word} occurs {count} times, {share:.0%} of all {head}, counted as a thing"
            longer.append(LongerName(word, alias, because.replace("%", " %")))
    return longer


def _doubtful(
    known: Sequence[object], found: Sequence[tuple[str, list[Mention]]], counted: Counter[str]
) -> tuple[DoubtfulAlias, ...]:
    """珍珠, 鹦哥: a rare name that has nothing of the usual one in it."""
    times: defaultdict[str, Counter[str]] = defaultdict(Counter)
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for _, mentions in found:
        for mention in mentions:
            times[mention.entity_id][mention.term] += 1
            owners[mention.term].add(mention.entity_id)
    doubtful = {one.alias: one for one in _words_in_lower_case(known, times)}
    for entity in known:
        entity_id, names = names_of(entity)
        uses = times[entity_id]
        total = uses.total() + sum(counted[name] for name in names)
        if kind_of(entity) != "person" or total < _ENOUGH:
            continue
        usual = max(uses, key=lambda name: (uses[name], name))
        for alias in sorted(uses):
            rare = uses[alias] <= _RARE * total
            if rare and owners[alias] == {entity_id} and _is_another_word(alias, names[0], usual):
                share = f"{uses[alias]} of {total} mentions, usually {usual}".replace("%", " %")
                word = counted[alias] >= 2
                because = f"{share}; counted as a thing {counted[alias]} times" if word else share
                doubtful[alias] = DoubtfulAlias(alias, entity_id, "word" if word else "beside", usual, because)
    return tuple(doubtful[alias] for alias in sorted(doubtful))


def _words_in_lower_case(known: Sequence[object], times: Mapping[str, Counter[str]]) -> list[DoubtfulAlias]:
    """Will, Hope, Rose: in edited prose a capitalised name is not written small; what is, is another word."""
    doubtful = {}
    for entity_id, names in map(names_of, known):
        for alias in names:
            small = times[entity_id][alias.lower()] if alias[:1].isupper() else 0
            if small >= _SMALL:
                because = f"{alias.lower()} occurs {small} times, {alias} {times[entity_id][alias]} times"
                doubtful[alias] = DoubtfulAlias(alias, entity_id, "capital", alias, because)
    return list(doubtful.values())


def _is_another_word(alias: str, name: str, usual: str) -> bool:
    """Two Han characters, none of the usual names', no title, no diminutive (颦儿): those address somebody."""
    if len(alias) != 2 or not all(map(_is_han, alias)) or alias.endswith("儿"):
        return False
    return not set(alias) & (set(name) | set(usual) | _TITLE - {"哥"})


def _is_han(character: str) -> bool:
    return "\u3400" <= character < "\ua000"
