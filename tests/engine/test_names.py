"""Names are taken wherever ids are, a name of several is answered with their ids, and nobody is made twice."""

import json

import pytest

import armarius
from armarius.errors import CodexError, ContractError, UnknownId

ENTITIES = [
    {"id": "lin-xiaoyu", "name": "林小雨", "aliases": ["小雨"], "type": "character"},
    {"id": "lin-mo", "name": "林默", "type": "character"},
    {"id": "finch", "name": "Mr. O’Neill", "type": "character"},
    {"id": "zhou-1", "name": "周远", "aliases": ["老周"], "type": "character"},
    {"id": "zhou-2", "name": "周平", "aliases": ["老周"], "type": "character"},
]


@pytest.fixture
def engine(tmp_path):
    folder = tmp_path / "novel"
    folder.mkdir()
    (folder / "ch001.md").write_text("# 第一章\n\n林默推开门。\n", "utf8")
    (folder / "codex.json").write_text(json.dumps({"entities": ENTITIES}, ensure_ascii=False), "utf8")
    with armarius.open(folder, watch=False, index_dir=tmp_path / ".index") as engine:
        yield engine


@pytest.mark.parametrize("name", ["lin-xiaoyu", "林小雨", "小雨", "林小雨 "])
def test_an_entity_is_read_changed_and_deleted_by_any_of_its_names(engine, name):
    assert engine.entity(name).id == engine.codex.get(name).id == "lin-xiaoyu"
    assert engine.codex.update(name, level="always").id == "lin-xiaoyu"
    assert [one.id for one in engine.codex.list()] == [one["id"] for one in ENTITIES]
    engine.codex.delete(name)
    assert engine.codex.get("lin-xiaoyu").level == "when_detected"


def test_names_are_compared_folded(engine):
    assert engine.codex.update("mr. o'neill", description="keeper").id == "finch"
    assert engine.codex.get("ＭＲ. O'NEILL").description == "keeper"


def test_a_relation_is_the_same_by_whichever_names(engine):
    engine.codex.relate("林小雨", "lin-mo", "兄妹")
    engine.codex.relate("小雨", "林默", "兄妹", since=2)
    assert [(one.source, one.target, one.since) for one in engine.codex.relations()] == [("lin-xiaoyu", "lin-mo", 2)]
    engine.codex.unrelate("lin-xiaoyu", "林默", "兄妹")
    assert engine.codex.relations() == ()


def test_an_alias_of_a_file_is_a_name_of_whoever_was_changed_here(engine):
    engine.codex.update("lin-xiaoyu", level="always")
    engine.codex.relate("小雨", "林默", "兄妹")
    assert [one.source for one in engine.codex.relations()] == ["lin-xiaoyu"]


def test_a_pin_is_the_same_by_whichever_name(engine):
    engine.pins.add("林小雨")
    engine.pins.add("lin-xiaoyu", mute=True)
    assert [(one.target, one.mute) for one in engine.pins.list()] == [("林小雨", True)]
    engine.pins.remove("小雨")
    assert engine.pins.list() == ()


ASKED = {
    "entity": lambda engine: engine.entity("老周"),
    "card": lambda engine: engine.card("老周"),
    "evidence": lambda engine: engine.evidence("老周"),
    "get": lambda engine: engine.codex.get("老周"),
    "update": lambda engine: engine.codex.update("老周", level="always"),
    "delete": lambda engine: engine.codex.delete("老周"),
    "relate": lambda engine: engine.codex.relate("林默", "老周", "邻居"),
    "pin": lambda engine: engine.pins.add("老周"),
    "include": lambda engine: engine.assemble("雨", include=["老周"]),
}


@pytest.mark.parametrize("verb", ASKED)
def test_a_name_of_several_is_refused_with_their_ids(engine, verb):
    with pytest.raises(UnknownId, match="say which: zhou-1 or zhou-2") as refused:
        ASKED[verb](engine)
    assert refused.value.near == ("zhou-1", "zhou-2")


def test_a_pin_of_a_name_that_several_bear_by_now_holds_for_them_all(engine):
    engine.pins.add("周远")
    engine.codex.update("zhou-2", name="周远", force=True)
    pack = engine.assemble("雨")
    assert {"codex:pinned:zhou-1", "codex:pinned:zhou-2"} <= set(pack.layers.retrieved.source)


KNOWN = {
    "the name of a file": ("林小雨", "'lin-xiaoyu' (林小雨), from codex.json"),
    "an alias of a file": ("小雨", "'lin-xiaoyu' (林小雨), from codex.json"),
    "another case, width and apostrophe": ("ＭＲ.  o'neill", "'finch' (Mr. O’Neill), from codex.json"),
    "an alias of two": ("老周", "'zhou-1' (周远), from codex.json"),
    "a profile": ("白鹭", "'白鹭', from 人物.md:1"),
    "an alias of a profile": ("阿鹭", "'白鹭', from 人物.md:1"),
    "an imported book": ("Mara Vance", "'mara-vance' (Mara Vance), from .armarius/books/"),
    "what was made here": ("灯塔人", "'keeper' (灯塔人), from .armarius/codex.toml:"),
    "an alias made here": ("老灯", "'keeper' (灯塔人), from .armarius/codex.toml:"),
}


@pytest.fixture
def full(engine, tmp_path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Mara Vance.md").write_text(
        "---\ntype: character\naliases: [Mara]\n---\n\nThe baker.\n", "utf8"
    )
    engine.importing.add(tmp_path / "vault")
    (engine.root / "人物.md").write_text("## 白鹭\n\n- 类型：人物\n- 别名：阿鹭\n", "utf8")
    engine.codex.create("灯塔人", id="keeper", aliases=["老灯"])
    return engine


@pytest.mark.parametrize("case", KNOWN)
def test_whoever_is_there_by_any_name_is_not_made_again(full, case):
    name, bearer = KNOWN[case]
    before = (full.root / ".armarius" / "codex.toml").read_bytes()
    with pytest.raises(CodexError) as refused:
        full.codex.create(name, id="new")
    assert "there is one already" in str(refused.value)
    assert bearer in str(refused.value)
    with pytest.raises(CodexError, match="aliases\\[1\\]") as refused:
        full.codex.create("新人", aliases=["新来的", name])
    assert bearer in str(refused.value)
    for change in ({"aliases": [name]}, {"name": name}):
        with pytest.raises(CodexError, match="is a name of") as refused:
            full.codex.update("林默", **change)
        assert bearer in str(refused.value)
    assert (full.root / ".armarius" / "codex.toml").read_bytes() == before


def test_two_of_one_name_are_made_where_that_is_meant(engine):
    engine.codex.create("林小雨", force=True)
    engine.codex.update("林默", aliases=["老周"], force=True)
    assert [one.id for one in engine.entities() if one.name == "林小雨"] == ["lin-xiaoyu", "林小雨"]
    assert engine.codex.create("林小雨", force=True).id == "林小雨.2"
    with pytest.raises(CodexError, match="there is one already"):
        engine.codex.create("林小雨", id="林小雨", force=True)


@pytest.mark.parametrize("id_", ["", "egret"])
def test_a_second_entity_is_not_merged_with_the_profile_of_its_name(full, id_):
    made = full.codex.create("白鹭", id=id_, force=True, description="Another one.")
    assert (made.id, made.aliases) == (id_ or "白鹭.2", ())
    known = {one.id: one for one in full.entities() if one.name == "白鹭"}
    assert known.keys() == {"白鹭", made.id}
    assert known["白鹭"].aliases == ("阿鹭",)
    assert known[made.id].description == "Another one."


@pytest.mark.parametrize("ends", [("林默", "林默"), ("林小雨", "小雨"), ("lin-xiaoyu", "林小雨")])
def test_a_relation_of_an_entity_to_itself_is_refused(engine, ends):
    with pytest.raises(ContractError, match=r"relation\.target"):
        engine.codex.relate(*ends, "朋友")
    assert engine.codex.relations() == ()


def test_what_somebody_is_called_already_is_left_in_peace(engine):
    assert engine.codex.update("zhou-1", aliases=["老周", "周师傅"]).aliases == ("老周", "周师傅")
    assert engine.codex.update("zhou-1", name="周远", aliases=["老周"], level="always").level == "always"


def test_the_key_of_a_lorebook_is_nobody_s_alias(engine):
    book = {"entries": {"0": {"uid": 0, "key": ["守灯人"], "comment": "灯塔", "content": "灯塔有人守。"}}}
    engine.importing.add(json.dumps(book).encode(), name="lore.json")
    assert engine.codex.create("守灯人").id == "守灯人"


def test_names_of_the_story_are_described_whatever_their_case(engine):
    text = "Alma Reed said nothing. “Go,” said Alma Reed. They met Alma Reed. She saw Alma Reed at noon. " * 6
    (engine.root / "ch002.md").write_text(f"# Chapter 2\n\n{text}", "utf8")
    assert "Alma Reed" in {one.name for one in engine.propose()}
    engine.codex.create("ALMA  REED")
    assert "Alma Reed" not in {one.name for one in engine.propose()}


def test_a_name_of_two_folders_of_a_series_means_the_project_s_own(tmp_path):
    for name, kind in (("bible", "地点"), ("novel", "人物")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "设定.md").write_text(f"## 白鹭\n\n- 类型：{kind}\n", "utf8")
    with armarius.open(tmp_path / "novel", with_=[tmp_path / "bible"], watch=False, index_dir=tmp_path / "i") as engine:
        assert {one.id for one in engine.entities()} == {"白鹭", "bible/白鹭"}
        assert engine.entity("白鹭").id == engine.codex.update("白鹭", level="always").id == "白鹭"
        engine.codex.relate("白鹭", "bible/白鹭", "居于")
        assert [(one.source, one.target) for one in engine.codex.relations()] == [("白鹭", "bible/白鹭")]
