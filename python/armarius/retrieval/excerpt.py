"""The text behind a hit: a section whole, of a document the paragraphs that its evidence points at."""

from armarius.project.documents import Document
from armarius.retrieval.hits import Hit

__all__ = ["excerpt"]

_OPENING_PARAGRAPHS = 3


def excerpt(document: Document, hit: Hit) -> str:
    """What `hit` found in `document`.

    Returns:
        A section's text; else the paragraphs that evidence with a span stands in, in document order, or
        the first paragraphs when no evidence has one. Paragraphs are joined by blank lines.

    Cost: one pass over the document's paragraphs.
    """
    if hit.section:
        chosen = [paragraph for paragraph in document.paragraphs if hit.section in paragraph.heading_path]
    else:
        spans = [reason.span for reason in hit.evidence if reason.span is not None and reason.path in ("", hit.path)]
        chosen = [
            paragraph
            for paragraph in document.paragraphs
            if any(start < paragraph.end and paragraph.start < end for start, end in spans)
        ] or list(document.paragraphs[:_OPENING_PARAGRAPHS])
    return "\n\n".join(document.text[paragraph.start : paragraph.end] for paragraph in chosen)
