"""A question to a prompt's worth of text: ours beside chunks found by LangChain, LlamaIndex and tantivy.

ARMARIUS_CORPUS is a folder with chapters/*.md and truth/queries.jsonl. Everybody is given the same documents
(ours reads `codex.json` besides), asked the same questions and fills the same budget: the best chunks for as long as
the next one fits, counted with the same counter. Before anything is timed every prompt is counted, and every line of
a chunk is looked up in the book. Ours is the whole assembly with no document open: names, settings, rules and a
reason for every item included. By the way: in how many prompts all the quotes stand that `truth` says answer the
question.
"""

import json
import os
import statistics
import time
from pathlib import Path

import pytest
from benches.chunk_peers import contestants
from benches.eval_retrieval import copy_of
from benches.record import interleaved, record

import armarius

BUDGET, ROUNDS = 4_000, 2
MODEL = "gpt-4o"


def filled(chunks: list[str], counter: armarius.TokenCounter) -> str:
    """The best chunks for as long as the next one fits."""
    prompt, used = [], 0
    for chunk in chunks:
        used += counter.count(chunk + "\n\n")
        if used > BUDGET:
            break
        prompt.append(chunk)
    return "\n\n".join(prompt)


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.slow
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
        asks[name] = lambda question, ask=ask: filled(ask(question), counter)
    start = time.process_time()
    with armarius.open(project, watch=False) as engine:
        engine.assemble(query=questions[0], budget=BUDGET, model=MODEL)
        figures["armarius, assemble"] = {"ready, processor s": round(time.process_time() - start, 2)}
        asks["armarius, assemble"] = lambda question: engine.assemble(query=question, budget=BUDGET, model=MODEL).prompt
        for name, ask in asks.items():
            prompts = [ask(question) for question in questions]
            assert max(map(counter.count, prompts)) <= BUDGET, name
            if "armarius" not in name:
                assert all(squeezed(line) in book for prompt in prompts for line in prompt.split("\n")), name
            asked = [(prompt, wanted) for prompt, wanted in zip(prompts, quotes, strict=True) if wanted]
            held = sum(all(quote in squeezed(prompt) for quote in wanted) for prompt, wanted in asked)
            figures[name] |= {
                "all quotes held": round(held / len(asked), 3),
                "mean tokens": round(statistics.mean(map(counter.count, prompts))),
            }
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
