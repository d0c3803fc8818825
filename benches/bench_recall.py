"""Assembling with vectors beside assembling without, on a project of many paragraphs; the answers are compared first.

Two kinds of paragraphs and vectors, both of 768 dimensions:

scenes          English scenes, token vectors of a real MiniLM averaged: neighbourhoods as a real model makes them
random words    Chinese words strung at random, built-in lexical vectors: every paragraph is as far from every other,
                the worst case for an approximate index

MiniLM has 384 dimensions; its vectors are turned into 768 by a fixed orthogonal matrix, which changes no distance and
costs what text2vec costs. What is measured is search and fusion, not a model's forward pass.

ARMARIUS_BENCH_PARAGRAPHS sets the size (default 100,000: 10 to 30 minutes). ARMARIUS_BENCH_KEEP names a folder where
projects and indexes stay, so that a second run only measures.
"""

import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from benches import novels
from benches.bench_embedders import model_folder
from benches.record import interleaved, record
from safetensors.numpy import load_file

import armarius
from armarius import embedders
from armarius.embedders.folder import ModelFolder
from armarius.embedders.preprocess import Tokens
from armarius.vectors.embedder import Fingerprint

_PARAGRAPHS = int(os.environ.get("ARMARIUS_BENCH_PARAGRAPHS", "100000"))
_KEEP = os.environ.get("ARMARIUS_BENCH_KEEP")
_DIMENSION = 768
_ROUNDS = 100
_TRUTHS = 20
_MISSED = 0.02


@dataclass(frozen=True)
class AveragedTokens:
    """MiniLM's token vectors, averaged over a text and turned into 768 dimensions."""

    tokens: Tokens
    table: np.ndarray
    fingerprint: Fingerprint

    def embed(self, texts: Sequence[str], /) -> np.ndarray:
        rows = [self.table[ids].mean(axis=0) for ids in self.tokens.encode(texts, special=False)]
        return np.array(rows, np.float32).reshape(len(texts), _DIMENSION)


@cache
def averaged() -> AveragedTokens:
    folder = model_folder()
    words = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"]
    centred = words - words.mean(axis=0)
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(_DIMENSION, words.shape[1])))
    fingerprint = Fingerprint("MiniLM tokens, averaged", "bench-tokens", _DIMENSION, pooling="average")
    return AveragedTokens(Tokens(ModelFolder.open(folder), 256), (centred @ turn.T).astype(np.float32), fingerprint)


KINDS = {
    "scenes": (novels.english, novels.english_question, averaged),
    "random words": (
        lambda chooser: "".join(novels.chinese(chooser) for _ in range(3)),
        lambda chooser: novels.chinese(chooser)[:9],
        lambda: embedders.lexical(_DIMENSION),
    ),
}
FIGURES: dict[str, dict[str, object]] = {}


def recall_of(engine, queries) -> float:
    """recall@10 of what `similar` answers, against exact search in the store, for real queries."""
    semantic = engine.recall._current_semantic()
    storage, (serving, *_) = semantic._storage, semantic._storage.sets().values()
    found = wanted = 0
    for query in queries:
        vector = semantic._queries.vector(semantic._embedder, query)
        exact = storage.nearest(serving, vector, 10, None)
        truth = {place.path + str(place.paragraph) for place in storage.places([o for o, _ in exact]).values()}
        answer = {hit.path + str(hit.paragraph) for hit in engine.similar(query, limit=10)}
        found, wanted = found + len(truth & answer), wanted + len(truth)
    return round(found / wanted, 4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_assembling_with_vectors(tmp_path, monkeypatch, kind):
    paragraph, question, make = KINDS[kind]
    root = (Path(_KEEP) if _KEEP else tmp_path) / f"{kind.replace(' ', '-')}-{_PARAGRAPHS}"
    monkeypatch.setenv("ARMARIUS_CACHE", str(root / "cache"))
    again = (root / "novel").exists()
    if not again:
        novels.write(root / "novel", paragraph, _PARAGRAPHS)
    figures = FIGURES[kind] = {}
    start = time.perf_counter()
    with armarius.open(root / "novel", embedder=make()) as with_vectors, armarius.open(root / "novel") as without:
        figures["open again s" if again else "open and index s"] = round(time.perf_counter() - start, 1)
        start = time.perf_counter()
        with_vectors.recall.embed()
        figures["load and sample s" if again else "embed and build s"] = round(time.perf_counter() - start, 1)
        status = with_vectors.recall.status()
        assert status.index.vectors == _PARAGRAPHS
        chooser = random.Random(9)
        queries = [question(chooser) for _ in range(_ROUNDS)]
        if status.index.approximate:
            assert status.index.recall is not None
            figures["recall@10, sampled while building"] = status.index.recall.recall
            figures["expansion"] = status.index.recall.expansion
            figures["index bytes on disk"] = status.index.bytes_on_disk
            figures["recall@10, questions"] = recall_of(with_vectors, queries[:_TRUTHS])
            assert status.index.recall.recall >= 1 - _MISSED
        options = {"model": "gpt-4o", "budget": 8000, "document": "chapters/ch0003.md", "cursor": 500}
        for query in queries[:3]:
            before = [hit.reference for hit in without.retrieve(query)]
            assert [hit.reference for hit in with_vectors.retrieve(query)][: len(before)] == before
        fresh = random.Random(10)  # no query is asked twice: nothing is remembered
        runs = {
            "with vectors": lambda: with_vectors.assemble(query=question(fresh), **options),
            "without": lambda: without.assemble(query=question(fresh), **options),
            "similar": lambda: with_vectors.similar(question(fresh), limit=10),
        }
        for run in runs.values():
            run()
        timed = interleaved(runs, rounds=_ROUNDS)
    for name, result in timed.items():
        figures |= {f"{name}, {label} ms": round(result[key] * 1e3, 2) for label, key in _LABELS.items()}
    record(f"recall_{_PARAGRAPHS}", FIGURES, peers=["usearch", "sqlite-vec", "apsw"])


_LABELS = {"p50": "p50", "p95": "p95", "fastest": "min"}
