"""Admission of candidates: checked, escaped, without duplicates, in one order; no text of theirs leaves its layer.

No part of a text equals a heading, a layer tag or a control token of ours. A layer stands between `<layer-NAME>` and
`</layer-NAME>`, a group under its bracketed heading. Before anything is counted, text that reads as one of these after
`fold` is changed *visibly*, by one character where possible: `<` becomes `‹`, `[` becomes `⟦`, an invisible character
its code point in brackets. One fold serves headings, tags and control tokens. Text that merely persuades a model is
left as it is. Ordinary prose and code pass unchanged.

Marks of cursor and selection in the window are words that a language model reads; no text of the prompt can say them.

    林渡把信<selection>收进袖中</selection><cursor/>，没有说话。

A mark stands where its offset is and belongs to none of the adjacent words. A cursor inside a selection is not marked:
what is selected stands word for word.
"""

import math
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import repeat
from operator import attrgetter
from typing import Final

from armarius.errors import ContextWarning
from armarius.headings import HEADINGS, Reason
from armarius.lexicon import word_file
from armarius.prompt.fetch import FetchOutcome
from armarius.types import LAYER_INDEX, LAYERS, Candidate, LayerName, Omission, OmitReason, PassageStream
from armarius.warnings import CONTEXT_SCOPE_VIOLATION

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


QUERY_SOURCE: Final = "request:query"
"""Of the user's words, which are in every prompt."""

_REST = attrgetter("source", "id", "content", "group", "anchor", "together", "documents")
_MANY = 512  # candidates: of fewer, what each becomes is remembered


@dataclass(frozen=True, slots=True)
class Admitted:
    """Candidates in canonical order, and what was refused. Independent of the order of the answers.

    `omitted` is in no order until somebody looks at it (`report.omissions`): most packs are never asked. `groups` are
    the headings that are not our own, as no text of the prompt may pose as one either; `offers` are what may fill the
    room that the candidates leave; `confidence` is that of the fetcher that is surest.
    """

    candidates: tuple[Candidate, ...]
    omitted: tuple[Omission, ...]
    warnings: tuple[tuple[LayerName, ContextWarning], ...]
    groups: tuple[str, ...] = ()
    offers: tuple[PassageStream, ...] = ()
    confidence: float | None = None


def admit(answers: Iterable[FetchOutcome], project_id: str, *, staying: Iterable[Candidate] = ()) -> Admitted:
    """Check every candidate and bring all into one order.

    A candidate of another project, an empty one and a duplicate (same id in its layer, or the same content
    anywhere) are refused and listed; what has a core, a selection, is nobody's duplicate. Content is escaped
    before anything is counted.

    Args:
        answers: One per fetcher, in any order.
        project_id: The project of the request.
        staying: Of the previous prompt, taken in before: their headings may stand in this one too.

    Cost: one pass over the text of all candidates.
    """
    answers = list(answers)
    omitted: list[Omission] = []
    warnings: set[tuple[LayerName, ContextWarning]] = set()
    offered: list[Candidate] = []
    for answer in answers:
        omitted += answer.fetched.omitted
        warnings.update(zip(repeat(answer.layer), answer.fetched.warnings))
        for candidate in answer.fetched.candidates:
            if candidate.project_id and candidate.project_id != project_id:
                detail = Reason("out.project", project=candidate.project_id)
                omitted.append(_omission(candidate, "excluded", detail))
                refused = CONTEXT_SCOPE_VIOLATION(fetcher=answer.name, source=candidate.source)
                warnings.add((candidate.layer, refused))
            else:
                offered.append(candidate)
    groups = tuple(sorted(_headings([*offered, *staying]) - OURS - {""}))
    return Admitted(
        tuple(_drop_duplicates(_sort_candidates(_clean_candidates(offered, groups)), omitted)),
        tuple(omitted),
        tuple(sorted(warnings, key=lambda w: (LAYER_INDEX[w[0]], w[1].code, w[1].message))),
        groups,
        tuple([answer.fetched.offer for answer in answers if answer.fetched.offer is not None]),
        max([sure for answer in answers if (sure := answer.fetched.confidence) is not None], default=None),
    )


def canonical(candidate: Candidate) -> tuple[object, ...]:
    """The one order of candidates, whichever fetcher answered first."""
    twins = candidate.short or "", candidate.keep or ""  # of which one must be the one kept
    return LAYER_INDEX[candidate.layer], not candidate.pinned, -candidate.score, *_REST(candidate), *twins


def _sort_candidates(candidates: list[Candidate]) -> list[Candidate]:
    """By `canonical`, of which score, source and id are enough where no two of a layer have one id."""
    if len({(item.layer, item.id) for item in candidates}) < len(candidates):
        return sorted(candidates, key=canonical)
    ordered = sorted(candidates, key=attrgetter("source", "id"))
    ordered.sort(key=attrgetter("score"), reverse=True)
    ordered.sort(key=attrgetter("pinned"), reverse=True)
    return [item for layer in LAYER_INDEX for item in ordered if item.layer == layer]


def _drop_duplicates(ordered: list[Candidate], omitted: list[Omission]) -> list[Candidate]:
    """Those with something to say that none before them says; the others are added to `omitted`."""
    everything = {item.content for item in ordered}
    if len(everything) == len(ordered) == len({(item.layer, item.id) for item in ordered}) and "" not in everything:
        return ordered
    kept: list[Candidate] = []
    ids: dict[LayerName, dict[str, Candidate]] = {layer: {} for layer in LAYERS}
    contents: dict[str, Candidate] = {}
    for candidate in ordered:
        content, mine, id_ = candidate.content, ids[candidate.layer], candidate.id
        if not content:
            omitted.append(_omission(candidate, "excluded", Reason("out.empty")))
            continue
        if (id_ in mine or content in contents) and candidate.core is None:
            twin = mine.get(id_) or contents[content]
            omitted.append(_omission(candidate, "duplicate", Reason("out.twin", source=twin.source)))
            continue
        mine[id_] = contents[content] = candidate
        kept.append(candidate)
    return kept


def _omission(candidate: Candidate, reason: OmitReason, detail: str) -> Omission:
    return Omission(candidate.id, candidate.layer, candidate.source, reason, detail)


def _headings(candidates: Sequence[Candidate]) -> set[str]:
    """The headings that `candidates` stand under; most of thousands share one."""
    headings = {group_heading(group) for group in {c.group for c in candidates if c.source != QUERY_SOURCE} if group}
    of_request = {item.group for item in candidates if item.source == QUERY_SOURCE and item.group}
    return headings.union([group_heading(group, of_request=True) for group in of_request])


def _clean_candidates(candidates: Sequence[Candidate], groups: tuple[str, ...]) -> list[Candidate]:
    """Each as it may stand in a prompt; most are returned unchanged after a few checks."""
    if len(candidates) > _MANY:
        doubts = doubtful([item.content for item in candidates], groups)
    else:  # that `escape` remembers
        doubts = set()
        for at, item in enumerate(candidates):
            harmless = (escape_short if len(item.content) <= SHORT else escape)(item.content, groups)
            if harmless != item.content:
                doubts.add(at)
    steady = {group for group in {item.group for item in candidates} if not group or group_heading(group) == group}
    return [
        item
        if (
            place not in doubts
            and ((short := item.short) is None or (short and short.strip() == short == escape(short, groups)))
            and not item.marks
            and item.group in steady
            and 0 <= item.anchor <= len(item.content)
            and type(item.score) is float
            and item.score == item.score  # no NaN
            and item.content.strip() == item.content
        )
        else _clean_candidate(item, groups)
        for place, item in enumerate(candidates)
    ]


def _clean_candidate(candidate: Candidate, groups: tuple[str, ...]) -> Candidate:
    content, anchor = candidate.content, candidate.anchor
    core, marks = candidate.core, candidate.marks
    harmless = escape(content, groups)
    if harmless is not content and (anchor or core or marks):
        ends = core or (0, 0)
        anchor, *places = offsets_after(content, groups, (max(anchor, 0), *ends, *(offset for offset, _ in marks)))
        core = core and (places[0], places[1])
        marks = tuple((place, mark) for place, (_, mark) in zip(places[2:], marks, strict=True))
    as_it_is = not marks and harmless.strip() == harmless
    first, last = (0, len(harmless)) if as_it_is else trimmed(harmless, marks)
    if first or last < len(harmless):
        anchor -= first
        core = core and (max(core[0] - first, 0), min(core[1], last) - first)
        marks = tuple((offset - first, mark) for offset, mark in marks)
    stripped = harmless[first:last] if first or last < len(harmless) else harmless
    short = None if candidate.short is None else escape(candidate.short, groups).strip() or None
    group, score = candidate.group, float(candidate.score)
    group = group and group_heading(group, of_request=candidate.source == QUERY_SOURCE)
    if (
        stripped == content
        and short == candidate.short
        and group == candidate.group
        and 0 <= anchor <= len(content)
        and not math.isnan(score)
    ):
        return candidate
    return replace(
        candidate,
        content=stripped,
        anchor=min(max(anchor, 0), len(stripped)),
        short=short,
        group=group,
        score=-math.inf if math.isnan(score) else score,
        core=core,
        marks=marks,
    )
