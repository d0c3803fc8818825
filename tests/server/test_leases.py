"""Two workers that embed one project: each text once, and whoever is killed holds nobody up for long."""

import threading
import time
from collections import Counter

import pytest

from armarius.vectors import project_vectors as queue
from armarius.vectors.embedder import Fingerprint

PARAGRAPHS = 60


class Counting:
    """Remembers what it embedded, of documents alone, slowly enough that workers meet."""

    fingerprint = Fingerprint(name="counting", dimension=4, model="0" * 64)

    def __init__(self):
        self.seen: Counter[str] = Counter()
        self.began = threading.Event()

    def embed_documents(self, texts):
        import numpy as np

        self.began.set()
        self.seen.update(texts)
        time.sleep(0.05)
        return np.tile(np.array([1, 0, 0, 0], np.float32), (len(texts), 1))

    def embed_queries(self, texts):
        import numpy as np

        return np.tile(np.array([1, 0, 0, 0], np.float32), (len(texts), 1))


@pytest.fixture
def text():
    return {"a.md": "# 第一章\n\n" + "\n\n".join(f"第{number}段：林默走过钟楼。" for number in range(PARAGRAPHS))}


def vectors(open_store):
    return open_store("p").vectors


def test_one_worker_has_the_lease_until_it_lets_go_or_its_time_is_over(open_store, open_shelf, tenant, text):
    open_shelf().project("p", tenant=tenant).write(text)
    mine, theirs = vectors(open_store), vectors(open_store)
    assert mine.lease(30)
    assert mine.lease(3)
    assert not theirs.lease(30)
    theirs.release()
    assert not theirs.lease(30)
    end = time.monotonic() + 60
    while not theirs.lease(30):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert not mine.lease(30)
    theirs.release()
    assert mine.lease(30)


def test_a_project_that_is_not_there_has_no_lease(open_store):
    assert not vectors(open_store).lease(30)


def test_a_lease_is_no_generation(open_store, open_shelf, tenant, text):
    novel = open_shelf().project("p", tenant=tenant)
    version = novel.write(text)
    assert vectors(open_store).lease(30)
    assert novel.version == version


def test_two_workers_embed_each_text_once(open_shelf, tenant, text):
    open_shelf().project("p", tenant=tenant).write(text)
    workers = [Counting(), Counting()]
    novels = [open_shelf(embedder=one).project("p", tenant=tenant) for one in workers]
    threads = [threading.Thread(target=lambda novel=novel: novel.recall.embed()) for novel in novels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    together = workers[0].seen + workers[1].seen
    assert sum(one.startswith("第") and "段" in one for one in together) == PARAGRAPHS
    assert max(together.values()) == 1
    for novel in novels:
        assert novel.recall.status().progress.done == novel.recall.status().progress.total


def test_another_goes_on_where_a_killed_one_was(open_store, open_shelf, tenant, text, monkeypatch):
    open_shelf().project("p", tenant=tenant).write(text)
    assert vectors(open_store).lease(4)  # of a worker that never comes back
    worker = Counting()
    novel = open_shelf(embedder=worker).project("p", tenant=tenant)
    began = time.monotonic()
    assert novel.recall.embed().done >= PARAGRAPHS
    assert 0.5 < time.monotonic() - began < 60
    assert max(worker.seen.values()) == 1


def test_a_worker_whose_model_fails_lets_others(open_shelf, tenant, text):
    open_shelf().project("p", tenant=tenant).write(text)
    broken, sound = Counting(), Counting()
    broken.embed_documents = lambda texts: (_ for _ in ()).throw(OSError("no model"))
    first = open_shelf(embedder=broken).project("p", tenant=tenant)
    with pytest.raises(Exception, match="no model"):
        first.recall.embed()
    began = time.monotonic()
    assert open_shelf(embedder=sound).project("p", tenant=tenant).recall.embed().done >= PARAGRAPHS
    assert time.monotonic() - began < queue._LEASE_S / 2
