"""What a question means: the names, chapters, relations and quoted words in it, and what is left.

Deterministic and explainable: everything understood carries the words it was read from.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain, filterfalse
from operator import add, attrgetter
from typing import NamedTuple

import armarius._core as _core
from armarius.lexicon import word_file
from armarius.search.query.chapters import ChapterReference, Part, chapter_references, overlaps, part_asked
from armarius.search.query.words import (
    Role,
    about_the_text,
    attributes,
    blank_out,
    near,
    of_consistency,
    relation_words,
    split,
    tokens_of,
    unspaced_in,
)
from armarius.text.matcher import EntityMatcher, Mention
from armarius.text.unicode import HANGUL, HIRAGANA, KANA
from armarius.types import Recipe

_QUESTION = Recipe()
_IS_EXCLUDED, _NUMBERS = attrgetter("excluded"), attrgetter("numbers")
# A pasted page is no question: what comes after so many different terms adds time and no direction.
_MOST_TERMS = 200
_QUOTED = re.compile(r"[“\"「『《‘]([^”\"」』》’\n]{2,60})[”\"」』》’]")


@dataclass(frozen=True, slots=True)
class RelationWord:
    """A word that asks for someone by what they are to a named entity: `query[start:end] == word`."""

    word: str
    path: tuple[Role, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Understanding:
    """What was understood of a question.

    Attributes:
        query: As asked.
        mentions: Entities named, by position.
        entities: Their ids, each once, in the order named.
        references: Stretches that name chapters.
        chapters: The chapter numbers they name, each once, in the order named.
        excluded: The chapter numbers that are not wanted (除了第三章).
        part: Which end of those chapters it is about, if one of them.
        remarks: What of the question leads nowhere, and why: a chapter that does not exist, a current chapter that is
            not known, a quoted phrase that does not occur.
        unknown: Those of the remarks that are about chapters, where there are any or the request is to read one.
        relations: Relation words, by position.
        phrases: Quoted words, looked for as they stand.
        recipe: What the request asks for.
        consistency: It asks whether texts agree.
        content: What is left of the question when names, chapters and words about the text are taken away.
        terms: Search terms of the content: pairs of characters, stems of words.
        singles: Single characters of the content in scripts without spaces.
        attributes: What it asks of somebody that sentences can be compared by: age, house, mark, appearance, wound.
    """

    query: str
    mentions: tuple[Mention, ...] = ()
    entities: tuple[str, ...] = ()
    references: tuple[ChapterReference, ...] = ()
    chapters: tuple[int, ...] = ()
    excluded: tuple[int, ...] = ()
    part: Part = ""
    remarks: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    relations: tuple[RelationWord, ...] = ()
    phrases: tuple[str, ...] = ()
    recipe: Recipe = _QUESTION
    consistency: bool = False
    content: str = ""
    terms: tuple[str, ...] = ()
    singles: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def aliases(self) -> tuple[str, ...]:
        """The names as written in the question, each once."""
        return tuple(dict.fromkeys([mention.term for mention in self.mentions]))

    @property
    def reads(self) -> bool:
        """Whether it is about whole chapters, or the scene around the cursor, and nobody in particular."""
        recipe = self.recipe
        read = "chapters" in recipe.parts and (recipe.stated or not self.mentions)
        return read and bool(self.chapters or recipe.scope == "scene")


@dataclass(frozen=True, slots=True)
class RelationEdge:
    """`other` is `role` of the entity the edge belongs to; `said` is the relation type or the words of the profile."""

    other: str
    role: Role
    said: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Subjects:
    """The entities of a question.

    Attributes:
        named: Ids in the order named.
        related: Id to (factor in (0, 1], the edge that led there, the word that asked for it).
        external: As `related`, for entities that only the graph knows.
    """

    named: tuple[str, ...]
    related: dict[str, tuple[float, RelationEdge, str]]
    external: dict[str, tuple[float, RelationEdge, str]] = field(default_factory=dict)


def read_question(
    query: str,
    *,
    matcher: EntityMatcher,
    recipe: Recipe = _QUESTION,
    chapters: Sequence[int] = (),
    current: int | None = None,
    is_content: Callable[[str], bool] = lambda _: False,
    beyond: Sequence[int] = (),
) -> Understanding:
    """Read a question.

    Args:
        query: The user's words, in any language mix.
        matcher: Finds the entities of the project.
        recipe: What the request asks for.
        chapters: The chapter numbers of the project, ascending.
        current: The chapter the user is in, for relative references.
        is_content: Whether a stretch like 第七卷 is a thing in this story and no part of the book.
        beyond: Chapters that there are and that the request leaves out: named, they are no mistake.

    Cost: linear in the query; about 0.1 ms.
    """
    query = query.encode("utf-8", "replace").decode("utf-8")
    references = chapter_references(query, known=chapters, current=current, is_content=is_content)
    rest = blank_out(query, references)
    mentions = tuple(matcher.find_in_question(rest))
    tokens = tokens_of(rest)
    named_at = [(mention.start, mention.end) for mention in mentions]
    relations = tuple(
        RelationWord(rest[match.start : match.end], match.value, match.start, match.end)
        for match in relation_words(rest, tokens)
        if not overlaps(named_at, match.start, match.end)
    )
    consistency = bool(of_consistency().find(rest, tokens))
    if mentions:
        rest = blank_out(rest, mentions)
        tokens = tokens_of(rest)
    reads = "chapters" in recipe.parts and (recipe.stated or not mentions)
    compares = reads and "before" in recipe.parts
    named = [name for match in attributes().find(rest, tokens) for name in match.value]
    content = " ".join(blank_out(rest, about_the_text().find(rest, tokens)).split())
    kept, out = list(filterfalse(_IS_EXCLUDED, references)), filter(_IS_EXCLUDED, references)
    excluded = dict.fromkeys(chain.from_iterable(map(_NUMBERS, out)))
    if compares:  # 第3章和前面几章: what it is compared with is not checked itself
        kept = [ref for ref in kept if not ref.relative or ref.numbers == (current,)] or kept
    named_chapters = dict.fromkeys(filterfalse(excluded.__contains__, chain.from_iterable(map(_NUMBERS, kept))))
    if reads and recipe.scope == "story":
        last = max(named_chapters, default=current)
        named_chapters = {number: None for number in chapters if last is None or number <= last}
    elif reads and current is not None and recipe.opened and not (references or recipe.scope):
        named_chapters = {current: None}
    remarks = tuple(_remarks(query, references, chapters, current, beyond))
    return Understanding(
        query=query,
        mentions=mentions,
        entities=tuple(dict.fromkeys([mention.entity_id for mention in mentions])),
        references=references,
        chapters=tuple(named_chapters),
        excluded=tuple(excluded),
        part=part_asked(query, references),
        remarks=remarks,
        unknown=remarks if chapters or beyond or reads else (),
        relations=relations,
        phrases=tuple(dict.fromkeys(match[1].strip() for match in _QUOTED.finditer(query))),
        recipe=recipe,
        consistency=consistency or (compares and bool(named_chapters or recipe.scope == "scene")),
        content=content,
        terms=tuple(dict.fromkeys(_core.terms(content)))[:_MOST_TERMS],
        singles=tuple(dict.fromkeys(unspaced_in(content)))[:_MOST_TERMS],
        attributes=tuple(dict.fromkeys(named)),
    )


def _remarks(
    query: str,
    references: Sequence[ChapterReference],
    chapters: Sequence[int],
    current: int | None,
    beyond: Sequence[int],
) -> Iterator[str]:
    every = sorted({*chapters, *beyond}) if references else []
    for reference in references:
        words = query[reference.start : reference.end].strip()
        missing = [number for number in reference.numbers if number not in every]
        if missing:
            there = f"the chapters are {every[0]} to {every[-1]}" if every else "there are no chapters"
            yield f"{words}: no chapter {', '.join(map(str, missing))}; {there}"
        elif not reference.numbers:
            lost = current is None and reference.relative
            yield f"{words}: " + ("the current chapter is not known" if lost else "there is no such chapter")


FAMILIES = ("main", "stop", "single", "name", "entity", "related", "described", "synonym", "card")

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LONGEST_WORD = 2  # Han characters of a word that no dictionary vouches for
_IS_HAN = re.compile(f"[{_HAN}]")
_JAPANESE = f"{KANA}\u3005"
_IN_PAIRS = re.compile(f"[{_HAN}{HANGUL}{_JAPANESE}]")
_WORD = rf"[^\W_{_HAN}{HANGUL}{_JAPANESE}]+"
_RUN = re.compile(rf"[{_HAN}{_JAPANESE}]+|[{HANGUL}]+|{_WORD}(?:['’]{_WORD})*")
_IS_JAPANESE = re.compile(f"[{_JAPANESE}]")
_JAPANESE_WORD = re.compile(f"[{_HAN}\u3005]+|[\u30a1-\u30ff]{{2,}}")  # hiragana alone is mostly grammar
_INFLECTED = re.compile(f"(?=([{_HAN}][{HIRAGANA}]))")  # 逃げ, 読ん
_CAPITALIZED = re.compile(r"(?<=[^\W_\d,;'’-])['’,;-]?\s?\b([A-Z][a-z]+)")
_ELIDED = re.compile(r"\A(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)'(?=\w\w)")  # before a vowel in French, as in the core
_CONTRACTED = re.compile(r"(.+?)(?:n't|'(?:s|m|re|ll|ve|d))$")
_SHORTENED = frozenset({"ai", "ca", "sha", "wo"})  # of am, can, shall, will before n't


class TermGroup(NamedTuple):
    """One concept: any of several wordings; their frequencies are added, with one rarity. The core takes it so.

    Attributes:
        family: One of `FAMILIES`.
        weight: Factor on its score, as is that of the family.
        terms: Single terms as the analysis gives them (stems, pairs), each with the factor on its frequency.
        words: Words or phrases as written, likewise; all terms of one must stand together.
        entities: Entity ids.
    """

    family: str
    weight: float = 1.0
    terms: tuple[tuple[str, float], ...] = ()
    words: tuple[tuple[str, float], ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The groups of a question, and its content words as one would look them up.

    Attributes:
        groups: In the order of `FAMILIES`.
        words: Content words, each once.
        alternatives: Of those words, what else may be meant: each with the factor on its frequency.
        terms: Of the family `main`, for the families that are read from the project.
        names: Terms of the names.
    """

    groups: tuple[TermGroup, ...]
    words: tuple[str, ...]
    alternatives: Mapping[str, tuple[tuple[str, float], ...]]
    terms: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Functions:
    han: frozenset[str]
    between: re.Pattern[str]  # the longest of them first
    latin: frozenset[str]
    stems: frozenset[str]


@cache
def _functions() -> _Functions:
    words = word_file("functions")
    han, latin = frozenset(words["han"].split()), frozenset(words["latin"].split())
    between = re.compile("|".join(map(re.escape, sorted(han, key=lambda word: (-len(word), word)))))
    return _Functions(han, between, latin, frozenset(_core.stem(word) for word in latin))


def question(analysis: Understanding, related: Mapping[str, float] | None = None) -> QueryWords:
    """The groups that are in the question itself.

    Args:
        analysis: The question, understood.
        related: Entities that a relation word leads to, each with a factor.

    Cost: linear in the question.
    """
    query = analysis.query
    named = blank_out(query, analysis.references, "\0")
    text = blank_out(named, analysis.mentions, "\0")
    main: dict[str, None] = {}
    singles: dict[str, None] = {}
    words: dict[str, None] = {}
    # A capital inside a sentence: a name, which has no synonyms.
    proper = {_normalize_run(match[1]).split("'")[0] for match in _CAPITALIZED.finditer(text)}
    for run in _RUN.findall(text):
        if _IN_PAIRS.match(run):
            japanese = _IS_JAPANESE.search(run) is not None
            # What is left of a run of Han when function words are taken out, leftmost-longest.
            pieces = (_JAPANESE_WORD.findall if japanese else _functions().between.split)(run)
            for piece in filter(None, pieces):
                main |= dict.fromkeys(map(add, piece, piece[1:]))
                singles |= dict.fromkeys(piece if _IS_HAN.match(piece) else ())
                for part in split(piece):  # a headword, and a word of katakana, as it is; else in pairs
                    whole = len(part) <= _LONGEST_WORD or _IS_JAPANESE.match(part)
                    words |= dict.fromkeys([part] if whole else _pairs(part))
            main |= dict.fromkeys(_INFLECTED.findall(run) if japanese else ())
        elif (root := _content(run)) is not None:
            main[root] = None
            words[_normalize_run(run).split("'")[0]] = None
    alternatives = {word: terms for word in words if word not in proper and (terms := _alternatives(word))}
    names = dict.fromkeys(
        [term for mention in analysis.mentions for term in terms_of(query[mention.start : mention.end])]
    )
    others = {pair: None for run in _RUN.findall(named) if _IN_PAIRS.match(run) for pair in map(add, run, run[1:])}
    stop = [pair for pair in others if pair not in main and pair not in names]
    families = ("main", main), ("stop", stop), ("single", singles), ("name", names)
    groups = [TermGroup(family, 1.0, ((term, 1.0),)) for family, some in families for term in some]
    groups += [TermGroup("entity", entities=(entity,)) for entity in analysis.entities]
    for entity, factor in (related or {}).items():
        if entity not in analysis.entities:
            groups.append(TermGroup("related", factor, entities=(entity,)))
    groups += [TermGroup("synonym", words=terms) for terms in alternatives.values()]
    return QueryWords(tuple(groups), tuple(words), alternatives, tuple(main), tuple(names))


def terms_of(text: str) -> list[str]:
    """The pairs and stems of a text, in order, function words of Latin script left out."""
    terms: list[str] = []
    for run in _RUN.findall(text):
        if _IN_PAIRS.match(run):
            terms += _pairs(run)
        elif (root := _content(run)) is not None:
            terms.append(root)
    return terms


def is_function(char: str) -> bool:
    """Whether a Han character by itself is a function word."""
    return char in _functions().han


@lru_cache(maxsize=1024)
def _alternatives(word: str) -> tuple[tuple[str, float], ...]:
    """Other words for `word`, one for each stem, function words left out."""
    if _IS_HAN.match(word):
        return tuple(near(word).items())
    result: dict[str, tuple[str, float]] = {}
    for other, weight in near(word).items():
        root = _content(other)
        if root is not None and weight > result.get(root, ("", 0.0))[1]:
            result[root] = (other, weight)
    return tuple(result.values())


def _pairs(run: str) -> list[str]:
    return list(map(add, run, run[1:]))


def _normalize_run(run: str) -> str:
    return _ELIDED.sub("", run.lower().replace("’", "'"))


@lru_cache(maxsize=2048)
def _content(run: str) -> str | None:
    """The stem of a word, None of a function word."""
    word, functions = _normalize_run(run), _functions()
    short = _CONTRACTED.match(word)
    if short is not None and (short[1] in functions.latin or short[1] in _SHORTENED):
        return None
    root = _core.stem(word)
    return None if word in functions.latin or root in functions.stems else root
