"""Of whom a value is said: of the one asked about, of the owner of a profile, of somebody else in the sentence."""

import pytest
from tests.rows import rows

import armarius
from armarius.search.contradictions.statements import ValueOwner
from armarius.search.contradictions.values import topic_of, values_at

from .conftest import write

TOWN = {
    "chapters/ch001.md": "# 第一章\n\n风停了。\n",
    "spec/people.md": (
        "# 人物\n\n## 苏禾\n\n- 类型：人物\n- 年龄：31\n\n## 苏雨\n\n- 类型：人物\n\n## 老梁\n\n- 类型：人物\n\n"
        "## Anna Bell\n\n- Type: character\n- Age: 31\n\n## Tom Reed\n\n- Type: character\n"
    ),
    "spec/places.md": "# 地点\n\n## 江城\n\n- 描述：河边的城\n\n## 白鹭洲\n\n- 描述：一座小洲\n",
}


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("town")
    with armarius.open(write(folder / "town", TOWN), watch=False, index_dir=folder / "index") as engine:
        yield engine


def given(town, whom, sentence, place, about):
    topic = topic_of(about)
    with town._parts.project.view().corpus.acquire() as corpus:
        mentions = corpus.matcher.find_all(sentence)
        people = [one for one in mentions if corpus.entities[one.entity_id].type == "character"]
        (entity_id,) = [one.id for one in town.entities() if one.name == whom]
        whose = ValueOwner(sentence, people, entity_id, place, topic)
        return {one.text.partition(":")[2] for one in values_at(corpus, sentence, mentions, topic) if whose.owns(one)}


@rows("retrieval_whose")
def test_a_value_in_the_profile_of_another_is_that_ones_unless_the_sentence_says_otherwise(town, whom, sentence, ages):
    ages = {*ages}
    assert given(town, whom, sentence, "other", "年龄") == ages


@rows("retrieval_whose")
def test_a_value_in_ones_own_profile_is_ones_own_unless_it_is_of_kin(town, whom, sentence, ages):
    ages = {*ages}
    assert given(town, whom, sentence, "own", "age") == ages


@rows("retrieval_whose")
def test_in_a_story_a_value_is_of_whom_the_sentence_names_last_before_it(town, whom, sentence, ages):
    ages = {*ages}
    assert given(town, whom, sentence, "prose", "age") == ages


@rows("retrieval_whose")
def test_where_somebody_else_lives_is_no_home(town, whom, sentence, place, there):
    there = {*there}
    names = {one.id: one.name for one in town.entities()}
    assert {names[one] for one in given(town, whom, sentence, place, "住处")} == there


@rows("retrieval_whose")
def test_an_age_of_a_time_past_is_no_present_age_and_a_bare_number_is_one(town, sentence, values):
    values = {*values}
    with town._parts.project.view().corpus.acquire() as corpus:
        assert {one.text for one in values_at(corpus, sentence, [], topic_of("年龄"))} == values


CLASH = {
    "chapters/ch001.md": (
        "# 第一章\n\n苏禾今年三十五岁。苏禾对二十二岁的妹妹说：“别怕。”\n\n苏禾看着老梁，他七十岁了。\n"
    ),
    "spec/people.md": (
        "# 人物\n\n## 苏禾\n\n- 类型：人物\n- 年龄：31\n\n## 苏雨\n\n- 类型：人物\n- 描述：苏禾的妹妹，二十二岁。\n\n"
        "## 老梁\n\n- 类型：人物\n- 描述：苏禾的邻居，七十岁。\n"
    ),
}


@pytest.mark.parametrize("attribute", [None, "年龄"])
def test_only_the_two_accounts_of_one_age_compete(tmp_path, attribute):
    with armarius.open(write(tmp_path / "clash", CLASH), watch=False) as engine:
        said = engine.evidence("苏禾", attribute=attribute)
        assert {one.text for one in said if one.competes_with} == {"- 年龄：31", "苏禾今年三十五岁。"}
        assert not any(one.competes_with for name in ("苏雨", "老梁") for one in engine.evidence(name))


def test_a_prompt_that_asks_for_a_check_holds_an_age_given_as_a_bare_number_against_the_chapter(tmp_path):
    with armarius.open(write(tmp_path / "clash", CLASH), watch=False) as engine:
        pack = engine.assemble("检查第1章的角色一致性", budget=4000)
    rivals = {one.detail for item in pack.items for one in item.evidence if "competes with" in one.detail}
    assert rivals == {"competes with spec/people.md#苏禾", "competes with chapters/ch001.md"}
