"""Truncation: exact, longest, never inside a character, at a cost that follows the budget."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rows import rows
from tests.text.samples import CODE, EN, JA, KO, OTHER, ZH

import armarius
import armarius._core as _core
from armarius import TokenCounter, Truncated, truncate

ROWS = json.loads((Path(__file__).parents[1] / "cases/truncate.json").read_text("utf-8"))
COUNTER = TokenCounter.for_encoding("o200k")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["why"])
def test_rows(row):
    options = {k: row[k] for k in ("keep", "anchor", "boundary") if k in row}
    assert truncate(row["text"], row["max_tokens"], **options).text == row["kept"]


@settings(max_examples=200)
@given(
    parts=st.lists(
        st.sampled_from([ZH[:90], EN[:200], CODE[:150], JA, KO, OTHER, "👨‍👩‍👧é", "\n\n", " ", "="]), max_size=30
    ),
    budget=st.integers(0, 200),
    keep=st.sampled_from(["head", "tail", "around"]),
    boundary=st.sampled_from(["sentence", "paragraph", "character"]),
    share=st.floats(0, 1),
    name=st.sampled_from([*TokenCounter.encodings(), None]),
)
def test_the_piece_is_a_slice_with_its_exact_count_within_the_budget(parts, budget, keep, boundary, share, name):
    text = "".join(parts)
    counter = TokenCounter.for_encoding(name) if name else TokenCounter.estimate()
    cut = truncate(text, budget, keep=keep, anchor=int(len(text) * share), boundary=boundary, counter=counter)
    assert text[cut.start : cut.end] == cut.text
    assert cut.tokens == counter.count(cut.text) <= budget
    assert cut.truncated is (cut.text != text)
    assert cut.truncated or counter.count(text) <= budget


@pytest.mark.parametrize("keep", ["head", "tail", "around"])
@pytest.mark.parametrize("boundary", ["sentence", "paragraph", "character"])
@pytest.mark.parametrize("unit", [ZH, EN, "的", "字言", "a", " ", "=", "12", "哈。\n", "😀"])
def test_a_window_gives_the_same_as_the_whole_text(keep, boundary, unit):
    text = (unit * (60_000 // len(unit) + 1))[:60_000]
    cut = truncate(text, 50, keep=keep, anchor=30_001, boundary=boundary)
    anchor = {"head": 0, "tail": len(text)}.get(keep, 30_001)
    whole = _core.truncate(text, 50, keep, anchor, boundary, COUNTER._core)
    assert cut == Truncated(text[whole.start : whole.end], whole.start, whole.end, whole.tokens, True)


@pytest.mark.parametrize("unit", [" ", "=", "\n", " \t", "\u3000"])
def test_in_a_run_of_one_sign_one_more_no_longer_fits(unit):
    text = unit * 40_000
    cut = truncate(text, 300, keep="head", boundary="character")
    assert cut.tokens <= 300 < COUNTER.count(text[: cut.end + 1])
    cut = truncate(text, 300, keep="tail", boundary="character")
    assert cut.tokens <= 300 < COUNTER.count(text[cut.start - 1 :])


def test_a_tokenizer_file_truncates_too(tmp_path):
    from tests.text.reference import deepseek

    deepseek().save(str(tmp_path / "tokenizer.json"))
    exact, from_file = TokenCounter.for_encoding("deepseek"), TokenCounter.from_file(tmp_path / "tokenizer.json")
    for keep in ("head", "tail"):
        for budget in (0, 1, 30, 200):
            assert truncate(ZH, budget, keep=keep, counter=from_file) == truncate(ZH, budget, keep=keep, counter=exact)


def test_text_that_is_normalized_before_counting_is_cut_exactly():
    text = "e\u0301tait une fois. " * 200
    counter = TokenCounter.for_encoding("qwen")
    cut = truncate(text, 100, counter=counter)
    assert 80 < cut.tokens == counter.count(cut.text) <= 100
    assert cut.text.endswith(".")


def test_what_stands_around_the_anchor_stays():
    anchor = ZH.index("。", 2_000) + 1
    cut = truncate(ZH, 400, keep="around", anchor=anchor)
    assert cut.start < anchor < cut.end
    assert abs(COUNTER.count(ZH[cut.start : anchor]) - 200) < 100
    near_end = truncate(ZH, 400, keep="around", anchor=len(ZH) - 5)
    assert near_end.end == len(ZH)
    assert near_end.tokens > 300


@rows("counting_truncation")
def test_bad_arguments_are_refused_by_name_and_value(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        truncate("abc", **arguments)


def test_truncate_is_public():
    assert {"TokenCounter", "Truncated", "truncate"} <= set(armarius.__all__)
