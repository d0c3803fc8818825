"""What the matcher promises beyond the rows."""

import gc
import pickle
import time
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import rows

from armarius import EntityMatcher, Mention
from armarius.codex.model import Entity
from armarius.errors import ContractError
from armarius.text import Match

PEOPLE = [
    {"id": "c1", "name": "贾宝玉", "aliases": ["宝玉", "宝二爷"], "aiContextLevel": "always"},
    {"id": "c2", "name": "林黛玉", "aliases": ("黛玉",)},
    {"id": "c3", "name": "甄宝玉"},
]
TEXT = "宝玉见黛玉与甄宝玉来了，贾宝玉笑道"


def test_entities_may_be_objects_or_mappings():
    @dataclass
    class Thing:
        id: str
        name: str

    matcher = EntityMatcher(
        [Entity(id="a", name="宝玉", aliases=("宝二爷",)), Thing("b", "黛玉"), {"id": "c", "name": "x"}]
    )
    assert [m.entity_id for m in matcher.find_all("黛玉、宝二爷、X")] == ["b", "a", "c"]
    assert (len(matcher), matcher.entity_ids) == (3, ("a", "b", "c"))
    assert repr(matcher) == "EntityMatcher(3 entities, 4 aliases)"


def test_entries_with_the_same_id_are_one_entity():
    matcher = EntityMatcher([{"id": "a", "name": "宝玉"}, {"id": "a", "name": "宝二爷", "aliases": ["宝玉"]}])
    assert len(matcher) == 1
    assert [m.term for m in matcher.find_all("宝玉宝二爷")] == ["宝玉", "宝二爷"]


@rows("matching_matcher")
def test_entity_without_usable_names_is_refused_with_the_value(entity, message):
    with pytest.raises(ContractError, match=message):
        EntityMatcher([entity])


def test_detect_gives_each_entity_its_first_mention():
    assert EntityMatcher(PEOPLE).detect(TEXT) == [
        Match("c1", "宝玉", 0),
        Match("c2", "黛玉", 3),
        Match("c3", "甄宝玉", 6),
    ]


def test_find_overlapping_also_gives_the_names_inside_names():
    found = EntityMatcher(PEOPLE).find_overlapping("甄宝玉")
    assert found == [Mention("c3", "甄宝玉", 0, 3), Mention("c1", "宝玉", 1, 3)]


def test_explain_names_the_longer_name_or_the_word():
    matcher = EntityMatcher([*PEOPLE, {"id": "k", "name": "King", "aliases": ["王"]}])
    explained = [(r.entity_id, r.term, r.start, r.end, r.reason, r.by) for r in matcher.explain("甄宝玉 kingdom 👨")]
    assert explained == [("c1", "宝玉", 1, 3, "shadowed", "甄宝玉"), ("k", "king", 4, 8, "inside a word", None)]


def test_values_compare_hash_print_and_pickle_by_their_fields():
    mention = EntityMatcher(PEOPLE).find_all(TEXT)[0]
    assert mention == Mention("c1", "宝玉", 0, 2)
    assert mention != Mention("c1", "宝玉", 0, 3)
    assert mention != ("c1", "宝玉", 0, 2)
    assert hash(mention) == hash(Mention("c1", "宝玉", 0, 2))
    assert repr(mention) == "Mention(entity_id='c1', term='宝玉', start=0, end=2)"
    assert pickle.loads(pickle.dumps(mention)) == mention
    with pytest.raises(AttributeError):
        mention.start = 3


def test_batch_and_packed_equal_one_call_per_text():
    matcher = EntityMatcher(PEOPLE)
    texts = [TEXT, "", "ＴＯＭ", TEXT * 40, "宝二爷ß宝玉"]
    batch = matcher.find_batch(texts)
    assert batch == [matcher.find_all(text) for text in texts]
    packed = np.frombuffer(matcher.find_packed(texts), "<u4").reshape(-1, 4)
    expected = [
        (i, matcher.entity_ids.index(m.entity_id), m.start, m.end) for i, found in enumerate(batch) for m in found
    ]
    assert [tuple(row) for row in packed.tolist()] == expected


def test_long_text_without_the_gil_gives_the_same_answer():
    matcher = EntityMatcher(PEOPLE)
    assert len(matcher.find_all(TEXT * 10_000)) == 4 * 10_000


@pytest.mark.parametrize("call", ["find_all", "find_overlapping", "detect", "explain"])
def test_a_lone_surrogate_moves_nothing_and_hides_nothing(call):
    matcher = EntityMatcher(PEOPLE)
    assert getattr(matcher, call)("宝\ud800宝玉\ud800") == getattr(matcher, call)("宝。宝玉。")


@pytest.mark.parametrize("call", ["find_all", "find_overlapping", "detect", "explain"])
def test_what_is_no_text_is_refused_by_name(call):
    with pytest.raises(ContractError, match="text must be a text, got 5"):
        getattr(EntityMatcher(PEOPLE), call)(5)


@pytest.mark.parametrize("call", ["find_batch", "find_packed"])
def test_a_batch_takes_lone_surrogates_and_refuses_what_is_no_text_by_its_place(call):
    matcher = EntityMatcher(PEOPLE)
    assert getattr(matcher, call)(["宝玉\ud800", "宝玉"]) == getattr(matcher, call)(["宝玉。", "宝玉"])
    with pytest.raises(ContractError, match=r"texts\[1\] must be a text, got None"):
        getattr(matcher, call)(["宝玉", None])
    with pytest.raises(ContractError, match="texts must be several texts"):
        getattr(matcher, call)("宝玉")


def test_hundred_thousand_entities_are_found_each_by_its_name():
    names = [f"{chr(0x4E00 + i % 500)}{chr(0x5200 + i // 500)}号" for i in range(100_000)]
    matcher = EntityMatcher({"id": str(i), "name": name} for i, name in enumerate(names))
    sample = names[::997]
    assert [m.term for m in matcher.find_all("，".join(sample))] == sample


@given(st.permutations(PEOPLE), st.permutations(["宝玉", "甄宝玉", "黛玉", "，"]))
def test_order_of_entities_changes_nothing(people, parts):
    text = "".join(parts)
    assert EntityMatcher(people).find_all(text) == EntityMatcher(PEOPLE).find_all(text)


@pytest.mark.parametrize("call", ["find_all", "find_overlapping", "find_batch"])
def test_the_garbage_collector_runs_as_ever_while_many_mentions_are_made(call):
    matcher, text = EntityMatcher([{"id": "a", "name": "小雨"}]), "小雨" * 100_000
    collections = []
    gc.callbacks.append(lambda phase, _: collections.append(phase) if phase == "start" else None)
    try:
        found = getattr(matcher, call)([text] if call == "find_batch" else text)
    finally:
        gc.callbacks.pop()
    assert len(found[0] if call == "find_batch" else found) == 100_000
    assert len(collections) > 100_000 / gc.get_threshold()[0] / 2  # switched off, there is none


def test_building_is_linear_where_every_alias_is_the_beginning_of_others():
    def seconds(aliases):
        names = [f"别名{number}" for number in range(aliases)]
        took = []
        for _ in range(2):
            started = time.process_time()
            EntityMatcher([{"id": "a", "name": "白鹭", "aliases": names}])
            took.append(time.process_time() - started)
        return min(took)

    assert seconds(128_000) < 35 * seconds(16_000)  # eight times the aliases; it was sixty times the work


def test_every_one_of_many_numbered_aliases_is_found_as_itself():
    names = [f"别名{number}" for number in range(3_000)]
    matcher = EntityMatcher([{"id": name, "name": name} for name in names])
    assert [one.entity_id for one in matcher.find_all("，".join(names))] == names
    assert matcher.find_all("\xff\ufffd别") == []
