"""Retrieval: a question to the documents and sections that answer it, each with its reasons.

    understand -> subjects -> rank paragraphs -> order documents and sections -> reasons

Functions over a corpus, without a state of their own. Deterministic: the same project and question give the same answer
in every process. A corpus with a scope (`Corpus.within`) holds nothing of what lies outside.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarius.arguments import EVERYTHING, Bounds
from armarius.codex import Codex
from armarius.codex.model import GraphEntities
from armarius.corpus.story import plans_of
from armarius.errors import ArmariusError, ContextWarning, message_of
from armarius.headings import Reason
from armarius.io import without_paths
from armarius.search.corpus import NOTHING_OUTSIDE, Corpus, Outside
from armarius.search.explain import MatchHighlights, find_phrase, is_content, numbered_files, rarity, reasons
from armarius.search.hits import Outcome, Retrieval
from armarius.search.query.query import Subjects, Understanding, read_question
from armarius.search.query.recipe import understand
from armarius.search.rank import Meaning, Ranked, rank, wording_evidence
from armarius.search.scope import ProjectCorpus
from armarius.search.signals import SummaryIndex, Tell
from armarius.text.matcher import scan
from armarius.types import Evidence, Hit, Near, Omission, Recipe
from armarius.validation import whole
from armarius.warnings import CHAPTER_UNKNOWN, CHAPTER_UNWRITTEN, MEMORY_UNAVAILABLE, SCAN_FAILED

if TYPE_CHECKING:
    from armarius.graph.entity_cache import GraphGuard
    from armarius.search.models import VectorGuard
    from armarius.search.order import Ordered
    from armarius.search.query.relations import RelationIndex


@dataclass(frozen=True, slots=True)
class PassageResult:
    """One answer with everything that led to it, for passages and explanations."""

    answer: Retrieval
    people: Subjects
    ranked: Ranked
    ordered: Sequence["Ordered"]
    known: GraphEntities
    corpus: Corpus  # in which it was found: a wider one where nothing else answers


_BEHIND = 0.95  # of the score before, so that they stand behind what was found otherwise
_MANY = 1 << 12


def lines(corpus: Corpus, result: PassageResult, most: int) -> Iterator[Hit]:
    """At most so many paragraphs of outlines, best first, where the kinds of the request name those.

    Cost: linear in the paragraphs found; nothing without kinds.
    """
    ranked = result.ranked
    if "outline" not in corpus.scope.kinds or ranked.outcome == "nothing found":
        return
    score = min((hit.score for hit in result.answer), default=1.0)
    for path, index, worth in ranked.scores.paragraphs(_MANY):
        document = corpus.document(path)
        if document is None or document.kind != "outline":
            continue
        if most <= 0 or worth <= 0:
            return
        paragraph = document.paragraphs[index]
        text = document.text[paragraph.start : paragraph.end]
        if not text.strip() or paragraph.role != "body":
            continue
        score, most = round(score * _BEHIND, 4), most - 1
        yield Hit(
            path=path,
            span=(paragraph.start, paragraph.end),
            heading=paragraph.heading_path,
            score=score,
            evidence=(Evidence("outline", Reason("words.outline"), path, (paragraph.start, paragraph.end)),),
            title=document.title,
            kind=document.kind,
            chapter=paragraph.chapter,
            paragraph=paragraph.index,
            role=paragraph.role,
            text=text,
        )


_SCANNED = 20


def search_unread(
    root: Path, corpus: Corpus, phrases: Sequence[str], hits: Sequence[Hit], warnings: list[ContextWarning]
) -> list[Hit]:
    """Hits in files that the corpus lacks, one per file; what could not be looked for is added to `warnings`.

    Cost: one scan of the folder per phrase; none without phrases.
    """
    paths = {hit.path for hit in hits}
    result: list[Hit] = []
    for phrase in phrases:
        try:
            lines = scan(root, phrase, limit=_SCANNED)
        except (OSError, ValueError, ArmariusError) as error:
            warnings.append(SCAN_FAILED(phrase=phrase, error=without_paths(message_of(error))))
            continue
        for line in lines:
            if line.path not in paths and line.path not in corpus.outside.paths and corpus.document(line.path) is None:
                paths.add(line.path)
                evidence = Evidence(
                    "scan", Reason("words.scan", phrase=phrase, line=line.line), line.path, (line.start, line.end)
                )
                result.append(Hit(line.path, None, (), 0.0, (evidence,)))
    return result


_FILES_ALONE = GraphEntities()
_QUESTION = Recipe()
_WITHHELD = 10
_MOST_RELATION_INDEXES = 8
_SPAN = attrgetter("since", "until")


@dataclass(frozen=True, slots=True)
class Sources:
    """Where an answer may come from, other than the corpus; each may be absent.

    Attributes:
        root: The project folder, for phrases that no document holds; None never looks at files.
        vectors: Paragraphs near in meaning, when there is a model.
        graph: Where relation words lead, in addition to the files.
        summaries: What sums chapters up.
    """

    root: Path | None = None
    vectors: "VectorGuard | None" = None
    graph: "GraphGuard | None" = None
    summaries: SummaryIndex | None = None


_NOWHERE_ELSE = Sources()


def retrieve(
    project: ProjectCorpus,
    query: str,
    *,
    limit: int = 5,
    chapter: int | None = None,
    bounds: Bounds = EVERYTHING,
    also: Sequence[str] = (),
    sources: Sources = _NOWHERE_ELSE,
    outside: Outside = NOTHING_OUTSIDE,
) -> Retrieval:
    """The documents and sections that answer `query`, best first.

    Args:
        project: At one moment.
        query: The user's words.
        limit: At most so many hits, >= 0.
        chapter: The chapter the user is in: later ones are withheld unless the question names them.
        bounds: What may be found; as of a chapter, later ones are withheld even if the question names them.
        also: The question in other words.
        sources: Where else to look.
        outside: What is no candidate, as `armarius.search.scope` says.

    Raises:
        ContractError: `limit` is no number, or negative.

    Cost: about 3 ms on 120 chapters of a million characters in all; see benches/results.
    """
    limit = whole("limit", limit)
    if not project.ready:
        return Retrieval((), Understanding(query), "index not ready")
    graph = ask_graph(project, query, chapter=chapter, bounds=bounds, graph=sources.graph)
    with project.acquire(bounds, outside=outside) as corpus:
        result = find(
            corpus, query, understand(query), limit=limit, chapter=chapter, also=also, known=graph, sources=sources
        )
        corpus, answer = result.corpus, result.answer
        if len(answer) < limit and (more := list(lines(corpus, result, limit - len(answer)))):
            outcome: Outcome = "weak" if answer.outcome == "weak" else "found"
            sure = result.ranked.confidence
            answer = replace(answer, hits=(*answer.hits, *more), outcome=outcome, confidence=sure)
    return answer


def ask_graph(
    project: ProjectCorpus,
    query: str,
    *,
    chapter: int | None = None,
    bounds: Bounds = EVERYTHING,
    graph: "GraphGuard | None" = None,
) -> GraphEntities:
    """What a graph knows of a question about this project; for `find`. Waits for the graph, so hold no corpus open.

    Cost: the understanding of the question, and the graph when it names somebody and a relation.
    """
    if graph is None or not project.ready:
        return _FILES_ALONE
    with project.acquire(bounds) as corpus:
        steps = _steps(corpus, query, chapter)
    return graph.around(*steps) if steps else _FILES_ALONE


def find(
    corpus: Corpus,
    query: str,
    recipe: Recipe,
    *,
    limit: int = 5,
    chapter: int | None = None,
    also: Sequence[str] = (),
    known: GraphEntities = _FILES_ALONE,
    sources: Sources = _NOWHERE_ELSE,
    listed: bool = True,
) -> PassageResult:
    """`retrieve` over an open corpus, with what led to the answer; in the wider one where nothing in it answers.

    Without `listed` the answer has no hits, and documents are put in order only for a question of consistency, which
    needs the people named in them: for a prompt, which takes paragraphs. The order and the hits are a third of the
    cost.
    """
    laps = [("", time.perf_counter())]  # each stage with its end
    asking = None
    if sources.vectors is not None:
        asking = sources.vectors.begin(query)
    question = _understand_query(corpus, query, chapter, recipe)
    bounds = _narrow_bounds(corpus, question, chapter)
    laps.append(("understand", time.perf_counter()))
    people = _people(corpus, question, chapter, known)
    others = []
    for words in also:
        wording = _understand_query(corpus, words, chapter)
        others.append((wording, _related_factors(_people(corpus, wording, chapter, known))))
    laps.append(("people", time.perf_counter()))
    warnings = list(known.warnings)
    quotes = [find_phrase(corpus, phrase) for phrase in question.phrases]
    places = [(*place, rarity(len(quote), len(corpus.core))) for quote in quotes for place in quote]
    places += [(*place, 1.0) for place in numbered_files(corpus, question)]
    near: dict[int, Near] = {}

    def meaning() -> Meaning:
        """What is near, waited for once words have been looked up."""
        laps.append(("words", time.perf_counter()))
        answer = None if asking is None else asking(warnings)
        laps.append(("vectors", time.perf_counter()))
        if answer is None:
            return Meaning()
        from armarius.search.models import outliers  # where there is a model

        items = outliers(corpus, answer).items()
        near.update((key, item) for key, item in items if bounds.holds(corpus.kind_of(key), corpus.texts[key].number))
        alike = [(item.path, item.paragraph, item.similarity) for item in near.values() if not item.by_wording]
        return Meaning.of(answer, alike)

    summaries = _summaries(corpus, sources, warnings)
    ranked = rank(
        corpus,
        question,
        _related_factors(people),
        also=others,
        bounds=bounds,
        quoted=places,
        meaning=meaning,
        summaries=summaries,
    )
    if ranked.outcome == "weak":
        from armarius.search.contradictions.detect import is_stated  # a twentieth of all that a first prompt loads

        ranked = replace(ranked, stated=is_stated(corpus, question, people))
    laps.append(("search", time.perf_counter()))
    ordered: list[Ordered] = []
    if listed or question.consistency:
        from armarius.search.order import in_order  # of documents: a prompt ranks paragraphs

        ordered = in_order(corpus, question, people, ranked, bounds, limit, list(near))
    laps.append(("order", time.perf_counter()))
    hits = _hits(corpus, question, people, ranked, near, ordered) if listed else []
    if listed and sources.root is not None and len(hits) < limit and not bounds:
        hits += search_unread(sources.root, corpus, question.phrases, hits, warnings)[: limit - len(hits)]
    laps.append(("explain", time.perf_counter()))
    outcome: Outcome = "source failed" if warnings else "nothing found"
    if hits if listed else ranked.outcome != "nothing found":
        outcome = "weak" if ranked.is_faint else "found"
    unknown, sure = tuple(_unknown_chapters(corpus, question)), ranked.confidence
    if _asks_for_nothing(corpus, question, unknown):
        outcome, sure = "weak" if outcome == "found" else outcome, 0.0
    retrieval = Retrieval(
        hits=tuple(hits),
        understanding=question,
        outcome=outcome,
        omitted=(
            *_strange_wordings(ranked),
            *_excluded_chapters(corpus, question),
            *_withheld_texts(corpus.whole, ranked, bounds.as_of),
            *([Omission("graph", "retrieved", "kg:related", "source failed", known.failure)] if known.failure else ()),
        ),
        warnings=(*warnings, *unknown),
        also=tuple(also),
        stages={stage: (end - begin) * 1000 for (_, begin), (stage, end) in pairwise(laps)},
        confidence=sure if outcome in ("found", "weak") else 0.0,
    )
    result = PassageResult(retrieval, people, ranked, ordered, known, corpus)
    if corpus.wider is None or ranked.outcome == "found" or ranked.stated:
        return result
    again: dict[str, Any] = {"limit": limit, "chapter": chapter, "also": also, "known": known, "sources": sources}
    wider = find(corpus.wider(), query, recipe, **again, listed=listed)
    return wider if wider.ranked.outcome == "found" else result


def _summaries(corpus: Corpus, sources: Sources, warnings: list[ContextWarning]) -> Tell | None:
    """What sums chapters up; None without a source, or when it fails, with a warning."""
    try:
        return None if sources.summaries is None else sources.summaries.of(corpus)
    except Exception as error:  # noqa: BLE001 - no source failure may fail the call
        warnings.append(MEMORY_UNAVAILABLE(error=error))
        return None


def _people(corpus: Corpus, question: Understanding, chapter: int | None, graph: GraphEntities) -> Subjects:
    if not (question.entities and question.relations):
        return Subjects(question.entities, {})  # no relation word: the index is not needed
    from armarius.search.query.relations import subjects_of  # where a relation word is asked

    moment = _moment(corpus, chapter)
    index = _relation_index(corpus, moment)
    return subjects_of(corpus, index.with_graph(graph, chapter=moment) if graph.relations else index, question)


def _moment(corpus: Corpus, chapter: int | None) -> int | None:
    """The chapter at which relations are taken."""
    return chapter if corpus.scope.as_of is None else corpus.scope.as_of


def _related_factors(people: Subjects) -> Mapping[str, float]:
    return {entity: factor for entity, (factor, _, _) in people.related.items()}


def _narrow_bounds(corpus: Corpus, question: Understanding, chapter: int | None) -> Bounds:
    """Without the chapters that the question excludes, nor those after the current one but for those it names.

    As of a chapter, that one decides and not the current one. Where numbers begin again, the corpus is without what is
    later.
    """
    bounds = corpus.scope
    if question.excluded:
        bounds = replace(bounds, without=(*bounds.without, *question.excluded))
    if bounds.as_of is not None or chapter is None or not corpus.outside.counted:
        return bounds
    return replace(bounds, as_of=chapter, exceptions=tuple(number for number in question.chapters if number > chapter))


def _steps(corpus: Corpus, query: str, chapter: int | None) -> tuple[list[str], int, Codex] | None:
    """Entities to ask the graph about, how many steps, and the codex that is known; None: the graph is not asked."""
    question = _understand_query(corpus, query, chapter)
    if not question.entities or not question.relations:
        return None
    index = _relation_index(corpus, _moment(corpus, chapter))
    # A word of several steps may take the first of them in the files.
    starts = dict.fromkeys(question.entities)
    for path in {word.path[:end] for word in question.relations for end in range(1, len(word.path))}:
        starts |= dict.fromkeys(edge.other for id_ in question.entities for edge, _ in index.walk(id_, path))
    depth = max(1, *(len(word.path) for word in question.relations))
    return sorted(starts), depth, corpus.codex


def _relation_index(corpus: Corpus, chapter: int | None) -> "RelationIndex":
    from armarius.search.query.relations import RelationIndex

    # Only relations that begin or end somewhere depend on the chapter.
    dated = not {None}.issuperset(chain.from_iterable(map(_SPAN, corpus.codex.relations)))
    at = chapter if dated else None
    index: RelationIndex | None = corpus.sections_memo.get(("relations", at))
    if index is None:
        if len(corpus.sections_memo) > _MOST_RELATION_INDEXES:
            corpus.sections_memo.clear()
        index = corpus.sections_memo["relations", at] = RelationIndex(
            corpus, chapter=at, chapters=corpus.scope.chapters
        )
    return index


def _understand_query(corpus: Corpus, query: str, chapter: int | None, recipe: Recipe = _QUESTION) -> Understanding:
    question = read_question(
        query,
        matcher=corpus.matcher,
        recipe=recipe,
        chapters=corpus.chapter_numbers,
        current=chapter,
        is_content=partial(is_content, corpus),
        beyond=corpus.whole.chapter_numbers if corpus.scope else (),
    )
    absent = [f"“{phrase}” occurs in no document" for phrase in question.phrases if not find_phrase(corpus, phrase)]
    return replace(question, remarks=(*question.remarks, *absent)) if absent else question


def _hits(
    corpus: Corpus,
    question: Understanding,
    people: Subjects,
    ranked: Ranked,
    near: Mapping[int, Near],
    ordered: Sequence["Ordered"],
) -> list[Hit]:
    """Each with its reasons."""
    by_wording = wording_evidence(corpus, ranked) if ranked.also and ordered else {}
    hits, highlights = [], MatchHighlights(corpus, question, ranked, people.related)
    for rated in ordered:
        text = None if rated.is_section else corpus.texts[rated.key]
        place = corpus.sections[rated.key] if text is None else text
        document, also = corpus.document(place.path), by_wording.get(rated.key)
        why = reasons(corpus, question, people, ranked, near, rated, highlights, document, also)
        title, kind = ("", "") if document is None else (document.title, document.kind)
        heading, chapter = (place.section,) if place.section else (), None if text is None else text.number
        span, score = (place.start, place.end), round(rated.score, 4)
        hits.append(Hit(place.path, span, heading, score, why, title=title, kind=kind, chapter=chapter))
    return hits


def _strange_wordings(ranked: Ranked) -> Iterator[Omission]:
    """Other wordings that count for nothing."""
    for at, (wording, missing) in enumerate(ranked.strange):
        code = "out.wording_words" if missing else "out.wording"
        source = f"request:also:{at}"
        yield Omission(source, "retrieved", source, "no match", Reason(code, wording=wording, words=missing))


def _excluded_chapters(corpus: Corpus, question: Understanding) -> Iterator[Omission]:
    """Chapters that the question names and the request leaves out."""
    for number in question.chapters:
        why = corpus.scope.leaves_out("chapter", number)
        if why is not None:
            reason, detail = why
            source = f"request:chapter:{number}"
            yield Omission(source, "retrieved", source, reason, Reason("out.named", reason=detail))


def _unknown_chapters(corpus: Corpus, question: Understanding) -> Iterator[ContextWarning]:
    """Chapters that the question names, or that the request is limited to, and that there are not."""
    if (strange := corpus.scope.mismatch(corpus.whole.chapter_numbers)) is not None:
        yield CHAPTER_UNKNOWN(what=strange)
    if not question.unknown:
        return
    recipe, numbers = question.recipe, corpus.whole.chapter_numbers
    written = {*numbers}
    unwritten = [number for number in recipe.chapters if number not in written]
    if recipe.next and numbers:
        unwritten.append(numbers[-1] + 1)
    plans = _chapter_plans(corpus, unwritten, recipe.volume)
    if not unwritten or not ("target" in recipe.parts or all(plans.values())):
        for remark in question.unknown:
            yield CHAPTER_UNKNOWN(what=remark)
        return
    there = f"the chapters are {numbers[0]} to {numbers[-1]}" if numbers else "there are no chapters"
    for number, path in plans.items():
        yield CHAPTER_UNWRITTEN(number=number, planned=f"{path} plans it" if path else f"no outline has it; {there}")


def _asks_for_nothing(corpus: Corpus, question: Understanding, unknown: Sequence[ContextWarning]) -> bool:
    """Whether a question is about chapters that there are not, and about nothing else."""
    if not question.unknown or all(warning.code != CHAPTER_UNKNOWN.code for warning in unknown):
        return False
    exists = not {*corpus.whole.chapter_numbers}.isdisjoint(question.chapters)
    return not (exists or question.entities or question.phrases or question.terms)


def _chapter_plans(corpus: Corpus, numbers: Sequence[int], volume: int | None) -> dict[int, str]:
    """The outline that has each chapter, first one that has it alone; "" for none."""
    result = {}
    for number, plans in plans_of(corpus.outlines, corpus.map, numbers, volume).items():
        seen = plans if corpus.scope.leaves_out("outline", number) is None else ()
        result[number] = min(((plan.ranged, plan.path) for plan in seen), default=(False, ""))[1]
    return result


def _withheld_texts(corpus: Corpus, ranked: Ranked, chapter: int | None) -> list[Omission]:
    """Texts that lie after what may be known and would have been found, likeliest first."""
    later = [] if chapter is None or ranked.outcome == "nothing found" else ranked.scores.withheld(4 * _WITHHELD)
    keys = corpus.units(ranked.core).texts if later else []
    texts = [corpus.texts[key] for unit in later if (key := keys[unit.number]) is not None][:_WITHHELD]
    return [
        Omission(
            f"text:{text.path}", "retrieved", text.path, "timeline",
            Reason("out.later", chapter=text.number, moment=chapter),
        )
        for text in texts
        if chapter is not None and text.number is not None and text.number > chapter
    ]  # fmt: skip
