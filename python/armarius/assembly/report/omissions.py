"""What was considered and is not in the prompt, and why: each with one reason of the closed list."""

from collections.abc import Iterator

from armarius.assembly.fit.plan import FittedPrompt, Plan
from armarius.assembly.fit.said import cards_of, said_by_card
from armarius.assembly.report.items import PackOmission, score_of
from armarius.records import LAYERS, OmitReason

__all__ = ["PASSAGE", "ROWS", "omissions", "unused"]

PASSAGE = "rag:passage:"
"""What the source of a paragraph on offer begins with."""
ROWS = "rag:passages"
"""The one omission that stands for every paragraph on offer that did not enter."""


def omissions(plan: Plan, fitted: FittedPrompt) -> tuple[PackOmission, ...]:
    """Everything left out, ordered by layer and source; paragraphs on offer that did not enter are one of them."""
    refused = [
        PackOmission(o.id, o.layer, o.source, o.reason, o.detail, aspect=o.aspect)
        for o in sorted(plan.admitted.omitted, key=lambda o: o.detail)
    ]
    left_out = [
        PackOmission(c.id, c.layer, c.source, "budget", f"{tokens} tokens did not fit", tokens, score_of(c), c.evidence)
        for c, tokens in fitted.left_out
    ]
    unused = sum(len(offer.rows) for offer in plan.admitted.offers) - fitted.entered
    if unused > 0:
        if fitted.capped is not None:
            why = f"did not enter: {_capped(fitted)}"
        else:
            why = f"are worth less than {fitted.line:.3f}" if fitted.line >= 0.001 else "say too little of the question"
        detail = f"{unused} more paragraphs {why}; explain() answers for each"
        left_out.append(PackOmission(ROWS, "retrieved", ROWS, "budget", detail))
    return tuple(sorted([*refused, *left_out], key=lambda o: (LAYERS.index(o.layer), o.source, o.id, o.reason)))


def _capped(fitted: FittedPrompt) -> str:
    return f"there is probably no answer, which may take {fitted.capped:,} tokens at most"


def unused(plan: Plan, fitted: FittedPrompt, wanted: str) -> Iterator[PackOmission]:
    """A paragraph that was on offer and did not enter: its worth, the line it missed, why.

    Args:
        plan: What the prompt was chosen from.
        fitted: The prompt.
        wanted: `path#number`; nothing is said of one that is in, nor of one that was not on offer.
    """
    path, _, number = wanted.rpartition("#")
    placed = fitted.rendered.placed
    if not number.isdecimal() or any(item.candidate.source == PASSAGE + wanted for item in placed):
        return
    for offer in plan.admitted.offers:
        row = offer.row(path, int(number))
        if row is None:
            continue
        worth, line = row.score, fitted.line
        shown = any(row.text and row.text in item.text for item in placed)
        detail = f"worth {worth:.3f}, the last one in is worth {line:.3f}"
        withheld = offer.withheld(row)
        reason: OmitReason
        if withheld is not None:
            reason, detail = withheld
        elif shown:
            reason, detail = "duplicate", "stands in the prompt already"
        elif (card := said_by_card(row, cards_of(placed))) is not None:
            reason, detail = "duplicate", f"said by its card, {card.candidate.source}"
        elif worth <= 0:
            reason, detail = "no match", "nothing speaks for it"
        elif all(one.source != row.source for one in offer.rows):
            reason, detail = "no match", f"worth {worth:.3f}: too little beside the best to be on offer"
        else:
            reason = "budget"
            if fitted.capped is not None:
                detail += f"; {_capped(fitted)}"
            elif worth >= line:
                detail += "; it was too long for the room that was left"
        yield PackOmission(row.source, "retrieved", row.source, reason, detail, 0, worth, offer.explain(row))
