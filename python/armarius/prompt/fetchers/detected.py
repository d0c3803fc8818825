"""Cards of the entities that the query and the text around the cursor name; when a mention counts as presence."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import attrgetter, is_
from typing import Final

from armarius._core import Speech
from armarius.codex.model import CONTEXT_LEVELS, Entity
from armarius.headings import Reason
from armarius.prompt.fetchers.entities import Cards, EntitySource, card_candidate, list_entities
from armarius.prompt.fetchers.layers import withheld_facts
from armarius.text.matcher import EntityMatcher, Mention
from armarius.types import Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission
from armarius.validation import cleaned
from armarius.warnings import ENTITY_MATCH_FAILED, KG_UNAVAILABLE

# Cards of the scene in one prompt, by weight.
MOST: Final = 6
# Code points from the cursor within which a name is near.
_NEAR: Final = 600
_WEIGHT_PER_MENTION: Final = 0.1
_MOST_MENTIONS: Final = 9
# Weights of an entity: named near the cursor, speaking.
_NEARBY, _SPEAKS = 1.0, 0.5
_ENOUGH: Final = 0.3  # less is a name in passing: twice in the window, never near, never speaking


def find_present(
    text: str, cursor: int, matcher: EntityMatcher
) -> tuple[dict[str, Mention], dict[str, int], dict[str, float], dict[str, str]]:
    """Who is named in a window, as the core reads it in one pass.

    Args:
        text: The window.
        cursor: Where the cursor is in it, in code points.
        matcher: Of the project's names.

    Returns:
        By id the first mention, how many there are, the weight from the window alone (0.1 to 2.4); and for entities
        named only inside a longer name, that name.

    Cost: two searches; an object for each entity and none for each mention.
    """
    named, hidden = matcher.scene(text, (cursor - _NEAR, cursor + _NEAR), _speech())
    firsts, counts, weight = {}, {}, {}
    for mention, count, near, speaks in named:
        id_ = mention.entity_id
        firsts[id_], counts[id_] = mention, count
        weight[id_] = round(min(count, _MOST_MENTIONS) * _WEIGHT_PER_MENTION + (_NEARBY * near + _SPEAKS * speaks), 3)
    return firsts, counts, weight, {id_: Reason("out.shadowed", term=term, by=by) for id_, term, by in hidden}


@cache
def _speech() -> Speech:
    from armarius.codex.people import letters, words  # of a window with names

    return Speech("".join(sorted(letters("han", "speech"))), sorted(words("latin", "speech")))


# Code points of each text that are searched; what lies beyond is listed as not searched.
MAX_SEARCHED = 262_144
# Code points before and after the cursor in which mentions count.
AROUND_CURSOR = 3_000
# More entities than this share one "no match" line.
_LISTED_APART = 2_000
# The user's words decide over the selection, the selection over what happens to stand around the cursor.
_SCORES = {"query": 1.0, "input": 0.8, "cursor": 0.5}
_PER_MENTION = 0.01
_MENTIONS_COUNTED = 9
_PER_WEIGHT = 0.1  # of the scene, at most 2.4: still below what is selected


@dataclass(frozen=True, slots=True)
class _Text:
    """A piece that is searched: where it comes from, and where it begins in the document."""

    origin: str
    text: str
    base: int = 0


@dataclass(frozen=True, slots=True)
class _NamesInText:
    """What the matcher found in a text: where each entity stands first, how often, its weight in the scene.

    `shadowed` are entities that stand inside longer names; it may hold some that the text also names on their own.
    """

    text: _Text
    firsts: Mapping[str, Mention]
    counts: Mapping[str, int]
    present: Mapping[str, float]
    shadowed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _BuiltMatcher:
    """A matcher and what was listed when it was built; `absent` is empty when there are too many to list apart."""

    groups: tuple[tuple[Entity, ...], ...]
    matcher: EntityMatcher
    by_id: dict[str, Entity]
    absent: dict[str, Omission]
    detectable: int

    def read(self, text: _Text, cursor: int) -> _NamesInText:
        """What is named in `text`; the user's own words are read as a question. Cost: two searches."""
        if text.origin != "query":
            return _NamesInText(text, *find_present(text.text, cursor - text.base, self.matcher))
        mentions = self.matcher.find_in_question(text.text)
        ids = [mention.entity_id for mention in mentions]
        firsts = dict(zip(reversed(ids), reversed(mentions), strict=True))
        shadowed = {
            item.entity_id: Reason("out.shadowed", term=item.term, by=item.by)
            for item in self.matcher.explain(text.text)
            if item.reason == "shadowed"
        }
        return _NamesInText(text, firsts, Counter(ids), {}, shadowed)


class RetrievedFetcher:
    """Entities with the level `when_detected` that are mentioned, as `codex:detected:<id>`.

    Searched are the query, the additional input and, when the request names a document, the text around the cursor;
    the evidence says which. Every entity in the user's words or in the selection has a card; of those named around the
    cursor alone the at most `MOST` that matter most to the scene (`scene`), the others are listed as `excluded`. With
    nothing to search the source is not asked and the matcher not called. Entities of other levels are never injected
    here; those mentioned are listed with the reason `level` when `report_levels` asks the source for them too, which
    also lets their longer names shadow shorter ones.

    Args:
        source: Lists entities.
        matcher: From entities to a matcher of their names.
        report_levels: List all levels, not only `when_detected`.
        around: Code points before and after the cursor that are searched; 0 searches none.
    """

    name = "retrieved"
    layer: LayerName = "retrieved"
    inline = True

    def __init__(
        self,
        source: EntitySource,
        *,
        matcher: Callable[[Sequence[Entity]], EntityMatcher] = EntityMatcher,
        report_levels: bool = False,
        around: int = AROUND_CURSOR,
    ) -> None:
        self._source = source
        self._build = matcher
        self._levels = CONTEXT_LEVELS if report_levels else ("when_detected",)
        self._around = around
        self._built: _BuiltMatcher | None = None
        self._cards = Cards()
        self._lock = threading.Lock()

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """The cards of the entities that are mentioned, best first.

        A failing list is `KG_UNAVAILABLE`, a failing matcher `ENTITY_MATCH_FAILED`; both without candidates.

        Cost: one search per text, then linear in what was found; the matcher is rebuilt only when the entities change.
        """
        texts, omitted = self._texts(request)
        if not texts:
            return Fetched(omitted=tuple(omitted))
        try:
            listed = [list_entities(self._source, request.project_id, level) for level in self._levels]
        except Exception as error:  # noqa: BLE001 - no source failure may fail the call
            omitted.append(Omission("entities", "retrieved", "codex:detected", "source failed", str(error)))
            return Fetched(omitted=tuple(omitted), warnings=(KG_UNAVAILABLE(),))
        for fault in chain.from_iterable(map(attrgetter("faults"), listed)):
            omitted.append(Omission(fault, "retrieved", "codex:detected", "source failed", fault))
        groups = tuple(map(attrgetter("entities"), listed))
        try:
            built = self._matcher(groups)
            reads = [built.read(text, request.cursor) for text in texts]
        except Exception as error:  # noqa: BLE001
            omitted.append(Omission("matcher", "retrieved", "codex:detected", "source failed", str(error)))
            return Fetched(omitted=tuple(omitted), warnings=(ENTITY_MATCH_FAILED(),))
        return self._answer(request, built, reads, omitted)

    def confirm(self, candidates: Sequence[Candidate], request: FetchRequest, /) -> set[str]:
        """The ids of the `candidates` that have the same card today; errors of the source are raised.

        Cost: one card per candidate with a changed entity or chapter.
        """
        mine = [candidate for candidate in candidates if candidate.source.startswith("codex:detected:")]
        if not mine:
            return set()
        listed = list_entities(self._source, request.project_id, "when_detected").entities
        by_id = {f"entity:{entity.id}": entity for entity in listed if entity.level == "when_detected"}
        return {
            candidate.id
            for candidate in mine
            if candidate.id in by_id
            and self._cards.of(by_id[candidate.id], request) == (candidate.content, candidate.short)
        }

    def _texts(self, request: FetchRequest) -> tuple[list[_Text], list[Omission]]:
        start = max(0, request.cursor - self._around)
        end = request.cursor + self._around
        end = end if request.chapter_end is None else min(end, request.chapter_end)
        around = request.text[start:end] if self._around > 0 else ""
        pieces = [
            _Text("query", request.question),
            _Text("input", request.additional_input),
            _Text("cursor", around, start),
        ]
        texts, omitted = [], []
        for piece in pieces:
            if not piece.text.strip():
                continue
            if len(piece.text) > MAX_SEARCHED:
                detail = Reason("out.searched", most=MAX_SEARCHED, length=len(piece.text))
                omitted.append(Omission(f"detection:{piece.origin}", "retrieved", "codex:detected", "excluded", detail))
            texts.append(_Text(piece.origin, cleaned(piece.text[:MAX_SEARCHED]), piece.base))
        return texts, omitted

    def _matcher(self, groups: tuple[tuple[Entity, ...], ...]) -> _BuiltMatcher:
        with self._lock:
            built = self._built
        if built is not None and (all(map(is_, built.groups, groups)) or built.groups == groups):
            return built
        entities = [entity for group in groups for entity in group]
        by_id = {entity.id: entity for entity in reversed(entities)}
        detectable = [entity for entity in by_id.values() if entity.level == "when_detected"]
        absent = {
            entity.id: Omission(f"entity:{entity.id}", "retrieved", f"codex:detected:{entity.id}", "no match")
            for entity in (detectable if len(detectable) <= _LISTED_APART else ())
        }
        built = _BuiltMatcher(groups, self._build(entities), by_id, absent, len(detectable))
        with self._lock:
            self._built = built
        return built

    def _answer(
        self,
        request: FetchRequest,
        built: _BuiltMatcher,
        reads: list[_NamesInText],
        omitted: list[Omission],
    ) -> Fetched:
        scores: dict[str, float] = {}
        shadowed: dict[str, str] = {}
        for read in reads:
            for id_, count in read.counts.items():
                score = _SCORES[read.text.origin] + _PER_MENTION * min(count, _MENTIONS_COUNTED)
                scores[id_] = max(score, scores.get(id_, 0.0))
            shadowed |= read.shadowed
        passing, weight = _passing_mentions(built, reads)
        if "ending" in request.recipe.parts:  # nobody is asked about: who matters to the scene comes first
            scores |= {id_: _SCORES["cursor"] + _PER_WEIGHT * value for id_, value in weight.items()}
        candidates: list[Candidate] = []
        named = sorted((scores.keys() | shadowed.keys()) & built.by_id.keys())
        for id_ in named:
            entity = built.by_id[id_]
            source = f"codex:detected:{entity.id}"
            if entity.id not in scores:
                by = shadowed[entity.id]
                omitted.append(Omission(f"entity:{entity.id}", "retrieved", source, "shadowed", by))
            elif entity.level != "when_detected":
                omitted.append(
                    Omission(f"entity:{entity.id}", "retrieved", source, "level", Reason(f"level.{entity.level}"))
                )
            elif entity.id in passing:
                omitted.append(Omission(f"entity:{entity.id}", "retrieved", source, "excluded", passing[entity.id]))
            elif entity.origins and not (entity.description or entity.attributes or entity.aliases or entity.facts):
                omitted.append(Omission(f"entity:{entity.id}", "retrieved", source, "excluded", Reason("out.bare")))
            else:
                why = list[Evidence]()
                for read in reads:
                    if (first := read.firsts.get(id_)) is not None:  # where each text that names somebody does so first
                        why.append(_evidence(read.text, first, request, built.matcher))
                card = self._cards.of(entity, request)
                candidates.append(card_candidate(entity, request, source, scores[entity.id], tuple(why), card))
                if entity.facts or entity.overruled:
                    omitted += withheld_facts(entity, source, "retrieved", request)
        omitted += [omission for id_, omission in built.absent.items() if id_ not in scores and id_ not in shadowed]
        if not built.absent and built.detectable:
            detail = Reason("out.many", count=built.detectable - len(candidates))
            omitted.append(Omission("entity:*", "retrieved", "codex:detected", "no match", detail))
        candidates.sort(key=attrgetter("score"), reverse=True)  # stable: they are in the order of their ids
        return Fetched(tuple(candidates), tuple(omitted))


def _passing_mentions(built: _BuiltMatcher, reads: list[_NamesInText]) -> tuple[dict[str, Reason], dict[str, float]]:
    """Of entities named around the cursor alone: those without a card, with the reason; and the weight of each."""
    targets = {id_ for read in reads if read.text.origin != "cursor" for id_ in read.counts}
    weight: dict[str, float] = {}
    for read in reads:
        if read.text.origin == "cursor":
            weight = {id_: value if value >= _ENOUGH else 0.0 for id_, value in read.present.items()}
    mine = {id_: value for id_, value in weight.items() if id_ not in targets and id_ in built.by_id}
    rivals = [id_ for id_ in mine if mine[id_] and built.by_id[id_].level == "when_detected"]
    first = sorted(sorted(rivals), key=mine.__getitem__, reverse=True)[:MOST]
    passing = {
        id_: Reason("out.scene", most=MOST) if mine[id_] else Reason("out.passing") for id_ in mine if id_ not in first
    }
    return passing, mine


def _evidence(text: _Text, mention: Mention, request: FetchRequest, matcher: EntityMatcher) -> Evidence:
    path = request.document if text.origin == "cursor" else ""
    span = (text.base + mention.start, text.base + mention.end)
    short = matcher.derived(mention.entity_id, mention.term)
    term = mention.term if short is None else short.said(mention.term)
    return Evidence("mention", Reason(f"mention.{text.origin}", term=term), path, span)
