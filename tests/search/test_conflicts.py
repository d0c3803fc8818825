"""What is said of one attribute, and nothing that is said of another."""

import os
import subprocess
import sys

import pytest
from tests.rows import rows

import armarius
from armarius.search.contradictions.values import topic_of, values_at

from .conftest import write

TOWN = {
    "chapters/第一章.md": (
        "# 第一章 潮声\n\n砚青正在擦灯。她用左手按着灯罩，缺了一截的小指从来不碰玻璃。\n\n"
        "顾砚青今年三十二岁，一双眼睛黑得像井水，看人时一动不动。\n"
    ),
    "chapters/第二章.md": "# 第二章 归船\n\n砚青提着灯下楼，砚青没有说话。船靠岸的时候，砚青先看见了帆。\n",
    "spec/人物.md": (
        "# 人物\n\n## 顾砚青\n\n- 类型：人物\n- 年龄：二十七岁\n- 眼睛：灰色\n- 描述：左手缺一截小指，爱喝凉茶。\n\n"
        "## 罗九\n\n- 类型：人物\n- 描述：船夫。\n"
    ),
}


@pytest.fixture
def town(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    with armarius.open(write(tmp_path / "town", TOWN), watch=False) as engine:
        yield engine


def test_a_short_name_that_is_found_in_the_text_is_a_name_to_ask_by(town):
    assert [one.entity_id for one in town.detect("砚青")] == [one.id for one in town.entities() if one.name == "顾砚青"]
    assert town.evidence("砚青", attribute="年龄") == town.evidence("顾砚青", attribute="年龄") != []


def test_the_table_of_evidence_is_the_same_in_every_process(town):
    shown = set()
    for seed in ("1", "2", "5"):
        command = [sys.executable, "-m", "armarius", "evidence", str(town.root), "顾砚青"]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        shown.add(subprocess.run(command, capture_output=True, env=environment, check=True).stdout)
    assert len(shown) == 1
    assert "年龄".encode() in shown.pop()


COAST = {
    "chapters/chapter-01.md": (
        "# Chapter 1: Tide\n\nHarriet Vane showed him the chart. At forty-one she had learned to wait; "
        "her brown eyes rested on the green sea.\n\nTobias Crane was a man of forty, and tired.\n"
    ),
    "notes/characters.md": (
        "# Characters\n\n## Harriet Vane\n\n- Type: character\n- Age: 34\n- Eyes: green\n"
        "- Description: Methodical, left-handed.\n\n"
        "## Tobias Crane\n\n- Type: character\n- Age: 40\n- Eyes: brown\n"
    ),
}


@pytest.fixture
def coast(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    with armarius.open(write(tmp_path / "coast", COAST), watch=False) as engine:
        yield engine


@pytest.mark.parametrize(("attribute", "values"), [("眼睛", {"eye:grey", "eye:black"}), ("eye colour", None)])
def test_a_part_of_the_body_is_a_topic_of_its_own(town, attribute, values):
    said = town.evidence("顾砚青", attribute=attribute)
    assert [one.text for one in said if "小指" in one.text] == []
    assert {value for one in said for value in one.values} == (values or {"eye:grey", "eye:black"})
    assert [len(one.competes_with) for one in said] == [1, 1]


@pytest.mark.parametrize("attribute", ["鞋子", "hair", "头发", "shoes", "疤痕", "nonsense"])
def test_an_attribute_that_nothing_speaks_of_gives_nothing(town, coast, attribute):
    assert town.evidence("顾砚青", attribute=attribute) == []
    assert coast.evidence("Harriet Vane", attribute=attribute) == []


def test_sentences_about_one_hand_agree(town):
    said = town.evidence("顾砚青", attribute="手")
    assert {one.reference for one in said} == {"spec/人物.md#顾砚青", "chapters/第一章.md"}
    assert not any(one.competes_with for one in said)


def test_the_other_hand_competes_only_where_the_same_is_told_of_it(tmp_path):
    chapter = "# 第一章\n\n顾砚青的右手缺了一截小指。\n\n顾砚青用右手提着灯。\n"
    with armarius.open(write(tmp_path / "hands", {**TOWN, "chapters/第一章.md": chapter}), watch=False) as engine:
        said = engine.evidence("顾砚青", attribute="手")
    assert {one.text for one in said if one.competes_with} == {
        "- 描述：左手缺一截小指，爱喝凉茶。",
        "顾砚青的右手缺了一截小指。",
    }


def test_an_english_chapter_that_speaks_of_she_disputes_age_and_eyes_unasked(coast):
    said = coast.evidence("Harriet Vane")
    disputed = {name: one.values for one in said for name in one.attributes if one.chapter == 1}
    assert disputed == {"age": {"reached:41"}, "appearance": {"eye:brown"}}
    assert not any(one.competes_with for one in coast.evidence("Tobias Crane"))


@rows("retrieval_conflicts")
def test_ages_are_read_as_english_spells_them_and_other_numbers_are_not(coast, sentence, values):
    values = {*values}
    view = coast._parts.project.view()
    with view.corpus.acquire() as corpus:
        assert {one.text for one in values_at(corpus, sentence, [], topic_of("age"))} == values


def test_an_age_long_past_does_not_compete_with_a_later_one(tmp_path):
    past = COAST["chapters/chapter-01.md"].replace("forty-one", "nineteen")
    with armarius.open(write(tmp_path / "past", {**COAST, "chapters/chapter-01.md": past}), watch=False) as engine:
        assert not any(one.competes_with for one in engine.evidence("Harriet Vane", attribute="age"))


@rows("retrieval_conflicts")
def test_a_colour_is_that_of_the_thing_beside_it(coast, sentence, values):
    with coast._parts.project.view().corpus.acquire() as corpus:
        assert {one.text for one in values_at(corpus, sentence, [], topic_of("appearance"))} == {*values}


LAME = (
    "# People\n\n## Tom Rudd\n\n- Type: character\n- Description: lame in the left leg.\n- Eyes: brown\n\n"
    "## Ada Finch\n\n- Type: character\n- Description: blind in the right eye.\n"
)


@pytest.mark.parametrize(
    ("said", "attributes"),
    [
        ("Tom Rudd limped across the yard, his right foot dragging.", {"infirmity"}),
        ("Tom Rudd limped across the yard on his bad left foot.", set()),
        ("Tom Rudd limped home and rubbed his right ear.", set()),
        ("Ada Finch was blind in the left eye, and saw him.", {"infirmity"}),
        ("Tom Rudd had eyes of a startling violet.", {"appearance"}),
        ("Tom Rudd wept until his eyes were red.", set()),
        ("Her violet eyes rested on Tom Rudd.", set()),
        ("Tom Rudd's hazel-brown eyes were wet.", set()),
    ],
)
def test_a_chapter_disputes_which_side_is_lame_or_blind_and_what_colour_eyes_have(tmp_path, said, attributes):
    pages = {"notes/people.md": LAME, "chapters/01.md": f"# Chapter 1\n\n{said}\n"}
    with armarius.open(write(tmp_path / "lame", pages), watch=False) as engine:
        people = [one.id for one in engine.entities()]
        assert {name for one in people for said in engine.evidence(one) for name in said.attributes} == attributes


@pytest.mark.parametrize(
    ("said", "attributes"),
    [
        ("老秦瘸着右腿下了楼。", {"infirmity"}),
        ("老秦一瘸一拐，左脚拖在后面。", set()),
        ("老秦的眼睛是琥珀色的。", {"appearance"}),
        ("老秦的眼睛灰蓝，望着江。", set()),
        ("她紫色的眼睛盯着老秦。", set()),
        ("老秦翻了个白眼。", set()),
    ],
)
def test_a_chinese_chapter_disputes_the_same(tmp_path, said, attributes):
    profile = "# 人物\n\n## 老秦\n\n- 类型：人物\n- 描述：船厂的老工人，左腿跛了。\n- 眼睛：灰色\n"
    with armarius.open(write(tmp_path / "lame", {"人物.md": profile, "正文/第1章.md": f"# 第1章\n\n{said}\n"}),
                       watch=False) as engine:  # fmt: skip
        assert {name for one in engine.evidence("老秦") for name in one.attributes} == attributes


LOST = "# People\n\n## Tom Rudd\n\n- Type: character\n- Description: {}\n\n## 老秦\n\n- 类型：人物\n- 描述：{}\n"


def disputed(tmp_path, english, chinese, said):
    pages = {"notes/people.md": LOST.format(english, chinese), "chapters/01.md": f"# Chapter 1\n\n{said}\n"}
    with armarius.open(write(tmp_path / "lost", pages), watch=False) as engine:
        return {name for one in engine.entities() for said in engine.evidence(one.id) for name in said.attributes}


@pytest.mark.parametrize(
    ("said", "attributes"),
    [
        ("Tom Rudd, who had lost his right arm, laughed.", {"infirmity"}),
        ("Tom Rudd lost his left arm in the war.", set()),
        ("Tom Rudd raised his right arm.", set()),
        ("老秦失去了右臂。", {"infirmity"}),
        ("老秦断了右臂，只能用一只手。", {"infirmity"}),
        ("老秦抬起右臂。", set()),
    ],
)
def test_a_chapter_disputes_which_arm_somebody_has_lost(tmp_path, said, attributes):
    assert disputed(tmp_path, "He lost his left arm at sea.", "出海时失去了左臂。", said) == attributes


@pytest.mark.parametrize(
    ("said", "attributes"),
    [
        ("Tom Rudd's eyes, green as the sea, were wet.", {"appearance"}),
        ("Tom Rudd looked up, his eyes green and cold.", {"appearance"}),
        ("Tom Rudd was a man with green eyes.", {"appearance"}),
        ("Tom Rudd rubbed his eyes, green leaves in his hair.", set()),
        ("老秦的眼睛，绿得像海水。", {"appearance"}),
        ("老秦看着自己绿色的眼睛。", {"appearance"}),
    ],
)
def test_eyes_have_the_colour_behind_a_comma_but_not_that_of_the_next_thing(tmp_path, said, attributes):
    assert disputed(tmp_path, "with brown eyes.", "灰色的眼睛。", said) == attributes


@pytest.mark.parametrize(
    "said",
    [
        "Tom Rudd met the stranger's green eyes.",
        "Tom Rudd met the green eyes of the stranger.",
        "Tom Rudd saw a man with green eyes.",
        "Tom Rudd watched the innkeeper limp on his right leg.",
        "The innkeeper was lame in the right leg, Tom Rudd noticed.",
        "Tom Rudd loved the girl, whose eyes were green.",
        "The girl, whose eyes were green, gave Tom Rudd the bread.",
        "老秦看着那个陌生人绿色的眼睛。",
        "老秦看见一个绿眼睛的男人。",
        "老秦看着掌柜瘸着右腿走来。",
        "那姑娘的眼睛是绿色的，老秦很喜欢。",
    ],
)
def test_a_bystander_without_a_profile_disputes_nothing(tmp_path, said):
    assert disputed(tmp_path, "lame in the left leg, with brown eyes.", "左腿跛了，灰色的眼睛。", said) == set()
