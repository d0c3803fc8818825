import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.codex.cards import parse_span
from armarius.documents.units import (
    bare_number,
    chapter_number,
    chapter_range,
    parse_numeral,
    volume_number,
)

CASES = json.loads((Path(__file__).parent.parent / "cases" / "units.json").read_text("utf-8"))


@pytest.mark.parametrize(("text", "number"), CASES["numerals"])
def test_numeral_is_read_as_its_number(text, number):
    assert parse_numeral(text) == number


@pytest.mark.parametrize(("text", "number"), CASES["chapters"])
def test_chapter_marker_names_its_chapter(text, number):
    assert chapter_number(text) == number


@pytest.mark.parametrize(("text", "chapters"), CASES["ranges"])
def test_a_range_names_its_first_and_last_chapter(text, chapters):
    assert chapter_range(text) == (chapters and tuple(chapters))


@pytest.mark.parametrize(("label", "since", "until"), CASES["spans"])
def test_a_label_says_from_which_chapter_a_fact_holds(label, since, until):
    assert parse_span(label) == (since, until)


def han(n: int) -> str:
    """The standard spelling, written independently of the parser."""
    digits, out, zero = "零一二三四五六七八九", "", False
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = n // unit % 10
        if digit:
            out += ("零" if zero and out else "") + digits[digit] + name
            zero = False
        else:
            zero = True
    return out.removeprefix("一") if 10 <= n < 20 else out or "零"


@given(st.integers(0, 9999))
def test_every_chinese_numeral_round_trips(n):
    assert parse_numeral(han(n)) == n
    assert chapter_number(f"第{han(n)}回 风起") == n


def test_bare_number_starts_a_file_name_and_dates_are_not_numbers():
    assert [bare_number(stem) for stem in ("012", "12 - The Storm", "三、风起", "2024-05-01", "7th", "storm")] == [
        12, 12, 3, None, None, None,
    ]  # fmt: skip


def test_volumes_are_not_chapters():
    assert [volume_number(name) for name in ("第二卷", "卷十二", "Part Two", "vol-3", "第二章")] == [2, 12, 2, 3, None]
