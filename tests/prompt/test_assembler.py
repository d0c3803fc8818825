import hashlib

import pytest
from tests.prompt.support import assemble, candidate

from armarius.errors import BudgetError, ContextWarning
from armarius.prompt.assembler import Assembler
from armarius.prompt.counter import CachedCounter
from armarius.prompt.profile import BudgetProfile, LayerBudget
from armarius.testing import FakeFetcher, FixedCounter
from armarius.types import LAYERS, Evidence, Omission


def codes(pack):
    return [warning.partition(":")[0] for warning in pack.warnings]


def test_prompt_is_the_four_layers_in_order_and_counts_exactly():
    pack = assemble([candidate(layer, layer) for layer in reversed(LAYERS)], query="what now?")
    assert pack.prompt == "".join(pack.contents[layer] for layer in LAYERS)
    assert pack.token_count == len(pack.prompt)
    assert [pack.layers[layer].token_count for layer in LAYERS] == [len(pack.contents[layer]) for layer in LAYERS]
    assert pack.prompt.index("content of rules") < pack.prompt.index("content of settings")
    assert pack.prompt.rstrip().endswith("</layer-immediate>")
    assert pack.prompt.index("content of immediate") < pack.prompt.index("what now?")


def test_every_item_has_a_source_and_its_span():
    pack = assemble([candidate("a"), candidate("b", "rules")], query="q")
    assert pack.layers.retrieved.source == ("test:a",)
    assert [pack.prompt[slice(*item.span)] for item in pack.items] == ["content of b", "content of a", "q"]
    assert [item.source for item in pack.items] == ["test:b", "test:a", "request:query"]


def test_group_heading_stands_once_above_its_first_item():
    card = {"group": "[知识图谱 — 引用检测]"}
    pack = assemble([candidate("a", **card, score=1), candidate("b", **card), candidate("c", score=0.5)])
    assert pack.prompt.count("[知识图谱 — 引用检测]") == 1
    assert "[知识图谱 — 引用检测]\ncontent of a\n\ncontent of b" in pack.prompt


def test_stable_hash_is_sha256_over_rules_and_settings_as_rendered():
    pack = assemble([candidate("r", "rules"), candidate("s", "settings"), candidate("x")])
    stable = pack.contents["rules"] + pack.contents["settings"]
    assert pack.prompt.startswith(stable)
    assert pack.stable_prefix_hash == hashlib.sha256(stable.encode()).hexdigest()


def test_stable_prefix_is_unchanged_only_against_the_same_project_skill_provider_model_and_tokenizer():
    assembler, fetchers = Assembler(), [FakeFetcher([candidate("r", "rules")])]
    run = lambda **request: assemble(fetchers, assembler=assembler, **request).stable_prefix_unchanged  # noqa: E731
    assert not run(query="one")
    assert run(query="two")
    for field in ("project_id", "skill", "provider", "model", "tokenizer_version"):
        assert not run(**{field: "other"})
        assert run(**{field: "other"})


def test_thousand_queries_give_one_stable_hash():
    assembler, fetchers = Assembler(), [FakeFetcher([candidate("r", "rules"), candidate("s", "settings")])]
    hashes = {assemble(fetchers, assembler=assembler, query=f"question {n}").stable_prefix_hash for n in range(1000)}
    assert len(hashes) == 1


def test_failing_fetcher_costs_a_warning_and_nothing_else():
    good = FakeFetcher([candidate("a")], name="good")
    pack = assemble([FakeFetcher(name="bad", error=RuntimeError("boom")), good])
    assert [item.id for item in pack.items] == ["a"]
    assert pack.warnings == ("RAG_UNAVAILABLE: bad: RuntimeError: boom",)
    assert pack.layers.retrieved.warnings == pack.warnings
    assert pack.why("bad").omitted[0].code == "source failed"


def test_slow_fetcher_times_out_with_a_warning():
    assembler, fetchers = (
        Assembler(fetch_timeout=0.5),
        [FakeFetcher(name="slow", delay=5), FakeFetcher([candidate("a")])],
    )
    pack = assemble(fetchers, assembler=assembler)
    assert [item.id for item in pack.items] == ["a"]
    assert pack.warnings == ("RAG_UNAVAILABLE: slow: no answer within 0.5 s",)


def test_warnings_of_a_fetcher_reach_its_layer_and_the_answer():
    fetcher = FakeFetcher(layer="settings", warnings=[ContextWarning("MEMORY_UNAVAILABLE", "gone")])
    pack = assemble([fetcher])
    assert pack.warnings == pack.layers.settings.warnings == ("MEMORY_UNAVAILABLE: gone",)


def test_candidate_of_another_project_is_refused_with_a_warning():
    pack = assemble([candidate("a", project_id="mine"), candidate("b", project_id="theirs")], project_id="mine")
    assert [item.id for item in pack.items] == ["a"]
    assert codes(pack) == ["CONTEXT_SCOPE_VIOLATION"]
    assert pack.why("b").omitted[0].code == "excluded"


def test_duplicates_enter_once_and_are_listed():
    pack = assemble(
        [candidate("a", content="same", score=2), candidate("b", content="same"), candidate("a", content="x")]
    )
    assert [item.id for item in pack.items] == ["a"]
    assert [(gone.id, gone.code) for gone in pack.omitted] == [("a", "duplicate"), ("b", "duplicate")]


def test_everything_considered_is_in_items_or_omitted_with_one_reason():
    fetcher = FakeFetcher(
        [candidate(f"c{n:02}", content="x" * n, score=n) for n in range(60)],
        omitted=[Omission("never", "retrieved", "codex:never", "level")],
    )
    pack = assemble([fetcher], budget=800)
    assert sorted([i.id for i in pack.items] + [o.id for o in pack.omitted]) == sorted(
        [f"c{n:02}" for n in range(60)] + ["never"]
    )
    assert {gone.code for gone in pack.omitted} == {"budget", "level", "excluded"}


def test_rules_are_never_trimmed_and_warn_above_their_share():
    rules = [candidate(f"r{n}", "rules", size=80) for n in range(5)]
    pack = assemble([*rules, candidate("x", score=9)], budget=1000)
    assert len(pack.layers.rules.source) == 5
    assert not pack.layers.rules.truncated
    assert "CONTEXT_RULES_OVERBUDGET" in codes(pack)


def test_rules_that_do_not_fit_name_the_least_budget_that_would_do():
    rules = [candidate("r", "rules", size=500)]
    with pytest.raises(BudgetError, match=r"below the minimum of (\d+)") as failure:
        assemble(rules, budget=300)
    least = int(str(failure.value).split("minimum of ")[1].split()[0])
    assert assemble(rules, budget=least).layers.rules.source == ("test:r",)
    with pytest.raises(BudgetError):
        assemble(rules, budget=least - 1)


@pytest.mark.parametrize(("budget", "reserve"), [(0, 0), (-1, 0), (100, 100), (100, -1)])
def test_budget_that_leaves_nothing_is_an_error(budget, reserve):
    with pytest.raises(BudgetError, match=str(budget if reserve == 0 else reserve)):
        assemble([candidate("a")], budget=budget, reserve_output=reserve)


def test_full_prompt_warns_at_87_percent_and_is_trimmed_to_95():
    asked = [candidate(f"c{n:03}", size=20, score=n, pinned=True) for n in range(100)]
    pack = assemble(asked, budget=1000)
    assert 87 <= pack.capacity_percent <= 95
    assert codes(pack) == ["CONTEXT_CAPACITY_WARNING", "CONTEXT_CAPACITY_FORCE_TRIM"]
    assert "cut or left out: " in pack.warnings[1]
    assert pack.layers.retrieved.truncated
    assert not assemble(asked[:10], budget=1000).warnings


def test_what_was_merely_found_is_left_out_without_a_warning():
    found = [candidate(f"c{n:03}", size=20, score=n) for n in range(100)]
    window = candidate("w", "immediate", content="字" * 40_000, keep="around")
    pack = assemble([*found, window], budget=1000)
    assert pack.layers.retrieved.truncated or pack.layers.immediate.truncated
    assert pack.warnings == ()


def test_window_is_cut_around_the_cursor_and_keeps_what_is_before_it():
    text = "".join(f"第{n}句话写在这里。" for n in range(400))
    window = candidate("w", "immediate", content=text, keep="around", anchor=2000, score=1)
    pack = assemble([window], budget=800)
    start, end = pack.items[0].part
    assert start <= 2000 <= end
    assert text[1980:2000] in pack.prompt
    assert pack.layers.immediate.truncated
    assert pack.capacity_percent > 85


def test_short_form_enters_when_the_full_one_does_not_fit():
    pack = assemble([candidate("a", content="long " * 100, short="brief")], budget=200)
    assert (pack.items[0].form, pack.layers.retrieved.truncated) == ("short", True)
    assert "brief" in pack.prompt


def test_counter_that_fails_falls_back_to_the_estimate_with_a_warning():
    assembler, fetchers = Assembler(fallback=FixedCounter("word", name="estimate")), [FakeFetcher([candidate("a")])]
    pack = assemble(fetchers, assembler=assembler, counter=FixedCounter(error=OSError("no vocabulary")))
    assert pack.counter == "estimate"
    assert pack.token_count == len(pack.prompt.split())
    assert pack.warnings == ("CONTEXT_BUDGET_FALLBACK: fixed failed (OSError: no vocabulary); counted by estimate",)


def test_counter_whose_counts_do_not_add_up_is_repaired():
    class Growing(FixedCounter):
        def count(self, text):
            return len(text) + len(text) ** 2 // 2000

    pack = assemble([candidate(f"c{n}", size=50, score=n) for n in range(40)], budget=1500, counter=Growing())
    assert pack.token_count == Growing().count(pack.prompt) <= 1500
    assert len(pack.items) > 5


def test_layer_budgets_of_one_request_hold():
    items = [candidate(f"c{n:03}", size=20, score=n) for n in range(100)]
    pack = assemble(items, budget=1000, layers={"retrieved": LayerBudget(max="20%")})
    assert pack.layers.retrieved.token_count <= 200
    with pytest.raises(BudgetError, match="no such layer: memory"):
        assemble(items, layers={"memory": LayerBudget()})


def test_retrieved_items_of_the_previous_prompt_keep_their_places_and_new_ones_follow():
    first = assemble([candidate("b", score=2), candidate("d", score=1)])
    second = assemble([candidate("a", score=9), candidate("d", score=5), candidate("b", score=1)], previous=first)
    assert [item.id for item in second.items] == ["b", "d", "a"]
    assert second.prefix.first_difference[0] == "retrieved"
    assert second.prompt[second.prefix.shared_characters :].startswith("content of a"[:1])


def test_why_says_why_in_and_why_out():
    evidence = (Evidence("mention", "小雨 at 3"),)
    pack = assemble([candidate("a", evidence=evidence), candidate("b", size=2000)], budget=300)
    assert pack.why("test:a").reason == "小雨 at 3"
    assert pack.why("b").omitted[0].code == "budget"
    with pytest.raises(KeyError, match="'z'"):
        pack.why("z")


def test_what_if_fetches_nothing_and_leaves_the_pack_alone():
    fetcher = FakeFetcher([candidate(f"c{n}", size=50, score=n) for n in range(9)])
    pack = assemble([fetcher], budget=1000)
    smaller = pack.what_if(budget=300)
    assert len(fetcher.requests) == 1
    assert smaller.token_count <= 300 < pack.token_count
    assert set(smaller.diff(pack).removed) == {f"test:c{n}" for n in range(5)}
    assert smaller.diff(pack).tokens == smaller.token_count - pack.token_count


def test_a_difference_names_what_says_something_else_in_the_same_place():
    before = assemble([candidate("a", content="Age 52"), candidate("b"), candidate("c")], query="who")
    after = assemble([candidate("a", content="Age 53"), candidate("b"), candidate("d")], query="who")
    found = after.diff(before)
    assert (found.changed, found.reshaped) == (("test:a",), ())
    assert (found.added, found.removed) == (("test:d",), ("test:c",))
    assert "changed=('test:a',)" in repr(found)
    assert after.diff(after).changed == ()


def test_a_shorter_form_of_the_same_content_is_reshaped_and_not_changed():
    whole = assemble([candidate("a", size=600, keep="head")], budget=1000)
    cut = whole.what_if(budget=300)
    found = cut.diff(whole)
    assert (found.reshaped, found.changed) == (("test:a",), ())


def test_the_query_has_no_score():
    pack = assemble([candidate("a", score=2)], query="who")
    assert [(item.source, item.score) for item in pack.items] == [("test:a", 2), ("request:query", None)]


def test_messages_put_the_marker_exactly_after_the_stable_prefix():
    pack = assemble([candidate("r", "rules"), candidate("x")], query="q", model="claude-opus-4-5")
    messages = pack.to_messages("anthropic")
    assert messages["system"] == [{"type": "text", "text": pack.stable_prefix, "cache_control": {"type": "ephemeral"}}]
    assert pack.stable_prefix + messages["messages"][0]["content"][0]["text"] == pack.prompt
    explicit = assemble([candidate("r", "rules")], model="gpt-5.6", query="q").to_messages("openai")
    assert explicit[0]["content"][0]["prompt_cache_breakpoint"] == {"mode": "explicit"}
    implicit = assemble([candidate("r", "rules")], model="gpt-4o", query="q").to_messages("openai")
    assert [message["role"] for message in implicit] == ["system", "user"]
    assert all(isinstance(message["content"], str) for message in [*implicit, explicit[1]])


def test_prefix_says_whether_it_reaches_the_models_minimum():
    rules = [candidate("r", "rules", size=5000)]
    assert assemble(rules, budget=9000, model="claude-opus-4-5").prefix.reaches_minimum is True
    assert assemble([candidate("r", "rules")], model="claude-opus-4-5").prefix.reaches_minimum is False
    assert assemble([candidate("r", "rules")], model="unheard-of").prefix.reaches_minimum is None


def test_repr_is_one_line():
    pack = assemble([candidate("a"), candidate("b", size=2000)], budget=500)
    assert repr(pack) == f"Pack({pack.token_count}/500 tokens by fixed, 1 kept, 1 omitted)"


def test_profile_decides_when_the_request_names_no_budget():
    pack = assemble([candidate("a")], budget=None, profile=BudgetProfile(budget=500))
    assert pack.budget == 500


def test_new_text_only_is_counted_on_the_second_request():
    counter = FixedCounter()
    assembler, fetchers = Assembler(), [FakeFetcher([candidate("a"), candidate("r", "rules")])]
    measured = CachedCounter(counter)
    assemble(fetchers, assembler=assembler, counter=measured, query="one")
    counter.texts.clear()
    assemble(fetchers, assembler=assembler, counter=measured, query="two")
    assert not [text for text in counter.texts if text.startswith("content of")]


def test_minima_do_not_shut_a_layer_out_of_a_small_prompt():
    window = candidate("w", "immediate", content="字。" * 3000, keep="around", anchor=10, score=1)
    pack = assemble([window, candidate("card", size=60)], budget=2000)
    assert pack.layers.retrieved.source == ("test:card",)


def test_query_that_is_cut_is_said_so():
    pack = assemble([candidate("w", "immediate", content="字" * 400, keep="around")], budget=600, query="问" * 900)
    (warning,) = [text for text in pack.warnings if text.startswith("CONTEXT_QUERY_TRUNCATED: ")]
    assert "of its 900 characters" in warning
    assert warning in pack.layers.immediate.warnings
    whole = assemble([candidate("a")], budget=2000, query="问" * 900)
    assert not any(text.startswith("CONTEXT_QUERY_TRUNCATED") for text in whole.warnings)


def test_explanation_names_the_part_of_a_source_that_was_left_out():
    withheld = Omission("e1#fact0", "retrieved", "test:a", "timeline", "holds from chapter 7", aspect="fact “不再逃课”")
    pack = assemble([FakeFetcher([candidate("a")], omitted=[withheld])])
    assert str(pack.why("test:a")).splitlines()[0] == "test:a在提示词里：由test:a提供，没有说明理由"
    assert str(pack.why("test:a")).splitlines()[1] == (
        "test:a · fact “不再逃课”：写在之后，此处不提：holds from chapter 7"
    )
