"""What documents teach about names."""

from armarius import EntityMatcher
from armarius.names import (
    DoubtfulAlias,
    Habits,
    LongerName,
    learn_habits,
)

MAID = {"id": "maid", "name": "紫鹃", "type": "character", "aliases": ["鹦哥", "鹃儿"]}
NURSE = {"id": "nurse", "name": "袭人", "type": "character", "aliases": ["珍珠"]}
LADY = {"id": "lady", "name": "李纨", "type": "character", "aliases": ["大奶奶"]}
DUCK = {"id": "duck", "name": "鸳鸯", "type": "character"}
USUAL = ["紫鹃笑了。袭人也笑了。"] * 60


def found(habits, entities, text):
    return [(m.entity_id, m.term) for m in EntityMatcher(entities, habits=habits).find_all(text)]


def test_rare_name_beside_the_usual_one_is_another_thing_in_narration_only():
    habits = learn_habits([MAID], [*USUAL, "廊上的鹦哥见紫鹃来了，叫了一声。"])
    assert habits.doubtful == (DoubtfulAlias("鹦哥", "maid", "beside", "紫鹃", "1 of 62 mentions, usually 紫鹃"),)
    assert found(habits, [MAID], "架上的鹦哥看着紫鹃") == [("maid", "紫鹃")]
    assert found(habits, [MAID], "紫鹃，本名鹦哥。") == [("maid", "紫鹃"), ("maid", "鹦哥")]
    assert found(habits, [MAID], "鹦哥来了") == [("maid", "鹦哥")]


def test_diminutive_of_the_usual_name_is_never_doubted():
    assert learn_habits([MAID], [*USUAL, "鹃儿，紫鹃。"]).doubtful == ()


def test_name_that_is_counted_as_a_thing_is_also_a_word():
    habits = learn_habits([NURSE], [*USUAL, "四颗珍珠，一颗珍珠。", "珍珠来了"])
    assert [(one.alias, one.rule) for one in habits.doubtful] == [("珍珠", "word")]
    assert found(habits, [NURSE], "她买了珍珠") == []
    assert found(habits, [NURSE], "她名唤珍珠") == [("nurse", "珍珠")]


def test_title_behind_a_character_that_lives_by_it_is_somebody_elses():
    habits = learn_habits(
        [LADY], ["李璜的璜大奶奶来了。", "那璜大奶奶道。", "见了大奶奶", "见了大奶奶，见了人，见了他。" * 9]
    )
    assert [one.text for one in habits.longer] == ["璜大奶奶"]
    assert found(habits, [LADY], "璜大奶奶见了大奶奶") == [("lady", "大奶奶")]


def test_thing_named_after_a_person_is_not_the_person():
    habits = learn_habits([DUCK], ["囊中有一把鸳鸯剑。", "将鸳鸯剑取出，鸳鸯笑了"])
    assert [one.text for one in habits.longer] == ["鸳鸯剑"]
    matcher = EntityMatcher([DUCK], habits=habits)
    assert found(habits, [DUCK], "鸳鸯剑在鸳鸯手里") == [("duck", "鸳鸯")]
    assert [(r.term, r.reason, r.by) for r in matcher.explain("鸳鸯剑")] == [("鸳鸯", "shadowed", "鸳鸯剑")]


def test_capitalised_name_that_the_documents_write_small_needs_its_capital():
    will = {"id": "w", "name": "Will"}
    habits = learn_habits([will], ["Will said he will come. It will rain, and Will will stay."])
    assert [one.because for one in habits.doubtful] == ["will occurs 3 times, Will 2 times"]
    assert found(habits, [will], "Will will go, WILL!") == [("w", "Will"), ("w", "WILL")]
    assert found(None, [will], "what did will do") == [("w", "will")]
    assert learn_habits([will], ["Will came. What did will do?"]) == Habits()


def test_order_of_documents_changes_nothing():
    documents = [*USUAL, "一颗珍珠，两颗珍珠。", "珍珠来了", "鹦哥见紫鹃来了", "璜大奶奶", "璜大奶奶"]
    people = [MAID, NURSE, LADY]
    assert learn_habits(people, documents) == learn_habits(people[::-1], documents[::-1])


def test_entities_of_no_known_type_are_left_as_they_are():
    untyped = [{**NURSE, "type": None}]
    assert learn_habits(untyped, [*USUAL, "四颗珍珠，一颗珍珠。", "珍珠"]) == Habits()
    assert found(None, untyped, "一颗珍珠") == [("nurse", "珍珠")]


def test_habits_can_be_written_by_hand():
    habits = Habits(longer=(LongerName("国王", "王", "the author says so"),))
    assert found(habits, [{"id": "w", "name": "王"}], "国王走了进来，王说") == [("w", "王")]


def test_reading_is_explained_and_still_covers_the_names_inside():
    matcher = EntityMatcher([{"id": "e", "name": "二姐", "type": "character"}, {"id": "x", "name": "姐"}])
    assert [(m.entity_id, m.start) for m in matcher.find_all("二姐姐")] == [("x", 2)]
    assert [(r.entity_id, r.start, r.reason) for r in matcher.explain("二姐姐")] == [
        ("e", 0, "a longer kin term"),
        ("x", 1, "shadowed"),
    ]
