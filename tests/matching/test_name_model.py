"""What documents teach about names."""

from armarius import EntityMatcher
from armarius.names import (
    DoubtfulAlias,
    LongerName,
    NameModel,
    learn_names,
)

MAID = {"id": "maid", "name": "紫鹃", "type": "character", "aliases": ["鹦哥", "鹃儿"]}
NURSE = {"id": "nurse", "name": "袭人", "type": "character", "aliases": ["珍珠"]}
LADY = {"id": "lady", "name": "李纨", "type": "character", "aliases": ["大奶奶"]}
DUCK = {"id": "duck", "name": "鸳鸯", "type": "character"}
USUAL = ["紫鹃笑了。袭人也笑了。"] * 60


def found(name_model, entities, text):
    return [(m.entity_id, m.term) for m in EntityMatcher(entities, name_model=name_model).find_all(text)]


def test_rare_name_beside_the_usual_one_is_another_thing_in_narration_only():
    name_model = learn_names([MAID], [*USUAL, "廊上的鹦哥见紫鹃来了，叫了一声。"])
    assert name_model.doubtful == (DoubtfulAlias("鹦哥", "maid", "beside", "紫鹃", "1 of 62 mentions, usually 紫鹃"),)
    assert found(name_model, [MAID], "架上的鹦哥看着紫鹃") == [("maid", "紫鹃")]
    assert found(name_model, [MAID], "紫鹃，本名鹦哥。") == [("maid", "紫鹃"), ("maid", "鹦哥")]
    assert found(name_model, [MAID], "鹦哥来了") == [("maid", "鹦哥")]


def test_diminutive_of_the_usual_name_is_never_doubted():
    assert learn_names([MAID], [*USUAL, "鹃儿，紫鹃。"]).doubtful == ()


def test_name_that_is_counted_as_a_thing_is_also_a_word():
    name_model = learn_names([NURSE], [*USUAL, "四颗珍珠，一颗珍珠。", "珍珠来了"])
    assert [(one.alias, one.rule) for one in name_model.doubtful] == [("珍珠", "word")]
    assert found(name_model, [NURSE], "她买了珍珠") == []
    assert found(name_model, [NURSE], "她名唤珍珠") == [("nurse", "珍珠")]


def test_title_behind_a_character_that_lives_by_it_is_somebody_elses():
    name_model = learn_names(
        [LADY], ["李璜的璜大奶奶来了。", "那璜大奶奶道。", "见了大奶奶", "见了大奶奶，见了人，见了他。" * 9]
    )
    assert [one.text for one in name_model.longer] == ["璜大奶奶"]
    assert found(name_model, [LADY], "璜大奶奶见了大奶奶") == [("lady", "大奶奶")]


def test_thing_named_after_a_person_is_not_the_person():
    name_model = learn_names([DUCK], ["囊中有一把鸳鸯剑。", "将鸳鸯剑取出，鸳鸯笑了"])
    assert [one.text for one in name_model.longer] == ["鸳鸯剑"]
    matcher = EntityMatcher([DUCK], name_model=name_model)
    assert found(name_model, [DUCK], "鸳鸯剑在鸳鸯手里") == [("duck", "鸳鸯")]
    assert [(r.term, r.reason, r.by) for r in matcher.explain("鸳鸯剑")] == [("鸳鸯", "shadowed", "鸳鸯剑")]


def test_capitalised_name_that_the_documents_write_small_needs_its_capital():
    will = {"id": "w", "name": "Will"}
    name_model = learn_names([will], ["Will said he will come. It will rain, and Will will stay."])
    assert [one.because for one in name_model.doubtful] == ["will occurs 3 times, Will 2 times"]
    assert found(name_model, [will], "Will will go, WILL!") == [("w", "Will"), ("w", "WILL")]
    assert found(None, [will], "what did will do") == [("w", "will")]
    assert learn_names([will], ["Will came. What did will do?"]) == NameModel()


def test_order_of_documents_changes_nothing():
    documents = [*USUAL, "一颗珍珠，两颗珍珠。", "珍珠来了", "鹦哥见紫鹃来了", "璜大奶奶", "璜大奶奶"]
    people = [MAID, NURSE, LADY]
    assert learn_names(people, documents) == learn_names(people[::-1], documents[::-1])


def test_entities_of_no_known_type_are_left_as_they_are():
    untyped = [{**NURSE, "type": None}]
    assert learn_names(untyped, [*USUAL, "四颗珍珠，一颗珍珠。", "珍珠"]) == NameModel()
    assert found(None, untyped, "一颗珍珠") == [("nurse", "珍珠")]


def test_habits_can_be_written_by_hand():
    name_model = NameModel(longer=(LongerName("国王", "王", "the author says so"),))
    assert found(name_model, [{"id": "w", "name": "王"}], "国王走了进来，王说") == [("w", "王")]


def test_reading_is_explained_and_still_covers_the_names_inside():
    matcher = EntityMatcher([{"id": "e", "name": "二姐", "type": "character"}, {"id": "x", "name": "姐"}])
    assert [(m.entity_id, m.start) for m in matcher.find_all("二姐姐")] == [("x", 2)]
    assert [(r.entity_id, r.start, r.reason) for r in matcher.explain("二姐姐")] == [
        ("e", 0, "a longer kin term"),
        ("x", 1, "shadowed"),
    ]
