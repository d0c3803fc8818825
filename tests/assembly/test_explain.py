"""`pack.explain` takes what `include` takes: a document, a paragraph, an entity by id, name or alias."""

import shutil
from pathlib import Path

import pytest

import armarius
from armarius.errors import UnknownId

EXAMPLE = Path(__file__).parents[2] / "examples" / "novel"
SECOND, THIRD, FIFTH, SEVENTH = (f"chapters/ch00{n}.md" for n in (2, 3, 5, 7))
ASKED = "周远是谁的儿子"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(EXAMPLE, root / "novel")
    with armarius.open(root / "novel", watch=False, index_dir=root / "index") as engine:
        yield engine


def test_a_document_gives_its_paragraphs_that_are_in_counted_and_listed(engine):
    pack = engine.assemble(ASKED, budget=6000)
    found = pack.explain(SECOND)
    inside = [item.source for item in pack.items if item.source.startswith(f"rag:passage:{SECOND}#")]
    whole = sum(one.role == "body" for one in engine.document(SECOND).paragraphs)
    assert 0 < len(inside) < whole
    assert [item.source for item in found.items] == inside
    numbers = ", ".join("#" + source.rpartition("#")[2] for source in inside)
    assert str(found).splitlines()[0] == f"{len(inside)} of {whole} paragraphs of {SECOND} are in: {numbers}"


def test_a_document_that_is_not_in_gives_the_reason_of_its_best_paragraph(engine):
    found = engine.assemble(ASKED, budget=6000).explain("chapters/ch004.md")
    assert not found.included
    assert found.about.startswith("no paragraph of chapters/ch004.md is in whole")
    (gone,) = found.omitted
    scores = {
        n: engine.assemble(ASKED, budget=6000).explain(f"chapters/ch004.md#{n}").omitted[0].score for n in range(1, 10)
    }
    assert gone.score == max(scores.values())
    assert gone.reason == "no match"


def test_a_document_says_that_it_is_muted(engine):
    (gone,) = engine.assemble(ASKED, budget=6000, exclude=[FIFTH]).explain(FIFTH).omitted
    assert (gone.reason, gone.detail) == ("excluded", "muted by the request")


@pytest.mark.parametrize("name", ["周远", "小周"])
def test_a_name_gives_the_card_and_the_relations_of_whom_it_names(engine, name):
    assert [item.source for item in engine.assemble(ASKED, budget=6000).explain(name).items] == ["codex:detected:周远"]
    pack = engine.assemble("周远和周远山是什么关系", budget=6000)
    sources = {item.source for item in pack.explain(name).items}
    assert sources == {"codex:detected:周远", "kg:relation:周远山-周远"}
    assert "kg:relation:周远山-长河航运" in pack.layers.retrieved.source  # of another


def test_an_id_gives_its_card_or_why_it_has_none(engine):
    pack = engine.assemble(ASKED, budget=6000)
    (gone,) = pack.explain("lin-xiaoyu").omitted
    assert (gone.id, gone.reason) == ("entity:lin-xiaoyu", "no match")
    with pytest.raises(UnknownId):
        pack.explain("王五")


def test_a_paragraph_of_a_document_pinned_whole_is_in_with_it(engine):
    pack = engine.assemble(ASKED, budget=6000, include=[SEVENTH])
    found = pack.explain(f"{SEVENTH}#2")
    assert found.included
    assert [item.source for item in found.items] == [f"rag:document:{SEVENTH}"]
    assert str(found).startswith(f"{SEVENTH}#2 is in with the whole document\n")
    assert pack.explain(SEVENTH).about.startswith("8 of 8 paragraphs")


def test_a_paragraph_behind_the_cut_of_a_pinned_document_is_not_in(engine):
    pack = engine.assemble(ASKED, budget=700, include=[FIFTH])
    (item,) = [item for item in pack.items if item.source == f"rag:document:{FIFTH}"]
    assert item.form == "truncated"
    assert pack.explain(f"{FIFTH}#1").included
    (gone,) = pack.explain(f"{FIFTH}#14").omitted
    assert (gone.reason, gone.detail) == ("budget", "the document is in, cut before it")


def test_a_paragraph_that_the_window_shows_is_in_with_it(engine):
    pack = engine.assemble(document=THIRD, cursor=200, budget=1500)
    assert pack.explain(f"{THIRD}#2").about == f"{THIRD}#2 is in as part of editor:cursor-window"
    (gone,) = pack.explain(f"{FIFTH}#1").omitted
    assert gone.detail == "no question asks for paragraphs"
