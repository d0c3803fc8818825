"""How the short forms of names are used in prose: as a person acts, as a word, before and behind which words.

Counts are sums over documents, as in `counts`.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

from armarius.names.forms import Forms
from armarius.names.lexicon import letters, words
from armarius.names.western import title_gender
from armarius.text.matcher import Mention
from armarius.text.scripts import is_han

__all__ = ["Usage", "Use", "begins_sentence"]

# bare: outside longer names. acting: of these, as a person acts or is addressed. counted: as a thing. inside, initial:
# with a capital, inside a sentence or at its beginning. small: without the capital. near: of the bare ones, not far
# from a mention of somebody whose form it may be; only of loose forms.
Use = Literal["bare", "acting", "counted", "near", "inside", "initial", "small"]

_NUMBERS: Final = letters("han", "numbers")
_MEASURES: Final = letters("han", "measures")
_NEAR: Final = 500  # code points to either side
_STOPS: Final = frozenset("，。！？、：；!?,.…")
# What may stand between two sentences, which of it opens one, and what ends one; as in rust/matching/ambiguity.rs.
_OPEN: Final = " \t　*_(（\"'“‘「『«《"
_QUOTES: Final = frozenset('"“‘「『«')
_ENDS: Final = frozenset(".!?…:;。！？：；—–\n\r#")
_BEFORE: Final = re.compile(r"([^\W\d_][\w’'-]*\.?)[ ]$")
_SHORTENED: Final = re.compile(r"([^\W\d_]+)\.$")
_AFTER: Final = re.compile(r"[ ]([^\W\d_][\w’-]*)")
_NO_NAME: Final = frozenset({"I"})
# A person is seen to act in about a third of the mentions of a name, a thing in one of fifty: between them.
_ACTING: Final = 0.08

Uses = Counter[tuple[str, str]]
Beside = Counter[tuple[str, str, str]]


class Usage:
    """Counts of uses.

    Args:
        forms: What is looked for.

    Attributes:
        uses: (form, use) to how often.
        beside: (form, "before" or "after", word) to how often; in Chinese a family name in front, elsewhere a word
            with a capital, inside a sentence.
    """

    def __init__(self, forms: Forms) -> None:
        self.forms: Final = forms
        self.uses: Final = Counter[tuple[str, str]]()
        self.beside: Final = Counter[tuple[str, str, str]]()

    def look(self, text: str, mentions: Sequence[Mention], uses: Uses, beside: Beside) -> None:
        """Count one document into `uses` and `beside`: every form outside the mentions of given names."""
        starts = [mention.start for mention in mentions]
        own = []
        for found in self.forms.matcher.find_overlapping(text):
            at = bisect_right(starts, found.start) - 1
            inside = at >= 0 and mentions[at].end > found.start
            if not inside and (at + 1 == len(mentions) or mentions[at + 1].start >= found.end):
                own.append(found)
        around: list[Mention] = []
        places: list[int] = []
        for found in own:
            if not is_han(found.term[0]):
                _spaced(text, found, uses, beside)
                continue
            _han(text, found, uses, beside)
            whose = self.forms.loose.get(found.entity_id)
            if whose and not around:
                given = self.forms.given
                names = [Mention(given[one.entity_id], "", one.start, one.end) for one in own if one.entity_id in given]
                around = sorted([*mentions, *names], key=lambda one: (one.start, one.end))
                places = [mention.start for mention in around]
            if whose and _is_near(found, around, bisect_right(places, found.start) - 1, whose):
                uses[found.entity_id, "near"] += 1

    def of(self, form: str, use: Use) -> int:
        """How often a form is used so."""
        return self.uses.get((form, use), 0)  # a `Counter` asked for what it has not calls Python

    def acts(self, form: str) -> bool:
        """Whether a form is seen to act as persons do."""
        acting = self.of(form, "acting")
        return acting > 0 and acting >= _ACTING * self.of(form, "bare")


def _han(text: str, found: Mention, uses: Uses, beside: Beside) -> None:
    form = found.entity_id
    before, after = text[max(0, found.start - 2) : found.start], text[found.end : found.end + 1]
    last = before[-1:]
    if last in letters("han", "surnames") and last not in letters("han", "function"):
        beside[form, "before", last] += 1
    if len(before) == 2 and before[0] in _NUMBERS and last in _MEASURES:
        uses[form, "counted"] += 1
        return
    uses[form, "bare"] += 1
    addressed = after in _STOPS and last in ("“", "「", "，", "‘", "『")
    if after in letters("han", "acts") or addressed or last in letters("han", "done_to"):
        uses[form, "acting"] += 1


def _spaced(text: str, found: Mention, uses: Uses, beside: Beside) -> None:
    form = found.entity_id
    line = text.rfind("\n", 0, found.start) + 1
    if not found.term[0].isupper():
        # "van der Berg", and scripts without capitals: no word to be told apart from.
        named = found.term[0] == form[0]
        uses[form, "inside" if named else "small"] += 1
        return
    before = text[max(0, found.start - 40) : found.start]
    initial = begins_sentence(before)
    uses[form, "initial" if initial else "inside"] += 1
    if text.startswith("#", line):
        return  # every word of a heading may have a capital
    previous = _BEFORE.search(before)
    if previous and previous[1][0].isupper() and previous[1] not in _NO_NAME:
        title = title_gender(previous[1]) is not None
        if title or not begins_sentence(before[: previous.start()]):
            beside[form, "before", previous[1]] += 1
    following = _AFTER.match(text, found.end)
    if following and following[1][0].isupper() and following[1] not in _NO_NAME:
        beside[form, "after", following[1].removesuffix("’s")] += 1


def _is_near(found: Mention, mentions: Sequence[Mention], at: int, whose: frozenset[str]) -> bool:
    """Whether somebody of `whose` is mentioned around a form; `at` is the last mention before it."""
    for step, position in ((-1, at), (1, at + 1)):
        while 0 <= position < len(mentions):
            mention = mentions[position]
            if found.start - mention.end > _NEAR or mention.start - found.end > _NEAR:
                break
            if mention.entity_id in whose:
                return True
            position += step
    return False


def begins_sentence(before: str) -> bool:
    """Whether a sentence begins behind `before`: an end of one, or a quotation mark, stands there.

    `begins_sentence` of rust/matching/ambiguity.rs is the same for what learnt doubts are applied to;
    tests/cases/beginnings.json holds both to the same answers.
    """
    bare = before.rstrip(_OPEN)
    if _QUOTES.intersection(before[len(bare) :]):
        return True
    short = _SHORTENED.search(bare)  # "Dr." and "J." end no sentence
    if short and (len(short[1]) == 1 or short[1].lower() in words("latin", "shortened")):
        return False
    return not bare or bare[-1] in _ENDS
