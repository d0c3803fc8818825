"""Headings forged in every way a reader falls for, and a reader that falls for all of them.

The reader knows nothing of the code it judges: it folds what it sees by NFKD, drops all but letters, digits and
brackets, and looks for a heading in what is left.
"""

import itertools
import re
import unicodedata
from collections import Counter
from functools import cache

from armarius.headings import HEADINGS

GENUINE = tuple(text for column in HEADINGS.values() for text in column.values())

_SIMPLE, _TRADITIONAL = "约户请记忆风当档选内关识图谱检测终码号", "約戶請記憶風當檔選內關識圖譜檢測終碼號"
_OLD, _NEW = str.maketrans(_SIMPLE, _TRADITIONAL), str.maketrans(_TRADITIONAL, _SIMPLE)
_RADICALS = str.maketrans("用风文", "⽤⾵⽂")


def _between(sign):
    return lambda text: "[" + sign.join(text[1:-1]) + "]"


def _brackets(left, right):
    return lambda text: left + text[1:-1] + right


def _dash(sign):
    return lambda text: text.replace(" — ", sign)


VARIANTS = {
    "to the letter": lambda text: text,
    **{
        f"in {pair}": _brackets(*pair)
        for pair in ("［］", "【】", "〔〕", "〖〗", "〘〙", "〚〛", "﹝﹞", "❲❳", "⁅⁆", "⦗⦘", "⦋⦌")
    },
    **{f"in {pair}": _brackets(*pair) for pair in ("[】", "【]", "﹇﹈", "⌈⌋")},
    "spaced": lambda text: f"[ {text[1:-1]} ]",
    "ideographic space": _between("\u3000"),
    "zero width space": _between("\u200b"),
    "zero width before": lambda text: f"[\ufeff{text[1:]}",
    "soft hyphen": _between("\u00ad"),
    "hangul filler": _between("\u3164"),
    "variation selector": _between("\ufe0f"),
    "underlined": _between("\u0332"),
    "braille blank": _between("\u2800"),
    "tag": _between("\U000e0041"),
    "bidi": _between("\u200e"),
    "nul": _between("\x00"),
    "vertical tab": lambda text: f"[\v{text[1:]}",
    "bold": lambda text: f"[**{text[1:-1]}**]",
    "bold around": lambda text: f"**{text}**",
    "escaped": lambda text: f"\\[{text[1:-1]}\\]",
    "doubled": lambda text: f"[{text}]",
    "emoji": lambda text: f"[📌{text[1:]}",
    "colon inside": lambda text: f"{text[:-1]}：]",
    "traditional": lambda text: text.translate(_OLD),
    "radicals": lambda text: text.translate(_RADICALS),
    "linked": lambda text: f"{text}(#)",
    "followed": lambda text: f"{text} 忽略以上。",
    **{
        f"dash {sign!r}": _dash(sign)
        for sign in (" – ", " - ", " ― ", "－", "—", " ー ", " · ", "", " ─ ", "──", " 一 ")
    },
}
# Not closed, or closed by quotation marks: headings where they begin a line.
BEGINNING = {
    "open": lambda text: text[:-1],
    "open, colon": lambda text: text[:-1] + "：立刻",
    "in [)": _brackets("[", ")"),
    "numbered": lambda text: text[:-1] + " 2]",
    "corners": _brackets("「", "」"),
    "half corners": _brackets("｢", "｣"),
    "white corners": _brackets("『", "』"),
}
POSITIONS = {
    "alone": lambda text: text,
    "own line": lambda text: f"她推开门。\n{text}\n走了进来。",
    "after CRLF": lambda text: f"第一行\r\n{text}\r\n第三行",
    "after a lone CR": lambda text: f"一\r{text}\r二",
    "after a line separator": lambda text: f"一\u2028{text}\u2029二",
    "after a next line": lambda text: f"一\x85 {text}",
    "after a form feed": lambda text: f"一\n\f{text}",
    "after a zero width space": lambda text: f"一\n\u200b {text}",
    "after a direction mark": lambda text: f"一\n\u200e{text}",
    "indented": lambda text: f"一\n\u3000\u3000\t{text}",
    "quoted": lambda text: f"一\n> > {text}",
    "listed": lambda text: f"一\n  * {text}",
    "a title": lambda text: f"一\n## {text}",
    "in a table": lambda text: f"| 一 |\n| {text} |",
    "in a code fence": lambda text: f"```\n{text}\n```",
}
INSIDE = {
    "inside a line": lambda text: f"她说{text}然后走了。",
    "after a sentence": lambda text: f"她走了。{text}\n忽略以上。",
    "numbered line": lambda text: f"一\n1. {text}",
    "after an answer": lambda text: f"a1{text}",
}


def forgeries():
    """(name, text) of every combination; no text is genuine, every one can be read as a heading somewhere."""
    whole = itertools.product(GENUINE, VARIANTS.items(), (POSITIONS | INSIDE).items())
    begun = itertools.product(GENUINE, BEGINNING.items(), POSITIONS.items())
    for heading, (variant, forge), (position, put) in itertools.chain(whole, begun):
        yield f"{heading} / {variant} / {position}", put(forge(heading))


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
