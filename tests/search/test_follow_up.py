"""A question that leans on what was said, spelled out: who is meant, what is carried over, and what stays as it is."""

import pytest
from tests.rows import rows

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


@rows("retrieval_follow_up")
def test_a_pronoun_is_whom_the_conversation_is_about(said, query, spelled):
    assert asked(query, *said).asked == spelled


@rows("retrieval_follow_up")
def test_what_a_question_lacks_is_that_of_the_one_before(said, query, spelled):
    assert asked(query, *said).asked == spelled


@rows("retrieval_follow_up")
def test_a_thing_pointed_at_that_nobody_has_named_is_a_topic_of_its_own(said, query, carries):
    found = asked(query, *said)
    assert found.asked.endswith(query)
    assert (found.asked != query, bool(found.carried)) == (carries, carries)


@rows("retrieval_follow_up")
def test_he_and_she_are_two_people_and_a_turn_tells_which_somebody_is(said, query, spelled):
    assert asked(query, *said).asked == spelled


@rows("retrieval_follow_up")
@pytest.mark.parametrize("said", [("谁裁走了第十八页？", "阿青。"), ("Who is Ann Marlow?", "She keeps the inn.")])
def test_a_question_that_names_its_own_topic_carries_nothing(query, said):
    found = asked(query, *said)
    assert (found.asked, found.carried) == (query, ())


@rows("retrieval_follow_up")
def test_a_word_for_what_somebody_else_has_is_no_topic(query):
    assert asked(query, "Why did Ann leave the valley?").carried


@rows("retrieval_follow_up")
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


@rows("retrieval_follow_up")
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
