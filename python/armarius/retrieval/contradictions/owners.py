"""Whose value it is: of the one asked about, of the owner of a profile, or of somebody else whom a sentence names.

    Anna Bell's sister, twenty-two years old      in Lucy's profile: Lucy's age, no word about Anna
    苏禾看着老梁，他七十岁了。                       老梁's: the nearest name before a value is whom it is said of
    苏禾对二十二岁的妹妹说                          neither's: the sister's

Nothing is parsed. Where nothing speaks against it, the value is of whom the sentence is about.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from armarius.retrieval.contradictions.values import Topic, Value
from armarius.retrieval.understand.lexicon import Phrases, table
from armarius.text.matcher import Mention

__all__ = ["Place", "Whose"]

Place = Literal["own", "other", "prose"]
"""Where a sentence stands: in the profile of the entity, in that of another one, anywhere else."""

_BREAK = re.compile(r"[，,。；;：:！!？?（）()“”\"—…\n]|\.\s")
_COLON = re.compile(r"[：:]")
_AND = re.compile(r"\s*(?:[和与與及跟同、&]|以及|\sand\s)\s*")
_OF = re.compile(r"\s*的|之(?![前后後间中一所外内下上])|['’]s(?!\w)|(?<=s)['’](?!\w)")
_NOUN_OF = re.compile(r"([^\W\d_]+)\s+(?:of|to)\s+(?:the\s+)?$")
# Whom something is told to or done with is not whom it is told of.
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
_IS = re.compile(r"[是为為]|\b(?:is|was|are|were)\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"[里上中下]?的|[\s-]+")
_MARKS = re.compile(r"[ \-*_]*")
_NEAR = 80  # characters before a name in which such a word may stand
_HOME = ("家", "年")
_WHOLE = ("years:", "reached:", "place:")  # of somebody; any other value is of a part of him


@dataclass(frozen=True, slots=True)
class _Named:
    """People named together (安静和陆明), and where what is theirs begins: behind 的, else -1."""

    start: int
    end: int
    ids: frozenset[str]
    owns: int


class Whose:
    """Tells of the values of one sentence which are of an entity.

    Args:
        sentence: As written.
        people: Mentions of characters and of the entity in it, by position.
        entity_id: Asked about.
        place: Whose words they are.
        topic: What is asked about.

    Cost: linear in the sentence.
    """

    def __init__(self, sentence: str, people: Sequence[Mention], entity_id: str, place: Place, topic: Topic) -> None:
        self._sentence = sentence
        self._id = entity_id
        self._place = place
        self._topic = topic
        self._named = _together(sentence, people)
        self._kin = {one.start: one for one in _roles().find(sentence)}
        self._breaks = [one.end() for one in _BREAK.finditer(sentence)]
        self._begins, self._ends = [one.start for one in self._named], [one.end for one in self._named]
        self._inside = any(entity_id in one.ids for one in self._named)

    def owns(self, value: Value) -> bool:
        """Whether `value` is of the entity."""
        if value.text.startswith("older:"):
            return True  # names both
        whole = value.text.startswith(_WHOLE)
        said = self._attributed(value) if whole else None
        if said is not None:
            return said
        before = self._named[: bisect_right(self._ends, value.start)]
        clause = self._clause(value.start)
        if self._place == "own":
            return self._in_own(value, before, clause)
        if self._place == "other":
            return self._in_other(value, before, clause, whole=whole)
        return self._in_prose(value, before, clause, whole=whole)

    def _attributed(self, value: Value) -> bool | None:
        """Of a value that stands before whose it is: 十六岁的林小雨, 二十二岁的妹妹; None of any other."""
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

    def _in_own(self, value: Value, before: Sequence[_Named], clause: int) -> bool:
        """Everything, but what is said of kin or of somebody who is the subject."""
        if self._kin_from(self._label()) or (self._kin_from(clause) and not self._ends_clause(clause)):
            return False
        here = self._here(before, clause)
        if not here or any(self._id in one.ids for one in here) or here[-1].owns >= 0:
            return True
        if _THIRD.search(self._sentence, here[-1].end, value.start):
            return True  # 黎景翼写卖契时她十六岁: a profile's "she" is its owner
        return self._sentence[clause : here[-1].start].strip(" -*_#") != ""

    def _in_other(self, value: Value, before: Sequence[_Named], clause: int, *, whole: bool) -> bool:
        """Nothing, unless the entity is its subject."""
        here = self._here(before, clause)
        if before and self._id in before[-1].ids and before[-1].owns < 0:
            told = self._sentence[before[-1].end : value.start]
            if self._kin_from(self._label()) or (told[:1] in ("（", "(") and not set("）)") & set(told)):
                return True
        if not here or self._id not in here[-1].ids:
            return False
        if here[-1].owns >= 0:
            return self._is_trait(here[-1].owns, value.start, whole=whole)
        if _THIRD.search(self._sentence, here[-1].end, value.start):
            return False
        return not self._follows(_BESIDE, here[-1].start)

    def _in_prose(self, value: Value, before: Sequence[_Named], clause: int, *, whole: bool) -> bool:
        """What is said of nobody who is named nearer."""
        nearest = next((one for one in reversed(before) if not self._hears(one)), before[-1] if before else None)
        if nearest is not None and self._id not in nearest.ids and nearest.owns >= 0:  # is Tom's sister
            heard = any(not self._hears(one) for one in before)
            mine = (one for one in reversed(before) if self._id in one.ids and not (heard and self._hears(one)))
            nearest = next(mine, nearest)
        if not whole and (nearest is None or nearest.start < clause):
            return True
        if nearest is None:
            at = bisect_left(self._begins, value.end)
            behind = self._named[at] if at < len(self._named) else None
            if not self._inside or behind is None:
                return True
            return self._id in behind.ids and not _THIRD.search(self._sentence, 0, value.start)
        if self._id not in nearest.ids:
            return False
        return nearest.owns < 0 or self._is_trait(nearest.owns, value.start, whole=whole)

    def _is_trait(self, start: int, end: int, *, whole: bool) -> bool:
        """Whether what stands between a possessor and a value is a part or a trait of him, and nobody beside him."""
        told = self._sentence[start:end]
        if not told.strip(" -"):
            return True
        clause = _BREAK.split(told, maxsplit=1)[0]
        third = _THIRD.search(told)
        if _roles().find(clause):
            return third is not None and _SAYS.search(told, 0, third.start()) is not None
        if not whole or third is not None or re.search(r"\.\s", told):
            return True
        return clause.strip().lower().startswith((*self._topic.words, *_HOME))

    def _here(self, before: Sequence[_Named], clause: int) -> Sequence[_Named]:
        """Of `before`, who is named in the clause."""
        return before[bisect_left(self._begins, clause, 0, len(before)) :]

    def _hears(self, one: _Named) -> bool:
        return self._follows(_HEARER, one.start)

    def _follows(self, word: re.Pattern[str], at: int) -> bool:
        """Whether what stands at `at` follows such a word."""
        return word.search(self._sentence, max(0, at - _NEAR), at) is not None

    def _label(self) -> int:
        """Where the name of what a line gives begins: `- 妹妹：…`; the end of the sentence when it has none."""
        colon = _COLON.search(self._sentence)
        words = re.match(r"[\s\-*+_|#]*", self._sentence)
        return words.end() if colon and words else len(self._sentence)

    def _kin_from(self, at: int) -> bool:
        """Whether a word for kin begins at `at`."""
        found = self._kin.get(self._word(at))
        return found is not None and found.value

    def _ends_clause(self, at: int) -> bool:
        """Whether the clause that begins at `at` is over with its word for kin: 独生女，七岁."""
        found = self._kin.get(self._word(at))
        return found is not None and _BREAK.match(self._sentence, found.end) is not None

    def _word(self, at: int) -> int:
        """Where the first word from `at` on begins."""
        mark = _MARKS.match(self._sentence, at)
        return mark.end() if mark else at

    def _clause(self, at: int) -> int:
        """Where the clause of `at` begins."""
        found = bisect_right(self._breaks, at)
        return self._breaks[found - 1] if found else 0


def _together(sentence: str, people: Sequence[Mention]) -> list[_Named]:
    found: list[_Named] = []
    for one in people:
        behind = _OF.match(sentence, one.end)
        noun = _NOUN_OF.search(sentence, max(0, one.start - _NEAR), one.start)
        owns = behind.end() if behind else noun.start() if noun and _is_noun(noun[1]) else -1
        last = found[-1] if found else None
        if last is not None and _AND.fullmatch(sentence, last.end, one.start):
            ids, start = last.ids | {one.entity_id}, last.start
            found[-1] = _Named(start, one.end, ids, owns if owns >= 0 else last.owns)
        else:
            found.append(_Named(one.start, one.end, frozenset({one.entity_id}), owns))
    return found


def _is_noun(word: str) -> bool:
    return bool(_roles().find(word))


@cache
def _roles() -> Phrases[bool]:
    """Words for who somebody is to another; true of kin. One character (子 in 房子) is none."""
    rows = {word: True for name, words in table("kin").items() if name not in _CHOSEN for word in words}
    rows |= {word: False for name in _CHOSEN for word in table("kin")[name]}
    rows |= {word: False for words in table("roles").values() for word in words}
    return Phrases({word: kin for word, kin in rows.items() if len(word) > 1})


# Not of one's blood, or both together: 兄妹二人 is no other.
_CHOSEN = ("sibling", "master", "servant", "teacher", "student", "friend", "lover", "enemy")
