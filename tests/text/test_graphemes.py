"""No cut tears what a reader takes for one character, wherever the cut was wanted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import armarius
from armarius import truncate
from armarius.prompt.counter import offset_within
from armarius.prompt.fetchers.layers import ImmediateFetcher
from armarius.testing import FixedCounter
from armarius.text.unicode import grapheme_floor
from armarius.types import FetchRequest

CLUSTERS = {
    "flags": "🇨🇳",
    "families": "👨‍👩‍👧‍👦",
    "skin": "👍🏽",
    "accents": "e\u0301\u0323",
    "jamo": "\u1112\u1161\u11ab",
    "Devanagari": "क्षि",
    "keycaps": "1\ufe0f\u20e3",
    "tags": "🏴\U000e0067\U000e0062\U000e007f",
}


@pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS)
@pytest.mark.parametrize("before", ["", "a", "# 题\n\n"])
def test_a_place_inside_a_character_is_moved_to_its_beginning(cluster, before):
    text = before + cluster * 300
    for at in range(len(before), len(text), 7):
        floor = grapheme_floor(text, at)
        assert floor <= at
        assert at - floor < len(cluster)
        assert (floor - len(before)) % len(cluster) == 0


@pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS)
@pytest.mark.parametrize("keep", ["head", "tail", "around"])
@pytest.mark.parametrize("tokens", [50, 301, 900])
def test_truncation_of_a_long_row_tears_no_character(cluster, keep, tokens):
    text = cluster * 4000
    piece = truncate(text, tokens, keep=keep, anchor=len(cluster) * 2000, boundary="character")
    assert piece.start % len(cluster) == piece.end % len(cluster) == 0
    assert piece.tokens <= tokens


@pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS)
def test_a_hosts_counter_and_the_window_tear_no_character_either(cluster):
    text = cluster * 9000
    for keep in ("head", "tail"):
        assert offset_within(text, 777, keep=keep, counter=FixedCounter()) % len(cluster) == 0
    (window,) = (
        ImmediateFetcher(before=5000, after=1111)
        .fetch(FetchRequest(project_id="p", text=text, cursor=len(cluster) * 4500, document="a.md"))
        .candidates
    )
    start, end = window.evidence[0].span
    assert start % len(cluster) == end % len(cluster) == 0


@pytest.mark.parametrize("cluster", [CLUSTERS[name] for name in CLUSTERS if name != "tags"])  # tags are shown as codes
@pytest.mark.parametrize("budget", [700, 900, 1101])
def test_a_prompt_begins_with_a_whole_character(tmp_path, monkeypatch, cluster, budget):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "p").mkdir()
    (tmp_path / "p/f.md").write_text("# 题\n\n" + cluster * 4000, encoding="utf-8")
    with armarius.open(tmp_path / "p", watch=False) as engine:
        prompt = engine.assemble(document="f.md", cursor=5 + len(cluster) * 2000, budget=budget, marks=False).prompt
    shown = prompt.partition("[当前文档]\n")[2].partition("\n</layer")[0]
    assert cluster in shown
    assert shown.strip().replace(cluster, "") == ""


@given(st.text(st.sampled_from("🇨🇳👨\u200d👩e\u0301\r\n क्षिa\ud800"), max_size=400), st.integers(0, 400))
def test_a_place_between_characters_stays_where_it_is(text, at):
    floor = grapheme_floor(text, at)
    assert floor <= at
    assert grapheme_floor(text, floor) == floor
