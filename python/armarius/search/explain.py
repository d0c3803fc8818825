"""Why a text or a section was found: one piece of evidence per reason, each with where it stands."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from operator import itemgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import armarius._core as _core
from armarius.corpus.part import OutlineLine
from armarius.documents.document import Document
from armarius.documents.segments import parts_of
from armarius.documents.titles import as_strings
from armarius.documents.units import NUMERAL
from armarius.headings import Reason
from armarius.search.corpus import Corpus, Text
from armarius.search.query.query import Subjects, Understanding, terms_of
from armarius.search.query.words import is_unspaced
from armarius.search.rank import Ranked
from armarius.text.unicode import HIRAGANA, UNSPACED
from armarius.types import Evidence, Near

if TYPE_CHECKING:
    from armarius.search.order import Ordered

_KEPT = 64
_PHRASES = ("phrases", "", None)
_WITH_NUMBER = re.compile(r"([^\W\d_]{3,20})[ \t]+#?(\d{1,4})(?!\w)")
_SPACED = re.compile(rf"[^\W{UNSPACED}]")  # a letter of a script whose words have borders
_NUMBERED = re.compile(r"([^\W\d_]*)[\s._#-]*(\d{1,4})(?!\d)")


@lru_cache(maxsize=64)
def pattern_of(phrase: str) -> re.Pattern[str]:
    """Finds the phrase in any case, between borders of words, its words on one line or on two."""
    cased = phrase.lower() != phrase.upper()
    return re.compile(_phrase_pattern(phrase), re.IGNORECASE if cased else 0)


def _phrase_pattern(phrase: str) -> str:
    words = phrase.split()
    first, last = (_SPACED.fullmatch(end) for end in (phrase.strip()[:1], phrase.strip()[-1:]))
    before, behind = rf"(?<!{_SPACED.pattern})" if first else "", rf"(?!{_SPACED.pattern})" if last else ""
    return before + r"\s+".join(map(re.escape, words)) + behind


def rarity(count: int, paragraphs: int) -> float:
    """What a phrase says that stands in `count` of all paragraphs: 1 in one of them, little in most."""
    return math.log1p(paragraphs / count) / math.log1p(paragraphs) if paragraphs > 0 else 1.0


def find_phrase(corpus: Corpus, phrase: str) -> tuple[tuple[str, int], ...]:
    """Path and position of every paragraph that the phrase begins in, in any document.

    Cost: one pass over the project; the last 64 phrases are remembered until something changes.
    """
    cache: dict[str, tuple[tuple[str, int], ...]] = corpus.memo.setdefault(_PHRASES, {})
    places = cache.pop(phrase, None)
    if places is None:
        places = tuple(_places(corpus, phrase))
        if len(cache) >= _KEPT:
            del cache[next(iter(cache))]
    cache[phrase] = places  # the last one asked for is forgotten last
    return places


def numbered_files(corpus: Corpus, question: Understanding) -> Iterator[tuple[str, int]]:
    """Path and position of the paragraphs of files that a question calls by what they are and a number.

    `session 2` is `S02 The Bridge.md` or `02.md` with the tag `session` or in a folder `Sessions`, and `session-2.md`.
    Chapters are found by their references.

    Cost: nothing for a question without a number; else one look at each path.
    """
    for match in _WITH_NUMBER.finditer(question.query):
        word = match[1].lower()
        if any(ref.start < match.end() and match.start() < ref.end for ref in question.references):
            continue
        for path in corpus.paths:
            parts = parts_of(path)
            name = _NUMBERED.match(parts.stem)
            document = corpus.document(path) if name and int(name[2]) == int(match[2]) else None
            if name is None or document is None or not word.startswith(name[1].lower()):
                continue
            names = (name[1], *parts.folders, *as_strings(document.front_matter.get("tags")))
            if any(label.lower().strip("#") in (word, f"{word}s") for label in names):
                yield from ((path, at) for at, block in enumerate(document.paragraphs) if block.role == "body")


def _places(corpus: Corpus, phrase: str) -> dict[tuple[str, int], None]:
    result: dict[tuple[str, int], None] = {}
    for path in corpus.paths:
        document = corpus.document(path)
        if document is not None:
            pattern, small = _search(corpus, document, phrase)
            for match in pattern.finditer(small):
                at = corpus.paragraph_at(path, match.start())
                if at is not None:
                    result[path, at] = None
    return result


def _search(corpus: Corpus, document: Document, phrase: str) -> tuple[re.Pattern[str], str]:
    """What to look for, and where: in small letters, made once, rather than folding case in every search."""
    key = ("small letters", document.path, None)
    if key not in corpus.memo:
        corpus.memo[key] = document.text.lower()
    small = corpus.memo[key]
    if len(small) != len(document.text):  # İ has two small letters: places would be off
        return pattern_of(phrase), document.text
    return _compile_phrase(phrase.lower()), small


@lru_cache(maxsize=64)
def _compile_phrase(phrase: str) -> re.Pattern[str]:
    return re.compile(_phrase_pattern(phrase))


def is_content(corpus: Corpus, words: str) -> bool:
    """Whether 第七卷 is a thing that the story speaks of, in a book that is not itself divided into such units."""
    unit = re.escape(words.strip()[-1:])
    divided = re.compile(rf"第\s*{NUMERAL}\s*{unit}|^{unit}\s*{NUMERAL}")
    documents = [document for document in map(corpus.document, corpus.paths) if document is not None]
    for document in documents:
        headings = {heading for paragraph in document.paragraphs for heading in paragraph.heading_path}
        if any(map(divided.search, PurePosixPath(document.path).parts)) or any(
            map(divided.match, (document.title, *headings))
        ):
            return False
    return any(words in document.text for document in documents)


_SHOWN = 8
_PEOPLE = 3
_RUN = re.compile(rf"[{UNSPACED}]+")
_HIRAGANA = re.compile(f"[{HIRAGANA}]+")
_LATIN = re.compile(r"[a-z0-9'-]{4,}")


class MatchHighlights:
    """The words, stretches, terms and names of one question. Holds nothing that changes, and no scores.

    Args:
        corpus: Its matcher finds names.
        asked: The question.
        ranked: Its words, and the entities with a fitting profile.
        related: Entities that a relation word leads to.
    """

    def __init__(self, corpus: Corpus, asked: Understanding, ranked: Ranked, related: Iterable[str] = ()) -> None:
        self._matcher = corpus.matcher
        self._entities = corpus.entities
        self._asked = asked
        self._read, self._groups, self._described = ranked.read, ranked.groups, ranked.described
        reached = dict.fromkeys(ranked.described, "words.fitting") | dict.fromkeys(related, "words.person")
        self._reached = {entity: (self._entities[entity].name, code) for entity, code in reached.items()}

    def in_text(self, text: str, *, people: bool = True) -> tuple[str, ...]:
        """What stands in `text`: the question's words, else inflected, else what else may be meant, characters.

        Args:
            text: Any.
            people: Also entities that a relation word leads to; without, only those with a fitting profile.
        """
        entities = self._reached if people else self._described_names
        written = {mention.entity_id: mention.term for mention in self._matcher.find_all(text)} if entities else {}
        names = (
            [Reason(code, term=written[key], name=name) for key, (name, code) in entities.items() if key in written]
            if written
            else []
        )
        words = _traces(text, self._runs, self._words) or self._matching_words(text, named=bool(names))
        return (*words[:_SHOWN], *names[:_PEOPLE])

    def _matching_words(self, text: str, *, named: bool) -> list[str]:
        terms = set(_core.terms(text))
        words = list(filter(terms.__contains__, self._read.terms))
        for word, others in self._read.alternatives.items():
            words += [
                Reason("words.other", other=other, word=word) for other, _ in others if terms.issuperset(_terms(other))
            ]
        words += filter(set(text).difference(map(itemgetter(0), words)).__contains__, self._asked.singles)
        for group in self._groups if not words and not named else ():
            if group.family == "card":
                words += [Reason("words.profile", term=term) for term, _ in group.terms if term in terms]
        return words

    @cached_property
    def _described_names(self) -> dict[str, tuple[str, str]]:
        return {entity: (self._entities[entity].name, "words.fitting") for entity in self._described}

    @cached_property
    def _runs(self) -> "_Runs":
        return _runs_of(self._asked.content)

    @cached_property
    def _words(self) -> list[tuple[str, bool]]:
        """Everything that may count as a trace of the question in a text, lower case; whether it may begin anywhere."""
        question = self._asked
        words = [*question.phrases, *question.aliases, *self._read.words]
        for entity_id in question.entities:
            entity = self._entities[entity_id]
            words += [entity.name, *entity.aliases]
        return _mark_unspaced(dict.fromkeys(map(str.lower, words)))


_Runs = list[tuple[str, list[tuple[int, str]]]]


def _runs_of(text: str) -> _Runs:
    """Stretches of what is asked in scripts without spaces, each with its pairs of characters that are no grammar."""
    return [
        (run, [(at, pair) for at in range(len(run) - 1) if not _HIRAGANA.fullmatch(pair := run[at : at + 2])])
        for run in _RUN.findall(text)
    ]


def _traces(text: str, runs: _Runs, words: Sequence[tuple[str, bool]]) -> tuple[str, ...]:
    """The longest stretches of two characters or more that both hold, then the words in `text`; no part of another."""
    traces: dict[str, None] = {}
    for run, pairs in runs:
        past = 0
        for at, pair in pairs:
            if pair in text and at >= past:
                past = at + 2
                while past < len(run) and run[at : past + 1] in text:
                    past += 1
                traces[run[at:past]] = None
    lower = text.lower()
    for word, anywhere in words:
        if word in lower and (anywhere or _begins_word(word, lower)):
            traces[word] = None
    joined = "\0".join(traces)
    if joined.count("\0") >= len(traces) > 0:  # somebody's word holds the mark between them
        return tuple(word for word in traces if not any(word != other and word in other for other in traces))
    return tuple(traces) if len(traces) < 2 else tuple([word for word in traces if joined.count(word) == 1])


def shared_words(text: str, wording: str) -> tuple[str, ...]:
    """What of another wording of the question stands in `text`: stretches, and words of four letters or more."""
    return _traces(text, _runs_of(wording), _mark_unspaced(_LATIN.findall(wording.lower())))[:_SHOWN]


def words_in(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """Those of `words` that stand in `text`; Latin ones at the beginning of a word."""
    lower = text.lower()
    return tuple([word for word in words if word in lower and (is_unspaced(word) or _begins_word(word, lower))])


def _mark_unspaced(words: Iterable[str]) -> list[tuple[str, bool]]:
    return [(word, is_unspaced(word)) for word in words]


def _begins_word(word: str, lower: str) -> bool:
    """Whether the word stands somewhere where no letter or digit is before it."""
    at = lower.find(word)
    while at > 0 and lower[at - 1].isalnum():
        at = lower.find(word, at + 1)
    return at >= 0


@lru_cache(maxsize=2048)
def _terms(word: str) -> tuple[str, ...]:
    """What has to stand in a text that holds another wording."""
    return tuple(terms_of(word)) or (word,)


_AROUND = 9  # paragraphs looked at for a word, the best one first: a window may be found by its neighbours


def reasons(
    corpus: Corpus,
    question: Understanding,
    people: Subjects,
    ranked: Ranked,
    near: Mapping[int, Near],
    item: "Ordered",
    highlights: MatchHighlights,
    document: Document | None,
    worded: Evidence | None = None,
) -> tuple[Evidence, ...]:
    """The evidence for one candidate: chapters asked for, names, quoted words, words, the outline, meaning, wordings.

    Args:
        corpus: The project.
        question: The question.
        people: Its subjects.
        ranked: Its scores.
        near: Texts near in meaning, by key.
        item: The candidate.
        highlights: Of this question.
        document: That the candidate is of, as it may be seen.
        worded: What another wording found in it.
    """
    if item.is_section:
        return _section_reason(corpus, question, people, ranked, item, highlights)
    text = corpus.texts[item.key]
    result: list[Evidence] = []
    for reference in question.references:
        if text.number in reference.numbers and not reference.excluded:
            words = question.query[reference.start : reference.end]
            result.append(Evidence("chapter", Reason("chapter.named", number=text.number, words=words), text.path))
    if item.how == "adjacent":
        result.append(Evidence("chapter", Reason("chapter.beside"), text.path))
    if question.phrases and document is not None:
        matches = [
            (phrase, pattern_of(phrase).search(document.text, text.start, text.end)) for phrase in question.phrases
        ]
        result += [
            Evidence("phrase", Reason("words.phrase", phrase=phrase), text.path, match.span())
            for phrase, match in matches
            if match
        ]
    result += _mentions(corpus, people, text)
    if item.unit is not None:
        if item.unit.best is not None and document is not None:
            result += _fulltext(highlights, document, (text.start, text.end), item.unit.best)
        if item.unit.told > 0:
            result.append(_outline(highlights, text.path, text.title, corpus.outline.get(text.key, ())))
        line = ranked.told.lines.get((text.path, item.unit.unit))
        if line and (terms := highlights.in_text(line)):
            result.append(Evidence("outline", f"summary: {', '.join(terms)}", text.path))
    if document is not None and (beside := near.get(item.key)) is not None:
        block = document.paragraphs[beside.paragraph]
        detail = Reason("vector.alike" if beside.by_wording else "vector.near", similarity=beside.similarity)
        result.append(Evidence("vector", detail, text.path, (block.start, block.end)))
    if worded is not None:
        result.append(worded)
    return tuple(result)


def _mentions(corpus: Corpus, people: Subjects, text: Text) -> list[Evidence]:
    result = []
    for entity_id in (*people.named, *people.related):
        count = text.mentions[entity_id]
        if count:
            first = text.first[entity_id]
            short = corpus.matcher.derived(entity_id, first.term)
            term = first.term if short is None else short.said(first.term)
            name = corpus.entities[entity_id].name
            code = "mention.count" if short is None else "mention.short"
            detail = Reason(code, name=name, count=count, term=term)
            result.append(Evidence("mention", detail, text.path, (first.start, first.end)))
    return result


def _fulltext(highlights: MatchHighlights, document: Document, span: tuple[int, int], best: int) -> list[Evidence]:
    """The best paragraph and what of the question stands in it."""
    paragraphs = document.paragraphs
    left = _AROUND
    beside = zip(range(best - 1, best - left, -1), range(best + 1, best + left), strict=True)
    for at in (best, *chain.from_iterable(beside)):
        if not (left and 0 <= at < len(paragraphs)):
            continue
        left, paragraph = left - 1, paragraphs[at]
        if not span[0] <= paragraph.start < span[1]:
            continue
        if words := highlights.in_text(document.text[paragraph.start : paragraph.end]):
            span = (paragraph.start, paragraph.end)
            return [Evidence("fulltext", Reason("words", words=words), document.path, span)]
    return []


def _outline(highlights: MatchHighlights, path: str, title: str, lines: Sequence[OutlineLine]) -> Evidence:
    """The line of the outline that most of the question stands in, else the title."""
    most, best = highlights.in_text(title), None
    for line in lines:
        words = highlights.in_text(line.text)
        if len(words) > len(most) or not (most or best):
            best, most = line, words
    code = f"words.{'line' if best else 'title'}{'_of' if most else ''}"
    detail = Reason(code, line="" if best is None else best.text.strip(" -*"), title=title, words=most)
    return Evidence("outline", detail, *((path,) if best is None else (best.path, (best.start, best.end))))


def _section_reason(
    corpus: Corpus,
    question: Understanding,
    people: Subjects,
    ranked: Ranked,
    item: "Ordered",
    highlights: MatchHighlights,
) -> tuple[Evidence, ...]:
    section = corpus.sections[item.key]
    span = (section.start, section.end)
    result: list[Evidence] = []
    for entity_id in section.entities:
        name = corpus.entities[entity_id].name
        written = [mention.term for mention in question.mentions if mention.entity_id == entity_id]
        if written:
            short = corpus.matcher.derived(entity_id, written[0])
            detail = Reason("mention.query", term=written[0] if short is None else short.said(written[0]))
            result.append(Evidence("mention", detail, section.path, span))
        if entity_id in people.related:
            _, edge, word = people.related[entity_id]
            detail = Reason("relation.leads", word=word, name=name, said=edge.said)
            result.append(Evidence("relation", detail, edge.path or section.path, span if not edge.path else None))
        if entity_id in ranked.described:
            words = highlights.in_text(section.text, people=False)
            code = "words.described" if words else "words.described_alone"
            result.append(Evidence("fulltext", Reason(code, words=words), section.path, span))
        if item.how == "present":
            result.append(Evidence("mention", Reason("mention.present", name=name), section.path, span))
    if not result:
        words = highlights.in_text(section.text, people=False)
        result.append(
            Evidence("fulltext", Reason("words" if words else "words.around", words=words), section.path, span)
        )
    return tuple(result)
