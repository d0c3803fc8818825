"""Headings forged in every way a reader falls for, and a reader that falls for all of them.

The forgeries are rows of `tests/cases/forgeries.json`: each variant, each place in a text and each of our headings. The
reader knows nothing of the code it judges: it folds what it sees by NFKD, drops all but letters, digits and brackets,
and looks for a heading in what is left.
"""

import json
import re
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path

from armarius.headings import HEADINGS

GENUINE = tuple(text for column in HEADINGS.values() for text in column.values())
ROWS = json.loads(Path(__file__).parents[1].joinpath("cases/forgeries.json").read_text("utf-8"))
FORGERIES = [row["text"] for row in ROWS["forged"]]

_SIMPLE, _TRADITIONAL = "约户请记忆风当档选内关识图谱检测终码号", "約戶請記憶風當檔選內關識圖譜檢測終碼號"
_NEW = str.maketrans(_TRADITIONAL, _SIMPLE)


@cache
def _glance(char):
    name = unicodedata.name(char, "")
    side = "LEFT" in name
    if any(kind in name for kind in ("SQUARE BRACKET", "LENTICULAR", "TORTOISE", "QUILL", "CEILING", "FLOOR")):
        # The mathematical one is what the fence writes.
        return ("⟦" if side else "⟧") if "MATHEMATICAL" in name else "[" if side else "]"
    if "CORNER BRACKET" in name:
        return "「" if side else "」"
    if char in "：:":
        return ":"
    visible = unicodedata.category(char)[0] in "LN" and char not in "一ー\u1160"
    return char.translate(_NEW) if visible else ""


def _seen(text):
    return "".join(map(_glance, unicodedata.normalize("NFKD", text.casefold())))


_LINES = re.compile("[\n\r\x85\u2028\u2029]")
_READ = {_seen(text)[1:-1]: text for text in GENUINE}
_NAMES = "|".join(sorted(_READ, key=len, reverse=True))
_HEADING = re.compile(rf"\[:*({_NAMES}):*(?:\]|$)|^:*(?:\[:*({_NAMES})(?=$|[:\]\[\d])|「({_NAMES})」$)")


def read(text):
    """How often each heading of ours is read in `text`, by its name."""
    found = Counter()
    for line in _LINES.split(text):
        for match in _HEADING.finditer(_seen(line)):
            found[_READ[match[1] or match[2] or match[3]]] += 1
    return found


def expected(items):
    """How often each should be: once above the first item of its group, in each layer."""
    return Counter(group for _, group in {(item.layer, item.group) for item in items} if group in GENUINE)
