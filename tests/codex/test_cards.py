from hypothesis import given
from hypothesis import strategies as st

from armarius.codex import Entity, Fact, entity_card, short_card


def test_card_has_the_form_of_the_specification():
    entity = Entity("e1", "林小雨", "character", description="林默的妹妹", attributes={"年龄": "16", "住处": "江城"})
    assert entity_card(entity) == "## 角色：林小雨\n- 类型：character\n- 描述：林默的妹妹\n- 属性：年龄=16, 住处=江城"


def test_attributes_stand_in_the_order_of_a_chinese_dictionary_latin_first():
    keys = ["住处", "Weapon", "年龄", "Age", "特征", "𠮷", "\ud800"]
    card = entity_card(Entity("e1", "林默", attributes=dict.fromkeys(keys, "x")))
    shown = [pair.split("=")[0] for pair in card.splitlines()[-1].removeprefix("- 属性：").split(", ")]
    assert [key for key in shown if key in keys[:5]] == ["Age", "Weapon", "年龄", "特征", "住处"]
    assert sorted(shown) == sorted(keys)


def test_attributes_line_stands_only_when_there_are_attributes():
    assert (
        entity_card(Entity("e1", "江城", "location", description="旧城"))
        == "## 地点：江城\n- 类型：location\n- 描述：旧城"
    )


def test_aliases_stand_on_the_card_where_there_are_any():
    entity = Entity(
        "e1",
        "林小雨",
        "character",
        ("小雨", "雨丫头", "林小雨"),
        "妹妹。爱逃课。",
        {"年龄": "16"},
        facts=(Fact("守灯", 7),),
    )
    head = "## 角色：林小雨\n- 类型：character"
    aliases = "- 别名：小雨、雨丫头"
    assert entity_card(entity) == f"{head}\n- 描述：妹妹。爱逃课。\n- 属性：年龄=16\n{aliases}\n- 第7章起：守灯"
    assert short_card(entity) == f"{head}\n- 描述：妹妹。\n{aliases}"


def test_type_of_the_users_own_is_labelled_entity():
    assert entity_card(Entity("e1", "小雨点", "宠物")).startswith("## 实体：小雨点\n- 类型：宠物")


def test_facts_of_later_chapters_are_left_out():
    entity = Entity("e1", "林默", facts=(Fact("守灯", 7), Fact("失踪", 3, 6), Fact("幼年", None, 2)))
    assert "守灯" not in entity_card(entity, chapter=4)
    assert "- 第3–5章：失踪" in entity_card(entity, chapter=4)
    assert "- 第7章起：守灯" in entity_card(entity, chapter=7)
    assert "失踪" not in entity_card(entity, chapter=6)
    assert all(word in entity_card(entity) for word in ("守灯", "失踪", "- 第2章前：幼年"))


def test_short_card_is_the_first_sentence():
    entity = Entity("e1", "林默", "character", description="钟表匠。话少手稳。", attributes={"年龄": "26"})
    assert short_card(entity) == "## 角色：林默\n- 类型：character\n- 描述：钟表匠。"


def test_short_card_is_none_when_the_card_is_short_already():
    assert short_card(Entity("e1", "林默", "character", description="钟表匠。")) is None


@given(st.text(), st.text(), st.dictionaries(st.text(), st.text(), max_size=3), st.text())
def test_no_value_can_open_a_line_of_its_own(name, description, attributes, fact):
    entity = Entity("e1", name, "character", description=description, attributes=attributes, facts=(Fact(fact, 1),))
    lines = entity_card(entity).splitlines()
    assert len(lines) <= 5
    assert lines[0].startswith("## 角色：")
    assert all(line.startswith("- ") for line in lines[1:])
