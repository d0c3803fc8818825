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
    located,
    part_of,
    topic_of,
    without_names,
)
from armarius.search.corpus import Corpus
from armarius.search.explain import words_in
from armarius.search.query.query import Understanding, question, read_question
from armarius.search.query.relations import Subjects
from armarius.search.query.words import attributes
from armarius.text.matcher import EntityMatcher

# Where and how old somebody is: any words for it speak of the same thing. Of a look or a mark, the same word must.
_ONE_THING = ("age", "house")
_TEXTS = 5


@dataclass(frozen=True, slots=True)
class _Said:
    """A statement with what it is compared by: its terms and the words of the topic in it, names left out."""

    statement: Statement
    terms: frozenset[str]
    words: frozenset[str]
    names: bool


def said_of(
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
        found = {_key(one): one for one in statements(corpus, entity_id, attribute, chapter=chapter)}
        for one in disputed:
            if not _is_of(one, topic):
                continue
            known = found.get(_key(one), one)
            rivals = tuple(dict.fromkeys([*known.competes_with, *one.competes_with]))
            found[_key(one)] = replace(known, competes_with=rivals, attributes=(attribute,))
        return sorted(found.values(), key=lambda one: (one.chapter is not None, not one.competes_with))
    # 年龄 and age are one topic, looked for once
    topics = {topic_of(name).words: name for name in (*corpus.entities[entity_id].attributes, *ATTRIBUTES)}
    told = (one for name in topics.values() for one in statements(corpus, entity_id, name, chapter=chapter))
    found = {_key(one): replace(one, competes_with=(), attributes=()) for one in told}
    found |= {_key(one): one for one in statements(corpus, entity_id, "")}
    found |= {_key(one): one for one in disputed}
    return sorted(found.values(), key=lambda one: (one.chapter is not None, not one.competes_with, order_of(one)))


def _key(one: Statement) -> tuple[str, tuple[int, int]]:
    return one.path, one.span


def _is_of(one: Statement, topic: Topic) -> bool:
    """Whether a dispute is about a topic; one of the looks only if it is about these parts of the body."""
    if set(topic.named).isdisjoint(one.attributes):
        return False
    return not topic.things or any(value.partition(":")[0] in topic.things for value in one.values)


def disputes(corpus: Corpus, entity_id: str, *, chapter: int | None = None) -> list[Statement]:
    """Claims of the entity's own section and the statements elsewhere that compete with them, settings first.

    Cost: a search and the sentences of five texts for each attribute that the section speaks of; kept until a document
    changes.
    """
    key = ("disputes", entity_id, chapter)
    known = corpus.memo.get(key)
    if known is None:
        known = corpus.memo[key] = tuple(_disputes(corpus, entity_id, chapter))
    return list(known)


def _disputes(corpus: Corpus, entity_id: str, chapter: int | None) -> list[Statement]:
    found: dict[tuple[str, tuple[int, int]], Statement] = {}
    for name in ATTRIBUTES:
        topic = topic_of(name)
        if not any(_claims(corpus, entity_id, topic)):
            continue
        said = [
            _read(corpus, entity_id, one, topic)
            for one in statements(corpus, entity_id, name, chapter=chapter, texts=_TEXTS)
        ]
        own = [one for one in said if _is_claim(corpus, entity_id, one)]
        for claim in own:
            for other in said:
                if _compete(corpus, claim.statement, other.statement) and _speaks_of(claim, other, name):
                    _mark(found, claim.statement, other.statement, name)
                    _mark(found, other.statement, claim.statement, name)
    return sorted(found.values(), key=lambda one: (one.chapter is not None, order_of(one)))


def _claims(corpus: Corpus, entity_id: str, topic: Topic) -> Iterator[str]:
    """The entity's own sections, if they have a word of the topic."""
    for key in corpus.described.get(entity_id, ()):
        if words_in(corpus.sections[key].text, topic.words):
            yield corpus.sections[key].section


def _read(corpus: Corpus, entity_id: str, one: Statement, topic: Topic) -> _Said:
    mentions = corpus.matcher.find_all(one.text)
    bare = without_names(one.text, mentions)
    words = frozenset(words_in(bare, topic.words))
    return _Said(one, frozenset(_core.terms(bare)), words, is_about(corpus, entity_id, one))


def _is_claim(corpus: Corpus, entity_id: str, one: _Said) -> bool:
    """A sentence of the entity's own section that holds throughout: 第7章起 says that something changes."""
    said = one.statement
    own = any(
        (section.path, section.section) == (said.path, said.section)
        for section in (corpus.sections[key] for key in corpus.described.get(entity_id, ()))
    )
    label = said.text.lstrip("-*+ ").replace("：", ":").partition(":")[0]
    return own and bool(one.words) and parse_span(label) is None


def _compete(corpus: Corpus, one: Statement, other: Statement) -> bool:
    """As `is_rival`, but a room is no other place than the house that it is in."""
    ones, others = _innermost(corpus, one), _innermost(corpus, other)
    if any(_within(corpus, a, b) or _within(corpus, b, a) for a in ones for b in others):
        return False
    return is_rival(_at(one, ones), _at(other, others))


def _innermost(corpus: Corpus, one: Statement) -> set[str]:
    places = {value.partition(":")[2] for value in one.values if value.startswith("place:")}
    return {place for place in places if not any(_within(corpus, other, place) for other in places)}


def _at(one: Statement, places: set[str]) -> Statement:
    others = {value for value in one.values if not value.startswith("place:")}
    return replace(one, values=frozenset(others | {f"place:{place}" for place in places}))


def _within(corpus: Corpus, place: str, other: str) -> bool:
    """Whether the section of `place` names `other`, and not the reverse."""
    return place != other and _names(corpus, place, other) and not _names(corpus, other, place)


def _names(corpus: Corpus, place: str, other: str) -> bool:
    key = ("names", place, None)
    if key not in corpus.memo:
        texts = [corpus.sections[section].text for section in corpus.described.get(place, ())]
        corpus.memo[key] = frozenset(one.entity_id for text in texts for one in corpus.matcher.find_all(text))
    return other in corpus.memo[key]


def _speaks_of(claim: _Said, other: _Said, name: str) -> bool:
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


def _parts(said: _Said) -> set[str]:
    return {part_of(value.removeprefix("body:")) for value in said.statement.values if value.startswith("body:")}


def _mark(found: dict[tuple[str, tuple[int, int]], Statement], one: Statement, rival: Statement, name: str) -> None:
    known = found.get((one.path, one.span)) or replace(one, competes_with=(), attributes=())
    found[one.path, one.span] = replace(
        known,
        values=known.values | one.values,
        competes_with=tuple(dict.fromkeys([*known.competes_with, rival.reference])),
        attributes=tuple(dict.fromkeys([*known.attributes, name])),
    )


_NO_NAMES = EntityMatcher(())
_STATES_ONE_THING = frozenset({"age", "house"})  # of a look or a mark there may be many
_ALL = 10_000  # sentences that name it
_SURE = 1.0  # a tie of the very role that was asked for


def is_stated(corpus: Corpus, asked: Understanding, people: Subjects) -> bool:
    """Whether a question about somebody known asks only for kin, age or home, and a card says it.

    Cost: the sections that name its subjects; for questions that look like ones about what is not there.
    """
    wanted = _STATES_ONE_THING.intersection(asked.attributes)
    if not asked.entities or not (wanted or asked.relations) or len(wanted) < len(asked.attributes):
        return False
    if _asks_more(asked):
        return False
    subjects = asked.entities
    if asked.relations:
        subjects = tuple(one for one, (factor, _, _) in people.related.items() if factor >= _SURE)
    if not subjects or any(corpus.entities[one].level == "never" for one in subjects):
        return False
    return not wanted or all(_gives(corpus, one, wanted) for one in subjects)


def _asks_more(asked: Understanding) -> bool:
    """Whether a content word is left, other than those for the attribute and the kin: 陆明远几岁去了月球."""
    rest = asked.content
    for one in reversed(attributes().find(rest)):
        rest = rest[: one.start] + " " + rest[one.end :]
    for word in asked.relations:
        rest = rest.replace(word.word, " ")
    return bool(asked.phrases or asked.chapters or question(read_question(rest, matcher=_NO_NAMES)).words)


def _gives(corpus: Corpus, entity_id: str, wanted: AbstractSet[str]) -> bool:
    """Whether a section of its own has a line for one of the attributes, or an age in its description."""
    own = {(corpus.sections[key].path, corpus.sections[key].section) for key in corpus.described.get(entity_id, ())}
    said = [one.text for one in statements(corpus, entity_id, "", limit=_ALL) if (one.path, one.section) in own]
    has_age = "age" in wanted and any(_has_age(corpus, entity_id, text) for text in said)
    return has_age or any(_is_line_for(text, wanted) for text in said)


def _is_line_for(text: str, wanted: AbstractSet[str]) -> bool:
    """`- 住处：海宁路七号`."""
    label, _, given = text.lstrip(" -*+").replace("：", ":").partition(":")
    if not given.strip(" *_。.") or parse_span(label) is not None:
        return False
    return any(name in wanted for found in attributes().find(label) for name in found.value)


def _has_age(corpus: Corpus, entity_id: str, text: str) -> bool:
    mentions, topic = corpus.matcher.find_all(text), topic_of("age")
    owner = ValueOwner(text, people_in(corpus, mentions, entity_id), entity_id, "own", topic)
    return any(one.text.startswith("years:") and owner.owns(one) for one in located(corpus, text, mentions, topic))


class ConflictRow(NamedTuple):
    """A statement and those that contradict it, for one or several attributes."""

    one: Statement
    others: tuple[Statement, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes in dispute."""
        return self.one.attributes


def conflicts_of(said: Sequence[Statement]) -> tuple[ConflictRow, ...]:
    """Contradicting statements, grouped; each pair once, under the statement that comes first."""
    found = []
    for number, one in enumerate(said):
        others = tuple(other for other in said[number + 1 :] if _contradict(one, other))
        if others:
            found.append(ConflictRow(one, others))
    return tuple(found)


def _contradict(one: Statement, other: Statement) -> bool:
    named = other.reference in one.competes_with and one.reference in other.competes_with
    return named and not set(one.attributes).isdisjoint(other.attributes)
