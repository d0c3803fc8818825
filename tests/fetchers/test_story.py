"""What a request to write a chapter is told: the plan of that chapter first, written or not, from the files alone."""

import pytest

import armarius
from armarius.search.query.recipe import understand

PROSE = "贺砚把船解开了，雾从上游压下来，把两岸的灯一盏一盏吞掉。阿棠抱着包袱站在石阶上，声音压得很低。\n\n"
FILES = {
    "正文/第0001章-渡口.md": f"# 第1章 渡口\n\n{PROSE * 3}钟响了三下。\n",
    "正文/第0002章-芦苇.md": f"# 第2章 芦苇\n\n{PROSE * 3}桨声在芦苇外面慢慢过去。\n",
    "设定/人物.md": (
        "# 人物\n\n## 沈三娘\n\n- 姓名：沈三娘\n- 身份：盐仓的守门人\n\n## 阿棠\n\n- 姓名：阿棠\n- 身份：逃婚的人\n"
    ),
    "大纲/第1卷-详细大纲.md": (
        "# 第1卷 详细大纲\n\n本卷目标：逃到海边\n\n## 第2章 芦苇\n\n**目标**：数到第九个弯\n**钩子**：追兵在等天亮\n\n"
        "## 第3章 白石滩\n\n**目标**：找到父亲的信\n\n承接第2章的桨声。\n\n### 钩子\n\n信上另有一个名字\n\n"
        "## 第4章 盐仓\n\n**目标**：混进盐仓查账\n**阻力**：沈三娘认得贺砚\n\n## 第30-35章 概要\n\n海边的集市\n"
    ),
}
OUTLINE = "story:outline:大纲/第1卷-详细大纲.md"


def put(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def engine(tmp_path):
    with armarius.open(put(tmp_path / "novel", FILES), watch=False) as engine:
        yield engine


def told(pack):
    return [item.source for item in pack.items if item.source.startswith("story:")]


@pytest.mark.parametrize(
    ("query", "numbers", "writes", "next_"),
    [
        ("根据大纲写第202章", (202,), True, False),
        ("写第52章，先看章纲", (52,), True, False),
        ("把第12章写完", (12,), True, False),
        ("写第5到6章", (5, 6), True, False),
        ("Using the outline, please write the full text of chapter twelve", (12,), True, False),
        ("write chapter 12 as planned", (12,), True, False),
        ("续写下一章", (), True, True),
        ("下一章", (), True, True),
        ("Draft the next chapter", (), True, True),
        ("第3章写了什么", (3,), False, False),
        ("第3章写完了吗", (3,), False, False),
        ("描写第3章的雨", (3,), False, False),
        ("Who wrote the letter in chapter 3?", (3,), False, False),
        ("续写", (), False, False),
        ("写第4集", (4,), True, False),
        ("续写第5幕", (5,), True, False),
        ("写下一集", (), True, True),
        ("write episode 4", (4,), True, False),
    ],
)
def test_a_verb_of_writing_before_a_chapter_asks_for_it(query, numbers, writes, next_):
    recipe = understand(query)
    assert (recipe.chapters, "target" in recipe.parts, recipe.next) == (numbers, writes, next_)


def test_a_chapter_to_be_written_has_its_plan_whole_and_the_first_line_of_those_around(engine):
    pack = engine.assemble("写第3章", budget=8000)
    assert {OUTLINE, f"{OUTLINE}#2", f"{OUTLINE}#3", f"{OUTLINE}#4"} <= set(told(pack))
    assert "## 大纲：第3章 白石滩\n**目标**：找到父亲的信\n承接第2章的桨声。\n### 钩子\n信上另有一个名字" in pack.prompt
    assert "本卷目标：逃到海边" in pack.prompt
    layer = pack.prompt[: pack.prompt.index("</layer-settings>")]
    assert "混进盐仓查账" in layer
    assert "沈三娘认得贺砚" not in layer
    assert "story:ending:正文/第0002章-芦苇.md" in told(pack)
    assert [why.detail for why in pack.why(f"{OUTLINE}#3").items[0].evidence] == ["writing chapter 3"]


def test_a_chapter_that_is_written_has_its_plan_and_the_end_of_the_one_before_it(engine):
    pack = engine.assemble("重写第2章，先看章纲", budget=8000)
    assert "追兵在等天亮" in pack.prompt
    assert "story:ending:正文/第0001章-渡口.md" in told(pack)
    assert not [one for one in pack.warnings if "CHAPTER" in one]


def test_a_planned_chapter_is_said_to_be_unwritten_with_its_outline(engine):
    said = "CHAPTER_UNWRITTEN: chapter 4 is not written yet; 大纲/第1卷-详细大纲.md plans it"
    assert [str(one) for one in engine.assemble("第4章写什么？", budget=8000).warnings] == [said]
    assert [str(one) for one in engine.retrieve("第4章写什么？").warnings] == [said]
    (said,) = engine.assemble("写第9章", budget=8000).warnings
    assert said == "CHAPTER_UNWRITTEN: chapter 9 is not written yet; no outline has it; the chapters are 1 to 2"
    assert engine.assemble("第9章写什么？", budget=8000).warnings[0].startswith("CHAPTER_UNKNOWN")


def test_a_question_about_a_planned_chapter_gets_its_plan_alone(engine):
    assert told(engine.assemble("第4章写什么？", budget=8000)) == [f"{OUTLINE}#4"]
    assert told(engine.assemble("第2章在大纲里怎么安排？", budget=8000)) == [f"{OUTLINE}#2"]
    assert told(engine.assemble("第2章发生了什么？", budget=8000)) == []


def test_a_range_plans_each_of_its_chapters(engine):
    pack = engine.assemble("写第32章", budget=8000)
    assert "## 大纲：第30-35章 概要\n海边的集市" in pack.prompt
    assert [one for one in told(pack) if "#" in one] == [f"{OUTLINE}#32"]


def test_the_next_chapter_follows_the_open_one_or_the_last(engine):
    for asked in ({"query": "写下一章", "document": "正文/第0002章-芦苇.md"}, {"query": "写下一章"}):
        assert "信上另有一个名字" in engine.assemble(**asked, budget=8000).prompt


def test_whom_the_plan_names_has_a_card_with_the_reason(engine):
    pack = engine.assemble("写第4章", budget=8000)
    (card,) = [item for item in pack.items if item.id == "entity:沈三娘"]
    assert card.source == "codex:detected:沈三娘"
    assert card.evidence[0].detail == "the outline of chapter 4 mentions “沈三娘”"
    assert "codex:detected:沈三娘" not in [item.source for item in engine.assemble("写第3章", budget=8000).items]


@pytest.mark.parametrize("query", ["继续", "请继续吧。", "扩写", "写完这一章", "keep going", "接着写"])
def test_words_that_go_on_tell_the_story(engine, query):
    pack = engine.assemble(query, document="正文/第0002章-芦苇.md", budget=8000)
    assert {f"{OUTLINE}#2", "story:ending:正文/第0001章-渡口.md"} <= set(told(pack))


def test_a_file_of_the_state_is_told(tmp_path):
    state = {"设定/状态追踪.md": "# 状态追踪\n\n- 当前位置：芦苇荡\n- 剩余：三枚铜钱\n"}
    with armarius.open(put(tmp_path / "novel", FILES | state), watch=False) as engine:
        assert engine.index.map.files["设定/状态追踪.md"].kind == "state"
        pack = engine.assemble("续写", document="正文/第0002章-芦苇.md", budget=8000)
        assert "剩余：三枚铜钱" in pack.stable_prefix
        assert "story:state:设定/状态追踪.md" in told(pack)


def test_a_long_plan_is_given_more_than_the_share_and_is_cut_at_its_end(tmp_path):
    lines = "".join(f"场景{at}：贺砚在盐仓的第{at}间屋里翻找账本，守门人在门外走来走去。\n" for at in range(200))
    plan = {"大纲/第1卷-细纲.md": f"# 第1卷 细纲\n\n## 第5章 账本\n\n{lines}"}
    with armarius.open(put(tmp_path / "novel", FILES | plan), watch=False) as engine:
        pack = engine.assemble("写第5章", budget=4000)
        (plan,) = [item for item in pack.items if item.source == "story:outline:大纲/第1卷-细纲.md#5"]
        assert 4000 * 15 // 100 < plan.tokens <= 4000 * 30 // 100
        assert "场景0：" in pack.prompt
        assert "场景199：" not in pack.prompt


def test_of_two_files_of_the_state_the_short_one_comes_first(tmp_path):
    long = "".join(f"- 伏笔{at}：第{at}盏灯为何熄灭，未回收\n" for at in range(400))
    states = {"设定/伏笔追踪.md": f"# 伏笔追踪\n\n{long}", "设定/状态追踪.md": "# 状态追踪\n\n- 当前剩余：三枚铜钱\n"}
    with armarius.open(put(tmp_path / "novel", FILES | states), watch=False) as engine:
        pack = engine.assemble("写下一章", document="正文/第0002章-芦苇.md", budget=4000)
        assert "当前剩余：三枚铜钱" in pack.stable_prefix


def test_a_chapter_that_a_question_names_leaves_room_for_what_answers_better(tmp_path):
    told = "".join(f"贺砚数到第{at}个弯，阿棠把包袱换到另一只手上，雾里有人在喊船。\n\n" for at in range(300))
    files = FILES | {
        "正文/第0002章-芦苇.md": f"# 第2章 芦苇\n\n{told}",
        "设定/状态追踪.md": "# 状态追踪\n\n铜钱还剩三枚。\n",
    }
    with armarius.open(put(tmp_path / "novel", files), watch=False) as engine:
        pack = engine.assemble("截至第2章铜钱还剩几枚？", budget=3000)
        assert "铜钱还剩三枚。" in pack.prompt
        named = sum(item.tokens for item in pack.items if item.source.startswith("rag:passage:正文/第0002章"))
        assert named > 3000 * 40 // 100


PLANNED = {
    "正文/第0001章.md": "# 第1章 渡口\n\n沈三娘在盐仓门口数钥匙。\n\n***\n\n阿棠把铜哨藏进袖口。\n",
    "正文/第0002章.md": "# 第2章 芦苇\n\n阿棠一个人划船，芦苇很高。\n\n桨声慢了下来。\n",
    "设定/人物.md": FILES["设定/人物.md"],
    "设定/伏笔.md": (
        "# 伏笔\n\n## 缺角的账\n\n- 类型：伏笔\n- 埋设：第2章\n- 预计回收：第9章\n\n账本少一页。\n\n"
        "## 铜哨\n\n- 类型：伏笔\n- 埋设：第1章\n- 预计回收：第2章\n\n哨子只剩半截。\n"
    ),
    "大纲/章纲.md": "# 第一卷 章纲\n\n本卷目标：混进盐仓\n\n## 第4章 盐仓\n\n沈三娘在盐仓拦住阿棠，数她身上的钥匙。\n",
}


@pytest.fixture
def planned(tmp_path):
    with armarius.open(put(tmp_path / "planned", PLANNED), watch=False) as engine:
        yield engine


@pytest.mark.parametrize(
    "line",
    [
        "哨子只剩半截。\n第1章埋下，至今3章\n计划第2章回收，已逾期2章",
        "账本少一页。\n第2章埋下，至今2章\n计划第9章回收",
        "## 上次出现\n- 沈三娘：第1章 渡口：沈三娘在盐仓门口数钥匙。\n- 阿棠：第2章 芦苇：阿棠一个人划船，芦苇很高。",
        "## 梗概：第一卷 章纲\n本卷目标：混进盐仓",
    ],
)
def test_a_chapter_to_be_written_is_told(planned, line):
    assert line in planned.assemble("写第4章", budget=8000).prompt


def test_overdue_threads_are_kept_before_others(planned):
    pack = planned.assemble("写第4章", budget=8000)
    scores = {one.source: one.score for one in pack.items}
    assert scores["story:thread:铜哨"] > scores["story:thread:缺角的账"]


def test_scenes_that_share_words_with_the_plan_are_found(planned):
    pack = planned.assemble("写第4章，先看章纲", budget=8000)
    assert pack.why("正文/第0001章.md#1").reason.startswith("与本章大纲相同的词：")
    assert pack.confidence is None  # nothing is asked
