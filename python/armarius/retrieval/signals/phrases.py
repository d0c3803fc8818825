"""Words as they stand in the files: quoted phrases of any words, and whether 第七卷 is a thing in the story."""

import re
from functools import lru_cache
from pathlib import PurePosixPath

from armarius.documents.document import Document
from armarius.documents.numerals import NUMERAL
from armarius.retrieval.corpus.tables import CorpusTables

__all__ = ["holding", "is_content", "occurs", "pattern_of"]


@lru_cache(maxsize=64)
def pattern_of(phrase: str) -> re.Pattern[str]:
    """Finds the phrase in any case, its words on one line or on two."""
    cased = phrase.lower() != phrase.upper()
    return re.compile(r"\s+".join(map(re.escape, phrase.split())), re.IGNORECASE if cased else 0)


def holding(tables: CorpusTables, phrase: str) -> dict[int, int]:
    """Key of each text that holds the phrase to how often.

    Cost: one pass over the texts, remembered until something changes.
    """
    key = ("phrase", phrase, None)
    if key not in tables.memo:
        found = {}
        for text in tables.texts.values():
            document = tables.document(text.path)
            if document is not None and text.blocks:
                pattern, small = _search(tables, document, phrase)
                count = sum(1 for _ in pattern.finditer(small, text.blocks[0].start, text.blocks[-1].end))
                if count:
                    found[text.key] = count
        tables.memo[key] = found
    return dict(tables.memo[key])


def occurs(tables: CorpusTables, phrase: str) -> bool:
    """Whether any document holds the phrase: a text, a setting, the outline; remembered until something changes."""
    if holding(tables, phrase):
        return True
    key = ("occurs", phrase, None)
    if key not in tables.memo:
        documents = [document for path in tables.paths if (document := tables.document(path)) is not None]
        searches = (_search(tables, document, phrase) for document in documents)
        tables.memo[key] = any(pattern.search(small) for pattern, small in searches)
    return bool(tables.memo[key])


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
