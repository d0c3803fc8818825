"""What came of a replay over the channel: whether each prompt holds its marks, and how much continues the one before.

The ceiling is that of the very lines: tokens of a prompt whose lines stood in the prompt before it, in any order, a
changed line counting as far as it begins like one that stood there. It is at least that of the items.
"""

import json
import re
import statistics
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import armarius
from armarius.prompt.counter import common_prefix

__all__ = ["figures", "played", "times", "unmarked"]

_PARTS = re.compile(r".+?(?:\n{2,}|\Z)", re.DOTALL)  # items, and paragraphs of the window
SCRIPT = Path(__file__).with_name("channel_replay.mjs")


def played(
    project: Path, out: Path, *, command: str, steps: int, seed: int, budget: int, model: str, pid: Path | None = None
) -> list[Any]:
    """The answers of a replay over a project, which is written to.

    Args:
        project: A copy of a novel.
        out: Where the answers are kept.
        command: The program that has the channel.
        steps: How many prompts.
        seed: Of what the writer does.
        budget: Of each prompt, in tokens.
        model: Decides the tokens.
        pid: Where the program writes its process, so that its time on a processor can be told; Linux.
    """
    asked: dict[str, object] = {"command": command, "steps": steps, "seed": seed, "budget": budget, "model": model}
    if pid is not None:
        asked["pid"] = str(pid)
    said = json.dumps({**asked, "project": str(project), "out": str(out)})
    subprocess.run(["node", str(SCRIPT), said], check=True, timeout=1800)
    return [json.loads(line) for line in out.read_text(encoding="utf8").splitlines()]


def unmarked(step: dict[str, Any]) -> str:
    """What a prompt lacks of what it was to hold, "" for nothing."""
    if step["marked"] not in step["prompt"]:
        return step["marked"]
    if step["marked"] == "<cursor/>" and f"{step['around']}<cursor/>" not in step["prompt"]:
        return f"{step['around']}<cursor/>"
    return "" if step["query"] in step["prompt"] else step["query"]


def figures(steps: list[Any], *, budget: int, model: str) -> dict[str, Any]:
    """Shares of a replay: what of each prompt continues the last one of its task."""
    counter = armarius.TokenCounter.for_model(model)
    tokens = shared = ceiling = 0
    lost: Counter[str] = Counter()
    of_task: dict[str, Counter[str]] = {}
    last: dict[str, Any] = {}
    for step in steps:
        before, last[step["task"]] = last.get(step["task"]), step
        if before is None:
            continue
        old, new = before["prompt"], step["prompt"]
        same = counter.count(new[: common_prefix(old, new)])
        most = max(same, _ceiling(old, new, counter))
        tokens, shared, ceiling = tokens + step["tokenCount"], shared + same, ceiling + most
        of_task.setdefault(step["task"], Counter()).update(shared=same, ceiling=most)
        lost[f"{before['kind']} -> {step['kind']}"] += most - same
    return {
        "prompts": len(steps),
        "steps": dict(Counter(step["kind"] for step in steps)),
        "mean budget use": round(statistics.mean(step["tokenCount"] for step in steps) / budget, 3),
        "continues the last prompt of its task": round(shared / tokens, 3),
        "ceiling in any order": round(ceiling / tokens, 3),
        "of the ceiling in any order": round(shared / ceiling, 3),
        "of the ceiling in any order, by task": {
            task: round(one["shared"] / one["ceiling"], 3) for task, one in of_task.items()
        },
        "lost of the ceiling, by steps": {key: round(value / ceiling, 3) for key, value in lost.most_common(6)},
    }


def times(steps: list[Any], ms: list[float]) -> dict[str, dict[str, float]]:
    """What steps of a replay took, in milliseconds, by kind; the first is left out."""
    kinds: dict[str, list[float]] = {"all": []}
    for step, one in zip(steps[1:], ms[1:], strict=True):
        kinds["all"].append(one)
        kinds.setdefault(step["kind"], []).append(one)
    return {
        kind: {
            "median": round(statistics.median(each), 2),
            "p95": round(sorted(each)[len(each) * 95 // 100], 2),
        }
        for kind, each in kinds.items()
    }


def _ceiling(old: str, new: str, counter: armarius.TokenCounter) -> int:
    there = Counter(_PARTS.findall(old))
    whole, changed = [], []
    for part in _PARTS.findall(new):
        if there[part]:
            there[part] -= 1
            whole.append(part)
        else:
            changed.append(part)
    left = list(there.elements())
    whole += [part[: max((common_prefix(one, part) for one in left), default=0)] for part in changed]
    return sum(counter.count_batch(whole))
