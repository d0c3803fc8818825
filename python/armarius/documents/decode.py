"""Decode bytes to text, or give the reason why not.

Order: byte order mark, then a NUL byte means binary, then strict UTF-8, then the legacy encodings below. A legacy
encoding is accepted only when the whole file decodes strictly, the result scores as natural text, and no other
candidate scores nearly as high; otherwise the file is reported and skipped.
"""

import codecs
import unicodedata
from dataclasses import dataclass
from functools import cache

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: the first two bytes are the same
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LEGACY = ("gb18030", "big5hkscs", "cp932", "cp1252")
_NAMES = {"big5hkscs": "big5", "cp932": "shift_jis"}
_SAMPLE = 20_000
# More than 95 % of the characters of Chinese text, old or modern, are in the first level of its national standard; of
# wrongly decoded text about 40 %.
_ACCEPT = 0.85
_MARGIN = 0.10
# Particles, pronouns and the commonest verbs, both scripts: 20-35 % of running Chinese, old or modern, and about 1 % of
# Korean or Cyrillic text misread as Chinese.
_FREQUENT = frozenset(
    "的一是不了在人有我他她它這这個个們们中來来上大為为和地到以說说時时要就出會会可也你對对生能而子那得於于着著下自之年過过後后作裡里"
    "裏去無无天道然只與与其所曰者此又何見见心都沒没好還还看起把想手頭头家小三二十月日風风水山"
)
_FREQUENT_SHARE = 0.06


class Undecodable(ValueError):
    """The bytes are binary or their encoding is ambiguous; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """`text` without byte order mark, with its line ends, and the name of its encoding."""

    text: str
    encoding: str


def decode(data: bytes) -> Decoded:
    """Decode a whole file.

    Raises:
        Undecodable: Binary, damaged, or of an ambiguous encoding.

    Cost: one strict decode for UTF-8; legacy encodings are scored on their first 20,000 characters.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            try:
                return Decoded(data[len(mark) :].decode(name), name)
            except UnicodeDecodeError as error:
                raise Undecodable(f"byte order mark of {name}, but byte {error.start} does not decode") from None
    if b"\0" in data:
        raise Undecodable(f"binary: NUL at byte {data.index(0)}")
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        bad = error.start
    scores = sorted(((_score(data, name), name) for name in _LEGACY), reverse=True)
    (best, name), (second, runner_up) = scores[0], scores[1]
    if best < _ACCEPT:
        raise Undecodable(
            f"unknown encoding: not UTF-8 at byte {bad}, nor plausible as GB18030, Big5, Shift_JIS or Latin"
        )
    if best - second < _MARGIN:
        raise Undecodable(f"unclear encoding: {_NAMES.get(name, name)} and {_NAMES.get(runner_up, runner_up)} both fit")
    return Decoded(data.decode(name), _NAMES.get(name, name))


def encode(text: str, like: bytes) -> bytes | None:
    """The text of a changed file as bytes, in the encoding of the file as it was, with its byte order mark.

    Returns:
        None if the encoding cannot say the text, or the bytes would be read as something else.

    Raises:
        Undecodable: `like` is no encoding that `decode` reads.

    Cost: two decodes.
    """
    encoding = decode(like).encoding
    codec = next((codec for codec, name in _NAMES.items() if name == encoding), encoding)
    mark = next((mark for mark, name in _BOMS if name == encoding and like.startswith(mark)), b"")
    try:
        data = mark + text.encode(codec)
        return data if decode(data) == Decoded(text, encoding) else None
    except ValueError:
        return None


def _score(data: bytes, name: str) -> float:
    """Score of the non-ASCII part of `data` as text in the encoding `name`, 0 to 1; 0 if it does not decode."""
    try:
        text = data.decode(name)
    except UnicodeDecodeError:
        return 0.0
    sample = text[:_SAMPLE] if any(c > "\x7f" for c in text[:_SAMPLE]) else text
    if any(c < " " and c not in "\t\n\r\f\x1a" for c in sample):
        return 0.0
    if name == "cp1252":
        return _latin(sample)
    foreign = [c for c in sample if c > "\x7f"]
    if not foreign:
        return 0.0
    common = _common(name) if name == "cp932" else _common("gb18030") | _common("big5hkscs")
    score = sum(c in common for c in foreign) / len(foreign)
    kana = sum("\u3041" <= c <= "\u30ff" for c in foreign) / len(foreign)
    if name == "cp932":  # Japanese text has kana; half-width katakana is a sign of misread GBK
        return score * min(1.0, 5 * kana)
    frequent = sum(c in _FREQUENT for c in foreign) / len(foreign)
    return score if kana < 0.05 and frequent >= _FREQUENT_SHARE else 0.0


def _latin(sample: str) -> float:
    """Accented letters are single or in pairs inside words; quotes and dashes may be anywhere."""
    total = good = 0
    for i, c in enumerate(sample):
        if c <= "\x7f":
            continue
        total += 1
        if unicodedata.category(c) in ("Pi", "Pf", "Pd", "Po") or c in "«»°§£€©…":
            around = sample[max(0, i - 1) : i + 2]
            good += sum(x > "\x7f" for x in around) <= 2
        elif c.isalpha():
            before, after = sample[i - 1 : i] if i else "", sample[i + 1 : i + 2]
            word = before.isascii() and after.isascii()  # alone, or an accented letter among plain ones
            pair = (before.isascii() and before.isalpha()) or (after.isascii() and after.isalpha())
            good += (word or pair) and sum(x > "\x7f" for x in sample[max(0, i - 2) : i + 3]) <= 2
    return good / total if total else 0.0


@cache
def _common(name: str) -> frozenset[str]:
    """Characters of the first level of the standard of an encoding, with its punctuation."""
    rows = {
        # (codec, lead bytes, trail bytes)
        "gb18030": ("gb2312", (*range(0xA1, 0xAA), *range(0xB0, 0xD8)), range(0xA1, 0xFF)),
        "big5hkscs": ("big5", range(0xA1, 0xC7), (*range(0x40, 0x7F), *range(0xA1, 0xFF))),
        "cp932": ("shift_jis", range(0x81, 0x99), (*range(0x40, 0x7F), *range(0x80, 0xFD))),
    }
    codec, leads, trails = rows[name]
    chars = (bytes((lead, trail)).decode(codec, "ignore") for lead in leads for trail in trails)
    return frozenset(c for c in chars if len(c) == 1 and c > "\x7f")
