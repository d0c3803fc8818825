"""Two threads on one engine beside work that never needs the interpreter, in the same run.

What two threads do in the time of one is bounded by the machine: a core of a virtual machine is half of a real one,
and others share it. The yardstick is hashing, which lets the interpreter go: how much more two threads hash than one.
What the core does without the interpreter (matching, counting) should come near it; what is Python cannot, but on
free-threaded CPython. `find_packed` of several texts uses both cores with one thread already. On a busy machine two
threads are given twice the time of one, whatever they do: nothing is measured where the load is above a half.
"""

import hashlib
import os
import statistics
import sys
import threading
import time
from pathlib import Path

import pytest
from benches.record import record

import armarius

NOVEL = Path(__file__).parents[1] / "examples" / "novel"
ROUNDS, SECONDS = 12, 0.4
QUERY = "检查第3章的角色一致性"


def rate(work, threads: int) -> float:
    """Calls a second of so many threads together."""
    done, stop = [0] * threads, threading.Event()
    ready = threading.Barrier(threads + 1)

    def run(place):
        ready.wait()
        while not stop.is_set():
            work()
            done[place] += 1

    running = [threading.Thread(target=run, args=(place,)) for place in range(threads)]
    for thread in running:
        thread.start()
    ready.wait()
    start = time.perf_counter()
    time.sleep(SECONDS)
    stop.set()
    for thread in running:
        thread.join()
    return sum(done) / (time.perf_counter() - start)


@pytest.mark.slow
def test_two_threads_beside_work_without_the_interpreter(tmp_path, monkeypatch):
    if os.getloadavg()[0] > 0.5:
        pytest.skip(f"the machine is busy (load {os.getloadavg()[0]:.1f}): two threads would gain what others lose")
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    text = "\n".join(path.read_text("utf-8") for path in sorted((NOVEL / "chapters").glob("*.md"))) * 40
    block, texts = b"x" * (1 << 19), [text] * 4
    counter = armarius.TokenCounter.for_encoding("o200k_base")
    with armarius.open(NOVEL, watch=False) as engine:
        names = [{"id": one.id, "name": one.name} for one in engine.entities()]
        matcher = armarius.EntityMatcher(names)
        works = {
            "hashing (yardstick)": lambda: hashlib.sha256(block).digest(),
            "count 400 kB": lambda: counter.count(text),
            "find_packed 4 x 400 kB": lambda: matcher.find_packed(texts),
            "find_all 400 kB": lambda: matcher.find_all(text),
            "retrieve": lambda: engine.retrieve(QUERY, limit=5),
            "assemble": lambda: engine.assemble(query=QUERY, budget=4_000),
        }
        gains: dict[str, list[float]] = {name: [] for name in works}
        for work in works.values():
            work()
        for _ in range(ROUNDS):
            for name, work in works.items():
                gains[name].append(rate(work, 2) / rate(work, 1))
    free = statistics.median(gains["hashing (yardstick)"])
    middle = {name: statistics.median(values) for name, values in gains.items()}
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    figures = {
        "interpreter lock": gil,
        "two threads to one": {name: round(value, 3) for name, value in middle.items()},
        "to the yardstick": {name: round(value / free, 3) for name, value in middle.items()},
    }
    print(figures)
    record("threads", figures)
