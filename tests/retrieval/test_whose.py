"""Of whom a value is said: of the one asked about, of the owner of a profile, of somebody else in the sentence."""

import pytest

import armarius
from armarius.search.contradictions.statements import Whose
from armarius.search.contradictions.values import located, topic_of

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
    with town._parts.project.view().corpus.tables() as tables:
        mentions = tables.matcher.find_all(sentence)
        people = [one for one in mentions if tables.entities[one.entity_id].type == "character"]
        (entity_id,) = [one.id for one in town.entities() if one.name == whom]
        whose = Whose(sentence, people, entity_id, place, topic)
        return {one.text.partition(":")[2] for one in located(tables, sentence, mentions, topic) if whose.owns(one)}


@pytest.mark.parametrize(
    ("whom", "sentence", "ages"),
    [
        ("苏禾", "- 描述：苏禾的妹妹，二十二岁，短头发。", set()),
        ("苏禾", "- 描述：苏禾的邻居，七十岁。", set()),
        ("苏禾", "- 描述：苏禾和老梁的女儿，七岁。", set()),
        ("老梁", "- 描述：苏禾和老梁的女儿，七岁。", set()),
        ("苏禾", "- 描述：总跟着苏禾，七十岁。", set()),
        ("苏禾", "- 描述：嫁给苏禾三年，二十四岁。", set()),
        ("苏禾", "- 描述：苏禾来信时他七十岁。", set()),
        ("苏禾", "- 描述：苏禾的年龄是三十一岁，他不信。", {"31"}),
        ("苏禾", "- 描述：苏禾今年三十五岁，比他高。", {"35"}),
        ("苏禾", "- 妹妹：苏禾，三十五岁。", {"35"}),
        ("苏禾", "- 关系：苏禾（妹妹，三十五岁）、老梁", {"35"}),
        ("Anna Bell", "- Description: Anna Bell's sister, twenty-two years old, short hair.", set()),
        ("Anna Bell", "- Description: Anna Bell's younger sister, aged 22.", set()),
        ("Anna Bell", "- Description: Anna Bell's neighbour, aged seventy.", set()),
        ("Anna Bell", "- Description: sister of Anna Bell, twenty-two years old.", set()),
        ("Anna Bell", "- Description: knows that Anna Bell is thirty-five years old.", {"35"}),
    ],
)
def test_a_value_in_the_profile_of_another_is_that_ones_unless_the_sentence_says_otherwise(town, whom, sentence, ages):
    assert given(town, whom, sentence, "other", "年龄") == ages


@pytest.mark.parametrize(
    ("whom", "sentence", "ages"),
    [
        ("苏禾", "- 描述：老梁的助理，三十一岁。", {"31"}),
        ("苏禾", "- 描述：与老梁同住，三十一岁。", {"31"}),
        ("苏禾", "- 描述：独生女，三十一岁。", {"31"}),
        ("苏禾", "- 描述：老梁写信时她年方三十一岁。", {"31"}),
        ("苏禾", "- 描述：有个七岁的女儿。", set()),
        ("苏禾", "- 描述：女儿今年七岁。", set()),
        ("苏禾", "- 母亲：老梁，七十岁", set()),
        ("苏禾", "- 描述：父亲老梁七十岁。", set()),
        ("Anna Bell", "- Description: Tom Reed's assistant, thirty-one years old.", {"31"}),
        ("Anna Bell", "- Description: has a seven-year-old daughter.", set()),
    ],
)
def test_a_value_in_ones_own_profile_is_ones_own_unless_it_is_of_kin(town, whom, sentence, ages):
    assert given(town, whom, sentence, "own", "age") == ages


@pytest.mark.parametrize(
    ("whom", "sentence", "ages"),
    [
        ("苏禾", "苏禾看着老梁，他七十岁了。", set()),
        ("老梁", "苏禾看着老梁，他七十岁了。", {"70"}),
        ("苏禾", "苏禾对二十二岁的妹妹说：“别怕。”", set()),
        ("苏禾", "苏禾的妹妹二十二岁。", set()),
        ("苏禾", "苏禾的邻居说她三十五岁了。", {"35"}),
        ("苏禾", "苏禾告诉老梁，她三十五岁了。", {"35"}),
        ("苏禾", "苏禾是老梁的房客，三十五岁。", {"35"}),
        ("苏禾", "三十五岁的苏禾推开了门。", {"35"}),
        ("苏禾", "她已经七十岁，还等着苏禾。", set()),
        ("苏禾", "苏禾和苏雨都三十五岁。", {"35"}),
        ("苏禾", "她三十五岁了。", {"35"}),
        ("Anna Bell", "Anna Bell was thirty-five years old.", {"35"}),
        ("Anna Bell", "Anna Bell looked at Tom Reed, who was seventy years old.", set()),
        ("Anna Bell", "Anna Bell's sister was twenty-two years old.", set()),
        ("Anna Bell", "Anna Bell told Tom Reed that she was thirty-five years old.", {"35"}),
    ],
)
def test_in_a_story_a_value_is_of_whom_the_sentence_names_last_before_it(town, whom, sentence, ages):
    assert given(town, whom, sentence, "prose", "age") == ages


@pytest.mark.parametrize(
    ("whom", "sentence", "place", "there"),
    [
        ("苏禾", "老梁从此搬到白鹭洲上去住，钥匙交给了苏禾。", "prose", set()),
        ("老梁", "老梁从此搬到白鹭洲上去住，钥匙交给了苏禾。", "prose", {"白鹭洲"}),
        ("苏禾", "- 描述：苏禾的哥哥，住在江城。", "other", set()),
        ("苏禾", "苏禾住在江城，老梁住在白鹭洲。", "prose", {"江城"}),
        ("苏禾", "- 描述：苏禾住在江城，他不肯搬。", "other", {"江城"}),
        ("苏禾", "苏禾的家在江城。", "prose", {"江城"}),
    ],
)
def test_where_somebody_else_lives_is_no_home(town, whom, sentence, place, there):
    names = {one.id: one.name for one in town.entities()}
    assert {names[one] for one in given(town, whom, sentence, place, "住处")} == there


@pytest.mark.parametrize(
    ("sentence", "values"),
    [
        ("是七岁那年留下的", {"reached:7"}),
        ("她从五岁起就跟着顾伯坐船", {"reached:5"}),
        ("苏禾十六岁的时候离了家", {"reached:16"}),
        ("那年苏禾五岁", {"reached:5"}),
        ("when she was five years old", {"reached:5"}),
        ("at the age of nineteen", {"reached:19"}),
        ("等到十八岁再说", set()),
        ("三十岁前后", set()),
        ("她才十六岁", {"years:16"}),
        ("刚满十六岁", {"years:16"}),
        ("- 年龄：16", {"years:16"}),
        ("- **年龄**：十六（虚岁）", {"years:16"}),
        ("- 年龄：16.5", set()),
        ("- 年龄：1980年生", set()),
    ],
)
def test_an_age_of_a_time_past_is_no_present_age_and_a_bare_number_is_one(town, sentence, values):
    with town._parts.project.view().corpus.tables() as tables:
        assert {one.text for one in located(tables, sentence, [], topic_of("年龄"))} == values


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
