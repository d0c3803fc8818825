"""What documents teach about names."""

import json
from pathlib import Path

import pytest

from armarius import EntityMatcher
from armarius.names import (
    DoubtfulAlias,
    LongerName,
    NameModel,
    learn_names,
)
from armarius.names.usage import lacks_capitals

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


def test_a_doubt_about_a_titled_name_holds_with_its_full_stop_and_without():
    doubtful = (DoubtfulAlias("St. Bell", "b", "capital", "St. Bell", "by hand"),)
    matcher = EntityMatcher([{"id": "b", "name": "St. Bell"}], name_model=NameModel(doubtful=doubtful))
    assert [one.term for one in matcher.find_all("St Bell, st bell, St. Bell, st. bell")] == ["St Bell", "St. Bell"]


def test_what_is_written_small_is_counted_whichever_apostrophe_it_has():
    people = [{"id": "d", "name": "Devil's Dyke", "type": "location"}]
    model = learn_names(people, ["The devil’s dyke, a devil’s dyke, this devil’s dyke. Devil’s Dyke."])
    assert [(one.alias, one.rule) for one in model.doubtful] == [("Devil's Dyke", "capital")]


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


OLD_LADY = {
    "id": "wu",
    "name": "吴老太太",
    "type": "character",
    "aliases": ["老太太"],
    "description": "吴继文的母亲。",
}
HER_SON = {"id": "ji", "name": "吴继文", "type": "character", "aliases": ["继文"]}
AT_HOME = "继文请安。老太太笑了。"
ELSEWHERE = "她进了门。老太太骂道。"


def test_title_that_the_prose_uses_of_several_is_a_mention_in_its_company_only():
    people = [OLD_LADY, HER_SON]
    name_model = learn_names(people, [AT_HOME] * 6 + [ELSEWHERE] * 3)
    assert [(one.alias, one.rule) for one in name_model.doubtful] == [("老太太", "company")]
    assert name_model.doubtful[0].because == "3 of 9 times without anybody who belongs to 吴老太太"
    assert found(name_model, people, "继文来了。\n老太太也来了") == [("ji", "继文"), ("wu", "老太太")]
    assert found(name_model, people, "老太太也来了。\n继文来了") == [("ji", "继文")]
    assert found(name_model, people, "吴老太太来了") == [("wu", "吴老太太")]


def test_title_is_not_doubted_where_the_prose_uses_it_of_one():
    people = [OLD_LADY, HER_SON]
    assert learn_names(people, [AT_HOME] * 30 + [ELSEWHERE] * 3).doubtful == ()
    assert learn_names(people, [ELSEWHERE] * 30).doubtful == ()  # whoever is never called otherwise


def test_title_behind_another_family_name_at_the_beginning_of_a_clause_is_somebody_elses():
    people = [OLD_LADY, HER_SON]
    name_model = learn_names(people, ["继文来了。李老太太笑了。", "继文禀明老太太。"])
    assert [one.text for one in name_model.longer] == ["李老太太"]
    assert found(name_model, people, "见了李老太太") == []
    assert found(name_model, people, "继文禀明老太太") == [("ji", "继文"), ("wu", "老太太")]


def test_the_narrators_uncle_is_not_his_uncle():
    uncle = {"id": "u", "name": "伯父", "type": "character", "description": "叙述者的伯父，在外做官。"}
    other = {"id": "o", "name": "伯父", "type": "character", "description": "林默的伯父。"}
    told = ["我伯父来了。他伯父也来了。"]
    assert [one.text for one in learn_names([uncle], told).longer] == ["他伯父"]
    assert learn_names([other], told).longer == ()


def test_a_name_before_another_word_with_a_capital_is_another_name():
    city = {"id": "l", "name": "Ostermouth", "type": "location"}
    clerk = {"id": "c", "name": "Tom Vale", "type": "character", "aliases": ["Tom"]}
    nameless = {"id": "n", "name": "Nell", "type": "character"}
    told = ["They met at Ostermouth Bridge. Tom Hart and Tom Vale met Nell Quill at Ostermouth."]
    name_model = learn_names([city, clerk, nameless], told)
    # The profile of Nell does not say what her family name is: Quill may be.
    assert [one.text for one in name_model.longer] == ["Ostermouth Bridge", "Tom Hart"]
    assert found(name_model, [city, clerk], "Tom Hart crossed Ostermouth Bridge; Tom did not.") == [("c", "Tom")]


def test_where_names_are_never_written_small_one_small_word_is_no_name():
    people = [{"id": name, "name": name, "type": "character"} for name in ("Anna", "Boris", "Clara")]
    pepper = {"id": "p", "name": "Pepper", "type": "character"}
    told = ["Anna met Boris and Clara. " * 5 + "Pepper sneezed at the pepper."]
    assert [(one.alias, one.rule) for one in learn_names([*people, pepper], told).doubtful] == [("Pepper", "case")]
    assert learn_names([pepper], told).doubtful == ()


def test_an_alias_that_is_listed_small_may_be_written_small():
    forge = {"id": "f", "name": "The Forge", "type": "location", "aliases": ["the forge"]}
    name_model = learn_names([forge], ["At the forge, by the forge, in the forge. The Forge."])
    assert name_model.doubtful == ()
    assert found(name_model, [forge], "at the forge") == [("f", "the forge")]


def test_a_name_that_is_mostly_counted_as_a_thing_is_one():
    pearl = {"id": "p", "name": "明珠", "type": "character"}
    name_model = learn_names([pearl], ["一颗明珠，两颗明珠，三颗明珠。明珠笑了。"])
    assert [one.because for one in name_model.doubtful] == ["counted as a thing 3 of 4 times"]


SPELLINGS = json.loads((Path(__file__).parents[1] / "cases" / "capitals.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", SPELLINGS, ids=lambda row: f"{row['spelled']}: {row['written']}")
def test_capitals_are_lacking_where_the_rows_say(row):
    assert lacks_capitals(row["spelled"], row["written"]) is row["lacks"]
