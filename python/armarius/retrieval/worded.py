"""Where the other wordings of a question find most in a text: a reason beside those of the question itself."""

from armarius.records import Evidence
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.ranking import Ranked

__all__ = ["worded"]

_MANY = 256


def worded(tables: CorpusTables, ranked: Ranked) -> dict[int, Evidence]:
    """Key of each text that another wording finds to its best paragraph, of the wording that puts it highest.

    Cost: the postings of the wordings once more.
    """
    best: dict[int, tuple[float, Evidence]] = {}
    for wording, query in ranked.also:
        scores = ranked.corpus.score(query)
        for one in scores.paragraphs(_MANY):
            document = tables.document(one.path)
            if document is None or scores.best <= 0:
                continue
            paragraph = document.paragraphs[one.index]
            text = tables.text_at(one.path, paragraph.start)
            share = one.score / scores.best
            if text is not None and share > best.get(text.key, (0.0, None))[0]:
                detail = f"asked as “{wording}”: worth {one.score:.3f}"
                best[text.key] = (share, Evidence("fulltext", detail, one.path, (paragraph.start, paragraph.end)))
    return {key: evidence for key, (_, evidence) in best.items()}
