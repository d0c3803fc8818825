"""Keeping content inside its layer: retrieved text is data, whatever it says.

A layer stands between `<layer-NAME>` and `</layer-NAME>`. Before anything is counted, whatever in a
content could be read as such a tag, as a group's bracketed heading, as a control token of a chat
template or as an invisible instruction is changed *visibly*, by one character where possible: `<`
becomes `‹`, `[` becomes `⟦`, an invisible character its code point in brackets. The same function
serves every layer, so stable layers stay byte-identical. Ordinary prose and code pass unchanged.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from armarius.fetchers.base import LayerName

__all__ = ["closing", "neutralise", "opening", "single_line"]

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


# Where a reader sees a line begin: every line break of Unicode, then white space and unseen characters.
_LINE = f"(?:^|(?<=[\r\v\f\x1c-\x1e\x85\u2028\u2029]))[^\\S\n{_UNSEEN}]*[{_UNSEEN}]*[^\\S\n]*"

_TEMPLATE_NAMES = (
    "s|bos|eos|pad|unk|mask|cls|sep|sop|eop|think|thinking|tool_call|tool_calls|tool_response|function_calls|"
    "function_results|invoke|system|start_of_turn|end_of_turn|start_header_id|end_header_id|antml"
)
_SUSPECT = re.compile(
    rf"(?P<tag>[<＜﹤])(?={_GAP}{_spelled('layer')}[{_UNSEEN}]*[-_‐‑‒–—−﹣－])"
    rf"|(?P<chat>[<＜﹤])(?=[|｜][^<>\n|｜]{{1,60}}[|｜][>＞﹥]|[<＜﹤]{_GAP}SYS[>＞﹥]"
    rf"|{_GAP}(?:{_TEMPLATE_NAMES})[>＞﹥])"
    rf"|(?P<inst>[\[［])(?={_GAP}(?:INST|SYS|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS|gMASK|sMASK)[\]］])"
    rf"|(?P<heading>{_LINE}[\[［【〔](?=[\s{_UNSEEN}]*知识图谱))"
    r"|(?P<unseen>[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]|[\U000e0000-\U000e007f]+)"
    r"|(?P<control>[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f])"
    r"|(?P<surrogate>[\ud800-\udfff])",
    re.IGNORECASE | re.MULTILINE,
)

# Every alternative above needs one of these; most texts have none, and this is twenty times as fast.
_TRIGGER = re.compile(
    r"[<＜﹤\[［【〔\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f"
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]"
)


def opening(layer: LayerName) -> str:
    """The line that opens a layer."""
    return f"<layer-{layer}>"


def closing(layer: LayerName) -> str:
    """The line that closes a layer."""
    return f"</layer-{layer}>"


def neutralise(text: str, headings: Iterable[str] = ()) -> str:
    """`text` with everything that could leave its fence made harmless, visibly.

    Args:
        text: Any str; lone surrogates become U+FFFD.
        headings: Group headings of this prompt; a line of the text that equals one is changed too.

    Returns:
        The text, the same object when nothing had to change. Applying it twice changes nothing more.

    Cost: one pass of one pattern.
    """
    if _TRIGGER.search(text):
        text = _SUSPECT.sub(_harmless, text)
    for heading in headings:
        if heading and heading in text:
            line = re.compile(rf"({_LINE}){re.escape(heading)}", re.MULTILINE)
            text = line.sub(lambda found: found[1] + _other_bracket(found[0][len(found[1]) :]), text)
    return text


@lru_cache(maxsize=1024)
def single_line(heading: str) -> str:
    """A group heading as it may stand in a prompt: one line, its control characters gone."""
    line = " ".join(heading.split())
    return _SUSPECT.sub(lambda found: found[0] if found.lastgroup == "heading" else _harmless(found), line)


def _harmless(found: re.Match[str]) -> str:
    what = found.lastgroup
    hit = found[0]
    if what in ("tag", "chat"):
        return "‹"
    if what == "inst":
        return "⟦"
    if what == "heading":
        return hit[:-1] + "⟦"
    if what == "unseen":
        return f"[U+{ord(hit[0]):04X}]" if len(hit) == 1 else f"[U+{ord(hit[0]):04X}×{len(hit)}]"
    if what == "control":
        return chr(0x2400 + ord(hit)) if ord(hit) < 0x20 else "\u2421" if hit == "\x7f" else "\ufffd"
    return "\ufffd"


def _other_bracket(heading: str) -> str:
    return "⟦" + heading[1:] if heading[:1] in "[［【〔" else "⟦" + heading
