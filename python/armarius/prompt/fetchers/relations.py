"""Relations as text: `kg:relation:<source>-<target>`, for a question that asks what people are to each other.

    [知识图谱 — 关系]
    - 林默 —兄妹→ 林小雨
    - 林渡 —养父女→ 白鹭（第4章起）

Each reads from source to target, in the user's own words, on one line.
"""

from collections.abc import Iterable, Mapping, Sequence

from armarius.codex import Codex, Entity, Relation
from armarius.codex.cards import holds, one_line, span_label
from armarius.headings import DEFAULT_LANGUAGE, Language, Reason, frame, heading
from armarius.search.corpus import Corpus
from armarius.search.query.words import ANY
from armarius.search.retrieve import FoundPassages
from armarius.types import Candidate, Evidence, Fetched, FetchRequest, Omission, OmitReason, Wish

_SHOWN = ("always", "when_detected")
_MOST = 16  # pairs; somebody with more relations is asked about more narrowly
_BETWEEN = 1.0  # both ends are named in the question: before passages, with the cards of those named
_TOUCHING = 0.96  # before passages still


def relations_asked(corpus: Corpus, found: FoundPassages, request: FetchRequest) -> Fetched:
    """The stated relations that a question with relation words is about, one candidate for each pair of ends.

    Between entities that it names; between those and the ones its words lead to; of one, if relations of any kind are
    asked for, all; of several, also what ties them to the same third. What holds in another chapter is omitted
    with the reason timeline, what touches an entity that the request mutes or its level keeps back with that reason.

    Cost: linear in the relations of the project; nothing without a name and a relation word.
    """
    asked = found.answer.understanding
    if not asked.relations or not asked.entities:
        return Fetched()
    entities = {entity.id: entity for entity in found.known.entities} | corpus.entities
    relations = [
        relation
        for relation in (*corpus.codex.relations, *found.known.relations)
        if relation.source in entities and relation.target in entities
    ]
    wishes = {wish.key: wish for wish in request.wishes if wish.kind in ("entity", "asked")}
    named, reached = set(asked.entities), set(found.people.related) | set(found.people.external)
    if any(word.path == ANY for word in asked.relations):
        reached |= _tied(relations, named)
    inner = named | reached if any(len(word.path) > 1 for word in asked.relations) else named
    offered: dict[tuple[str, str], list[Relation]] = {}
    omitted: list[Omission] = []
    for relation in relations:
        ends = {relation.source, relation.target}
        if not (ends <= named | reached and ends & inner):
            continue
        hidden = [why for end in sorted(ends) if (why := _withheld(entities[end], wishes.get(end))) is not None]
        source = relation_source(relation)
        if hidden:
            omitted.append(Omission(source, "retrieved", source, *hidden[0], one_line(relation.type)))
        elif not holds(relation, request.moment, request.chapters):
            detail = Reason("out.when", when=span_label(relation, request.language))
            omitted.append(Omission(source, "retrieved", source, "timeline", detail, one_line(relation.type)))
        else:
            offered.setdefault((relation.source, relation.target), []).append(relation)
    words = tuple(dict.fromkeys(word.word for word in asked.relations))
    candidates = [_candidate(pair, entities, named, words, request) for pair in offered.values()]
    candidates.sort(key=lambda one: (-one.score, one.source))
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
    return {one.id for one in mine if texts.get(one.source) == one.content}


def relation_text(
    relations: Iterable[Relation], entities: Mapping[str, Entity], language: Language = DEFAULT_LANGUAGE
) -> str:
    """One line per relation, sorted; nothing in a name or a type can begin a line or pose as another arrow."""
    dated = frame(language).dated
    lines = {
        f"- {_part(entities[one.source].name)} —{_part(one.type)}→ {_part(entities[one.target].name)}"
        + (dated.format(when=label) if (label := span_label(one, language)) else "")
        for one in relations
    }
    return "\n".join(sorted(lines))


def _tied(relations: Sequence[Relation], named: set[str]) -> set[str]:
    """Who is tied to the one that is named, or to two at least of several."""
    ties: dict[str, set[str]] = {}
    for relation in relations:
        for end, other in ((relation.source, relation.target), (relation.target, relation.source)):
            if end in named and other not in named:
                ties.setdefault(other, set()).add(end)
    return {other for other, ends in ties.items() if len(ends) >= min(2, len(named))}


def _candidate(
    pair: Sequence[Relation],
    entities: Mapping[str, Entity],
    named: set[str],
    words: tuple[str, ...],
    request: FetchRequest,
) -> Candidate:
    first = pair[0]
    ends = (entities[first.source], entities[first.target])
    paths = [one.origin.path for one in pair if one.origin is not None]
    # What a graph of the user's own says is in no file, so that no file's stamp can vouch for it.
    paths = [*paths, *(origin.path for entity in ends for origin in entity.origins)] if len(paths) == len(pair) else []
    return Candidate(
        id=relation_source(first),
        layer="retrieved",
        source=relation_source(first),
        content=relation_text(pair, entities, request.language),
        score=_BETWEEN if {first.source, first.target} <= named else _TOUCHING,
        evidence=tuple(
            Evidence("relation", Reason("relation", words=words, said=one_line(one.type)), path)
            for one, path in ((one, "" if one.origin is None else one.origin.path) for one in pair)
        ),
        group=heading("relations", request.language),
        documents=tuple(dict.fromkeys(paths)),
        project_id=request.project_id,
    )


def relation_source(relation: Relation) -> str:
    """The source, and so the id, of the candidate that states a relation."""
    return f"kg:relation:{relation.source}-{relation.target}"


def _withheld(entity: Entity, wish: Wish | None) -> tuple[OmitReason, str] | None:
    """Why a prompt may not speak of an entity; None when it may."""
    if wish is not None:
        return (wish.reason, wish.why) if wish.mute else None
    return None if entity.level in _SHOWN else ("level", Reason(f"level.{entity.level}"))


def _part(text: str) -> str:
    return one_line(text).replace("→", "›")
