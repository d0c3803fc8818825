"""How an entry of a lorebook stands in a prompt: under a header of its own, as of a chapter, posing as nothing else."""

import re
from typing import Final

from armarius.codex.cards import one_line
from armarius.codex.timeline import without_later
from armarius.codex.visible import tidy
from armarius.headings import DEFAULT_LANGUAGE, FRAMES, Language, frame

__all__ = ["body", "header"]

_LONGEST_NAME: Final = 60
_LABELS: Final = "|".join(
    dict.fromkeys(word for one in FRAMES.values() for word in (*one.begins, *one.types.values(), one.other))
)
# `#` of any width, colon of any width, and what nobody sees between and before.
_UNSEEN: Final = r"[^\S\r\n\x0b\x0c\x85\u2028\u2029]|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
_POSING: Final = re.compile(
    rf"(^|[\r\n\x0b\x0c\x85\u2028\u2029])((?:{_UNSEEN}|[>*\-•])*)[#＃﹟](?=[#＃﹟]*(?:{_UNSEEN})*"
    rf"(?:{'|'.join(rf'(?:{_UNSEEN})*'.join(label) for label in _LABELS.split('|'))})(?:{_UNSEEN})*[:：﹕︰])"
)


def header(name: str, book: str, language: Language = DEFAULT_LANGUAGE) -> str:
    """The line above an entry: `## 条目：<name>（<book>）`; names are cut after 60 characters."""
    return frame(language).entry.format(name=_short(name), book=_short(book))


def body(text: str, as_of: int | None) -> tuple[str, bool]:
    """What of the text of an entry may stand below its header, and whether lines of later chapters were left out.

    A line that would begin a card, a passage or another entry has its first `#` changed to `♯`.

    Cost: one pass over the lines, and one of a pattern.
    """
    shown = text if as_of is None else without_later(text, as_of)
    hidden = shown != text
    if hidden:
        shown = tidy(shown)
    return _POSING.sub(r"\1\2♯", shown).strip(), hidden


def _short(name: str) -> str:
    line = one_line(name)
    return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"
