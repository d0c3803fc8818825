"""`pack.why` takes what `include` takes and says why, and what would change it, in the language of the prompt."""

import re
import shutil
from pathlib import Path

import pytest

import armarius
from armarius.errors import UnknownId
from armarius.headings import say
from armarius.prompt.continuation import Continuation

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
    found = pack.why(SECOND)
    inside = [item.source for item in pack.items if item.source.startswith(f"rag:passage:{SECOND}#")]
    whole = sum(one.role == "body" for one in engine.document(SECOND).paragraphs)
    assert 0 < len(inside) < whole
    assert [item.source for item in found.items] == inside
    assert found.reason.startswith(f"{len(inside)}/{whole}段在提示词里：#{inside[0].rpartition('#')[2]}、")


def test_a_document_that_is_not_in_gives_the_reason_of_its_best_paragraph(engine):
    pack = engine.assemble(ASKED, budget=1200)
    path = next(one for one in (f"chapters/ch00{n}.md" for n in range(1, 10)) if not pack.why(one).included)
    found = pack.why(path)
    (gone,) = found.omitted
    body = [one.index for one in engine.document(path).paragraphs if one.role == "body"]
    scores = {n: pack.why(f"{path}#{n}").omitted[0].score for n in body}
    assert gone.score == max(scores.values())
    assert (gone.code, found.reason) == ("no match", gone.reason)


def test_a_document_says_that_it_is_muted(engine):
    (gone,) = engine.assemble(ASKED, budget=6000, exclude=[FIFTH]).why(FIFTH).omitted
    assert (gone.code, gone.detail) == ("excluded", "muted by the request")


@pytest.mark.parametrize("name", ["周远", "小周"])
def test_a_name_gives_the_card_and_the_relations_of_whom_it_names(engine, name):
    assert [item.source for item in engine.assemble(ASKED, budget=6000).why(name).items] == ["codex:detected:周远"]
    pack = engine.assemble("周远和周远山是什么关系", budget=6000)
    sources = {item.source for item in pack.why(name).items}
    assert sources == {"codex:detected:周远", "kg:relation:周远山-周远"}
    assert "kg:relation:周远山-长河航运" in pack.layers.retrieved.source  # of another


def test_an_id_gives_its_card_or_why_it_has_none(engine):
    pack = engine.assemble(ASKED, budget=6000)
    (gone,) = pack.why("lin-xiaoyu").omitted
    assert (gone.id, gone.title, gone.code) == ("entity:lin-xiaoyu", "林小雨", "no match")
    with pytest.raises(UnknownId):
        pack.why("王五")


def test_a_paragraph_of_a_document_pinned_whole_is_in_with_it(engine):
    pack = engine.assemble(ASKED, budget=6000, include=[SEVENTH])
    found = pack.why(f"{SEVENTH}#2")
    assert found.included
    assert [item.source for item in found.items] == [f"rag:document:{SEVENTH}"]
    assert (found.title, found.reason) == ("第七章 回渡 ¶2", "随整个文档进来")
    assert pack.why(SEVENTH).reason == "此次请求固定了它"


def test_a_paragraph_behind_the_cut_of_a_pinned_document_is_not_in(engine):
    pack = engine.assemble(ASKED, budget=700, include=[FIFTH])
    (item,) = [item for item in pack.items if item.source == f"rag:document:{FIFTH}"]
    assert item.form == "truncated"
    assert pack.why(f"{FIFTH}#1").included
    (gone,) = pack.why(f"{FIFTH}#14").omitted
    assert (gone.code, gone.detail) == ("budget", "the document is in, cut before it")


def test_a_paragraph_that_the_window_shows_is_in_with_it(engine):
    pack = engine.assemble(document=THIRD, cursor=200, budget=1500)
    assert pack.why(f"{THIRD}#2").reason == "包含在“光标窗口：第三章 雨夜”里"
    (gone,) = pack.why(f"{FIFTH}#1").omitted
    assert gone.detail == "no question asks for paragraphs"


@pytest.mark.parametrize(
    ("said", "language", "title", "reason"),
    [
        ("铜怀表", "zh", "铜怀表", "光标附近提到“怀表”"),
        ("铜怀表", "en", "铜怀表", "“怀表” is mentioned near the cursor"),
        ("chapters/ch002.md#1", "zh", "第二章 缺了一页的卷宗 ¶1", "与问题相同的词：江城档案馆"),
        ("style.md", "zh", "文风：风格", "项目的文风"),
    ],
)
def test_every_item_has_a_title_and_a_reason_in_the_language_of_the_prompt(engine, said, language, title, reason):
    asked = "谁从档案馆裁走了第十八页"
    pack = engine.assemble(asked, document=THIRD, cursor=120, budget=6000, language=language, as_of=3)
    found = pack.why(said)
    assert (found.title, found.items[0].reason) == (title, reason)
    assert str(found).startswith(f"{title}在提示词里：" if language == "zh" else f"{title} is in the prompt: ")
    assert all(one.title and one.reason for one in (*pack.items, *pack.omitted))


@pytest.mark.parametrize(
    ("name", "reason", "change"),
    [
        ("铜怀表", "此次请求屏蔽了它", "取消屏蔽（exclude，engine.pins）"),
        ("灯塔重燃", "设为只在点名时提供", '在问题里点名，或固定它：include=["灯塔重燃"]'),
        ("chapters/ch007.md#3", "写在第7章，晚于第3章，此处不提", "从更晚的一章来问：as_of，或打开那一章"),
        ("江城", "请求里没有什么指向它", '在问题里提到它，或固定它：include=["江城"]'),
    ],
)
def test_what_is_out_says_what_would_change_it(engine, name, reason, change):
    pack = engine.assemble("灯塔重燃了吗" if name == "无" else ASKED, document=THIRD, cursor=0, budget=4000,
                           exclude=["铜怀表"])  # fmt: skip
    found = pack.why(name)
    assert (found.included, found.reason, found.change) == (False, reason, change)


def test_what_did_not_fit_says_which_budget_holds_it_and_that_budget_does(engine):
    asked = {"query": "谁从档案馆裁走了第十八页"}
    pack = engine.assemble(**asked, budget=700)
    gone = next(f"chapters/ch006.md#{n}" for n in range(1, 12) if not pack.why(f"chapters/ch006.md#{n}").included
                and pack.why(f"chapters/ch006.md#{n}").omitted[0].code == "budget")  # fmt: skip
    (budget,) = re.findall(r"预算有(\d+)个", pack.why(gone).change)
    assert pack.what_if(budget=int(budget)).why(gone).included


def test_a_thing_has_one_id_wherever_it_comes_from(engine):
    always, detected, pinned = (
        engine.assemble(ASKED, budget=6000, **more).why("周远").items[0]
        for more in ({"additional_input": "周远"}, {}, {"include": ["entity:周远"]})
    )
    assert {always.id, detected.id, pinned.id} == {"entity:周远"}
    thread = engine.assemble("续写", document=THIRD, cursor=100, budget=6000).why("style.md").items[0]
    assert (thread.id, thread.source) == ("style.md", "style:style.md")


def test_what_nobody_mentioned_stands_last_among_the_omissions(engine):
    codes = [one.code for one in engine.assemble(ASKED, document=THIRD, cursor=120, budget=6000).omitted]
    assert codes.index("no match") == len(codes) - codes.count("no match") > 0


def test_a_reason_stays_in_its_language_in_a_continuation(engine):
    first = engine.assemble("周远在哪里", budget=6000)
    (found,) = [one for one in Continuation.from_bytes(first.continuation()).retrieved if one.id == "entity:周远"]
    assert say(found.evidence[0].detail, "zh") == "问题提到“周远”"
