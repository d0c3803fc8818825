import asyncio
import dataclasses
import os
import random
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armarius.errors import DimensionMismatch, StoreCorrupt, StoreFull
from armarius.store.sqlite import ann as ann_file
from armarius.store.sqlite.ann import AnnIndex
from armarius.store.vectors_protocol import unit_rows


def points(count, dimension=32, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(12, dimension))
    return (centres[rng.integers(0, 12, count)] + rng.normal(size=(count, dimension))).astype(np.float32)


def filled(vectors):
    index = AnnIndex(vectors.shape[1])
    index.put(range(len(vectors)), vectors)
    return index


def nearest(vectors, query, limit, gone=()):
    similarity = unit_rows(vectors) @ unit_rows(query[None])[0]
    similarity[list(gone)] = -2
    return np.argsort(-similarity, kind="stable")[:limit].tolist()


def test_small_indexes_equal_exact_search_with_similarities():
    vectors = points(60)
    index = filled(vectors)
    for query in points(20, seed=1):
        found = index.search(query, 10)
        assert set(found.keys.tolist()) == set(nearest(vectors, query, 10))
        expected = unit_rows(vectors)[found.keys] @ unit_rows(query[None])[0]
        np.testing.assert_allclose(found.similarities, expected, atol=2e-3)
        assert (np.diff(found.similarities) <= 0).all()


def test_removed_keys_do_not_come_back_and_replaced_ones_move():
    vectors = points(50)
    index = filled(vectors)
    index.remove([3, 4, 999])
    index.put([7], -vectors[8:9])
    assert len(index) == 48
    assert index.search(vectors[3], 48).keys.tolist().count(3) == 0
    assert index.search(-vectors[8], 1).keys.tolist() == [7]


def test_the_same_vectors_give_the_same_bytes():
    assert filled(points(300)).to_bytes() == filled(points(300)).to_bytes()


def test_an_empty_index_and_a_limit_of_zero_find_nothing():
    assert AnnIndex(8).search(np.ones(8, np.float32), 5).keys.size == 0
    assert filled(points(5)).search(points(1)[0], 0).keys.size == 0


def test_a_vector_of_another_dimension_is_refused():
    index = filled(points(5))
    with pytest.raises(DimensionMismatch, match="32 dimensions"):
        index.search(np.ones(8, np.float32), 1)
    with pytest.raises(DimensionMismatch, match="32 dimensions"):
        index.put([1], np.ones((1, 8), np.float32))


def test_the_graph_is_worn_at_thirty_percent_removed():
    index = filled(points(100))
    index.remove(range(30))
    assert not index.worn
    index.remove([30])
    assert index.worn


def test_recall_is_sampled_and_expansion_raised_until_the_target():
    vectors = np.random.default_rng(0).normal(size=(4000, 128)).astype(np.float32)
    index = filled(vectors)
    queries = np.random.default_rng(1).normal(size=(24, 128)).astype(np.float32)
    before = index.expansion
    sample = index.tune(queries, lambda query, limit: nearest(vectors, query, limit))
    assert sample.recall >= 0.98
    assert (sample.queries, sample.expansion) == (24, index.expansion)
    assert index.expansion > before, "unstructured vectors need more than the first expansion"


def test_a_saved_index_answers_like_the_one_in_memory(tmp_path):
    vectors = points(400)
    index = filled(vectors)
    saved = ann_file.save(index, tmp_path, sequence=7)
    loaded = ann_file.load(tmp_path, saved)
    assert (len(loaded), loaded.expansion, saved.sequence) == (400, index.expansion, 7)
    for query in points(10, seed=2):
        np.testing.assert_array_equal(loaded.search(query, 10).keys, index.search(query, 10).keys)
    loaded.put([1000], vectors[:1])
    assert len(loaded) == 401


def test_two_hundred_damaged_files_never_reach_the_loader(tmp_path, monkeypatch):
    saved = ann_file.save(filled(points(300)), tmp_path, sequence=1)
    path = next(tmp_path.glob("*.usearch"))
    good = path.read_bytes()
    monkeypatch.setattr(AnnIndex, "from_verified_bytes", lambda *_args, **_kwargs: pytest.fail("damage reached load"))
    chooser = random.Random(5)
    for round_ in range(200):
        data = bytearray(good)
        match round_ % 5:
            case 0:
                data[chooser.randrange(len(data))] ^= 1 << chooser.randrange(8)
            case 1:
                del data[chooser.randrange(len(data)) :]
            case 2:
                start = chooser.randrange(len(data) - 64)
                data[start : start + 64] = bytes(byte ^ 0xA5 for byte in data[start : start + 64])
            case 3:
                data += chooser.randbytes(16)
            case _:
                for _ in range(100):
                    data[chooser.randrange(200)] = chooser.randrange(256)
                data[0] ^= 255
        path.write_bytes(data)
        with pytest.raises(StoreCorrupt, match="damaged"):
            ann_file.load(tmp_path, saved)


def test_a_missing_file_and_a_file_of_another_index_are_refused(tmp_path):
    saved = ann_file.save(filled(points(30)), tmp_path, sequence=1)
    with pytest.raises(StoreCorrupt, match="expected"):
        ann_file.load(tmp_path, dataclasses.replace(saved, count=31))
    ann_file.remove_old_files(tmp_path, None)
    with pytest.raises(StoreCorrupt, match="cannot be read"):
        ann_file.load(tmp_path, saved)


def test_a_failed_save_leaves_the_old_file_and_no_debris(tmp_path, monkeypatch):
    saved = ann_file.save(filled(points(30)), tmp_path, sequence=1)
    monkeypatch.setattr(os, "fsync", lambda _handle: (_ for _ in ()).throw(OSError("no space left")))
    with pytest.raises(StoreFull, match="no space"):
        ann_file.save(filled(points(31)), tmp_path, sequence=2)
    monkeypatch.undo()
    assert len(list(tmp_path.iterdir())) == 1
    assert len(ann_file.load(tmp_path, saved)) == 30


def test_sweep_keeps_only_the_current_file(tmp_path):
    ann_file.save(filled(points(30)), tmp_path, sequence=1)
    current = ann_file.save(filled(points(31)), tmp_path, sequence=2)
    ann_file.remove_old_files(tmp_path, current)
    assert len(list(tmp_path.glob("*.usearch"))) == 1
    assert len(ann_file.load(tmp_path, current)) == 31


def test_sweep_leaves_the_users_own_files_and_what_a_link_leads_to(tmp_path):
    folder, mine = tmp_path / "index", tmp_path / "mine.usearch"
    folder.mkdir()
    mine.write_bytes(b"mine")
    (folder / "photos.usearch").write_bytes(b"of the user")
    (folder / "vectors-0123456789abcdef.usearch").symlink_to(mine)
    ann_file.remove_old_files(folder, None)
    assert sorted(path.name for path in folder.iterdir()) == ["photos.usearch", "vectors-0123456789abcdef.usearch"]
    assert mine.read_bytes() == b"mine"


def test_a_file_larger_than_was_saved_is_refused_unread(tmp_path):
    saved = ann_file.save(filled(points(30)), tmp_path, sequence=1)
    with next(tmp_path.iterdir()).open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(StoreCorrupt, match=r"cannot be read .*too large"):
        ann_file.load(tmp_path, saved)


def test_searching_while_writing_neither_crashes_nor_invents_keys():
    vectors = points(600, 64)
    index = filled(vectors[:300])
    stop = threading.Event()
    seen: set[int] = set()

    def search():
        while not stop.is_set():
            seen.update(index.search(vectors[0], 20).keys.tolist())

    readers = [threading.Thread(target=search) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(3):
        index.put(range(300, 600), vectors[300:])
        index.remove(range(300, 600))
    stop.set()
    for reader in readers:
        reader.join()
    assert seen <= set(range(600))
    assert len(index) == 300


async def test_building_leaves_the_event_loop_responsive():
    vectors = points(1500, 256)
    beats = []

    async def heartbeat():
        while True:
            beats.append(time.perf_counter())
            await asyncio.sleep(0.005)

    pulse = asyncio.create_task(heartbeat())
    await asyncio.to_thread(filled, vectors)
    pulse.cancel()
    assert len(beats) > 10, "the loop ran while the graph was built"


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=60))
def test_any_order_of_puts_and_removes_equals_a_dictionary(steps):
    vectors = points(31, 16)
    index, model = AnnIndex(16), set()
    for add, key in steps:
        if add:
            index.put([key], vectors[key : key + 1])
            model.add(key)
        else:
            index.remove([key])
            model.discard(key)
    assert len(index) == len(model)
    assert set(index.search(vectors[0], 31).keys.tolist()) == model
