"""How much of each prompt continues the previous one, over a writing task of 320 assemblies.

Two ceilings are reported. *Any order*: the tokens of a prompt whose material (items, and text of the
window) stood in the previous prompt; no arrangement of that material can share more. *Layer order*:
the same, except that a prompt with a new retrieved item cannot share its immediate layer, because the
contract puts that layer last.
"""

import os
import statistics
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from benches.prefix_peers import Material, contestants
from benches.record import record
from benches.replay import replay

import armarius
from armarius.assembly.prefix import common_prefix
from armarius.assembly.report import Pack

MODEL = "deepseek-chat"
BUDGETS = (3000, 4000, 6000)


def shareable(pack: Pack, before: Pack, counter: armarius.TokenCounter) -> tuple[int, int]:
    """Tokens of `pack` that stood in `before`: in any order, and in the order of the layers."""
    old = {(item.layer, item.id): before.prompt[slice(*item.span)] for item in before.items}
    total = {"immediate": 0, "other": 0}
    new = False
    for item in pack.items:
        text = pack.prompt[slice(*item.span)]
        was = old.get((item.layer, item.id), "")
        where = "immediate" if item.layer == "immediate" else "other"
        if text == was:
            total[where] += item.tokens
        elif item.part is not None or item.layer == "immediate":
            total[where] += overlap(text, was, counter)
        else:
            new |= item.layer == "retrieved"
    frame = pack.token_count - sum(item.tokens for item in pack.items)
    everything = min(pack.token_count, total["other"] + total["immediate"] + frame)
    return everything, min(pack.token_count, total["other"] + frame) if new else everything


def overlap(text: str, was: str, counter: armarius.TokenCounter) -> int:
    """Tokens of the longest beginning that the two have in common, wherever one starts in the other, and of the end."""
    if not text or not was:
        return 0
    at, here = was.find(text[:48]), text.find(was[:48])
    moved = common_prefix(was, text[here:]) if here >= 0 else 0
    length = common_prefix(was[at:], text) if at >= 0 else moved
    rest = text[length:]
    end = common_prefix(was[::-1], rest[::-1])
    return counter.count(text[:length]) + (counter.count(rest[len(rest) - end :]) if end >= 48 else 0)


@pytest.fixture(scope="module")
def corpus():
    folder = Path(os.environ.get("ARMARIUS_CORPUS", ""))
    if not (folder / "chapters").is_dir():
        pytest.skip("ARMARIUS_CORPUS names no folder with chapters/")
    return folder


def run(corpus: Path, budget: int) -> dict[str, object]:
    counter = armarius.TokenCounter.for_model(MODEL)
    limit = budget * 95 // 100
    tokens, shared, used = Counter(), Counter(), {}
    any_order = layer_order = 0
    last: dict[str, str] = {}
    others = contestants(counter)
    previous = engine = None
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "project"
        for step in replay(corpus, folder):
            engine = engine or armarius.open(folder)
            request = {"document": step.document, "cursor": step.cursor, "query": step.query, "model": MODEL}
            fresh = engine.assemble(**request, budget=budget)
            pack = engine.assemble(**request, budget=budget, previous=previous)
            assert pack.token_count == counter.count(pack.prompt) <= budget
            text = (folder / step.document).read_text(encoding="utf8")[: step.cursor]
            material = Material(
                stable=fresh.stable_prefix,
                retrieved=tuple(fresh.prompt[slice(*item.span)] for item in fresh.items if item.layer == "retrieved"),
                paragraphs=tuple(part for part in text.split("\n\n") if part.strip()),
                query=step.query,
            )
            prompts = {"armarius": pack.prompt, **{name: make(material, limit) for name, make in others.items()}}
            for name, prompt in prompts.items():
                count = counter.count(prompt)
                used.setdefault(name, []).append(count / budget)
                if name in last:
                    tokens[name] += count
                    shared[name] += counter.count(prompt[: common_prefix(last[name], prompt)])
            if previous is not None:
                everything, ordered = shareable(pack, previous, counter)
                any_order += everything
                layer_order += ordered
            last, previous = prompts, pack
        engine.close()
    ours = shared["armarius"]
    return {
        "assemblies": len(used["armarius"]),
        "share of prompt tokens that continue the previous prompt": {
            name: round(shared[name] / tokens[name], 3) for name in tokens
        },
        "mean budget use": {name: round(statistics.mean(values), 3) for name, values in used.items()},
        "ceiling in any order": round(any_order / tokens["armarius"], 3),
        "ceiling in layer order": round(layer_order / tokens["armarius"], 3),
        "armarius, of the ceiling in any order": round(ours / any_order, 3),
        "armarius, of the ceiling in layer order": round(ours / layer_order, 3),
    }


def test_prompts_continue_each_other_over_a_writing_task(corpus):
    figures = {f"budget {budget}": run(corpus, budget) for budget in BUDGETS}
    record("prefix", figures, peers=["langchain-core", "prompt-poet", "cendor-contextkit"])
