"""Names are taken wherever ids are, and a name of several is answered with their ids."""

import json

import pytest

import armarius
from armarius.errors import UnknownId

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
    engine.codex.update("zhou-2", name="周远")
    pack = engine.assemble("雨")
    assert {"codex:pinned:zhou-1", "codex:pinned:zhou-2"} <= set(pack.layers.retrieved.source)
