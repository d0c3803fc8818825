"""One question in several wordings: what any of them finds counts, nonsense costs little, the record says which."""

from pathlib import Path

import pytest

import armarius
from armarius.arguments import GREATEST, MEAN, joined_scores

NOVEL = Path(__file__).parents[2] / "examples" / "novel"
ASKED = "who handed over the missing sheet"  # in no word of the book
WORDED = ["周远把第十八页交给林默", "周远交出第十八页"]
NONSENSE = ["银河系的税务表格", "quarterly zebra forecast", "量子咖啡机", "the moon landing budget"]


@pytest.fixture
def novel(tmp_path):
    with armarius.open(NOVEL, watch=False, index_dir=tmp_path) as engine:
        yield engine


def test_a_question_in_other_words_is_answered_by_the_wordings(novel):
    alone, asked = (novel.assemble(ASKED, budget=2000, also=also) for also in ([], WORDED))
    assert "chapters/ch005.md" not in alone.documents
    assert "chapters/ch005.md" in asked.documents
    found = [[hit.path for hit in novel.retrieve(ASKED, limit=2, also=also)] for also in ([], WORDED)]
    assert ["chapters/ch005.md" in paths for paths in found] == [False, True]


def test_wordings_are_looked_up_and_never_shown(novel):
    prompt = novel.assemble(ASKED, budget=2000, also=["周远把那张纸推过来。暗号七七八八"]).prompt
    assert ASKED in prompt
    assert "暗号七七八八" not in prompt


def test_nonsense_does_not_displace_what_the_question_found(novel):
    query = "周远在哪里交出了第十八页"
    best = novel.retrieve(query, limit=2)
    for also in (NONSENSE[:1], NONSENSE):
        assert [hit.path for hit in novel.retrieve(query, limit=2, also=also)] == [hit.path for hit in best]
        plain, asked = (novel.assemble(query, budget=1500, also=one).layers.retrieved.source for one in ([], also))
        assert len(set(plain) & set(asked)) >= 0.8 * len(plain)


def test_the_record_says_what_was_asked_with(novel):
    pack = novel.assemble(ASKED, budget=2000, also=WORDED)
    assert pack.request.also == tuple(WORDED)
    passage = next(item for item in pack.items if "ch005" in item.source)
    assert any(WORDED[0] in why.detail for why in passage.evidence)
    gone = novel.assemble(ASKED, budget=300, also=WORDED).why("chapters/ch005.md#7")
    assert any(WORDED[0] in one.detail for found in (*gone.items, *gone.omitted) for one in found.evidence)
    found = novel.retrieve(ASKED, also=WORDED)
    assert found.also == tuple(WORDED)
    assert any(f"asked as “{one}”" in reason.detail for one in WORDED for reason in found[0].evidence)


def test_a_search_finds_what_holds_any_and_puts_what_holds_several_first(novel):
    hits = novel.search("第十八页", also=["周远"], limit=100)
    assert {"第十八页", "周远"} <= {hit.text[start:end] for hit in hits for start, end in hit.highlights}
    assert "第十八页" in hits[0].text
    assert "周远" in hits[0].text
    assert len({(hit.path, hit.paragraph) for hit in hits}) == len(hits)


def test_additional_input_is_a_question_too(novel):
    assert novel.assemble(additional_input="灯塔", also=["白鹭洲"]).request.also == ("白鹭洲",)


def test_the_order_of_wordings_changes_nothing(novel):
    there = novel.assemble(ASKED, budget=2000, also=[*WORDED, *NONSENSE])
    back = novel.assemble(ASKED, budget=2000, also=[*NONSENSE[::-1], *WORDED[::-1]])
    assert there.prompt == back.prompt


def test_scores_join_by_their_mean_and_their_greatest():
    joined = joined_scores({"a": 2.0, "b": 1.0}, [{"a": 5.0, "c": 10.0}, {"b": 4.0}])
    half = MEAN / 2
    assert joined == pytest.approx(
        {"a": 1 + half * 0.5 + GREATEST * 0.5, "b": 0.5 + half + GREATEST, "c": half + GREATEST}
    )
    assert joined_scores({"a": 3.0}, []) == {"a": 3.0}
    assert joined_scores({}, [{"a": 0.0}]) == {"a": 0.0}


def test_a_lone_surrogate_is_no_word_of_a_search(novel):
    found = [hit.reference for hit in novel.search("灯塔")]
    assert [hit.reference for hit in novel.search("灯塔\ud800")] == found
    assert [hit.reference for hit in novel.search("灯塔", also=["\udfff"])] == found
    assert list(novel.search("\ud800")) == []
