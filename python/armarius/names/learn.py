"""From what was counted to what is learnt.

docs/decisions/0011 has what each rule pays on which book, and what it may get wrong.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from armarius.names.counts import NameCounts
from armarius.names.derived import short_names
from armarius.names.lexicon import letters
from armarius.text.name_model import DoubtfulAlias, LongerName, NameModel
from armarius.text.scripts import is_han

__all__ = ["learn_names", "model_of"]

_TITLE: Final = letters("han", "bare_titles")
_FUNCTION: Final = letters("han", "function")
# A character that is followed by a title this often exists for it: a given name in front of a title.
_BOUND_TO_TITLE: Final = 0.10
# A character that follows an alias this often, the alias being counted as a thing, heads a compound (鸳鸯剑).
_BOUND_TO_THING: Final = 0.05
# An alias this rare among an entity's mentions, without a character of its usual name, is seldom the entity.
_RARE: Final = 0.05
# A name counted as a thing so often, and oftener than not, is a thing's.
_COUNTED: Final = 3
_TWICE: Final = 2  # once is chance
# Fewer mentions of an entity say nothing about what is usual.
_ENOUGH: Final = 40


def learn_names(entities: Iterable[object], texts: Iterable[str]) -> NameModel:
    """Learn from documents which aliases are parts of longer names and which are plain words.

    Chinese habits are learnt only about entities whose `type` says that they are persons or things.

    Args:
        entities: As for `EntityMatcher`.
        texts: Whole documents, in any order; the answer does not depend on it.

    Returns:
        Habits, sorted by text, then alias.

    Cost: that of `NameCounts.count`.
    """
    tally = NameCounts(entities)
    for counts in tally.count(list(texts)):
        tally.add(counts)
    return model_of(tally)


def model_of(tally: NameCounts) -> NameModel:
    """What the counts teach; a function of the counts alone."""
    names = short_names(tally.usage)
    longer = {one.text: one for one in [*names.longer, *_joined(tally), *_titles(tally), *_compounds(tally)]}
    doubtful = {one.alias: one for one in [*names.doubtful, *_doubtful(tally)]}
    return NameModel(
        longer=tuple(longer[text] for text in sorted(longer)),
        doubtful=tuple(doubtful[alias] for alias in sorted(doubtful)),
        short=tuple(sorted(names.short, key=lambda one: (one.text, one.entity_id))),
        refused=tuple(sorted(names.refused, key=lambda one: one.text)),
    )


def _joined(tally: NameCounts) -> list[LongerName]:
    """London Bridge, 李老太太: a listed name with a word beside it that makes it another."""
    return [*tally.capitals.longer(tally.joined), *tally.kinship.longer(tally.led)]


def _titles(tally: NameCounts) -> list[LongerName]:
    """璜大奶奶: a bare title behind a given name that hardly occurs otherwise is that person's title."""
    longer = []
    for (character, title), count in tally.titled.items():
        if count < _TWICE or character not in tally.given or character in _FUNCTION:
            continue
        share = count / tally.occurrences(character)
        if share >= _BOUND_TO_TITLE:
            because = f"{character}{title} occurs {count} times, {share:.0%} of all {character}: somebody else's title"
            longer.append(LongerName(character + title, title, because.replace("%", " %")))
    return longer


def _compounds(tally: NameCounts) -> list[LongerName]:
    """一把鸳鸯剑: what is counted as a thing is one, and so is the word that it heads."""
    longer = []
    for alias, head in tally.heads:
        word, count = alias + head, tally.followed[alias, head]
        if count < _TWICE:
            continue
        share = count / tally.occurrences(head)
        if share >= _BOUND_TO_THING:
            because = f"{word} occurs {count} times, {share:.0%} of all {head}, counted as a thing"
            longer.append(LongerName(word, alias, because.replace("%", " %")))
    return longer


def _doubtful(tally: NameCounts) -> list[DoubtfulAlias]:
    """珍珠, 鹦哥: a rare name that has nothing of the usual one in it."""
    times: defaultdict[str, dict[str, int]] = defaultdict(dict)
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for (entity_id, term), count in tally.times.items():
        times[entity_id][term] = count
        owners[term].add(entity_id)
    found = [*tally.capitals.doubtful(tally.times), *tally.kinship.doubtful(tally.times, tally.alone)]
    doubtful = {one.alias: one for one in found}
    things = dict(tally.counted)
    for kind, entity_id, names in tally.named:
        if entity_id not in times and things.keys().isdisjoint(names):
            continue
        uses = times[entity_id]
        for alias in names:
            counted = things.get(alias, 0)
            if counted >= _COUNTED and counted > uses.get(alias, 0):
                because = f"counted as a thing {counted} of {counted + uses.get(alias, 0)} times"
                doubtful[alias] = DoubtfulAlias(alias, entity_id, "word", alias, because)
        total = sum(uses.values()) + sum(things.get(name, 0) for name in names)
        if kind != "person" or total < _ENOUGH or not uses:  # no uses: only ever counted as a thing
            continue
        usual = max(uses, key=lambda name: (uses[name], name))
        for alias in sorted(uses):
            rare = uses[alias] <= _RARE * total
            if rare and owners[alias] == {entity_id} and _is_another_word(alias, names[0], usual):
                share = f"{uses[alias]} of {total} mentions, usually {usual}".replace("%", " %")
                word = things.get(alias, 0) >= _TWICE
                because = f"{share}; counted as a thing {things[alias]} times" if word else share
                doubtful[alias] = DoubtfulAlias(alias, entity_id, "word" if word else "beside", usual, because)
    return list(doubtful.values())


def _is_another_word(alias: str, name: str, usual: str) -> bool:
    """Two Han characters, none of the usual names', no title, no diminutive (颦儿): those address somebody."""
    if len(alias) != 2 or not is_han(alias) or alias.endswith("儿"):
        return False
    return not set(alias) & (set(name) | set(usual) | _TITLE - {"哥"})
