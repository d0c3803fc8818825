"""A host's reranker puts the first paragraphs of an offer in its order, and nothing else."""

import threading
import time

import pytest

import armarius
from armarius import Reranker
from armarius.errors import ContractError
from armarius.search import Reranking
from armarius.text.tokens import TokenCounter
from armarius.types import Evidence, PassageRow


def overlap(question, texts):
    """The share of the question's pairs of characters that a text has."""
    asked = {question[at : at + 2].lower() for at in range(len(question) - 1)}
    return [
        len(asked & {text[at : at + 2].lower() for at in range(len(text) - 1)}) / max(len(asked), 1) for text in texts
    ]


class Offered:
    """Ten paragraphs; the first is asked for by its chapter."""

    shares, group = None, "passages"

    def __init__(self, count=10):
        self.every = [
            PassageRow("a.md", at, (count - at) / count, (1, "a.md", at), "one", f"text {at}", asked=at == 0)
            for at in range(count)
        ]

    @property
    def rows(self):
        return iter(self.every)

    def row(self, path, paragraph):
        return self.every[paragraph] if paragraph < len(self.every) else None

    def evidence(self, row):
        return Evidence("fulltext", f"worth {row.score:.3f}", row.path, (0, 1))

    def explain(self, row):
        return (self.evidence(row), Evidence("fulltext", "asked otherwise"))

    def withheld(self, row):
        return None


def numbers(rows):
    return [row.paragraph for row in rows]


def backwards(_, texts):
    return range(len(texts))


def test_the_first_paragraphs_are_reordered_the_others_and_those_asked_for_stay():
    offer, warnings = Reranking(backwards, paragraphs=5).apply(Offered(), "q")
    assert warnings == ()
    rows = list(offer.rows)
    assert numbers(rows) == [0, 5, 4, 3, 2, 1, 6, 7, 8, 9]
    assert [row.score for row in rows] == [row.score for row in Offered().rows]
    assert offer.row("a.md", 5).score == 0.9
    assert offer.evidence(rows[1]).detail == "worth 0.900, reranked from 6 to 2"
    assert [one.detail for one in offer.explain(rows[6])] == ["worth 0.400", "asked otherwise"]
    assert [one.detail for one in offer.explain(rows[1])] == [offer.evidence(rows[1]).detail, "asked otherwise"]
    assert offer.withheld(rows[1]) is None


def test_equal_scores_keep_the_order_they_had():
    offer, _ = Reranking(lambda _, texts: [0.5] * len(texts)).apply(Offered(), "q")
    assert numbers(offer.rows) == list(range(10))


def test_question_and_texts_are_handed_over_as_they_are():
    seen = []
    Reranking(lambda question, texts: seen.append((question, texts)) or [1] * len(texts), paragraphs=3).apply(
        Offered(), "谁？"
    )
    assert seen == [("谁？", ["text 1", "text 2", "text 3"])]


def test_fewer_than_two_paragraphs_are_not_asked_about():
    def never(*_):
        raise AssertionError

    for count in (0, 1, 2):
        offer, warnings = Reranking(never).apply(Offered(count), "q")
        assert (numbers(offer.rows), warnings) == (list(range(count)), ())


def failing(*_):
    raise RuntimeError("the model is gone")


@pytest.mark.parametrize(
    ("reranker", "told"),
    [
        (failing, "RuntimeError: the model is gone"),
        (lambda *_: [float("nan")] * 9, "NaN"),
        (lambda *_: [float("inf")] * 9, "infinity"),
        (lambda *_: [1.0], "shape (1,) for 9 texts"),
        (lambda *_: "no", "no numbers"),
        (lambda *_: None, "no numbers|shape"),
        (lambda *_: time.sleep(0.5), "no answer within 0.05 s"),
    ],
)
def test_late_or_broken_is_a_warning_and_the_order_without_it(reranker, told):
    offer = Offered()
    found, (warning,) = Reranking(reranker, timeout_s=0.05).apply(offer, "q")
    assert found is offer
    assert warning.code == "RERANK_UNAVAILABLE"
    assert any(part in warning.message for part in told.split("|"))


def test_one_that_never_comes_back_is_not_asked_without_end():
    gate, asked = threading.Event(), []

    def stuck(_, texts):
        asked.append(1)
        gate.wait(60)
        return [1.0] * len(texts)

    reranking = Reranking(stuck, timeout_s=0.02)
    for _ in range(6):
        reranking.apply(Offered(), "q")
    assert len(asked) == 4
    gate.set()
    for _ in range(100):
        _, warnings = reranking.apply(Offered(), "q")
        if not warnings:
            return
        time.sleep(0.05)
    raise AssertionError(warnings)


@pytest.mark.parametrize("options", [{"paragraphs": 0}, {"paragraphs": 2.5}, {"timeout_s": 0}])
def test_limits_that_are_none_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Reranking(overlap, **options)


def test_what_cannot_be_called_is_refused_at_opening(tmp_path):
    with pytest.raises(ContractError, match="rerank: int cannot be called"):
        armarius.open(tmp_path, rerank=3)
    assert isinstance(overlap, Reranker)


@pytest.fixture
def novel(tmp_path):
    lines = [f"林小雨在灯塔下第{at}次等船，海面上什么也没有，她写下第{at}行字。" for at in range(200)]
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters/ch001.md").write_text("# 第一章\n\n" + "\n\n".join(lines) + "\n", "utf-8")
    return tmp_path


def passages(novel, **options):
    with armarius.open(novel, watch=False, **options) as engine:
        pack = engine.assemble(query="林小雨在灯塔下等船", model="gpt-4o", budget=4000, reserve_output=3000)
        assert pack.token_count == TokenCounter.for_model("gpt-4o").count(pack.prompt)
        return pack, [one.source for one in pack.items if one.source.startswith("rag:passage:")]


def test_a_prompt_is_filled_in_the_order_of_the_reranker(novel):
    seen = []
    passages(novel, rerank=lambda _, texts: seen.extend(texts) or [0] * len(texts))
    plain, before = passages(novel)
    assert len(seen) == 50
    left_out = next(text for text in seen if text not in plain.prompt)

    def wanted(_, texts):
        return [int(text == left_out) for text in texts]

    pack, found = passages(novel, rerank=wanted)
    again, _ = passages(novel, rerank=wanted)
    assert left_out in pack.prompt
    assert found != before
    assert again.prompt == pack.prompt
    assert pack.warnings == again.warnings


def test_a_prompt_says_that_the_reranker_was_away(novel):
    pack, found = passages(novel, rerank=failing)
    assert "RERANK_UNAVAILABLE: RuntimeError: the model is gone" in map(str, pack.warnings)
    assert found == passages(novel)[1]
