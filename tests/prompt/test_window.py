from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.prompt.support import assemble, candidate

import armarius
from armarius import TokenCounter
from armarius.prompt.counter import CachedCounter, _count_behind, common_prefix, cut, window
from armarius.testing import FixedCounter
from armarius.text.unicode import grapheme_floor

TEXT = st.text(st.sampled_from("雨停了。她推开门，走了进来！\nA b.👨\u200d👩é "), max_size=600)
COUNTERS = [FixedCounter(), TokenCounter.for_encoding("o200k_base")]


@pytest.mark.parametrize("counter", COUNTERS, ids=["fixed", "o200k"])
@given(text=TEXT, data=st.data())
def test_window_fits_and_holds_the_cursor(counter, text, data):
    anchor = data.draw(st.integers(0, len(text)))
    limit = data.draw(st.integers(8, 300))
    before = data.draw(st.none() | st.integers(0, len(text)))
    start, end = window(text, anchor, limit, CachedCounter(counter), before)
    assert 0 <= start <= end <= len(text)
    assert start <= anchor
    if grapheme_floor(text, anchor) == anchor:  # the character around an anchor may be longer than the window
        assert anchor <= end
    assert counter.count(text[start:end]) <= limit


@pytest.mark.parametrize("counter", COUNTERS, ids=["fixed", "o200k"])
@given(text=TEXT, limit=st.integers(0, 200), keep=st.sampled_from(["head", "tail"]))
def test_cut_keeps_the_asked_end_and_fits(counter, text, limit, keep):
    start, end = cut(text, limit, keep=keep, counter=counter)
    assert counter.count(text[start:end]) <= limit
    if counter.count(text) <= limit:
        assert (start, end) == (0, len(text))


def test_typing_moves_the_start_once_in_about_a_quarter_of_the_window():
    text = "雨下了一夜，天亮时才停。" * 600
    starts, before = [], None
    for cursor in range(3000, 6000, 20):
        before, _ = window(text[:cursor], cursor, 1000, CachedCounter(FixedCounter()), before)
        starts.append(before)
    moves = sum(a != b for a, b in pairwise(starts))
    assert starts == sorted(starts)
    assert moves <= 3000 / (1000 / 8)


def test_whole_text_is_kept_when_it_fits_wherever_the_cursor_is():
    text = "短短一章。" * 20
    for cursor in (0, 40, 100):
        assert window(text, cursor, 200, CachedCounter(FixedCounter())) == (0, 100)


@given(TEXT, TEXT)
def test_common_prefix_is_the_longest(a, b):
    length = common_prefix(a, b)
    assert a[:length] == b[:length]
    assert a[length : length + 1] != b[length : length + 1] or length == min(len(a), len(b))


@pytest.mark.parametrize("budget", range(1500, 6000, 500))
def test_what_a_cut_window_leaves_goes_to_what_was_left_out_and_displaces_nothing(budget):
    sentences = "".join("写" * 700 + "。" for _ in range(12))
    written = candidate("w", "immediate", content=sentences, keep="around", anchor=len(sentences) - 1)
    big = [candidate(f"big{n}", size=300 + n, score=2 - n / 10) for n in range(4)]
    small = [candidate(f"small{n}", size=40, score=1 - n / 100) for n in range(30)]
    pack = assemble([written, *big, *small], budget=budget)
    spare = budget * 95 // 100 - pack.token_count
    assert all(gone.tokens > spare for gone in pack.omitted if gone.code == "budget")


@pytest.mark.parametrize(
    "unit", ["雨下了一夜，天亮时才停。", "It rained all night and stopped at dawn. ", "雨停了。 Rain.\n"]
)
@pytest.mark.parametrize("counter", COUNTERS, ids=["fixed", "o200k"])
def test_the_window_is_divided_as_if_everything_behind_the_cursor_had_been_counted(unit, counter):
    text, most = unit * 300, 200
    share = most - most * 75 // 100
    for anchor in range(0, len(text), 61):
        behind = counter.count(text[anchor : anchor + 2 * most])
        found = _count_behind(text, anchor, most, counter)
        assert max(most - share, most - found) == max(most - share, most - behind)
    assert _count_behind(text, len(text), most, counter) == 0


def test_the_window_of_a_book_in_one_file_is_its_chapter_and_earlier_ones_compete(tmp_path):
    text = "# The Book\n\n" + "".join(
        f"## Chapter {n}\n\n" + "".join(f"On day {m} of {n} the river rose past pier {m + n}.\n\n" for m in range(40))
        for n in range(1, 13)
    )
    text = text.replace("On day 7 of 3 the river", "On day 7 of 3 Mara hid a comb where the river")
    (tmp_path / "book.md").write_text(text, "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        pack = engine.assemble("Continue", document="book.md", cursor=len(text), budget=8000)
        (window,) = (one for one in pack.items if one.source == "editor:cursor-window")
        assert window.shows == ("book.md", text.index("## Chapter 12"), len(text))
        assert "story:ending:book.md#11" in {one.source for one in pack.items}
        asked = engine.assemble("Where did Mara hide a comb?", document="book.md", cursor=len(text), budget=4000)
        assert "Mara hid a comb" in asked.prompt
        middle = text.index("## Chapter 6") + 200
        pack = engine.assemble("Continue", document="book.md", cursor=middle, budget=8000)
        (window,) = (one for one in pack.items if one.source == "editor:cursor-window")
        assert window.shows is not None
        assert text[slice(*window.shows[1:])] == text[text.index("## Chapter 6") : text.index("## Chapter 7")].rstrip()
