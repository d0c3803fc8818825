"""Which characters are of which script.

The ranges are for character classes of regular expressions: `re.compile(f"[{HAN}{KANA}]")`. They differ because what is
asked differs: what may be a name of Han characters, what is written without spaces, what is set in full width.
"""

import re
from typing import Final

__all__ = [
    "EAST_ASIAN",
    "HAN",
    "HANGUL",
    "HAN_EVERY",
    "HAN_FIRST",
    "HAN_LAST",
    "HAN_UNIFIED",
    "KANA",
    "UNSPACED",
    "is_han",
]

HAN_FIRST: Final = "\u3400"
HAN_LAST: Final = "\u9fff"
HAN: Final = f"{HAN_FIRST}-{HAN_LAST}"  # unified ideographs and extension A
HAN_UNIFIED: Final = "\u4e00-\u9fff"  # without the extension
HAN_EVERY: Final = f"{HAN}\uf900-\ufaff\U00020000-\U0003ffff"  # with compatibility ideographs and the other planes
KANA: Final = "\u3040-\u30ff"
HANGUL: Final = "\uac00-\ud7a3"
# What a word of which does not end at a space, and a retrieval term is made of pairs of; iteration marks included.
UNSPACED: Final = f"\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf{HAN_UNIFIED}{HANGUL}\uf900-\ufaff\U00020000-\U0003ffff"
# Lines of text that are set in full width: radicals and punctuation included.
EAST_ASIAN: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"


_ALL_HAN: Final = re.compile(f"[{HAN}]+")


def is_han(character: str) -> bool:
    """Whether a character, or every one of several, is a Han character of the basic plane."""
    return _ALL_HAN.fullmatch(character) is not None
