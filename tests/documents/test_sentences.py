"""Where a sentence ends, by each of the ways in which that is asked."""

import pytest

from armarius.text import unicode as sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("钟停了。她走了！", ["钟停了", "她走了", ""]),
        ("钟停了；她走了", ["钟停了", "她走了"]),
        ("It is 3.5 m. He left.", ["It is 3.5 m", "He left."]),
        ("a\nb", ["a", "b"]),
    ],
)
def test_a_text_is_parted_between_its_sentences_and_not_inside_a_number(text, parts):
    assert sentences.BETWEEN.split(text) == parts


@pytest.mark.parametrize(
    ("rule", "text", "found"),
    [
        ("AT_END", "甲！乙", (1, 2)),
        ("AT_END", "甲！！乙", (1, 2)),
        ("AT_END", "3.5", None),
        ("NEXT", "Gone. He", (4, 6)),
        ("NEXT", "Gone.", None),
        ("ENDS_LINE", "他走了。” ", (3, 6)),
        ("ENDS_LINE", "他走了", None),
        ("ENDS_WIDE_LINE", "他说：", (2, 3)),
        ("ENDS_WIDE_LINE", "He left.", None),
        ("HAS_MARK", "小雨…", (2, 3)),
        ("HAS_MARK", "J. Smith", None),
        ("LEADING_CLAUSE", "林默的妹妹，十六岁", (0, 5)),
        ("WIDE_RUN", "v1.2；b", (0, 4)),
        ("CLAUSE", "师徒：亲", None),
        ("TYPE_CLAUSE", "师徒：亲", (2, 3)),
    ],
)
def test_each_rule_is_as_strict_as_it_says(rule, text, found):
    match = getattr(sentences, rule).search(text)
    assert (match and match.span()) == found
