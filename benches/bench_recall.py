"""Assembling with vectors beside assembling without, on a project of many paragraphs; the answers are compared first.

The embedder is the built-in one at 768 dimensions: what is measured is search and fusion, not a model's forward pass.
ARMARIUS_BENCH_PARAGRAPHS sets the size (default 100,000: half an hour on two busy cores).
"""

import os
import random
import time
from pathlib import Path

import pytest
from benches.record import interleaved, record

import armarius
from armarius import embedders

_PARAGRAPHS = int(os.environ.get("ARMARIUS_BENCH_PARAGRAPHS", "100000"))
_PER_CHAPTER = 500
_SYLLABLES = "山河月夜风雨灯火书信门窗街巷桥船马车刀剑酒茶花树雪霜云雾星辰钟鼓琴棋诗画兄弟姐妹父母师徒主仆官商农匠"
_VERBS = "走看听说想问答笑哭来去进出开关写读唱画修种买卖寻找等待离开回到"


def sentence(chooser: random.Random) -> str:
    words = ["".join(chooser.choices(_SYLLABLES, k=2)) + chooser.choice(_VERBS) for _ in range(4)]
    return "，".join(words) + "。"


def write_novel(root: Path) -> None:
    chooser = random.Random(3)
    (root / "chapters").mkdir(parents=True)
    for number in range(1, _PARAGRAPHS // _PER_CHAPTER + 1):
        body = "\n\n".join("".join(sentence(chooser) for _ in range(3)) for _ in range(_PER_CHAPTER))
        (root / "chapters" / f"ch{number:04}.md").write_text(f"# 第{number}章\n\n{body}\n", "utf-8")


@pytest.mark.slow
def test_assembling_with_vectors(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    write_novel(tmp_path / "novel")
    figures: dict[str, object] = {}
    start = time.perf_counter()
    with (
        armarius.open(tmp_path / "novel", embedder=embedders.lexical(768)) as with_vectors,
        armarius.open(tmp_path / "novel") as without,
    ):
        figures["open and index s"] = round(time.perf_counter() - start, 1)
        start = time.perf_counter()
        with_vectors.recall.embed()
        figures["embed and build s"] = round(time.perf_counter() - start, 1)
        status = with_vectors.recall.status()
        assert status.index.vectors == _PARAGRAPHS
        if status.index.approximate:
            assert status.index.recall is not None
            figures["recall@10"] = status.index.recall.recall
            figures["expansion"] = status.index.recall.expansion
            figures["index bytes on disk"] = status.index.bytes_on_disk
        chooser = random.Random(9)
        queries = [sentence(chooser)[:9] for _ in range(40)]
        options = {"model": "gpt-4o", "budget": 8000, "document": "chapters/ch0003.md", "cursor": 500}
        for query in queries[:3]:
            before = [hit.reference for hit in without.retrieve(query)]
            assert [hit.reference for hit in with_vectors.retrieve(query)][: len(before)] == before
        turn = {name: iter(queries * 2) for name in ("with vectors", "without", "similar")}
        next(turn["with vectors"]), next(turn["without"]), next(turn["similar"])
        runs = {
            "with vectors": lambda: with_vectors.assemble(query=next(turn["with vectors"]), **options),
            "without": lambda: without.assemble(query=next(turn["without"]), **options),
            "similar": lambda: with_vectors.similar(next(turn["similar"]), limit=10),
        }
        timed = interleaved(runs, rounds=40)
    for name, result in timed.items():
        figures[f"{name}, p50 ms"] = round(result["p50"] * 1e3, 2)
        figures[f"{name}, p95 ms"] = round(result["p95"] * 1e3, 2)
        figures[f"{name}, fastest ms"] = round(result["min"] * 1e3, 2)
    record(f"recall_{_PARAGRAPHS}", figures, peers=["usearch", "sqlite-vec", "apsw"])
