"""A long novel opened again: the first question in a fresh process, a saved chapter, memory, a document open.

The novel is looked for under ARMARIUS_CORPUS; without it the benchmark is skipped. Answers are checked, then timed:
each fresh process must answer as the first did.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benches.record import record, summary
from benches.working_copy import working_copy

import armarius

MODEL = "deepseek-chat"
BUDGET = 8000
PROCESSES = 15
QUESTIONS = ("检查第3章的角色一致性", "黛玉和宝钗谈了什么", "下一段怎么写", "谁送来了人参", "大观园里有哪些亭子")
QUESTION = QUESTIONS[1]

# Imports are no part of opening; what is read at the first use of them (words, dictionaries) is.
_FIRST = """
import hashlib, json, sys, time
import armarius, armarius.engine, armarius.engine.project, armarius.prompt.assembler, armarius.search.retrieve

def lap(call):
    wall, processor = time.perf_counter(), time.process_time()
    answer = call()
    return time.perf_counter() - wall, time.process_time() - processor, answer

root, question, model = sys.argv[1:]
opening = lap(lambda: armarius.open(root, watch=False))
engine = opening[2]
asked = lap(lambda: engine.retrieve(question))
packed = lap(lambda: engine.assemble(query=question, model=model, budget=8000))
digest = hashlib.blake2b((repr(asked[2].hits) + packed[2].prompt).encode()).hexdigest()
engine.close()
names = ("opening", "first question", "first prompt")
rows = {name: one[:2] for name, one in zip(names, (opening, asked, packed))}
print(json.dumps({"rows": rows, "digest": digest}))
"""

# What a novel costs in a process that has everything else: a small one has been asked before.
_MEMORY = """
import gc, os, sys
import armarius

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

def use(root):
    engine = armarius.open(root, watch=False)
    engine.retrieve(sys.argv[3])
    engine.assemble(query=sys.argv[3], model=sys.argv[4], budget=8000)
    return engine

small = use(sys.argv[1])
before = resident()
large = use(sys.argv[2])
print(resident() - before)
small.close(), large.close()
"""


@pytest.fixture(scope="module")
def novel(tmp_path_factory):
    return working_copy(tmp_path_factory.mktemp("bench"))


def first(root):
    run = [sys.executable, "-W", "ignore", "-c", _FIRST, str(root), QUESTION, MODEL]
    return json.loads(subprocess.run(run, capture_output=True, check=True, text=True).stdout)


def resident(root):
    small = Path(__file__).parents[1] / "examples" / "novel"
    run = [sys.executable, "-W", "ignore", "-c", _MEMORY, str(small), str(root), QUESTION, MODEL]
    return float(subprocess.run(run, capture_output=True, check=True, text=True).stdout)


def grown(root, times):
    """The novel so many times over, the chapters counted on; settings and outline once."""
    many = root.parent / f"novel-{times}"
    shutil.copytree(root / "spec", many / "spec")
    (many / "chapters").mkdir()
    chapters = sorted((root / "chapters").glob("*.md"))
    for volume in range(times):
        for number, path in enumerate(chapters, start=volume * len(chapters) + 1):
            text = re.sub(r"第\S+?回", f"第{number}回", path.read_text("utf-8"), count=1)
            (many / "chapters" / f"ch{number:04}.md").write_text(text, "utf-8")
    return many


def answering(root):
    """Questions and prompts with a chapter open, in CPU and wall seconds."""
    chooser = random.Random(11)
    chapters = sorted(path.relative_to(root).as_posix() for path in (root / "chapters").glob("*.md"))
    counter = armarius.TokenCounter.for_model(MODEL)
    spent = {name: ([], []) for name in ("retrieve", "assemble")}
    with armarius.open(root) as engine:
        for turn in range(200):
            place = {"document": chooser.choice(chapters), "cursor": chooser.randint(0, 2500)}
            query = QUESTIONS[turn % len(QUESTIONS)]
            for name, ask in (
                ("retrieve", lambda q=query: engine.retrieve(q)),
                ("assemble", lambda q=query, p=place: engine.assemble(query=q, model=MODEL, budget=BUDGET, **p)),
            ):
                wall, processor = time.perf_counter(), time.process_time()
                answer = ask()
                if turn >= 20:
                    spent[name][0].append(time.perf_counter() - wall)
                    spent[name][1].append(time.process_time() - processor)
            assert answer.token_count == counter.count(answer.prompt) <= BUDGET
    return {name: {"wall": summary(wall), "processor": summary(cpu)} for name, (wall, cpu) in spent.items()}


def test_a_novel_opened_again(novel):
    with armarius.open(novel, watch=False) as engine:
        engine.retrieve(QUESTION)
        kept = sum(len(row.data) for row in engine.index.store.learnt("corpus").values())
        state = engine.index.store.state()
        with engine._parts.project.view().corpus.acquire() as tables:
            corpus = tables.core.resident_bytes
    expected = first(novel)
    runs = [first(novel) for _ in range(PROCESSES)]
    assert {run["digest"] for run in runs} == {expected["digest"]}
    opened = {
        name: {
            "wall": summary([run["rows"][name][0] for run in runs]),
            "processor": summary([run["rows"][name][1] for run in runs]),
        }
        for name in expected["rows"]
    }

    saved = []
    chapters = sorted((novel / "chapters").glob("*.md"))
    with armarius.open(novel, watch=False) as engine:
        engine.retrieve(QUESTION)
        for number in range(20):
            path = chapters[5 * number]
            path.write_text(path.read_text("utf-8") + f"\n\n独角兽{number}号来了。\n", "utf-8")
            wall = time.perf_counter()
            found = engine.retrieve(f"“独角兽{number}号”")
            saved.append(time.perf_counter() - wall)
            assert found.hits[0].path == path.relative_to(novel).as_posix()

    plain, tenfold = answering(novel), answering(grown(novel, 10))
    record(
        "corpus_open",
        {
            "documents": state.documents,
            "paragraphs": state.paragraphs,
            "fresh process, imports excluded, seconds": opened,
            "a saved chapter to the next answer, seconds": summary(saved),
            "bytes": {
                "index on disk": state.bytes,
                "rows of parts": kept,
                "corpus in memory": corpus,
                "more resident after opening, question and prompt": summary([resident(novel) for _ in range(5)]),
            },
            f"a chapter open, budget {BUDGET}, no model, seconds": plain,
            "the same with ten times the text": tenfold,
            "load of the machine meanwhile": round(os.getloadavg()[0], 1),
        },
    )
