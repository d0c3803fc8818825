"""The text behind a hit: a section whole, of a document the paragraphs that its evidence points at."""

from collections.abc import Sequence

from armarius.codex.visible import tidy
from armarius.documents.document import Document
from armarius.documents.segments import Paragraph
from armarius.hits import Hit

__all__ = ["excerpt"]

# Code points that an excerpt of a document has at least: in a dialogue a paragraph is a line, and the answer stands in
# the next one.
_LEAST = 400
_GAP = "……"


def excerpt(document: Document, hit: Hit, *, is_part: bool = False) -> str:
    """What `hit` found in `document`, of which a bounded request may see a part (`armarius.codex.visible`).

    Args:
        document: As it may be seen.
        hit: Of it.
        is_part: Whether something of it is blanked.

    Returns:
        A section's text; of a document the paragraphs that evidence with a span stands in, in document order, or the
        first one when no evidence has a span, of a paragraph itself; with what follows and precedes them until there
        are about 400 code points.
        Paragraphs are joined by blank lines, with an ellipsis between those that do not follow each other.

    Cost: one pass over the document's paragraphs.
    """
    paragraphs = document.paragraphs
    if hit.paragraph is None and hit.section:
        chosen = {at for at, paragraph in enumerate(paragraphs) if hit.section in paragraph.heading_path}
    else:
        spans = [reason.span for reason in hit.evidence if reason.span is not None and reason.path in ("", hit.path)]
        if hit.paragraph is not None:
            spans = [(hit.start, hit.end)]
        chosen = {
            at
            for at, paragraph in enumerate(paragraphs)
            if any(start < paragraph.end and paragraph.start < end for start, end in spans)
        }
        chosen = _grown(paragraphs, chosen or set(range(min(1, len(paragraphs)))))
    parts: list[str] = []
    chosen = {at for at in chosen if document.text[paragraphs[at].start : paragraphs[at].end].strip()}
    for at in sorted(chosen):
        if parts and at - 1 not in chosen:
            parts.append(_GAP)
        text = document.text[paragraphs[at].start : paragraphs[at].end]
        parts.append(tidy(text) if is_part else text)
    return "\n\n".join(parts)


def _grown(paragraphs: Sequence[Paragraph], chosen: set[int]) -> set[int]:
    """`chosen` and what stands next to it, what follows before what precedes, until it is long enough."""
    chosen = set(chosen)
    length = sum(paragraphs[at].end - paragraphs[at].start for at in chosen)
    while length < _LEAST:
        after = {at + 1 for at in chosen} - chosen
        before = {at - 1 for at in chosen} - chosen
        beside = [at for at in (*sorted(after), *sorted(before)) if 0 <= at < len(paragraphs)]
        if not beside:
            break
        for at in beside:
            if length < _LEAST:
                chosen.add(at)
                length += paragraphs[at].end - paragraphs[at].start
    return chosen
