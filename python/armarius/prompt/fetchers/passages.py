"""Paragraphs that answer a question, cards of related entities, relations, and both sides of a contradiction.

A question that asks what people are to each other gets the relations as text, `kg:relation:<source>-<target>`, each
from source to target in the user's own words on one line:

    [知识图谱 — 关系]
    - 林默 —兄妹→ 林小雨
    - 林渡 —养父女→ 白鹭（第4章起）
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from armarius.codex import Codex, Entity, Relation
from armarius.codex.cards import Visible, holds, one_line, span_label
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.project_map import ProjectMap
from armarius.errors import ContextWarning
from armarius.headings import DEFAULT_LANGUAGE, HEADINGS, Language, Reason, frame
from armarius.index.source import EditorTexts
from armarius.prompt.fetchers.entities import card_candidate, card_of, relation_source
from armarius.prompt.fetchers.story import plan_of_chapter
from armarius.search.corpus import Corpus, Outside
from armarius.search.explain import MatchHighlights
from armarius.search.passages import FoundStretch, RankedPassages
from armarius.search.query.words import ANY
from armarius.search.rank import Ranked
from armarius.search.retrieve import PassageResult, Sources, ask_graph, find
from armarius.search.scope import FileScope, ProjectCorpus
from armarius.types import (
    PASSAGE,
    Candidate,
    Evidence,
    Fetched,
    FetchRequest,
    LayerName,
    Omission,
    OmitReason,
    PassageStream,
    Wish,
)
from armarius.validation import cleaned
from armarius.warnings import CHAPTER_UNKNOWN, INDEX_NOT_READY

if TYPE_CHECKING:
    from armarius.search.contradictions.statements import Statement
    from armarius.search.models import Reranking
    from armarius.search.reading import Reading

_NAMED = 2
_PRESENT = 4
_IN_CHAPTER = 6  # cards of those in a chapter that is checked
_DISPUTED = 3  # texts looked into for sentences that say different things
_HITS = 16  # passages come from the texts among them, at most five
_RELATED_SCORE = 0.9
_PRESENT_SCORE = 0.2  # below those that the window or the question names
_RIVAL_SCORE = 1.0
_STRETCHES = 64  # of plain search that are looked at
_TEXTS = ("document", "paragraph")  # kinds of wishes
_SHOWN = ("always", "when_detected")
_MOST = 16  # pairs; somebody with more relations is asked about more narrowly
_BETWEEN = 1.0  # both ends are named in the question: before passages, with the cards of those named
_TOUCHING = 0.96  # before passages still


class PassageFetcher:
    """What the project says about a question.

    `rag:passage:<path>#<n>`; where it has relation words also `kg:related:<id>` and `kg:relation:<source>-<target>`.

    Args:
        corpus: Of the view that the request sees.
        sources: Where else to look.
        files: Which documents are candidates; without it, all are.
        reranking: The reranker that orders the first paragraphs, if there is one.
        lives: Reads the open document where an editor is ahead of the project; without it, only as saved.
    """

    name = "passages"
    layer: LayerName = "retrieved"
    inline = True

    def __init__(
        self,
        corpus: ProjectCorpus,
        sources: Sources | None = None,
        *,
        files: FileScope | None = None,
        reranking: "Reranking | None" = None,
        lives: EditorTexts | None = None,
    ) -> None:
        self._corpus = corpus
        self._lives = lives
        self._files = FileScope(ProjectMap(), {}) if files is None else files
        self._sources = Sources() if sources is None else sources
        self._reranking = reranking

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """Passages and cards for the query, or for the selection when there is no query.

        Cost: one retrieval and the passages of at most five texts.
        """
        recipe, query = request.recipe, request.recipe.query
        if not (request.question.strip() or request.additional_input.strip()):
            return Fetched()
        if not self._corpus.ready:
            return Fetched(warnings=(INDEX_NOT_READY(),))
        if "passages" not in recipe.parts and "chapters" not in recipe.parts:
            return Fetched()
        goes_on = "ending" in recipe.parts
        asks = bool(request.query.strip()) and not (goes_on and recipe.bare)
        plan = plan_of_chapter(self._corpus.documents, self._corpus.map, request) if recipe.bare else ""
        alone, plan = bool(plan) and not goes_on, plan if goes_on else ""  # a question about a plan gets the plan
        sources = self._sources if query else replace(self._sources, vectors=None)
        wordings = (*request.also, plan) if plan else request.also
        bounds = request.bounds
        graph = ask_graph(self._corpus, query, chapter=request.chapter, bounds=bounds, graph=sources.graph)
        lives = self._lives if request.live and request.document else None  # the open document, ahead of the project
        live = None if lives is None else lives.read(request.document, request.text)
        documents = self._corpus.documents
        if live is not None:
            if sources.vectors is not None:
                sources = replace(sources, vectors=sources.vectors.with_live(documents.get(live.path), live))
            documents = {**documents, live.path: live}
        outside = self._outside_files(request, query, task="guessed" not in recipe.parts)
        with self._corpus.acquire(bounds, live, outside) as corpus:
            result = find(
                corpus,
                query,
                recipe,
                limit=_HITS,
                chapter=request.chapter,
                also=wordings,
                known=graph,
                sources=sources,
                listed=False,
            )
            corpus = result.corpus
            question = result.answer.understanding
            rivals = [_statement(row, request) for row in _find_disputes(corpus, result, request.moment)]
            reading = None
            if "chapters" in question.recipe.parts:
                from armarius.search.reading import reading_of

                reading = reading_of(corpus, question, self._open(documents, request), request.cursor)
            cards = [*_cards(corpus, result, request), *_present_cards(corpus, result, request, reading)]
            related = relations_asked(corpus, result, request)
            plain = _best_stretches(corpus, result, (query, *request.also)) if "plain" in recipe.parts else ()
        documents = Visible(documents, bounds) if bounds else documents
        open_document = (request.document, request.text)
        offer: PassageStream = RankedPassages(
            result.ranked, documents, question, request.chapter, open_document, bounds, request.language, reading,
            outside=corpus.outside, project_map=self._corpus.map, plan=plan, plain=plain,
            highlights=MatchHighlights(corpus, question, result.ranked, result.people.related),
        )  # fmt: skip
        warnings: Sequence[ContextWarning] = result.answer.warnings
        if recipe.scope == "scene" and reading is None and not request.document:
            warnings = [*warnings, CHAPTER_UNKNOWN(what=f"{query.strip()}: the current scene is not known")]
        if not request.query.strip():  # a selection that tells of a ninety-ninth chapter asks for none
            warnings = [warning for warning in warnings if warning.code != CHAPTER_UNKNOWN.code]
        if self._reranking is not None:
            offer, troubles = self._reranking.apply(offer, query)
            warnings = [*warnings, *troubles]
        omitted = [*result.answer.omitted, *related.omitted, *_unknown_words(result.ranked)]
        for why, many in self._files.summary(corpus.outside):
            source = f"request:{why.partition(':')[0]}"
            detail = Reason("out.hidden_many", count=many, reason=why)
            omitted.append(Omission(source, "retrieved", source, "excluded", detail))
        confidence = result.answer.confidence if asks else None
        if alone:
            return Fetched((), (), warnings, None, confidence)
        return Fetched((*related.candidates, *cards, *rivals), omitted, warnings, offer, confidence)

    def _outside_files(self, request: FetchRequest, query: str, *, task: bool) -> Outside:
        """The documents that are no candidates for the request."""
        pinned = [wish.key.partition("#")[0] for wish in request.wishes if not wish.mute and wish.kind in _TEXTS]
        return self._files.outside(query, document=request.document, kinds=request.kinds, pinned=pinned, task=task)

    def _open(self, documents: Mapping[str, Document], request: FetchRequest) -> Document | None:
        """The open document where it is of the story."""
        document = documents.get(request.document)
        return document if document is not None and document.kind in STORY_KINDS else None

    def confirm(self, candidates: Sequence[Candidate], request: FetchRequest, /) -> set[str]:
        """The ids of the `candidates` with an unchanged card or relation.

        Cost: one comparison per candidate; nothing is retrieved.
        """
        related = relations_confirmed(self._corpus.codex, candidates, request)
        entities = {f"kg:related:{entity.id}": entity for entity in self._corpus.codex.entities}
        ids = set()
        for candidate in candidates:
            entity = entities.get(candidate.source)
            same = entity is not None and card_of(entity, request) == candidate.content
            if same or candidate.id in related:
                ids.add(candidate.id)
        return ids


def _best_stretches(corpus: Corpus, result: PassageResult, wordings: Sequence[str]) -> list[FoundStretch]:
    """The best stretches of all texts for each wording, in turn."""
    core = (corpus.whole if corpus.wider is None else corpus.wider()).core
    best = [core.stretches(cleaned(wording), result.ranked.query, _STRETCHES) for wording in wordings]
    if len(best) == 1:
        return best[0]
    return list({item[:2]: item for turn in zip_longest(*best) for item in turn if item is not None}.values())


def _unknown_words(ranked: Ranked) -> list[Omission]:
    """The words of the question that occur nowhere, where they make the answer doubtful."""
    if ranked.outcome == "found" or ranked.stated or not ranked.missing:
        return []
    detail = Reason("out.words", words=ranked.missing)
    return [Omission("request:words", "retrieved", "request:words", "no match", detail)]


def _find_disputes(corpus: Corpus, result: PassageResult, chapter: int | None) -> "list[Statement]":
    """Sentences that contradict each other about the entities of the question.

    Of what is asked, when the question is one of consistency or of something that can be compared (age, home, mark …);
    of anything, when consistency is asked in general, of those named or else of those in the chapters found.
    """
    question = result.answer.understanding
    checks = question.consistency
    if not checks and not question.attributes:
        return []
    from armarius.search.contradictions.detect import disputes
    from armarius.search.contradictions.statements import statements
    from armarius.search.contradictions.values import ATTRIBUTES

    who = list(question.entities[:_NAMED])
    if checks and not who:
        keys = [hit.key for hit in result.ordered if hit.is_section]
        who = list(dict.fromkeys(entity for key in keys for entity in corpus.sections[key].entities))[:_PRESENT]
    comparable = not set(ATTRIBUTES).isdisjoint(question.attributes)
    rows: list[Statement] = []
    for entity_id in who:
        if checks and question.content and question.entities:
            rows += statements(corpus, entity_id, question.content, chapter=chapter, texts=_DISPUTED)
        wanted = checks and not (question.content and question.entities)
        if not wanted and not comparable:
            continue
        about = disputes(corpus, entity_id, chapter=chapter)
        rows += [row for row in about if wanted or set(row.attributes) & set(question.attributes)]
    if question.chapters:  # what they say, and what competes with that
        here = {row.reference for row in rows if row.chapter in question.chapters}
        rows = [row for row in rows if row.reference in here or here.intersection(row.competes_with)]
    return list({(row.path, row.span): row for row in rows if row.competes_with}.values())


def _cards(corpus: Corpus, result: PassageResult, request: FetchRequest) -> Iterator[Candidate]:
    """Cards of entities that a relation word of the question leads to."""
    entities = {entity.id: entity for entity in result.known.entities} | corpus.entities
    for entity_id, (factor, edge, word) in sorted({**result.people.related, **result.people.external}.items()):
        entity = entities[entity_id]
        if entity.level != "when_detected":
            continue
        why = Evidence("relation", Reason("relation.leads", word=word, name=entity.name, said=edge.said), edge.path)
        yield card_candidate(entity, request, f"kg:related:{entity_id}", _RELATED_SCORE * factor, (why,))


def _present_cards(
    corpus: Corpus, result: PassageResult, request: FetchRequest, reading: "Reading | None"
) -> Iterator[Candidate]:
    """Cards of the entities in what is read, or whose consistency is in question, most often named first."""
    question = result.answer.understanding
    counts: Mapping[str, int]
    if reading is not None:
        counts = reading.counts
    elif not question.consistency:
        return
    else:
        named: Counter[str] = Counter()
        for hit in result.ordered:
            if hit.how == "chapter":
                named.update(corpus.texts[hit.key].mentions)
        counts = dict(sorted(named.items(), key=lambda item: (-item[1], item[0]))[:_IN_CHAPTER])
    most = max(counts.values(), default=0)
    for entity_id, count in counts.items():
        entity = corpus.entities.get(entity_id)
        if entity is None or entity.level != "when_detected" or entity_id in question.entities:
            continue
        code = "mention.checked" if reading is None else reading.mention
        why = Evidence("mention", Reason(code, count=count))
        yield card_candidate(entity, request, f"kg:related:{entity_id}", _PRESENT_SCORE * count / most, (why,))


def _statement(row: "Statement", request: FetchRequest) -> Candidate:
    """A sentence that competes with another source, on its own, so that both sides stay in the pack."""
    source = f"{PASSAGE}{row.path}#{row.paragraph}"
    labels = frame(request.language)
    head = labels.dispute.format(place=f"{row.path}#{row.paragraph}", others=labels.and_.join(row.competes_with)) + "\n"
    return Candidate(
        id=f"{source}@{row.span[0]}",
        layer="retrieved",
        source=source,
        content=head + row.text,
        score=_RIVAL_SCORE,
        evidence=(Evidence("fulltext", Reason("words.competes", others=row.competes_with), row.path, row.span),),
        group=HEADINGS[request.language]["passages"],
        documents=(row.path,),
        project_id=request.project_id,
    )


def relations_asked(corpus: Corpus, result: PassageResult, request: FetchRequest) -> Fetched:
    """The stated relations that a question with relation words is about, one candidate for each pair of ends.

    Between entities that it names; between those and the ones its words lead to; of one, if relations of any kind are
    asked for, all; of several, also what ties them to the same third. What holds in another chapter is omitted
    with the reason timeline, what touches an entity that the request mutes or its level keeps back with that reason.

    Cost: linear in the relations of the project; nothing without a name and a relation word.
    """
    question = result.answer.understanding
    if not question.relations or not question.entities:
        return Fetched()
    entities = {entity.id: entity for entity in result.known.entities} | corpus.entities
    relations = [
        relation
        for relation in (*corpus.codex.relations, *result.known.relations)
        if relation.source in entities and relation.target in entities
    ]
    wishes = {wish.key: wish for wish in request.wishes if wish.kind in ("entity", "asked")}
    named, reached = set(question.entities), set(result.people.related) | set(result.people.external)
    if any(word.path == ANY for word in question.relations):
        reached |= _related_ids(relations, named)
    inner = named | reached if any(len(word.path) > 1 for word in question.relations) else named
    offered: dict[tuple[str, str], list[Relation]] = {}
    omitted: list[Omission] = []
    for relation in relations:
        ends = {relation.source, relation.target}
        if not (ends <= named | reached and ends & inner):
            continue
        hidden = [why for end in sorted(ends) if (why := _withheld_reason(entities[end], wishes.get(end))) is not None]
        source = relation_source(relation)
        if hidden:
            omitted.append(Omission(source, "retrieved", source, *hidden[0], one_line(relation.type)))
        elif not holds(relation, request.moment, request.chapters):
            detail = Reason("out.when", when=span_label(relation, request.language))
            omitted.append(Omission(source, "retrieved", source, "timeline", detail, one_line(relation.type)))
        else:
            offered.setdefault((relation.source, relation.target), []).append(relation)
    words = tuple(dict.fromkeys(word.word for word in question.relations))
    candidates = [_relation(pair, entities, named, words, request) for pair in offered.values()]
    candidates.sort(key=lambda candidate: (-candidate.score, candidate.source))
    beyond = Reason("out.relations", most=_MOST)
    omitted += [Omission(c.id, "retrieved", c.source, "excluded", beyond) for c in candidates[_MOST:]]
    return Fetched(tuple(candidates[:_MOST]), tuple(omitted))


def relations_confirmed(codex: Codex, candidates: Sequence[Candidate], request: FetchRequest) -> set[str]:
    """The ids of those `candidates` that are relations of `codex`, hold, may be shown and read the same.

    Cost: linear in the relations, when there is such a candidate; what a graph of the user's own says is not confirmed.
    """
    mine = [candidate for candidate in candidates if candidate.source.startswith("kg:relation:")]
    if not mine:
        return set()
    entities = {entity.id: entity for entity in codex.entities if entity.level in _SHOWN}
    now: dict[str, list[Relation]] = {}
    for relation in codex.relations:
        if (
            holds(relation, request.moment, request.chapters)
            and relation.source in entities
            and relation.target in entities
        ):
            now.setdefault(relation_source(relation), []).append(relation)
    texts = {source: relation_text(pair, entities, request.language) for source, pair in now.items()}
    return {candidate.id for candidate in mine if texts.get(candidate.source) == candidate.content}


def relation_text(
    relations: Iterable[Relation], entities: Mapping[str, Entity], language: Language = DEFAULT_LANGUAGE
) -> str:
    """One line per relation, sorted; nothing in a name or a type can begin a line or pose as another arrow."""
    dated = frame(language).dated
    lines = {
        f"- {_one_line(entities[arc.source].name)} —{_one_line(arc.type)}→ {_one_line(entities[arc.target].name)}"
        + (dated.format(when=label) if (label := span_label(arc, language)) else "")
        for arc in relations
    }
    return "\n".join(sorted(lines))


def _related_ids(relations: Sequence[Relation], named: set[str]) -> set[str]:
    """Who is tied to the one that is named, or to two at least of several."""
    ties: dict[str, set[str]] = {}
    for relation in relations:
        for end, other in ((relation.source, relation.target), (relation.target, relation.source)):
            if end in named and other not in named:
                ties.setdefault(other, set()).add(end)
    return {other for other, ends in ties.items() if len(ends) >= min(2, len(named))}


def _relation(
    pair: Sequence[Relation],
    entities: Mapping[str, Entity],
    named: set[str],
    words: tuple[str, ...],
    request: FetchRequest,
) -> Candidate:
    first = pair[0]
    ends = (entities[first.source], entities[first.target])
    paths = [arc.origin.path for arc in pair if arc.origin is not None]
    # What a graph of the user's own says is in no file, so that no file's stamp can vouch for it.
    paths = [*paths, *(origin.path for entity in ends for origin in entity.origins)] if len(paths) == len(pair) else []
    return Candidate(
        id=relation_source(first),
        layer="retrieved",
        source=relation_source(first),
        content=relation_text(pair, entities, request.language),
        score=_BETWEEN if {first.source, first.target} <= named else _TOUCHING,
        evidence=tuple(
            Evidence("relation", Reason("relation", words=words, said=one_line(arc.type)), path)
            for arc, path in ((arc, "" if arc.origin is None else arc.origin.path) for arc in pair)
        ),
        group=HEADINGS[request.language]["relations"],
        documents=tuple(dict.fromkeys(paths)),
        project_id=request.project_id,
    )


def _withheld_reason(entity: Entity, wish: Wish | None) -> tuple[OmitReason, str] | None:
    """Why a prompt may not speak of an entity; None when it may."""
    if wish is not None:
        return (wish.reason, wish.why) if wish.mute else None
    return None if entity.level in _SHOWN else ("level", Reason(f"level.{entity.level}"))


def _one_line(text: str) -> str:
    return one_line(text).replace("→", "›")
