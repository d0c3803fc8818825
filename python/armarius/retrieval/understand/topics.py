"""Whether a question says by itself what it is about: "where was the barrel?", 灯塔在哪里？, 那只表."""

import re
from functools import cache
from itertools import pairwise

from armarius.lexicon import word_file
from armarius.retrieval.understand.families import question
from armarius.retrieval.understand.pronouns import shown
from armarius.retrieval.understand.query import Understanding, understand
from armarius.text.matcher import EntityMatcher
from armarius.text.scripts import UNSPACED

__all__ = ["names_topic", "things_shown"]

_WORD = re.compile(rf"[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)*")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
_NO_NAMES = EntityMatcher(())
_NOUN = 2  # Han characters of a word that is no verb by itself


def names_topic(asked: Understanding) -> bool:
    """Whether a content word of a question is its topic.

    It is one behind an article, or that a capital makes a name; in Chinese one that begins the question. Words for what
    somebody else has or does are none: kin, age and home, the reason, 出生.

    Cost: linear in the question.
    """
    if asked.attributes or asked.relations:
        return False
    words = [word for word in question(asked).words if word not in _row("latin", "of_another")]
    return _behind_article(asked.query, words) or _begins(asked.query, words)


def things_shown(text: str) -> tuple[str, ...]:
    """The nouns behind 那只, 那封, 这张; none where one of them says no more than 那个人 does, or nothing (那个呢).

    Cost: linear in the text, once for each.
    """
    found = []
    for one in shown(text):
        behind = text[one:].lstrip()
        words = question(understand(behind, matcher=_NO_NAMES)).words
        noun = max((word for word in words if behind.startswith(word)), key=len, default="")
        if not noun or noun in _row("han", "says_little"):
            return ()
        found.append(noun)
    return tuple(found)


def _behind_article(query: str, words: list[str]) -> bool:
    said = [found[0] for found in _WORD.finditer(query)]
    articles = _row("latin", "articles")
    return any(
        word.lower().replace("’", "'").partition("'")[0] in words and (word[0].isupper() or before.lower() in articles)
        for before, word in pairwise(said)
    )


def _begins(query: str, words: list[str]) -> bool:
    """Han: with one of `words`, behind what goes on from before (那灯塔在哪里)."""
    text = query.strip()
    first = max((one for one in _row("han", "begins") if text.startswith(one)), key=len, default="")
    starts = (text, text[len(first) :].lstrip(" ,，"))
    topics = [one for one in words if len(one) >= _NOUN and _IS_UNSPACED.match(one)]
    return any(
        start.startswith(one) and not start.startswith(tuple(_row("han", "of_another")))
        for start in starts
        for one in topics
    )


@cache
def _row(table: str, row: str) -> frozenset[str]:
    return frozenset(word_file("followups")[table][row].split())
