import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import rows

from armarius.search.query.chapters import chapter_references

KNOWN = range(1, 121)


def numbers(query, current=None):
    return [list(reference.numbers) for reference in chapter_references(query, known=KNOWN, current=current)]


@rows("retrieval_chapters")
def test_a_question_names_these_chapters(query, expected):
    assert numbers(query) == expected


@rows("retrieval_chapters")
def test_relative_references_count_from_the_current_chapter(query, current, expected):
    assert numbers(query, current) == expected


@pytest.mark.parametrize("current", [None, 50, 120])
@rows("retrieval_chapters")
def test_the_last_chapters_are_the_last_that_there_are_whichever_is_open(query, expected, current):
    assert numbers(query, current) == expected


@pytest.mark.parametrize("current", [None, 50])
@rows("retrieval_chapters")
def test_a_chapter_behind_one_that_is_named_is_counted_from_that_one(query, expected, current):
    assert numbers(query, current) == expected


def test_a_numeral_in_digits_counts_chapters_as_one_in_characters_does():
    for words in ("前{}章", "最近{}章", "最后{}章", "开头的{}章"):
        assert numbers(words.format("3"), 50) == numbers(words.format("三"), 50) != [[3]]


def test_a_last_reel_that_is_a_thing_of_the_story_is_no_chapter():
    assert chapter_references("最后一卷胶片", known=KNOWN, is_content=lambda text: text.startswith("最后一卷")) == ()


@rows("retrieval_chapters")
def test_a_chapter_may_be_named_to_leave_it_out(query, wanted, excluded):
    found = chapter_references(query, known=KNOWN)
    assert [n for one in found if not one.excluded for n in one.numbers] == wanted
    assert [n for one in found if one.excluded for n in one.numbers] == excluded


def test_the_end_of_a_named_chapter_is_not_the_end_of_the_book():
    assert numbers("第3章结尾") == [[3]]


def test_relative_references_name_only_chapters_that_exist():
    assert [list(r.numbers) for r in chapter_references("最近三章", known=[2, 4], current=4)] == [[2, 4]]


@given(st.text(max_size=60))
def test_spans_lie_inside_the_question_and_do_not_overlap(query):
    end = 0
    for reference in chapter_references(query, known=KNOWN, current=7):
        assert end <= reference.start < reference.end <= len(query)
        end = reference.end
