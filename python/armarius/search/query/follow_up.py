"""A question that leans on what was said before, spelled out: who "she" is, and what "and then?" goes on from.

    turns, oldest first -> who was named, what was asked -> pronouns replaced -> what the question lacks, carried over

A question with words enough of its own stays as it is. Deterministic; each carried item is reported with its turn.
It is looked up and never shown (docs/decisions/0074).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from armarius.arguments import SPOKEN, Turn
from armarius.headings import Reason
from armarius.search.query.coreference import (
    LATIN_WORD,
    Cast,
    Coreference,
    demonstrative_ends,
    goes_on,
    may_mean,
    parts_clause,
    pronouns,
    says,
    words_of,
)
from armarius.search.query.query import Understanding, question, read_question
from armarius.search.query.recipe import understand
from armarius.search.query.words import blank_out
from armarius.text.matcher import EntityMatcher
from armarius.text.unicode import BETWEEN, UNSPACED

_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
_NO_NAMES = EntityMatcher(())
_NOUN = 2  # Han characters of a word that is no verb by itself


def names_topic(analysis: Understanding) -> bool:
    """Whether a content word of a question is its topic.

    It is one behind an article, or that a capital makes a name; in Chinese one that begins the question. Words for what
    somebody else has or does are none: kin, age and home, the reason, 出生.

    Cost: linear in the question.
    """
    if analysis.attributes or analysis.relations:
        return False
    words = [word for word in question(analysis).words if word not in words_of("latin", "of_another")]
    return _has_article(analysis.query, words) or _begins_with(analysis.query, words)


def demonstrative_nouns(text: str) -> tuple[str, ...]:
    """The nouns behind 那只, 那封, 这张; none where one of them says no more than 那个人 does, or nothing (那个呢).

    Cost: linear in the text, once for each.
    """
    nouns = []
    for end in demonstrative_ends(text):
        behind = text[end:].lstrip()
        words = question(read_question(behind, matcher=_NO_NAMES)).words
        noun = max((word for word in words if behind.startswith(word)), key=len, default="")
        if not noun or noun in words_of("han", "says_little"):
            return ()
        nouns.append(noun)
    return tuple(nouns)


def _has_article(query: str, words: list[str]) -> bool:
    tokens = [match[0] for match in LATIN_WORD.finditer(query)]
    articles = words_of("latin", "articles")
    return any(
        word.lower().replace("’", "'").partition("'")[0] in words and (word[0].isupper() or before.lower() in articles)
        for before, word in pairwise(tokens)
    )


def _begins_with(query: str, words: list[str]) -> bool:
    """Han: with one of `words`, behind what goes on from before (那灯塔在哪里)."""
    text = query.strip()
    first = max((word for word in words_of("han", "begins") if text.startswith(word)), key=len, default="")
    starts = (text, text[len(first) :].lstrip(" ,，"))
    topics = [word for word in words if len(word) >= _NOUN and _IS_UNSPACED.match(word)]
    return any(
        start.startswith(topic) and not start.startswith(tuple(words_of("han", "of_another")))
        for start in starts
        for topic in topics
    )


_HEARD = 16  # turns
_LISTENED = 4_000  # code points of one
_LONGEST = 400  # code points of a question that may lean on others
_CARRIED = 200  # code points of an earlier question that are carried over
_ANSWERED = 80  # code points of the sentence that answered it
_LEANING = 3  # content words of a question that still takes up what was said
_FEW = 2
_FRAGMENT = 2.5  # words with a name that are no question yet: "why Edmund?"
_SHORT = 4.0  # words; a Han character is .6 of one
_UNIT = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question as it is looked up.

    Attributes:
        asked: The question spelled out; as it was, when nothing was carried over.
        carried: What was, each with its turn: `follow-up: she → Nell Ashby, from turn 3`.
    """

    asked: str
    carried: tuple[str, ...] = ()


def follow_up(query: str, turns: Sequence[Turn], *, matcher: EntityMatcher, cast: Cast) -> FollowUp:
    """`query` with what it leaves to earlier turns.

    Args:
        query: The user's words.
        turns: Before it, oldest first; they are counted from 1.
        matcher: Finds the entities of the project.
        cast: What is known of them.

    Cost: one search of the last 16 turns, of at most 4,000 code points each; about 1 ms.
    """
    spoken = [(number, turn) for number, turn in enumerate(turns, 1) if turn.is_spoken]
    if not spoken or not query.strip():
        return FollowUp(query)
    talk = _Conversation(matcher, cast)
    for number, turn in spoken[-_HEARD:]:
        talk.observe(number, turn)
    return talk.spelled_out(query)


class _Conversation:
    """What has been said so far."""

    def __init__(self, matcher: EntityMatcher, cast: Cast) -> None:
        self._matcher = matcher
        self._coreference = Coreference(cast, matcher)
        self._cast = self._coreference.cast
        self._topic, self._topic_turn = "", 0
        self._about: tuple[str, ...] = ()
        self._answer, self._answer_turn = "", 0
        self._transcript = ""

    def observe(self, number: int, turn: Turn) -> None:
        text = turn.content.strip()[:_LISTENED]
        self._transcript += f"{text}\n"
        if turn.role != SPOKEN[0]:
            self._coreference.observe(number, text, aside=not says(self._topic, "name"))
            self._answer, self._answer_turn = BETWEEN.split(text, maxsplit=1)[0].strip()[:_ANSWERED], number
            return
        query = self.spelled_out(text).asked
        about = self._coreference.observe(number, text)
        if about or len(text) > _LONGEST or _content(read_question(text, matcher=self._matcher)):
            # what is asked of a pasted page stands at its end
            self._topic = query[:_CARRIED] if len(text) <= _LONGEST else query[-_CARRIED:]
            self._topic_turn, self._about = number, about
        self._answer = ""

    def spelled_out(self, query: str) -> FollowUp:
        if len(query) > _LONGEST:
            return FollowUp(query)
        query = query.encode("utf-8", "replace").decode()
        analysis = read_question(query, matcher=self._matcher, recipe=understand(query))
        text, notes, meant, lost = self._resolve_pronouns(query, analysis)
        return self._complete_query(analysis, text, notes, meant, lost=lost)

    def _resolve_pronouns(self, query: str, analysis: Understanding) -> tuple[str, list[str], list[str], bool]:
        """The question with names for pronouns, notes, the entities meant, and whether a pronoun is unresolved."""
        text, shift, lost = query, 0, False
        notes: dict[str, None] = {}
        meant: list[str] = []
        refs = pronouns(query)
        gendered = list(dict.fromkeys(ref.kind for ref in refs if ref.kind in ("m", "f")))
        pair = self._coreference.man_and_woman(gendered[0], analysis.entities) if len(gendered) > 1 else {}
        for pronoun in refs:
            before = [
                mention
                for mention in analysis.mentions
                if mention.end <= pronoun.start
                and mention.entity_id in self._cast
                and may_mean(pronoun.kind, self._cast[mention.entity_id])
            ]
            if before and not (pronoun.is_object and not parts_clause(query[before[-1].end : pronoun.start])):
                continue
            ids = (
                pair[pronoun.kind]
                if pronoun.kind in pair
                else self._coreference.resolve(pronoun.kind, analysis.entities)
            )
            lost |= not ids
            if not ids:
                continue
            meant += ids
            names = [self._coreference.name_of(id_) for id_ in ids]
            spelled = self._join_names(names) + ("'s" if pronoun.possessive and pronoun.word.isascii() else "")
            text = text[: pronoun.start + shift] + spelled + text[pronoun.end + shift :]
            shift += len(spelled) - (pronoun.end - pronoun.start)
            turn = max(self._coreference.turn_of(id_) for id_ in ids)
            notes[Reason("carried.pronoun", word=pronoun.word, names=names, turn=turn)] = None
        return text, list(notes), meant, lost

    def _complete_query(
        self, analysis: Understanding, text: str, notes: list[str], meant: list[str], *, lost: bool
    ) -> FollowUp:
        """The question with what it lacks: the earlier question, or its subjects."""
        here = FollowUp(text, tuple(notes))
        if not self._topic or analysis.consistency or analysis.reads or analysis.phrases:
            return here
        words, subjects = _content(analysis), [*analysis.entities, *meant]
        stranger = lost and not meant and any(ref.kind in ("m", "f") for ref in pronouns(analysis.query))
        onward = goes_on(analysis.query)
        if not subjects and says(analysis.query, "demonstrative"):
            if not onward and self._points_elsewhere(analysis.query):
                return here
            lost = True
        event = lost or says(analysis.query, "event")
        short = _length(analysis.query) <= _SHORT
        is_whole = says(analysis.query, "asks", "begins") and not meant
        if analysis.references:
            return self._add_topic(text, notes, chapters=False) if onward and not words else here
        if subjects:
            own = _length(blank_out(analysis.query, analysis.mentions))
            if not words and (onward or not own):
                return self._replace_subjects(text, notes, subjects)
            leans = event and words <= _FEW
            bare = not words and says(analysis.query, "circumstance", "no_circumstance") and (meant or own <= _FRAGMENT)
            if (leans or bare or (onward and short and words == 1 and not is_whole)) and self._has_more_topic(subjects):
                return self._add_topic(text, notes)
            return here
        if stranger and not self._has_more_topic(read_question(self._topic, matcher=self._matcher).entities):
            return here  # "he", after "who is Ann?"
        if not words or (words <= _LEANING and (event or says(analysis.query, "sequence"))):
            return self._add_topic(text, notes, answer=True)
        if says(analysis.query, "identity") or (is_whole and names_topic(analysis)):
            return here
        if words <= (_FEW if onward else 1) and (short or onward):
            return self._with_subject(text, notes) if self._about else self._add_topic(text, notes, answer=True)
        return here

    def _points_elsewhere(self, query: str) -> bool:
        """Whether every thing that it points at (那只表) is one that no turn has named."""
        things = demonstrative_nouns(query)
        return bool(things) and not any(thing in self._transcript for thing in things)

    def _has_more_topic(self, subjects: Sequence[str]) -> bool:
        """Whether the question before says more than the subjects of this one."""
        topic = read_question(self._topic, matcher=self._matcher)
        return bool(_content(topic)) or not set(topic.entities) <= set(subjects)

    def _add_topic(self, text: str, notes: list[str], *, answer: bool = False, chapters: bool = True) -> FollowUp:
        topic = self._topic
        if not chapters:
            topic = blank_out(topic, read_question(topic, matcher=self._matcher).references)
        parts = [topic.strip()]
        notes = [*notes, Reason("carried.topic", topic=topic.strip(), turn=self._topic_turn)]
        if answer and self._answer:
            parts.append(self._answer)
            notes.append(Reason("carried.answer", answer=self._answer, turn=self._answer_turn))
        return FollowUp(" ".join([*parts, text]), tuple(notes))

    def _with_subject(self, text: str, notes: list[str]) -> FollowUp:
        who = [id_ for id_ in self._about if self._cast[id_].kind != "place"]
        names = [self._coreference.name_of(id_) for id_ in who or self._about]
        note = Reason("carried.about", names=names, turn=self._topic_turn)
        return FollowUp(f"{self._join_names(names)} {text}", (*notes, note))

    def _replace_subjects(self, text: str, notes: list[str], subjects: Sequence[str]) -> FollowUp:
        """The earlier question about somebody else, for one that is a name: "And Edmund?"."""
        topic = read_question(self._topic, matcher=self._matcher)
        kinds = {self._cast[id_].kind for id_ in subjects if id_ in self._cast}
        replaced = [mention for mention in topic.mentions if mention.entity_id in self._cast]
        replaced = [
            mention
            for mention in replaced
            if self._cast[mention.entity_id].kind in kinds and mention.entity_id not in subjects
        ]
        if not replaced:
            return self._add_topic(text, notes)
        first = replaced[0].entity_id
        names = self._join_names([self._name(id_) for id_ in subjects])
        query = self._topic
        for mention in reversed([mention for mention in replaced if mention.entity_id == first]):
            query = query[: mention.start] + names + query[mention.end :]
        term = replaced[0].term
        note = Reason("carried.swapped", topic=self._topic, names=names, term=term, turn=self._topic_turn)
        return FollowUp(query, (*notes, note))

    def _name(self, id_: str) -> str:
        return self._cast[id_].name if id_ in self._cast else id_

    @staticmethod
    def _join_names(names: Sequence[str]) -> str:
        return ("和" if any(map(_IS_UNSPACED.search, names)) else " and ").join(names)


def _content(analysis: Understanding) -> int:
    """How many words of its own a question has, names excepted."""
    return len(question(analysis).words)


def _length(text: str) -> float:
    """Of a question in words."""
    return sum(0.6 if _IS_UNSPACED.match(unit[0]) else 1.0 for unit in _UNIT.finditer(text))
