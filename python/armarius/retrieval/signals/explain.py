"""Why a text or a section was found: one piece of evidence per reason, each with where it stands."""

from collections.abc import Sequence
from dataclasses import replace

import armarius._core as _core
from armarius.documents.document import Document
from armarius.records import Evidence
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.corpus.units import Text
from armarius.retrieval.fusion import Mixed
from armarius.retrieval.signals.phrases import pattern_of
from armarius.retrieval.signals.rankings import Ranking, claims
from armarius.retrieval.understand.lexicon import concept_words, is_unspaced
from armarius.retrieval.understand.query import Understanding
from armarius.retrieval.understand.subjects import People

__all__ = ["best_paragraph", "reasons", "sought_words", "words_in"]

_SHOWN = 8
_PEOPLE = 3
_NOBODY = People((), {}, {})


def reasons(
    tables: CorpusTables, asked: Understanding, people: People, lists: Sequence[Ranking], one: Mixed
) -> tuple[Evidence, ...]:
    """The evidence for one candidate, named chapters first, then the graph, then words."""
    if one.is_section:
        return _of_section(tables, asked, people, one)
    text = tables.texts[one.key]
    found: list[Evidence] = []
    for reference in asked.references:
        if text.number in reference.numbers and not reference.excluded:
            words = asked.query[reference.start : reference.end]
            found.append(Evidence("chapter", f"the question names chapter {text.number}: {words}", text.path))
    held = {ranking.kind: (ranking, ranking.keys.index(one.key)) for ranking in lists if one.key in ranking.keys}
    makers = {
        "mention": lambda: _mentions(tables, people, text),
        "alias": lambda: _names(asked, text),
        "origin": lambda: [Evidence("mention", "first use of " + ", ".join(asked.aliases), text.path)],
        "first": lambda: _firsts(tables, people, text),
        "ending": lambda: [Evidence("mention", "last chapter with more than a mention", text.path)],
        "neighbour": lambda: [Evidence("chapter", "beside a chapter that the question names", text.path)],
        "phrase": lambda: _phrases(tables, asked, text),
        "fulltext": lambda: _fulltext(tables, asked, people, text, held["fulltext"][0]),
        "outline": lambda: _outline(tables, asked, people, text),
        "vector": lambda: [_near(text, held["vector"][0])],
    }
    for kind, (_, rank) in held.items():
        found += [replace(evidence, detail=f"{evidence.detail} (rank {rank + 1})") for evidence in makers[kind]()]
    return tuple(found)


def sought_words(tables: CorpusTables, asked: Understanding) -> tuple[str, ...]:
    """Everything that may count as a trace of the question in a text, lower case."""
    words = [*asked.phrases, *asked.aliases, *asked.terms]
    for entity_id in asked.entities:
        entity = tables.entities[entity_id]
        words += [entity.name, *entity.aliases]
    for concept in asked.concepts:
        words += [word for word in concept_words()[concept] if len(word) > 1 or not is_unspaced(word)]
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


def best_paragraph(document: Document, text: Text, block: int, words: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """The paragraph of a block that holds most of `words`, and those words."""
    best: tuple[int, tuple[str, ...]] = (text.blocks[block].paragraphs[0], ())
    for index in text.blocks[block].paragraphs:
        paragraph = document.paragraphs[index]
        found = words_in(document.text[paragraph.start : paragraph.end], words)
        if len(found) > len(best[1]):
            best = (index, found)
    return best


def _traces(tables: CorpusTables, asked: Understanding, people: People, text: str) -> tuple[str, ...]:
    """What of the question stands in `text`: its words, else inflected, else single characters and what is meant."""
    whom = {entity_id: tables.entities[entity_id].name for entity_id in (*people.related, *people.described)}
    written = {mention.entity_id: mention.term for mention in tables.matcher.find_all(text)} if whom else {}
    names = [f"{written[one]} ({name}, whom the question describes)" for one, name in whom.items() if one in written]
    words = words_in(text, sought_words(tables, asked))
    if not words:
        terms = set(_core.terms(text))
        words = tuple(term for term in asked.terms if term in terms)
        words += tuple(
            f"{word} ({concept})"
            for concept in asked.concepts
            for word in concept_words()[concept]
            if (word in text if is_unspaced(word) else terms.issuperset(_core.terms(word) or [word]))
        )
        named = {word[0] for word in words}
        words += tuple(char for char in asked.singles if char in text and char not in named)
        if not words and not names:
            words = tuple(
                f"{word} (the profile)" for group in claims(tables, asked) for word in group[0] if word in terms
            )
    return (*words[:_SHOWN], *names[:_PEOPLE])


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


def _names(asked: Understanding, text: Text) -> list[Evidence]:
    used = [(term, text.terms[term]) for term in asked.aliases if text.terms[term]]
    return [Evidence("mention", f"uses the name {term} {count}×", text.path) for term, count in used]


def _firsts(tables: CorpusTables, people: People, text: Text) -> list[Evidence]:
    found = []
    for entity_id in people.named:
        if entity_id in text.first:
            first = text.first[entity_id]
            detail = f"first chapter with {tables.entities[entity_id].name}"
            found.append(Evidence("mention", detail, text.path, (first.start, first.end)))
    return found


def _phrases(tables: CorpusTables, asked: Understanding, text: Text) -> list[Evidence]:
    document = tables.document(text.path)
    found = []
    for phrase in asked.phrases if document is not None and text.blocks else ():
        match = pattern_of(phrase).search(document.text, text.blocks[0].start, text.blocks[-1].end)  # type: ignore[union-attr]
        if match:
            found.append(Evidence("phrase", phrase, text.path, match.span()))
    return found


def _fulltext(
    tables: CorpusTables, asked: Understanding, people: People, text: Text, ranking: Ranking
) -> list[Evidence]:
    document = tables.document(text.path)
    blocks = ranking.blocks.get(text.key, ())
    if document is None or not blocks:
        return []
    index, words = best_paragraph(document, text, blocks[0], sought_words(tables, asked))
    if not words:
        pieces = [document.paragraphs[at] for at in text.blocks[blocks[0]].paragraphs]
        traces = [_traces(tables, asked, people, document.text[piece.start : piece.end]) for piece in pieces]
        index, words = max(zip((p.index for p in pieces), traces, strict=True), key=lambda one: len(one[1]))
    paragraph = document.paragraphs[index]
    return [Evidence("fulltext", ", ".join(words[:_SHOWN]), text.path, (paragraph.start, paragraph.end))]


def _near(text: Text, ranking: Ranking) -> Evidence:
    near = ranking.near[text.key]
    how = "alike in wording" if near.by_wording else "near in meaning"
    return Evidence("vector", f"{how}, similarity {near.similarity:.3f}", text.path, (near.start, near.end))


def _outline(tables: CorpusTables, asked: Understanding, people: People, text: Text) -> list[Evidence]:
    """The line of the outline that most of the question stands in, else the title."""
    best = Evidence("outline", f"title: {text.title}", text.path)
    most = words = _traces(tables, asked, people, text.title)
    for line in tables.outline.get(text.key, []):
        words = _traces(tables, asked, people, line.text)
        if len(words) > len(most) or (not most and best.path == text.path):
            best, most = Evidence("outline", line.text.strip(" -*"), line.path, (line.start, line.end)), words
    return [replace(best, detail=f"{best.detail}: {', '.join(most)}") if most else best]


def _of_section(tables: CorpusTables, asked: Understanding, people: People, one: Mixed) -> tuple[Evidence, ...]:
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
        if entity_id in people.described:
            words = ", ".join(_traces(tables, asked, _NOBODY, section.text))
            found.append(Evidence("fulltext", f"described by the question: {words}", section.path, span))
        if "present" in one.how:
            found.append(Evidence("mention", f"{name} is in the chapters found", section.path, span))
    if not found:
        words = ", ".join(_traces(tables, asked, _NOBODY, section.text))
        found.append(Evidence("fulltext", words, section.path, span))
    return tuple(found)
