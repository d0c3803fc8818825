"""Keeping content inside its layer: retrieved text is data, whatever it says.

A layer stands between `<layer-NAME>` and `</layer-NAME>`. Before anything is counted, whatever in a
content could be read as such a tag, as a group's bracketed heading, as a control token of a chat
template or as an invisible instruction is changed *visibly*, by one character where possible: `<`
becomes `‹`, `[` becomes `⟦`, an invisible character its code point in brackets. The same function
serves every layer, so stable layers stay byte-identical. Ordinary prose and code pass unchanged.
What is read as a heading is told in `posing.py`.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from armarius.headings import HEADINGS
from armarius.prompt.cursor_markers import MARKS
from armarius.types import LayerName

__all__ = [
    "BIDI",
    "BRACKETS",
    "CHANGED",
    "OPENERS",
    "OURS",
    "TAGS",
    "Headings",
    "carried",
    "closing",
    "doubtful",
    "escape",
    "group_heading",
    "headings_of",
    "opening",
]

OURS = frozenset(text for column in HEADINGS.values() for text in column.values())

# Square, lenticular and tortoise-shell brackets of every width and direction, their pieces and what looks like them.
_OPEN = "[［﹇【︻〔︹﹝❲〖︗〘︗〚⁅⸢⸤⌈⌊⎡⎢⎣⟬⦋⦍⦏⦗⧘⧚\u2e55\u2e57\u2e59\u2e5b"
_CLOSE = "]］﹈】︼〕︺﹞❳〗︘〙〛⁆⸣⸥⌉⌋⎤⎥⎦⟭⦌⦎⦐⦘⧙⧛\u2e56\u2e58\u2e5a\u2e5c"
# Quotation marks in prose: only what they enclose alone on a line is a heading.
_CORNER = "「『｢﹁﹃"
_ANY_CLOSE = _CLOSE + "」』｣﹂﹄)）﹚}｝﹜>＞﹥》〉⟩”’"
# What a changed heading begins with is no bracket here: changing twice changes nothing more.
CHANGED = "⟦"
BRACKETS = _OPEN + _CORNER
OPENERS = BRACKETS + CHANGED
# `str.splitlines` knows more; those are control characters, which stand in no prompt.
_BREAK = "\n\r\x85\u2028\u2029"
_SQUARE = re.escape(_OPEN + _CLOSE + "⟦⟧")
# Invisible instructions: the fence spells them out, in brackets.
BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb"
TAGS = "\U000e0000-\U000e007f"
# Letters to Python that nobody sees, or that a reader takes for a dash.
_BLANK = "\u115f\u1160\u3164\uffa0一丨ー\uff70ㅡㄧ"
# Signs that stand for a letter: radicals, and letters in circles, brackets and squares.
_DRAWN = "\u2e80-\u2fdf\u249c-\u24e9\u3200-\u33ff\U0001f110-\U0001f265"
_LETTER = rf"(?:[^\W_{_BLANK}]|[{_DRAWN}])"
_VOID = rf"[\W_{_BLANK}](?<![{_SQUARE}{_BREAK}{_DRAWN}])"
_NOTHING = rf"(?:{_VOID})*"

_STEP = re.compile(rf"({_LETTER})|[{_SQUARE}{_BREAK}]")
_CLOSED = re.compile(rf"{_NOTHING}(?:[{re.escape(_ANY_CLOSE)}]|[{_BREAK}]|\Z)")
_ALONE = re.compile(rf"{_NOTHING}(?:[{_BREAK}]|\Z)")
# Where a line begins with it, a heading need not be closed.
_PARTED = re.compile(rf"{_NOTHING}(?:[:：﹕︰;；|｜/／·•—–―‒‐‑⸺⸻－﹣\-(（\d{_SQUARE}{BIDI}{TAGS}])")
_DASHED = re.compile(rf"{_NOTHING}[—–―‒‐‑⸺⸻－﹣\-−一ー\uff70ㅡㄧ─━~～〜]")

# `errors[code]` is no heading, whoever calls one `[Code]`.
_SUBSCRIPTED = re.compile(r"[A-Za-z0-9_)\]]")

_ALIKE = str.maketrans(
    "約戶戸請記憶風颩當檔選內關関識圖図譜検檢測終碼號" + "аɑαвсϲԁеεɡһιіјϳκкмոоοσрρԛгѕтτυνѵԝωхχуүγ" + "01i",
    "约户户请记忆风风当档选内关关识图图谱检检测终码号" + "aaabccdeeghlljjkkmnooopp" + "qrsttuvvwwxxyyy" + "oll",
)


@lru_cache(maxsize=4096)
def _fold(letter: str) -> str:
    """The letter that a reader sees; several for a ligature, none for a drawing that stands for nothing."""
    spelled = unicodedata.normalize("NFKD", letter)
    return "".join(char for char in spelled if char.isalnum()).casefold().translate(_ALIKE)


def _letters(text: str) -> str:
    return "".join(_fold(found[0]) for found in re.finditer(_LETTER, text))


# Of more words than one, and so no name in code.
_OWN = frozenset(_letters(text) for text in OURS if " " in text)


class Headings:
    """Finds what poses as one of some headings, and changes it by one character.

    Args:
        texts: Headings as they stand in a prompt. Of one with a square bracket what that bracket encloses counts,
            anywhere in a text; one without stands where a line begins with it and nothing but punctuation follows.
        families: Also what stands before a dash in a heading of our own, `[知识图谱 — …`, counts with any other ending.

    Cost: one pass at the speed of `re`, and less than a microsecond for each bracket before a letter that is not ASCII
    or begins a heading; a second pass when some heading has no bracket.
    """

    def __init__(self, texts: Collection[str], *, families: bool = True) -> None:
        self._bracketed: set[str] = set()
        self._bare: set[str] = set()
        literal: set[str] = set()
        for text in texts:
            opened = re.search(rf"[{re.escape(_OPEN + CHANGED)}]([^{_SQUARE}]*)", text)
            if opened and (name := _letters(opened[1])):
                self._bracketed.add(name)
            elif name := _letters(text):
                self._bare.add(name)
            else:
                literal.add(text)
        stems = (text.split(" — ")[0] for text in OURS if " — " in text)
        self._families = {_letters(stem) for stem in stems} if families else set()
        self._known = self._bracketed | self._bare | self._families
        self._beginnings = {name[:size] for name in self._known for size in range(len(name) + 1)}
        first = _first({name[0] for name in self._bracketed | self._families})
        # Corners are punctuation too: what stands between one and its letters holds no other, or a run of them is slow.
        inside = rf"(?:(?![{_CORNER}]){_VOID})*"
        # One class in front of everything: `re` skips to it ten times as fast as it tries alternatives.
        self._bracket = re.compile(
            rf"[{re.escape(_OPEN + _CORNER)}]"
            rf"(?:(?<=[{_CORNER}])(?={inside}({first}))|(?<![{_CORNER}])(?={_NOTHING}({first})))"
        )
        bare = _first({name[0] for name in self._bare})
        self._line = re.compile(rf"(?:^|(?<=[{_BREAK}])){_NOTHING}(?={bare})", re.MULTILINE)
        signs = "|".join(re.escape(text) for text in sorted(literal))
        self._literal = re.compile(rf"((?:^|(?<=[{_BREAK}]))[^\S\n]*)({signs})(?=[^\S\n]*$)", re.MULTILINE)
        self._has_literal = bool(literal)

    @property
    def stand_bare(self) -> bool:
        """Whether some heading has no bracket, so that any line may pose as one."""
        return bool(self._bare) or self._has_literal

    def changed(self, text: str) -> str:
        """`text` with the bracket of every such heading changed, or a bracket put before one that has none."""
        text = self._bracket.sub(self._judge, text)
        if self._bare:
            text = self._line.sub(self._mark, text)
        if self._has_literal:
            text = self._literal.sub(lambda found: found[1] + CHANGED + found[2].lstrip(_OPEN), text)
        return text

    def _judge(self, found: re.Match[str]) -> str:
        if _fold(found[found.lastindex or 0])[:1] not in self._beginnings:
            return found[0]
        text, at = found.string, found.start()
        return CHANGED if any(self._poses(text, at, *name) for name in self._names(text, at + 1)) else found[0]

    def _poses(self, text: str, at: int, name: str, end: int) -> bool:
        if name not in self._bracketed and name not in self._families:
            return False
        if text[at] in _CORNER:
            return name in self._bracketed and _ALONE.match(text, end) is not None and _begins_line(text, at)
        if text[at] == "[" and name.isascii() and name not in _OWN and _SUBSCRIPTED.match(text, at - 1):
            return False
        closed = _CLOSED.match(text, end) is not None
        if closed and name in self._bracketed:
            return True
        if name in self._families and _DASHED.match(text, end):
            return True
        return (closed or _PARTED.match(text, end) is not None) and _begins_line(text, at)

    def _mark(self, found: re.Match[str]) -> str:
        text = found.string
        for name, end in self._names(text, found.end()):
            if name in self._bare and (_CLOSED.match(text, end) or _PARTED.match(text, end)):
                return found[0] + CHANGED
        return found[0]

    def _names(self, text: str, at: int) -> Iterator[tuple[str, int]]:
        """The names that begin with the first letter after `at`, and where each ends."""
        name = ""
        for found in _STEP.finditer(text, at):
            name += _fold(found[0])
            if found[1] is None or name not in self._beginnings:
                return
            if name in self._known:
                yield name, found.end()


@lru_cache(maxsize=64)
def headings_of(groups: tuple[str, ...]) -> Headings:
    """Our own headings and `groups`, in any order."""
    return Headings(OURS.union(groups))


def _first(letters: set[str]) -> str:
    """A pattern for what may begin a name: those ASCII letters, or any other letter at all."""
    narrow = "".join(chr(code) for code in range(128) if chr(code).isalnum() and _fold(chr(code))[:1] in letters)
    return rf"(?:[{narrow}]|(?![\x00-\x7f]){_LETTER})" if narrow else rf"(?![\x00-\x7f]){_LETTER}"


def _begins_line(text: str, at: int) -> bool:
    """Whether no letter stands before `at` in its line: to a reader, quotes, bullets and stars begin nothing."""
    while at and text[at - 1] not in _BREAK:
        if re.match(_LETTER, text[at - 1]):
            return False
        at -= 1
    return True


# What a reader does not see inside a word: zero-width characters, soft hyphen, joiners, selectors.
_UNSEEN = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2060-\u206f\ufe00-\ufe0f\ufeff"
_GAP = f"[\\s{_UNSEEN}/／⁄∕]*"


def _spelled(word: str) -> str:
    """A pattern for `word` in any case or width, with look-alikes, and unseen characters between."""
    alike = {"a": "аɑα", "e": "еε", "y": "уү", "r": "г", "l": "1|ⅼⅠІӏ"}
    letters = []
    for letter in word:
        wide = chr(ord(letter) + 0xFEE0) + chr(ord(letter.upper()) + 0xFEE0)
        letters.append(f"[{letter}{letter.upper()}{wide}{alike.get(letter, '')}]")
    return f"[{_UNSEEN}]*".join(letters)


_TEMPLATE_NAMES = (
    "s|bos|eos|pad|unk|mask|cls|sep|sop|eop|think|thinking|tool_call|tool_calls|tool_response|function_calls|"
    "function_results|invoke|system|start_of_turn|end_of_turn|start_header_id|end_header_id|antml"
)
_INSTRUCTIONS = "INST|SYS|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS|gMASK|sMASK"
_MARKS = sorted({mark.strip("</>") for mark in MARKS})
_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
# One class in front of everything: `re` skips to it thirty times as fast as it tries alternatives.
_FIRST = rf"<＜﹤\[［{BIDI}{TAGS}{_CONTROL}\ud800-\udfff"
_SUSPECT = re.compile(
    rf"[{_FIRST}](?i:"
    rf"(?<=[<＜﹤])(?:(?={_GAP}{_spelled('layer')}[{_UNSEEN}]*[-_‐‑‒–—−﹣－])"
    rf"|(?={_GAP}(?:{'|'.join(map(_spelled, _MARKS))})[{_UNSEEN}]*{_GAP}[>＞﹥])"
    rf"|(?=[|｜][^<>\n|｜]{{1,60}}[|｜][>＞﹥]|[<＜﹤]{_GAP}SYS[>＞﹥]|{_GAP}(?:{_TEMPLATE_NAMES})[>＞﹥]))(?P<tag>)"
    rf"|(?<=[\[［])(?={_GAP}(?:{_INSTRUCTIONS})[\]］])(?P<inst>)"
    rf"|(?<=[{BIDI}])(?P<bidi>)"
    rf"|(?<=[{TAGS}])[{TAGS}]*(?P<tags>)"
    rf"|(?<=[{_CONTROL}])(?P<control>)"
    r"|(?<=[\ud800-\udfff])(?P<surrogate>))"
)

# Without one of these no pattern has anything to say, but for headings that stand bare.
_SIGN = re.compile(f"[{_FIRST}{re.escape(BRACKETS)}]")
_HIDDEN = re.compile(f"[{BIDI}]|[{TAGS}]+")
_SHORT = 1_000  # code points
# A host may have families of its own, `[检索 — 网页]`.
_EXACTLY_OURS = Headings(OURS, families=False)
_OF_REQUEST = frozenset(column["query"] for column in HEADINGS.values())


def opening(layer: LayerName) -> str:
    """The line that opens a layer."""
    return f"<layer-{layer}>"


def closing(layer: LayerName) -> str:
    """The line that closes a layer."""
    return f"</layer-{layer}>"


def escape(text: str, groups: tuple[str, ...] = ()) -> str:
    """`text` with everything that could leave its fence made harmless, visibly.

    Args:
        text: Any str; lone surrogates become U+FFFD.
        groups: Headings of this prompt that are not our own; ours are known, whether or not the prompt has them.

    Returns:
        The text, the same object when nothing had to change. Applying it twice changes nothing more.

    Cost: one pass for plain prose, else two more; a look-up for what was asked a moment ago, such as cards and
    paragraphs that stand in many prompts of a project, and the open document.
    """
    found = _short(text, groups) if len(text) <= _SHORT else _long(text, groups)
    return text if found == text else found


def doubtful(texts: Sequence[str], groups: tuple[str, ...] = ()) -> set[int]:
    """The places of those `texts` that `escape` may change; all others it returns as they are.

    Cost: one pass of one pattern, for what nobody remembers: thousands of candidates of a host.
    """
    if headings_of(groups).stand_bare:
        return set(range(len(texts)))
    sign = _SIGN.search
    return {place for place, text in enumerate(texts) if sign(text)}


def _escaped(text: str, groups: tuple[str, ...]) -> str:
    headings = headings_of(groups)
    if not headings.stand_bare and _SIGN.search(text) is None:
        return text  # prose, in one pass for two
    return _SUSPECT.sub(_harmless, headings.changed(text))


# At most 2 MB of texts that nothing else holds, and four long ones: the open document is the same text in each prompt.
_short = lru_cache(maxsize=1024)(_escaped)
_long = lru_cache(maxsize=4)(_escaped)


@lru_cache(maxsize=1024)
def group_heading(heading: str, *, of_request: bool = False) -> str:
    """A group's heading as it may stand in a prompt: on one line, and none of ours unless it is that to the letter.

    Args:
        heading: As its fetcher gave it.
        of_request: Whether the user's words stand under it; the heading of the request is theirs alone.
    """
    line = _SUSPECT.sub(_harmless, " ".join(heading.split()))
    if line in (OURS if of_request else OURS - _OF_REQUEST):
        return line
    return _EXACTLY_OURS.changed(line)


def carried(text: str, harmless: str, offsets: Iterable[int]) -> list[int]:
    """Where `offsets` into a text are in what `escape` made of it.

    An offset inside what became one sign, such as a run of invisible letters, is where that begins.

    Cost: none when both are of one length; else one step for each code point.
    """
    return list(offsets) if len(text) == len(harmless) else _places(text, harmless, list(offsets))


def _places(text: str, harmless: str, offsets: list[int]) -> list[int]:
    drawn = {found.start(): found.end() for found in _HIDDEN.finditer(text)}
    places, at, here = [0], 0, 0
    while here < len(text):
        end = drawn.get(here, here)
        if end > here:  # invisible, spelled out in brackets
            at = harmless.find("]", at) + 1 or len(harmless)
        else:  # what poses as a heading without a bracket has one before it
            at += 2 if harmless[at : at + 1] == CHANGED and text[here] not in OPENERS else 1
            end = here + 1
        places += [at] * (end - here)
        here = end
    return [min(places[min(offset, len(text))], len(harmless)) for offset in offsets]


def _harmless(found: re.Match[str]) -> str:
    what, hit = found.lastgroup, found[0]
    if what == "tag":
        return "‹"
    if what == "inst":
        return CHANGED
    if what == "bidi":
        return f"[U+{ord(hit):04X}]"
    if what == "tags":
        return f"[U+{ord(hit[0]):04X}×{len(hit)}]" if len(hit) > 1 else f"[U+{ord(hit):04X}]"
    if what == "control":
        return chr(0x2400 + ord(hit)) if ord(hit) < 0x20 else "\u2421" if hit == "\x7f" else "\ufffd"
    return "\ufffd"
