"""Vector search: the approximate index and exact search in the store, beside hnswlib, USearch as it comes, and NumPy.

10,000 and 100,000 vectors of 768 dimensions, clustered as text embeddings are; queries near the data, not in it.
Answers are compared with exact search before anything is timed. `hnswlib` comes with the dependency group `bench` (it
compiles); without it the benchmark runs without that row. The larger size takes minutes and a gigabyte:
ARMARIUS_BENCH_VECTORS=10000 skips it.
"""

import importlib
import os
import tempfile
import time
from pathlib import Path

import apsw
import numpy as np
import pytest
from benches.record import interleaved, record

from armarius.store.sqlite import ann as ann_file
from armarius.store.sqlite import vectors as exact
from armarius.store.sqlite import vectors_rows as table
from armarius.store.sqlite.ann import AnnIndex
from armarius.store.sqlite.connection import connect
from armarius.store.sqlite.schema import create
from armarius.store.vectors_protocol import Fingerprint

_DIMENSION = 768
_QUERIES = 100
_SIZES = [int(size) for size in os.environ.get("ARMARIUS_BENCH_VECTORS", "10000,100000").split(",")]


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def data(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(300, _DIMENSION)).astype(np.float32)
    rows = centres[rng.integers(0, 300, count)] + 0.9 * rng.normal(size=(count, _DIMENSION)).astype(np.float32)
    pairs = rng.integers(0, count, (2, _QUERIES))
    noise = 0.3 * rng.normal(size=(_QUERIES, _DIMENSION)).astype(np.float32)
    return unit(rows.astype(np.float32)), unit((rows[pairs[0]] + 0.4 * rows[pairs[1]] + noise).astype(np.float32))


def timed(run):
    start = time.perf_counter()
    result = run()
    return result, round(time.perf_counter() - start, 3)


def filled_store(folder: Path, rows: np.ndarray) -> tuple[apsw.Connection, table.SetRow]:
    (folder / "vectors.sqlite").touch()
    connection = connect(folder / "vectors.sqlite")
    create(connection, "bench")
    with connection:
        vector_set = table.create(connection, Fingerprint("bench", "bench", rows.shape[1]), "serving")
        owners = range(1, len(rows) + 1)
        table.carry(connection, vector_set, range(1 << 24), {owner: str(owner).encode() for owner in owners})
        query = "SELECT owner, text FROM vectors WHERE vector_set = ? ORDER BY owner"
        entries = list(connection.execute(query, (vector_set.id,)))
        for start in range(0, len(rows), 1000):
            table.store(connection, vector_set, entries[start : start + 1000], rows[start : start + 1000])
    return connection, vector_set


def hnsw_peer(rows: np.ndarray):
    try:
        hnswlib = importlib.import_module("hnswlib")
    except ImportError:
        return None
    index = hnswlib.Index(space="ip", dim=rows.shape[1])
    index.init_index(max_elements=len(rows), M=32, ef_construction=128, random_seed=1)
    index.set_num_threads(1)
    index.add_items(rows, np.arange(len(rows)))
    return index


@pytest.mark.slow
@pytest.mark.parametrize("count", _SIZES)
def test_search_agrees_with_exact_search(count):
    rows, queries = data(count)
    truth = np.argsort(-(queries @ rows.T), axis=1)[:, :10]

    def recall(search) -> float:
        return round(
            sum(len(set(search(q)) & set(t.tolist())) for q, t in zip(queries, truth, strict=True)) / truth.size, 4
        )

    figures: dict[str, dict[str, object]] = {}
    searches = {"NumPy, exact float32": lambda q: np.argpartition(-(rows @ q), 10)[:10].tolist()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (connection, vector_set), seconds = timed(lambda: filled_store(folder, rows))
        searches["sqlite-vec, exact"] = lambda q: [
            owner - 1 for owner, _ in exact.nearest(connection, vector_set, q, 10, None)
        ]
        size = (folder / "vectors.sqlite").stat().st_size
        figures["sqlite-vec, exact"] = {"build s": seconds, "bytes on disk": size}

        ours = AnnIndex(_DIMENSION)
        _, seconds = timed(lambda: ours.put(range(count), rows))
        sample = ours.tune(queries[:16], lambda q, limit: np.argsort(-(rows @ q))[:limit].tolist())
        searches["armarius, USearch f16"] = lambda q: ours.search(q, 10).keys.tolist()
        saved, save_seconds = timed(lambda: ann_file.save(ours, folder, 1))
        _, load_seconds = timed(lambda: ann_file.load(folder, saved))
        figures["armarius, USearch f16"] = {
            "build s": seconds,
            "bytes on disk": ann_file.size_on_disk(folder, saved),
            "save s": save_seconds,
            "verify and load s": load_seconds,
            "expansion": sample.expansion,
        }
        peer, seconds = timed(lambda: hnsw_peer(rows))
        if peer is not None:
            peer.set_ef(ours.expansion)
            searches["hnswlib"] = lambda q: peer.knn_query(q, k=10, num_threads=1)[0][0].tolist()
            _, save_seconds = timed(lambda: peer.save_index(str(folder / "hnswlib.bin")))
            hnswlib = importlib.import_module("hnswlib")
            again = hnswlib.Index(space="ip", dim=_DIMENSION)
            _, load_seconds = timed(lambda: again.load_index(str(folder / "hnswlib.bin")))
            figures["hnswlib"] = {
                "build s": seconds,
                "bytes on disk": (folder / "hnswlib.bin").stat().st_size,
                "save s": save_seconds,
                "load s": load_seconds,
            }
        for name_, search in searches.items():
            found = recall(search)
            assert found >= (0.98 if "USearch" in name_ else 0.9 if name_ == "hnswlib" else 0.999), (name_, found)
            figures.setdefault(name_, {})["recall@10"] = found
        turn = {name_: iter(np.tile(queries, (3, 1))) for name_ in searches}
        times = interleaved({n: lambda s=s, n=n: s(next(turn[n])) for n, s in searches.items()}, rounds=_QUERIES)
        connection.close()
    for name_, result in times.items():
        figures[name_] |= {"query p50 ms": round(result["p50"] * 1e3, 3), "query p95 ms": round(result["p95"] * 1e3, 3)}
    peers = ["usearch", "sqlite-vec", "hnswlib", "numpy", "apsw"]
    record(f"vectors_{count}", {"vectors": count, "dimension": _DIMENSION, "one building thread": figures}, peers=peers)
