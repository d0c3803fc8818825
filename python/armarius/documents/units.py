"""What chapters, parts, volumes, scenes … of a story are called, and their numbers: patterns for all readers.

The words are in `lexicon/units.toml`. A number is written 3, ３, 三, 一百零五, 廿三, 叁, 삼, XII, twelve, twenty-first,
quatre-vingt-dix. Readers: headings (`segments.py`), names of files (`features.py`), outlines (`corpus/story.py`), facts
of cards (`codex/cards.py`), requests (`search/query/`).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Final, Literal

from armarius.lexicon import word_file

Script = Literal["han", "hangul", "latin", "short", "names"]

_TABLE: Final[dict[str, dict[str, str]]] = word_file("units")
CHAPTERS: Final = ("chapter", "round", "episode", "act")
"""Units whose numbers count chapters; an act does so in Chinese, Japanese and Korean."""
VOLUMES: Final = ("volume", "part")
TITLED: Final = (*CHAPTERS, "section", *VOLUMES)
"""Units that a heading of Chinese, Japanese or Korean may consist of."""
UNNUMBERED: Final = ("prologue", "interlude", "epilogue", "extra")

_DIGITS = {
    c: i
    for i, row in enumerate(
        ("零〇○", "一壹弌壱", "二两兩贰貳弍弐", "三叁參叄参", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖")
    )
    for c in row
}
_PLACES = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_TENS = {"廿": 20, "卄": 20, "卅": 30, "卌": 40}
_HAN = "".join((*_DIGITS, *_PLACES, *_TENS, "万萬"))
_HANGUL = "영공일이삼사오육칠팔구십백천"
_OF_HANGUL = str.maketrans(_HANGUL, "零零一二三四五六七八九十百千")
_WORDS = {word: int(value) for value, row in _TABLE["numerals"].items() for word in row.split()}
_ROMAN = re.compile(r"(?=[ivxlc])(c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})", re.IGNORECASE)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_ALONE = r"(?<![^\W\d_])"  # no letter before it
_ORDINAL = r"\d{1,5}(?:st|nd|rd|th|ère|er|re|ème|e)"


def any_of(words: Iterable[str]) -> str:
    """A regular expression for any of `words`, the longest first."""
    return f"(?:{'|'.join(sorted(set(words), key=lambda word: (-len(word), word)))})"


def unit_words(script: Script, *units: str) -> frozenset[str]:
    """What units are called in a script."""
    return frozenset(word for unit in units for word in _TABLE[unit].get(script, "").split())


def names(script: Script, *units: str) -> str:
    """A regular expression for what units are called in a script."""
    return any_of(unit_words(script, *units))


def unnumbered(*units: str) -> tuple[str, str]:
    """Regular expressions for the names of units without a number: of Chinese, Japanese and Korean; of the others."""
    words = unit_words("names", *units)
    spaced = {word for word in words if word[0] < "\u1100"}
    return any_of(words - spaced), rf"{_ALONE}{any_of(spaced)}(?![^\W\d_])"


_WORD = any_of(_WORDS)
SPELLED: Final = rf"{_WORD}(?:[\s_-]+(?:(?:and|et)[\s_-]+)?{_WORD})*(?![^\W\d_])"
NUMERAL: Final = rf"(?:\d{{1,5}}|[{_HAN}]{{1,9}}|{SPELLED}|[ivxlcIVXLC]{{1,9}}(?![^\W\d_]))"
"""Candidates for a number, which `parse_numeral` then checks."""
TO: Final = rf"(?:[-–—~～]{{1,2}}|到|至|から|부터|{_ALONE}(?:through|to|bis|jusqu['’]à|à|по|до)(?![^\W\d_]))"
"""What stands between the first and the last of a range."""


SCENE: Final = re.compile(rf"{names('latin', 'scene')}[\s._#-]*(\d{{1,4}})(?!\d)", re.IGNORECASE)
"""A scene with its number in a group: scene5, Scene 5."""


def unit_re(*units: str) -> str:
    """A regular expression for units with a number, right or wrong, in Chinese, Japanese and Korean: 第X章, 제3장."""
    return rf"(?:第\s*\S{{1,9}}?\s*{names('han', *units)}|제\s*\d{{1,5}}\s*{names('hangul', *units)})"


def _number_pattern(*units: str) -> str:
    """`mark` with a number in a group: 第3章, 제3장, 제삼장, 세 번째 장."""
    han, hangul = (names(script, *units) for script in ("han", "hangul"))
    korean = rf"(?:제\s*(\d{{1,5}})\s*|제([{_HANGUL}]{{1,9}})|({SPELLED})\s*번째\s*){hangul}"
    return rf"第\s*({NUMERAL})\s*{han}|{korean}"


@cache
def _chapter_patterns() -> tuple[re.Pattern[str], ...]:
    """Compiled at first use, as those of volumes, to keep the import fast."""
    latin, short = (names(script, "chapter", "episode") for script in ("latin", "short"))
    return (
        re.compile(_number_pattern(*CHAPTERS)),
        re.compile(
            rf"{_ALONE}(?:{latin}[\s._#:-]*(\d{{1,5}})(?!\d)|{latin}[\s._#:-]+({NUMERAL})"
            rf"|{short}[\s._#-]*(\d{{1,5}})(?!\d)|(?:the[\s_-]+)?({SPELLED}|{_ORDINAL})[\s_-]+{latin}(?![^\W\d_]))",
            re.IGNORECASE,
        ),
        re.compile(_number_pattern("section")),
    )


@cache
def _volume_patterns() -> tuple[re.Pattern[str], ...]:
    return (
        re.compile(rf"{_number_pattern(*VOLUMES)}|^[卷巻]\s*({NUMERAL})(?:\b|$)"),
        re.compile(rf"{_ALONE}{names('latin', *VOLUMES, 'act')}[\s._-]+({NUMERAL})", re.IGNORECASE),
    )


def span() -> str:
    """A regular expression for a chapter or a range of them: 第3章, 第301-350章, 제3-5장, "Chapters 3 to 5"."""
    han, hangul = (names(script, *CHAPTERS, "section") for script in ("han", "hangul"))
    latin = rf"(?:{names('latin', 'chapter', 'episode')}s?|{names('short', 'chapter', 'episode')}s?\.?)"
    return (
        rf"(?:第\s*+(?P<first>{NUMERAL})\s*+{han}?(?:\s*+{TO}\s*+第?\s*+(?P<last>{NUMERAL})\s*+)?{han}"
        rf"|(?:제\s*+)?(?P<first_ko>\d{{1,5}})\s*+{hangul}?(?:\s*+{TO}\s*+제?\s*+(?P<last_ko>\d{{1,5}})\s*+)?{hangul}"
        rf"|{_ALONE}{latin}[\s._]*+(?P<first_latin>{NUMERAL})(?:\s*+{TO}\s*+(?:{latin}\s*+)?(?P<last_latin>{NUMERAL}))?)"
    )


def span_begins() -> str:
    """A regular expression for the first character of what `span` finds: a search of most texts ends with it."""
    firsts = {word[0] for script in ("latin", "short") for word in unit_words(script, "chapter", "episode")}
    return rf"[第제\d{''.join(sorted({*''.join(firsts).lower(), *''.join(firsts).upper()}))}]"


def span_ends(match: re.Match[str]) -> tuple[int | None, int | None]:
    """First and last of a match of `span`; None for no number, and for the last of one chapter."""
    first = match["first"] or match["first_ko"] or match["first_latin"] or ""
    last = match["last"] or match["last_ko"] or match["last_latin"] or ""
    letters = first.isdecimal() and last.isascii() and last.isalpha()  # ch04-x
    return parse_numeral(first), None if letters else parse_numeral(last)


@cache
def _range_pattern() -> re.Pattern[str]:
    return re.compile(span(), re.IGNORECASE)


@cache
def _appended_pattern() -> re.Pattern[str]:
    latin, short = (names(script, "chapter", "episode") for script in ("latin", "short"))
    return re.compile(
        rf"{'|'.join(unnumbered('appendix'))}"
        rf"|第\s*{NUMERAL}\s*{names('han', *CHAPTERS)}\s*(?:附|之?[补補])(?=$|[\s._\-—：:）)\d一二三四五])"
        rf"|{_ALONE}(?:{latin}|{short})[\s._#-]*\d{{1,5}}[a-z](?![^\W_])",
        re.IGNORECASE,
    )


_BARE = re.compile(r"(\d{1,4})(?=$|[\s._、．。:：)）—–-])")
_NAME = 200  # code points of a name that are looked at
_DATE = re.compile(r"(?:19|20)\d\d[-_.]?[01]\d[-_.]?[0-3]\d")


def parse_numeral(text: str) -> int | None:
    """The number that `text` spells, or None when it is not wholly a number.

    Args:
        text: Digits of any script and width, Chinese numerals (by place 一百零五 or digit by digit 一〇五, financial
            forms, 廿/卅), Korean ones (이십삼), Roman numerals up to 399, English and French cardinals and ordinals up
            to 999 (`3rd`, `twenty-one`, `quatre-vingt-onze`).

    Returns:
        A number >= 0.
    """
    text = unicodedata.normalize("NFKC", text).strip().lower()
    if text.isdecimal():
        return int(text) if len(text) <= 9 else None
    if re.fullmatch(_ORDINAL, text):
        return int(re.split(r"\D", text)[0])
    han = text.translate(_OF_HANGUL)
    if text and all(c in _HAN for c in han):
        return _han(han)
    if text and (roman := _ROMAN.fullmatch(text)) and roman.group():
        values = [_ROMAN_VALUES[c] for c in text]
        return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))
    return _spelled_number(text)


def _han(text: str) -> int | None:
    if all(c in _DIGITS for c in text):
        return int("".join(str(_DIGITS[c]) for c in text))
    total = section = digit = 0
    for c in text:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c in _TENS:
            section, digit = section + _TENS[c], 0
        elif c in _PLACES:
            section, digit = section + (digit or 1) * _PLACES[c], 0
        elif total or not (section + digit):  # 万 twice, or nothing before it
            return None
        else:
            total, section, digit = (section + digit) * 10_000, 0, 0
    return total + section + digit


def _spelled_number(text: str) -> int | None:
    value: int | None = None
    below = 1000  # what the next word is at most
    for word in re.split(r"[\s_-]+", text):
        if word in ("and", "et"):
            continue
        number = _WORDS.get(word)
        if number is None:
            return None
        if number == 100 and (value or 0) < 10 and below > 0:
            value, below = (value or 1) * 100, 100
        elif value is not None and value % 100 == 4 and word.startswith("vingt"):  # quatre-vingts
            value, below = value + 76, 20
        elif number < below:
            value = (value or 0) + number
            below = 20 if word == "soixante" else 10 if number >= 20 or word == "dix" else 1
        else:  # "two three", "twenty twelve"
            return None
    return value


def is_supplement(text: str) -> bool:
    """Whether a name is of a supplement and no chapter: ch008a, 第八章附, 附录二, Appendix B."""
    return _is_appended(text[:_NAME])


@lru_cache(maxsize=1024)
def _is_appended(text: str) -> bool:
    return _appended_pattern().search(unicodedata.normalize("NFKC", text)) is not None


def chapter_number(text: str) -> int | None:
    """The chapter that a file name or heading names by a marker: 第三回, ch003, Chapter Twelve, Глава 4, 제3장.

    Cost: three regular expressions over the first 200 code points; the last thousand names are cached.
    """
    return _marked_number(text[:_NAME])


@lru_cache(maxsize=1024)
def _marked_number(text: str) -> int | None:
    return next(_numbers(_chapter_patterns(), text), None)


def _numbers(patterns: Iterable[re.Pattern[str]], text: str) -> Iterator[int]:
    text = unicodedata.normalize("NFKC", text)
    for pattern in patterns:
        for match in pattern.finditer(text):
            written = next(group for group in match.groups() if group)
            if written in "iI" and re.match(r"\s+[a-z]", text[match.end() :]):  # "the chapter I liked"
                continue
            number = parse_numeral(written)
            if number is not None:
                yield number


def chapter_range(text: str) -> tuple[int, int] | None:
    """First and last of the chapters that a heading or name covers: 第301-350章, 第三章至第五章, Chapters 3-5."""
    for match in _range_pattern().finditer(unicodedata.normalize("NFKC", text)):
        first, last = span_ends(match)
        if first is not None and last is not None:
            return (first, last) if first < last else None
    return None


@cache
def _leading_pattern() -> re.Pattern[str]:
    volume = rf"(?:{_number_pattern(*VOLUMES)}|{names('latin', *VOLUMES)}[\s._-]+{NUMERAL})"
    return re.compile(rf"\A[\W_]*+(?:{volume}[\W_]*+)?{span()}", re.IGNORECASE)


def leading_span(text: str) -> tuple[int, int] | None:
    """First and last of the chapters that a line begins with: `**第4-5章: …`, `Part One, Chapter 2`."""
    match = _leading_pattern().match(unicodedata.normalize("NFKC", text[:_NAME]))
    first, last = (None, None) if match is None else span_ends(match)
    return None if first is None else (first, first if last is None or last < first else last)


def volume_number(text: str) -> int | None:
    """The volume or part that a folder or heading names: 第一卷, 卷二, Part Two, vol-3."""
    return next(_numbers(_volume_patterns(), text), None)


def bare_number(stem: str) -> int | None:
    """The number a file name begins with (`012`, `12 - The Storm`, `三、风起`); dates are not numbers."""
    stem = unicodedata.normalize("NFKC", stem)
    if _DATE.match(stem):
        return None
    if match := _BARE.match(stem):
        return int(match[1])
    han = re.match(rf"([{_HAN}]+)(?=$|[\s._、．。:：)）—–-])", stem)
    return parse_numeral(han[1]) if han else None
