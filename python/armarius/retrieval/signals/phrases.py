"""Words as they stand in the files: quoted phrases of any words, and whether 第七卷 is a thing in the story."""

import re
from functools import lru_cache
from pathlib import PurePosixPath

from armarius.documents.document import Document
from armarius.documents.numerals import NUMERAL
from armarius.retrieval.corpus.tables import CorpusTables

__all__ = ["is_content", "occurs", "pattern_of", "quoted"]

_KEPT = 64
_PHRASES = ("phrases", "", None)


@lru_cache(maxsize=64)
def pattern_of(phrase: str) -> re.Pattern[str]:
    """Finds the phrase in any case, its words on one line or on two."""
    cased = phrase.lower() != phrase.upper()
    return re.compile(r"\s+".join(map(re.escape, phrase.split())), re.IGNORECASE if cased else 0)


def quoted(tables: CorpusTables, phrase: str) -> tuple[tuple[str, int], ...]:
    """Path and position of every paragraph that the phrase begins in, in any document.

    Cost: one pass over the project; the last 64 phrases are remembered until something changes.
    """
    known: dict[str, tuple[tuple[str, int], ...]] = tables.memo.setdefault(_PHRASES, {})
    places = known.pop(phrase, None)
    if places is None:
        places = tuple(_places(tables, phrase))
        if len(known) >= _KEPT:
            del known[next(iter(known))]
    known[phrase] = places  # the last one asked for is forgotten last
    return places


def _places(tables: CorpusTables, phrase: str) -> dict[tuple[str, int], None]:
    found: dict[tuple[str, int], None] = {}
    for path in tables.paths:
        document = tables.document(path)
        if document is not None:
            pattern, small = _search(tables, document, phrase)
            for match in pattern.finditer(small):
                at = tables.paragraph_at(path, match.start())
                if at is not None:
                    found[path, at] = None
    return found


def occurs(tables: CorpusTables, phrase: str) -> bool:
    """Whether any document holds the phrase: a text, a setting, the outline."""
    return bool(quoted(tables, phrase))


def _search(tables: CorpusTables, document: Document, phrase: str) -> tuple[re.Pattern[str], str]:
    """What to look for, and where: in small letters, made once, rather than folding case in every search."""
    key = ("small letters", document.path, None)
    if key not in tables.memo:
        tables.memo[key] = document.text.lower()
    small = tables.memo[key]
    if len(small) != len(document.text):  # İ has two small letters: places would be off
        return pattern_of(phrase), document.text
    return _plain(phrase.lower()), small


@lru_cache(maxsize=64)
def _plain(phrase: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, phrase.split())))


def is_content(tables: CorpusTables, words: str) -> bool:
    """Whether 第七卷 is a thing that the story speaks of, in a book that is not itself divided into such units."""
    unit = re.escape(words.strip()[-1:])
    divided = re.compile(rf"第\s*{NUMERAL}\s*{unit}|^{unit}\s*{NUMERAL}")
    documents = [document for document in map(tables.document, tables.paths) if document is not None]
    for document in documents:
        headings = {heading for paragraph in document.paragraphs for heading in paragraph.heading_path}
        if any(map(divided.search, PurePosixPath(document.path).parts)) or any(
            map(divided.match, (document.title, *headings))
        ):
            return False
    return any(words in document.text for document in documents)
