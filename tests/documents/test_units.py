import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.codex.cards import parse_span
from armarius.corpus.story import plans_of
from armarius.documents import units
from armarius.documents.document import document_of
from armarius.documents.project_map import ProjectMap
from armarius.documents.segments import split_prose
from armarius.documents.units import (
    CHAPTERS,
    bare_number,
    chapter_number,
    chapter_range,
    leading_span,
    parse_numeral,
    volume_number,
)
from armarius.search.query.chapters import chapter_references
from armarius.trust.settings import Config

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


def spellings():
    """Chapter 3, and chapters 3 to 5, by every word for a chapter in every script: heading, fact, request, range."""
    for word in sorted(units.unit_words("han", *CHAPTERS)):
        yield from ((f"第{n}{word}", f"第{n}{word}起", f"写第{n}{word}", f"第{n}到5{word}") for n in ("3", "３", "三"))
        yield f"第3{word}", f"第3{word}から", f"改写第三{word}", f"第三{word}至第五{word}"
    for word in sorted(units.unit_words("hangul", *CHAPTERS)):
        yield f"제3{word}", f"제3{word}부터", f"제3{word}를 써 줘", f"제3-5{word}"
    for word in sorted(units.unit_words("latin", "chapter", "episode")):
        yield from ((f"{word} {n}", f"{word} {n} on", f"write {word} {n}", f"{word} 3-5") for n in ("3", "III"))
    for word in sorted(units.unit_words("short", "chapter", "episode")):
        yield f"{word}3", f"{word}3 on", f"write {word}3", f"{word}3-{word}5"


@pytest.mark.parametrize(("heading", "fact", "request_", "several"), list(spellings()))
def test_every_reader_reads_a_chapter_by_every_word_in_every_script(heading, fact, request_, several):
    (body,) = (one for one in split_prose(f"# {heading} X\n\nText.\n") if one.role == "body")
    assert chapter_number(heading) == body.chapter == 3
    assert parse_span(fact) == (3, None)
    assert [one.numbers for one in chapter_references(request_, known=range(1, 9))] == [(3,)]
    assert chapter_range(several) == (3, 5)
    assert [one.numbers for one in chapter_references(f"总结 {several}", known=range(1, 9))] == [(3, 4, 5)]
    text = f"# Outline\n\n## {heading}\n\nA lamp.\n\n## {several}\n\nA ship.\n"
    outline = document_of("outline.md", text, "utf-8", "", config=Config())
    plans = plans_of({"outline.md": outline}, ProjectMap(), [3, 4])
    (own,), (ranged,) = plans[3], plans[4]
    assert own.text(outline).startswith("A lamp.")
    assert ranged.text(outline) == "A ship."


def test_numbered_sections_below_a_bare_number_are_of_the_plan_of_that_chapter():
    text = "# 0061.门口\n\n## 1. 施工单\n\n门口跪了一地人。\n\n## 2. 细纲\n\n关门。\n"
    text += "\n# 0062.门槛\n\n## 1. 施工单\n\n设考核。\n"
    outline = document_of("章纲/0061-0070.md", text, "utf-8", "", config=Config())
    plans = plans_of({"章纲/0061-0070.md": outline}, ProjectMap(), [1, 61, 62])
    assert plans[1] == []
    assert [plan.title for number in (61, 62) for plan in plans[number]] == ["0061.门口", "0062.门槛"]
    assert "关门" in plans[61][0].text(outline)


def test_a_file_that_a_request_names_is_no_chapter_of_that_number():
    assert list(chapter_references("compare ch003.md with ch4.txt", known=range(1, 9))) == []


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


@pytest.mark.parametrize(
    ("line", "chapters"),
    [
        ("**第4章: 名** (3500字)", (4, 4)),
        ("## Chapters 35–43", (35, 43)),
        ("第一卷 第3章 雨", (3, 3)),
        ("Part One, Chapter 2", (2, 2)),
        ("ch04-x", (4, 4)),
        ("繁华期（ch41-ch43）", None),
        ("2026-07-24 — W28: ch28", None),
    ],
)
def test_a_line_begins_with_its_chapters_or_merely_names_some(line, chapters):
    assert leading_span(line) == chapters


@pytest.mark.parametrize(
    "text", [text.swapcase() for text, _ in CASES["ranges"]] + [text for text, _ in CASES["ranges"]]
)
def test_every_span_of_chapters_begins_with_a_character_that_a_span_begins_with(text):
    matches = list(re.finditer(units.span(), text, re.IGNORECASE))
    assert all(re.match(units.span_begins(), match[0]) for match in matches)
