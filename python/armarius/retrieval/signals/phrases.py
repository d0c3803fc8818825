"""Words as they stand in the files: quoted phrases of any words, and whether 第七卷 is a thing in the story."""

import re
from functools import lru_cache
from pathlib import PurePosixPath

from armarius.documents.document import Document
from armarius.documents.numerals import NUMERAL
from armarius.retrieval.corpus.corpus import Library

__all__ = ["holding", "is_content", "occurs", "pattern_of"]


@lru_cache(maxsize=64)
def pattern_of(phrase: str) -> re.Pattern[str]:
    """Finds the phrase in any case, its words on one line or on two."""
    cased = phrase.lower() != phrase.upper()
    return re.compile(r"\s+".join(map(re.escape, phrase.split())), re.IGNORECASE if cased else 0)


def holding(library: Library, phrase: str) -> dict[int, int]:
    """Key of each text that holds the phrase to how often.

    Cost: one pass over the texts, remembered until something changes.
    """
    key = ("phrase", phrase, None)
    if key not in library.memo:
        found = {}
        for text in library.texts.values():
            document = library.document(text.path)
            if document is not None and text.blocks:
                pattern, small = _search(library, document, phrase)
                count = sum(1 for _ in pattern.finditer(small, text.blocks[0].start, text.blocks[-1].end))
                if count:
                    found[text.key] = count
        library.memo[key] = found
    return dict(library.memo[key])


def occurs(library: Library, phrase: str) -> bool:
    """Whether any document holds the phrase: a text, a setting, the outline; remembered until something changes."""
    if holding(library, phrase):
        return True
    key = ("occurs", phrase, None)
    if key not in library.memo:
        documents = [document for path in library.paths if (document := library.document(path)) is not None]
        searches = (_search(library, document, phrase) for document in documents)
        library.memo[key] = any(pattern.search(small) for pattern, small in searches)
    return bool(library.memo[key])


def _search(library: Library, document: Document, phrase: str) -> tuple[re.Pattern[str], str]:
    """What to look for, and where: in small letters, made once, rather than folding case in every search."""
    key = ("small letters", document.path, None)
    if key not in library.memo:
        library.memo[key] = document.text.lower()
    small = library.memo[key]
    if len(small) != len(document.text):  # İ has two small letters: places would be off
        return pattern_of(phrase), document.text
    return _plain(phrase.lower()), small


@lru_cache(maxsize=64)
def _plain(phrase: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, phrase.split())))


def is_content(library: Library, words: str) -> bool:
    """Whether 第七卷 is a thing that the story speaks of, in a book that is not itself divided into such units."""
    unit = re.escape(words.strip()[-1:])
    divided = re.compile(rf"第\s*{NUMERAL}\s*{unit}|^{unit}\s*{NUMERAL}")
    documents = [document for document in map(library.document, library.paths) if document is not None]
    for document in documents:
        headings = {heading for paragraph in document.paragraphs for heading in paragraph.heading_path}
        if any(map(divided.search, PurePosixPath(document.path).parts)) or any(
            map(divided.match, (document.title, *headings))
        ):
            return False
    return any(words in document.text for document in documents)
