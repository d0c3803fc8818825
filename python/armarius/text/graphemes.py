"""Where a text may be cut without tearing what a reader takes for one character.

An accent and its letter, the parts of a family emoji, a syllable of jamo, a Devanagari conjunct, the two letters of a
flag. Every question is answered from the surroundings of one place, but for flags: which two of a row of letters belong
together depends on where the row begins.
"""

import re
from typing import Final

import armarius._core as _core

__all__ = ["grapheme_floor"]

_AROUND: Final = 128  # code points: longer than any sequence that Unicode lists
_FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]")


def grapheme_floor(text: str, at: int) -> int:
    """`at`, moved back to where no grapheme is torn.

    Args:
        text: Any str, of any length; a lone surrogate is a character of its own.
        at: Offset in code points.

    Returns:
        At most `at`; a row of more than 128 marks on one letter may be cut inside.

    Cost: a look at 256 code points; in a row of flags, at the row.
    Source: Unicode Standard Annex 29, extended grapheme clusters, by the `unicode-segmentation` crate.
    """
    if not 0 < at < len(text):
        return at
    low = max(0, at - _AROUND)
    row = low
    while row > 0 and _FLAG.match(text, row - 1):
        row -= 1
    low -= (low - row) % 2
    around = text[low : at + _AROUND].encode("utf-8", "replace").decode()
    return low + _core.grapheme_floor(around, at - low)
