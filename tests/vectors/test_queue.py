import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc

import numpy as np
import pytest
from tests.vectors.stores import CountingEmbedder, chapter, stored_vectors

from armarius import embedders
from armarius.errors import EmbeddingError
from armarius.store.sqlite.location import IndexPlace
from armarius.store.sqlite.store import SqliteStore
from armarius.vectors.project_vectors import EmbeddingQueue


@pytest.fixture
def store(open_store):
    store = open_store()
    store.vectors.adopt(CountingEmbedder().fingerprint)
    store.apply([chapter(n, *(f"第{n}章的第{i}个段落" for i in range(10))) for n in range(1, 6)])
    return store


@pytest.fixture
def run(store):
    queues = []

    def make(embedder, **options):
        queues.append(EmbeddingQueue(store.vectors, lambda: {"serving": embedder}, **options))
        return queues[-1]

    yield make
    for queue in queues:
        queue.cancel()


def test_everything_is_embedded_once_and_progress_says_so(store, run):
    embedder = CountingEmbedder()
    queue = run(embedder)
    assert (queue.progress().done, queue.progress().total) == (0, 50)
    queue.start()
    assert queue.wait(60)
    assert (queue.progress().done, queue.progress().total, queue.progress().running) == (50, 50, False)
    assert len(embedder.seen) == len(set(embedder.seen)) == 50
    assert len(stored_vectors(store.vectors)) == 50


def test_documents_in_focus_come_first(run):
    embedder = CountingEmbedder()
    queue = run(embedder)
    queue.focus(["chapters/ch004.md", "chapters/ch002.md"])
    queue.start()
    queue.wait(60)
    assert embedder.seen[:20] == [f"第{n}章的第{i}个段落" for n in (4, 2) for i in range(10)]


def test_cancel_keeps_what_is_done_and_start_resumes(store, run):
    embedder = CountingEmbedder(gate=threading.Event())
    queue = run(embedder)
    queue.start()
    stopper = threading.Thread(target=queue.cancel)
    stopper.start()
    time.sleep(0.05)
    embedder.gate.set()
    stopper.join()
    done = queue.progress().done
    assert 0 < done < 50
    queue.start()
    queue.wait(60)
    assert len(embedder.seen) == 50, "nothing was embedded twice"


def test_a_paragraph_that_changes_while_it_waits_is_not_embedded(store, run):
    embedder = CountingEmbedder(gate=threading.Event())
    queue = run(embedder)
    queue.start()
    store.apply([chapter(5, "最后一章改写了")])
    embedder.gate.set()
    queue.start()
    queue.wait(60)
    assert "最后一章改写了" in embedder.seen
    assert not [text for text in embedder.seen if text.startswith("第5章")]
    assert store.verify() == []


def test_a_failing_embedder_stops_the_queue_with_its_reason_and_start_tries_again(run):
    embedder = CountingEmbedder(error=EmbeddingError("weights are damaged"))
    queue = run(embedder)
    queue.start()
    with pytest.raises(EmbeddingError, match="weights are damaged"):
        queue.wait(60)
    assert "damaged" in queue.progress().error
    embedder.error = None
    queue.start()
    assert queue.wait(60)
    assert queue.progress().done == 50


def test_batches_grow_and_stay_bounded(store, run):
    embedder = CountingEmbedder()
    store.apply([chapter(9, *(f"很长的一章里第{i}个段落" for i in range(900)))])
    queue = run(embedder)
    queue.start()
    queue.wait(30)
    assert embedder.sizes[0] == 8
    assert max(embedder.sizes) == 256


def test_work_that_arrives_later_is_picked_up(store, run):
    embedder, settled = CountingEmbedder(), []
    queue = run(embedder, settled=lambda: settled.append(1))
    queue.start()
    queue.wait(60)
    store.apply([chapter(7, "后来的一个段落")])
    queue.start()
    queue.wait(60)
    assert embedder.seen[-1] == "后来的一个段落"
    assert len(settled) >= 2


async def test_the_event_loop_keeps_beating_during_one_forward_pass_of_a_real_model(minilm):
    embedder, beats = embedders.safetensors(minilm), 0
    ids = np.full((8, 256), 1999, np.int64)

    async def heartbeat():
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.001)

    pulse = asyncio.create_task(heartbeat())
    await asyncio.sleep(0.002)
    before = beats
    await asyncio.to_thread(embedder.forward, ids, np.ones_like(ids))
    pulse.cancel()
    assert beats - before > 5, "a pass that held the interpreter would leave one or two"


@pytest.mark.skipif(os.name == "nt", reason="kill -9")
def test_vectors_survive_kill_9_and_only_what_is_missing_is_embedded(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    script = textwrap.dedent(f"""
        import sys, time
        from armarius.store.sqlite.location import IndexPlace
        from armarius.store.sqlite.store import SqliteStore
        from armarius.vectors.project_vectors import EmbeddingQueue
        from tests.vectors.stores import CountingEmbedder, chapter
        from pathlib import Path

        class Slow(CountingEmbedder):
            def embed(self, texts, /):
                time.sleep(0.02)
                return super().embed(texts)

        store, embedder = SqliteStore.open(IndexPlace(Path({str(tmp_path / "p")!r})), project_id="p"), Slow()
        store.vectors.adopt(embedder.fingerprint)
        store.apply([chapter(n, *(f"第{{n}}章的第{{i}}个段落" for i in range(100))) for n in range(1, 20)])
        queue = EmbeddingQueue(store.vectors, lambda: {{"serving": embedder}})
        queue.start()
        print("ready", flush=True)
        time.sleep(60)
    """)
    child = subprocess.Popen([sys.executable, "-W", "ignore", "-c", script], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    time.sleep(0.15)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    store, embedder = SqliteStore.open(IndexPlace(tmp_path / "p"), project_id="p"), CountingEmbedder()
    assert store.files() == {}, "documents are read again"
    store.apply([chapter(n, *(f"第{n}章的第{i}个段落" for i in range(100))) for n in range(1, 20)])
    assert store.verify() == []
    queue = EmbeddingQueue(store.vectors, lambda: {"serving": embedder})
    before = queue.progress().done
    assert 0 < before < 1900
    queue.start()
    assert queue.wait(30)
    assert len(embedder.seen) == 1900 - before, "only what was missing"
    queue.cancel()
    assert store.verify() == []
    store.close()


def test_memory_does_not_grow_with_the_number_of_texts(open_store):
    """What is held at once is a batch, whatever waits."""
    store, embedder = open_store(), Forgetful()
    store.vectors.adopt(embedder.fingerprint)
    peaks = []
    for first, chapters in ((1, 40), (100, 400)):
        store.apply([chapter(n, *(f"第{n}章的第{i}个段落" for i in range(15))) for n in range(first, first + chapters)])
        queue = EmbeddingQueue(store.vectors, lambda: {"serving": embedder})
        tracemalloc.start()
        queue.start()
        assert queue.wait(60)
        queue.cancel()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    few, many = peaks
    assert many < 2 * few + 1_000_000, peaks
    assert many < 6000 * 4 * embedder.dimension / 3, "far from all vectors at once"


class Forgetful(CountingEmbedder):
    """Keeps no record, so that only the queue's memory counts."""

    def __init__(self):
        super().__init__(dimension=768)

    def embed(self, texts, /):
        return np.array([self.vector(text) for text in texts], np.float32)
