from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.prompt.support import assemble

from armarius.errors import BudgetError
from armarius.testing import FakeFetcher, FixedCounter
from armarius.types import LAYERS, Candidate

TEXT = st.text(st.sampled_from("小雨推门，走了进来。 abc.\n<>/[]#\u200b\U000e0041\ud800"), max_size=300)
CANDIDATE = st.builds(
    Candidate,
    id=st.sampled_from("abcdefgh"),
    layer=st.sampled_from(LAYERS),
    source=st.sampled_from(["s1", "s2"]),
    content=TEXT,
    score=st.sampled_from([0.0, 1.0, 2.0, float("nan")]),
    group=st.sampled_from(["", "[知识图谱 — 引用检测]", "[甲]"]),
    short=st.none() | TEXT,
    pinned=st.booleans(),
    keep=st.sampled_from([None, "head", "tail", "around"]),
    anchor=st.integers(0, 300),
    together=st.sampled_from(["", "", "t"]),
)
CANDIDATES = st.lists(CANDIDATE, max_size=12)


def attempt(candidates, **more):
    try:
        return assemble([FakeFetcher(candidates)], **more)
    except BudgetError:
        return None


@given(CANDIDATES, st.integers(1, 2000), st.sampled_from(["character", "word"]), TEXT)
def test_final_string_is_counted_exactly_and_never_exceeds_the_budget(candidates, budget, per, query):
    pack = attempt(candidates, budget=budget, counter=FixedCounter(per), query=query)
    if pack is not None:
        assert pack.token_count == FixedCounter(per).count(pack.prompt) <= budget
        for layer in LAYERS:
            assert pack.layers[layer].token_count == FixedCounter(per).count(pack.contents[layer])


@given(CANDIDATES, st.integers(100, 1500), st.integers(0, 1500))
def test_more_budget_never_removes_a_pinned_item(candidates, budget, more):
    less, richer = attempt(candidates, budget=budget), attempt(candidates, budget=budget + more)
    if less is not None:
        pinned = {(c.layer, c.id) for c in candidates if c.pinned}
        kept = {(i.layer, i.id) for i in richer.items}
        assert {(i.layer, i.id) for i in less.items} & pinned <= kept


@given(CANDIDATES, st.integers(100, 1500), st.randoms())
def test_order_of_fetchers_and_candidates_changes_nothing(candidates, budget, random):
    pack = attempt(candidates, budget=budget)
    shuffled = random.sample(candidates, len(candidates))
    half = random.randint(0, len(shuffled))
    fetchers = [FakeFetcher(shuffled[:half], name="one"), FakeFetcher(shuffled[half:], name="two")]
    try:
        other = assemble(fetchers, budget=budget)
    except BudgetError:
        other = None
    assert (pack and pack.to_wire()) == (other and other.to_wire())
    assert (pack and pack.omitted) == (other and other.omitted)


@given(CANDIDATES, st.integers(300, 1500))
def test_everything_considered_is_accounted_for_exactly_once(candidates, budget):
    pack = attempt(candidates, budget=budget)
    if pack is not None:
        considered = sorted((c.layer, c.id) for c in candidates)
        assert sorted([(i.layer, i.id) for i in pack.items] + [(o.layer, o.id) for o in pack.omitted]) == considered


@given(CANDIDATES, CANDIDATES, st.integers(300, 1500))
@settings(max_examples=60)
def test_budget_and_account_hold_with_a_previous_pack_too(first, second, budget):
    previous = attempt(first, budget=budget)
    pack = attempt(second, budget=budget, previous=previous)
    if pack is not None:
        assert pack.token_count == len(pack.prompt) <= budget
        shared = pack.prefix.shared_characters
        assert previous is None or previous.prompt[:shared] == pack.prompt[:shared]


TRUE = {"one.md": "1"}


@given(CANDIDATES, CANDIDATES, st.integers(300, 1500), st.sampled_from(["character", "word"]))
@settings(max_examples=200)
def test_a_continued_prompt_lacks_nothing_that_one_without_history_holds(first, second, budget, per):
    first, second = ([replace(c, documents=("one.md",)) for c in some] for some in (first, second))
    more = {"budget": budget, "counter": FixedCounter(per), "stamps": TRUE}
    previous, fresh = attempt(first, **more), attempt(second, **more)
    if fresh is None or previous is None:
        return
    pack = assemble([FakeFetcher(second)], previous=previous, **more)
    assert pack.token_count == FixedCounter(per).count(pack.prompt) <= budget
    assert pack.stable_prefix == fresh.stable_prefix
    held = {item.id: item for item in pack.items if item.layer == "retrieved"}
    for item in fresh.items:
        if item.layer == "retrieved" and item.form != "truncated":
            assert item.id in held
            assert size(held[item.id]) * 100 >= size(item) * 60
    considered = {(c.layer, c.id) for c in second} | {("retrieved", item.id) for item in previous.items}
    assert {(i.layer, i.id) for i in pack.items} <= considered


def size(item):
    return item.span[1] - item.span[0]


@given(CANDIDATES, TEXT)
def test_layer_tags_in_a_prompt_are_the_renderers_own(candidates, query):
    pack = attempt(candidates, budget=5000, query=query)
    if pack is not None:
        for layer in LAYERS:
            present = bool(pack.layers[layer].source)
            assert pack.prompt.count(f"<layer-{layer}>") == pack.prompt.count(f"</layer-{layer}>") == present
