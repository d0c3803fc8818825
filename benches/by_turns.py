"""Two versions of the package asked the same in turn, question by question: what a change takes off a request.

    ARMARIUS_CORPUS=NOVEL python benches/by_turns.py OLD NEW [ROUNDS]

OLD and NEW are folders to import `armarius` from, NOVEL a folder with `truth/queries.jsonl`. Each version has a process
and a copy of the novel; both are asked one question before either is asked the next, first the one and then the other,
so that what else the machine does falls on both. Figures are milliseconds of the processor: of each question the least
of ROUNDS, and the mean of all runs, which has the garbage collector in it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import record
from eval_retrieval import copy_of

ROUNDS = 5
MODEL = "deepseek-chat"


def kinds(engine, queries):
    """What is asked, by name: a function of the number of a question."""
    chapters = [one for one in engine.documents() if one.kind == "chapter"]
    places = [chapters[at * 7 % len(chapters)] for at in range(len(queries))]

    def beside(at):
        return {"document": places[at].path, "cursor": len(places[at].text) // 2, "model": MODEL}

    return {
        "a document open, 8,000": lambda at: engine.assemble(query=queries[at], budget=8_000, **beside(at)),
        "a document open, 4,000": lambda at: engine.assemble(query=queries[at], budget=4_000, **beside(at)),
        "no document": lambda at: engine.assemble(query=queries[at], budget=8_000, model=MODEL),
        "no question": lambda at: engine.assemble(budget=8_000, **beside(at)),
        "retrieve": lambda at: engine.retrieve(queries[at]),
        "nothing": lambda at: engine.retrieve("", limit=0),
    }


def answer(project, queries):
    """Asked by lines of a number and a kind; each is answered with nanoseconds of the processor."""
    import armarius

    with armarius.open(project, watch=False) as engine:
        asked = kinds(engine, queries)
        asked["retrieve"](0), asked["no document"](0)
        for line in sys.stdin:
            at, _, kind = line.strip().partition(" ")
            start = time.process_time_ns()
            given = asked[kind](int(at))
            print(time.process_time_ns() - start, flush=True)
            del given


def compare(novel, packages, rounds):
    queries = [json.loads(line)["query"] for line in (novel / "truth/queries.jsonl").read_text("utf-8").splitlines()]
    figures = {}
    with tempfile.TemporaryDirectory() as scratch:
        asked = []
        for at, package in enumerate(packages):
            project = copy_of(novel, Path(scratch) / f"{at}", codex=True)
            environment = os.environ | {"PYTHONPATH": package, "XDG_CACHE_HOME": f"{scratch}/cache{at}"}
            command = [sys.executable, __file__, "--answer", str(project), json.dumps(queries)]
            asked.append(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
            )

        def ask(process, at, kind):
            print(at, kind, file=process.stdin, flush=True)
            return int(process.stdout.readline()) / 1e6

        for kind in kinds_of():
            times = [[[] for _ in queries] for _ in asked]
            for turn in range(rounds):
                for at in range(len(queries)):
                    for which in (0, 1) if (at + turn) % 2 else (1, 0):
                        times[which][at].append(ask(asked[which], at, kind))
            least = [record.summary([min(runs) for runs in one]) for one in times]
            means = [sum(map(sum, one)) / rounds / len(queries) for one in times]
            figures[kind] = {
                **{name: [round(one[name], 2) for one in least] for name in ("p50", "p95")},
                "mean of all": [round(mean, 2) for mean in means],
                "new over old": round(means[1] / means[0], 2),
            }
            print(kind, json.dumps(figures[kind]))
        for process in asked:
            process.communicate()
    return {"questions": len(queries), "rounds": rounds, "milliseconds of the processor, old and new": figures}


def kinds_of():
    return list(kinds(type("Empty", (), {"documents": list})(), []))


def main():
    if sys.argv[1:2] == ["--answer"]:
        answer(Path(sys.argv[2]), json.loads(sys.argv[3]))
        return
    root = os.environ.get("ARMARIUS_CORPUS")
    if not root or len(sys.argv) < 3:
        sys.exit(__doc__)
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else ROUNDS
    record.record("by_turns", compare(Path(root), sys.argv[1:3], rounds))


if __name__ == "__main__":
    main()
