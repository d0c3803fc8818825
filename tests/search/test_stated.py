"""What a card says is no faint trace, however little the story holds of it."""

import pytest
from tests.rows import rows

import armarius
from armarius.headings import heading

from .conftest import write

HARBOUR = {
    "chapters/ch001.md": "# 第一章\n\n收音机响了，贝儿跑过去，安静没有抬头。\n\n陆明远、高兴和何必都在等潮水。\n",
    "spec/people.md": (
        "# 人物\n\n## 安静\n\n- 类型：人物\n- 描述：律师，说话极快。\n- 住处：海宁路七号\n\n"
        "## 陆明远\n\n- 类型：人物\n- 描述：退休的物理老师。\n- 年龄：67\n\n"
        "## 贝儿\n\n- 类型：人物\n- 描述：爱笑，七岁。\n- 母亲：安静\n\n"
        "## 高兴\n\n- 类型：人物\n- 描述：刑警队长，有个三岁的女儿。\n\n"
        "## 何必\n\n- 类型：人物\n- 描述：当铺的老板。\n- 年龄：50\n- 注入：never\n"
    ),
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory):
    folder = tmp_path_factory.mktemp("harbour")
    with armarius.open(write(folder / "book", HARBOUR), watch=False, index_dir=folder / "index") as engine:
        yield engine


@pytest.fixture
def doubtful(harbour, monkeypatch):
    """Every question looks like one about what is not there."""
    monkeypatch.setattr("armarius.search.rank._outcome", lambda *_: ("weak", ()))
    return harbour


STATED = [
    "陆明远几岁",
    "陆明远多大年纪",
    "贝儿几岁",
    "贝儿的妈妈是谁",
    "安静现在住在哪里",
    "安静住在哪",
    "贝儿的妈妈住在哪里",
]


@pytest.mark.parametrize("query", STATED)
def test_a_question_that_a_card_answers_has_no_faint_traces(doubtful, query):
    assert heading("weak") not in doubtful.assemble(query, budget=4000).prompt
    assert doubtful.retrieve(query).outcome == "found"


@rows("retrieval_stated")
def test_what_no_card_says_keeps_its_faint_traces(doubtful, query):
    assert doubtful.retrieve(query).outcome in ("weak", "nothing found")


def test_what_is_taken_is_the_same_but_for_the_heading(doubtful, monkeypatch):
    shown = doubtful.assemble("陆明远几岁", budget=4000)
    monkeypatch.setattr("armarius.search.contradictions.detect.is_stated", lambda *_: False)
    faint = doubtful.assemble("陆明远几岁", budget=4001)
    assert heading("weak") in faint.prompt
    assert [one.source for one in faint.items] == [one.source for one in shown.items]
    assert faint.prompt.replace(heading("weak"), heading("passages")) == shown.prompt
