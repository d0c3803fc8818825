"""Keep retrieved text inside its layer: no part of it equals a heading, a layer tag or a control token of ours.

A layer stands between `<layer-NAME>` and `</layer-NAME>`, a group under its bracketed heading. Before anything is
counted, text that reads as one of these after `fold` is changed *visibly*, by one character where possible: `<` becomes
`‹`, `[` becomes `⟦`, an invisible character its code point in brackets. One fold serves headings, tags and control
tokens. Text that merely persuades a model is left as it is. Ordinary prose and code pass unchanged.

Marks of cursor and selection in the window are words that a language model reads; no text of the prompt can say them.

    林渡把信<selection>收进袖中</selection><cursor/>，没有说话。

A mark stands where its offset is and belongs to none of the adjacent words. A cursor inside a selection is not marked:
what is selected stands word for word.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from armarius.headings import HEADINGS
from armarius.lexicon import word_file
from armarius.types import LayerName

CURSOR: Final = "<cursor/>"
SELECTED: Final = ("<selection>", "</selection>")
MARKS: Final = (CURSOR, *SELECTED)

Marks = Sequence[tuple[int, str]]


def marks_of(cursor: int | None, selection: tuple[int, int] | None) -> tuple[tuple[int, str], ...]:
    """The marks of a window, in order. Offsets are code points of it; None is not to be marked."""
    if selection is None:
        return () if cursor is None else ((cursor, CURSOR),)
    start, end = selection
    before = ((cursor, CURSOR),) if cursor is not None and cursor <= start else ()
    after = ((cursor, CURSOR),) if cursor is not None and cursor >= end else ()
    return (*before, (start, SELECTED[0]), (end, SELECTED[1]), *after)


def insert_marks(text: str, marks: Marks, start: int = 0, end: int | None = None) -> str:
    """`text[start:end]` with the marks that lie in it or at its ends."""
    end = len(text) if end is None else end
    if not marks:
        return text[start:end]
    pieces, at = [], start
    for offset, mark in marks:
        if start <= offset <= end:
            pieces += [text[at:offset], mark]
            at = offset
    return "".join([*pieces, text[at:end]])


def trimmed(text: str, marks: Marks, start: int = 0, end: int | None = None) -> tuple[int, int]:
    """`start` and `end` without the white space there, but for what stands between a mark and the words."""
    end = len(text) if end is None else end
    piece = text[start:end]
    inside = [offset for offset, _ in marks if start <= offset <= end]
    first = start + len(piece) - len(piece.lstrip())
    last = start + len(piece.rstrip())
    if not inside:
        return min(first, end), max(first, last)
    return min(first, *inside), max(last, *inside)


def strip_marks(text: str) -> str:
    """A text without marks."""
    for mark in MARKS:
        text = text.replace(mark, "")
    return text


OURS: Final = frozenset(text for column in HEADINGS.values() for text in column.values())
_OF_REQUEST: Final = frozenset(column["query"] for column in HEADINGS.values())
_CHANGED: Final = "⟦"
"""What a changed heading begins with. No bracket in what follows, so that changing twice changes nothing more."""

_OPEN = "[［﹇【︻〔︹﹝❲〖︗〘︗〚⁅⸢⸤⌈⌊⎡⎢⎣⟬⦋⦍⦏⦗⧘⧚\u2e55\u2e57\u2e59\u2e5b"
_CLOSE = "]］﹈】︼〕︺﹞❳〗︘〙〛⁆⸣⸥⌉⌋⎤⎥⎦⟭⦌⦎⦐⦘⧙⧛\u2e56\u2e58\u2e5a\u2e5c"
_CORNER = "「『｢﹁﹃"  # quotation marks in prose: a heading only where they enclose all of a line
_BREAK = "\n\r\x85\u2028\u2029"  # `str.splitlines` knows more: control characters, which stand in no prompt
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb"
_TAGS = "\U000e0000-\U000e007f"
_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
_ASCII_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_INVISIBLE: Final = frozenset({"Mn", "Me", "Cf", "Cc", "Cs"})  # Unicode categories
_FILLERS: Final = frozenset("\u115f\u1160\u2800")  # letters and signs without ink

_ALIKE = str.maketrans({char: letter for letter, alike in word_file("look_alikes").items() for char in alike})


def _visible_text(text: str) -> str:
    """`text` in one width and case, without what has no ink of its own."""
    if text.isascii():
        return _ASCII_CONTROL.sub("", text.casefold())
    spelled = unicodedata.normalize("NFKD", text).casefold()
    return "".join(
        char
        for char in spelled
        if (unicodedata.category(char) not in _INVISIBLE and char not in _FILLERS) or char.isspace()
    )


def fold(text: str) -> str:
    """`text` as a reader sees it: NFKD, no case, nothing invisible, each letter as the first of those it looks like."""
    return _visible_text(text).translate(_ALIKE)


def _letters(text: str) -> str:
    return "".join(char for char in fold(text) if char.isalnum())


def _names(words: str) -> frozenset[str]:
    return frozenset(map(fold, words.split()))


_TEMPLATE: Final = _names(
    "s bos eos pad unk mask cls sep sop eop think thinking tool_call tool_calls tool_response function_calls "
    "function_results invoke system sys start_of_turn end_of_turn start_header_id end_header_id antml"
) | {fold(mark.strip("</>")) for mark in MARKS}
_INSTRUCTIONS: Final = _names("INST SYS SYSTEM_PROMPT TOOL_CALLS TOOL_RESULTS TOOL_CONTENT AVAILABLE_TOOLS gMASK sMASK")
_LAYER = re.compile(rf"[\s/\\⁄∕]*{fold('layer')}\s*[-_‐‑‒–—−]")
_PIPED = re.compile(r"\|[^|\n]{1,60}\|")
_AROUND = " \t\n\r/\\⁄∕"
_LONGEST = 300  # code points of a tag that are looked at, invisible ones included

_BRACKETS = re.escape(_OPEN + _CLOSE + _CORNER + "⟦⟧")
_SUSPECT = re.compile(
    rf"(?P<bracket>[{re.escape(_OPEN + _CORNER)}])"
    rf"(?=(?P<inside>[^{_BRACKETS}{_BREAK}]*)(?P<end>[{re.escape(_CLOSE)}]?))"
    rf"|(?P<angle>[<＜﹤])(?=(?P<tag>[^<>＜＞﹤﹥]{{0,{_LONGEST}}})(?P<closed>[>＞﹥]?))"
    rf"|(?P<hidden>[{_BIDI}]|[{_TAGS}]+)"
    rf"|(?P<control>[{_CONTROL}\ud800-\udfff])"
)
# Without one of these nothing is changed, but for headings that have no bracket.
_SIGN = re.compile(rf"[{re.escape(_OPEN + _CORNER)}<＜﹤{_BIDI}{_TAGS}{_CONTROL}\ud800-\udfff]")
_LINE = re.compile(f"[^{_BREAK}]+")
_LEAD = re.compile(rf"(?:[^\w{_BRACKETS}]|_)*(?=\w)")
_BEFORE_COLON = re.compile(r"[\W_]*[^:\d]*")
# `errors[code]` is no heading, even if a host has a heading `[Code]`.
_SUBSCRIPTED = re.compile(r"[A-Za-z0-9_)\]]")
_OWN = frozenset(map(_letters, OURS))

_Edit = tuple[int, int, str]


class Headings:
    """Finds what reads as one of some headings.

    Args:
        texts: Headings as they stand in a prompt. Of one with a square bracket what that bracket encloses counts,
            anywhere in a text; one without stands where a line begins with it and nothing or a colon follows.

    Attributes:
        stand_bare: Whether some heading has no bracket, so that any line may equal it.

    Cost: one pass at the speed of `re`, and about 2 µs for each bracket.
    """

    def __init__(self, texts: Collection[str]) -> None:
        bracketed = {text: re.search(rf"[{re.escape(_OPEN)}{_CHANGED}]([^{_BRACKETS}]*)", text) for text in texts}
        self._bracketed = {_letters(match[1]) for match in bracketed.values() if match is not None}
        bare = [text for text, match in bracketed.items() if match is None or not _letters(match[1])]
        self._bare = {_letters(text) or text.strip() for text in bare}
        self._bracketed.discard("")
        self.stand_bare = bool(self._bare)

    def edits(self, text: str) -> list[_Edit]:
        """What of `text` is replaced, in order: (start, end, replacement)."""
        edits: list[_Edit] = []
        for sign in _SIGN.finditer(text):  # much faster than the pattern that says what it is
            if not edits or edits[-1][1] <= sign.start():
                match = _SUSPECT.match(text, sign.start())
                if match is not None and (new := self._escape_match(match)):
                    edits.append((match.start(), match.end(), new))
        if self._bare:
            edits += (edit for line in _LINE.finditer(text) for edit in self._bracket_edits(line))
            edits.sort()
        return edits

    def changed(self, text: str) -> str:
        """`text` with every such heading changed, and every tag and control token."""
        pieces, at = [], 0
        for start, end, new in self.edits(text):
            pieces += [text[at:start], new]
            at = end
        return "".join([*pieces, text[at:]])

    def _escape_match(self, match: re.Match[str]) -> str:
        if match["bracket"]:
            return _CHANGED if self._is_heading(match) or _is_instruction(match) else ""
        if match["angle"]:
            return "‹" if _is_tag(match["tag"], bool(match["closed"])) else ""
        hit = match[0]
        if match["hidden"]:
            return f"[U+{ord(hit[0]):04X}" + (f"×{len(hit)}]" if len(hit) > 1 else "]")
        return chr(0x2400 + ord(hit)) if ord(hit) < 0x20 else "\u2421" if hit == "\x7f" else "\ufffd"

    def _is_heading(self, match: re.Match[str]) -> bool:
        text, at, name = match.string, match.start(), _letters(match["inside"])
        if name in self._bracketed:
            if match["bracket"] in _CORNER:
                return _begins_line(text, at) and not _letters(
                    rest[0] if (rest := _LINE.match(text, match.end("inside"))) else ""
                )
            subscripted = name.isascii() and name not in _OWN and _SUBSCRIPTED.match(text, at - 1)
            return match["bracket"] != "[" or not subscripted
        if match["bracket"] in _CORNER:
            return False
        # Not closed, or more than the heading enclosed: one where it begins a line.
        name = _letters(_before_colon(match["inside"]))
        return name in self._bracketed and _begins_line(text, at)

    def _bracket_edits(self, match: re.Match[str]) -> Iterator[_Edit]:
        """A bracket before a line that equals a heading without one, or in the place of its first sign."""
        line, at = match[0], -1
        if line.strip() in self._bare:
            at = len(line) - len(line.lstrip())
        elif (lead := _LEAD.match(line)) is not None:
            rest = line[lead.end() :]
            if {_letters(rest), _letters(_before_colon(rest))} & self._bare:
                at = lead.end()
        if at >= 0:
            start = match.start() + at
            yield start, start + (line[at] in _OPEN), _CHANGED


def _before_colon(text: str) -> str:
    match = _BEFORE_COLON.match(_visible_text(text))
    return match[0] if match else ""


def _begins_line(text: str, at: int) -> bool:
    """Whether no letter stands before `at` in its line: to a reader, quotes, bullets and stars begin nothing."""
    while at and text[at - 1] not in _BREAK:
        if _letters(text[at - 1]):
            return False
        at -= 1
    return True


def _is_instruction(match: re.Match[str]) -> bool:
    return bool(match["end"]) and fold(match["inside"]).strip(_AROUND) in _INSTRUCTIONS


def _is_tag(body: str, closed: bool) -> bool:
    seen = fold(body)
    if _LAYER.match(seen):
        return True
    return closed and (seen.strip(_AROUND) in _TEMPLATE or _PIPED.fullmatch(seen) is not None)


@lru_cache(maxsize=64)
def _headings_of(groups: tuple[str, ...]) -> Headings:
    """Our own headings and `groups`, in any order."""
    return Headings(OURS.union(groups))


def opening(layer: LayerName) -> str:
    """The line that opens a layer."""
    return f"<layer-{layer}>"


def closing(layer: LayerName) -> str:
    """The line that closes a layer."""
    return f"</layer-{layer}>"


def escape(text: str, groups: tuple[str, ...] = ()) -> str:
    """`text` with everything that equals a part of a prompt changed visibly.

    Args:
        text: Any str; lone surrogates become U+FFFD.
        groups: Headings of this prompt that are not our own; ours are known, whether or not the prompt has them.

    Returns:
        The text, the same object when nothing had to change. Applying it twice changes nothing more.

    Cost: one pass, and a few µs for each bracket; a look-up for what was asked a moment ago, such as cards and
    paragraphs that stand in many prompts of a project, and the open document.
    """
    result = escape_short(text, groups) if len(text) <= SHORT else _long(text, groups)
    return text if result == text else result


def doubtful(texts: Sequence[str], groups: tuple[str, ...] = ()) -> set[int]:
    """The places of those `texts` that `escape` may change; all others it returns as they are.

    Cost: one pass of one pattern, for what nobody remembers: thousands of candidates of a host.
    """
    if _headings_of(groups).stand_bare:
        return set(range(len(texts)))
    sign = _SIGN.search
    return {place for place, text in enumerate(texts) if sign(text)}


def _escape_text(text: str, groups: tuple[str, ...]) -> str:
    headings = _headings_of(groups)
    if not headings.stand_bare and _SIGN.search(text) is None:
        return text
    return headings.changed(text)


# At most 2 MB of texts that nothing else holds, and four long ones: the open document is the same text in each prompt.
SHORT = 1_000  # code points
escape_short = lru_cache(maxsize=1024)(_escape_text)
"""`escape` of a paragraph or less, for those that ask for many: what had not to change may be an equal text."""
_long = lru_cache(maxsize=4)(_escape_text)


@lru_cache(maxsize=1024)
def group_heading(heading: str, *, of_request: bool = False) -> str:
    """A group's heading as it may stand in a prompt: on one line, and none of ours unless it is that to the letter.

    Args:
        heading: As its fetcher gave it.
        of_request: Whether the user's words stand under it; the heading of the request is theirs alone.
    """
    line = " ".join(heading.split())
    return line if line in (OURS if of_request else OURS - _OF_REQUEST) else escape(line)


def offsets_after(text: str, groups: tuple[str, ...], offsets: Iterable[int]) -> list[int]:
    """Where `offsets` into a text are in `escape(text, groups)`.

    An offset inside what became one sign, such as a run of invisible letters, is where that begins.

    Cost: one pass over the text.
    """
    edits = _headings_of(groups).edits(text)
    ends, added = [0], [0]
    for start, end, new in edits:
        ends.append(max(end, start + 1))
        added.append(added[-1] + len(new) - (end - start))
    starts = [start for start, _, _ in edits]
    places = []
    for offset in offsets:
        at = bisect_right(ends, offset, lo=1) - 1  # the last edit that ends before it
        inside = at < len(starts) and starts[at] < offset
        places.append((starts[at] if inside else offset) + added[at])
    return places
