"""Checks, escapes, deduplicates and orders the candidates of all fetchers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from operator import attrgetter
from typing import Final

from armarius.errors import ContextWarning
from armarius.headings import Reason
from armarius.prompt.escape import OURS, SHORT, doubtful, escape, escape_short, group_heading, offsets_after, trimmed
from armarius.prompt.fetch import FetchOutcome
from armarius.types import LAYER_INDEX, LAYERS, Candidate, LayerName, Omission, OmitReason, PassageStream
from armarius.warnings import CONTEXT_SCOPE_VIOLATION

QUERY_SOURCE: Final = "request:query"
"""Of the user's words, which are in every prompt."""

_REST = attrgetter("source", "id", "content", "group", "anchor", "together", "documents")
_MANY = 512  # candidates: of fewer, what each becomes is remembered


@dataclass(frozen=True, slots=True)
class Admitted:
    """Candidates in canonical order, and what was refused. Independent of the order of the answers.

    `omitted` is in no order until somebody looks at it (`report.omissions`): most packs are never asked. `groups` are
    the headings that are not our own, as no text of the prompt may pose as one either; `offers` are what may fill the
    room that the candidates leave; `confidence` is that of the fetcher that is surest.
    """

    candidates: tuple[Candidate, ...]
    omitted: tuple[Omission, ...]
    warnings: tuple[tuple[LayerName, ContextWarning], ...]
    groups: tuple[str, ...] = ()
    offers: tuple[PassageStream, ...] = ()
    confidence: float | None = None


def admit(answers: Iterable[FetchOutcome], project_id: str, *, staying: Iterable[Candidate] = ()) -> Admitted:
    """Check every candidate and bring all into one order.

    A candidate of another project, an empty one and a duplicate (same id in its layer, or the same content
    anywhere) are refused and listed; what has a core, a selection, is nobody's duplicate. Content is escaped
    before anything is counted.

    Args:
        answers: One per fetcher, in any order.
        project_id: The project of the request.
        staying: Of the previous prompt, taken in before: their headings may stand in this one too.

    Cost: one pass over the text of all candidates.
    """
    answers = list(answers)
    omitted: list[Omission] = []
    warnings: set[tuple[LayerName, ContextWarning]] = set()
    offered: list[Candidate] = []
    for answer in answers:
        omitted += answer.fetched.omitted
        warnings.update(zip(repeat(answer.layer), answer.fetched.warnings))
        for candidate in answer.fetched.candidates:
            if candidate.project_id and candidate.project_id != project_id:
                detail = Reason("out.project", project=candidate.project_id)
                omitted.append(_omission(candidate, "excluded", detail))
                refused = CONTEXT_SCOPE_VIOLATION(fetcher=answer.name, source=candidate.source)
                warnings.add((candidate.layer, refused))
            else:
                offered.append(candidate)
    groups = tuple(sorted(_headings([*offered, *staying]) - OURS - {""}))
    return Admitted(
        tuple(_drop_duplicates(_sort_candidates(_clean_candidates(offered, groups)), omitted)),
        tuple(omitted),
        tuple(sorted(warnings, key=lambda w: (LAYER_INDEX[w[0]], w[1].code, w[1].message))),
        groups,
        tuple([answer.fetched.offer for answer in answers if answer.fetched.offer is not None]),
        max([sure for answer in answers if (sure := answer.fetched.confidence) is not None], default=None),
    )


def canonical(candidate: Candidate) -> tuple[object, ...]:
    """The one order of candidates, whichever fetcher answered first."""
    twins = candidate.short or "", candidate.keep or ""  # of which one must be the one kept
    return LAYER_INDEX[candidate.layer], not candidate.pinned, -candidate.score, *_REST(candidate), *twins


def _sort_candidates(candidates: list[Candidate]) -> list[Candidate]:
    """By `canonical`, of which score, source and id are enough where no two of a layer have one id."""
    if len({(item.layer, item.id) for item in candidates}) < len(candidates):
        return sorted(candidates, key=canonical)
    ordered = sorted(candidates, key=attrgetter("source", "id"))
    ordered.sort(key=attrgetter("score"), reverse=True)
    ordered.sort(key=attrgetter("pinned"), reverse=True)
    return [item for layer in LAYER_INDEX for item in ordered if item.layer == layer]


def _drop_duplicates(ordered: list[Candidate], omitted: list[Omission]) -> list[Candidate]:
    """Those with something to say that none before them says; the others are added to `omitted`."""
    everything = {item.content for item in ordered}
    if len(everything) == len(ordered) == len({(item.layer, item.id) for item in ordered}) and "" not in everything:
        return ordered
    kept: list[Candidate] = []
    ids: dict[LayerName, dict[str, Candidate]] = {layer: {} for layer in LAYERS}
    contents: dict[str, Candidate] = {}
    for candidate in ordered:
        content, mine, id_ = candidate.content, ids[candidate.layer], candidate.id
        if not content:
            omitted.append(_omission(candidate, "excluded", Reason("out.empty")))
            continue
        if (id_ in mine or content in contents) and candidate.core is None:
            twin = mine.get(id_) or contents[content]
            omitted.append(_omission(candidate, "duplicate", Reason("out.twin", source=twin.source)))
            continue
        mine[id_] = contents[content] = candidate
        kept.append(candidate)
    return kept


def _omission(candidate: Candidate, reason: OmitReason, detail: str) -> Omission:
    return Omission(candidate.id, candidate.layer, candidate.source, reason, detail)


def _headings(candidates: Sequence[Candidate]) -> set[str]:
    """The headings that `candidates` stand under; most of thousands share one."""
    headings = {group_heading(group) for group in {c.group for c in candidates if c.source != QUERY_SOURCE} if group}
    of_request = {item.group for item in candidates if item.source == QUERY_SOURCE and item.group}
    return headings.union([group_heading(group, of_request=True) for group in of_request])


def _clean_candidates(candidates: Sequence[Candidate], groups: tuple[str, ...]) -> list[Candidate]:
    """Each as it may stand in a prompt; most are returned unchanged after a few checks."""
    if len(candidates) > _MANY:
        doubts = doubtful([item.content for item in candidates], groups)
    else:  # that `escape` remembers
        doubts = set()
        for at, item in enumerate(candidates):
            harmless = (escape_short if len(item.content) <= SHORT else escape)(item.content, groups)
            if harmless != item.content:
                doubts.add(at)
    steady = {group for group in {item.group for item in candidates} if not group or group_heading(group) == group}
    return [
        item
        if (
            place not in doubts
            and ((short := item.short) is None or (short and short.strip() == short == escape(short, groups)))
            and not item.marks
            and item.group in steady
            and 0 <= item.anchor <= len(item.content)
            and type(item.score) is float
            and item.score == item.score  # no NaN
            and item.content.strip() == item.content
        )
        else _clean_candidate(item, groups)
        for place, item in enumerate(candidates)
    ]


def _clean_candidate(candidate: Candidate, groups: tuple[str, ...]) -> Candidate:
    content, anchor = candidate.content, candidate.anchor
    core, marks = candidate.core, candidate.marks
    harmless = escape(content, groups)
    if harmless is not content and (anchor or core or marks):
        ends = core or (0, 0)
        anchor, *places = offsets_after(content, groups, (max(anchor, 0), *ends, *(offset for offset, _ in marks)))
        core = core and (places[0], places[1])
        marks = tuple((place, mark) for place, (_, mark) in zip(places[2:], marks, strict=True))
    as_it_is = not marks and harmless.strip() == harmless
    first, last = (0, len(harmless)) if as_it_is else trimmed(harmless, marks)
    if first or last < len(harmless):
        anchor -= first
        core = core and (max(core[0] - first, 0), min(core[1], last) - first)
        marks = tuple((offset - first, mark) for offset, mark in marks)
    stripped = harmless[first:last] if first or last < len(harmless) else harmless
    short = None if candidate.short is None else escape(candidate.short, groups).strip() or None
    group, score = candidate.group, float(candidate.score)
    group = group and group_heading(group, of_request=candidate.source == QUERY_SOURCE)
    if (
        stripped == content
        and short == candidate.short
        and group == candidate.group
        and 0 <= anchor <= len(content)
        and not math.isnan(score)
    ):
        return candidate
    return replace(
        candidate,
        content=stripped,
        anchor=min(max(anchor, 0), len(stripped)),
        short=short,
        group=group,
        score=-math.inf if math.isnan(score) else score,
        core=core,
        marks=marks,
    )
