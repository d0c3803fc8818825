"""What the project says about a question: passages, cards of related entities, both sides of a dispute."""

from collections.abc import Iterator, Sequence

import armarius._core as _core
from armarius.codex import entity_card
from armarius.codex.cards import short_card
from armarius.fetchers.relations import relations_asked, relations_confirmed
from armarius.headings import heading
from armarius.records import (
    Candidate,
    Evidence,
    Fetched,
    FetchRequest,
    LayerName,
    Omission,
)
from armarius.retrieval.contradictions.detect import disputes
from armarius.retrieval.contradictions.statements import Statement, statements
from armarius.retrieval.contradictions.values import ATTRIBUTES
from armarius.retrieval.corpus.corpus import Corpus
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.passages import BEST_SCORE, TEXTS, Passage, passages_of
from armarius.retrieval.retrieve import Sources, ask_graph, find
from armarius.retrieval.trace import Found
from armarius.warnings_table import INDEX_NOT_READY

__all__ = ["PassageFetcher"]

_NAMED = 2
_PRESENT = 4
_DISPUTED = 3  # texts looked into for sentences that say different things
_HITS = 16  # passages come from the texts among them, at most five
_NEAR = 1_000  # code points from the cursor that the immediate layer shows anyway
_SAME = 0.8
_RELATED_SCORE = 0.9
_QUERY_LIMIT = 400


class PassageFetcher:
    """What the project says about a question.

    `rag:passage:<path>#<n>`; where it has relation words also `kg:related:<id>` and `kg:relation:<source>-<target>`.

    Args:
        corpus: Of the view that the request sees.
        sources: Where else to look.
    """

    name = "passages"
    layer: LayerName = "retrieved"

    def __init__(self, corpus: Corpus, sources: Sources | None = None) -> None:
        self._corpus = corpus
        self._sources = Sources() if sources is None else sources

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """Passages and cards for the query, or for the selection when there is no query.

        Cost: one retrieval and the passages of at most five texts.
        """
        query = (request.query.strip() or request.additional_input.strip())[:_QUERY_LIMIT]
        if not query:
            return Fetched()
        if not self._corpus.ready:
            return Fetched(warnings=(INDEX_NOT_READY(),))
        known = ask_graph(self._corpus, query, chapter=request.chapter, graph=self._sources.graph)
        with self._corpus.tables() as tables:
            found = find(
                tables,
                query,
                limit=_HITS,
                chapter=request.chapter,
                known=known,
                sources=self._sources,
                explained=TEXTS,
            )
            rivals = _disputed(tables, found, request.chapter)
            passages = passages_of(tables, found)
            cards = list(_cards(tables, found, request))
            related = relations_asked(tables, found, request)
        candidates, omitted = _distinct(passages, rivals, request)
        offered = (*related.candidates, *cards, *candidates)
        return Fetched(offered, (*found.answer.omitted, *related.omitted, *omitted), found.answer.warnings)

    def confirm(self, candidates: Sequence[Candidate], request: FetchRequest, /) -> set[str]:
        """The ids of those `candidates` whose text stands where it stood, or whose card or relation reads the same.

        Cost: one comparison per candidate; nothing is retrieved.
        """
        related = relations_confirmed(self._corpus.codex, candidates, request.chapter)
        entities = {f"kg:related:{entity.id}": entity for entity in self._corpus.codex.entities}
        found = set()
        for candidate in candidates:
            if candidate.id in related:
                found.add(candidate.id)
            elif candidate.source in entities:
                if entity_card(entities[candidate.source], chapter=request.chapter) == candidate.content:
                    found.add(candidate.id)
            elif candidate.source == candidate.id and self._stands(candidate):
                found.add(candidate.id)
        return found

    def _stands(self, candidate: Candidate) -> bool:
        """Whether a passage begins in the same paragraph of the same text, under the same title."""
        path, _, number = candidate.source.removeprefix("rag:passage:").rpartition("#")
        document = self._corpus.documents.get(path)
        if document is None or not number.isdecimal() or int(number) >= len(document.paragraphs):
            return False
        paragraph = document.paragraphs[int(number)]
        head, _, text = candidate.content.partition("\n")
        titles = {_head(title, f"{path}#{int(number)}") for title in (document.title, *paragraph.heading_path)}
        return head in titles and document.text.find(text, paragraph.start, paragraph.end + len(text)) >= 0


def _head(title: str, reference: str) -> str:
    return f"## 段落：{title}（{reference}）"


def _disputed(tables: CorpusTables, found: Found, chapter: int | None) -> list[Statement]:
    """Sentences that say different things about whom the question is about.

    Of what is asked, when the question is one of consistency or of something that can be compared (age, home, mark …);
    of anything, when consistency is asked in general, of those named or else of those in the chapters found.
    """
    asked = found.answer.understanding
    checks = "consistency" in asked.intents
    who = list(asked.entities[:_NAMED])
    if checks and not who:
        keys = [one.key for one in found.mixed if one.is_section]
        who = list(dict.fromkeys(entity for key in keys for entity in tables.sections[key].entities))[:_PRESENT]
    comparable = not set(ATTRIBUTES).isdisjoint(asked.concepts)
    said: list[Statement] = []
    for entity_id in who:
        if checks and asked.content and asked.entities:
            said += statements(tables, entity_id, asked.content, chapter=chapter, texts=_DISPUTED)
        wanted = checks and not (asked.content and asked.entities)
        if not wanted and not comparable:
            continue
        about = disputes(tables, entity_id, chapter=chapter)
        said += [one for one in about if wanted or set(one.attributes) & set(asked.concepts)]
    if asked.chapters:  # what they say, and what competes with that
        here = {one.reference for one in said if one.chapter in asked.chapters}
        said = [one for one in said if one.reference in here or here.intersection(one.competes_with)]
    return list({(one.path, one.span): one for one in said if one.competes_with}.values())


def _cards(tables: CorpusTables, found: Found, request: FetchRequest) -> Iterator[Candidate]:
    """Cards of entities that a relation word of the question leads to."""
    entities = {entity.id: entity for entity in found.known.entities} | tables.entities
    for entity_id, (factor, tie, word) in sorted({**found.people.related, **found.people.beyond}.items()):
        entity = entities[entity_id]
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
            group=heading("passages"),
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
        elif passage.path == request.document and abs(passage.start - request.cursor) < _NEAR:
            detail = "stands around the cursor"
            omitted.append(Omission(passage.source, "retrieved", passage.source, "duplicate", detail))
        else:
            kept.append((passage, terms))
            candidates.append(_candidate(passage, rivals, request))
    for statement in rivals:
        inside = any(p.path == statement.path and p.start <= statement.span[0] < p.end for p, _ in kept)
        if not inside:
            candidates.append(_statement(statement, request))
    return candidates, omitted


def _overlap(one: Passage, other: Passage) -> bool:
    return one.path == other.path and one.start < other.end and other.start < one.end


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one and other) and len(one & other) > _SAME * min(len(one), len(other))


def _candidate(passage: Passage, rivals: Sequence[Statement], request: FetchRequest) -> Candidate:
    head = _head(passage.title, passage.reference) + "\n"
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
        group=heading("passages"),
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
        score=BEST_SCORE,
        evidence=(Evidence("fulltext", f"competes with {', '.join(one.competes_with)}", one.path, one.span),),
        group=heading("passages"),
        documents=(one.path,),
        project_id=request.project_id,
    )
