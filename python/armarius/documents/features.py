"""`Features`: the evidence of one file for what it is; `documents/decide.py` weighs the evidence of all files."""

import json
import re
import zlib
from dataclasses import astuple, dataclass
from heapq import nsmallest
from typing import Any, Final

from armarius.arguments import Kind
from armarius.documents.classify import number_of
from armarius.documents.document import Document
from armarius.documents.numerals import bare_number, chapter_number, volume_number
from armarius.documents.segments import parts_of

__all__ = ["Features", "features_of", "pack", "unpack"]

_SENTENCE: Final = re.compile(r"[^\s。！？!?.…\"“”「」*#>|\-][^。！？!?.…\n]{11,}")
_SHINGLES: Final = 24  # the smallest hashes of sentences: two files share them as they share sentences
_KANA: Final = re.compile("[\u3041-\u30ff]")
_HANGUL: Final = re.compile("[\uac00-\ud7af]")
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_CYRILLIC: Final = re.compile("[\u0400-\u04ff]")
_LATIN: Final = re.compile("[A-Za-z\u00c0-\u024f]+")
_SAMPLE: Final = 4_000  # code points that the language is judged by


@dataclass(frozen=True, slots=True)
class Features:
    """The evidence of one file.

    Attributes:
        kind: The kind that its own name, front matter and content give.
        chapter: The chapter number that they give.
        status: Of the front matter, lower case.
        marked: Number after a chapter word in the file name.
        bare: Number that the file name begins with.
        volume: Number of a volume that a folder or the file name states.
        numbers: Numbers of chapters in its headings, each once, in order.
        length: Code points.
        language: Two letters, or "" for too little text.
        shingles: Smallest hashes of its sentences, ascending.
    """

    kind: Kind
    chapter: int | None
    status: str
    marked: int | None
    bare: int | None
    volume: int | None
    numbers: tuple[int, ...]
    length: int
    language: str
    shingles: tuple[int, ...]


def features_of(document: Document) -> Features:
    """The evidence of a document. Cost: one pass over its text; a hash of each sentence."""
    path = document.path
    parts = parts_of(path)
    if document.kind == "code":
        return Features("code", None, "", None, None, None, (), len(document.text), "", ())
    status = document.front_matter.get("status")
    volumes = (volume_number(name) for name in (parts.stem, *reversed(parts.folders)))
    titles = (p.heading_path[-1] for p in document.paragraphs if p.role == "heading")
    numbers = dict.fromkeys(n for title in titles if (n := chapter_number(title)) is not None)
    sentences = {zlib.crc32(one.encode("utf-8", "surrogatepass")) for one in _SENTENCE.findall(document.text)}
    return Features(
        kind=document.kind,
        chapter=number_of(path, document.kind, document.front_matter, document.paragraphs),
        status=status.lower() if isinstance(status, str) else "",
        marked=chapter_number(parts.stem),
        bare=bare_number(parts.stem),
        volume=next((one for one in volumes if one is not None), None),
        numbers=tuple(numbers),
        length=len(document.text),
        language=_language(document.text[:_SAMPLE]),
        shingles=tuple(nsmallest(_SHINGLES, sentences)),
    )


def _language(text: str) -> str:
    latin = len(_LATIN.findall(text))
    counts = {
        "ja": 3 * len(_KANA.findall(text)),
        "ko": len(_HANGUL.findall(text)),
        "zh": len(_HAN.findall(text)),
        "ru": len(_CYRILLIC.findall(text)) // 3,
        "en": 3 * latin,
    }
    best = max(counts, key=lambda one: counts[one])
    return best if counts[best] >= 60 else ""


def pack(features: Features) -> bytes:
    """The data of a row."""
    return json.dumps(astuple(features), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def unpack(data: bytes) -> Features:
    """What `pack` gave.

    Raises:
        ValueError: The bytes are something else.
    """
    try:
        row: list[Any] = [tuple(one) if isinstance(one, list) else one for one in json.loads(data)]
        return Features(*row)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"no features of a document: {error}") from error
