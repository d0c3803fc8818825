"""What a project's own documents teach about its names: short ones that are used, longer ones that are nobody's, words.

Deterministic, each finding with its figures; `EntityMatcher(entities, name_model=…)` takes it into account:

>>> from armarius import EntityMatcher
>>> from armarius.names import learn_names
>>> people = [{"id": "li", "name": "李纨", "type": "character", "aliases": ["大奶奶"]}]
>>> learnt = learn_names(people, ["李璜家的璜大奶奶来了。", "那璜大奶奶道", "大奶奶说"])
>>> print(learnt.longer[0].because)
璜大奶奶 occurs 2 times, 67 % of all 璜: somebody else's title
>>> EntityMatcher(people, name_model=learnt).find_all("璜大奶奶和大奶奶")
[Mention(entity_id='li', term='大奶奶', start=5, end=8)]

usage.py people.py derived.py (the forms that a name allows)   people.py (who they are)
counts.py usage.py people.py (what is counted)   derived.py counts.py learn.py (what holds)
learn.py (all of it)   words.py (words, of `lexicon/names.toml`)

`Counts` are what is counted in one document, `NameCounts` are their sum: what is learnt is a function of the documents
alone, whatever the order and number of steps in which they came (docs/decisions/0043). What is learnt are the records
of `armarius.text.name_model`, each with its figures; a threshold is a constant beside its rule.
"""

from armarius.lazy import lazy

TABLE = {
    "names.counts": "Counts NameCounts",
    "names.learn": "Lessons learn_names model_of",
    "names.proposals": "ProposedName propose_names",
    "text.name_model": "DoubtfulAlias LongerName NameModel RefusedName ShortName",
}

__getattr__, __all__ = lazy(__name__, TABLE)
