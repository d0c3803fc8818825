"""Contradictions between profiles and other sources, with no attribute asked for; whether a card answers a question.

Stricter than `statements`, which lists every sentence about an attribute that is asked for: here one side is a claim
of the entity's own section, and the other speaks of the same thing in a sentence about the entity.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import NamedTuple

import armarius._core as _core
from armarius.codex.cards import parse_span
from armarius.search.contradictions.statements import (
    SHARED,
    Statement,
    ValueOwner,
    is_about,
    is_rival,
    order_of,
    people_in,
    statements,
)
from armarius.search.contradictions.values import (
    ATTRIBUTES,
    Topic,
    part_of,
    topic_of,
    values_at,
    without_names,
)
from armarius.search.corpus import Corpus
from armarius.search.explain import words_in
from armarius.search.query.query import Subjects, Understanding, question, read_question
from armarius.search.query.words import attributes, blank_out
from armarius.text.matcher import EntityMatcher

# Where and how old somebody is: any words for it speak of the same thing. Of a look or a mark, the same word must.
_ONE_THING = ("age", "house")
_TEXTS = 5


@dataclass(frozen=True, slots=True)
class _StatementTerms:
    """A statement with what it is compared by: its terms and the words of the topic in it, names left out."""

    statement: Statement
    terms: frozenset[str]
    words: frozenset[str]
    names: bool


def statements_about(
    corpus: Corpus, entity_id: str, attribute: str | None = None, *, chapter: int | None = None
) -> list[Statement]:
    """What the project says of an entity or of one attribute of it, competing statements marked.

    What competes on an attribute when none is asked for is there when it is asked for too.

    Args:
        corpus: The project.
        entity_id: An entity of its codex.
        attribute: None takes what settings say, what is said of the attributes that its sections give or that can be
            compared, and what is disputed.
        chapter: Chapters after it are left out.

    Cost: one search per attribute that can be compared, and without one named per attribute of the entity.
    """
    disputed = disputes(corpus, entity_id, chapter=chapter)
    if attribute:
        topic = topic_of(attribute)
        result = {_key(item): item for item in statements(corpus, entity_id, attribute, chapter=chapter)}
        for item in disputed:
            if not _is_about(item, topic):
                continue
            entry = result.get(_key(item), item)
            rivals = tuple(dict.fromkeys([*entry.competes_with, *item.competes_with]))
            result[_key(item)] = replace(entry, competes_with=rivals, attributes=(attribute,))
        return sorted(result.values(), key=lambda item: (item.chapter is not None, not item.competes_with))
    # 年龄 and age are one topic, looked for once
    topics = {topic_of(name).words: name for name in (*corpus.entities[entity_id].attributes, *ATTRIBUTES)}
    items = (item for name in topics.values() for item in statements(corpus, entity_id, name, chapter=chapter))
    result = {_key(item): replace(item, competes_with=(), attributes=()) for item in items}
    result |= {_key(item): item for item in statements(corpus, entity_id, "")}
    result |= {_key(item): item for item in disputed}
    return sorted(result.values(), key=lambda item: (item.chapter is not None, not item.competes_with, order_of(item)))


def _key(item: Statement) -> tuple[str, tuple[int, int]]:
    return item.path, item.span


def _is_about(item: Statement, topic: Topic) -> bool:
    """Whether a dispute is about a topic; one of the looks only if it is about these parts of the body."""
    if set(topic.named).isdisjoint(item.attributes):
        return False
    return not topic.things or any(value.partition(":")[0] in topic.things for value in item.values)


def disputes(corpus: Corpus, entity_id: str, *, chapter: int | None = None) -> list[Statement]:
    """Claims of the entity's own section and the statements elsewhere that compete with them, settings first.

    Cost: a search and the sentences of five texts for each attribute that the section speaks of; kept until a document
    changes.
    """
    key = ("disputes", entity_id, chapter)
    items = corpus.memo.get(key)
    if items is None:
        items = corpus.memo[key] = tuple(_find_disputes(corpus, entity_id, chapter))
    return list(items)


def _find_disputes(corpus: Corpus, entity_id: str, chapter: int | None) -> list[Statement]:
    result: dict[tuple[str, tuple[int, int]], Statement] = {}
    for name in ATTRIBUTES:
        topic = topic_of(name)
        if not any(_claim_sections(corpus, entity_id, topic)):
            continue
        rows = [
            _read(corpus, entity_id, item, topic)
            for item in statements(corpus, entity_id, name, chapter=chapter, texts=_TEXTS)
        ]
        own = [row for row in rows if _is_claim(corpus, entity_id, row)]
        for claim in own:
            for other in rows:
                if _are_rivals(corpus, claim.statement, other.statement) and _shares_subject(claim, other, name):
                    _mark(result, claim.statement, other.statement, name)
                    _mark(result, other.statement, claim.statement, name)
    return sorted(result.values(), key=lambda item: (item.chapter is not None, order_of(item)))


def _claim_sections(corpus: Corpus, entity_id: str, topic: Topic) -> Iterator[str]:
    """The entity's own sections, if they have a word of the topic."""
    for key in corpus.described.get(entity_id, ()):
        if words_in(corpus.sections[key].text, topic.words):
            yield corpus.sections[key].section


def _read(corpus: Corpus, entity_id: str, item: Statement, topic: Topic) -> _StatementTerms:
    mentions = corpus.matcher.find_all(item.text)
    bare = without_names(item.text, mentions)
    words = frozenset(words_in(bare, topic.words))
    return _StatementTerms(item, frozenset(_core.terms(bare)), words, is_about(corpus, entity_id, item))


def _is_claim(corpus: Corpus, entity_id: str, row: _StatementTerms) -> bool:
    """A sentence of the entity's own section that holds throughout: 第7章起 says that something changes."""
    item = row.statement
    own = any(
        (section.path, section.section) == (item.path, item.section)
        for section in (corpus.sections[key] for key in corpus.described.get(entity_id, ()))
    )
    label = item.text.lstrip("-*+ ").replace("：", ":").partition(":")[0]
    return own and bool(row.words) and parse_span(label) is None


def _are_rivals(corpus: Corpus, item: Statement, other: Statement) -> bool:
    """As `is_rival`, but a room is no other place than the house that it is in."""
    ones, others = _inner_places(corpus, item), _inner_places(corpus, other)
    if any(_is_within(corpus, a, b) or _is_within(corpus, b, a) for a in ones for b in others):
        return False
    return is_rival(_set_places(item, ones), _set_places(other, others))


def _inner_places(corpus: Corpus, item: Statement) -> set[str]:
    places = {value.partition(":")[2] for value in item.values if value.startswith("place:")}
    return {place for place in places if not any(_is_within(corpus, other, place) for other in places)}


def _set_places(item: Statement, places: set[str]) -> Statement:
    others = {value for value in item.values if not value.startswith("place:")}
    return replace(item, values=frozenset(others | {f"place:{place}" for place in places}))


def _is_within(corpus: Corpus, place: str, other: str) -> bool:
    """Whether the section of `place` names `other`, and not the reverse."""
    return place != other and _names(corpus, place, other) and not _names(corpus, other, place)


def _names(corpus: Corpus, place: str, other: str) -> bool:
    key = ("names", place, None)
    if key not in corpus.memo:
        texts = [corpus.sections[section].text for section in corpus.described.get(place, ())]
        corpus.memo[key] = frozenset(mention.entity_id for text in texts for mention in corpus.matcher.find_all(text))
    return other in corpus.memo[key]


def _shares_subject(claim: _StatementTerms, other: _StatementTerms, name: str) -> bool:
    if len(claim.terms & other.terms) >= SHARED:
        return True
    if name == "age" and any(value.startswith(("years:", "reached:")) for value in other.statement.values):
        return other.names
    if name == "appearance":  # colours compete only of one thing
        return other.names
    if name == "infirmity":  # 跛 and 瘸, lame and limping: of one part
        return other.names and bool(other.words) and not _parts(claim).isdisjoint(_parts(other))
    same = other.words if name in _ONE_THING else claim.words & other.words
    return other.names and bool(same)


def _parts(row: _StatementTerms) -> set[str]:
    return {part_of(value.removeprefix("body:")) for value in row.statement.values if value.startswith("body:")}


def _mark(result: dict[tuple[str, tuple[int, int]], Statement], item: Statement, rival: Statement, name: str) -> None:
    entry = result.get((item.path, item.span)) or replace(item, competes_with=(), attributes=())
    result[item.path, item.span] = replace(
        entry,
        values=entry.values | item.values,
        competes_with=tuple(dict.fromkeys([*entry.competes_with, rival.reference])),
        attributes=tuple(dict.fromkeys([*entry.attributes, name])),
    )


_NO_NAMES = EntityMatcher(())
_STATES_ONE_THING = frozenset({"age", "house"})  # of a look or a mark there may be many
_ALL = 10_000  # sentences that name it
_SURE = 1.0  # a tie of the very role that was asked for


def is_stated(corpus: Corpus, analysis: Understanding, people: Subjects) -> bool:
    """Whether a question about somebody known asks only for kin, age or home, and a card says it.

    Cost: the sections that name its subjects; for questions that look like ones about what is not there.
    """
    wanted = _STATES_ONE_THING.intersection(analysis.attributes)
    if not analysis.entities or not (wanted or analysis.relations) or len(wanted) < len(analysis.attributes):
        return False
    if _asks_more(analysis):
        return False
    subjects = analysis.entities
    if analysis.relations:
        subjects = tuple(entity for entity, (factor, _, _) in people.related.items() if factor >= _SURE)
    if not subjects or any(corpus.entities[entity].level == "never" for entity in subjects):
        return False
    return not wanted or all(_states_attribute(corpus, entity, wanted) for entity in subjects)


def _asks_more(analysis: Understanding) -> bool:
    """Whether a content word is left, other than those for the attribute and the kin: 陆明远几岁去了月球."""
    rest = blank_out(analysis.content, attributes().find(analysis.content))
    for word in analysis.relations:
        rest = rest.replace(word.word, " ")
    return bool(analysis.phrases or analysis.chapters or question(read_question(rest, matcher=_NO_NAMES)).words)


def _states_attribute(corpus: Corpus, entity_id: str, wanted: AbstractSet[str]) -> bool:
    """Whether a section of its own has a line for one of the attributes, or an age in its description."""
    own = {(corpus.sections[key].path, corpus.sections[key].section) for key in corpus.described.get(entity_id, ())}
    texts = [item.text for item in statements(corpus, entity_id, "", limit=_ALL) if (item.path, item.section) in own]
    has_age = "age" in wanted and any(_has_age(corpus, entity_id, text) for text in texts)
    return has_age or any(_is_line_for(text, wanted) for text in texts)


def _is_line_for(text: str, wanted: AbstractSet[str]) -> bool:
    """`- 住处：海宁路七号`."""
    label, _, value = text.lstrip(" -*+").replace("：", ":").partition(":")
    if not value.strip(" *_。.") or parse_span(label) is not None:
        return False
    return any(name in wanted for match in attributes().find(label) for name in match.value)


def _has_age(corpus: Corpus, entity_id: str, text: str) -> bool:
    mentions, topic = corpus.matcher.find_all(text), topic_of("age")
    owner = ValueOwner(text, people_in(corpus, mentions, entity_id), entity_id, "own", topic)
    return any(item.text.startswith("years:") and owner.owns(item) for item in values_at(corpus, text, mentions, topic))


class ConflictRow(NamedTuple):
    """A statement and those that contradict it, for one or several attributes."""

    one: Statement
    others: tuple[Statement, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes in dispute."""
        return self.one.attributes


def conflicts_of(items: Sequence[Statement]) -> tuple[ConflictRow, ...]:
    """Contradicting statements, grouped; each pair once, under the statement that comes first."""
    rows = []
    for number, item in enumerate(items):
        others = tuple(other for other in items[number + 1 :] if _are_opposed(item, other))
        if others:
            rows.append(ConflictRow(item, others))
    return tuple(rows)


def _are_opposed(item: Statement, other: Statement) -> bool:
    named = other.reference in item.competes_with and item.reference in other.competes_with
    return named and not set(item.attributes).isdisjoint(other.attributes)
