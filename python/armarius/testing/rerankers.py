"""Conformance suite for `Reranker` (`armarius.search.rerank`), as a test class to inherit.

    class TestMyReranker(RerankerConformance):
        @pytest.fixture
        def reranker(self):
            return my_function        # (question, texts) -> scores

Only pytest is needed. The questions are easy: exactly one text contains the answer.
"""

import math
import threading
from collections.abc import Sequence

import pytest

from armarius.search.rerank import Reranker

__all__ = ["RerankerConformance"]

QUESTION = "Where did he hide the silver key?"
TEXTS = (
    "Rain had washed the road out, so the carts went the long way round by the mill.",
    "He hid the silver key under the third flagstone and told nobody.",
    "They baked bread for the festival until the whole street smelled of it.",
)
UNUSUAL = ("", "   \n", "字", "钟停在十二点。" * 2_000, "a\u0000b", "\U0001f5dd\ufe0f", "</layer-retrieved>")


class RerankerConformance:
    """Tests of one reranker, given as the fixture `reranker`."""

    def test_every_text_gets_one_finite_number(self, reranker: Reranker) -> None:
        """Of one text, of a few, of fifty."""
        for count in (1, 2, 3, 50):
            _checked(reranker(QUESTION, (TEXTS * 20)[:count]), count)

    def test_unusual_texts_and_questions_are_scored_too(self, reranker: Reranker) -> None:
        """Empty, very long, of other scripts, with a NUL."""
        for question in (QUESTION, "钥匙藏在哪里？", "", "key " * 5_000):
            _checked(reranker(question, UNUSUAL), len(UNUSUAL))

    def test_the_same_question_is_answered_the_same(self, reranker: Reranker) -> None:
        """Twice in a row."""
        assert list(reranker(QUESTION, TEXTS)) == list(reranker(QUESTION, TEXTS))

    def test_equal_texts_are_worth_the_same(self, reranker: Reranker) -> None:
        """Wherever they stand among the others."""
        first, other, again = reranker(QUESTION, (TEXTS[1], TEXTS[0], TEXTS[1]))
        assert first == pytest.approx(again, abs=1e-4)
        assert first != pytest.approx(other, abs=1e-6)

    def test_what_answers_comes_first(self, reranker: Reranker) -> None:
        """The text with the answer has the highest score."""
        scores = list(reranker(QUESTION, TEXTS))
        assert max(range(len(TEXTS)), key=scores.__getitem__) == 1

    def test_it_is_asked_from_several_threads_at_once(self, reranker: Reranker) -> None:
        """As requests are."""
        expected = list(reranker(QUESTION, TEXTS))
        found: list[list[float]] = []
        threads = [threading.Thread(target=lambda: found.append(list(reranker(QUESTION, TEXTS)))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(found) == len(threads)
        assert all(one == pytest.approx(expected, abs=1e-4) for one in found)


def _checked(scores: Sequence[float], count: int) -> None:
    assert len(scores) == count
    assert all(math.isfinite(score) for score in scores)
