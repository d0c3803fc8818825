"""The tokens of a prompt are those of its pieces: exactly, whatever a piece begins or ends with."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armarius
from armarius.prompt import counter as totals
from armarius.prompt.counter import CachedCounter
from armarius.prompt.render import SEPARATOR, PromptItem, layer_pieces, render
from armarius.testing import FixedCounter
from armarius.types import LAYERS, Candidate

ENCODINGS = sorted(armarius.TokenCounter.encodings())
COUNTERS = {name: CachedCounter(armarius.TokenCounter.for_encoding(name)) for name in ENCODINGS}
TEXTS = st.one_of(
    st.sampled_from(
        ["/usr/bin", "  indented", "\u3000\u3000段首", "\t", "…", "“是么？”", "\u0301mark", "don't", "\u200b", "a\r\n"]
    ),
    st.text(st.sampled_from("林渡说。\n /-“”'sABab12é\u0301\u3000🌊"), min_size=1, max_size=30),
)
ITEMS = st.lists(st.tuples(st.sampled_from(LAYERS), TEXTS, st.sampled_from(["", "[记忆]", "[Own group]"])), max_size=12)


def ordered(items):
    return [
        PromptItem(Candidate(id=f"c{at}", layer=layer, source="s", content=text, group=group), text)
        for at, (layer, text, group) in enumerate(sorted(items, key=lambda one: LAYERS.index(one[0])))
    ]


@given(items=ITEMS)
@settings(max_examples=120)
def test_pieces_put_together_are_the_layers(items):
    layers = layer_pieces(ordered(items)).items()
    pieces = {layer: [text + SEPARATOR * ends for text, ends in some] for layer, some in layers}
    assert {layer: "".join(some) for layer, some in pieces.items()} == render(ordered(items)).contents
    assert all(one.endswith("\n") for some in pieces.values() for one in some[:-1])


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(items=ITEMS)
@settings(max_examples=60)
def test_a_prompt_and_its_layers_are_counted_exactly_from_their_pieces(encoding, items):
    counter = COUNTERS[encoding]
    prompt = render(ordered(items))
    total, by_layer = counter.of_prompt(layer_pieces(ordered(items)))
    assert total == counter.counter.count(prompt.prompt)
    assert by_layer == {layer: counter.counter.count(content) for layer, content in prompt.contents.items()}


def test_a_counter_that_does_not_add_up_counts_the_whole():
    counter = CachedCounter(FixedCounter(per="word"))
    items = ordered([("rules", "one two", ""), ("immediate", "three", "")])
    prompt, layers = render(items), layer_pieces(items)
    assert counter.of_prompt(layers) == (counter.counter.count(prompt.prompt), None)
    assert counter.of_layers(layers)["rules"] == counter.counter.count(prompt.contents["rules"])


def test_a_text_counted_before_is_not_tokenised_again(monkeypatch):
    counter = CachedCounter(armarius.TokenCounter.for_encoding("o200k_base"))
    layers = layer_pieces(ordered([("rules", "一条规矩", ""), ("immediate", "现在", "")]))
    first = counter.of_prompt(layers)
    monkeypatch.setattr(armarius.TokenCounter, "count", None)
    monkeypatch.setattr(armarius.TokenCounter, "count_batch", None)
    assert counter.of_prompt(layers) == first


def test_development_mode_counts_the_whole_prompt_too_and_says_when_the_two_differ(monkeypatch, caplog):
    counter = CachedCounter(armarius.TokenCounter.for_encoding("o200k_base"))
    items = ordered([("rules", "一条规矩", "")])
    prompt, layers = render(items).prompt, layer_pieces(items)

    class Development:
        dev_mode = True

    monkeypatch.setattr(totals.sys, "flags", Development)
    assert counter.of_prompt(layers)[0] == counter.counter.count(prompt)
    assert not caplog.records
    wrong, _ = next(iter(layers["rules"]))
    counter._known[wrong] += 5
    assert counter.of_prompt(layers) == (counter.counter.count(prompt), None)
    assert "pieces count" in caplog.text


@given(texts=st.lists(st.text("a b\n/。雨", max_size=8), max_size=6))
@settings(max_examples=60)
def test_sections_are_counted_with_the_separator_and_apart_from_the_texts_alone(texts):
    plain = armarius.TokenCounter.for_encoding("o200k_base")
    measured = CachedCounter(plain)
    for _ in range(2):
        assert measured.sections(texts) == plain.count_batch([text + SEPARATOR for text in texts])
        assert measured.counts(texts) == plain.count_batch(texts)
        assert [measured.section(text) for text in texts] == measured.sections(texts)


def test_of_texts_and_of_sections_a_full_memory_holds_no_more_than_it_may_and_every_count_is_right(monkeypatch):
    monkeypatch.setattr(CachedCounter, "_MEMORY_CHARACTERS", 2_000)
    plain = armarius.TokenCounter.for_encoding("o200k_base")
    measured = CachedCounter(plain)
    texts = [f"第{n}段，" + "雨停了。" * (n % 40) for n in range(200)]
    for text in texts:
        assert measured.section(text) == plain.count(text + SEPARATOR)
        assert measured.count(text) == plain.count(text)
        assert measured._held == sum(map(len, measured._known)) + sum(map(len, measured._sections)) <= 2_000


def test_texts_are_few_however_short_they_are(monkeypatch):
    monkeypatch.setattr(CachedCounter, "_MEMORY_TEXTS", 100)
    plain = armarius.TokenCounter.for_encoding("o200k_base")
    measured = CachedCounter(plain)
    for number in range(400):
        text = f"第{number}段"
        assert (measured.count(text), measured.section(text)) == (plain.count(text), plain.count(text + SEPARATOR))
        assert len(measured._known) + len(measured._sections) <= 100
    texts = [f"第{number}章" for number in range(300)]
    assert measured.counts(texts) == plain.count_batch(texts)


def test_a_full_memory_of_counts_lets_the_half_go_that_it_knows_longest(monkeypatch):
    monkeypatch.setattr(CachedCounter, "_MEMORY_CHARACTERS", 1_000)
    plain = armarius.TokenCounter.for_encoding("o200k_base")
    measured = CachedCounter(plain)
    texts = [f"第{n:03}段，雨停了。" for n in range(400)]
    most = 0
    for n, text in enumerate(texts):
        assert measured.count(text) == plain.count(text)
        assert measured._held == sum(map(len, measured._known)) <= 1_000
        assert list(measured._known) == texts[n + 1 - len(measured._known) : n + 1], "the newest stay, in their order"
        most = max(most, len(measured._known))
    assert most * len(texts[0]) > 900
    assert measured.counts(texts) == plain.count_batch(texts)
