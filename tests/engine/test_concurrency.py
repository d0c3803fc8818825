import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from armarius import deadline
from armarius.deadline import SingleFlight
from armarius.engine import ContextEngine
from armarius.errors import Backpressure
from armarius.testing import FakeFetcher, FixedCounter
from armarius.types import Fetched


def write(folder, state):
    """One state of the project: both entities and the chapter say the same number."""
    entities = [
        {"id": id_, "name": name, "aiContextLevel": "always", "description": f"state {state}."}
        for id_, name in (("e1", "小雨"), ("e2", "林默"))
    ]
    replace(folder / "codex.json", json.dumps({"entities": entities}))
    replace(folder / "ch001.md", f"# 第一章\n\n正文 {state}。" + "雨。" * 50)


def replace(path, text):
    """Save as editors do: a reader sees the old file or the new one."""
    draft = path.with_suffix(".tmp")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, 0)
    return tmp_path


@pytest.mark.parametrize("turns", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_thirty_two_threads_assemble_while_files_change(folder, record_property, turns):
    record_property("count", 32 * turns)
    engine = ContextEngine(folder, counters=lambda model, version: FixedCounter())
    stop = threading.Event()

    def edit():
        state = 0
        while not stop.wait(0.002):
            state += 1
            write(folder, state)

    editor = threading.Thread(target=edit)
    editor.start()

    def work(thread):
        for turn in range(turns):
            pack = engine.assemble(query=f"{thread} {turn}", document="ch001.md", cursor=3, budget=1000)
            assert pack.token_count == len(pack.prompt) <= 1000
            assert pack.layers.immediate.source
            # Two cards of one file are of one state of it; the chapter may be newer, and is one write older at most.
            first, second = (int(number) for number in re.findall(r"state (\d+)\.", pack.contents["rules"]))
            assert first == second
            assert int(re.search(r"正文 (\d+)。", pack.prompt).group(1)) >= first - 1

    try:
        with ThreadPoolExecutor(32) as pool:
            list(pool.map(work, range(32)))
    finally:
        stop.set()
        editor.join()


def test_identical_requests_in_flight_are_computed_once(folder, monkeypatch):
    started, release = threading.Event(), threading.Event()
    waiting, is_ready = threading.Semaphore(0), deadline.is_ready
    monkeypatch.setattr(deadline, "is_ready", lambda *args: waiting.release() or is_ready(*args))

    class Held(FakeFetcher):
        def fetch(self, request):
            self.requests.append(request)
            started.set()
            release.wait(60)
            return Fetched()

    held = Held()
    engine = ContextEngine(folder, fetchers=[held], counters=lambda model, version: FixedCounter())
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(engine.assemble, query="same")
        assert started.wait(60)
        others = [pool.submit(engine.assemble, query="same") for _ in range(7)]
        assert all(waiting.acquire(timeout=60) for _ in others)
        release.set()
        packs = [future.result() for future in [first, *others]]
    assert len(held.requests) == 1
    assert all(pack is packs[0] for pack in packs)


def test_a_question_after_a_save_does_not_wait_for_the_answer_of_before(folder):
    (folder / "chapters").mkdir(exist_ok=True)
    saved = folder / "chapters/ch001.md"
    saved.write_text("# 第一章\n\n灯塔。\n", "utf-8")
    started, release = threading.Event(), threading.Event()

    class Held(FakeFetcher):
        def fetch(self, request):
            started.set()
            release.wait(60)
            return Fetched()

    with ContextEngine(folder, more_fetchers=[Held()]) as engine, ThreadPoolExecutor(2) as pool:
        before = pool.submit(engine.assemble, query="灯塔的口令")
        assert started.wait(60)
        saved.write_text("# 第一章\n\n灯塔。口令是杏仁糖。\n", "utf-8")
        release_later = threading.Timer(1, release.set)
        release_later.start()
        after = engine.assemble(query="灯塔的口令")
        assert "杏仁糖" in after.prompt
        assert "杏仁糖" not in before.result().prompt


def test_more_than_the_limit_wait_and_then_get_backpressure():
    flight = SingleFlight(limit=1, patience=0.05)
    release, running = threading.Event(), threading.Event()

    def hold():
        running.set()
        release.wait(60)
        return "held"

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(flight.run, "a", hold)
        assert running.wait(60)
        with pytest.raises(Backpressure, match="CONTEXT_BACKPRESSURE: 1 assemblies are running"):
            flight.run("b", lambda: "never")
        release.set()
        assert held.result() == "held"
    assert flight.run("b", lambda: "now") == "now"


def test_failure_reaches_everyone_who_waited_and_is_not_kept():
    flight = SingleFlight(limit=1, patience=1)
    with pytest.raises(ZeroDivisionError):
        flight.run("a", lambda: 1 // 0)
    assert flight.run("a", lambda: 1) == 1
