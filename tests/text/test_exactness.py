"""Counts equal those of other implementations, for every encoding that ships."""

import pytest
import tiktoken_ext.openai_public as openai
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.text.reference import published_hash, reference
from tests.text.samples import AWKWARD, samples

from armarius import TokenCounter

ENCODINGS = TokenCounter.encodings()


@pytest.mark.parametrize("name", ENCODINGS)
def test_counts_equal_the_reference_on_ten_thousand_strings(name):
    count, expected = TokenCounter.for_encoding(name).count, reference(name)
    pairs = [(text, expected(text), count(text)) for text in samples(10_000, seed=len(name))]
    assert [pair for pair in pairs if pair[1] != pair[2]][:5] == []


@pytest.mark.parametrize("name", ENCODINGS)
@settings(max_examples=100)
@given(text=st.one_of(st.text(max_size=60), st.text(st.sampled_from("".join(AWKWARD)), max_size=60)))
def test_counts_equal_the_reference_on_any_string(name, text):
    assert TokenCounter.for_encoding(name).count(text) == reference(name)(text)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_openai_vocabularies_hash_to_the_published_files(name, monkeypatch):
    hashes = []
    monkeypatch.setattr(openai, "load_tiktoken_bpe", lambda _, expected_hash: hashes.append(expected_hash) or {})
    getattr(openai, name)()
    assert [published_hash(name)] == hashes


@pytest.mark.parametrize("name", ENCODINGS)
def test_long_runs_are_counted_like_short_ones(name):
    count, expected = TokenCounter.for_encoding(name).count, reference(name)
    for unit in ("a", "=", " ", "\n", "的", "字言", "😀", "👨‍👩‍👧", "ab", "1", "é", "가", "-=", " a"):
        assert count(unit * 1_000) == expected(unit * 1_000), unit
