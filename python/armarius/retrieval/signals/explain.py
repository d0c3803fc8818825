"""Why a text or a section was found: one piece of evidence per reason, each with where it stands.

What of the question stands in a paragraph or a line of the outline is looked for when somebody reads it (`later.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from armarius.corpus.units import OutlineLine
from armarius.documents.document import Document
from armarius.records import Evidence
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.corpus.text import Text
from armarius.retrieval.order import Ordered
from armarius.retrieval.ranking import Ranked
from armarius.retrieval.signals.later import Later
from armarius.retrieval.signals.phrases import pattern_of
from armarius.retrieval.signals.traces import Traces
from armarius.retrieval.understand.query import Understanding
from armarius.retrieval.understand.subjects import People
from armarius.semantic.outliers import Near

__all__ = ["reasons"]

_AROUND = 9  # paragraphs looked at for a word, the best one first: a window may be found by what stands beside it


def reasons(
    tables: CorpusTables,
    asked: Understanding,
    people: People,
    ranked: Ranked,
    near: Mapping[int, Near],
    one: Ordered,
    traces: Traces,
    worded: Evidence | None = None,
) -> tuple[Evidence, ...] | Later:
    """The evidence for one candidate: chapters asked for, names, quoted words, words, the outline, meaning, wordings.

    Args:
        tables: As they are now.
        asked: The question.
        people: Whom it is about.
        ranked: Its scores.
        near: Texts near in meaning, by key.
        one: The candidate.
        traces: Of this question.
        worded: What another wording found in it.
    """
    if one.is_section:
        return _of_section(tables, asked, people, ranked, one, traces)
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
    last = [_near(text, near[one.key])] if one.key in near else []
    if worded is not None:
        last.append(worded)
    if one.unit is None:
        return (*found, *last)
    lines = tables.outline.get(text.key, ()) if one.unit.told > 0 else None
    # Nothing of the tables, which change: a document is another when it reads otherwise, and so are lines.
    document, span = tables.document(text.path), (text.start, text.end)
    return Later(partial(_looked_for, found, traces, document, span, one.unit.best, text.path, text.title, lines, last))


def _looked_for(
    before: Sequence[Evidence],
    traces: Traces,
    document: Document | None,
    span: tuple[int, int],
    best: int | None,
    path: str,
    title: str,
    lines: Sequence[OutlineLine] | None,
    behind: Sequence[Evidence],
) -> tuple[Evidence, ...]:
    """All reasons, those between found now."""
    words = [] if best is None or document is None else _fulltext(traces, document, span, best)
    told = [] if lines is None else [_outline(traces, path, title, lines)]
    return (*before, *words, *told, *behind)


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


def _fulltext(traces: Traces, document: Document, span: tuple[int, int], best: int) -> list[Evidence]:
    """The best paragraph and what of the question stands in it."""
    paragraphs = document.paragraphs
    for index in _around(best, len(paragraphs)):
        paragraph = paragraphs[index]
        if not span[0] <= paragraph.start < span[1]:
            continue
        if words := traces.in_text(document.text[paragraph.start : paragraph.end]):
            return [Evidence("fulltext", ", ".join(words), document.path, (paragraph.start, paragraph.end))]
    return []


def _around(best: int, number: int) -> list[int]:
    """The nearest of `number` positions to one of them, that first; of two as near the one before."""
    near = range(max(best - _AROUND, 0), min(best + _AROUND + 1, number))
    return sorted(near, key=lambda at: abs(at - best))[:_AROUND]


def _near(text: Text, near: Near) -> Evidence:
    how = "alike in wording" if near.by_wording else "near in meaning"
    return Evidence("vector", f"{how}, similarity {near.similarity:.3f}", text.path, (near.start, near.end))


def _outline(traces: Traces, path: str, title: str, lines: Sequence[OutlineLine]) -> Evidence:
    """The line of the outline that most of the question stands in, else the title."""
    best = Evidence("outline", f"title: {title}", path)
    most = words = traces.in_text(title)
    for line in lines:
        words = traces.in_text(line.text)
        if len(words) > len(most) or (not most and best.path == path):
            best, most = Evidence("outline", line.text.strip(" -*"), line.path, (line.start, line.end)), words
    return replace(best, detail=f"{best.detail}: {', '.join(most)}") if most else best


def _of_section(
    tables: CorpusTables, asked: Understanding, people: People, ranked: Ranked, one: Ordered, traces: Traces
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
            words = ", ".join(traces.in_text(section.text, people=False))
            found.append(Evidence("fulltext", f"described by the question: {words}", section.path, span))
        if one.how == "present":
            found.append(Evidence("mention", f"{name} is in the chapters found", section.path, span))
    if not found:
        words = ", ".join(traces.in_text(section.text, people=False))
        found.append(Evidence("fulltext", words, section.path, span))
    return tuple(found)
