"""Forms that nobody has filled in: templates, and pages of headings and labels with nothing behind them."""

import re
from typing import Final

PLACEHOLDER: Final = re.compile(
    r"\{\{[^{}\n]{0,80}\}\}|<%[^%\n]{0,80}%>|\$\{[^}\n]{0,80}\}|_{4,}|\b(?:TBD|TODO|FIXME)\b"
    r"|[（(【\[](?:待[填定补補写寫]|请填|填写)"
)
"""What a form has where a person is to write."""
_NOTHING: Final = re.compile(
    PLACEHOLDER.pattern + r"|<!--.*?-->|\[\[[^\]\n]*/\]\]|_{3,}|…{2,}|\.{4,}|待补充|待填写|待定", re.DOTALL
)
_HEADING: Final = re.compile(r"#{1,6}(?:\s|$)")
_ITEM: Final = re.compile(r"\s*(?:[-*+•·]|\d{1,3}[.)、])(?:\s+\[[ xX]\])?(?:\s|$)")
_LABELS: Final = re.compile(r"(?:[^:：|]{1,60}[:：]\s*)+")
_LETTER: Final = re.compile(r"[^\W_]")
_ITEMS: Final = 7  # an item stands below every heading, and below a line that is none


def filled_in(text: str) -> str:
    """`text` without the headings and labels that have nothing behind them; "" when nothing is left.

    Of a text where each has something, the text itself. Placeholders such as `{{title}}` count as nothing.

    Cost: one pass over the lines.
    """
    lines = text.split("\n")
    kept: list[str] = []
    dropped = False
    below = 0  # the least depth for which something that is kept stands further down
    for line in reversed(lines):
        depth, is_frame = _read(line)
        if not _LETTER.search(line):
            kept.append(line)
        elif not is_frame or depth < below:
            kept.append(line)
            below = depth
        else:
            dropped = True
    if not dropped:
        return text
    left = "\n".join(reversed(kept))
    return re.sub(r"\n{3,}", "\n\n", left).strip() if below else ""


def _read(line: str) -> tuple[int, bool]:
    """How deep a line stands, from 1, and whether it only names what is to follow."""
    said = _NOTHING.sub("", line)
    if (heading := _HEADING.match(said)) is not None:
        return len(heading[0].rstrip()), True
    item = _ITEM.match(said)
    indent = len(line) - len(line.lstrip())
    depth = _ITEMS if item is None else _ITEMS + 1 + indent
    bare = (said if item is None else said[item.end() :]).replace("*", "").strip(" \t|-")
    return depth, not _LETTER.search(bare) or _LABELS.fullmatch(bare) is not None
