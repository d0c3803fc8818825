"""What a counter says of itself, and how it fails."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.reference import deepseek
from tests.text.samples import ZH, samples

from armarius import TokenCounter
from armarius.errors import ContractError, CounterError

CASES = Path(__file__).parents[1] / "cases/models.json"


@pytest.mark.parametrize("row", json.loads(CASES.read_text("utf-8")), ids=lambda row: row["model"])
def test_a_model_gets_its_encoding_or_says_that_it_is_not_exact(row):
    counter = TokenCounter.for_model(row["model"])
    assert (counter.encoding, counter.exact) == (row["encoding"], row["exact"])
    names = {True: row["encoding"], False: f"~{row['encoding']}" if row["encoding"] else "estimate"}
    assert counter.name == names[row["exact"]]
    assert counter.note.split(":")[0] in {"exact", "approximate", "estimate"}


def test_an_unknown_encoding_is_an_error_that_lists_the_known_ones():
    with pytest.raises(CounterError, match=r'"klingon".*o200k_base.*qwen2'):
        TokenCounter.for_encoding("klingon")


@given(st.text())
def test_the_estimate_weighs_cjk_characters_and_other_bytes(text):
    def cjk(c):
        wide = [(0x2E80, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFE30, 0xFE4F), (0xFF00, 0xFFEF)]
        return any(a <= ord(c) <= b for a, b in [*wide, (0x20000, 0x3FFFF)])

    quarters = sum(6 if cjk(c) else len(c.encode()) for c in text)
    assert TokenCounter.estimate().count(text) == -(-quarters // 4)


@pytest.mark.parametrize("name", TokenCounter.encodings())
def test_no_tokenizer_exceeds_the_bound_of_an_approximate_counter(name):
    exact, claude = TokenCounter.for_encoding(name), TokenCounter.for_model("claude-opus-4")
    for text in samples(500, seed=7):
        assert exact.count(text) <= claude.upper_bound(text)
        assert exact.upper_bound(text) == exact.count(text)


def test_a_batch_counts_like_one_by_one():
    counter, texts = TokenCounter.for_encoding("o200k"), samples(500, seed=3)
    assert counter.count_batch(texts) == [counter.count(text) for text in texts]
    assert counter.count_batch(iter([])) == []


def test_a_tokenizer_file_counts_as_the_tokenizers_library_does(tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer = deepseek()
    tokenizer.save(str(path))
    counter = TokenCounter.from_file(path)
    assert (counter.name, counter.encoding, counter.exact) == ("tokenizer.json", None, True)
    for text in samples(300, seed=5):
        assert counter.count(text) == len(tokenizer.encode(text).ids)


def test_control_tokens_of_a_tokenizer_file_count_as_text(tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer = deepseek()
    tokenizer.save(str(path))
    data = json.loads(path.read_text("utf-8"))
    flags = dict.fromkeys(["single_word", "lstrip", "rstrip", "normalized"], False)
    data["added_tokens"] = [{"id": 200_000, "content": "<|stop|>", "special": True, **flags}]
    path.write_text(json.dumps(data), "utf-8")
    assert TokenCounter.from_file(path).count("<|stop|>") == len(tokenizer.encode("<|stop|>").ids)


@pytest.mark.parametrize("content", [None, "", "{}", "[1]", "not json"])
def test_a_file_that_is_no_tokenizer_is_an_error_that_names_it(tmp_path, content):
    path = tmp_path / "broken.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CounterError, match=r"broken\.json"):
        TokenCounter.from_file(path)


@pytest.mark.parametrize("wrong", ["a\ud800", 5, None, b"x"])
def test_what_cannot_be_counted_is_refused_by_name(wrong):
    with pytest.raises(ContractError, match=r"^text"):
        TokenCounter.estimate().count(wrong)
    with pytest.raises(ContractError, match=r"^texts\[1\]"):
        TokenCounter.estimate().count_batch(["a", wrong])


async def test_counting_a_long_text_lets_the_event_loop_run():
    counter, beats, done = TokenCounter.for_encoding("o200k"), 0, False

    async def heartbeat():
        nonlocal beats
        while not done:
            beats += 1
            await asyncio.sleep(0)

    pulse = asyncio.create_task(heartbeat())
    await asyncio.sleep(0)
    before = beats
    await asyncio.to_thread(counter.count, ZH * 200)
    done = True
    await pulse
    assert beats > before + 1


@pytest.mark.parametrize(
    ("model", "near"),
    [
        ("gpt-99", ()),
        ("gpt-4.9", ()),
        ("gpt-4p", ("gpt-4", "gpt-4o")),
        ("gpt4", ("gpt-4",)),
        ("gtp-4o", ("gpt-4o",)),
        ("claud-3-opus", ("claude-3-opus",)),
    ],
)
def test_a_model_near_an_unknown_one_has_no_made_up_version(model, near):
    assert TokenCounter.near(model) == near
