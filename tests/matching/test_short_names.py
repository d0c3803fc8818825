"""Names that no profile lists, derived from those it does: original stories, profiles without a single alias."""

import json
import tomllib
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from armarius import EntityMatcher
from armarius.codex import load_codex
from armarius.documents.document import list_documents
from armarius.names import learn_names
from armarius.names.derived import _is_common
from armarius.names.usage import begins_sentence
from armarius.names.words import words

BEGINNINGS = json.loads((Path(__file__).parents[1] / "cases" / "beginnings.json").read_text(encoding="utf-8"))
LARKMOOR = Path(__file__).parents[1] / "data" / "larkmoor"

HARBOUR = [
    {"id": "lin", "name": "林雨桐", "type": "character", "description": "渔村的小学教师，她的父亲失踪多年。"},
    {"id": "li", "name": "李建国", "type": "character", "description": "镇上最好的修船师傅，林雨桐的舅舅。"},
    {"id": "ouyang", "name": "欧阳明月", "type": "character", "attributes": {"性别": "女"}},
    {"id": "wang1", "name": "王大海", "type": "character", "description": "渔业队的队长，他从不下水。"},
    {"id": "wang2", "name": "王秀英", "type": "character", "attributes": {"性别": "女"}},
    {"id": "anna", "name": "安娜·彼得罗娃", "type": "character", "description": "来测海流的俄国女人。"},
    {"id": "zhou", "name": "周默", "type": "character", "attributes": {"性别": "男"}},
    {"id": "shen", "name": "沈望舒", "type": "character", "description": "旧书商，字子川，人称海先生。"},
    {"id": "he", "name": "何天明", "type": "character"},
]
TOLD = [
    "林雨桐站在码头上。雨桐说：“舅舅的船回来了吗？”雨桐低头看着水。",
    "李建国把锤子放下。“李师傅，”周默问，“还能修吗？”李师傅摇摇头，建国叹了口气。",
    "一轮明月升起来，海面上全是明月的光。这样的明月，林雨桐见过许多次。两轮明月，一轮在水里。",
    "欧阳明月来的那天，欧阳先生没有来。欧阳说她不怕，欧阳看着李建国。",
    "老王道：“出海！”小王也笑了。王大海和王秀英都在。王队长说，风要变了。王女士点头。",
    "安娜放下仪器。彼得罗娃说，海流变了。",
    "周默默默地走开。“阿默，”林雨桐喊，“小周，等一等！”阿默说好。小周没有动，周默默默地站着。默默地，他走了。",
    "子川先生的书都湿了。子川笑道，湿了也能读。沈望舒合上书。",
    "天明了，船队出海。天明时分，天明以后，天明之前。何天明没有来。",
    "陈雨桐是另一个孩子。陈雨桐说自己不怕海。",
]


def found(entities, texts, text):
    matcher = EntityMatcher(entities, name_model=learn_names(entities, texts))
    return [(one.entity_id, one.term) for one in matcher.find_all(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("雨桐问", [("lin", "雨桐")]),
        ("陈雨桐问雨桐", [("lin", "雨桐")]),
        ("李师傅和建国", [("li", "李师傅"), ("li", "建国")]),
        ("一轮明月", []),
        ("欧阳说", [("ouyang", "欧阳")]),
        ("老王说，小王说", []),
        ("王队长说", [("wang1", "王队长")]),
        ("王女士说", [("wang2", "王女士")]),
        ("安娜和彼得罗娃", [("anna", "安娜"), ("anna", "彼得罗娃")]),
        ("阿默说，小周说", [("zhou", "阿默"), ("zhou", "小周")]),
        ("他默默地走", []),
        ("子川说，海先生说", [("shen", "子川"), ("shen", "海先生")]),
        ("望舒说", [("shen", "望舒")]),
        ("天明了", []),
    ],
)
def test_short_forms_of_chinese_names_are_found_when_the_story_uses_them_so(text, expected):
    assert found(HARBOUR, TOLD, text) == expected


def test_refused_forms_say_whose_they_could_be_and_why():
    refused = {one.text: one for one in learn_names(HARBOUR, TOLD).refused}
    assert (refused["老王"].entities, refused["老王"].because) == (("wang1", "wang2"), "several persons")
    assert refused["天明"].because == "not used of a person in the text, or as a word"


def test_a_profile_that_lists_names_is_not_added_to_but_for_parts_of_the_name():
    listed = [{**one, "aliases": ["阿桐"]} if one["id"] == "lin" else one for one in HARBOUR]
    told = [*TOLD, "林老师来了，林雨桐说。林老师笑了。"]
    assert found(HARBOUR, told, "林老师和雨桐") == [("lin", "林老师"), ("lin", "雨桐")]
    assert found(listed, told, "林老师和雨桐") == [("lin", "雨桐")]


def test_whoever_lists_one_part_of_a_name_has_listed_all_that_are_used():
    listed = [{**one, "aliases": ["林老师", "雨桐"]} if one["id"] == "lin" else one for one in HARBOUR]
    assert found(listed, [*TOLD, "阿桐说"], "阿桐和雨桐") == [("lin", "雨桐")]
    vale = {"id": "v", "name": "Henry Vale", "type": "character", "aliases": ["Mr. Vale"]}
    told = ["Mr. Vale came. Then Henry came, and Vale."]
    assert learn_names([vale], told).short == ()
    assert [one.text for one in learn_names([{**vale, "aliases": ["the Squire"]}], told).short] == ["Henry", "Vale"]


def test_a_given_name_that_two_share_is_nobodys():
    twins = [*HARBOUR, {"id": "twin", "name": "赵雨桐", "type": "character"}]
    assert found(twins, TOLD, "雨桐说") == []
    assert found(twins, TOLD, "赵雨桐说") == [("twin", "赵雨桐")]


def test_a_name_that_is_given_is_never_derived_for_another():
    cat = [*HARBOUR, {"id": "cat", "name": "雨桐", "type": "宠物"}]
    assert found(cat, TOLD, "雨桐说") == [("cat", "雨桐")]


def test_places_and_things_have_no_short_forms():
    assert learn_names([{"id": "x", "name": "Harrow Lighthouse", "type": "location"}], ["The Lighthouse"]).short == ()


@pytest.fixture(scope="module")
def larkmoor():
    documents = list_documents(LARKMOOR).documents
    codex = load_codex(LARKMOOR)
    assert not any(entity.aliases for entity in codex.entities)
    name_model = learn_names(codex.entities, [one.text for one in documents if one.kind == "chapter"])
    return name_model, EntityMatcher(codex.entities, name_model=name_model)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Then Bob ran, and Bob's lamp went out.", ["Bob Finch", "Bob Finch"]),
        ("Miss Finch lit her pipe.", ["Mary Finch"]),
        ("Finch said nothing.", []),
        ("Where was Mr Finch when Mr. Finch ran?", ["Bob Finch", "Bob Finch"]),
        ("Dr. Reed dried his hands. Reed sighed.", ["Dr. Alan Reed", "Dr. Alan Reed"]),
        ("A reed bent in the wind.", []),
        ("Do you hope, Hope?", ["Hope Sumner"]),
        ("Will you come, Will?", ["Will Marsh"]),
        ("She will; Will did.", ["Will Marsh"]),
        ("Mr. Crane's clock, old Crane's hand", ["Walter Crane", "Walter Crane"]),
        ("Captain Okafor and Ruth", ["Captain Ruth Okafor", "Captain Ruth Okafor"]),
        ("Lady Vane-Tempest wrote.", ["Lady Honoria Vane-Tempest"]),
        ("Admiral, said the parrot.", []),
        ("The marsh was wet, and Marsh was dry.", ["Will Marsh"]),
    ],
)
def test_short_forms_of_english_names_are_found_and_plain_words_are_not(larkmoor, text, expected):
    names = {entity.id: entity.name for entity in load_codex(LARKMOOR).entities}
    assert [names[one.entity_id] for one in larkmoor[1].find_all(text)] == expected


def test_a_family_name_of_several_is_refused_and_a_title_tells_which(larkmoor):
    name_model, _ = larkmoor
    assert [(one.text, one.entities) for one in name_model.refused] == [("Finch", ("bob-finch", "mary-finch"))]


def test_a_derived_name_is_known_for_one_with_any_apostrophe_and_full_stop():
    people = [
        {"id": "o", "name": "Sean O'Neill", "type": "character"},
        {"id": "f", "name": "Dr. Ann Finch", "type": "character", "attributes": {"gender": "f"}},
        {"id": "g", "name": "Bob Finch", "type": "character", "attributes": {"gender": "m"}},
    ]
    model = learn_names(people, ["Then O’Neill left with Dr. Finch. Sean O’Neill was gone."])
    matcher = EntityMatcher(people, name_model=model)
    found = matcher.find_all("“O’Neill,” said Dr Finch")
    assert [(one.entity_id, one.term) for one in found] == [("o", "O’Neill"), ("f", "Dr Finch")]
    assert [matcher.derived(one.entity_id, one.term).of for one in found] == ["Sean O'Neill", "Dr. Ann Finch"]


PEOPLE = [
    {"id": "bob", "name": "Robert “Bob” Stone", "type": "character", "description": "He is a mason."},
    {"id": "rose", "name": "Rose Amadi", "type": "character", "description": "She is nicknamed Thorn."},
    {"id": "lud", "name": "Ludwig van der Berg", "type": "character"},
    {"id": "joan", "name": "Joan of Arden", "type": "character"},
    {"id": "mary", "name": "Aunt Mary", "type": "character"},
]
STORY = [
    "He asked Rose. The rose, a rose, roses: a rose is a rose, and another rose by a wall of stone. Rose water.",
    "They met Bob Carver and Alice Stone. When Stone came, Bob laughed; Mrs. Stone did not. He saw Stone.",
    "Then Joan rode on, and van der Berg followed.",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He saw Stone and Bob.", [("bob", "Stone"), ("bob", "Bob")]),
        ("Mrs. Stone met Alice Stone and Bob Carver.", []),
        ("They gave it to Rose. Rose petals fell.", [("rose", "Rose")]),
        ("and Thorn laughed", [("rose", "Thorn")]),
        ("Then van der Berg and Berg rode.", [("lud", "van der Berg"), ("lud", "Berg")]),
        ("Then Joan saw Arden.", [("joan", "Joan")]),
        ("Mary came, and Aunt Mary sat.", [("mary", "Mary"), ("mary", "Aunt Mary")]),
        ("a wall of stone", []),
    ],
)
def test_titles_strangers_particles_and_nicknames(text, expected):
    assert found(PEOPLE, STORY, text) == expected


def test_a_korean_given_name_is_found_without_its_family_name():
    kim = [{"id": "kim", "name": "김민수", "type": "character"}]
    assert found(kim, ["김민수는 왔다. 민수가 웃었다."], "민수는 집에 갔다") == [("kim", "민수")]


def test_derived_names_say_what_they_are_derived_from(larkmoor):
    name_model = learn_names(HARBOUR, TOLD)
    matcher = EntityMatcher(HARBOUR, name_model=name_model)
    assert str(matcher.derived("lin", "雨桐")) == "derived: given name of 林雨桐"
    assert str(matcher.derived("li", "李师傅")) == "derived: family name with title of 李建国"
    assert matcher.derived("lin", "林雨桐") is None
    assert str(larkmoor[1].derived("bob-finch", "BOB")) == "derived: given name of Bob Finch"


@pytest.mark.parametrize("row", BEGINNINGS, ids=lambda row: repr(row["before"]))
def test_a_sentence_begins_where_the_rows_say(row):
    assert begins_sentence(row["before"]) is row["begins"]


def test_the_rows_that_rust_reads_too_have_every_shortened_title():
    titles = {row["before"].split()[-1].rstrip(".").lower() for row in BEGINNINGS if row["before"].endswith(". ")}
    assert words("latin", "shortened") <= titles


def test_no_word_is_listed_twice():
    data = tomllib.loads(files("armarius.lexicon").joinpath("names.toml").read_text(encoding="utf-8"))
    for table, rows in data.items():
        for row, listed in rows.items():
            single = row in ("surnames", "acts", "done_to", "bare_titles", "function", "numbers", "measures")
            counts = Counter("".join(listed.split()) if single else listed.split())
            assert counts.most_common(1)[0][1] == 1, (table, row, counts.most_common(5))


def test_what_a_tokenizer_was_asked_is_not_kept_without_bound():
    assert _is_common.cache_info().maxsize == 4096
