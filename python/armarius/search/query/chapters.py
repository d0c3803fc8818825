"""Which chapters a question names: 第3章, 第5到8回, 除了第三章, 前一章, 最后两章, "the last two chapters"."""

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from armarius.documents.units import CHAPTERS, NUMERAL, SPELLED, TO, names, parse_numeral
from armarius.lexicon import word_file

_UNIT = names("han", *CHAPTERS, "section", "volume")
_CHAPTER = names("han", "chapter", "round")
_HANGUL = names("hangul", *CHAPTERS)
_LATIN = rf"(?:{names('latin', 'chapter', 'episode')}[snеиi]?|{names('short', 'chapter', 'episode')}s?)"
_TO = rf"(?:{TO}|(?<![^\W\d_])al?(?![^\W\d_]))"
_AND = r"(?:[、,，和与與及跟と와과&]|以及|(?<![^\W\d_])(?:and|und|et|y|ed?|и)(?![^\W\d_]))"
_HAN = r"(?:\d{1,5}|[零〇一二两兩三四五六七八九十百千]{1,9})"
# 第8章，2000字左右, "chapter 8, 3 scenes": a number of something is no chapter.
_OF_OTHERS = (
    rf"(?!(?:,\d{{3}})*(?:\s*{_TO}\s*{_HAN})?\s*[百千万萬]*\s*(?:多|余|来)?\s*"
    r"(?:[个個字词詞句段行条條点點页頁场場人名位次年月日天岁歲]"
    r"|-?(?:hundred|thousand|words?|sentences?|paragraphs?|lines?|bullets?|points?|pages?|scenes?|characters?)\b))"
)
_CJK = re.compile(
    rf"第\s*(?P<body>{_HAN}\s*{_UNIT}?(?:\s*(?:{_TO}|{_AND})\s*第?\s*(?>{_HAN}){_OF_OTHERS}\s*{_UNIT}?)*)",
    re.IGNORECASE,
)
_KOREAN = re.compile(
    rf"(?<!\d)(?:제\s*+)?(?P<body>\d{{1,5}}\s*+{_HANGUL}?(?:\s*+(?:{_TO}|{_AND})\s*+제?\s*+\d{{1,5}}){{0,50}})\s*+{_HANGUL}"
)
_NUMBER = "[一二三四五六七八九十百]"
_CJK_BARE = re.compile(  # 3章, 1到3章, 一到三章; 一到两章 is how many
    rf"(?<![\d第几])(?P<body>\d{{1,5}}(?:\s*{_TO}\s*\d{{1,5}})?"
    rf"|(?<!{_NUMBER}){_NUMBER}{{1,7}}\s*{_TO}\s*{_NUMBER}{{1,7}})\s*{_CHAPTER}"
)
_DIGITS = r"(?=\d{1,5}(?!\w|\.\w))"  # ch3, and not ch003.md
_SPACED = re.compile(
    rf"\b{_LATIN}(?:\b\.?\s*|{_DIGITS})"
    rf"(?P<body>{NUMERAL}(?:\s*(?:{_TO}|{_AND}|,\s*and)\s*(?:{_LATIN}(?:\s+|{_DIGITS}))?(?>{NUMERAL}){_OF_OTHERS})*)",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    rf"\b(?:the|le)\s+(?P<n>{SPELLED}|\d{{1,4}}(?:st|nd|rd|th|e))\s+{names('latin', 'chapter')}\b", re.IGNORECASE
)
_BETWEEN = re.compile(r"(?<!hundred)(?<!\s)\s+and\s+", re.IGNORECASE)  # "two and four" are two numbers
_PIECE = re.compile(rf"(?P<to>{_TO})|(?P<n>{_HAN}|{NUMERAL})", re.IGNORECASE)
_EXCEPT_BEFORE = re.compile(
    r"(?:除了|除去|除开|除|不算|不包括|不含|\b(?:except(?:ing)?(?:\s+for)?|excluding|other\s+than|apart\s+from|aside\s+from|besides"
    r"|außer|sauf|excepté|hormis|excepto|salvo|tranne|кроме)(?:\s+(?:in|from|the|en|dans|le|el|il|dem|im))*)\s*$",
    re.IGNORECASE,
)
_EXCEPT_BEHIND = re.compile(r"\s*(?:以外|之外(?!套)|除外|외에|제외)")
# 卷 and the like are chapters in some books and things in others: the seventh ledger, the falling curtain.
_THING = re.compile(names("han", "section", "volume", "episode", "act"))
_COUNT = r"(?P<n>\d{1,3}|[一二两兩三四五六七八九十几]|one|two|three|four|five|six|seven|eight|nine|ten|few)"
# 第一章之后一章, 第五章的前两章: counted from the chapter named, in its own unit (第三章的前一节 is a part of it).
_FROM = re.compile(
    rf"\s*(?:[之以的]?(?P<way>[前后後上下])面?|接下来)的?\s*{_COUNT}\s*(?P<unit>{_CHAPTER}|{names('han', 'episode')})"
)
_COUNTED = re.compile(
    r"(?:最近|近|刚才|最新|[前后後上下]面|[之此][前后後]|接下来|最[后後末初早]|[末尾前头]|[结开][尾头])的?\s*$"
)
_NEAR = 20  # code points before a number in which such a word stands
_PARTS = {"<unit>": _UNIT, "<count>": _COUNT, "<chapter>": _CHAPTER, "<episode>": names("han", "episode")}
_RELATIVE: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (how, re.compile(re.sub("<[a-z]+>", lambda part: _PARTS[part[0]], pattern)))
    for how, pattern in word_file("chapters")["relative"]
)
# What holds neither is looked through for none of the patterns above that need one of them, which are most.
_UNITS = re.compile(_UNIT)
_IN_ENGLISH = re.compile("chapter", re.IGNORECASE)
_WITHOUT_UNIT = frozenset({"last", "opening", "here or last", "here or opening"})
Part = Literal["", "head", "tail"]
_HEAD, _TAIL = (re.compile(word_file("chapters")[end], re.IGNORECASE) for end in ("head", "tail"))


@dataclass(frozen=True, slots=True)
class ChapterReference:
    """Chapters that a stretch of the question names, in the order named.

    Attributes:
        numbers: Chapter numbers; those that the project has not are kept, so that the answer can say so.
        start: First code point of the stretch in the question.
        end: One past its last.
        relative: It counts from the current chapter or from either end of the book. Without numbers: there is no
            such chapter, or (only if relative) the current one is not known.
        excluded: These chapters are not wanted (除了第三章, "except chapter 3").
    """

    numbers: tuple[int, ...]
    start: int
    end: int
    relative: bool = False
    excluded: bool = False


def chapter_references(
    query: str,
    *,
    known: Sequence[int] = (),
    current: int | None = None,
    is_content: Callable[[str], bool] = lambda _: False,
) -> tuple[ChapterReference, ...]:
    """The chapters that `query` names, by position in the query.

    Args:
        query: The user's words.
        known: The chapter numbers of the project, ascending; relative references need them.
        current: The chapter the user is in. "最近三章" and "the last two chapters" end with it; without it, with the
            last chapter of the book. 前一章 and 下一章 name nothing without it.
        is_content: Whether a stretch like 第七卷 is a thing in this story and no part of the book.

    Cost: linear in the query.
    """
    refs: list[ChapterReference] = []
    spans: list[tuple[int, int]] = []
    units = _UNITS.search(query) is not None
    for pattern, needs_unit in ((_CJK, True), (_KOREAN, False), (_SPACED, False), (_CJK_BARE, True)):
        for match in pattern.finditer(query) if units or not needs_unit else ():
            body = match["body"]
            numbers = _numbers(body)
            if pattern is _CJK and not re.search(_UNIT, body):
                continue
            if pattern is _CJK and _THING.search(body) and is_content(match[0]):
                continue
            if (
                pattern is _CJK_BARE
                and (body.isdigit() or not body[0].isdigit())
                and _COUNTED.search(query, max(0, match.start() - _NEAR), match.start())
            ):
                continue  # 最后2章
            if numbers and not overlaps(spans, *match.span()):
                numbers, end = _count_onward(query, match, numbers, known)
                insort(spans, (match.start(), end))
                refs.append(ChapterReference(numbers, match.start(), end))
    for match in _ORDINAL.finditer(query):
        number = parse_numeral(match["n"])
        if number is not None and not overlaps(spans, *match.span()):
            insort(spans, match.span())
            refs.append(ChapterReference((number,), match.start(), match.end()))
    absolute = bool(refs)
    units = units or _IN_ENGLISH.search(query) is not None
    for how, pattern in _RELATIVE:
        for match in pattern.finditer(query) if units or how in _WITHOUT_UNIT else ():
            if how in ("last", "opening", "here or last", "here or opening") and absolute:
                continue  # 第120回结尾: the end of that chapter
            if how == "final" and _THING.search(match[0]) and is_content(match[0]):
                continue
            written = match.groupdict().get("n")
            chapters = _relative_chapters(how, _count(written), list(known), current)
            if overlaps(spans, *match.span()):
                continue
            insort(spans, match.span())
            refs.append(ChapterReference(tuple(chapters), match.start(), match.end(), relative=True))
    refs.sort(key=lambda reference: reference.start)
    return tuple(_add_exclusions(query, refs))


def part_asked(query: str, references: Sequence[ChapterReference]) -> Part:
    """Which end of the chapters that a question names it is about; "" when it names none, or neither or both ends."""
    if not any(reference.numbers and not reference.excluded for reference in references):
        return ""
    head, tail = _HEAD.search(query), _TAIL.search(query)
    return "" if (head is None) == (tail is None) else "head" if head else "tail"


def _add_exclusions(query: str, refs: list[ChapterReference]) -> Iterator[ChapterReference]:
    """Each reference, with the words that exclude it."""
    end = 0
    for reference in refs:
        before = _EXCEPT_BEFORE.search(query, end, reference.start)
        behind = _EXCEPT_BEHIND.match(query, reference.end)
        if before or behind:
            start = before.start() if before else reference.start
            reference = replace(reference, start=start, end=behind.end() if behind else reference.end, excluded=True)
        end = reference.end
        yield reference


def overlaps(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a stretch overlaps one of `spans`, which are sorted and apart from each other."""
    at = bisect_left(spans, (end,))
    return at > 0 and start < spans[at - 1][1]


def _numbers(body: str) -> tuple[int, ...]:
    numbers: list[int] = []
    ranged = False
    for piece in _PIECE.finditer(body):
        if piece["to"]:
            ranged = bool(numbers)
            continue
        whole = parse_numeral(piece["n"])
        for number in [whole] if whole is not None else map(parse_numeral, _BETWEEN.split(piece["n"])):
            if number is None:
                continue
            if ranged and 0 < abs(number - numbers[-1]) <= 400:
                first, number = sorted((numbers.pop(), number))  # 第3到1章
                numbers.extend(range(first, number))
            numbers.append(number)
            ranged = False
    return tuple(dict.fromkeys(numbers))


def _count(written: str | None) -> int:
    return 1 if written is None else 3 if written in ("几", "few") else parse_numeral(written) or 1


def _count_onward(
    query: str, match: re.Match[str], numbers: tuple[int, ...], series: Sequence[int]
) -> tuple[tuple[int, ...], int]:
    """The chapters of a match and where it ends; those counted from its last where the query goes on 之后一章."""
    on = _FROM.match(query, match.end())
    if on is None or on["unit"] != match[0][-1]:
        return numbers, match.end()
    if numbers[-1] not in series:
        return numbers, on.end()
    if on["way"] in ("前", "上"):
        return tuple(n for n in series if n < numbers[-1])[-_count(on["n"]) :], on.end()
    return tuple(n for n in series if n > numbers[-1])[: _count(on["n"])], on.end()


def _relative_chapters(how: str, count: int, series: list[int], current: int | None) -> list[int]:
    if not series:
        return []
    before = [n for n in series if current is None or n < current]
    upto = [n for n in series if current is None or n <= current]
    after = [n for n in series if current is not None and n > current]
    if how == "recent":
        return upto[-count:]
    if how in ("before", "previous"):
        return before[-count:] if current is not None else (series[-count:] if how == "before" else [])
    if how in ("after", "next"):
        return after[:count]
    if how == "current" or (how.startswith("here") and current is not None):
        return [current] if current is not None else []
    if how == "final":
        return series[-count:]
    # In an earlier chapter the end of the book is withheld, unless its last chapter is named.
    return upto[-count:] if how in ("last", "here or last") else series[:count]
