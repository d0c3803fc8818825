"""How likely an answer is stands beside every answer, on every surface."""

import json
from pathlib import Path

import pytest

import armarius
from armarius.cli import main
from armarius.search.hits import SIGNS, WEIGHTS
from armarius.verbs import methods_of

ROOT = Path(__file__).parents[2]
NOVEL = ROOT / "examples" / "novel"
ASKED = "谁裁走了第十八页"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with armarius.open(NOVEL, watch=False, index_dir=tmp_path_factory.mktemp("index")) as engine:
        yield engine


def test_every_surface_says_how_likely_the_answer_is(engine, capsys):
    sure = engine.retrieve(ASKED).confidence
    assert 0 < sure < 1
    pack = engine.assemble(ASKED, budget=4000)
    call = methods_of(engine)
    assert pack.confidence == pack.to_wire()["confidence"] == sure
    assert call["documents:retrieve"]({"query": ASKED})["confidence"] == sure
    open_ = {"projectId": "", "documentId": "chapters/ch003.md", "cursorPosition": 0, "skillId": "chat"}
    there = engine.retrieve(ASKED, document="chapters/ch003.md").confidence
    assert call["context:prompt:assemble"]({**open_, "query": ASKED})["confidence"] == there
    assert main(["retrieve", str(NOVEL), ASKED, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["confidence"] == sure


def test_what_asks_nothing_has_no_confidence(engine):
    pack = engine.assemble(document="chapters/ch003.md", budget=4000)
    assert pack.confidence is None
    assert "confidence" not in pack.to_wire()


def test_the_best_of_nothing_has_a_score_of_one_and_a_low_confidence(tmp_path):
    for number in range(1, 5):
        text = (NOVEL / "chapters" / f"ch00{number}.md").read_text(encoding="utf8")
        (tmp_path / f"ch00{number}.md").write_text(text, encoding="utf8")
    with armarius.open(tmp_path, watch=False, index_dir=tmp_path.parent / "index") as engine:
        nowhere = engine.retrieve("Who cut page eighteen?")
        assert (nowhere.outcome, nowhere.confidence) == ("nothing found", 0.0)
        assert engine.assemble("Who cut page eighteen?").confidence == 0.0
        strange = engine.retrieve("太空飞船的引擎灯")
        assert strange[0].score == 1.0
        assert strange.confidence < 0.1 < engine.retrieve("灯塔在哪里").confidence


@pytest.mark.parametrize(
    ("surer", "than"),
    [
        ("第3章讲了什么", ASKED),  # a chapter that there is
        (ASKED, "太空飞船的引擎型号是谁裁走的"),  # words that occur nowhere
        (ASKED, "太空飞船"),
    ],
)
def test_confidence_follows_the_signs_of_an_answer(engine, surer, than):
    assert engine.retrieve(surer).confidence > engine.retrieve(than).confidence


def test_wordings_that_find_something_make_an_answer_surer(engine):
    plain = engine.retrieve("who handed over the missing sheet").confidence
    assert engine.retrieve("who handed over the missing sheet", also=["周远交出第十八页"]).confidence > plain


def test_the_weights_are_those_that_were_measured():
    figures = json.loads((ROOT / "benches" / "results" / "confidence.json").read_text(encoding="utf8"))["figures"]
    assert dict(zip(SIGNS, WEIGHTS, strict=True)) == figures["weights"]
    assert figures["mean ratio of novels"] <= 0.8
