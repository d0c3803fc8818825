"""Levels hold for texts: what a prompt may show of somebody at `never`, or at `manual_only`."""

import re
import shutil
from pathlib import Path

import pytest

import armarius
from armarius.codex import Entity, Relation
from armarius.testing import FakeGraph

NOVEL = Path(__file__).resolve().parents[2] / "examples" / "novel"
CHAPTER = "chapters/ch002.md"
PEOPLE = "设定/人物.md"
TWIST = "沉船案的真凶是船工老周"

FILES = {
    "chapters/ch001.md": "# 第一章\n\n林渡推开门，黑手已经走了。\n",
    CHAPTER: "# 第二章\n\n白鹭守着灯塔。\n",
    PEOPLE: f"""# 人物

## 林渡

- 类型：人物
- 描述：邮差，欠黑手一封信。

## 黑手

- 类型：人物
- 注入：never
- 描述：{TWIST}。
- 关系：林渡（债主）

### 过去

他在船底凿了三个洞。

## 守夜人

- 类型：势力
- 注入：manual_only
- 描述：白鹭洲上提灯巡夜的三个人。
- 第1章起：换了新的灯油
""",
    "设定/名单.md": """# 次要人物

| 姓名 | 类型 | 描述 |
|---|---|---|
| 阿福 | 人物 | 卖灯油的伙计 |
| 哑婆 | 人物 | 替真凶藏起凿子的人 |
""",
    "设定/人物/真凶之女.md": """---
aliases: [小周]
注入: never
---

她把凿子埋在桥下。

## 结局

她乘夜船离开。
""",
    "大纲.md": "# 大纲\n\n- 第1章：黑手凿沉了渡船\n- 第2章：白鹭看见黑手上岸\n- 第3章：守夜人交出灯油账本\n",
    "notes/黑手.md": "# 黑手\n\n凿子是从船厂偷的。\n",
    "notes/秘密.md": "# 黑手与别人\n\n## 黑手的秘密\n\n他十年前烧过一座桥。\n\n### 童年\n\n他左耳烧没了。\n"
    "\n## 其余\n\n桥下有鱼。\n",
    "细纲.md": "# 细纲\n\n## 黑手投水而死\n\n- 桥上的灯灭了\n- 林渡赶到桥上\n",
    "notes/杂记.md": "# 杂记\n\n黑手左撇子，\n别让读者早知道。\n\n林渡怕水。\n",
    "codex.json": """{"entities": [
        {"id": "ya", "name": "哑婆", "type": "character", "aiContextLevel": "never"},
        {"id": "plot", "name": "灯下之约", "type": "foreshadowing", "aiContextLevel": "never",
         "description": "约在灯下分赃"},
        {"id": "lu", "name": "白鹭", "type": "character", "description": "守灯人"}],
      "relations": [
        {"source": "白鹭", "target": "黑手", "type": "父女"},
        {"source": "白鹭", "target": "守夜人", "type": "首领"}]}""",
}
HELD_BACK = (
    TWIST,
    "凿了三个洞",
    "藏起凿子",
    "埋在桥下",
    "乘夜船离开",
    "凿沉了渡船",
    "从船厂偷的",
    "左撇子",
    "别让读者早知道",
    "约在灯下分赃",
    "父女",
    "十年前烧过",
    "左耳烧没",
    "投水而死",
    "桥上的灯灭了",
)
"""What the files say of those at `never` alone."""
QUESTIONS = (
    "沉船案的真凶是谁？",
    "黑手是谁，在哪里凿了三个洞",
    "哑婆替真凶藏起了什么，凿子埋在桥下吗",
    "真凶之女小周乘夜船离开了吗",
    "黑手和白鹭是什么关系",
    "凿子是从船厂偷的吗，黑手是左撇子吗",
    "灯下之约是什么，约在灯下分赃",
    "黑手的秘密，十年前烧过什么，左耳怎么了",
    "桥上的灯灭了，谁赶到桥上",
    "检查人物设定的一致性",
    "检查第1章的角色一致性",
    "续写",
    "",
)


def write(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with armarius.open(write(tmp_path / "novel", FILES), watch=False) as engine:
        yield engine


def shown(pack):
    """All but the immediate layer, which is the user's own."""
    return "\n".join(text for layer, text in pack.contents.items() if layer != "immediate")


def held_back(pack):
    return [said for said in HELD_BACK if said in shown(pack)]


@pytest.mark.parametrize("document", ["", CHAPTER])
@pytest.mark.parametrize("query", QUESTIONS)
def test_what_tells_of_somebody_at_never_is_in_no_prompt(engine, query, document):
    assert held_back(engine.assemble(query, document=document, budget=6000)) == []


def test_without_the_level_each_of_those_sentences_would_be_in_one(tmp_path):
    files = {
        path: text.replace("注入：never", "注入：when_detected").replace("注入: never", "注入: when_detected")
        for path, text in FILES.items()
    }
    files["codex.json"] = files["codex.json"].replace('"never"', '"when_detected"')
    with armarius.open(write(tmp_path / "open", files), watch=False) as engine:
        said = "\n".join(
            shown(engine.assemble(query, document=document, budget=6000))
            for query in QUESTIONS
            for document in ("", CHAPTER)
        )
    assert [one for one in HELD_BACK if one not in said] == []


@pytest.mark.parametrize(
    "pinned",
    [
        "黑手",
        PEOPLE,
        f"{PEOPLE}#4",
        "设定/名单.md",
        "设定/名单.md#1",
        "设定/人物/真凶之女.md",
        "大纲.md",
        "notes/杂记.md",
        "kg:relation:lu-黑手",
    ],
)
def test_no_pin_brings_what_is_at_never(engine, pinned):
    assert held_back(engine.assemble("雨停了没有", include=[pinned], budget=6000)) == []
    engine.pins.add(pinned)
    assert held_back(engine.assemble("雨停了没有", budget=6000)) == []


def test_a_pin_of_somebody_at_never_is_told(engine):
    gone = engine.assemble("雨停了没有", include=["黑手"], budget=6000).why("黑手").omitted
    assert [(one.source, one.code, one.detail) for one in gone] == [
        ("codex:pinned:黑手", "level", "level never, though pinned by the request")
    ]


def test_the_record_gives_the_level_as_the_reason(engine):
    pack = engine.assemble("黑手是谁", budget=6000)
    number = next(
        one.index
        for one in engine.document(PEOPLE).paragraphs
        if TWIST in engine.document(PEOPLE).text[one.start : one.end]
    )
    (gone,) = pack.why(f"{PEOPLE}#{number}").omitted
    assert (gone.code, gone.detail) == ("level", "level never: it describes 黑手")


def test_chapters_and_the_users_own_texts_are_untouched(engine):
    assert "黑手已经走了" in shown(engine.assemble("第1章里谁推开门", budget=6000))
    document = engine.document(PEOPLE)
    window = engine.assemble("改一改", document=PEOPLE, cursor=document.text.index(TWIST), budget=6000)
    assert TWIST in window.contents["immediate"]
    assert held_back(window) == []


def test_what_others_share_with_somebody_at_never_stays(engine):
    said = shown(
        engine.assemble("林渡欠谁一封信，谁卖灯油，谁看见黑手上岸，林渡怕什么，谁赶到桥上，桥下有什么", budget=6000)
    )
    for one in ("欠黑手一封信", "卖灯油的伙计", "白鹭看见黑手上岸", "林渡怕水", "林渡赶到桥上", "桥下有鱼"):
        assert one in said


@pytest.mark.parametrize(
    "edited", ["前言。\n\n\n又一段。\n\n{}", "{}\n\n## 新人\n\n- 类型：人物\n- 描述：刚到的人。\n"]
)
def test_a_profile_that_is_being_edited_is_held_back_too(engine, edited):
    text = edited.format(FILES[PEOPLE])
    far = engine.assemble("沉船案的真凶是谁，谁在船底凿了三个洞", document=PEOPLE, text=text, cursor=0, budget=6000)
    assert held_back(far) == []


def test_a_prompt_that_continues_one_lets_go_of_whom_never_has_come_for(engine):
    engine.codex.update("黑手", level="when_detected")
    query = "黑手和白鹭是什么关系，沉船案的真凶是谁"
    before = engine.assemble(query, document=CHAPTER, budget=6000)
    assert held_back(before)
    engine.codex.update("黑手", level="never")
    assert held_back(engine.assemble(query, document=CHAPTER, budget=6000, previous=before)) == []


def test_what_is_near_in_meaning_is_held_back_too(tmp_path):
    folder = write(tmp_path / "vectors", FILES)
    with armarius.open(
        folder, watch=False, embedder=lambda texts: [[1.0, float("凿" in text)] for text in texts]
    ) as near:
        near.recall.embed()
        assert near.similar("凿")
        assert held_back(near.assemble("谁凿的", budget=6000)) == []


def test_a_graph_of_the_users_own_ties_nobody_to_one_who_is_muted(tmp_path):
    graph = FakeGraph()
    for one in (Entity("lu", "白鹭"), Entity("黑手", "黑手"), Entity("林渡", "林渡")):
        graph.upsert_entity(one)
    graph.upsert_relation(Relation("黑手", "lu", "仇人"))
    graph.upsert_relation(Relation("林渡", "lu", "债主"))
    with armarius.open(write(tmp_path / "graph", FILES), watch=False, graph=graph) as engine:
        pack = engine.assemble("白鹭的仇人和债主是谁，白鹭有什么关系", budget=6000)
        assert "—债主→" in shown(pack)
        assert "—仇人→" not in shown(pack)
        muted = engine.assemble("白鹭的仇人和债主是谁，白鹭有什么关系", budget=6000, exclude=["林渡"])
        assert "—债主→" not in shown(muted)


@pytest.mark.parametrize(
    ("asked", "comes"),
    [
        ({"query": "守夜人做什么"}, True),
        ({"query": "谁提灯巡夜", "include": ["守夜人"]}, True),
        ({"query": "白鹭洲上谁提灯巡夜"}, False),
        ({"query": "谁提灯巡夜", "additional_input": "守夜人"}, False),
        ({"query": "", "additional_input": "守夜人"}, False),
        ({"query": "谁提灯巡夜", "document": CHAPTER, "text": "# 第二章\n\n守夜人来了。\n"}, False),
        ({"query": "谁提灯巡夜", "also": ["守夜人"]}, False),
        ({"query": "守夜人做什么", "exclude": ["守夜人"]}, False),
    ],
)
def test_manual_only_comes_when_the_query_names_it_or_it_is_included(engine, asked, comes):
    said = shown(engine.assemble(**asked, budget=6000))
    assert ("提灯巡夜的三个人" in said) == comes
    assert ("交出灯油账本" in said) <= comes


def test_who_comes_by_name_has_a_source_of_its_own_and_its_section(engine):
    pack = engine.assemble("守夜人做什么，白鹭和守夜人是什么关系", document=CHAPTER, budget=6000)
    (card,) = [item for item in pack.items if item.id == "entity:守夜人"]
    assert (card.source, [(one.kind, one.detail) for one in card.evidence]) == (
        "codex:asked:守夜人",
        [("mention", "the question names 守夜人")],
    )
    assert "## 阵营：守夜人" in shown(pack)
    assert {item.source for item in pack.items if "提灯巡夜" in pack.prompt[slice(*item.span)]} >= {card.source}
    assert "kg:relation:lu-守夜人" in {item.source for item in pack.items}
    assert "entity:守夜人" not in {gone.id for gone in pack.omitted}
    assert "守夜人" not in shown(engine.assemble("雨停了没有", document=CHAPTER, budget=6000, previous=pack))


def test_a_muted_entity_loses_its_relations_its_lines_and_its_thread(tmp_path):
    files = {**FILES, "codex.json": FILES["codex.json"].replace('"never"', '"when_detected"')}
    with armarius.open(write(tmp_path / "muted", files), watch=False) as engine:
        for target, said, asked in (
            ("守夜人", "交出灯油账本", {"query": "谁交出灯油账本", "include": []}),
            ("灯下之约", "约在灯下分赃", {"query": "续写", "document": CHAPTER}),
            ("白鹭", "看见黑手上岸", {"query": "续写", "document": CHAPTER, "exclude": ["黑手"]}),
        ):
            more = {**asked, "exclude": [*asked.get("exclude", ()), target]}
            assert said not in shown(engine.assemble(**more, budget=6000))


def test_searching_finds_all_and_says_the_level(engine):
    (hit,) = engine.search("凿了三个洞")
    assert (hit.level, hit.to_wire()["level"]) == ("never", "never")
    assert {hit.section: hit.level for hit in engine.retrieve("黑手是谁", kinds="setting")}["黑手"] == "never"
    assert {one.level for one in engine.evidence("黑手") if one.section == "黑手"} == {"never"}
    assert {hit.level for hit in engine.search("提灯巡夜")} == {"manual_only"}
    (plain,) = engine.search("欠黑手一封信")
    assert plain.level == ""
    assert "level" not in plain.to_wire()


SENTENCE = re.compile(r"[^。；\n]+[。；]?")


def test_no_sentence_of_the_example_that_only_a_profile_says_is_in_a_prompt_at_never(tmp_path):
    folder = shutil.copytree(NOVEL, tmp_path / "novel")
    with armarius.open(folder, watch=False) as engine:
        described = [one for one in engine.entities() if any(origin.path.endswith(".md") for origin in one.origins)]
        chapters = "\n".join(one.text for one in engine.documents() if one.kind == "chapter")
        said = {one.id: [part for part in SENTENCE.findall(one.description) if len(part) > 3] for one in described}
        assert len(described) > 12
        for one in described:
            others = "\n".join([chapters, *(part for id_ in said if id_ != one.id for part in said[id_])])
            own = [part for part in said[one.id] if part not in others]
            engine.codex.update(one.id, level="never")
            for query in (one.name, f"{one.name}是谁", "检查第3章的角色一致性", "续写", *said[one.id]):
                for document in ("", "chapters/ch003.md"):
                    pack = engine.assemble(query, document=document, budget=6000, include=[one.id])
                    assert [part for part in own if part in shown(pack)] == [], (one.name, query)
            engine.codex.update(one.id, level=one.level)


@pytest.mark.parametrize("pin", ["", "灯塔重燃"])
def test_an_entity_that_is_in_is_not_left_out_and_one_that_is_out_is_so_once(tmp_path, pin):
    shutil.copytree(NOVEL, tmp_path / "novel")
    with armarius.open(tmp_path / "novel", watch=False) as engine:
        if pin:
            engine.pins.add(pin)
        pack = engine.assemble("续写", document="chapters/ch003.md")
    there = {item.id for item in pack.items}
    left = [gone.id for gone in pack.omitted if gone.id.startswith("entity:")]
    assert "entity:林默" in there
    assert ("entity:ending" in there, left.count("entity:ending")) == (bool(pin), 0 if pin else 1)
    assert not there & set(left)
    assert len(set(left)) == len(left)
