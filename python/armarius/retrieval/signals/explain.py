"""Why a text or a section was found: one piece of evidence per reason, each with where it stands."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import armarius._core as _core
from armarius._core import ScoredUnit
from armarius.records import Evidence
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.corpus.text import Text
from armarius.retrieval.order import Ordered
from armarius.retrieval.ranking import Ranked
from armarius.retrieval.signals.phrases import pattern_of
from armarius.retrieval.understand.families import terms_of
from armarius.retrieval.understand.lexicon import is_unspaced
from armarius.retrieval.understand.query import Understanding
from armarius.retrieval.understand.subjects import People
from armarius.semantic.outliers import Near
from armarius.text.scripts import UNSPACED

__all__ = ["reasons", "words_in"]

_SHOWN = 8
_PEOPLE = 3
_AROUND = 9  # paragraphs looked at for a word, the best one first: a window may be found by what stands beside it
_NOBODY = People((), {})


def reasons(
    tables: CorpusTables,
    asked: Understanding,
    people: People,
    ranked: Ranked,
    near: Mapping[int, Near],
    one: Ordered,
) -> tuple[Evidence, ...]:
    """The evidence for one candidate: chapters asked for, names, quoted words, words, the outline, meaning."""
    if one.is_section:
        return _of_section(tables, asked, people, ranked, one)
    text = tables.texts[one.key]
    found: list[Evidence] = []
    for reference in asked.references:
        if text.number in reference.numbers and not reference.excluded:
            words = asked.query[reference.start : reference.end]
            found.append(Evidence("chapter", f"the question names chapter {text.number}: {words}", text.path))
    if one.how == "beside":
        found.append(Evidence("chapter", "beside a chapter that the question names", text.path))
    found += _phrases(tables, asked, text)
    found += _mentions(tables, people, text)
    if one.unit is not None:
        found += _fulltext(tables, asked, people, ranked, text, one.unit)
        if one.unit.told > 0:
            found += _outline(tables, asked, people, ranked, text)
    if one.key in near:
        found.append(_near(text, near[one.key]))
    return tuple(found)


def _sought_words(tables: CorpusTables, asked: Understanding, ranked: Ranked) -> tuple[str, ...]:
    """Everything that may count as a trace of the question in a text, lower case."""
    words = [*asked.phrases, *asked.aliases, *ranked.read.words]
    for entity_id in asked.entities:
        entity = tables.entities[entity_id]
        words += [entity.name, *entity.aliases]
    return tuple(dict.fromkeys(word.lower() for word in words))


def words_in(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """Those of `words` that stand in `text`; Latin ones at the beginning of a word."""
    lower = text.lower()
    found = []
    for word in words:
        at = lower.find(word)
        while at > 0 and not is_unspaced(word) and lower[at - 1].isalnum():
            at = lower.find(word, at + 1)
        if at >= 0:
            found.append(word)
    return tuple(found)


def _traces(tables: CorpusTables, asked: Understanding, people: People, ranked: Ranked, text: str) -> tuple[str, ...]:
    """What of the question stands in `text`: its words, else inflected, else what else may be meant, characters."""
    whom = {entity_id: tables.entities[entity_id].name for entity_id in (*people.related, *ranked.described)}
    written = {mention.entity_id: mention.term for mention in tables.matcher.find_all(text)} if whom else {}
    names = [f"{written[one]} ({name}, whom the question describes)" for one, name in whom.items() if one in written]
    found = (*_stretches(asked.content, text), *words_in(text, _sought_words(tables, asked, ranked)))
    words = tuple(dict.fromkeys(found))
    words = tuple(one for one in words if not any(one != other and one in other for other in words))
    if not words:
        terms = set(_core.terms(text))
        words = tuple(term for term in ranked.read.terms if term in terms)
        for word, others in ranked.read.alternatives.items():
            words += tuple(f"{other} ({word})" for other, _ in others if terms.issuperset(terms_of(other) or [other]))
        named = {word[0] for word in words}
        words += tuple(char for char in asked.singles if char in text and char not in named)
        if not words and not names:
            card = (term for group in ranked.groups if group.family == "card" for term, _ in group.terms)
            words = tuple(f"{term} (the profile)" for term in card if term in terms)
    return (*words[:_SHOWN], *names[:_PEOPLE])


def _stretches(question: str, text: str) -> Iterator[str]:
    """The longest stretches of two characters or more, of a script without spaces, that both hold, leftmost first."""
    for run in re.findall(rf"[{UNSPACED}]+", question):
        at = 0
        while at + 1 < len(run):
            end = at + 1
            while end < len(run) and run[at : end + 1] in text:
                end += 1
            if end - at > 1:
                yield run[at:end]
            at = end if end - at > 1 else at + 1


def _mentions(tables: CorpusTables, people: People, text: Text) -> list[Evidence]:
    found = []
    for entity_id in (*people.named, *people.related):
        count = text.mentions[entity_id]
        if count:
            first = text.first[entity_id]
            short = tables.matcher.derived(entity_id, first.term)
            detail = f"{tables.entities[entity_id].name} {count}×" + (
                "" if short is None else f" ({first.term}, {short})"
            )
            found.append(Evidence("mention", detail, text.path, (first.start, first.end)))
    return found


def _phrases(tables: CorpusTables, asked: Understanding, text: Text) -> list[Evidence]:
    document = tables.document(text.path)
    found = []
    for phrase in asked.phrases if document is not None else ():
        match = pattern_of(phrase).search(document.text, text.start, text.end)  # type: ignore[union-attr]
        if match:
            found.append(Evidence("phrase", phrase, text.path, match.span()))
    return found


def _fulltext(
    tables: CorpusTables, asked: Understanding, people: People, ranked: Ranked, text: Text, unit: ScoredUnit
) -> list[Evidence]:
    """The best paragraph and what of the question stands in it."""
    document = tables.document(text.path)
    best = unit.best
    if document is None or best is None:
        return []
    for index in sorted(range(len(document.paragraphs)), key=lambda one: abs(one - best))[:_AROUND]:
        paragraph = document.paragraphs[index]
        words = _traces(tables, asked, people, ranked, document.text[paragraph.start : paragraph.end])
        if words and text.start <= paragraph.start < text.end:
            return [Evidence("fulltext", ", ".join(words), text.path, (paragraph.start, paragraph.end))]
    return []


def _near(text: Text, near: Near) -> Evidence:
    how = "alike in wording" if near.by_wording else "near in meaning"
    return Evidence("vector", f"{how}, similarity {near.similarity:.3f}", text.path, (near.start, near.end))


def _outline(tables: CorpusTables, asked: Understanding, people: People, ranked: Ranked, text: Text) -> list[Evidence]:
    """The line of the outline that most of the question stands in, else the title."""
    best = Evidence("outline", f"title: {text.title}", text.path)
    most = words = _traces(tables, asked, people, ranked, text.title)
    for line in tables.outline.get(text.key, []):
        words = _traces(tables, asked, people, ranked, line.text)
        if len(words) > len(most) or (not most and best.path == text.path):
            best, most = Evidence("outline", line.text.strip(" -*"), line.path, (line.start, line.end)), words
    return [replace(best, detail=f"{best.detail}: {', '.join(most)}") if most else best]


def _of_section(
    tables: CorpusTables, asked: Understanding, people: People, ranked: Ranked, one: Ordered
) -> tuple[Evidence, ...]:
    section = tables.sections[one.key]
    span = (section.start, section.end)
    found: list[Evidence] = []
    for entity_id in section.entities:
        name = tables.entities[entity_id].name
        written = [mention.term for mention in asked.mentions if mention.entity_id == entity_id]
        if written:
            short = tables.matcher.derived(entity_id, written[0])
            detail = f"the question names {name}: {written[0]}" + ("" if short is None else f" ({short})")
            found.append(Evidence("mention", detail, section.path, span))
        if entity_id in people.related:
            _, tie, word = people.related[entity_id]
            detail = f"{word}: {name} ({tie.role.name}, {tie.said})"
            found.append(Evidence("relation", detail, tie.path or section.path, span if not tie.path else None))
        if entity_id in ranked.described:
            words = ", ".join(_traces(tables, asked, _NOBODY, ranked, section.text))
            found.append(Evidence("fulltext", f"described by the question: {words}", section.path, span))
        if one.how == "present":
            found.append(Evidence("mention", f"{name} is in the chapters found", section.path, span))
    if not found:
        words = ", ".join(_traces(tables, asked, _NOBODY, ranked, section.text))
        found.append(Evidence("fulltext", words, section.path, span))
    return tuple(found)
