"""Names learnt from a project's documents: short forms in use, longer names of no entity, aliases that are also words.

Deterministic, with figures for each finding; `EntityMatcher(entities, name_model=…)` applies the model:

>>> from armarius import EntityMatcher
>>> from armarius.names import learn_names
>>> people = [{"id": "li", "name": "李纨", "type": "character", "aliases": ["大奶奶"]}]
>>> learnt = learn_names(people, ["李璜家的璜大奶奶来了。", "那璜大奶奶道", "大奶奶说"])
>>> print(learnt.longer[0].because)
璜大奶奶 occurs 2 times, 67 % of all 璜: somebody else's title
>>> EntityMatcher(people, name_model=learnt).find_all("璜大奶奶和大奶奶")
[Mention(entity_id='li', term='大奶奶', start=5, end=8)]

words.py      rows of `lexicon/names.toml`
people.py     persons, the short forms of their names, kin terms and titles
usage.py      counts of short forms and of capitals
counts.py     counts of one document (`Counts`), their sum (`NameCounts`), doubtful aliases
derived.py    rules for short forms
learn.py      all rules: counts to a `NameModel`
proposals.py  names in a text that no profile describes

The model is a function of the sum of counts, so the order in which documents are added does not matter
(docs/decisions/0043). Its records are in `armarius.text.name_model`; each threshold is a constant next to its rule.
"""

from armarius.lazy import lazy

TABLE = {
    "names.counts": "Counts NameCounts",
    "names.learn": "Lessons learn_names model_of",
    "names.proposals": "ProposedName propose_names",
    "text.name_model": "DoubtfulAlias LongerName NameModel RefusedName ShortName",
}

__getattr__, __all__ = lazy(__name__, TABLE)
