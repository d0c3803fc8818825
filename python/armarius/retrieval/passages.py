"""Hits to what stands in the prompt: passages cut at sentences around the evidence, and cards of related entities."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from armarius import _core
from armarius.codex import Codex, entity_card
from armarius.codex.cards import short_card
from armarius.errors import ContextWarning
from armarius.fetchers.base import Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission
from armarius.project.documents import Document
from armarius.retrieval.conflicts import Statement, statements
from armarius.retrieval.hits import Retrieval
from armarius.retrieval.library import Library, Text
from armarius.retrieval.reasons import best_paragraph, sought_words
from armarius.retrieval.retriever import Found, Retriever

__all__ = ["PASSAGE_GROUP", "Passage", "PassageFetcher", "passages_of"]

PASSAGE_GROUP = "[检索 — 相关段落]"

# Code points of a passage: about what a writer reads at a glance, and a tenth of the layer at the default budget.
_LENGTH = 400
_PER_TEXT = 2
_TEXTS = 5
_DISPUTED = 3
_HITS = 8
_NEAR = 1_000
_SAME = 0.8
# Below a card of somebody named (1.0), above what happens to stand around the cursor (0.5).
_BEST_SCORE = 0.95
_RELATED_SCORE = 0.9
_QUERY_LIMIT = 400
_SENTENCE_END = re.compile(r"[。！？!?…]+[”’」』）\"')\]]*|\.[\"'”’)\]]*(?=\s|$)|\n+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document: `document.text[start:end]`, beginning in paragraph `paragraph`."""

    path: str
    title: str
    paragraph: int
    start: int
    end: int
    text: str
    score: float
    anchor: int
    evidence: tuple[Evidence, ...]

    @property
    def source(self) -> str:
        """`rag:passage:<path>#<n>`."""
        return f"rag:passage:{self.path}#{self.paragraph}"


def passages_of(library: Library, found: Found) -> list[Passage]:
    """The passages of an answer, best first: at most two of a text, none said twice.

    Cost: the blocks that were found are read again.
    """
    words = sought_words(library, found.answer.understanding)
    blocks: dict[int, tuple[int, ...]] = {}
    for kind in ("vector", "fulltext"):  # words decide where to cut, meaning where there are none
        blocks |= next((ranking.blocks for ranking in found.lists if ranking.kind == kind), {})
    passages: list[Passage] = []
    texts = [(one, hit) for one, hit in zip(found.mixed, found.answer.hits, strict=False) if not one.is_section]
    for place, (one, hit) in enumerate(texts[:_TEXTS]):
        text = library.texts[one.key]
        document = library.document(text.path)
        if document is None or not text.blocks:
            continue
        for rank, block in enumerate(blocks.get(one.key, (0,))[:_PER_TEXT]):
            score = _BEST_SCORE - 0.06 * place - 0.1 * rank
            passages.append(_passage(document, text, block, words, score, hit.evidence))
    return sorted(passages, key=lambda passage: (-passage.score, passage.source))


def _passage(
    document: Document, text: Text, block: int, words: Sequence[str], score: float, evidence: tuple[Evidence, ...]
) -> Passage:
    index, held = best_paragraph(document, text, block, words)
    paragraph = document.paragraphs[index]
    at = _first_word(document.text[paragraph.start : paragraph.end], held)
    last = text.blocks[block].end
    start, end = _around(document.text, paragraph.start, max(paragraph.end, last), paragraph.start + at)
    title = text.section or text.title
    return Passage(
        text.path, title, index, start, end, document.text[start:end], score, paragraph.start + at - start, evidence
    )


def _first_word(text: str, words: Sequence[str]) -> int:
    lower = text.lower()
    return min((at for word in words if (at := lower.find(word)) >= 0), default=0)


def _around(text: str, low: int, high: int, at: int) -> tuple[int, int]:
    """Whole sentences of `text[low:high]` around `at`, about `_LENGTH` long."""
    cuts = [low, *(match.end() for match in _SENTENCE_END.finditer(text, low, high)), high]
    start = max((cut for cut in cuts if cut <= max(low, at - _LENGTH // 4)), default=low)
    if at - start > _LENGTH:  # one endless sentence
        start = at - _LENGTH // 4
    end = max((cut for cut in cuts if at < cut <= start + _LENGTH), default=min(high, start + _LENGTH))
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


class PassageFetcher:
    """What the project says about a question: `rag:passage:<path>#<n>` and, for relation words, `kg:related:<id>`.

    Args:
        retriever: Shared by the views of a project; brought up to the documents of this one before each question.
        documents: Of the view that the request sees.
        codex: Of the same view.
    """

    name = "passages"
    layer: LayerName = "retrieved"

    def __init__(self, retriever: Retriever, documents: Mapping[str, Document], codex: Codex) -> None:
        self._retriever = retriever
        self._documents = documents
        self._codex = codex

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """Passages and cards for the query, or for the selection when there is no query.

        Cost: one retrieval and the passages of at most five texts.
        """
        query = (request.query.strip() or request.additional_input.strip())[:_QUERY_LIMIT]
        if not query:
            return Fetched()
        with self._retriever.at(self._documents, self._codex) as retriever:
            found = retriever.find(query, limit=_HITS, chapter=request.chapter)
            library = retriever.library
            assert library is not None
            rivals = _disputed(library, found, request.chapter)
            passages = passages_of(library, found)
            cards = list(_cards(library, found, request))
        candidates, omitted = _distinct(passages, rivals, request)
        return Fetched((*cards, *candidates), (*found.answer.omitted, *omitted), _warnings(found.answer))


def _warnings(answer: Retrieval) -> tuple[ContextWarning, ...]:
    if answer.outcome == "index not ready":
        return (ContextWarning("RAG_UNAVAILABLE", "the index is not ready"),)
    return answer.warnings


def _disputed(library: Library, found: Found, chapter: int | None) -> list[Statement]:
    """For a question of consistency: sentences that say different things about what is asked."""
    asked = found.answer.understanding
    if "consistency" not in asked.intents or not asked.content:
        return []
    said = [
        one
        for entity_id in asked.entities[:2]
        for one in statements(library, entity_id, asked.content, chapter=chapter, texts=_DISPUTED)
    ]
    return [one for one in said if one.competes_with]


def _cards(library: Library, found: Found, request: FetchRequest) -> Iterator[Candidate]:
    """Cards of entities that a relation word of the question leads to."""
    for entity_id, (factor, tie, word) in sorted(found.people.related.items()):
        entity = library.entities[entity_id]
        if entity.level != "when_detected":
            continue
        yield Candidate(
            id=f"entity:{entity_id}",
            layer="retrieved",
            source=f"kg:related:{entity_id}",
            content=entity_card(entity, chapter=request.chapter),
            short=short_card(entity),
            score=_RELATED_SCORE * factor,
            evidence=(Evidence("relation", f"{word}: {tie.role.name}, {tie.said}", tie.path),),
            group=PASSAGE_GROUP,
            documents=tuple(dict.fromkeys(origin.path for origin in entity.origins)),
            project_id=request.project_id,
        )


def _distinct(
    passages: Sequence[Passage], rivals: Sequence[Statement], request: FetchRequest
) -> tuple[list[Candidate], list[Omission]]:
    """Candidates of passages that say something new; the others as omissions."""
    kept: list[tuple[Passage, frozenset[str]]] = []
    candidates: list[Candidate] = []
    omitted: list[Omission] = []
    for passage in passages:
        terms = frozenset(_core.terms(passage.text))
        twin = next((other for other, theirs in kept if _overlap(passage, other) or _alike(terms, theirs)), None)
        if twin is not None:
            omitted.append(Omission(passage.source, "retrieved", passage.source, "duplicate", f"of {twin.source}"))
        elif passage.path == request.document_id and abs(passage.start - request.cursor) < _NEAR:
            detail = "stands around the cursor"
            omitted.append(Omission(passage.source, "retrieved", passage.source, "duplicate", detail))
        else:
            kept.append((passage, terms))
            candidates.append(_candidate(passage, rivals, request))
    for statement in rivals:
        inside = any(p.path == statement.path and p.start <= statement.span[0] < p.end for p, _ in kept)
        if not inside and not statement.section:
            candidates.append(_statement(statement, request))
    return candidates, omitted


def _overlap(one: Passage, other: Passage) -> bool:
    return one.path == other.path and one.start < other.end and other.start < one.end


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one and other) and len(one & other) > _SAME * min(len(one), len(other))


def _candidate(passage: Passage, rivals: Sequence[Statement], request: FetchRequest) -> Candidate:
    head = f"## 段落：{passage.title}（{passage.path}#{passage.paragraph}）\n"
    evidence = list(passage.evidence)
    for one in rivals:
        if one.path == passage.path and passage.start <= one.span[0] < passage.end:
            detail = f"competes with {', '.join(one.competes_with)}: {one.text}"
            evidence.append(Evidence("fulltext", detail, one.path, one.span))
    return Candidate(
        id=passage.source,
        layer="retrieved",
        source=passage.source,
        content=head + passage.text,
        score=passage.score,
        evidence=tuple(evidence),
        group=PASSAGE_GROUP,
        keep="around",
        anchor=len(head) + passage.anchor,
        documents=(passage.path,),
        project_id=request.project_id,
    )


def _statement(one: Statement, request: FetchRequest) -> Candidate:
    """A sentence that competes with another source, on its own, so that both sides stay in the pack."""
    source = f"rag:passage:{one.path}#{one.paragraph}"
    head = f"## 说法不一：{one.path}#{one.paragraph}，另见 {'、'.join(one.competes_with)}\n"
    return Candidate(
        id=f"{source}@{one.span[0]}",
        layer="retrieved",
        source=source,
        content=head + one.text,
        score=_BEST_SCORE,
        evidence=(Evidence("fulltext", f"competes with {', '.join(one.competes_with)}", one.path, one.span),),
        group=PASSAGE_GROUP,
        documents=(one.path,),
        project_id=request.project_id,
    )
