"""The project index on a long novel: build, save, search, watch, reopen, size. Answers are checked, then timed.

Needs a novel: ARMARIUS_CORPUS names a folder with `chapters/`; without it the benchmark is skipped.
"""

import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest
from benches.record import record, summary
from benches.working_copy import working_copy

from armarius.documents.document import list_documents
from armarius.index.project_index import ProjectIndex
from armarius.store.protocol import TextQuery

_PAIRS = 300


@pytest.fixture(scope="module")
def novel(tmp_path_factory):
    return working_copy(tmp_path_factory.mktemp("bench"))


def timed(call):
    start = time.perf_counter()
    answer = call()
    return time.perf_counter() - start, answer


class Clock:
    """Wall and processor time of repeated calls: on a busy machine only the latter says something about the code."""

    def __init__(self):
        self.wall, self.processor = [], []

    def __call__(self, call):
        wall, processor = time.perf_counter(), time.process_time()
        answer = call()
        self.processor.append(time.process_time() - processor)
        self.wall.append(time.perf_counter() - wall)
        return answer

    def figures(self):
        return {"wall": summary(self.wall), "processor": summary(self.processor)}


def clocked(calls):
    clock = Clock()
    for call in calls:
        clock(call)
    return clock.figures()


def names(texts, length, count):
    """Different random Han substrings, the same in every run."""
    chooser = random.Random(length)
    found = {}
    while len(found) < count:
        text = chooser.choice(texts)
        at = chooser.randrange(max(1, len(text) - length))
        if re.fullmatch(r"[\u4e00-\u9fff]+", piece := text[at : at + length]) and len(piece) == length:
            found[piece] = None
    return list(found)


def truth(passages, term):
    return {key for key, text in passages.items() if term in text}


def test_index_of_a_long_novel(novel):
    documents = list_documents(novel).documents
    passages = {(d.path, p.index): d.text[p.start : p.end] for d in documents for p in d.paragraphs}
    size = sum(len(d.text.encode()) for d in documents)

    builds, searched, reopened, saved = Clock(), Clock(), Clock(), Clock()
    for _ in range(5):
        shutil.rmtree(os.environ["ARMARIUS_CACHE"], ignore_errors=True)
        index = builds(lambda: ProjectIndex.open(novel))
        assert [index.store.document(d.path) for d in documents] == list(documents)
        mentions = index.status().mentions
        assert searched(lambda: index.search("的"))  # noqa: B023 - called at once; it writes the full text first
        index.close()
    index_bytes = sum(file.stat().st_size for file in Path(os.environ["ARMARIUS_CACHE"]).rglob("index.sqlite*"))

    for _ in range(10):
        reopened(lambda: ProjectIndex.open(novel)).close()

    with ProjectIndex.open(novel) as index:
        texts = list(passages.values())
        quality, queries = {}, {}
        for length in (1, 2, 3, 4):
            terms = names(texts, length, 100)
            found = {term: {(h.path, h.paragraph) for h in index.search(term, limit=len(passages))} for term in terms}
            wanted = {term: truth(passages, term) for term in terms}
            right = sum(len(found[t] & wanted[t]) for t in terms)
            quality[f"{length} characters"] = {
                "recall": right / sum(map(len, wanted.values())),
                "precision": right / sum(map(len, found.values())),
            }
            assert quality[f"{length} characters"] == {"recall": 1.0, "precision": 1.0}
            queries[f"store.search, {length} characters, top 10"] = clocked(
                [lambda t=t: index.store.search(TextQuery((t,))) for t in terms * 3]
            )
            queries[f"engine search with passages, {length} characters, top 10"] = clocked(
                [lambda t=t: index.search(t) for t in terms]
            )
        sentences = names(texts, 12, 100)
        queries["store.search, any of 12 characters, top 12"] = clocked(
            [lambda t=t: index.store.search(TextQuery((t,), match="any", limit=12)) for t in sentences * 3]
        )
        queries["substring search over all texts (peer)"] = clocked(
            [lambda t=t: truth(passages, t) for t in names(texts, 2, 30)]
        )

        for i in range(20):
            path = novel / documents[i].path
            path.write_text(documents[i].text + f"\n\n独角兽{i}号来了。\n", "utf-8")
            hits = saved(lambda p=documents[i].path, i=i: (index.refresh([p]), index.search(f"独角兽{i}号"))[1])
            assert [hit.path for hit in hits] == [documents[i].path]
        checks = clocked([index.freshen] * 50)
        assert index.store.verify() == []

    watched = []
    with ProjectIndex.open(novel, watch=True) as index:
        time.sleep(1)
        for i in range(10):
            path = novel / documents[i].path
            start = time.perf_counter()
            path.write_text(documents[i].text + f"\n\n麒麟兽{i}号来了。\n", "utf-8")
            while not index.store.search(TextQuery((f"麒麟兽{i}号",))):
                time.sleep(0.002)
            watched.append(time.perf_counter() - start)
            time.sleep(0.3)

    record(
        "index",
        {
            "corpus": {"documents": len(documents), "paragraphs": len(passages), "bytes": size, "mentions": mentions},
            "load average": os.getloadavg()[0],  # above the number of cores, wall times measure the neighbours too
            "first index, seconds": builds.figures(),
            "first search of a first index, full text written, seconds": searched.figures(),
            "reopen unchanged, seconds": reopened.figures(),
            "one saved chapter, refresh to found, seconds": saved.figures(),
            "is anything changed, seconds": checks,
            "save to searchable while watching (15 ms of quiet included), seconds": summary(watched),
            "index bytes": index_bytes,
            "index bytes / text bytes": round(index_bytes / size, 2),
            "against substring search, 100 random terms per length": quality,
            "queries, seconds": queries,
            "peer schemes": peers(passages, names(texts, 2, _PAIRS)),
        },
        peers=["apsw", "watchdog", "numpy"],
    )


def peers(passages, terms):
    """The tokenizers that come with SQLite, on two-character words: recall, precision, build, query."""
    figures = {}
    wanted = {term: truth(passages, term) for term in terms}
    keys = list(passages)
    for name in ("unicode61", "trigram"):
        connection = apsw.Connection(":memory:")
        connection.execute(f"CREATE VIRTUAL TABLE f USING fts5(content, content='', tokenize='{name}')")
        build, _ = timed(
            lambda c=connection: (
                c.execute("BEGIN"),
                c.executemany("INSERT INTO f(rowid, content) VALUES (?, ?)", list(enumerate(passages.values()))),
                c.execute("COMMIT"),
            )
        )
        seconds, right, found = [], 0, 0
        for term in terms:
            spent, rows = timed(
                lambda c=connection, t=term: c.execute("SELECT rowid FROM f WHERE f MATCH ?", (f'"{t}"',)).fetchall()
            )
            seconds.append(spent)
            hits = {keys[row[0]] for row in rows}
            right, found = right + len(hits & wanted[term]), found + len(hits)
        figures[name] = {
            "recall": round(right / sum(map(len, wanted.values())), 3),
            "precision": round(right / found, 3) if found else None,
            "build, seconds": build,
            "query p50, seconds": statistics.median(seconds),
        }
    return figures


_MEMORY = """
import os, sys, time
from armarius.index.project_index import ProjectIndex
def resident():
    with open("/proc/self/statm") as f: return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")
before = resident()
index = ProjectIndex.open(sys.argv[1], watch=True); time.sleep(1)
assert index.status().documents == 1000
print(before, resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_watching_a_thousand_files(tmp_path, novel):
    texts = [d.text for d in list_documents(novel).documents]
    for i in range(1000):
        path = tmp_path / "many" / f"part{i // 50}" / f"ch{i:04}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[i % len(texts)][:4000], "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _MEMORY, str(tmp_path / "many")],
        capture_output=True,
        check=True,
        text=True,
    )
    before, after = map(int, done.stdout.split())
    assert after > before
    record("watch", {"files": 1000, "additional resident bytes": after - before, "resident bytes before": before})
