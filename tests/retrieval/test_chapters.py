import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.search.query.chapters import chapter_references

KNOWN = range(1, 121)


def numbers(query, current=None):
    return [list(reference.numbers) for reference in chapter_references(query, known=KNOWN, current=current)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("检查第3章的角色一致性", [[3]]),
        ("第三回宝玉说了什么", [[3]]),
        ("第一百零五回", [[105]]),
        ("第5到8回", [[5, 6, 7, 8]]),
        ("第二十到二十二回", [[20, 21, 22]]),
        ("第1、3章", [[1, 3]]),
        ("第1、3和7章", [[1, 3, 7]]),
        ("对比第27回和第28回", [[27, 28]]),
        ("12章里", [[12]]),
        ("Chapter 3", [[3]]),
        ("chapters 3 to 5 and 8", [[3, 4, 5, 8]]),
        ("第2話で健太は何をしましたか", [[2]]),
        ("2장에서 준호는 무엇을 했나", [[2]]),
        ("제3장과 제5장", [[3, 5]]),
        ("Que fait Marc au chapitre 2 ?", [[2]]),
        ("chapitres 2 et 4", [[2, 4]]),
        ("Was geschieht in Kapitel 3 bis 5?", [[3, 4, 5]]),
        ("el capítulo 7", [[7]]),
        ("Что делает Марк в главе 2?", [[2]]),
        ("главы 2 и 3", [[2, 3]]),
        ("chapter twelve", [[12]]),
        ("chapters two and four", [[2, 4]]),
        ("chapters two, three and twenty-one", [[2, 3, 21]]),
        ("chapters two to four and six", [[2, 3, 4, 6]]),
        ("chapters one hundred and two and four", [[102, 4]]),
        ("in Chapter IV", [[4]]),
        ("the third chapter", [[3]]),
        ("ch. 4", [[4]]),
        ("前三章", [[1, 2, 3]]),
        ("the first two chapters", [[1, 2]]),
        ("最后两章", [[119, 120]]),
        ("小说开头是怎么写的", [[1]]),
        ("全书结尾", [[120]]),
        ("第一次进城", []),
        ("第二个人是谁", []),
        ("她是第三者", []),
        ("a chapter of accidents", []),
    ],
)
def test_a_question_names_these_chapters(query, expected):
    assert numbers(query) == expected


@pytest.mark.parametrize(
    ("query", "current", "expected"),
    [
        ("前一章", 50, [[49]]),
        ("上一回", 50, [[49]]),
        ("下一章", 50, [[51]]),
        ("这一章", 50, [[50]]),
        ("最近三章", 50, [[48, 49, 50]]),
        ("the last two chapters", 50, [[49, 50]]),
        ("the previous chapter", 50, [[49]]),
        ("最近三章", None, [[118, 119, 120]]),
        ("前一章", None, [[]]),
        ("前一章", 1, [[]]),
        ("此话怎讲", 50, []),
        ("上回他来的时候", 50, []),
        ("落下幕布", 50, []),
    ],
)
def test_relative_references_count_from_the_current_chapter(query, current, expected):
    assert numbers(query, current) == expected


@pytest.mark.parametrize("current", [None, 50, 120])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("最后一章发生了什么", [[120]]),
        ("这是最后一章吗", [[120]]),
        ("最末一章", [[120]]),
        ("末章", [[120]]),
        ("最後一章", [[120]]),
        ("最后一回", [[120]]),
        ("检查最后两章", [[119, 120]]),
        ("最后2章", [[119, 120]]),
        ("what happens in the last chapter?", [[120]]),
        ("the final two chapters", [[119, 120]]),
        ("岁末一回家就病了", []),
    ],
)
def test_the_last_chapters_are_the_last_that_there_are_whichever_is_open(query, expected, current):
    assert numbers(query, current) == expected


@pytest.mark.parametrize("current", [None, 50])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("第一章之后一章讲什么", [[2]]),
        ("第1章之后2章", [[2, 3]]),
        ("第三章的前一章", [[2]]),
        ("第五章前面的两章", [[3, 4]]),
        ("第九回下一回", [[10]]),
        ("第一百二十章之后一章", [[]]),
        ("第一百三十章之后一章", [[130]]),
        ("第三章之后，第五章之前", [[3], [5]]),
        ("第三章前一天晚上", [[3]]),
    ],
)
def test_a_chapter_behind_one_that_is_named_is_counted_from_that_one(query, expected, current):
    assert numbers(query, current) == expected


def test_a_numeral_in_digits_counts_chapters_as_one_in_characters_does():
    for words in ("前{}章", "最近{}章", "最后{}章", "开头的{}章"):
        assert numbers(words.format("3"), 50) == numbers(words.format("三"), 50) != [[3]]


def test_a_last_reel_that_is_a_thing_of_the_story_is_no_chapter():
    assert chapter_references("最后一卷胶片", known=KNOWN, is_content=lambda text: text.startswith("最后一卷")) == ()


@pytest.mark.parametrize(
    ("query", "wanted", "excluded"),
    [
        ("除了第三章", [], [3]),
        ("除了最后一章", [], [120]),
        ("第三章以外", [], [3]),
        ("除了第3到5章以外哪里提到钥匙", [], [3, 4, 5]),
        ("第1到4章，除了第2章", [1, 2, 3, 4], [2]),
        ("where is the key, except in chapter 3", [], [3]),
        ("any chapter other than chapters two and four", [], [2, 4]),
        ("alles außer Kapitel 3", [], [3]),
        ("第三章之外套", [3], []),
        ("without exception, chapter 3", [3], []),
    ],
)
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
