"""Labels that say from which chapter a statement holds: 第30章起, 第三十回后, 第5-8章, From chapter 30."""

import re
import unicodedata

from armarius.documents.numerals import NUMERAL, parse_numeral

_TO = r"[-–—~～至到]{1,2}"
_HAN = re.compile(
    rf"^(?:从|自|直?到|至|截至)?\s*第\s*(?P<a>{NUMERAL})\s*[章回话節节]?\s*(?:{_TO}\s*第?\s*(?P<b>{NUMERAL})\s*)?[章回话節节]"
    r"\s*(?P<tail>起|开始|開始|之?后|之?後|以后|以後|及以后|为止|止|之?前|以前|前)?$"
)
_LATIN = re.compile(
    r"^(?P<head>from|since|starting(?: in| at| with)?|as of|after|until|till|before|up to|in|during)?\s*"
    rf"(?:chapters?|chap\.?|chs?\.?)\s*(?P<a>{NUMERAL})(?:\s*(?:[-–—]|to|through)\s*(?:chapter\s*)?(?P<b>{NUMERAL}))?"
    r"\s*(?P<tail>on|onwards?|and after|\+)?$",
    re.IGNORECASE,
)


def parse_span(label: str) -> tuple[int | None, int | None] | None:
    """The chapters that `label` covers as `(since, until)`: since inclusive, until exclusive, None open.

    第30章起 and 第30章 are `(30, None)`: what happens in a chapter is known from then on. 第30章后 is `(31, None)`,
    第30章前 `(None, 30)`, 第5-8章 `(5, 9)`.

    Returns:
        None when the label names no chapter.
    """
    label = unicodedata.normalize("NFKC", label).strip().strip("（）()[]【】")
    if (han := _HAN.match(label)) is not None:
        first, last, tail = parse_numeral(han["a"]), parse_numeral(han["b"] or ""), han["tail"] or ""
        before, after = tail.endswith("前"), tail.lstrip("之及以") in {"后", "後"} or tail in {"以后", "以後", "及以后"}
        before = before or label.startswith("直到")
        closing = tail in {"为止", "止"} or label.startswith(("到", "至", "截至"))
        after = after and tail != "及以后"
    elif (latin := _LATIN.match(label)) is not None:
        first, last = parse_numeral(latin["a"]), parse_numeral(latin["b"] or "")
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


_LABELLED = re.compile(r"^(?P<indent>[ \t]*)(?:[-*+•·][ \t]+)?\**(?P<label>[^:：*\n]{1,24})\**[ \t]*[:：]")


def without_later(text: str, chapter: int) -> str:
    """`text` with every line blanked that begins with a label such as 第7章起 of a later chapter than `chapter`.

    What continues such a line, indented deeper and no item of its own, goes with it. Places stay where they are.

    Cost: one pass over the lines; nothing without a chapter in the text.
    """
    found = []
    hidden: int | None = None  # the indent of the line that is hidden
    for line in text.splitlines(keepends=True):
        labelled = _LABELLED.match(line)
        indent = len(line) - len(line.lstrip(" \t"))
        span = parse_span(labelled["label"]) if labelled else None
        if span is not None:
            hidden = indent if span[0] is not None and span[0] > chapter else None
        elif hidden is not None and (not line.strip() or indent <= hidden or labelled):
            hidden = None
        found.append(line if hidden is None else blank(line))
    return "".join(found)


def blank(text: str) -> str:
    """`text` as spaces, its line ends kept."""
    return re.sub(r"[^\r\n]", " ", text)
