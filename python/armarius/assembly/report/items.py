"""What a pack says of each thing considered: it is in, or it is out, and why."""

from dataclasses import dataclass

from armarius.assembly.admit import QUERY_SOURCE
from armarius.assembly.fit.plan import FittedPrompt, Plan
from armarius.assembly.render import Form
from armarius.assembly.report.places import Texts, shown
from armarius.records import (
    Candidate,
    Evidence,
    LayerName,
    OmitReason,
)

__all__ = ["Difference", "Explanation", "PackItem", "PackOmission", "items_of", "score_of"]


def score_of(candidate: Candidate) -> float | None:
    """The score that ranked a candidate; None for the query, which is in every prompt and competes with nothing."""
    return None if candidate.source == QUERY_SOURCE else candidate.score


@dataclass(frozen=True, slots=True)
class PackItem:
    """Something that is in the prompt.

    Attributes:
        score: Against others of its layer; None for the query, which is always in.
        tokens: What it costs, the line breaks after it included.
        form: `full`, `short`, or `truncated`.
        span: Where its text stands in the prompt, code points, half-open.
        part: Which code points of its content were kept when truncated.
        shows: Path and code points of the document or buffer that it shows word for word; None for what is no stretch
            of a document, such as a card.
    """

    id: str
    layer: LayerName
    source: str
    score: float | None
    tokens: int
    evidence: tuple[Evidence, ...]
    form: Form
    span: tuple[int, int]
    part: tuple[int, int] | None = None
    group: str = ""
    documents: tuple[str, ...] = ()
    shows: tuple[str, int, int] | None = None


@dataclass(frozen=True, slots=True)
class PackOmission:
    """Something that was considered and is not in the prompt, with one reason of the closed list.

    `tokens` is what it would have cost where that was known, else 0. `aspect` says in plain words which part of the
    source is meant when the rest of it may be in: one fact of a card.
    """

    id: str
    layer: LayerName
    source: str
    reason: OmitReason
    detail: str = ""
    tokens: int = 0
    score: float | None = 0.0
    evidence: tuple[Evidence, ...] = ()
    aspect: str = ""

    @property
    def label(self) -> str:
        """The source, and which part of it."""
        return f"{self.source} · {self.aspect}" if self.aspect else self.source


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why something is in the prompt or is not; `str()` is a sentence.

    `about` says how much of a document is in, or with what else a paragraph is; else it is "".
    """

    id: str
    included: bool
    items: tuple[PackItem, ...]
    omitted: tuple[PackOmission, ...]
    about: str = ""

    def __str__(self) -> str:
        lines = [self.about] if self.about else []
        for item in self.items:
            why = "; ".join(f"{e.kind}: {e.detail}" for e in item.evidence) or "offered without evidence"
            lines.append(f"{item.source} is in {item.layer} ({item.form}, {item.tokens} tokens): {why}")
        for gone in self.omitted:
            detail = f" ({gone.detail})" if gone.detail else ""
            what = f"the {gone.aspect} of {gone.source}" if gone.aspect else gone.source
            lines.append(f"{what} was left out of {gone.layer}: {gone.reason}{detail}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from another pack to this one; entries are sources, in prompt order.

    Attributes:
        added: Only in this one.
        removed: Only in the other.
        reshaped: In both, in another form: whole, short, or cut.
        changed: In both, and says something else: its source does, or another piece of it is shown.
        tokens: How many more this prompt has.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    reshaped: tuple[str, ...]
    changed: tuple[str, ...]
    tokens: int


def items_of(plan: Plan, fitted: FittedPrompt, texts: Texts) -> tuple[PackItem, ...]:
    """The items of a fitted prompt, in prompt order. Cost: a look-up and a record for each."""
    rendered = fitted.rendered
    tokens = plan.measured.sections([item.text for item in rendered.placed])
    return tuple(
        PackItem(
            id=item.candidate.id,
            layer=item.candidate.layer,
            source=item.candidate.source,
            score=score_of(item.candidate),
            tokens=cost,
            evidence=item.candidate.evidence,
            form=item.form,
            span=span,
            part=item.part,
            group=item.candidate.group,
            documents=item.candidate.documents,
            shows=shown(item, texts, plan.admitted.groups),
        )
        for item, span, cost in zip(rendered.placed, rendered.spans, tokens, strict=True)
    )
