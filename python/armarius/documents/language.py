"""Which language a project is written in, of those that a prompt can speak."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

from armarius.documents.document import Document
from armarius.headings import DEFAULT_LANGUAGE, Language

__all__ = ["language_of"]

_DOCUMENTS: Final = 24
_EACH: Final = 4_000  # code points
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f]{2,}")


def language_of(documents: Iterable[Document]) -> Language:
    """The language of most of what is written: English with more words than a third of the Chinese characters.

    Chapters decide, without any the other prose, without that the code. Nothing written is the default.

    Args:
        documents: Of a project, in path order.

    Cost: the beginnings of at most 24 documents, spread over all.
    """
    known = list(documents)
    chapters = [one for one in known if one.kind == "chapter"]
    prose = chapters or [one for one in known if one.kind != "code"] or known
    step = max(1, len(prose) // _DOCUMENTS)
    texts = [one.text[:_EACH] for one in islice(prose, 0, None, step)]
    han = sum(len(run) for text in texts for run in _HAN.findall(text))
    words = sum(len(_WORD.findall(text)) for text in texts)
    if not han and not words:
        return DEFAULT_LANGUAGE
    return "en" if words * 3 > han else "zh"
