"""What of a document a bounded request may see."""

import pytest

from armarius.arguments import Bounds
from armarius.codex.cards import visible, visible_until, without_later
from armarius.documents.document import make_document
from armarius.trust.settings import Config

PROFILE = "# 人物\n\n## 小雨\n\n- 年龄：16\n- 第7章起：守灯塔\n  与白鹭同住\n- 第5-8章：在江城\n- 住处：江城\n"
OUTLINE = "# 大纲\n\n- 第一章 停摆\n- 第二章 卷宗\n- 第三章 雨夜\n\n## 结局\n\n灯灭了。\n"
BOOK = "# 第一章\n\n甲。\n\n# 第二章\n\n乙。\n\n# 第三章\n\n丙。\n"


def document(path, text):
    return make_document(path, text.encode(), config=Config())


def seen(path, text, **bounds):
    return visible(document(path, text), Bounds.of(**bounds)).text


@pytest.mark.parametrize(
    ("as_of", "told"),
    [(4, []), (5, ["在江城"]), (6, ["在江城"]), (7, ["守灯塔", "与白鹭同住", "在江城"])],
)
def test_what_a_profile_says_of_later_chapters_is_not_seen(as_of, told):
    shown = seen("人物.md", PROFILE, as_of=as_of)
    assert [words for words in ("守灯塔", "与白鹭同住", "在江城") if words in shown] == told
    assert "年龄：16" in shown
    assert "住处：江城" in shown


def test_what_stays_keeps_its_place():
    shown = seen("人物.md", PROFILE, as_of=4)
    assert len(shown) == len(PROFILE)
    assert all(own in (other, " ") for own, other in zip(shown, PROFILE, strict=True))


@pytest.mark.parametrize("label", ["From chapter 7", "Since Chapter VII", "第七章后", "（第7章起）", "After chapter 6"])
def test_a_label_of_a_later_chapter_is_one_in_either_language(label):
    line = f"- {label}: keeps the light\n- Age: 16\n"
    assert "light" not in without_later(line, 6)
    assert "Age: 16" in without_later(line, 6)


def test_a_profile_without_later_chapters_is_the_same_object():
    whole = document("人物.md", PROFILE)
    assert visible(whole, Bounds(as_of=7)) is whole
    assert visible(whole, Bounds()) is whole


def test_an_ending_without_a_number_is_as_late_as_the_lines_before_it():
    assert "灯灭了" not in seen("大纲.md", OUTLINE, as_of=2)
    assert "第二章" in seen("大纲.md", OUTLINE, as_of=2)
    assert "灯灭了" in seen("大纲.md", OUTLINE, as_of=3)


def test_of_a_file_of_several_chapters_those_within_the_bounds_are_seen():
    assert "".join(seen("book.md", BOOK, chapters=2).split()) == "#第二章乙。"
    assert "丙" not in seen("book.md", BOOK, as_of=2)
    assert "乙" in seen("book.md", BOOK, as_of=2)


def test_with_chapters_what_is_no_chapter_is_not_seen():
    assert not seen("人物.md", PROFILE, chapters=(1, 9)).strip()
    assert not seen("人物.md", PROFILE, kinds="chapter").strip()
    assert seen("人物.md", PROFILE, kinds="setting") == PROFILE


def test_what_may_be_read_of_an_open_document_ends_before_what_is_later():
    book = document("book.md", BOOK)
    assert BOOK[: visible_until(book, 2)].rstrip().endswith("乙。")
    assert visible_until(book, 3) == len(BOOK)
