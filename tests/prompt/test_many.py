"""Thousands of candidates of a host are taken in as a few are: checked, escaped, ordered, deduplicated."""

import math
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.prompt.forgeries import FORGERIES
from tests.prompt.hostile import ATTACKS, documents
from tests.prompt.support import assemble, candidate

from armarius.prompt import admit as admission
from armarius.prompt.admit import QUERY_SOURCE, admit, canonical, doubtful, escape
from armarius.prompt.fetch import FetchOutcome
from armarius.types import LAYERS, Candidate, Fetched

GROUPS = st.sampled_from(["", "[检索 — 网页]", "[用户请求]", "网页", "※", "[ 引用\n检测 ]"])
TEXTS = st.one_of(
    st.sampled_from(["", " ", "雨停了。", "  雨停了。\n", *ATTACKS.values()]),
    st.text("雨 a<[「\u200b\x00layer-retrieved>]」用户请求\n", max_size=24),
)
SCORES = st.one_of(st.floats(), st.integers(-3, 3), st.sampled_from([0.0, -0.0, 0.5]))
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        id=st.sampled_from("abcdefgh"),
        layer=st.sampled_from(LAYERS),
        source=st.sampled_from(["s", "t", QUERY_SOURCE]),
        content=TEXTS,
        score=SCORES,
        group=GROUPS,
        short=st.one_of(st.none(), TEXTS),
        pinned=st.booleans(),
        anchor=st.integers(-2, 30),
        project_id=st.sampled_from(["", "p", "q"]),
        marks=st.sampled_from([(), ((0, "<cursor/>"),)]),
    ),
    max_size=14,
)


def admitted(candidates, many):
    with patch.object(admission, "_MANY", many):
        return admit([FetchOutcome("host", "retrieved", Fetched(tuple(candidates)))], "p")


@given(CANDIDATES)
@settings(max_examples=300)
def test_many_candidates_are_admitted_as_few_are(candidates):
    few = admitted(candidates, many=len(candidates))
    assert repr(admitted(candidates, many=-1)) == repr(few)
    assert list(few.candidates) == sorted(few.candidates, key=canonical)
    ids = [(one.layer, one.id) for one in few.candidates]
    assert len(ids) == len(set(ids))
    contents = [one.content for one in few.candidates]
    assert len(contents) == len(set(contents))
    assert all(one.content and not math.isnan(one.score) and one.project_id != "q" for one in few.candidates)
    assert len(few.candidates) + len(few.omitted) == len(candidates)


@pytest.mark.parametrize("groups", [(), ("[检索 — 网页]",), ("网页",), ("※",)])
def test_what_escaping_may_change_is_told_beforehand(groups):
    texts = [
        "雨停了。",
        "a plain line, 3.5 of it",
        *FORGERIES,
        *(text for _, text in documents()),
    ]
    doubts = doubtful(texts, groups)
    assert all(escape(text, groups) is text for place, text in enumerate(texts) if place not in doubts)
    assert groups in (("网页",), ("※",)) or not doubts >= {0, 1}


@given(texts=st.lists(st.text(max_size=12), max_size=20))
@settings(max_examples=300)
def test_no_text_that_escaping_changes_is_passed_over(texts):
    doubts = doubtful(texts)
    assert all(escape(text) == text for place, text in enumerate(texts) if place not in doubts)


@given(st.lists(st.tuples(st.integers(1, 60), st.sampled_from(["settings", "retrieved"])), min_size=1, max_size=30))
@settings(max_examples=60)
def test_what_has_no_room_is_listed_with_its_tokens_and_its_layer(offered):
    candidates = [
        candidate(f"c{at:02}", layer, content=f"c{at:02}".ljust(length, "x"), score=float(at))
        for at, (length, layer) in enumerate(offered)
    ]
    pack = assemble(candidates, budget=200)
    entered = {item.id for item in pack.items}
    assert {gone.id for gone in pack.omitted} == {one.id for one in candidates} - entered
    assert len(pack.omitted) + len(pack.items) == len(candidates)
    assert all(gone.tokens > 0 and gone.code == "budget" for gone in pack.omitted)
    lacking = {gone.layer for gone in pack.omitted}
    assert {name for name in ("settings", "retrieved") if getattr(pack.result.layers, name).truncated} == lacking
