"""Everything the project says of an attribute of an entity, with competing statements marked; no verdict."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import armarius._core as _core
from armarius.corpus.part import CorpusSection
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.headings import ResultList
from armarius.search.contradictions.values import (
    Topic,
    Value,
    part_of,
    topic_of,
    values_at,
    without_parts,
)
from armarius.search.corpus import Corpus
from armarius.search.explain import words_in
from armarius.search.query.words import Phrases, is_unspaced, table
from armarius.search.rank import paragraphs_about
from armarius.text.matcher import Mention
from armarius.text.unicode import STATEMENT

Place = Literal["own", "other", "prose"]
"""Where a sentence stands: in the profile of the entity, in that of another one, anywhere else."""

_BREAK = re.compile(r"[，,。；;：:！!？?（）()“”\"—…\n]|\.\s")
_COLON = re.compile(r"[：:]")
_AND = re.compile(r"\s*(?:[和与與及跟同、&]|以及|\sand\s)\s*")
_OF = re.compile(r"\s*的|之(?![前后後间中一所外内下上])|['’]s(?!\w)|(?<=s)['’](?!\w)")
_NOUN_OF = re.compile(r"(?<![^\W\d_])([^\W\d_]+)\s+(?:of|to)\s+(?:the\s+)?$")
# The addressee or companion of a sentence is not its subject.
_BESIDE = re.compile(
    r"(?:[与與和跟同随隨着著给給对對把被替为為向]|告诉|告訴|\b(?:with|to|by|for|of|told|asked|and|beside|near))\s*$",
    re.IGNORECASE,
)
_HEARER = re.compile(r"(?:[与與和跟对對向给給]|告诉|告訴|\b(?:told|asked|to|with))\s*$", re.IGNORECASE)
_THIRD = re.compile(r"[她他](?!们)|\b(?:she|he|her|his|him)\b", re.IGNORECASE)
_SAYS = re.compile(
    r"[说說道]|告诉|知道|记得|以为|觉得|猜|\b(?:said|says|say|told|tells|thought|thinks|knew|knows|guessed)\b",
    re.IGNORECASE,
)
# Somebody without a profile who has a part or an infirmity: a man with, the girl, whose, 那个陌生人, 看着掌柜.
_BYSTANDER = re.compile(
    r"(?<!\bis\s)(?<!\bwas\s)(?<!\bas\s)(?<!\blike\s)\b(?:an?|the|that|some|another)\s(?:[^\W\d_]+\s){0,2}?[^\W\d_]+"
    r"(?:['’]s\b|,?\s(?:who|whose|with(?!\s(?:his|her)\b)|had|has|is|was|limp\w*)\b)"
    r"|(?<![是像成])[一那这這](?:[个個位名]|[^，。；、：“”\s的]{1,4}的)"
    r"|(?:[看望盯瞧]着|[看望瞧遇][见見到])(?!自己|[她他的])[^，。；、：“”\s的]",
    re.IGNORECASE,
)
_OF_OTHERS = re.compile(r"\s(?:eyes?|hair)\sof\s(?:an?|the|that|another)\s", re.IGNORECASE)
_IS = re.compile(r"[是为為]|\b(?:is|was|are|were)\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"[里上中下]?的|[\s-]+")
_MARKS = re.compile(r"[ \-*_]*")
_NEAR = 80  # characters before a name in which such a word may stand
_HOME = ("家", "年")
_PASSING = ("eye:red", "eye:white")  # of who weeps, of who rolls his eyes
_WHOLE = ("years:", "reached:", "place:")  # of somebody; any other value is of a part of him


@dataclass(frozen=True, slots=True)
class _NamedPeople:
    """People named together (安静和陆明), and where what is theirs begins: behind 的, else -1."""

    start: int
    end: int
    ids: frozenset[str]
    owns: int


class ValueOwner:
    """Decides which values of one sentence belong to an entity.

    Args:
        sentence: As written.
        people: Mentions of characters and of the entity in it, by position.
        entity_id: Asked about.
        place: Where it stands.
        topic: What is asked about.

    Cost: linear in the sentence.
    """

    def __init__(self, sentence: str, people: Sequence[Mention], entity_id: str, place: Place, topic: Topic) -> None:
        self._sentence = sentence
        self._id = entity_id
        self._place = place
        self._topic = topic
        self._named = _group_people(sentence, people)
        self._kin = {match.start: match for match in _roles().find(sentence)}
        self._breaks = [match.end() for match in _BREAK.finditer(sentence)]
        self._begins, self._ends = [name.start for name in self._named], [name.end for name in self._named]
        self._inside = any(entity_id in name.ids for name in self._named)

    def owns(self, value: Value) -> bool:
        """Whether `value` is of the entity."""
        if value.text.startswith("older:"):
            return True  # names both
        whole = value.text.startswith(_WHOLE)
        answer = self._owns_attribute(value) if whole else None
        if answer is not None:
            return answer
        before = self._named[: bisect_right(self._ends, value.start)]
        clause = self._clause(value.start)
        if not whole and self._place != "own" and self._is_bystanders(value, before, clause):
            return False
        if self._place == "own":
            return self._owns_in_section(value, before, clause)
        if self._place == "other":
            return self._owns_elsewhere(value, before, clause, whole=whole)
        return self._owns_in_prose(value, before, clause, whole=whole)

    def _owns_attribute(self, value: Value) -> bool | None:
        """Of a value that stands before its owner: 十六岁的林小雨, 二十二岁的妹妹; None of any other."""
        behind = _ATTRIBUTE.match(self._sentence, value.end)
        if behind is None:
            return None
        if behind[0].endswith("的"):
            at = bisect_left(self._begins, behind.end())
            if at < len(self._named) and self._begins[at] == behind.end():
                return self._id in self._named[at].ids
        if behind.end() in self._kin and not _IS.search(self._sentence, self._clause(value.start), value.start):
            return False
        return None

    def _is_bystanders(self, value: Value, before: Sequence[_NamedPeople], clause: int) -> bool:
        """Whether a part is of somebody without a name: Tom met the stranger's green eyes."""
        start = before[-1].end if before else 0
        if _THIRD.search(self._sentence, clause, value.start):
            start = max(start, clause)
        return bool(
            _BYSTANDER.search(self._sentence, start, value.start) or _OF_OTHERS.match(self._sentence, value.end)
        )

    def _owns_in_section(self, value: Value, before: Sequence[_NamedPeople], clause: int) -> bool:
        """Everything, but what is said of kin or of somebody who is the subject."""
        if self._kin_from(self._label()) or (self._kin_from(clause) and not self._ends_clause(clause)):
            return False
        here = self._named_in_clause(before, clause)
        if not here or any(self._id in name.ids for name in here) or here[-1].owns >= 0:
            return True
        if _THIRD.search(self._sentence, here[-1].end, value.start):
            return True  # 黎景翼写卖契时她十六岁: a profile's "she" is its owner
        return self._sentence[clause : here[-1].start].strip(" -*_#") != ""

    def _owns_elsewhere(self, value: Value, before: Sequence[_NamedPeople], clause: int, *, whole: bool) -> bool:
        """Nothing, unless the entity is its subject."""
        here = self._named_in_clause(before, clause)
        if before and self._id in before[-1].ids and before[-1].owns < 0:
            between = self._sentence[before[-1].end : value.start]
            if self._kin_from(self._label()) or (between[:1] in ("（", "(") and not set("）)") & set(between)):
                return True
        if not here or self._id not in here[-1].ids:
            return False
        if here[-1].owns >= 0:
            return self._is_trait(here[-1].owns, value.start, whole=whole)
        if _THIRD.search(self._sentence, here[-1].end, value.start):
            return False
        return not self._follows_word(_BESIDE, here[-1].start)

    def _owns_in_prose(self, value: Value, before: Sequence[_NamedPeople], clause: int, *, whole: bool) -> bool:
        """What is said of nobody who is named nearer."""
        nearest = next((name for name in reversed(before) if not self._is_hearer(name)), before[-1] if before else None)
        if nearest is not None and self._id not in nearest.ids and nearest.owns >= 0:  # is Tom's sister
            heard = any(not self._is_hearer(name) for name in before)
            mine = (name for name in reversed(before) if self._id in name.ids and not (heard and self._is_hearer(name)))
            nearest = next(mine, nearest)
        if not whole and (nearest is None or nearest.start < clause):
            return nearest is not None or not self._is_seen(value)
        if nearest is None:
            at = bisect_left(self._begins, value.end)
            behind = self._named[at] if at < len(self._named) else None
            if not self._inside or behind is None:
                return True
            return self._id in behind.ids and not _THIRD.search(self._sentence, 0, value.start)
        if self._id not in nearest.ids:
            return False
        return nearest.owns < 0 or self._is_trait(nearest.owns, value.start, whole=whole)

    def _is_seen(self, value: Value) -> bool:
        """Whether a part of somebody else meets the entity, who is named behind it: 她的灰眼睛盯着林墨."""
        at = bisect_left(self._begins, value.end)
        if at == len(self._named) or self._id not in self._named[at].ids:
            return False
        between = self._sentence[value.end : self._begins[at]]
        if between.rstrip().lower().endswith((" of", "'s")) or not between.strip():
            return False
        return _BREAK.search(between) is None or _THIRD.search(self._sentence, 0, value.start) is not None

    def _is_trait(self, start: int, end: int, *, whole: bool) -> bool:
        """Whether what stands between a possessor and a value is a part or a trait of him, and of nobody else."""
        between = self._sentence[start:end]
        if not between.strip(" -"):
            return True
        clause = _BREAK.split(between, maxsplit=1)[0]
        third = _THIRD.search(between)
        if _roles().find(clause):
            return third is not None and _SAYS.search(between, 0, third.start()) is not None
        if not whole or third is not None or re.search(r"\.\s", between):
            return True
        return clause.strip().lower().startswith((*self._topic.words, *_HOME))

    def _named_in_clause(self, before: Sequence[_NamedPeople], clause: int) -> Sequence[_NamedPeople]:
        """Of `before`, who is named in the clause."""
        return before[bisect_left(self._begins, clause, 0, len(before)) :]

    def _is_hearer(self, name: _NamedPeople) -> bool:
        return self._follows_word(_HEARER, name.start)

    def _follows_word(self, word: re.Pattern[str], at: int) -> bool:
        """Whether what stands at `at` follows such a word."""
        return word.search(self._sentence, max(0, at - _NEAR), at) is not None

    def _label(self) -> int:
        """Where the name of what a line gives begins: `- 妹妹：…`; the end of the sentence when it has none."""
        colon = _COLON.search(self._sentence)
        words = re.match(r"[\s\-*+_|#]*", self._sentence)
        return words.end() if colon and words else len(self._sentence)

    def _kin_from(self, at: int) -> bool:
        """Whether a word for kin begins at `at`."""
        match = self._kin.get(self._word(at))
        return match is not None and match.value

    def _ends_clause(self, at: int) -> bool:
        """Whether the clause that begins at `at` is over with its word for kin: 独生女，七岁."""
        match = self._kin.get(self._word(at))
        return match is not None and _BREAK.match(self._sentence, match.end) is not None

    def _word(self, at: int) -> int:
        """Where the first word from `at` on begins."""
        mark = _MARKS.match(self._sentence, at)
        return mark.end() if mark else at

    def _clause(self, at: int) -> int:
        """Where the clause of `at` begins."""
        index = bisect_right(self._breaks, at)
        return self._breaks[index - 1] if index else 0


def _group_people(sentence: str, people: Sequence[Mention]) -> list[_NamedPeople]:
    names: list[_NamedPeople] = []
    for mention in people:
        behind = _OF.match(sentence, mention.end)
        noun = _NOUN_OF.search(sentence, max(0, mention.start - _NEAR), mention.start)
        owns = behind.end() if behind else noun.start() if noun and _roles().find(noun[1]) else -1
        last = names[-1] if names else None
        if last is not None and _AND.fullmatch(sentence, last.end, mention.start):
            ids, start = last.ids | {mention.entity_id}, last.start
            names[-1] = _NamedPeople(start, mention.end, ids, owns if owns >= 0 else last.owns)
        else:
            names.append(_NamedPeople(mention.start, mention.end, frozenset({mention.entity_id}), owns))
    return names


@cache
def _roles() -> Phrases[bool]:
    """Words for who somebody is to another; true of kin. One character (子 in 房子) does not count."""
    rows = {word: True for name, words in table("kin").items() if name not in _CHOSEN for word in words}
    rows |= {word: False for name in _CHOSEN for word in table("kin")[name]}
    rows |= {word: False for words in table("roles").values() for word in words}
    return Phrases({word: kin for word, kin in rows.items() if len(word) > 1})


# Not of one's blood, or both together: 兄妹二人 is no other.
_CHOSEN = ("sibling", "master", "servant", "teacher", "student", "friend", "lover", "enemy")


_TEXTS = 12
_PARAGRAPHS = 8  # of each text
_PERSON = "character"
SHARED = 2  # terms that a sentence has in common with what a profile claims


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence that speaks of an attribute of an entity.

    Attributes:
        text: The sentence as written: `document[span[0]:span[1]]`.
        path: Project-relative.
        section: Of a settings file, else "".
        paragraph: Index of the paragraph in the document.
        span: Code points in the document, half-open.
        chapter: Of a chapter, else None.
        values: What it says in comparable form (`place:<id>`, `years:16`, `reached:41`, `older:她`,
            `body:brow`, `eye:grey`).
        competes_with: References (`path` or `path#section`) of statements that share none of its values.
        attributes: The attributes it was found to compete about: as asked, or `age`, `house`, `mark` … when none was.
        level: As of a `Hit`: why prompts do not show it, else "".
    """

    text: str
    path: str
    section: str
    paragraph: int
    span: tuple[int, int]
    chapter: int | None
    values: frozenset[str] = frozenset()
    competes_with: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    level: str = ""

    @property
    def reference(self) -> str:
        """`path`, or `path#section`."""
        return f"{self.path}#{self.section}" if self.section else self.path


class Statements(ResultList[Statement]):
    """What the project says of an entity, settings first."""

    noun = ("statement", "statements")
    columns = ("where", "text", "competes with")

    @classmethod
    def brief(cls, statement: Statement, /) -> str:
        """Where it stands."""
        return statement.reference

    @classmethod
    def cells(cls, statement: Statement, /) -> tuple[str, ...]:
        """Place, sentence, and the places that say otherwise."""
        return statement.reference, statement.text, ", ".join(statement.competes_with)


def statements(
    corpus: Corpus,
    entity_id: str,
    attribute: str,
    *,
    chapter: int | None = None,
    limit: int = 20,
    texts: int = _TEXTS,
) -> list[Statement]:
    """What sections and chapters say of an entity, profiles first, then by chapter.

    Args:
        corpus: The project.
        entity_id: An entity of its codex.
        attribute: 年龄, 住处, "eye colour", …; "" takes all that its sections say (`disputes` compares that).
        chapter: Chapters after it are left out.
        limit: At most so many.
        texts: Look into so many texts, the likeliest first.

    Cost: one search; the sentences of the texts found are read.
    """
    if not attribute:
        return list(_section_claims(corpus, entity_id, None))[:limit]
    topic = topic_of(attribute)
    result = list(_section_claims(corpus, entity_id, topic))
    in_texts = sorted(
        _story_claims(corpus, entity_id, topic, result, chapter, texts), key=lambda pair: (-pair[0], *order_of(pair[1]))
    )
    result += [item for _, item in in_texts]
    result = list({(item.path, item.span): item for item in result}.values())[:limit]
    marked = []
    for item in result:
        rivals = tuple(dict.fromkeys(other.reference for other in result if _are_rivals(topic, item, other)))
        marked.append(replace(item, competes_with=rivals, attributes=(attribute,) if rivals else ()))
    return marked


def order_of(item: Statement) -> tuple[int, str, tuple[int, int]]:
    """The order of the book."""
    return (item.chapter or 0, item.path, item.span)


def _are_rivals(topic: Topic, item: Statement, other: Statement) -> bool:
    """As `is_rival`; the left and the right are rivals only where the rest of the sentence tells the same."""
    if not is_rival(item, other):
        return False
    if topic.valued:
        return True
    bare = [replace(side, values=side.values - _bodies(side.values)) for side in (item, other)]
    terms = [set(_core.terms(without_parts(side.text))) for side in (item, other)]
    return is_rival(*bare) or len(terms[0] & terms[1]) >= SHARED


def is_rival(item: Statement, other: Statement) -> bool:
    """Whether two statements of different sources share no value of some kind that both give."""
    if (other.path, other.section) == (item.path, item.section):
        return False
    if _is_outgrown(item, other) or _is_outgrown(other, item):
        return True
    kinds = {value.partition(":")[0] for value in item.values} & {value.partition(":")[0] for value in other.values}
    return any(_values_differ(_kind_values(item, kind), _kind_values(other, kind)) for kind in kinds - {"reached"})


def _values_differ(ones: set[str], others: set[str]) -> bool:
    """Whether two sets of values have none in common; an eye may be the left one."""
    return not any(
        side == other or _drop_side(side) == other or side == _drop_side(other) for side in ones for other in others
    )


def _drop_side(value: str) -> str:
    kind, _, name = value.partition(":")
    return f"{kind}:{part_of(name)}"


def _is_outgrown(item: Statement, other: Statement) -> bool:
    """Whether `other` had reached an age beyond the one that `item` gives."""
    years = [int(value.partition(":")[2]) for value in _kind_values(item, "years")]
    return bool(years) and any(int(value.partition(":")[2]) > max(years) for value in _kind_values(other, "reached"))


# "At forty-one she …", "her brown eyes …", 她今年…: who was named before is spoken of.
_PRONOUN = re.compile(
    r"[“\"‘'—\s]*(?:(?:[Aa]t|[Ii]n|[Bb]y)\s[\w-]+,?\s)?(?:(?:she|he|her|his)\b|[她他](?!们))", re.IGNORECASE
)


def is_about(corpus: Corpus, entity_id: str, item: Statement) -> bool:
    """Whether a sentence names an entity, or begins with a pronoun where its paragraph has named nobody else before."""
    if any(mention.entity_id == entity_id for mention in corpus.matcher.find_all(item.text)):
        return True
    document = corpus.document(item.path)
    if document is None or not _PRONOUN.match(item.text):
        return False
    before = document.text[document.paragraphs[item.paragraph].start : item.span[0]]
    named = {mention.entity_id for mention in corpus.matcher.find_all(before)}
    return {other for other in named if other == entity_id or corpus.entities[other].type == "character"} == {entity_id}


def _kind_values(item: Statement, kind: str) -> set[str]:
    return {value for value in item.values if value.startswith(f"{kind}:")}


def _section_claims(corpus: Corpus, entity_id: str, topic: Topic | None) -> Iterator[Statement]:
    own = set(corpus.described.get(entity_id, ()))
    for key in sorted(corpus.sections, key=corpus.place):
        section = corpus.sections[key]
        document = corpus.document(section.path)
        if document is None:
            continue
        for index, start, end, mentions in _sentences(corpus, document, section):
            about = key in own or any(mention.entity_id == entity_id for mention in mentions)
            if not about:
                continue
            sentence = document.text[start:end]
            place: Place = "own" if key in own else _place_of(corpus, section)
            values, others = _sentence_values(corpus, entity_id, sentence, mentions, topic, place)
            if others and place == "other":
                continue
            if key not in own and "place" in (topic.dimensions if topic else ()):
                # In the section of a place, to be named there is to be there.
                here = [other for other in section.entities if corpus.entities[other].type == "location"]
                values |= {f"place:{other}" for other in here}
            speaks = topic is None or topic.spoken_in(sentence) or bool(values - _bodies(values))
            if speaks:
                yield Statement(sentence, section.path, section.section, index, (start, end), None, values)


def _story_claims(
    corpus: Corpus, entity_id: str, topic: Topic, claimed: Sequence[Statement], chapter: int | None, texts: int
) -> Iterator[tuple[int, Statement]]:
    """Sentences of chapters with how surely they speak of the entity and the topic.

    A sentence counts when it names the entity and a word of the topic, or when its paragraph names the entity and it
    shares words with what a profile claims, or says who of two is older.
    """
    kept: dict[tuple[str, int], tuple[tuple[int, Statement], ...]] = corpus.memo.setdefault(
        ("statements", f"{entity_id}\0{topic.name}", None), {}
    )
    claims = {term for item in claimed for term in _core.terms(item.text)}
    claims -= {term for item in claimed for m in corpus.matcher.find_all(item.text) for term in _core.terms(m.term)}
    words = [word for word in topic.words if len(word) > 1 or not is_unspaced(word)]
    likely = paragraphs_about(corpus, entity_id, words, sorted(claims), as_of=chapter, limit=_PARAGRAPHS * texts)
    for path, index in likely:
        if (path, index) not in kept:  # what a paragraph says does not depend on the chapter that is open
            kept[path, index] = tuple(_paragraph_claims(corpus, entity_id, topic, claims, path, index))
        yield from kept[path, index]


def _paragraph_claims(
    corpus: Corpus, entity_id: str, topic: Topic, claims: set[str], path: str, index: int
) -> Iterator[tuple[int, Statement]]:
    document = corpus.document(path)
    # Said: by the story, by notes where there is none, by the kinds that are asked.
    heard = corpus.scope.kinds or (STORY_KINDS if corpus.stories else ("note",))
    if document is None or document.kind in ("setting", "outline") or document.kind not in heard:
        return
    paragraph = document.paragraphs[index]
    text = corpus.text_at(path, paragraph.start)
    if text is None:
        return
    whole = document.text[paragraph.start : paragraph.end]
    shared = len(claims.intersection(_core.terms(whole)))
    if shared < SHARED and not words_in(whole, topic.words) and "age" not in topic.dimensions:
        return
    here = corpus.matcher.find_all(whole)
    if not any(mention.entity_id == entity_id for mention in here):
        return
    for start, end in _spans(document.text, paragraph.start, paragraph.end):
        sentence = document.text[start:end]
        shared = len(claims.intersection(_core.terms(sentence)))
        spoken = topic.spoken_in(sentence)
        if not spoken and shared < SHARED and "age" not in topic.dimensions:
            continue
        mentions = corpus.matcher.find_all(sentence)
        values, others = _sentence_values(corpus, entity_id, sentence, mentions, topic, "prose")
        if others:
            continue
        item = Statement(sentence, text.path, text.section, index, (start, end), text.number, values)
        named = is_about(corpus, entity_id, item)
        speaks = spoken or any(value.startswith(("years:", "reached:")) for value in values)
        compared = any(value.startswith("older:") for value in values)
        valued = bool(values) or not topic.valued
        if valued and ((speaks and named) or (shared >= SHARED and (spoken or values)) or compared):
            sure = 2 * (shared >= SHARED) + 2 * named + bool(values) + spoken
            yield sure, item


def _sentence_values(
    corpus: Corpus,
    entity_id: str,
    sentence: str,
    mentions: Sequence[Mention],
    topic: Topic | None,
    place: Place,
) -> tuple[frozenset[str], bool]:
    """The values that a sentence gives of an entity, and whether it gives only those of others."""
    every = values_at(corpus, sentence, mentions, topic) if topic else ()
    if not every or topic is None:
        return frozenset(), False
    owner = ValueOwner(sentence, people_in(corpus, mentions, entity_id), entity_id, place, topic)
    values = frozenset(
        item.text for item in every if owner.owns(item) and not (place == "prose" and item.text in _PASSING)
    )
    return values, not values and place != "own"


def people_in(corpus: Corpus, mentions: Sequence[Mention], entity_id: str) -> list[Mention]:
    """Those of `mentions` that are of a character, or of the entity."""
    return [item for item in mentions if item.entity_id == entity_id or corpus.entities[item.entity_id].type == _PERSON]


def _place_of(corpus: Corpus, section: CorpusSection) -> Place:
    """The profile of a person is about its owner; the section of a place is about anybody it names."""
    return "other" if any(corpus.entities[entity].type == _PERSON for entity in section.entities) else "prose"


def _bodies(values: frozenset[str]) -> frozenset[str]:
    return frozenset(value for value in values if value.startswith("body:"))


def _spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """First and one past the last code point of each sentence, white space outside."""
    for match in STATEMENT.finditer(text, start, end):
        stripped = match[0].strip()
        if stripped:
            first = match.start() + len(match[0]) - len(match[0].lstrip())
            yield first, first + len(stripped)


def _sentences(
    corpus: Corpus, document: Document, section: CorpusSection
) -> Sequence[tuple[int, int, int, Sequence[Mention]]]:
    """(paragraph, first, one past the last, mentions) of each sentence of a section; mentions count from its beginning.

    Remembered until something changes: every entity and every topic asks for them.
    """
    key = ("sentences", "", section.key)
    if key not in corpus.memo:
        corpus.memo[key] = [
            (paragraph.index, first, last, corpus.matcher.find_all(document.text[first:last]))
            for paragraph in document.paragraphs
            if paragraph.role != "heading" and section.start <= paragraph.start < section.end
            for first, last in _spans(document.text, paragraph.start, paragraph.end)
        ]
    rows: Sequence[tuple[int, int, int, Sequence[Mention]]] = corpus.memo[key]
    return rows
