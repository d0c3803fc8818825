"""Retrieved items that stay in the prompt although nothing names them any more.

Dropping an item changes everything after it, so a provider's cache loses the rest of the prompt. An
item of the previous prompt therefore stays while it is still true: same project, document and chapter, and every
file it was read from unchanged. It stays only in room nobody else wants: as soon as an item that was
asked for does not fit, or the stayers exceed their share of a prompt that is full, all of them go at once and the
prompt starts a new prefix.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from armarius.assembly.intake import Intake, canonical
from armarius.assembly.plan import HOLD_PERCENT, Fitted, Plan
from armarius.assembly.render import SEPARATOR
from armarius.fetchers.base import Candidate, Evidence

__all__ = ["PREVIOUS", "carry", "outgrown", "still_true"]

PREVIOUS = Evidence("previous", "in the previous prompt, and still true")
# Of the prompt's limit. Tuned on the replayed writing task of benches/bench_prefix.py.
_SHARE_PERCENT = 25
_SHARE_WHEN_CHANGING_PERCENT = 8


def still_true(candidates: tuple[Candidate, ...], then: Mapping[str, str], now: Mapping[str, str]) -> list[Candidate]:
    """Those of `candidates` whose every file has the stamp it had; what names no file is never sure."""
    return [
        candidate
        for candidate in candidates
        if candidate.documents and all(path in now and then.get(path) == now[path] for path in candidate.documents)
    ]


def carry(intake: Intake, stayers: list[Candidate]) -> Intake:
    """`intake` with the stayers that it does not offer itself."""
    offered = {(c.layer, c.id) for c in intake.candidates}
    contents = {c.content for c in intake.candidates}
    staying = {
        (c.layer, c.id): replace(c, pinned=False, evidence=(*(e for e in c.evidence if e != PREVIOUS), PREVIOUS))
        for c in stayers
        if (c.layer, c.id) not in offered and c.content not in contents
    }
    if not staying:
        return intake
    omitted = tuple(o for o in intake.omitted if (o.layer, o.id) not in staying or o.reason != "no match")
    candidates = sorted([*intake.candidates, *staying.values()], key=canonical)
    return Intake(tuple(candidates), omitted, intake.warnings)


def outgrown(plan: Plan, fitted: Fitted, limit: int) -> bool:
    """Whether holding on to the previous prompt costs more than a cache hit is worth.

    That is: the best new item did not fit, the layer fills its bound, or the prompt is full and the
    stayers take more than their share, which is smaller when a new item changes the prompt anyway.
    """
    placed = [item for item in fitted.rendered.placed if item.candidate.layer == "retrieved"]
    held = [item for item in placed if ("retrieved", item.candidate.id) in plan.previous.places]
    if not held:
        return False
    new = [item for item in placed if ("retrieved", item.candidate.id) not in plan.previous.places]
    left = [c.score for c, _ in fitted.left_out if c.layer == "retrieved" and PREVIOUS not in c.evidence]
    best = max((item.candidate.score for item in new if item.form == "full"), default=-math.inf)
    missed = max((*left, *(item.candidate.score for item in new if item.form != "full")), default=-math.inf) > best
    cost = dict(zip(map(id, placed), plan.measured.counts([item.text + SEPARATOR for item in placed]), strict=True))
    if missed or sum(cost.values()) * 100 > HOLD_PERCENT * limit:
        return True
    cramped = bool(fitted.left_out) or any(item.form != "full" for item in fitted.rendered.placed)
    stale = sum(cost[id(item)] for item in placed if PREVIOUS in item.candidate.evidence)
    share = _SHARE_WHEN_CHANGING_PERCENT if new else _SHARE_PERCENT
    return cramped and stale * 100 > share * limit
