"""How long a question takes, by stage, on a long novel and on ten of it in one project.

    ARMARIUS_CORPUS=FOLDER python benches/bench_retrieval.py [NOVEL]

NOVEL is a folder below ARMARIUS_CORPUS with `truth/queries.jsonl`, the first one when not given. The answers are
checked before they are timed. Figures: milliseconds, p50 and p95 over every question asked ROUNDS times; `cpu` is the
processor time of the whole process, which other work on the machine does not change; `stages` is the mean share of
each stage of `retrieve`; `view` is what the engine does before (looking for changed files).
"""

import collections
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import pytest

import armarius
import record
from eval_retrieval import copy_of, evaluate

ROUNDS = 5
BUDGET = 8_000
MODEL = "deepseek-chat"


def enlarged(project, times):
    """The chapters again and again under higher numbers."""
    chapters = sorted((project / "chapters").glob("*.md"))
    for volume in range(1, times):
        for place, chapter in enumerate(chapters, 1):
            number = volume * len(chapters) + place
            text = re.sub(r"\A#\s*(?:第\S+?[章回]|Chapter \d+)", f"# 第{number}回", chapter.read_text("utf-8"))
            (project / "chapters" / f"ch{number:04}.md").write_text(text, encoding="utf-8")
    return project


def timed(run, queries):
    wall, cpu = [], []
    for _ in range(ROUNDS):
        for query in queries:
            start, busy = time.perf_counter(), time.process_time()
            run(query)
            wall.append(1000 * (time.perf_counter() - start))
            cpu.append(1000 * (time.process_time() - busy))
    return rounded(wall) | {f"cpu_{name}": value for name, value in rounded(cpu).items()}


def rounded(samples):
    return {name: round(value, 3) for name, value in record.summary(samples).items()}


def measure(project, queries):
    with armarius.open(project) as engine:
        start = time.perf_counter()
        engine.retrieve("warm up")
        engine.assemble(query="warm up", budget=BUDGET, model=MODEL)
        first = time.perf_counter() - start
        figures = {"first_question_s": round(first, 3), "retrieve": timed(engine.retrieve, queries)}
        stages = collections.Counter()
        for query in queries:
            stages.update(engine.retrieve(query).stages)
        total = sum(stages.values())
        figures["stages"] = {name: round(value / total, 3) for name, value in stages.items()}
        figures["view"] = timed(lambda _: engine.retrieve("", limit=0), queries[:10])
        figures["assemble"] = timed(lambda q: engine.assemble(query=q, budget=BUDGET, model=MODEL), queries)
        # As an editor asks: another chapter open each time, the cursor in its middle.
        chapters = [one for one in engine.documents() if one.kind == "chapter"]
        places = {query: chapters[at * 7 % len(chapters)] for at, query in enumerate(queries)}
        for budget in (4_000, BUDGET):
            figures[f"assemble, a document open, budget {budget}"] = timed(
                lambda q, budget=budget: engine.assemble(
                    query=q, document=places[q].path, cursor=len(places[q].text) // 2, budget=budget, model=MODEL
                ),
                queries,
            )
    return figures


def load():
    """Processes waiting for a core during the last minute, where the system tells: above the cores, wall times lie."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def test_questions_about_a_long_novel_are_timed():
    root = os.environ.get("ARMARIUS_CORPUS")
    if not root:
        pytest.skip("ARMARIUS_CORPUS is not set")
    run(Path(root), [])


def main():
    root = os.environ.get("ARMARIUS_CORPUS")
    if not root:
        sys.exit("ARMARIUS_CORPUS names no folder of corpora")
    run(Path(root), sys.argv[1:])


def run(root, names):
    # bench_index takes one novel for ARMARIUS_CORPUS, this a folder of them.
    if (root / "truth/queries.jsonl").exists():
        root, names = root.parent, [root.name]
    names = names or sorted(p.name for p in root.iterdir() if (p / "truth/queries.jsonl").exists())[:1]
    folder = root / names[0]
    table, _ = evaluate(folder, codex=True)
    assert table["all"]["recall2"] >= 0.85, table["all"]
    queries = [json.loads(line)["query"] for line in (folder / "truth/queries.jsonl").read_text("utf-8").splitlines()]
    figures = {"questions": len(queries), "recall2": table["all"]["recall2"], "load_average": load()}
    with tempfile.TemporaryDirectory() as scratch:
        for times in (1, 10):
            project = enlarged(copy_of(folder, Path(scratch) / f"x{times}", codex=True), times)
            figures[f"x{times}"] = measure(project, queries)
            print(f"x{times}", json.dumps(figures[f"x{times}"], indent=1))
    for what in ("retrieve", "assemble"):
        ratio = figures["x10"][what]["cpu_p50"] / figures["x1"][what]["cpu_p50"]
        figures[f"{what}_x10_over_x1"] = round(ratio, 2)
        print(f"{what}: ten times the corpus takes {ratio:.2f} times the processor time")
    print(record.record("retrieval-latency", figures))


if __name__ == "__main__":
    main()
