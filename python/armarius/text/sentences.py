"""Where sentences and clauses end: the one set of marks, and each way in which a caller may be strict about them.

The full stop of the ASCII range is the difficult one: it also stands in 3.5, e.g. and file.md. `AT_END` and `BETWEEN`
therefore ask for white space behind it; `RUN` and `CLAUSE`, which only look at the words of one short sentence, do not.
Whether a capital letter begins a sentence is `begins_sentence` of `names/usage.py`, which also knows abbreviations.
"""

import re
from typing import Final

__all__ = [
    "AT_END",
    "BETWEEN",
    "CLAUSE",
    "ENDS_LINE",
    "ENDS_WIDE_LINE",
    "HAS_MARK",
    "HAS_MARK_OR_COLON",
    "LEADING_CLAUSE",
    "NEXT",
    "RUN",
    "STATEMENT",
    "TYPE_CLAUSE",
    "WIDE_RUN",
    "after_sentence",
]

_WIDE: Final = "。！？"
_STOP: Final = f"{_WIDE}!?"
_SEMI: Final = "；;"
_CLOSE: Final = "”’」』）"  # what may close behind a mark, of Chinese and Japanese
_QUOTE: Final = "”’)\"'"  # and behind a full stop

# A mark that no name and no label holds.
HAS_MARK: Final = re.compile(f"[{_STOP}{_SEMI}…]")
HAS_MARK_OR_COLON: Final = re.compile(rf"[{_STOP}{_SEMI}：:\n]")

# The end of a sentence inside running text, with what closes behind it; a line end is one too.
AT_END: Final = re.compile(rf"[{_STOP}…][{_CLOSE})\"']*|\.[{_QUOTE}]*(?=\s|$)|\n")
# What stands between the parts of a text that are weighed one by one; a semicolon parts them too.
BETWEEN: Final = re.compile(rf"[{_STOP}{_SEMI}\n]|\. ")
# The place where the next sentence begins, white space behind a full stop included.
NEXT: Final = re.compile(rf"[{_STOP}…][{_CLOSE})\"']*|[.][{_QUOTE}]*\s+")

# Whether a line of text is at its end: with any mark, or as lines of Chinese prose end.
ENDS_LINE: Final = re.compile(rf"[{_WIDE}….!?][”’」』\"')\]]*\s*$")
ENDS_WIDE_LINE: Final = re.compile(rf"[{_WIDE}…”」』》）：；!?—～]\s*$")

# The words between two marks.
RUN: Final = re.compile(rf"[^{_STOP}{_SEMI}\n.]+")
WIDE_RUN: Final = re.compile(rf"[^{_STOP}{_SEMI}\n]+")
STATEMENT: Final = re.compile(rf"[^{_STOP}{_SEMI}\n]+[{_STOP}{_SEMI}]?[”’」』\"]?|(?<=\.)\s")
LEADING_CLAUSE: Final = re.compile(rf"[^，,{_SEMI}{_STOP}.\n]*")
# The marks that end the word for a relation.
CLAUSE: Final = re.compile(rf"[，,。.{_SEMI}!！\n]")
TYPE_CLAUSE: Final = re.compile(rf"[，,。.{_SEMI}：:！!\n]")


def after_sentence(what: str) -> str:
    """A pattern for `what` where a sentence begins; to be compiled with `re.MULTILINE`."""
    return rf"(?:^|[.{_STOP}]\s*){what}"
