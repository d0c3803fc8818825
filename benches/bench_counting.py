"""Counting and truncating beside tiktoken, rs_bpe, bpe-openai and Hugging Face tokenizers.

Chinese from ARMARIUS_CORPUS (a folder with chapters/*.md; without it the shipped example), English from the
standard library's manual. Fresh: every round counts a piece that nobody has counted before, because repeats flatter
whoever remembers; warm: the same 2 kB again and again. All answers are compared before anything is timed.
rs_bpe and bpe-openai take part where they are installed (`pip install rs-bpe bpe-openai`).
"""

import os
import pydoc_data.topics
import statistics
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
import tiktoken_ext.openai_public as openai
from benches.record import interleaved, record
from tests.text.reference import tiktoken, vocabulary

from armarius import TokenCounter, truncate

CORPUS = Path(os.environ.get("ARMARIUS_CORPUS", Path(__file__).parents[1] / "examples/novel"))
SIZE, ROUNDS = 200_000, 9
FIGURES: dict[str, object] = {}


def texts():
    zh = "".join(p.read_text("utf-8") for p in sorted(CORPUS.glob("chapters/*.md")))
    en = "\n".join(pydoc_data.topics.topics.values())
    return {"zh": zh, "en": en}


def peers(name, monkeypatch):
    """Counters of other libraries for one encoding."""
    ranks = {token: rank for rank, token in enumerate(vocabulary(name))}
    monkeypatch.setattr(openai, "load_tiktoken_bpe", lambda *_, **__: ranks)
    reference = tiktoken.Encoding(**getattr(openai, name)())
    found = {"tiktoken": lambda text: len(reference.encode_ordinary(text))}
    if find_spec("rs_bpe"):
        from rs_bpe.bpe import openai as rs

        found["rs_bpe"] = getattr(rs, name)().count
    if find_spec("bpe_openai"):
        from bpe_openai import get_encoding

        crate = get_encoding(name)
        found["bpe-openai"] = lambda text: len(crate.encode_ordinary(text))
    return found


def chunks(text):
    """Pieces of SIZE bytes, none of which repeats another."""
    step = SIZE * len(text) // len(text.encode())
    return [text[at : at + step] for at in range(0, len(text) - step, step)]


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_counting(name, language, monkeypatch):
    counter = TokenCounter.for_encoding(name)
    contestants = {"armarius": counter.count} | peers(name, monkeypatch)
    parts = chunks(texts()[language])
    for count in contestants.values():
        assert count(parts[0]) == counter.count(parts[0])
        parts[0].encode()
    rates = {who: [] for who in contestants}
    for part in parts[1 : ROUNDS + 1]:
        size = len(part.encode())
        for who, count in contestants.items():
            count("a")
            start = time.perf_counter()
            count(part)
            rates[who].append(size / (time.perf_counter() - start) / 1e6)
    short = texts()[language][:700]
    warm = interleaved({w: (lambda c=c: c(short)) for w, c in contestants.items()}, rounds=30, inner=20)
    FIGURES[f"{name} {language}"] = {
        "fresh MB/s": {who: round(statistics.median(values), 1) for who, values in rates.items()},
        "warm 2 kB MB/s": {who: round(len(short.encode()) / warm[who]["p50"] / 1e6, 1) for who in contestants},
    }
    record("counting", FIGURES, peers=["tiktoken", "tokenizers", "rs-bpe", "bpe-openai"])


@pytest.mark.parametrize("name", TokenCounter.encodings())
def test_loading_and_counting_every_encoding(name):
    start = time.perf_counter()
    counter = TokenCounter.for_encoding(name)
    loading = time.perf_counter() - start
    rates = {}
    for language, text in texts().items():
        parts = chunks(text)[:ROUNDS]
        times = []
        for part in parts:
            size, start = len(part.encode()), time.perf_counter()
            counter.count(part)
            times.append(size / (time.perf_counter() - start) / 1e6)
        rates[f"{language} fresh MB/s"] = round(statistics.median(times), 1)
    FIGURES[name] = {"load ms": round(loading * 1e3, 1)} | rates
    record("counting", FIGURES, peers=["tiktoken", "tokenizers", "rs-bpe", "bpe-openai"])


def test_long_runs_take_linear_time():
    counter = TokenCounter.for_encoding("o200k_base")
    figures = {}
    for what, unit, times in [("a", "a", 10**6), ("=", "=", 10**5), ("Han", "的", 10**6), ("emoji", "😀", 10**5)]:
        half, whole = unit * (times // 2), unit * times
        timed = interleaved(
            {"half": lambda t=half: counter.count(t), "whole": lambda t=whole: counter.count(t)}, rounds=5
        )
        figures[f"{times:,} x {what}"] = {k: round(v["min"] * 1e3, 1) for k, v in timed.items()}
    FIGURES["long runs ms"] = figures
    record("counting", FIGURES, peers=["tiktoken", "tokenizers", "rs-bpe", "bpe-openai"])


@pytest.mark.parametrize("budget", [500, 4_000, 100_000])
def test_truncating_a_megabyte(budget, monkeypatch):
    text = (texts()["zh"] * 20)[:350_000]
    counter = TokenCounter.for_encoding("o200k_base")
    contestants = {
        "armarius sentence": lambda: truncate(text, budget, counter=counter),
        "armarius character": lambda: truncate(text, budget, boundary="character", counter=counter),
        "armarius tail": lambda: truncate(text, budget, keep="tail", counter=counter),
        "armarius around": lambda: truncate(text, budget, keep="around", anchor=200_000, counter=counter),
    }
    for run in contestants.values():
        cut = run()
        assert counter.count(cut.text) == cut.tokens <= budget
    timed = interleaved(contestants, rounds=20)
    FIGURES[f"1 MB zh to {budget} tokens, ms"] = {k: round(v["p50"] * 1e3, 3) for k, v in timed.items()}
    record("counting", FIGURES, peers=["tiktoken", "tokenizers", "rs-bpe", "bpe-openai"])


@pytest.mark.parametrize(("what", "unit"), [("blanks", " "), ("=", "="), ("line ends", "\n"), ("letters", "a")])
def test_truncating_a_run_of_one_sign(what, unit):
    """No place inside shows where tokens end: the worst case of a cut, to 50 tokens and to 500."""
    counter = TokenCounter.for_encoding("o200k_base")
    contestants = {budget: lambda b=budget: truncate(unit * 200_000, b, counter=counter) for budget in (50, 500)}
    for budget, run in contestants.items():
        assert run().tokens <= budget
    timed = interleaved(contestants, rounds=5)
    FIGURES[f"200,000 x {what} to 50 / 500 tokens, ms"] = [round(v["p50"] * 1e3, 2) for v in timed.values()]
    record("counting", FIGURES, peers=["tiktoken", "tokenizers", "rs-bpe", "bpe-openai"])
