"""What a busy host does in a day, in one process: many projects, a long chat, an agent's calls. Nothing may grow.

Two hundred copies of the shipped novel are opened, asked once and closed; one of them answers a chat of five hundred
turns, whose last twenty messages go with each question; another serves an agent that makes fifty calls of tools, ten
times. Memory, open files and threads are looked at after each tenth: what the second half adds, the next would add too.
"""

import gc
import os
import random
import shutil
import threading
import time
from pathlib import Path

import pytest
from benches.record import record

import armarius

NOVEL = Path(__file__).parents[1] / "examples" / "novel"
PROJECTS, TURNS, SESSIONS, CALLS = 200, 500, 10, 50
QUESTIONS = ("检查第3章的角色一致性", "林小雨住在哪里", "谁第一个看见灯塔", "七点四十分发生了什么", "后来怎么样了")
# Of resident memory in the second half; allocators keep what they were given in steps of a megabyte.
ALLOWED_BYTES = 6 << 20
FIGURES: dict[str, object] = {}


def standing() -> dict[str, int]:
    """Resident bytes, open files and threads of this process now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    files = len(list(Path("/proc/self/fd").iterdir()))
    return {"bytes": pages * os.sysconf("SC_PAGE_SIZE"), "files": files, "threads": threading.active_count()}


def repeated(times: int, step) -> dict[str, object]:
    """Run `step(number)` so often; rates, and what stands after each tenth: no more at the end than in the middle."""
    marks, spent, start = [], time.process_time(), time.perf_counter()
    for number in range(times):
        step(number)
        if (number + 1) % (times // 10) == 0:
            marks.append(standing())
    wall, cpu = time.perf_counter() - start, time.process_time() - spent
    middle, end = marks[4], marks[-1]
    grown = {what: end[what] - middle[what] for what in end}
    assert grown["bytes"] <= ALLOWED_BYTES, grown
    assert grown["files"] <= 0, grown
    assert grown["threads"] <= 0, grown
    return {
        "times": times,
        "a second": round(times / wall, 1),
        "processor ms each": round(cpu / times * 1e3, 2),
        "megabytes after each tenth": [round(mark["bytes"] / 2**20, 1) for mark in marks],
        "grown in the second half": grown,
    }


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    if not Path("/proc/self/statm").exists():
        pytest.skip("resident memory is read from /proc")
    root = tmp_path_factory.mktemp("projects")
    os.environ["ARMARIUS_CACHE"] = str(root / "cache")
    for number in range(PROJECTS):
        shutil.copytree(NOVEL, root / f"novel{number}")
    time.sleep(0.1)  # until the stamps are old enough to be trusted
    return [root / f"novel{number}" for number in range(PROJECTS)]


def test_projects_are_opened_asked_once_and_closed(copies):
    def step(number):
        with armarius.open(copies[number], watch=False) as engine:
            question = QUESTIONS[number % len(QUESTIONS)]
            assert engine.assemble(query=question, budget=4_000).token_count <= 4_000

    FIGURES["projects opened for the first time, asked, closed"] = repeated(PROJECTS, step)
    FIGURES["the same projects again"] = repeated(PROJECTS, step)
    record("user_batch", FIGURES)


def test_a_chat_of_five_hundred_turns(copies):
    chooser, said = random.Random(5), []
    with armarius.open(copies[0], watch=False) as engine:
        names = sorted({entity.name for entity in engine.entities()})

        def step(number):
            question = f"{chooser.choice(names)}：{chooser.choice(QUESTIONS)}（{number}）"
            pack = engine.assemble(query=question, messages=said[-20:], budget=4_000)
            assert pack.token_count <= 4_000
            answer = f"第{number}次回答：{chooser.choice(names)}也在场。"
            said.extend([{"role": "user", "content": question}, {"role": "assistant", "content": answer}])

        FIGURES["turns of a chat"] = repeated(TURNS, step)
    record("user_batch", FIGURES)


def test_an_agent_with_fifty_calls(copies):
    chooser = random.Random(6)
    with armarius.open(copies[1], watch=False) as engine:
        names = sorted({entity.name for entity in engine.entities()})
        documents = [document.path for document in engine.documents()]
        tools = (
            lambda: engine.search(chooser.choice(names), limit=5),
            lambda: engine.retrieve(chooser.choice(QUESTIONS), limit=5),
            lambda: engine.detect(f"{chooser.choice(names)}推开门"),
            lambda: engine.assemble(query=chooser.choice(QUESTIONS), document=chooser.choice(documents), budget=4_000),
            lambda: engine.inspect(query=chooser.choice(QUESTIONS), budget=2_000),
        )

        def session(_number):
            for call in range(CALLS):
                tools[call % len(tools)]()

        FIGURES[f"sessions of an agent, {CALLS} calls each"] = repeated(SESSIONS, session)
    record("user_batch", FIGURES)
