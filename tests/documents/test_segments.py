from hypothesis import given
from hypothesis import strategies as st

from armarius.documents.segments import PARAGRAPH_LIMIT, split_code, split_prose


def shown(text, **options):
    return [(p.role[0], text[p.start : p.end]) for p in split_prose(text, **options)]


def test_headings_are_paragraphs_and_give_the_path_of_what_follows():
    text = "# 人物\n\n## 林黛玉\n- 别名：颦儿\n- 住处：潇湘馆\n\n## 贾宝玉\n话。\n"
    paragraphs = split_prose(text)
    assert shown(text) == [
        ("h", "# 人物"), ("h", "## 林黛玉"), ("b", "- 别名：颦儿\n- 住处：潇湘馆"), ("h", "## 贾宝玉"), ("b", "话。"),
    ]  # fmt: skip
    assert [p.heading_path for p in paragraphs] == [
        ("人物",), ("人物", "林黛玉"), ("人物", "林黛玉"), ("人物", "贾宝玉"), ("人物", "贾宝玉"),
    ]  # fmt: skip


def test_line_breaks_part_chinese_prose_but_not_wrapped_english():
    assert [t for _, t in shown("他走了。\n她也走了。\r\n　　没有人说话\n　　天黑了。")] == [
        "他走了。", "她也走了。", "没有人说话", "天黑了。",
    ]  # fmt: skip
    assert [t for _, t in shown("It was late.\nThe rain fell\non the hill.\n\nMorning came.")] == [
        "It was late.\nThe rain fell\non the hill.",
        "Morning came.",
    ]


def test_plain_chapter_lines_are_headings_and_sentences_are_not():
    text = "第一卷 山雨\n第一回 来客\n正文一。\n第二回 去客\n第二回讲完以后，他走了。\n正文二。"
    assert [(p.role[0], p.heading_path[-1], p.chapter) for p in split_prose(text)] == [
        ("h", "第一卷 山雨", None), ("h", "第一回 来客", 1), ("b", "第一回 来客", 1), ("h", "第二回 去客", 2),
        ("b", "第二回 去客", 2), ("b", "第二回 去客", 2),
    ]  # fmt: skip
    english = "CHAPTER I\n\nThe Hill\n\nChapter 3 was the one she remembered best.\n\nChapter Two: Home\n\nEnd"
    assert [t for r, t in shown(english) if r == "h"] == ["CHAPTER I", "Chapter Two: Home"]


def test_underlined_headings_and_rules_are_told_apart():
    assert shown("Title\n=====\n\ntext\n\n---\n\nmore") == [
        ("h", "Title\n====="), ("b", "text"), ("b", "---"), ("b", "more"),
    ]  # fmt: skip
    assert shown("---\n---\n---\n") == [("b", "---\n---\n---")]


def test_fenced_blocks_stay_whole():
    assert [t for _, t in shown("a\n```\n# no heading\n\n\nx\n```\nb")] == ["a", "```\n# no heading\n\n\nx\n```", "b"]


def test_outline_items_that_name_a_chapter_stand_alone():
    text = "# 大纲\n\n- 第一回 甲：来客\n- 第二回 乙：去客\n  - 细节\n- 第三回 丙"
    assert [(text[p.start : p.end], p.chapter) for p in split_prose(text, outline=True)[1:]] == [
        ("- 第一回 甲：来客", 1), ("- 第二回 乙：去客\n  - 细节", 2), ("- 第三回 丙", 3),
    ]  # fmt: skip


def test_a_bold_line_that_begins_with_a_chapter_heads_what_stands_below_it_in_an_outline():
    text = "# 规划\n\n**第4章【主线】《定了》** (3500字)\n\n三人在板房外。\n\n**Chapters 5-6: The Ship**\n\n- It sails."
    text += "\n\n**第7章**：一句话。\n\n## 附"
    found = [(p.heading_path[1:], text[p.start : p.end], p.chapter) for p in split_prose(text, outline=True)[1:]]
    assert found == [
        (("第4章【主线】《定了》 (3500字)",), "**第4章【主线】《定了》** (3500字)", 4),
        (("第4章【主线】《定了》 (3500字)",), "三人在板房外。", 4),
        (("Chapters 5-6: The Ship",), "**Chapters 5-6: The Ship**", None),
        (("Chapters 5-6: The Ship",), "- It sails.", None),
        (("Chapters 5-6: The Ship",), "**第7章**：一句话。", 7),
        (("附",), "## 附", None),
    ]  # fmt: skip
    assert [p.role for p in split_prose(text)].count("heading") == 2


def test_a_line_without_end_is_cut_at_sentences_below_the_limit():
    text = "他看着窗外的雨。" * 20_000
    paragraphs = split_prose(text)
    assert all(p.end - p.start <= PARAGRAPH_LIMIT and text[p.end - 1] == "。" for p in paragraphs)
    assert "".join(text[p.start : p.end] for p in paragraphs) == text


def test_code_is_parted_at_unindented_blocks():
    text = "import os\n\n\ndef a():\n    x = 1\n\n    return x\n\n\nclass B:\n    pass\n"
    assert [text[p.start : p.end] for p in split_code(text)] == [
        "import os", "def a():\n    x = 1\n\n    return x", "class B:\n    pass",
    ]  # fmt: skip


LINES = st.lists(
    st.sampled_from(
        [
            "",
            "  ",
            "# 题",
            "## 二",
            "第三回 风起",
            "Chapter 4",
            "他走了。",
            "　　缩进",
            "- 甲：乙",
            "```",
            "===",
            "---",
            "plain words",
            "|a|",
            "🙂\u200d",
            "\t",
        ]
    ),
    max_size=30,
)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_paragraphs_cover_every_visible_character_once_in_order(lines, newline, outline):
    text = newline.join(lines)
    paragraphs = split_prose(text, outline=outline)
    assert [p.index for p in paragraphs] == list(range(len(paragraphs)))
    at = 0
    for p in paragraphs:
        assert not text[at : p.start].strip()
        assert text[p.start : p.end].strip() == text[p.start : p.end] != ""
        at = p.end
    assert not text[at:].strip()


@given(st.text(max_size=300))
def test_any_text_splits_without_losing_a_character(text):
    for split in (split_prose, split_code):
        at = 0
        for p in split(text):
            assert not text[at : p.start].strip()
            at = p.end
        assert not text[at:].strip()
