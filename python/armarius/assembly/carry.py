"""Retrieved items that stay in the prompt although nothing names them any more.

Dropping an item changes everything after it, so a provider's cache loses the rest of the prompt. An
item of the previous prompt therefore stays while it is still true: same project, document and chapter, and every
file it was read from unchanged. It stays only in room nobody else wants: as soon as an item that was
asked for does not fit, or the stayers exceed their share, all of them go at once and the prompt starts a new prefix.
"""

from collections.abc import Mapping
from dataclasses import replace

from armarius.assembly.counting import Measured
from armarius.assembly.intake import Intake, canonical
from armarius.assembly.plan import Fitted
from armarius.assembly.render import SEPARATOR
from armarius.fetchers.base import Candidate, Evidence

__all__ = ["PREVIOUS", "carry", "outgrown", "still_true"]

PREVIOUS = Evidence("previous", "in the previous prompt, and still true")
# Of the prompt's limit; a compromise between cache hits and room for what is asked for.
_SHARE_PERCENT = 12


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


def outgrown(fitted: Fitted, measured: Measured, limit: int) -> bool:
    """Whether the stayers of a fitted prompt take room that others want."""
    stayers = [item for item in fitted.rendered.placed if PREVIOUS in item.candidate.evidence]
    if not stayers:
        return False
    wanted = any(c.layer == "retrieved" and PREVIOUS not in c.evidence for c, _ in fitted.left_out)
    shortened = any(
        item.form != "full" and item.candidate.layer == "retrieved" and PREVIOUS not in item.candidate.evidence
        for item in fitted.rendered.placed
    )
    tokens = sum(measured.counts([item.text + SEPARATOR for item in stayers]))
    return wanted or shortened or tokens * 100 > _SHARE_PERCENT * limit
