"""Assembly: a request on a 120-chapter novel, 8,000 candidates, and the price of the account.

The corpus is looked for under ARMARIUS_CORPUS; without it the novel benchmarks are skipped.
"""

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from benches.record import record, summary

import armarius
import armarius._core as _core
from armarius.prompt import assembler as line
from armarius.prompt.assembler import Assembler
from armarius.prompt.counter import CachedCounter
from armarius.prompt.profile import BudgetProfile
from armarius.prompt.report.pack import Task
from armarius.requests import AssembleRequest
from armarius.testing import FakeFetcher
from armarius.types import Candidate, FetchRequest

MODEL = "deepseek-chat"
# Of the CPU of an assembly, the most that its account may take.
ACCOUNT_SHARE = 0.10


@contextmanager
def accounting() -> Iterator[Callable[[], float]]:
    """Inside, the CPU seconds spent on accounts since entering, the counts of the layers included."""
    spent, plain = [0.0], line.account

    def timed(*arguments: object, **more: object) -> object:
        start = time.thread_time()
        pack = plain(*arguments, **more)
        spent[0] += time.thread_time() - start
        return pack

    line.account = timed
    try:
        yield lambda: spent[0]
    finally:
        line.account = plain


@pytest.fixture(scope="module")
def corpus():
    folder = Path(os.environ.get("ARMARIUS_CORPUS", ""))
    if not (folder / "chapters").is_dir():
        pytest.skip("ARMARIUS_CORPUS names no folder with chapters/")
    return folder


def test_request_on_a_120_chapter_novel(corpus):
    chooser = random.Random(11)
    chapters = sorted(path.relative_to(corpus).as_posix() for path in (corpus / "chapters").glob("*.md"))
    counter = armarius.TokenCounter.for_model(MODEL)
    questions = ["检查第3章的角色一致性", "黛玉和宝钗谈了什么", "下一段怎么写", ""]
    figures = {}
    with armarius.open(corpus) as engine:
        engine.assemble(document=chapters[0], cursor=0, query="warm", model=MODEL)
        for budget in (4000, 8000, 32_000):
            seconds, cpu, used = [], [], []
            with accounting() as accounted:
                for _ in range(150):
                    document, cursor = chooser.choice(chapters), chooser.randint(0, 2500)
                    query = chooser.choice(questions)
                    start, busy = time.perf_counter(), time.process_time()
                    pack = engine.assemble(document=document, cursor=cursor, query=query, model=MODEL, budget=budget)
                    seconds.append(time.perf_counter() - start)
                    cpu.append(time.process_time() - busy)
                    assert pack.token_count == counter.count(pack.prompt) <= budget
                    used.append(pack.token_count / budget)
                share = accounted() / sum(cpu)
            assert share < ACCOUNT_SHARE
            figures[f"budget {budget}"] = {
                "seconds": summary(seconds),
                "cpu seconds": summary(cpu),
                "share of the cpu that the account takes": round(share, 3),
                "mean use": round(sum(used) / len(used), 3),
            }
    figures["load of the machine meanwhile"] = round(os.getloadavg()[0], 1)
    record("assembly_novel", {"chapters": len(chapters), "requests": 150, **figures})


def test_eight_thousand_candidates_to_thirty_two_thousand_tokens():
    chooser = random.Random(5)
    names = ["林黛玉", "贾宝玉", "薛宝钗", "王熙凤", "史湘云"]
    contents = [
        f"## 第{n}段\n" + "".join(chooser.choice(names) + "说了一句话，走了。" for _ in range(chooser.randint(4, 20)))
        for n in range(8000)
    ]
    candidates = tuple(
        Candidate(id=f"{n:05}", layer="retrieved", source=f"rag:passage:{n}", content=text, score=chooser.random())
        for n, text in enumerate(contents)
    )
    counter = CachedCounter(armarius.TokenCounter.for_model(MODEL))
    request = AssembleRequest(budget=34_000, model=MODEL)
    fetch = FetchRequest(project_id="bench")
    task = Task(request, fetch, (FakeFetcher(candidates),), counter, BudgetProfile())
    assembler = Assembler()
    start = time.perf_counter()
    first = assembler.assemble(task)
    cold = time.perf_counter() - start
    assert first.token_count == counter.counter.count(first.prompt) <= 34_000 * 95 // 100
    assert first.token_count > 32_000
    assert len(first.items) + len(first.omitted) == 8000
    warm, busy, continued = [], [], []
    with accounting() as accounted:
        for _ in range(20):
            start, cpu = time.perf_counter(), time.process_time()
            assembler.assemble(task)
            warm.append(time.perf_counter() - start)
            busy.append(time.process_time() - cpu)
        share = accounted() / sum(busy)
    start = time.process_time()
    assert len(assembler.assemble(task).omitted) + len(first.items) == 8000
    listing = time.process_time() - start - min(busy)
    following = replace(task, previous=first)
    for _ in range(20):
        cpu = time.process_time()
        second = assembler.assemble(following)
        continued.append(time.process_time() - cpu)
    assert second.prompt == first.prompt
    none = [None] * 8000
    items = _core.BudgetItems([(2, None, None, False, False, one.score, one.source, one.id) for one in candidates])
    tokens = counter.sections(contents)
    layers = BudgetProfile().rows(32_000, dict.fromkeys(("rules", "settings", "retrieved", "immediate"), 12))
    allocation = []
    for _ in range(30):
        start = time.perf_counter()
        found = _core.allocate(32_000, layers, [], items, tokens, none, [], [], [], [])
        allocation.append(time.perf_counter() - start)
        assert 31_900 < sum(found.used) <= 32_000
        assert found.decisions.count(-3) > 250
    assert min(allocation) < 0.010
    record(
        "assembly_candidates",
        {
            "candidates": 8000,
            "allocation, boundary included": summary(allocation),
            "whole assembly, counts known": summary(warm),
            "whole assembly, counts known, cpu": summary(busy),
            "whole assembly after a previous one, cpu": summary(continued),
            "share of the cpu that the account takes": round(share, 3),
            "listing what stayed out, when it is asked for, cpu": round(listing, 4),
            "whole assembly, every text new": cold,
            "load of the machine meanwhile": round(os.getloadavg()[0], 1),
        },
    )
