"""A question that leans on what was said, spelled out: who is meant, what is carried over, and what stays as it is."""

import pytest

from armarius import EntityMatcher
from armarius.arguments import read_messages
from armarius.codex import Codex
from armarius.codex.model import Entity, Relation
from armarius.search.query.coreference import cast_of
from armarius.search.query.follow_up import follow_up

PEOPLE = (
    Entity("ann", "Ann Marlow", "character", ("Ann",), attributes={"gender": "female"}),
    Entity("tom", "Tom Hale", "character", ("Tom",), "A miller. He keeps bees."),
    Entity("ben", "Ben Hale", "character", ("Ben",), attributes={"gender": "male"}),
    Entity("pat", "Pat Reed", "character", ("Pat",)),
    Entity("mill", "Grey Mill", "location"),
    Entity("bell", "silver bell", "item"),
    Entity("qing", "阿青", "character", (), "渡口的姑娘"),
    Entity("song", "宋岩", "character", (), "茶馆掌柜"),
    Entity("tea", "望江茶馆", "location", ("茶馆",)),
)
CODEX = Codex(PEOPLE, (Relation("song", "qing", "父女"),))
MATCHER = EntityMatcher(CODEX.entities)
CAST = cast_of(CODEX)


def asked(query, *said):
    turns = [("user" if at % 2 == 0 else "assistant", text) for at, text in enumerate(said)]
    return follow_up(query, read_messages(turns), matcher=MATCHER, cast=CAST)


@pytest.mark.parametrize(
    ("said", "query", "spelled"),
    [
        (["Where does Ann live?", "At the mill."], "How old is she?", "How old is Ann Marlow?"),
        (["Did Tom see Ann?"], "Where does he work?", "Where does Tom Hale work?"),
        (["Did Tom see Ann?"], "Where does she work?", "Where does Ann Marlow work?"),
        (["Who rang the silver bell?", "Ben did."], "Why did he leave?", "Why did Ben Hale leave?"),
        (["Where is Ann?", "Ben took her to Grey Mill."], "What grows there?", "What grows Grey Mill?"),
        (["Where does Ann live?"], "What is her father called?", "What is Ann Marlow's father called?"),
        (["Did Tom quarrel with Ben?"], "Did they make peace?", "Did Tom Hale and Ben Hale make peace?"),
        (["Tell me about Ann.", "She met Tom."], "Did Ben like her?", "Did Ben like Ann Marlow?"),
        (["宋岩是谁？", "茶馆的掌柜。"], "他的女儿叫什么？", "宋岩的女儿叫什么？"),
        (["阿青是谁？", "宋岩的女儿。"], "她住哪？", "阿青住哪？"),
        (["阿青和宋岩吵架了吗？"], "他们后来和好了吗？", "阿青和宋岩后来和好了吗？"),
        (["宋岩在茶馆做什么？"], "那里有谁？", "望江茶馆有谁？"),
    ],
)
def test_a_pronoun_is_whom_the_conversation_is_about(said, query, spelled):
    assert asked(query, *said).asked == spelled


@pytest.mark.parametrize(
    ("said", "query", "spelled"),
    [
        (["Where does Ann live?"], "And Tom?", "Where does Tom Hale live?"),
        (["阿青住在哪里？"], "宋岩呢？", "宋岩住在哪里？"),
        (["Why was the silver bell sold?"], "And then?", "Why was the silver bell sold? And then?"),
        (["茶馆为什么关门？", "因为涨水。"], "那后来呢？", "茶馆为什么关门？ 因为涨水 那后来呢？"),
        (["阿青为什么离开？"], "住哪？", "阿青 住哪？"),
        (
            ["Who sold the bell?", "Tom."],
            "Why did he do it?",
            "Who sold the bell? Why did Tom Hale do it?",
        ),
    ],
)
def test_what_a_question_lacks_is_that_of_the_one_before(said, query, spelled):
    assert asked(query, *said).asked == spelled


@pytest.mark.parametrize(
    ("said", "query", "carries"),
    [
        (["谁是阿青的爷爷？", "宋岩"], "那只表在哪里", False),
        (["谁是阿青的爷爷？", "宋岩"], "那封信是谁写的？", False),
        (["谁是阿青的爷爷？", "宋岩"], "那家当铺在哪里？", False),
        (["谁买了怀表？", "宋岩"], "那只表在哪里", True),
        (["谁送来了信？", "宋岩"], "那封信写了什么？", True),
        (["谁送来了信？", "一个船夫，还带着一只箱子。"], "那只箱子在哪里？", True),
        (["谁买了怀表？", "宋岩"], "那只呢", True),
        (["谁买了怀表？", "宋岩"], "那封信呢？", True),
        (["谁送来了信和钱？", "宋岩"], "那些东西在哪？", True),
    ],
)
def test_a_thing_pointed_at_that_nobody_has_named_is_a_topic_of_its_own(said, query, carries):
    found = asked(query, *said)
    assert found.asked.endswith(query)
    assert (found.asked != query, bool(found.carried)) == (carries, carries)


@pytest.mark.parametrize(
    ("said", "query", "spelled"),
    [
        (["Who is Pat?", "She keeps the inn."], "Where does she live?", "Where does Pat Reed live?"),
        (["Who is Pat?", "She keeps the inn."], "What did he say to her?", "What did he say to Pat Reed?"),
        (["Who is Pat?", "She keeps the inn."], "Where was he born?", "Where was he born?"),
        (["Who is Ann?"], "Where was he born?", "Where was he born?"),
        (
            ["Who is Pat?", "He keeps the inn.", "And Ann?"],
            "What did she tell him?",
            "What did Ann Marlow tell Pat Reed?",
        ),
        (["Who is Ann?", "A girl.", "Who is Pat?"], "What did he tell her?", "What did Pat Reed tell Ann Marlow?"),
        (["Who is Pat?", "An innkeeper."], "What did he tell her?", "What did he tell her?"),
        (["Who is Ann?", "Pat says she keeps bees.", "And Pat?"], "Where was he born?", "Where was Pat Reed born?"),
    ],
)
def test_he_and_she_are_two_people_and_a_turn_tells_which_somebody_is(said, query, spelled):
    assert asked(query, *said).asked == spelled


@pytest.mark.parametrize(
    "query",
    [
        "灯塔在哪里？",
        "那灯塔在哪里？",
        "灯塔是谁修的？",
        "宋岩是怎么来的？",
        "Where is the lighthouse?",
        "Where was the barrel?",
        "And where was the barrel?",
        "Is there a lighthouse?",
        "Where is Quay Street?",
        "And where does Tom live?",
    ],
)
@pytest.mark.parametrize("said", [("谁裁走了第十八页？", "阿青。"), ("Who is Ann Marlow?", "She keeps the inn.")])
def test_a_question_that_names_its_own_topic_carries_nothing(query, said):
    found = asked(query, *said)
    assert (found.asked, found.carried) == (query, ())


@pytest.mark.parametrize(
    "query",
    [
        "Was there a reason?",
        "Any children?",
        "What colour?",
        "What about the barrel?",
        "Why Tom?",
        "名字是谁起的？",
        "原因是什么？",
        "出生在哪里？",
        "灯塔呢？",
        "妹妹是谁？",
        "为什么是宋岩？",
    ],
)
def test_a_word_for_what_somebody_else_has_is_no_topic(query):
    assert asked(query, "Why did Ann leave the valley?").carried


@pytest.mark.parametrize(
    "query",
    [
        "Why did Tom sell his bees?",  # his own
        "Who is the miller of the valley?",
        "Is there a bridge over the river at the village?",
        "Where did the miller put the key when it was found?",
        "其他人去了哪里看戏？",
        "渡口的石阶为什么塌了？",
        "检查第三章的一致性",
    ],
)
def test_a_question_with_words_enough_of_its_own_stays_as_it_is(query):
    found = asked(query, "Where does Ann live?", "With Ben at Grey Mill.")
    assert (found.asked, found.carried) == (query, ())


def test_the_record_says_what_was_carried_over_and_from_which_turn():
    assert asked("How old is she?", "Who is Ann?", "A girl.", "And Tom?", "A miller.").carried == (
        "follow-up: she → Ann Marlow, from turn 1",
    )
    assert asked("And Tom?", "Where does Ann live?").carried == (
        "follow-up: “Where does Ann live?” with Tom Hale for Ann, from turn 1",
    )
    assert asked("那后来呢？", "茶馆为什么关门？").carried == ("follow-up: asked with “茶馆为什么关门？”, from turn 1",)


def test_a_gender_that_only_a_relation_tells_counts():
    assert {id_: CAST[id_].gender for id_ in ("song", "qing", "tom")} == {"song": "m", "qing": "f", "tom": "m"}


@pytest.mark.parametrize(
    ("names", "description", "gender"),
    [
        (("Moll Grey",), "keeps the inn since her husband drowned", "f"),
        (("Moll Grey", "the widow"), "keeps the inn", "f"),
        (("Jem Grey",), "was brought up by his grandmother", "m"),
        (("Jem Grey",), "her younger brother, a sailor", "m"),
        (("Jem Grey",), "the brother of a queen", "m"),
        (("Jem Grey", "the notary"), "a notary", ""),
    ],
)
def test_a_kin_word_behind_her_or_his_is_somebody_else(names, description, gender):
    one = Entity("x", names[0], "character", names[1:], description)
    assert cast_of(Codex((one,), ()))["x"].gender == gender


def test_follow_ups_of_follow_ups_keep_to_the_last_question_with_words():
    said = ["Why was the silver bell sold?", "For money.", "And then?", "It was melted."]
    assert "silver bell" in asked("And after that?", *said).asked


def test_only_the_newest_turns_are_heard():
    long_ago = ["Where does Ann live?", "At the mill."] + ["What of the weather in spring?", "Mild."] * 12
    assert asked("How old is she?", *long_ago).asked.endswith("How old is she?")


def test_a_page_that_was_pasted_is_heard_and_is_no_follow_up():
    page = "It rained. " * 100
    assert asked(page, "Where does Ann live?").asked == page
    assert "Ann Marlow" in asked("How old is she?", "Ann walked on. " + page).asked
