"""Other wordings of a question: those that agree with nothing count a part, where most do not."""

import pytest

from armarius.arguments import EVERYTHING
from armarius.codex import build_codex
from armarius.documents.document import make_document
from armarius.search import rank as ranking
from armarius.search.query.query import read_question
from armarius.search.rank import rank
from armarius.search.scope import ProjectCorpus

TOPICS = ("lantern", "harbour", "anchor", "orchard", "ledger", "violin", "quarry", "saddle", "pepper", "chapel")
RELATED = ("wick", "pier", "cable", "apple", "column", "bow", "stone", "girth", "spice", "altar")


@pytest.fixture(scope="module")
def corpus():
    """A thousand paragraphs of ten topics, a hundred each, which share no word."""
    documents = {}
    for at, (word, other) in enumerate(zip(TOPICS, RELATED, strict=True)):
        lines = [f"The {word} stood by the {other} and nothing moved, {at}{n}." for n in range(100)]
        path = f"chapters/ch{at + 1:03}.md"
        documents[path] = make_document(
            path, f"# Chapter {at + 1}\n\n{chr(10).join(f'{x}{chr(10)}' for x in lines)}".encode()
        )
    with ProjectCorpus(documents, build_codex([])).acquire() as corpus:
        yield corpus


def ranked(corpus, query, *also):
    def asked(text):
        return read_question(text, matcher=corpus.matcher)

    return rank(corpus, asked(query), also=[(asked(one), {}) for one in also], bounds=EVERYTHING)


def worth(corpus, query, topic, *also):
    """The best of a topic's chapter, beside the best of all."""
    scores = ranked(corpus, query, *also).scores
    path = f"chapters/ch{TOPICS.index(topic) + 1:03}.md"
    return max((score for name, _, score in scores.paragraphs(1000) if name == path), default=0.0) / scores.best


STRANGERS = ("the violin", "the quarry", "the saddle", "the pepper")


def test_wordings_that_agree_with_nothing_count_a_part(corpus, monkeypatch):
    doubted = worth(corpus, "the lantern", "violin", *STRANGERS)
    monkeypatch.setattr(ranking, "DOUBTED", 1.0)
    assert 0 < doubted < 0.5 * worth(corpus, "the lantern", "violin", *STRANGERS)


def test_wordings_that_agree_with_each_other_count_in_full_whatever_the_question_finds(corpus, monkeypatch):
    agreeing = ("the violin", "a bow", "the violin and its bow", "the quarry")
    found = worth(corpus, "the lantern", "violin", *agreeing)
    monkeypatch.setattr(ranking, "DOUBTED", 1.0)
    assert found == worth(corpus, "the lantern", "violin", *agreeing) > 0


def test_a_single_wording_counts_in_full(corpus, monkeypatch):
    found = worth(corpus, "the lantern", "violin", "the violin")
    monkeypatch.setattr(ranking, "DOUBTED", 0.0)
    assert found == worth(corpus, "the lantern", "violin", "the violin") > 0.5
