import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.prompt.fetchers.layers import ImmediateFetcher
from armarius.types import Fetcher, FetchRequest


def fetch(fetcher=None, **values):
    return (fetcher or ImmediateFetcher()).fetch(FetchRequest(project_id="p", **values))


def test_window_is_the_text_around_the_cursor_with_the_cursor_as_anchor():
    (item,) = fetch(text="一二三四五", cursor=2, document="ch.md").candidates
    assert (item.source, item.content, item.anchor, item.keep) == ("editor:cursor-window", "一二三四五", 2, "around")
    assert item.documents == ("ch.md",)
    assert item.evidence[0].span == (0, 5)


def test_nothing_given_is_nothing_offered():
    assert fetch().candidates == ()
    assert fetch(text=" \n", cursor=1).candidates == ()


def test_additional_input_without_a_document_is_the_window():
    (item,) = fetch(additional_input="她推开门").candidates
    assert (item.source, item.content, item.anchor) == ("editor:cursor-window", "她推开门", 4)


def test_selection_that_the_window_contains_is_a_duplicate():
    fetched = fetch(text="她推开门走了进来", cursor=3, document="a.md", additional_input="推开门")
    assert len(fetched.candidates) == 1
    assert [(item.source, item.reason) for item in fetched.omitted] == [("editor:selection", "duplicate")]


def test_selection_from_elsewhere_stands_beside_the_window():
    fetched = fetch(text="她推开门", cursor=3, document="a.md", additional_input="未存盘的一句")
    assert [item.source for item in fetched.candidates] == ["editor:cursor-window", "editor:selection"]


class Sliced(str):
    """A text that records how much of it was copied."""

    __slots__ = ()
    copied = 0

    def __getitem__(self, key):
        piece = super().__getitem__(key)
        Sliced.copied += len(piece)
        return piece


def test_large_document_costs_only_the_window():
    text = Sliced("一二三四五六七八九\n" * 200_000)
    Sliced.copied = 0
    (item,) = fetch(ImmediateFetcher(before=9_000, after=1_000), text=text, cursor=1_000_000).candidates
    assert len(item.content) <= 10_000
    assert Sliced.copied <= 12_000


def test_typing_does_not_move_the_start_of_the_window():
    fetcher = ImmediateFetcher(before=9_000, after=1_000)
    text = "一二三四五六七八九\n" * 5_000
    starts = {
        fetch(fetcher, text=text, cursor=30_000 + typed).candidates[0].evidence[0].span[0] for typed in range(200)
    }
    assert len(starts) <= 2


@given(st.text("一a\n\r\u0301👩\u200d🚀", max_size=300), st.integers(0, 300), st.integers(0, 50), st.integers(0, 50))
def test_window_is_a_piece_of_the_text_with_the_cursor_in_it(text, cursor, before, after):
    cursor = min(cursor, len(text))
    for item in fetch(ImmediateFetcher(before=before, after=after), text=text, cursor=cursor).candidates:
        start, end = item.evidence[0].span
        assert item.content == text[start:end]
        assert start <= cursor <= end
        assert start + item.anchor == cursor


def test_negative_sizes_are_refused():
    with pytest.raises(ValueError, match=r"before must be .*>= 0, got -1"):
        ImmediateFetcher(before=-1, after=5)


def test_fetcher_is_a_fetcher():
    assert isinstance(ImmediateFetcher(), Fetcher)
