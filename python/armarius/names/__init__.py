"""What a project's own documents teach about its names: short ones that are used, longer ones that are nobody's, words.

Deterministic, each finding with its figures; `EntityMatcher(entities, name_model=…)` takes it into account:

>>> from armarius import EntityMatcher
>>> people = [{"id": "li", "name": "李纨", "type": "character", "aliases": ["大奶奶"]}]
>>> learnt = learn_names(people, ["李璜家的璜大奶奶来了。", "那璜大奶奶道", "大奶奶说"])
>>> print(learnt.longer[0].because)
璜大奶奶 occurs 2 times, 67 % of all 璜: somebody else's title
>>> EntityMatcher(people, name_model=learnt).find_all("璜大奶奶和大奶奶")
[Mention(entity_id='li', term='大奶奶', start=5, end=8)]

forms.py chinese.py western.py family.py (the forms that a name allows)   people.py (who they are)
counted.py counts.py usage.py kin.py capitals.py (what is counted)   derived.py doubts.py lessons.py (what holds)
learn.py (all of it)   lexicon.py (words, of `lexicon/names.toml`)

`Counts` are what is counted in one document, `NameCounts` are their sum: what is learnt is a function of the documents
alone, whatever the order and number of steps in which they came (docs/decisions/0043). What is learnt are the records
of `armarius.text.name_model`, each with its figures; a threshold is a constant beside its rule.
"""

from armarius.names.counts import Counts, NameCounts
from armarius.names.learn import Lessons, learn_names, model_of
from armarius.names.proposals import ProposedName, propose_names
from armarius.text.name_model import (
    DoubtfulAlias,
    LongerName,
    NameModel,
    RefusedName,
    ShortName,
)

__all__ = [
    "Counts",
    "DoubtfulAlias",
    "Lessons",
    "LongerName",
    "NameCounts",
    "NameModel",
    "ProposedName",
    "RefusedName",
    "ShortName",
    "learn_names",
    "model_of",
    "propose_names",
]
