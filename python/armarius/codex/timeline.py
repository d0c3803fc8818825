"""Labels that say from which chapter a statement holds: 第30章起, 第三十回后, 第5-8章, From chapter 30."""

import re
import unicodedata

_DIGITS = {
    char: value
    for value, chars in enumerate(["零〇", "一壹", "二贰两", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖"])
    for char in chars
}
_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000, "廿": 20, "卅": 30}
_N = r"(?:\d{1,5}|[零〇一二三四五六七八九十百千两壹贰叁肆伍陆柒捌玖拾佰仟廿卅]{1,9})"
_TO = r"[-–—~～至到]{1,2}"
_HAN = re.compile(
    rf"^(?:从|自|直?到|至|截至)?\s*第\s*(?P<a>{_N})\s*[章回话節节]?\s*(?:{_TO}\s*第?\s*(?P<b>{_N})\s*)?[章回话節节]"
    r"\s*(?P<tail>起|开始|開始|之?后|之?後|以后|以後|及以后|为止|止|之?前|以前|前)?$"
)
_LATIN = re.compile(
    r"^(?P<head>from|since|starting(?: in| at| with)?|as of|after|until|till|before|up to|in|during)?\s*"
    r"(?:chapters?|chap\.?|chs?\.?)\s*(?P<a>\d{1,5})(?:\s*(?:[-–—]|to|through)\s*(?:chapter\s*)?(?P<b>\d{1,5}))?"
    r"\s*(?P<tail>on|onwards?|and after|\+)?$",
    re.IGNORECASE,
)


def number(text: str) -> int | None:
    """A positive chapter number, Arabic or Chinese: 30, 三十, 一百零五, 一二〇; None when it is none."""
    if text.isascii() and text.isdigit():
        return int(text)
    if not text or any(char not in _DIGITS and char not in _UNITS for char in text):
        return None
    if not any(char in _UNITS for char in text):
        return int("".join(str(_DIGITS[char]) for char in text))
    total, digit = 0, None
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in "廿卅":
            total, digit = total + _UNITS[char], None
        else:
            total, digit = total + (1 if digit is None else digit) * _UNITS[char], None
    return total + (digit or 0)


def parse_span(label: str) -> tuple[int | None, int | None] | None:
    """The chapters that `label` covers as `(since, until)`: since inclusive, until exclusive, None open.

    第30章起 and 第30章 are `(30, None)`: what happens in a chapter is known from then on. 第30章后 is `(31, None)`,
    第30章前 `(None, 30)`, 第5-8章 `(5, 9)`.

    Returns:
        None when the label names no chapter.
    """
    label = unicodedata.normalize("NFKC", label).strip().strip("（）()[]【】")
    if (han := _HAN.match(label)) is not None:
        first, last, tail = number(han["a"]), number(han["b"] or ""), han["tail"] or ""
        before, after = tail.endswith("前"), tail.lstrip("之及以") in {"后", "後"} or tail in {"以后", "以後", "及以后"}
        before = before or label.startswith("直到")
        closing = tail in {"为止", "止"} or label.startswith(("到", "至", "截至"))
        after = after and tail != "及以后"
    elif (latin := _LATIN.match(label)) is not None:
        first, last = number(latin["a"]), number(latin["b"] or "")
        head = (latin["head"] or "").lower()
        before, after, closing = head in {"before", "until", "till"}, head == "after", head == "up to"
    else:
        return None
    if first is None:
        return None
    if last is not None:
        return first, last + 1
    if before:
        return None, first
    if closing:
        return None, first + 1
    return (first + 1, None) if after else (first, None)
