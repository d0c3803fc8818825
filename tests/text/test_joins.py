"""Counts of sections add up when they are joined safely; this is what makes a budget exact."""

import itertools
import random

import pytest
from tests.text.samples import AWKWARD, CODE, EN, JA, KO, OTHER, ZH, samples

from armarius import TokenCounter

HEADS = [
    "[知识图谱 — 引用检测]\n",
    "## 角色：",
    "# ",
    "- 类型：",
    "第三章",
    "…",
    "「",
    "😀",
    "(",
    '"',
    "a",
    "1",
    "<data>\n",
]


def sections(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    texts = [ZH, EN, CODE, JA, KO, OTHER]
    out = []
    for i in range(count):
        text = rng.choice(texts)
        at = rng.randrange(len(text))
        body = text[at : at + rng.randrange(1, 150)].strip() or "空"
        if i % 5 == 0:
            body = "".join(rng.choice(AWKWARD) for _ in range(12)).strip() or "x"
        out.append(rng.choice(HEADS) + body if i % 2 else body)
    return out


@pytest.mark.parametrize("name", TokenCounter.encodings())
def test_counts_add_up_over_five_thousand_joins(name):
    counter = TokenCounter.for_encoding(name)
    assert counter.additive
    parts = sections(5_400, seed=11)
    with_separator = counter.count_batch(part + "\n\n" for part in parts)
    alone = counter.count_batch(parts)
    joined = counter.count_batch(a + "\n\n" + b for a, b in itertools.pairwise(parts))
    tested = 0
    for i, total in enumerate(joined):
        if counter.starts_safely(parts[i + 1]):
            tested += 1
            assert total == with_separator[i] + alone[i + 1], (parts[i][-20:], parts[i + 1][:20])
    assert tested >= 5_000


@pytest.mark.parametrize("name", TokenCounter.encodings())
def test_a_long_chain_of_sections_adds_up(name):
    counter = TokenCounter.for_encoding(name)
    parts = [p for p in sections(300, seed=5) if counter.starts_safely(p)]
    *before, last = parts
    total = sum(counter.count_batch(p + "\n\n" for p in before)) + counter.count(last)
    assert counter.count("\n\n".join(parts)) == total


@pytest.mark.parametrize("name", TokenCounter.encodings())
@pytest.mark.parametrize("separator", ["\n", "\n\n", "\n---\n", "\r\n"])
def test_any_separator_that_ends_a_line_joins_safely(name, separator):
    counter, rng = TokenCounter.for_encoding(name), random.Random(3)
    texts = samples(200, seed=9)
    for a in texts:
        b = rng.choice(texts)
        if counter.starts_safely(b):
            assert counter.count(a + separator + b) == counter.count(a + separator) + counter.count(b)


def test_a_slash_after_a_line_end_is_no_safe_start_where_the_pattern_takes_it():
    for name, safe in [("o200k", False), ("mistral", False), ("cl100k", True), ("qwen", True), ("deepseek", True)]:
        assert TokenCounter.for_encoding(name).starts_safely("/path") is safe
        assert not TokenCounter.for_encoding(name).starts_safely(" x")
        assert TokenCounter.for_encoding(name).starts_safely("")


def test_join_cost_is_what_the_separator_adds():
    counter = TokenCounter.for_encoding("o200k")
    assert counter.join_cost("word") == 1
    assert counter.join_cost("The end.") == 0


def test_the_estimate_of_a_whole_is_at_most_the_sum_of_its_parts():
    counter = TokenCounter.estimate()
    assert not counter.additive
    assert not counter.starts_safely("#")
    parts = samples(200, seed=2)
    assert counter.count("".join(parts)) <= sum(counter.count_batch(parts))
