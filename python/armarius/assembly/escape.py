"""Keeping content inside its layer: retrieved text is data, whatever it says.

A layer stands between `<layer-NAME>` and `</layer-NAME>`. Before anything is counted, whatever in a
content could be read as such a tag, as a group's bracketed heading, as a control token of a chat
template or as an invisible instruction is changed *visibly*, by one character where possible: `<`
becomes `‹`, `[` becomes `⟦`, an invisible character its code point in brackets. The same function
serves every layer, so stable layers stay byte-identical. Ordinary prose and code pass unchanged.
What is read as a heading is told in `posing.py`.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from armarius.assembly.posing import BIDI, BRACKETS, CHANGED, OPENERS, OURS, TAGS, Headings, headings_of
from armarius.headings import HEADINGS
from armarius.marks import MARKS
from armarius.records import LayerName

__all__ = ["carried", "closing", "doubtful", "escape", "group_heading", "opening"]

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
