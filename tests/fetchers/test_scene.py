"""Who of those named around the cursor has a card."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius._core import Speech
from armarius.codex import Codex, Entity
from armarius.prompt.fetchers.detected import MOST, RetrievedFetcher, find_present
from armarius.prompt.fetchers.entities import CodexSource
from armarius.text.matcher import EntityMatcher
from armarius.types import FetchRequest

PEOPLE = [Entity(f"e{n}", name, "character") for n, name in enumerate(("林雨桐", "周默", "沈望舒", "何天明"))]
FAR = "山" * 700
CASES = json.loads((Path(__file__).parents[1] / "cases" / "scene.json").read_text("utf-8"))


def fetched(entities, **values):
    return RetrievedFetcher(CodexSource(Codex(tuple(entities)))).fetch(FetchRequest("p", **values))


def cards(answer):
    return [item.source.removeprefix("codex:detected:") for item in answer.candidates]


@pytest.mark.parametrize(
    ("text", "matters"),
    [
        ("林雨桐在。", True),
        (f"{FAR}林雨桐在。", False),
        (f"{FAR}林雨桐道：“走。”", True),
        (f"{FAR}“走。”林雨桐笑道。", True),
        (f"{FAR}林雨桐在。林雨桐去。林雨桐来。", True),
        (f"{'x ' * 400}“Go,” said 林雨桐.", True),
    ],
)
def test_a_name_matters_that_is_near_speaks_or_comes_again(text, matters):
    assert (cards(fetched(PEOPLE, document="a.md", text=text)) == ["e0"]) is matters


def test_a_name_in_passing_has_no_card_and_is_listed_with_the_reason():
    answer = fetched(PEOPLE, text=f"林雨桐在。{FAR}周默在。", document="a.md", cursor=0)
    assert cards(answer) == ["e0"]
    gone = [(one.source, one.reason, one.detail) for one in answer.omitted if one.reason == "excluded"]
    assert gone == [("codex:detected:e1", "excluded", "named in passing, away from the cursor")]


def test_what_the_user_or_the_selection_names_always_has_a_card():
    text = f"{FAR}周默在，沈望舒在，何天明在。"
    answer = fetched(PEOPLE, query="周默是谁", additional_input="沈望舒", text=text, document="a.md", cursor=0)
    assert cards(answer) == ["e1", "e2"]


def test_the_six_that_matter_most_have_a_card_of_the_scene():
    crowd = [Entity(f"c{n}", f"{name}明远", "character") for n, name in enumerate("赵钱孙李周吴郑王")]
    text = "".join(f"{one.name}在。" * (2 if one.id in ("c6", "c7") else 1) for one in crowd)
    answer = fetched(crowd, text=text, document="a.md", cursor=0)
    assert sorted(cards(answer)) == ["c0", "c1", "c2", "c3", "c6", "c7"]
    gone = {one.id: one.detail for one in answer.omitted if one.reason == "excluded"}
    assert gone == dict.fromkeys(("entity:c4", "entity:c5"), f"{MOST} others matter more to the scene")


@given(
    st.lists(
        st.tuples(st.sampled_from(["", "周默", "林雨桐和何天明", "x"]), st.integers(0, 30), st.booleans()), max_size=12
    )
)
def test_a_scene_that_was_read_before_reads_as_it_does_the_first_time(asked):
    text = "周默笑道：“林雨桐来了。”沈望舒在旁边坐着，老周没有来。"
    standing = RetrievedFetcher(CodexSource(Codex(tuple(PEOPLE))))
    for query, cursor, longer in asked:
        request = FetchRequest("p", query=query, document="a.md", text=text * (1 + longer), cursor=cursor)
        assert standing.fetch(request) == RetrievedFetcher(CodexSource(Codex(tuple(PEOPLE)))).fetch(request)


@pytest.mark.parametrize("row", CASES["rows"], ids=lambda row: row["says"])
def test_the_core_reads_a_scene_as_its_rows_say(row):
    matcher = EntityMatcher([{"id": id_, "name": name, "aliases": more} for id_, (name, *more) in row["entities"]])
    named, hidden = matcher.scene(row["text"], tuple(row["near"]), Speech(CASES["han"], CASES["latin"]))
    assert [[one.entity_id, *rest, one.start] for one, *rest in named] == row["named"]
    assert [list(one) for one in hidden] == row["hidden"]


PIECES = [
    *[
        "林雨桐",
        "雨桐",
        "沈",
        "沈望舒",
        "道",
        "笑道",
        "。",
        "说",
        "x",
        " ",
        "said ",
        "asked",
        "told",
        "\u0301",
        "Ⓐ",
        "_",
        ", ",
        "Pip",
        "Joe",
        "-",
        "’s",
        "\n",
        "½",
    ],
    "山" * 20,
]
SAID = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@given(SAID, st.integers(-700, 700))
def test_the_core_reads_a_scene_as_the_mentions_of_its_matcher_are_read(text, cursor):
    people = [
        *PEOPLE,
        Entity("s", "雨桐", "character"),
        Entity("t", "沈", "character", aliases=("Joe",)),
        Entity("u", "Pip", "character", aliases=("Joe",)),
    ]
    matcher = EntityMatcher(people)
    mentions = matcher.find_all(text)
    firsts, counts, weight, hidden = find_present(text, cursor, matcher)
    assert counts == Counter(one.entity_id for one in mentions)
    assert firsts == {one.entity_id: one for one in reversed(mentions)}
    assert weight.keys() == counts.keys()
    shadowed = [one for one in matcher.explain(text) if one.reason == "shadowed" and one.entity_id not in counts]
    assert hidden == {one.entity_id: f"{one.term} inside {one.by}" for one in shadowed}
