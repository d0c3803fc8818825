"""The story so far: who gets it, what it holds, that it moves with the chapter and never with the cursor."""

import shutil
from pathlib import Path

import pytest

import armarius
from armarius.headings import HEADINGS

NOVEL = Path(__file__).resolve().parents[2] / "examples" / "novel"
HERE = {"document": "chapters/ch004.md", "budget": 6000}
STORY = HEADINGS["zh"]["story"]


@pytest.fixture
def novel(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Path(shutil.copytree(NOVEL, tmp_path / "novel"))


@pytest.fixture
def engine(novel):
    with armarius.open(novel, watch=False) as engine:
        yield engine


def told(pack):
    return [item.source for item in pack.items if item.source.startswith("story:")]


@pytest.mark.parametrize(
    "request_",
    [
        {"query": "续写"},
        {"query": "请接着写下一段"},
        {"query": "Please continue the scene"},
        {"query": "写得紧一点", "skill": "continue"},
        {"query": "紧一点", "skill": "novel:续写"},
        {},
    ],
    ids=str,
)
def test_a_request_that_continues_is_told_the_story(engine, request_):
    pack = engine.assemble(**{"query": "", **request_}, **HERE)
    assert STORY in pack.stable_prefix
    assert told(pack) == [
        "story:cast:4",
        "story:ending:chapters/ch003.md",
        "story:outline:spec/outline.md#3",
        "story:outline:spec/outline.md#4",
        "story:outline:spec/outline.md#5",
    ]


@pytest.mark.parametrize(
    "request_",
    [
        {"query": "检查第3章的角色一致性"},
        {"query": "Does he continue the lie?"},
        {"query": "", "selection": (3, 20), "skill": "check"},
        {"query": "", "additional_input": "林默吹灭了灯。"},
        {"query": "续写", "document": "spec/characters.md"},
    ],
    ids=str,
)
def test_a_request_that_does_not_continue_a_chapter_is_told_none(engine, request_):
    assert told(engine.assemble(**{**HERE, **request_})) == []


@pytest.mark.parametrize(
    "query", ["续写", "请继续写下一段。", "Please continue the scene.", "continue", "Continue this scene"]
)
def test_the_command_to_continue_is_not_looked_up(novel, query):
    (novel / "spec" / "keepers.md").write_text(
        "# Keepers\n\nKeep the lamp; continue the watch. The scene is set by the sea, and it must go on. 请往下看。\n",
        encoding="utf-8",
    )
    with armarius.open(novel, watch=False) as engine:
        pack = engine.assemble(query, **HERE)
    assert told(pack)
    assert not [item.source for item in pack.items if item.source.startswith("rag:passage:spec/keepers.md")]
    assert "request:words" not in {one.source for one in pack.omitted}


def test_what_a_request_to_continue_says_besides_is_looked_up(engine):
    pack = engine.assemble("续写：恐吓的纸条", document="chapters/ch001.md", as_of=6, budget=6000)
    assert [item.source for item in pack.items if item.source.startswith("rag:passage:chapters/ch003.md")]


def test_a_request_that_says_nothing_continues_the_open_document_alone(engine):
    assert told(engine.assemble("", **HERE))
    assert told(engine.assemble("", budget=6000)) == []
    assert told(engine.assemble("", skill="continue", budget=6000))


def test_the_stable_prefix_stays_while_the_cursor_moves_and_changes_with_the_chapter(engine):
    length = len(engine.document("chapters/ch004.md").text)
    prefixes = {engine.assemble("续写", cursor=at, **HERE).stable_prefix_hash for at in range(0, length, length // 12)}
    assert len(prefixes) == 1
    other = engine.assemble("续写", document="chapters/ch005.md", budget=6000)
    assert other.stable_prefix_hash not in prefixes


def test_the_story_stays_within_its_share_and_its_outline_comes_first(engine):
    for budget in (1500, 2500, 4000, 8000):
        pack = engine.assemble("续写", document="chapters/ch004.md", budget=budget)
        items = [item for item in pack.items if item.source.startswith("story:")]
        assert sum(item.tokens for item in items) <= budget * 15 // 100
        assert pack.token_count <= budget
    small, large = (engine.assemble("续写", document="chapters/ch004.md", budget=budget) for budget in (1200, 8000))
    assert "story:outline:spec/outline.md#4" in told(small)
    endings = [
        [item.tokens for item in pack.items if item.source.startswith("story:ending:")] for pack in (small, large)
    ]
    assert sum(endings[0]) < sum(endings[1])
    if endings[0]:
        last = engine.document("chapters/ch003.md").text.rstrip()[-20:]
        assert last in small.stable_prefix


def test_what_does_not_fit_into_the_share_is_listed(engine):
    for number in range(40):
        engine.codex.create(f"伏笔{number}", type="foreshadowing", description="河上的灯为何每夜在七点四十分熄灭" * 3)
    pack = engine.assemble("续写", document="chapters/ch004.md", budget=3000)
    gone = {one.source for one in pack.omitted if one.source.startswith("story:thread:") and one.code == "budget"}
    assert gone
    assert sum(item.tokens for item in pack.items if item.source.startswith("story:")) <= 450


def test_a_project_decides_on_the_share(novel):
    (novel / "armarius.toml").write_text("[budget]\nstory = 0\n", encoding="utf8")
    with armarius.open(novel, watch=False) as engine:
        assert told(engine.assemble("续写", **HERE)) == []


def test_the_end_of_the_chapter_before_is_its_last_lines(engine):
    pack = engine.assemble("续写", **HERE)
    before = engine.document("chapters/ch003.md").text.rstrip()
    assert before[-60:] in pack.stable_prefix


def test_what_the_story_tells_is_told_once(engine):
    pack = engine.assemble("续写：怀表走了三下，恐吓的纸条", document="chapters/ch004.md", budget=3000)
    (ending,) = [item for item in pack.items if item.source == "story:ending:chapters/ch003.md"]
    lines = [line for line in pack.prompt[slice(*ending.span)].splitlines() if len(line) > 8]
    assert lines
    assert {line: pack.prompt.count(line) for line in lines} == dict.fromkeys(lines, 1)
    last = engine.document("chapters/ch003.md").paragraphs[-1].index
    (found,) = pack.why(f"rag:passage:chapters/ch003.md#{last}").omitted
    assert (found.code, found.detail) == ("duplicate", "stands in the prompt already")
    assert [item for item in pack.items if item.source.startswith("rag:passage:")]


def test_nothing_later_is_told_than_the_request_may_see(engine):
    pack = engine.assemble("续写", as_of=4, **HERE)
    assert "story:outline:spec/outline.md#5" not in told(pack)
    assert "周远交出第十八页" not in pack.prompt
    assert pack.why("story:outline:spec/outline.md#5").omitted[0].code == "timeline"
    bounded = engine.assemble("续写", chapters=(4, None), **HERE)
    assert told(bounded) == ["story:outline:spec/outline.md#4", "story:outline:spec/outline.md#5"]


def test_open_threads_are_told_and_closed_ones_are_listed(engine):
    engine.codex.create("停表之谜", type="foreshadowing", description="怀表为何停在七点四十分")
    engine.codex.create("旧信", type="foreshadowing", description="信已读过", attributes={"状态": "已回收"})
    pack = engine.assemble("续写", **HERE)
    assert "## 伏笔：停表之谜\n怀表为何停在七点四十分" in pack.stable_prefix
    assert "信已读过" not in pack.stable_prefix
    left = {one.source: one.code for one in pack.omitted if one.source.startswith("story:thread:")}
    assert sorted(left.values()) == ["excluded", "level"]


def test_a_chapter_that_sums_itself_up_is_told_by_that_too(engine, novel):
    path = novel / "chapters" / "ch003.md"
    path.write_text(
        f"---\nsummary: 兄妹争执，门下有恐吓的纸条\n---\n{path.read_text(encoding='utf8')}", encoding="utf8"
    )
    pack = engine.assemble("续写", **HERE)
    assert "story:summary:chapters/ch003.md" in told(pack)
    assert "兄妹争执，门下有恐吓的纸条" in pack.stable_prefix


def test_summaries_that_the_project_keeps_are_told_until_their_chapter_changes(engine, novel):
    engine.summaries.set("chapters/ch001.md", "顾长河捞起怀表")
    engine.summaries.set("chapters/ch003.md", "门下有纸条")
    pack = engine.assemble("续写", **HERE)
    assert {"story:summary:chapters/ch001.md", "story:summary:chapters/ch003.md"} <= set(told(pack))
    path = novel / "chapters" / "ch003.md"
    path.write_text(path.read_text(encoding="utf8") + "\n雨停了。\n", encoding="utf8")
    pack = engine.assemble("续写", **HERE)
    assert engine.summaries.stale() == ("chapters/ch003.md",)
    assert "门下有纸条" not in pack.prompt
    assert "stale" in pack.why("story:summary:chapters/ch003.md").omitted[0].detail
    engine.summaries.delete("chapters/ch003.md")
    assert engine.summaries.stale() == ()
    with pytest.raises(armarius.UnknownId):
        engine.summaries.get("chapters/ch003.md")


def test_a_host_writes_what_is_missing_or_stale_and_only_when_it_is_asked(engine):
    asked = []

    def summarise(chapter):
        asked.append(chapter.path)
        return f"{chapter.title}。"

    engine.summaries.set("chapters/ch001.md", "在手")
    engine.assemble("续写", **HERE)
    assert asked == []
    made = engine.summaries.refresh(summarise, limit=3)
    assert asked == [f"chapters/ch00{n}.md" for n in (7, 6, 5)]  # the last chapters first
    assert asked[::-1] == [one.document for one in made]
    engine.summaries.refresh(summarise)
    assert len(asked) == len(set(asked))
    assert engine.summaries.get("chapters/ch001.md").text == "在手"
    engine.summaries.delete("chapters/ch001.md")
    for wrong in (lambda _: "", lambda _: None, "no function"):
        with pytest.raises(armarius.ContractError, match="summarise"):
            engine.summaries.refresh(wrong)


def test_a_broken_file_of_summaries_is_a_warning_and_leaves_the_rest(engine, novel):
    folder = novel / ".armarius"
    folder.mkdir(exist_ok=True)
    (folder / "summaries.toml").write_text("[[summary]]\nid = 3\n", encoding="utf8")
    pack = engine.assemble("续写", **HERE)
    assert "story:outline:spec/outline.md#4" in told(pack)
    assert any("summaries.toml" in warning for warning in pack.warnings)


def test_people_near_the_cursor_come_before_those_who_are_named_more_often_far_away(engine):
    far = "顾长河走过渡口。顾长河回头。顾长河又走。顾长河停下。顾长河叹气。" + "河水慢慢地流过渡口的石阶。" * 80
    text = f"# 第四章 白鹭洲\n\n{far}\n\n白鹭放下灯，说：“来了。”"
    asked = {"document": "chapters/ch004.md", "text": text, "budget": 6000}

    def order(query):
        sources = [item.source for item in engine.assemble(query, **asked).items]
        return [one for one in sources if one in ("codex:detected:顾长河", "codex:detected:白鹭")]

    assert order("续写") == ["codex:detected:白鹭", "codex:detected:顾长河"]
    assert order("渡口的石阶有多少级") == ["codex:detected:顾长河", "codex:detected:白鹭"]


LINES = ("雾从河面上来", "桨声停在第三座桥下", "她把灯芯拨低", "没有人应门", "纸上的字还没有干", "风把帘子掀开了一角")


@pytest.fixture
def manuscript(tmp_path):
    """A book of six chapters in one file, and the engine over it."""

    def chapter(number):
        lines = (f"第{number}夜，{LINES[(number + at) % 6]}，她数到了{number * 100 + at}。" for at in range(60))
        return f"第{'一二三四五六'[number - 1]}章 第{number}盏灯\n\n" + "\n\n".join(lines)

    (tmp_path / "灯.txt").write_text("\n\n".join(map(chapter, range(1, 7))) + "\n", encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        yield engine


@pytest.mark.parametrize("budget", [3000, 12_000])
@pytest.mark.parametrize("mark", ["她数到了205。", "她数到了230。", "她数到了259。"])
def test_the_window_ends_with_the_chapter_of_the_cursor(manuscript, mark, budget):
    text = manuscript.document("灯.txt").text
    at = text.index(mark) + len(mark)
    pack = manuscript.assemble("续写", document="灯.txt", cursor=at, budget=budget)
    (window,) = [item for item in pack.items if item.source == "editor:cursor-window"]
    assert at <= window.shows[2] <= text.index("第三章")
    assert "第3夜" not in pack.prompt
    lines = [line for line in pack.prompt.splitlines() if line.startswith("第1夜")]
    assert len(lines) == len(set(lines)) > 0
    assert "第5夜" in manuscript.assemble("第五章讲了什么？", document="灯.txt", cursor=at, budget=budget).prompt


def test_an_ending_that_the_window_does_not_reach_is_told(manuscript):
    text = manuscript.document("灯.txt").text
    pack = manuscript.assemble("续写", document="灯.txt", cursor=text.index("她数到了258。"), budget=1200)
    assert "story:ending:灯.txt#1" in told(pack)
    assert "她数到了159。" in pack.stable_prefix


NOTES = (
    "## 章节小结\n\n- 核心剧情：信到了，灯也灭了，没有人再提起那天晚上的事\n- 伏笔：灯\n\n"
    "## 下章预告\n\n她要出门。\n\n- 字数：3000\n"
)


@pytest.mark.parametrize("behind", ["（本章完）\n", NOTES, f"（第五章 完）\n\n---\n\n{NOTES}", "## 后记\n"])
def test_a_chapter_ends_with_its_last_prose(novel, behind):
    told_ = "雾从河面上来，她把灯芯拨低。\n\n" * 30 + "没有人应门，纸上的字还没有干。"
    (novel / "chapters" / "ch005.md").write_text(f"# 第五章 灯\n\n{told_}\n\n{behind}", encoding="utf-8")
    with armarius.open(novel, watch=False) as engine:
        told_of = engine.assemble("写第6章", budget=6000).stable_prefix
        ending, _, rest = told_of.partition("没有人应门，纸上的字还没有干。")
        assert "上一章" in ending or "结尾" in ending
        assert rest.strip().splitlines()[0] not in behind
        assert ("下章预告" in told_of) == ("下章预告" in behind)
        notes = [one.title for one in engine.assemble("写第6章", budget=6000).items if "notes" in one.source]
        assert notes == ["章末附记：第五章 灯"] * ("下章预告" in behind)
        pack = engine.assemble("续写", document="chapters/ch005.md", budget=6000)
        at = engine.document("chapters/ch005.md").text.index("没有干。") + len("没有干。")
    assert f"第{at}个字符" in pack.why("editor:cursor-window").reason


@pytest.mark.parametrize(
    "behind", ["## 二\n\n门开了，灯也亮了。\n", "完了，她想。\n", "## 二\n\n——谁？\n\n- 我。\n\n她开了门。\n"]
)
def test_a_later_scene_is_part_of_the_story(novel, behind):
    told_ = "雾从河面上来，她把灯芯拨低。\n\n" * 30
    (novel / "chapters" / "ch005.md").write_text(f"# 第五章 灯\n\n{told_}\n\n{behind}", encoding="utf-8")
    with armarius.open(novel, watch=False) as engine:
        told_of = engine.assemble("写第6章", budget=6000).stable_prefix
    assert behind.strip().splitlines()[-1] in told_of


@pytest.mark.parametrize("unit", ["Scene 2", "シーン2", "scene 2"])
def test_where_the_files_of_the_story_are_scenes_a_scene_is_planned_and_asked_for_like_a_chapter(tmp_path, unit):
    for number, who in ((1, "Ida"), (2, "Otto"), (3, "Mina")):
        (tmp_path / f"scene{number}.md").write_text(f"{who} rowed to the weir. " * 40, encoding="utf-8")
    (tmp_path / "outline.md").write_text("# Outline\n\n### Scene 2: The weir\n\n- Otto sinks.\n", encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        pack = engine.assemble(f"Rewrite {unit}", budget=4000)
        assert {"story:beginning:scene3.md", "story:outline:outline.md#2"} <= {*told(pack)}
        assert "Otto rowed" in pack.prompt
    for number in (1, 2, 3):
        (tmp_path / f"scene{number}.md").rename(tmp_path / f"chapter{number}.md")
    with armarius.open(tmp_path, watch=False) as engine:
        assert "story:outline:outline.md#2" not in told(engine.assemble(f"Rewrite {unit}", budget=4000))
