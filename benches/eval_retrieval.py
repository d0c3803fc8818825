"""How well the right documents are found, on any corpus folder that has `truth/queries.jsonl`.

    python benches/eval_retrieval.py FOLDER... [--no-record] [--misses]

Each line of the truth is {"id", "query", "kind", "relevant": {"path" or "path#section": 1 or 2}}. Every folder is
asked twice, with its `codex.json` and without; `truth/` is never read as part of the project. The table has a row
per kind; the figures go to `benches/results/retrieval-<folder>.json`.

Metrics over the first five: recall (grades 1 and 2), recall2 (grade 2 only), both divided by min(5, number there is);
ndcg (gain 2^grade - 1, logarithmic discount); hit (a document of grade 2 among them). Outline, `codex.json` and whole
settings files are taken out of the answer first unless the truth names them: they are neither right nor wrong.
"""

import argparse
import json
import math
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import armarius
import record

K = 5
ASKED = 12  # more than K, as some answers are neither right nor wrong
METRICS = ("recall", "recall2", "ndcg", "hit")


def neutral(engine, reference, relevant):
    """Whether an answer counts neither way."""
    if reference in relevant:
        return False
    path, _, section = reference.partition("#")
    kind = kinds(engine).get(path, "")
    return kind == "outline" or path == "codex.json" or (kind == "setting" and not section)


def kinds(engine, _known={}):  # noqa: B006 - a cache per engine
    if id(engine) not in _known:
        _known[id(engine)] = {d.path: d.kind for d in engine.documents()}
    return _known[id(engine)]


def score(engine, relevant, references):
    """The four metrics of one question."""
    found = [r for r in dict.fromkeys(references) if not neutral(engine, r, relevant)][:K]
    best = [path for path, grade in relevant.items() if grade == 2]
    ideal = sorted(relevant.values(), reverse=True)[:K]
    gain = sum((2 ** relevant.get(r, 0) - 1) / math.log2(i + 2) for i, r in enumerate(found))
    return {
        "recall": sum(r in relevant for r in found) / min(K, len(relevant)),
        "recall2": sum(r in best for r in found) / min(K, len(best)) if best else 1.0,
        "ndcg": gain / sum((2**grade - 1) / math.log2(i + 2) for i, grade in enumerate(ideal)),
        "hit": float(any(r in best for r in found)),
    }


def copy_of(folder, target, *, codex):
    """The project without its truth, and without `codex.json` when it is not wanted."""
    left_out = shutil.ignore_patterns("truth", *([] if codex else ["codex.json"]))
    shutil.copytree(folder, target, ignore=left_out)
    return target


def evaluate(folder, *, codex, misses=False):
    """Rows by kind and for all, and seconds per question."""
    truth = [json.loads(line) for line in (folder / "truth/queries.jsonl").read_text("utf-8").splitlines() if line]
    with tempfile.TemporaryDirectory() as scratch:
        project = copy_of(folder, Path(scratch) / folder.name, codex=codex)
        with armarius.open(project, watch=False) as engine:
            engine.retrieve("warm up")
            rows, seconds = [], []
            for asked in truth:
                start = time.perf_counter()
                answer = engine.retrieve(asked["query"], limit=ASKED)
                seconds.append(time.perf_counter() - start)
                figures = score(engine, asked["relevant"], [hit.reference for hit in answer])
                rows.append((asked["kind"], figures))
                if misses and figures["recall2"] < 1:
                    print(f"  {asked['id']} {asked['query']}\n    {[hit.reference for hit in answer][:K]}")
    table = {kind: mean([f for k, f in rows if k == kind]) for kind in dict.fromkeys(k for k, _ in rows)}
    return {"all": mean([figures for _, figures in rows]), **table}, record.summary(seconds)


def mean(rows):
    return {"questions": len(rows)} | {name: round(statistics.mean(row[name] for row in rows), 4) for name in METRICS}


def show(title, table):
    print(f"\n{title}\n{'kind':14}{'n':>4}" + "".join(f"{name:>9}" for name in METRICS))
    for kind, row in table.items():
        print(f"{kind:14}{row['questions']:>4}" + "".join(f"{row[name]:>9.3f}" for name in METRICS))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--no-record", action="store_true", help="print only")
    parser.add_argument("--misses", action="store_true", help="show the questions that were not fully answered")
    options = parser.parse_args()
    for folder in options.folders:
        figures = {}
        for codex in (True, False):
            if codex and not (folder / "codex.json").exists():
                continue
            name = "with codex.json" if codex else "without codex.json"
            table, seconds = evaluate(folder, codex=codex, misses=options.misses)
            show(f"{folder.name}, {name}: {1000 * seconds['p50']:.2f} ms a question", table)
            figures[name] = table
        if not options.no_record:
            print(record.record(f"retrieval-{folder.name}", {"k": K, "tables": figures}))


if __name__ == "__main__":
    main()
