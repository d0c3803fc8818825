import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.prompt.admit import escape, offsets_after

NASTY = st.text(
    st.sampled_from([*list("ab 用户请求[]【】<>/\n\u202e\u2066⟦layer-cursor[U+202E]"), "\U000e0041", "\U000e0042"])
)


@given(NASTY)
def test_every_offset_has_its_place_in_order(text):
    harmless = escape(text)
    places = offsets_after(text, (), range(len(text) + 1))
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0, len(harmless))


@pytest.mark.parametrize(
    "before", ["", "\u202e", "\U000e0041\U000e0042", "用户请求：\n", "[用户请求]", "<layer-rules>", "[U+202E]"]
)
def test_words_behind_what_was_changed_are_found_where_they_are(before):
    text = f"甲\n{before}乙丙\n{before}丁"
    harmless = escape(text)
    for word in "甲乙丙丁":
        start, end = offsets_after(text, (), (text.index(word), text.index(word) + 1))
        assert harmless[start:end] == word
