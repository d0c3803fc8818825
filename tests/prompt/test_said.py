"""A profile whose card is in the prompt is not said again, unless it says more than the card."""

from types import SimpleNamespace

import pytest

import armarius
from armarius.prompt.pack import covering_card
from armarius.types import PassageRow

PLAIN = "- 类型：人物\n- 别名：阿潮、潮生哥\n- 描述：在盐仓记账的人。\n- 年龄：26"
ASKED = "陆潮生多大年纪"


@pytest.fixture
def opened(tmp_path):
    def open_with(profile, more=""):
        root = tmp_path / "p"
        (root / "spec").mkdir(parents=True)
        (root / "chapters").mkdir()
        (root / "spec" / "characters.md").write_text(f"# 人物\n\n## 陆潮生\n\n{profile}\n{more}", encoding="utf-8")
        for n in range(1, 5):
            text = f"# 第{n}章\n\n陆潮生走进盐仓，第{n}本账又湿了一角。\n"
            (root / "chapters" / f"ch00{n}.md").write_text(text, encoding="utf-8")
        return armarius.open(root, watch=False, index_dir=tmp_path / "index")

    return open_with


def test_a_profile_all_of_whose_lines_are_on_its_card_is_not_said_again(opened):
    with opened(PLAIN) as engine:
        pack = engine.assemble(ASKED, budget=4000)
        assert "## 角色：陆潮生" in pack.prompt
        assert pack.prompt.count("在盐仓记账的人。") == 1
        assert "年龄=26" in pack.prompt
        (gone,) = pack.why("spec/characters.md#2").omitted
        assert (gone.code, gone.detail) == ("duplicate", "said by its card, 陆潮生")


def test_a_profile_whose_card_is_not_in_is_a_passage(opened):
    with opened(PLAIN) as engine:
        pack = engine.assemble("谁在盐仓记账", budget=4000)
        assert "codex:detected:陆潮生" not in pack.layers.retrieved.source
        assert "rag:passage:spec/characters.md#2" in pack.layers.retrieved.source


def test_a_profile_with_a_line_that_is_no_label_is_said(opened):
    with opened(PLAIN + "\n- 他多大年纪都说自己二十六") as engine:
        assert "rag:passage:spec/characters.md#2" in engine.assemble(ASKED, budget=4000).layers.retrieved.source


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("- 年龄：2", True),
        ("- 门牌：26", True),
        ("- 年龄：盐仓", True),
        ("- 住处：26", True),
        ("- 年龄：26", False),
        ("- 住处：盐仓、", False),
        ("- 类型：人物", False),
    ],
)
def test_a_value_is_on_a_card_whole_and_under_its_label(line, kept):
    with_card = SimpleNamespace(text="## 角色：陆潮生\n- 类型：character\n- 属性：年龄=26, 住处=盐仓")
    row = PassageRow("spec/a.md", 2, 1.0, (1, "", 0), "陆潮生", line)
    assert (covering_card(row, [(with_card, set())]) is None) == kept


def test_what_holds_from_a_chapter_on_is_told_once_there_and_not_before(opened):
    with opened(PLAIN + "\n- 第3章起：多大年纪也不记账了。") as engine:
        for document, times in (("chapters/ch001.md", 0), ("chapters/ch004.md", 1)):
            pack = engine.assemble(ASKED, budget=4000, document=document)
            assert "codex:detected:陆潮生" in pack.layers.retrieved.source
            assert pack.prompt.count("也不记账了") == times
            assert "卡片已经说了" in str(pack.why("spec/characters.md#2"))


def test_a_paragraph_under_another_heading_of_the_profile_is_said(opened):
    with opened(PLAIN, "\n### 旧事\n\n- 年龄：26\n") as engine:
        assert "rag:passage:spec/characters.md#4" in engine.assemble(ASKED, budget=4000).layers.retrieved.source
