"""Whether a question says by itself what it is about: "where was the barrel?", 灯塔在哪里？."""

import re
from functools import cache
from itertools import pairwise

from armarius.lexicon import word_file
from armarius.retrieval.understand.families import question
from armarius.retrieval.understand.query import Understanding
from armarius.text.scripts import UNSPACED

__all__ = ["names_topic"]

_WORD = re.compile(rf"[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)*")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
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
