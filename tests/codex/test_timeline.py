import time

import pytest

from armarius.codex.cards import parse_span

ROWS = [
    ("第30章起", (30, None)),
    ("第三十回后", (31, None)),
    ("从第一百零五章开始", (105, None)),
    ("第30章", (30, None)),
    ("第5-8章", (5, 9)),
    ("第五回至第八回", (5, 9)),
    ("第10章前", (None, 10)),
    ("直到第10章", (None, 10)),
    ("第10章为止", (None, 11)),
    ("第２章起", (2, None)),
    ("From chapter 30", (30, None)),
    ("Since Ch. 4", (4, None)),
    ("After chapter 4", (5, None)),
    ("Chapters 5–8", (5, 9)),
    ("Until chapter 9", (None, 9)),
    ("Chapter 12 onwards", (12, None)),
    ("From chapter thirty", (30, None)),
    ("年龄", None),
    ("第一次见面", None),
    ("Chapter house", None),
    ("", None),
]


@pytest.mark.parametrize(("label", "span"), ROWS)
def test_label_covers_these_chapters(label, span):
    assert parse_span(label) == span


@pytest.mark.parametrize(
    "label", ["(" + " " * 200_000 + ")", "从" + " " * 200_000 + "b", "第3" + "\u3000" * 200_000 + "x"]
)
def test_a_label_of_blanks_is_read_in_linear_time(label):
    begin = time.process_time()
    assert parse_span(label) is None
    assert time.process_time() - begin < 5  # hours, where each blank is tried with every other
