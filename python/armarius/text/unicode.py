"""Unicode helpers: folding, slugs, scripts, punctuation."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final, Literal, cast

import armarius._core as _core


class _LazyPattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(*self._source)
        self.__dict__.update({method: getattr(compiled, method) for method in ("match", "fullmatch", "search")})
        return getattr(compiled, name)


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that is compiled when it is first used: of hundreds of words that takes 5 to 20 ms, and few need it."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


APOSTROPHES: Final = str.maketrans("‘’ʼ", "'''")  # the core's `is_apostrophe` (rust/text/normalize.rs)


def fold(text: str) -> str:
    """`text` for comparison: NFKC, case folded, white space collapsed, straight apostrophes.

    The matcher compares names in running text and keeps offsets (`rust/text/normalize.rs`).
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).translate(APOSTROPHES)


def caseless(name: str) -> str:
    """A name in lower case with straight apostrophes: the matcher's comparison for common characters."""
    return name.lower().translate(APOSTROPHES)


def slug(name: str) -> str:
    """`name` as an id: folded, without white space; apostrophes stay, as in existing ids."""
    return "-".join(unicodedata.normalize("NFKC", name).casefold().split())


_AROUND: Final = 128  # code points: longer than any sequence that Unicode lists
_FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]")


def grapheme_floor(text: str, at: int) -> int:
    """`at`, moved back to a grapheme boundary.

    Args:
        text: Any str, of any length; a lone surrogate is a character of its own.
        at: Offset in code points.

    Returns:
        At most `at`; a row of more than 128 marks on one letter may be cut inside.

    Cost: reads 256 code points; in a row of flags, the row.
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


def blank(text: str) -> str:
    """`text` replaced by spaces, with its line ends."""
    return re.sub(r"[^\r\n]", " ", text)


def blank_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """`text` with these spans blank, in any order, overlapping or not; every offset stays. Cost: one copy."""
    parts, at = [], 0
    for start, end in sorted(spans):
        parts += [text[at:start], blank(text[max(at, start) : end])]
        at = max(at, end)
    return "".join([*parts, text[at:]])


HAN_FIRST: Final = "\u3400"
HAN_LAST: Final = "\u9fff"
HAN: Final = f"{HAN_FIRST}-{HAN_LAST}"  # unified ideographs and extension A
HAN_UNIFIED: Final = "\u4e00-\u9fff"  # without the extension
HAN_EVERY: Final = f"{HAN}\uf900-\ufaff\U00020000-\U0003ffff"  # with compatibility ideographs and the other planes
KANA: Final = "\u3040-\u30ff"
HIRAGANA: Final = "\u3041-\u309f"
HANGUL: Final = "\uac00-\ud7a3"
# Scripts without spaces between words, with retrieval terms of character pairs; includes iteration marks.
UNSPACED: Final = f"\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf{HAN_UNIFIED}{HANGUL}\uf900-\ufaff\U00020000-\U0003ffff"
# Full-width text, with radicals and punctuation.
EAST_ASIAN: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"


_ALL_HAN: Final = re.compile(f"[{HAN}]+")


def is_han(character: str) -> bool:
    """Whether all characters are Han characters of the basic plane."""
    return _ALL_HAN.fullmatch(character) is not None


_OF_CHINESE: Final = re.compile(f"[{HAN_EVERY}{KANA}]")
_NARROW: Final = {"；": "; ", "、": ", ", "：": ": "}


def join_parts(parts: Iterable[str], mark: Literal["；", "、", "："], about: str = "") -> str:
    """`parts` with `mark` between them; with its ASCII form and a space where none has a Chinese or Japanese character.

    Args:
        parts: Texts of one language.
        mark: As Chinese writes it.
        about: A label of the same language, for parts such as numbers that have none.
    """
    text = [*parts]
    return (mark if any(map(_OF_CHINESE.search, (about, *text))) else _NARROW[mark]).join(text)


_WIDE: Final = "。！？"
_STOP: Final = f"{_WIDE}!?"
_SEMI: Final = "；;"
_CLOSE: Final = "”’」』）"  # what may close behind a mark, of Chinese and Japanese
_QUOTE: Final = "”’)\"'"  # and behind a full stop

# A mark that is in no name and no label.
HAS_MARK: Final = re.compile(f"[{_STOP}{_SEMI}…]")
HAS_MARK_OR_COLON: Final = re.compile(rf"[{_STOP}{_SEMI}：:\n]")

# The end of a sentence in running text, with closing marks; a line end is one too.
AT_END: Final = re.compile(rf"[{_STOP}…][{_CLOSE})\"']*|\.[{_QUOTE}]*(?=\s|$)|\n")
# What stands between the parts of a text that are weighed one by one; a semicolon parts them too.
BETWEEN: Final = re.compile(rf"[{_STOP}{_SEMI}\n]|\. ")
# The beginning of the next sentence, after white space behind a full stop.
NEXT: Final = re.compile(rf"[{_STOP}…][{_CLOSE})\"']*|[.][{_QUOTE}]*\s+")

# Whether a line of text is at its end: with any mark, or as lines of Chinese prose end.
ENDS_LINE: Final = re.compile(rf"[{_WIDE}….!?][”’」』\"')\]]*\s*$")
ENDS_WIDE_LINE: Final = re.compile(rf"[{_WIDE}…”」』》）：；!?—～]\s*$")

# A clause: the words between two marks.
WIDE_RUN: Final = re.compile(rf"[^{_STOP}{_SEMI}\n]+")
STATEMENT: Final = re.compile(rf"[^{_STOP}{_SEMI}\n]+[{_STOP}{_SEMI}]?[”’」』\"]?|(?<=\.)\s")
LEADING_CLAUSE: Final = re.compile(rf"[^，,{_SEMI}{_STOP}.\n]*")
# The marks that end the type of a relation.
CLAUSE: Final = re.compile(rf"[，,。.{_SEMI}!！\n]")
TYPE_CLAUSE: Final = re.compile(rf"[，,。.{_SEMI}：:！!\n]")


def after_sentence(what: str) -> str:
    """A pattern for `what` at the beginning of a sentence; compile with `re.MULTILINE`."""
    return rf"(?:^|[.{_STOP}]\s*){what}"
