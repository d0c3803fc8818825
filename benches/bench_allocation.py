"""Choosing what fits: `allocate` of the core beside prompt-tsx, in Node, on the same rows.

Messages with a length in tokens and a priority, a budget of 4,000. prompt-tsx drops the least important until the
rest fits; ours takes the most important first and goes on past one that does not fit, so that it keeps all of theirs
and perhaps more: that is compared before the times are. Lengths are known to both. Ours is timed with the crossing
into the core and its rows made anew each time, theirs inside Node without its start. `npm install --prefix
.cache/prompt-peers @vscode/prompt-tsx` brings the peer; without it its row is absent.
"""

import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from benches.record import interleaved, record, summary

import armarius._core as core

ROOT = Path(__file__).parents[1]
FOLDER = Path(os.environ.get("ARMARIUS_NODE_PEERS", ROOT / ".cache/prompt-peers"))
PACKAGE = FOLDER / "node_modules/@vscode/prompt-tsx/package.json"
SCRIPT = Path(__file__).with_name("allocate_prompt_tsx.mjs")
BUDGET, RUNS = 4_000, 15
FIGURES: dict[str, object] = {}


def rows(count: int) -> list[dict[str, object]]:
    chooser = random.Random(count)
    priorities = chooser.sample(range(1, 100 * count), count)
    return [
        {"text": f"message {place}", "tokens": chooser.randint(20, 200), "priority": priority}
        for place, priority in enumerate(priorities)
    ]


def theirs(items: list[dict[str, object]], folder: Path) -> tuple[set[int], dict[str, float]] | None:
    """What prompt-tsx keeps, and seconds."""
    if shutil.which("node") is None or not PACKAGE.is_file():
        return None
    given = folder / "rows.json"
    given.write_text(json.dumps({"budget": BUDGET, "runs": RUNS, "items": items}), encoding="utf-8")
    done = subprocess.run(["node", str(SCRIPT), str(FOLDER), str(given)], check=True, capture_output=True, timeout=300)
    answer = json.loads(done.stdout.splitlines()[-1])
    return set(answer["kept"]), summary([one / 1e3 for one in answer["milliseconds"]])


@pytest.mark.parametrize("count", [50, 500])
def test_the_most_important_messages_fit(tmp_path, count):
    items = rows(count)
    layers = [core.BudgetLayer(100, 0, BUDGET, 0, 0)]

    def ours() -> set[int]:
        names = [one["text"] for one in items]
        made = [
            core.BudgetItem(0, one["tokens"], None, False, False, None, None, float(one["priority"]), name, name)
            for one, name in zip(items, names, strict=True)
        ]
        found = core.allocate(BUDGET, layers, [], made)
        return {place for place, decision in enumerate(found.decisions) if decision == -3}

    kept = ours()
    assert BUDGET - 200 < sum(items[place]["tokens"] for place in kept) <= BUDGET
    peer = theirs(items, tmp_path)
    seconds = {"armarius": interleaved({"ours": ours}, rounds=10 * RUNS)["ours"]}
    if peer is not None:
        assert sum(items[place]["tokens"] for place in peer[0]) <= BUDGET
        assert peer[0] <= kept
        seconds["prompt-tsx"] = peer[1]
    FIGURES[f"{count} messages"] = {
        "kept": {"armarius": len(kept), "prompt-tsx": len(peer[0]) if peer else "absent"},
        "seconds": seconds,
    }
    version = json.loads(PACKAGE.read_text("utf-8"))["version"] if PACKAGE.is_file() else "absent"
    record("allocation", {"prompt-tsx": version, "load": round(os.getloadavg()[0], 1), **FIGURES})
