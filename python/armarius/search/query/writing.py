"""Which chapters a request is to write, or asks the plan of: 写第202章, 写下一章, "draft chapter 12"."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, NamedTuple

from armarius.documents.numerals import CHAPTER_WORDS, volume_number
from armarius.lexicon import word_file
from armarius.search.query.chapters import chapter_references


class ChaptersMeant(NamedTuple):
    """What a request says about chapters to be written.

    Attributes:
        numbers: Those it names, ascending runs as written; of a request to write, those alone.
        volume: The volume it names, or None.
        writes: It is to write them, or with `next` the chapter after the open or the last one.
        plans: It speaks of a plan.
        next: It names the next chapter.
    """

    numbers: tuple[int, ...] = ()
    volume: int | None = None
    writes: bool = False
    plans: bool = False
    next: bool = False


_NONE = ChaptersMeant()
_OF_CHAPTERS = re.compile(rf"[章回话話장화회]|ch\b|chap|{CHAPTER_WORDS}", re.IGNORECASE)
_FILLER = "up|out|the|a|an|my|our|full|whole|text|of|draft|for|scene|rest|prose"
_NEXT = r"(?:下\s*一?\s*[章回话話]|(?:the\s+)?next\s+chapter\b)"


@lru_cache(maxsize=64)
def chapters_meant(query: str) -> ChaptersMeant:
    """Read a request. Cost: one search where it has no word for a chapter, else as `chapter_references`."""
    if _OF_CHAPTERS.search(query) is None:
        return _NONE
    verb, behind, next_, plans = _patterns()
    meant = [
        one
        for one in chapter_references(query)
        if one.numbers and not one.excluded and _OF_CHAPTERS.search(query[one.start : one.end])
    ]
    speaks = plans.search(query) is not None
    volume = volume_number(query) if meant else None
    for one in meant:
        if verb.search(query, 0, one.start) or behind.match(query, one.end):
            return ChaptersMeant(one.numbers, volume, writes=True, plans=speaks)
    if not meant and next_.search(query):
        return ChaptersMeant(writes=True, plans=speaks, next=True)
    numbers = tuple(dict.fromkeys(number for one in meant for number in one.numbers))
    return ChaptersMeant(numbers, volume, plans=speaks)


@cache
def _data() -> dict[str, Any]:
    return word_file("continuing")


def _either(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """A verb before a chapter's number, one behind it, the next chapter, words of a plan."""
    han, latin, before = (
        _either(str(_data()[name]).split()) for name in ("writes", "writes_latin", "writes_latin_before")
    )
    planned = str(_data()["plans"]).split()
    unspaced = _either(word for word in planned if not word.isascii())
    spaced = _either(word for word in planned if word.isascii())
    written = rf"(?<![描抄听])(?:{han})(?:一下|一写|出|好|完|下)?(?:小说|正文|故事)?(?:的|第\S{{1,4}}卷的?)?\s*"
    said = rf"(?:^|[.,;:!?—-]\s*|\b(?:{before})\s+)(?:{latin})\s+(?:(?:{_FILLER})\s+){{0,4}}"
    return (
        re.compile(rf"(?:{written}|{said})\Z", re.IGNORECASE),
        re.compile(
            r"\s*[，,]?\s*的?(?:正文|内容)?[，,]?\s*"
            r"(?:(?:续|扩|重|改)写|起草|写(?:出来|完|好|一下|吧|$|[，。！,.!]))(?![了没得])"
        ),
        re.compile(rf"(?:{written}|{said}){_NEXT}|^\s*{_NEXT}\s*[.!。！吧]*\s*$", re.IGNORECASE),
        re.compile(rf"{unspaced}|\b(?:{spaced})\b", re.IGNORECASE),
    )
