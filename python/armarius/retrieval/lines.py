"""Lines of outlines as answers by themselves, for a request that asks for that kind of document.

Beside chapters a line of the outline is a reason for its chapter; who limits a request to outlines wants what they say.
"""

from collections.abc import Iterator

from armarius.hits import Hit
from armarius.records import Evidence
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.trace import Found

__all__ = ["lines"]

_BEHIND = 0.95  # of the score before, so that they stand behind what was found otherwise
_MANY = 1 << 12


def lines(tables: CorpusTables, found: Found, most: int) -> Iterator[Hit]:
    """At most so many paragraphs of outlines, best first, where the kinds of the request name those.

    Cost: linear in the paragraphs found; nothing without kinds.
    """
    ranked = found.ranked
    if "outline" not in tables.bounds.kinds or ranked.outcome == "nothing found":
        return
    score = min((hit.score for hit in found.answer), default=1.0)
    for one in ranked.scores.paragraphs(_MANY):
        document = tables.document(one.path)
        if document is None or document.kind != "outline":
            continue
        if most <= 0 or one.score <= 0:
            return
        paragraph = document.paragraphs[one.index]
        text = document.text[paragraph.start : paragraph.end]
        if not text.strip() or paragraph.role != "body":
            continue
        score, most = round(score * _BEHIND, 4), most - 1
        yield Hit(
            path=one.path,
            span=(paragraph.start, paragraph.end),
            heading=paragraph.heading_path,
            score=score,
            evidence=(Evidence("outline", f"worth {one.score:.3f}", one.path, (paragraph.start, paragraph.end)),),
            title=document.title,
            kind=document.kind,
            chapter=paragraph.chapter,
            paragraph=paragraph.index,
            role=paragraph.role,
            text=text,
        )
