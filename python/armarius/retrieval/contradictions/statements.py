"""Everything the project says of an attribute of an entity, with competing statements marked; no verdict."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import armarius._core as _core
from armarius.corpus.units import Section
from armarius.documents.document import Document
from armarius.retrieval.contradictions.owners import Place, Whose
from armarius.retrieval.contradictions.values import (
    Topic,
    located,
    topic_of,
    without_parts,
)
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.ranking import paragraphs_about
from armarius.retrieval.signals.traces import words_in
from armarius.retrieval.understand.lexicon import is_unspaced
from armarius.text.matcher import Mention
from armarius.text.sentences import STATEMENT

__all__ = ["SHARED", "Statement", "is_about", "is_rival", "order_of", "people_in", "statements"]

_TEXTS = 12
_PARAGRAPHS = 8  # of each text
_PERSON = "character"
SHARED = 2  # terms that a sentence has in common with what a profile claims


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence that speaks of an attribute of an entity.

    Attributes:
        text: The sentence as written: `document[span[0]:span[1]]`.
        path: Project-relative.
        section: Of a settings file, else "".
        paragraph: Index of the paragraph in the document.
        span: Code points in the document, half-open.
        chapter: Of a chapter, else None.
        values: What it says in comparable form (`place:<id>`, `years:16`, `reached:41`, `older:她`,
            `body:brow`, `eye:grey`).
        competes_with: References (`path` or `path#section`) of statements that share none of its values.
        attributes: The attributes it was found to compete about: as asked, or `age`, `house`, `mark` … when none was.
    """

    text: str
    path: str
    section: str
    paragraph: int
    span: tuple[int, int]
    chapter: int | None
    values: frozenset[str] = frozenset()
    competes_with: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """`path`, or `path#section`."""
        return f"{self.path}#{self.section}" if self.section else self.path


def statements(
    tables: CorpusTables,
    entity_id: str,
    attribute: str,
    *,
    chapter: int | None = None,
    limit: int = 20,
    texts: int = _TEXTS,
) -> list[Statement]:
    """What sections and chapters say of an entity, profiles first, then by chapter.

    Args:
        tables: The project.
        entity_id: An entity of its codex.
        attribute: 年龄, 住处, "eye colour", …; "" takes whatever its sections say (`disputes` compares that).
        chapter: Chapters after it are left out.
        limit: At most so many.
        texts: Look into so many texts, the likeliest first.

    Cost: one search; the sentences of the texts found are read.
    """
    if not attribute:
        return list(_in_sections(tables, entity_id, None))[:limit]
    topic = topic_of(attribute)
    found = list(_in_sections(tables, entity_id, topic))
    told = sorted(
        _in_texts(tables, entity_id, topic, found, chapter, texts), key=lambda one: (-one[0], *order_of(one[1]))
    )
    found += [one for _, one in told]
    found = list({(one.path, one.span): one for one in found}.values())[:limit]
    marked = []
    for one in found:
        rivals = tuple(dict.fromkeys(other.reference for other in found if _compete(topic, one, other)))
        marked.append(replace(one, competes_with=rivals, attributes=(attribute,) if rivals else ()))
    return marked


def order_of(one: Statement) -> tuple[int, str, tuple[int, int]]:
    """The order of the book."""
    return (one.chapter or 0, one.path, one.span)


def _compete(topic: Topic, one: Statement, other: Statement) -> bool:
    """As `is_rival`; the left and the right are rivals only where the rest of the sentence tells the same."""
    if topic.valued or not is_rival(one, other):
        return is_rival(one, other)
    bare = [replace(side, values=side.values - _bodies(side.values)) for side in (one, other)]
    told = [set(_core.terms(without_parts(side.text))) for side in (one, other)]
    return is_rival(*bare) or len(told[0] & told[1]) >= SHARED


def is_rival(one: Statement, other: Statement) -> bool:
    """Whether two statements of different sources share no value of some kind that both give."""
    if (other.path, other.section) == (one.path, one.section):
        return False
    if _outgrown(one, other) or _outgrown(other, one):
        return True
    kinds = {value.partition(":")[0] for value in one.values} & {value.partition(":")[0] for value in other.values}
    return any(_of(one, kind).isdisjoint(_of(other, kind)) for kind in kinds - {"reached"})


def _outgrown(one: Statement, other: Statement) -> bool:
    """Whether `other` had reached an age beyond the one that `one` gives."""
    years = [int(value.partition(":")[2]) for value in _of(one, "years")]
    return bool(years) and any(int(value.partition(":")[2]) > max(years) for value in _of(other, "reached"))


# "At forty-one she …", "her brown eyes …", 她今年…: who was named before is spoken of.
_PRONOUN = re.compile(
    r"[“\"‘'—\s]*(?:(?:[Aa]t|[Ii]n|[Bb]y)\s[\w-]+,?\s)?(?:(?:she|he|her|his)\b|[她他](?!们))", re.IGNORECASE
)


def is_about(tables: CorpusTables, entity_id: str, one: Statement) -> bool:
    """Whether a sentence names an entity, or begins with a pronoun where its paragraph has named nobody else before."""
    if any(mention.entity_id == entity_id for mention in tables.matcher.find_all(one.text)):
        return True
    document = tables.document(one.path)
    if document is None or not _PRONOUN.match(one.text):
        return False
    before = document.text[document.paragraphs[one.paragraph].start : one.span[0]]
    named = {mention.entity_id for mention in tables.matcher.find_all(before)}
    return {other for other in named if other == entity_id or tables.entities[other].type == "character"} == {entity_id}


def _of(one: Statement, kind: str) -> set[str]:
    return {value for value in one.values if value.startswith(f"{kind}:")}


def _in_sections(tables: CorpusTables, entity_id: str, topic: Topic | None) -> Iterator[Statement]:
    own = set(tables.described.get(entity_id, ()))
    for key in sorted(tables.sections, key=tables.place):
        section = tables.sections[key]
        document = tables.document(section.path)
        if document is None:
            continue
        for index, start, end, mentions in _sentences(tables, document, section):
            about = key in own or any(mention.entity_id == entity_id for mention in mentions)
            if not about:
                continue
            sentence = document.text[start:end]
            place: Place = "own" if key in own else _place_of(tables, section)
            values, others = _given(tables, entity_id, sentence, mentions, topic, place)
            if others and place == "other":
                continue
            if key not in own and "place" in (topic.dimensions if topic else ()):
                # In the section of a place, to be named there is to be there.
                here = [other for other in section.entities if tables.entities[other].type == "location"]
                values |= {f"place:{other}" for other in here}
            speaks = topic is None or topic.spoken_in(sentence) or bool(values - _bodies(values))
            if speaks:
                yield Statement(sentence, section.path, section.section, index, (start, end), None, values)


def _in_texts(
    tables: CorpusTables, entity_id: str, topic: Topic, claimed: Sequence[Statement], chapter: int | None, texts: int
) -> Iterator[tuple[int, Statement]]:
    """Sentences of chapters with how surely they speak of the entity and the topic.

    A sentence counts when it names the entity and a word of the topic, or when its paragraph names the entity and it
    shares words with what a profile claims, or says who of two is older.
    """
    kept: dict[tuple[str, int], tuple[tuple[int, Statement], ...]] = tables.memo.setdefault(
        ("told", f"{entity_id}\0{topic.name}", None), {}
    )
    claims = {term for one in claimed for term in _core.terms(one.text)}
    claims -= {term for one in claimed for m in tables.matcher.find_all(one.text) for term in _core.terms(m.term)}
    words = [word for word in topic.words if len(word) > 1 or not is_unspaced(word)]
    likely = paragraphs_about(tables, entity_id, words, sorted(claims), as_of=chapter, limit=_PARAGRAPHS * texts)
    for path, index in likely:
        if (path, index) not in kept:  # what a paragraph says does not depend on the chapter that is open
            kept[path, index] = tuple(_in_paragraph(tables, entity_id, topic, claims, path, index))
        yield from kept[path, index]


def _in_paragraph(
    tables: CorpusTables, entity_id: str, topic: Topic, claims: set[str], path: str, index: int
) -> Iterator[tuple[int, Statement]]:
    document = tables.document(path)
    if document is None or document.kind in ("setting", "outline"):
        return
    paragraph = document.paragraphs[index]
    text = tables.text_at(path, paragraph.start)
    if text is None:
        return
    whole = document.text[paragraph.start : paragraph.end]
    shared = len(claims.intersection(_core.terms(whole)))
    if shared < SHARED and not words_in(whole, topic.words) and "age" not in topic.dimensions:
        return
    here = tables.matcher.find_all(whole)
    if not any(mention.entity_id == entity_id for mention in here):
        return
    for start, end in _spans(document.text, paragraph.start, paragraph.end):
        sentence = document.text[start:end]
        shared = len(claims.intersection(_core.terms(sentence)))
        spoken = topic.spoken_in(sentence)
        if not spoken and shared < SHARED and "age" not in topic.dimensions:
            continue
        mentions = tables.matcher.find_all(sentence)
        values, others = _given(tables, entity_id, sentence, mentions, topic, "prose")
        if others:
            continue
        one = Statement(sentence, text.path, text.section, index, (start, end), text.number, values)
        named = is_about(tables, entity_id, one)
        told = spoken or any(value.startswith(("years:", "reached:")) for value in values)
        compared = any(value.startswith("older:") for value in values)
        valued = bool(values) or not topic.valued
        if valued and ((told and named) or (shared >= SHARED and (spoken or values)) or compared):
            sure = 2 * (shared >= SHARED) + 2 * named + bool(values) + spoken
            yield sure, one


def _given(
    tables: CorpusTables,
    entity_id: str,
    sentence: str,
    mentions: Sequence[Mention],
    topic: Topic | None,
    place: Place,
) -> tuple[frozenset[str], bool]:
    """The values that a sentence gives of an entity, and whether it gives only those of others."""
    every = located(tables, sentence, mentions, topic) if topic else ()
    if not every or topic is None:
        return frozenset(), False
    whose = Whose(sentence, people_in(tables, mentions, entity_id), entity_id, place, topic)
    values = frozenset(one.text for one in every if whose.owns(one))
    return values, not values and place != "own"


def people_in(tables: CorpusTables, mentions: Sequence[Mention], entity_id: str) -> list[Mention]:
    """Those of `mentions` that are of a character, or of the entity."""
    return [one for one in mentions if one.entity_id == entity_id or tables.entities[one.entity_id].type == _PERSON]


def _place_of(tables: CorpusTables, section: Section) -> Place:
    """A profile has an owner whom it speaks of; what is told of a place speaks of whomever it names."""
    return "other" if any(tables.entities[one].type == _PERSON for one in section.entities) else "prose"


def _bodies(values: frozenset[str]) -> frozenset[str]:
    return frozenset(value for value in values if value.startswith("body:"))


def _spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """First and one past the last code point of each sentence, white space outside."""
    for match in STATEMENT.finditer(text, start, end):
        stripped = match[0].strip()
        if stripped:
            first = match.start() + len(match[0]) - len(match[0].lstrip())
            yield first, first + len(stripped)


def _sentences(
    tables: CorpusTables, document: Document, section: Section
) -> Sequence[tuple[int, int, int, Sequence[Mention]]]:
    """(paragraph, first, one past the last, mentions) of each sentence of a section; mentions count from its beginning.

    Remembered until something changes: every entity and every topic asks for them.
    """
    key = ("sentences", "", section.key)
    if key not in tables.memo:
        tables.memo[key] = [
            (paragraph.index, first, last, tables.matcher.find_all(document.text[first:last]))
            for paragraph in document.paragraphs
            if paragraph.role != "heading" and section.start <= paragraph.start < section.end
            for first, last in _spans(document.text, paragraph.start, paragraph.end)
        ]
    found: Sequence[tuple[int, int, int, Sequence[Mention]]] = tables.memo[key]
    return found
