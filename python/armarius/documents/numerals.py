"""Parse numerals: 3, ３, 三, 一百零五, 廿三, 叁, XII, twelve, twenty-first.

Used for chapter names, headings and, in `search`, references in questions.
"""

import re
import unicodedata
from functools import cache, lru_cache

_DIGITS = {
    c: i
    for i, row in enumerate(
        ("零〇○", "一壹弌", "二两兩贰貳弍", "三叁參叄", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖")
    )
    for c in row
}
_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_TENS = {"廿": 20, "卄": 20, "卅": 30, "卌": 40}
_HAN = "".join((*_DIGITS, *_UNITS, *_TENS, "万萬"))

_CARDINALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS_WORDS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {
    **{word: i for i, word in enumerate(_CARDINALS.split())},
    **{word: i for i, word in enumerate(_ORDINALS.split())},
    **{word: 10 * i for i, word in enumerate(_TENS_WORDS, 2)},
    **{f"{word[:-1]}ieth": 10 * i for i, word in enumerate(_TENS_WORDS, 2)},
}
_ROMAN = re.compile(r"(?=[ivxlc])(c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})", re.IGNORECASE)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}

_WORD = "(?:" + "|".join(sorted((*_WORDS, "hundred", "hundredth"), key=len, reverse=True)) + ")"
_SPELLED = rf"{_WORD}(?:[\s_-]+(?:and[\s_-]+)?{_WORD})*(?![^\W\d_])"
# Candidates for a number, which `parse_numeral` then checks.
NUMERAL = rf"(?:\d{{1,5}}|[{_HAN}]{{1,9}}|{_SPELLED}|[ivxlcIVXLC]{{1,9}}(?![^\W\d_]))"

# "Chapter" in languages that put the number after the word.
CHAPTER_WORDS = "chapter|chapitre|kapitel|cap[ií]tulo|capitolo|hoofdstuk|rozdział|глава|главе|главу|главы|episode"


@cache
def _chapter_patterns() -> tuple[re.Pattern[str], ...]:
    """Compiled at first use, as those of volumes, to keep the import fast."""
    return (
        re.compile(rf"第\s*({NUMERAL})\s*[章回话話集幕折]|제\s*(\d{{1,5}})\s*[장화회]"),
        re.compile(
            rf"(?<![^\W\d_])(?:(?:{CHAPTER_WORDS})[\s._#:-]*(\d{{1,5}})(?!\d)"
            rf"|(?:{CHAPTER_WORDS})[\s._#:-]+({NUMERAL})"
            r"|(?:chap|ch|ep)[\s._#-]*(\d{1,5})(?!\d)"
            rf"|(?:the[\s_-]+)?({_SPELLED}|\d{{1,5}}(?:st|nd|rd|th))[\s_-]+chapter(?![^\W\d_]))",
            re.IGNORECASE,
        ),
        re.compile(rf"第\s*({NUMERAL})\s*[节節]"),
    )


@cache
def _volume_patterns() -> tuple[re.Pattern[str], ...]:
    return (
        re.compile(rf"第\s*({NUMERAL})\s*[卷部篇]|^卷\s*({NUMERAL})(?:\b|$)"),
        re.compile(rf"(?<![^\W\d_])(?:part|volume|vol|book|act|tome|teil|band)[\s._-]+({NUMERAL})", re.IGNORECASE),
    )


@cache
def _range_pattern() -> re.Pattern[str]:
    to = r"\s*(?:[-–—~]{1,2}|至|到|to|through)\s*"
    return re.compile(
        rf"第\s*({NUMERAL})\s*[章回话話]?{to}第?\s*({NUMERAL})\s*[章回话話]"
        rf"|(?<![^\W\d_])(?:(?:{CHAPTER_WORDS})s?|chaps?|chs?)[\s._]*({NUMERAL}){to}({NUMERAL})",
        re.IGNORECASE,
    )


@cache
def _appended_pattern() -> re.Pattern[str]:
    return re.compile(
        rf"附[录錄記记]|[补補]遗|補遺|第\s*{NUMERAL}\s*[章回话話]\s*(?:附|之?[补補])(?=$|[\s._\-—：:）)\d一二三四五])"
        r"|(?<![^\W\d_])(?:appendix|appendices|addendum|addenda)(?![^\W\d_])"
        rf"|(?<![^\W\d_])(?:{CHAPTER_WORDS}|chap|ch|ep)[\s._#-]*\d{{1,5}}[a-z](?![^\W_])",
        re.IGNORECASE,
    )


_BARE = re.compile(r"(\d{1,4})(?=$|[\s._、．。:：)）—–-])")
_NAME = 200  # code points of a name that are looked at
_DATE = re.compile(r"(?:19|20)\d\d[-_.]?[01]\d[-_.]?[0-3]\d")


def parse_numeral(text: str) -> int | None:
    """The number that `text` spells, or None when it is not wholly a number.

    Args:
        text: Digits of any script and width, Chinese numerals (by place 一百零五 or digit by digit 一〇五, financial
            forms, 廿/卅), Roman numerals up to 399, English cardinals and ordinals up to 999 (`3rd`, `twenty-one`).

    Returns:
        A number >= 0.
    """
    text = unicodedata.normalize("NFKC", text).strip().lower()
    if text.isdecimal():
        return int(text) if len(text) <= 9 else None
    if text[:-2].isdecimal() and text[-2:] in ("st", "nd", "rd", "th"):
        return int(text[:-2]) if len(text) <= 9 else None
    if text and all(c in _HAN for c in text):
        return _han(text)
    if text and (roman := _ROMAN.fullmatch(text)) and roman.group():
        values = [_ROMAN_VALUES[c] for c in text]
        return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))
    return _spelled(text)


def _han(text: str) -> int | None:
    if all(c in _DIGITS for c in text):
        return int("".join(str(_DIGITS[c]) for c in text))
    total = section = digit = 0
    for c in text:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c in _TENS:
            section, digit = section + _TENS[c], 0
        elif c in _UNITS:
            section, digit = section + (digit or 1) * _UNITS[c], 0
        elif total or not (section + digit):  # 万 twice, or nothing before it
            return None
        else:
            total, section, digit = (section + digit) * 10_000, 0, 0
    return total + section + digit


def _spelled(text: str) -> int | None:
    words = [word for word in re.split(r"[\s_-]+", text) if word != "and"]
    if not words or any(word not in _WORDS and word not in ("hundred", "hundredth") for word in words):
        return None
    value, last = 0, 1000
    for word in words:
        if word.startswith("hundred"):
            if not 0 < value < 10:
                return 100 if value == 0 and len(words) == 1 else None
            value, last = value * 100, 100
            continue
        number = _WORDS[word]
        if number >= last or (last < 100 and number >= 10):  # "two three", "twenty twelve"
            return None
        value, last = value + number, number if number >= 20 else 1
    return value


def appended(text: str) -> bool:
    """Whether a name is of a supplement and no chapter: ch008a, 第八章附, 附录二, Appendix B."""
    return _is_appended(text[:_NAME])


@lru_cache(maxsize=1024)
def _is_appended(text: str) -> bool:
    return _appended_pattern().search(unicodedata.normalize("NFKC", text)) is not None


def chapter_number(text: str) -> int | None:
    """The chapter that a file name or heading names by a marker: 第三回, ch003, Chapter Twelve, Глава 4, 제3장.

    Cost: three regular expressions over the first 200 code points; the last thousand names are cached.
    """
    return _marked(text[:_NAME])


@lru_cache(maxsize=1024)
def _marked(text: str) -> int | None:
    text = unicodedata.normalize("NFKC", text)
    for pattern in _chapter_patterns():
        for match in pattern.finditer(text):
            written = next(group for group in match.groups() if group)
            if written in "iI" and re.match(r"\s+[a-z]", text[match.end() :]):  # "the chapter I liked"
                continue
            number = parse_numeral(written)
            if number is not None:
                return number
    return None


def chapter_range(text: str) -> tuple[int, int] | None:
    """First and last of the chapters that a heading or name covers: 第301-350章, 第三章至第五章, Chapters 3-5."""
    match = _range_pattern().search(unicodedata.normalize("NFKC", text))
    if match is None:
        return None
    first, last = (parse_numeral(written) for written in (match[1] or match[3], match[2] or match[4]))
    return None if first is None or last is None or first >= last else (first, last)


def volume_number(text: str) -> int | None:
    """The volume or part that a folder or heading names: 第一卷, 卷二, Part Two, vol-3."""
    text = unicodedata.normalize("NFKC", text)
    for pattern in _volume_patterns():
        if match := pattern.search(text):
            return parse_numeral(next(group for group in match.groups() if group))
    return None


def bare_number(stem: str) -> int | None:
    """The number a file name begins with (`012`, `12 - The Storm`, `三、风起`); dates are not numbers."""
    stem = unicodedata.normalize("NFKC", stem)
    if _DATE.match(stem):
        return None
    if match := _BARE.match(stem):
        return int(match[1])
    han = re.match(rf"([{_HAN}]+)(?=$|[\s._、．。:：)）—–-])", stem)
    return parse_numeral(han[1]) if han else None
