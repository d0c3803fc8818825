"""Whether the cards of whom a question names say what it asks for, so that few traces in the story are no lack."""

from collections.abc import Set as AbstractSet

from armarius.codex.timeline import parse_span
from armarius.retrieval.contradictions.owners import Whose
from armarius.retrieval.contradictions.statements import people_in, statements
from armarius.retrieval.contradictions.values import located, topic_of
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.understand.families import question
from armarius.retrieval.understand.lexicon import attributes
from armarius.retrieval.understand.query import Understanding, understand
from armarius.retrieval.understand.subjects import People
from armarius.text.matcher import EntityMatcher

__all__ = ["is_stated"]

_NO_NAMES = EntityMatcher(())
_ONE_THING = frozenset({"age", "house"})  # of a look or a mark there may be many
_ALL = 10_000  # sentences that name it
_SURE = 1.0  # a tie of the very role that was asked for


def is_stated(tables: CorpusTables, asked: Understanding, people: People) -> bool:
    """Whether a question about somebody known asks only for kin, age or home, and a card says it.

    Cost: the sections that name whom it asks about; for questions that look like ones about what is not there.
    """
    wanted = _ONE_THING.intersection(asked.attributes)
    if not asked.entities or not (wanted or asked.relations) or len(wanted) < len(asked.attributes):
        return False
    if _asks_more(asked):
        return False
    whom = asked.entities
    if asked.relations:
        whom = tuple(one for one, (factor, _, _) in people.related.items() if factor >= _SURE)
    if not whom or any(tables.entities[one].level == "never" for one in whom):
        return False
    return not wanted or all(_gives(tables, one, wanted) for one in whom)


def _asks_more(asked: Understanding) -> bool:
    """Whether a content word is left besides those for the attribute and the kin: 陆明远几岁去了月球."""
    rest = asked.content
    for one in reversed(attributes().find(rest)):
        rest = rest[: one.start] + " " + rest[one.end :]
    for word in asked.relations:
        rest = rest.replace(word.word, " ")
    return bool(asked.phrases or asked.chapters or question(understand(rest, matcher=_NO_NAMES)).words)


def _gives(tables: CorpusTables, entity_id: str, wanted: AbstractSet[str]) -> bool:
    """Whether a section of its own has a line for one of the attributes, or an age in its description."""
    own = {(tables.sections[key].path, tables.sections[key].section) for key in tables.described.get(entity_id, ())}
    said = [one.text for one in statements(tables, entity_id, "", limit=_ALL) if (one.path, one.section) in own]
    has_age = "age" in wanted and any(_has_age(tables, entity_id, text) for text in said)
    return has_age or any(_is_line_for(text, wanted) for text in said)


def _is_line_for(text: str, wanted: AbstractSet[str]) -> bool:
    """`- 住处：海宁路七号`."""
    label, _, given = text.lstrip(" -*+").replace("：", ":").partition(":")
    if not given.strip(" *_。.") or parse_span(label) is not None:
        return False
    return any(name in wanted for found in attributes().find(label) for name in found.value)


def _has_age(tables: CorpusTables, entity_id: str, text: str) -> bool:
    mentions, topic = tables.matcher.find_all(text), topic_of("age")
    whose = Whose(text, people_in(tables, mentions, entity_id), entity_id, "own", topic)
    return any(one.text.startswith("years:") and whose.owns(one) for one in located(tables, text, mentions, topic))
