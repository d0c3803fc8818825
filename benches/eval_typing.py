"""Typing at the end of a chapter that is not saved: how much of each prompt continues the one before.

    python benches/eval_typing.py FOLDER... [--budget 8000] [--record]

The second half of three chapters of a novel is typed, 15 to 60 characters a step, 200 steps in all; one step in ten
asks a question about somebody of the codex instead. Each prompt continues the one before (`previous=`), or the last of
its own kind, as hosts do that keep a task for each: writing and asking. A figure is the share of the tokens of all
prompts but the first that stand in the common beginning; `writing` are the steps that type.
"""

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import armarius
import record
from armarius.prompt.counter import common_prefix
from eval_retrieval import copy_of

STEPS, CHAPTERS, MODEL = 200, 3, "deepseek-chat"


def steps(engine: armarius.ContextEngine, seed: int = 7) -> list[tuple[str, str, str]]:
    """(document, its text, question or nothing) of each step."""
    chooser = random.Random(seed)
    chapters = [one for one in engine.documents() if one.kind == "chapter" and len(one.text) > 2_000]
    names = [one.name for one in engine.codex.list()]
    chinese = any("\u4e00" <= sign <= "\u9fff" for sign in chapters[0].text[:500])
    found = []
    for chapter in chooser.sample(chapters, CHAPTERS):
        at = len(chapter.text) // 2
        for _ in range(-(-STEPS // CHAPTERS)):
            ask = chooser.random() < 0.1
            at = at if ask else min(len(chapter.text), at + chooser.randint(15, 60))
            name = chooser.choice(names)
            question = f"{name}现在在哪里？" if chinese else f"Where is {name} now?"
            found.append((chapter.path, chapter.text[:at], question if ask else ""))
    return found[:STEPS]


def measure(folder: Path, budget: int, *, tasks: bool) -> dict[str, object]:
    """Shares, and where the tokens are lost by kind of step and layer."""
    counter = armarius.TokenCounter.for_model(MODEL)
    with (
        tempfile.TemporaryDirectory() as work,
        armarius.open(copy_of(folder, Path(work) / "project", codex=True), watch=False) as engine,
    ):
        last: dict[str, armarius.Pack] = {}
        total, shared = {"ask": 0, "type": 0}, {"ask": 0, "type": 0}
        lost: dict[str, int] = {}
        for document, text, question in steps(engine):
            kind = "ask" if question else "type"
            task = kind if tasks else "all"
            before = last.get(task)
            pack = engine.assemble(
                question, document=document, text=text, cursor=len(text), model=MODEL, budget=budget, previous=before
            )
            last[task] = pack
            if before is None:
                continue
            same = common_prefix(before.prompt, pack.prompt)
            tokens = counter.count(pack.prompt[:same])
            total[kind] += pack.token_count
            shared[kind] += tokens
            layer = next((item.layer for item in pack.items if item.span[1] > same), "immediate")
            key = f"{kind}, {layer}"
            lost[key] = lost.get(key, 0) + pack.token_count - tokens
    every = sum(total.values())
    return {
        "continues": round(sum(shared.values()) / every, 3),
        "writing": round(shared["type"] / max(total["type"], 1), 3),
        "asking": round(shared["ask"] / max(total["ask"], 1), 3),
        "tokens": round(every / STEPS),
        "lost": {key: round(tokens / every, 3) for key, tokens in sorted(lost.items(), key=lambda one: -one[1])},
    }


def main() -> None:
    """Measure, print, record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--budget", type=int, default=8000)
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    found = {}
    for folder in args.folders:
        found[folder.name] = {
            "one line of prompts": measure(folder, args.budget, tasks=False),
            "writing and asking apart": measure(folder, args.budget, tasks=True),
        }
        print(folder.name, json.dumps(found[folder.name], ensure_ascii=False), flush=True)
    if args.record:
        path = record.RESULTS / "typing.json"
        text = json.dumps({"machine": record.machine(), "budget": args.budget, "novels": found}, indent=1)
        path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
