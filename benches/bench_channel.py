"""A writer at the desk over the real channel, from Node: 300 steps on each novel that `ARMARIUS_CORPUS` names.

Each prompt is to hold cursor or selection, marked; told are how much of it continues the last prompt of its task, and
how long it took from the request as an object to the answer as one. The replay is played several times: a time is the
least of one step, for what else runs on the machine, whose load is told; beside it, how long the program was on a
processor. `ARMARIUS_CORPUS` may be several folders, as on a PATH.

And four novels in one process of `armarius channel --workspace`, the first of them twice where there are three: when
all are indexed for the first time, and when they are opened again.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benches.channel_steps import figures, played, times, unmarked
from benches.record import record, summary

MODEL = "deepseek-chat"
BUDGETS = (4000, 6000)
STEPS, SEED, RUNS = 300, 7, 3


@pytest.fixture(scope="module")
def novels():
    folders = [Path(one) for one in os.environ.get("ARMARIUS_CORPUS", "").split(os.pathsep) if one]
    if not folders or not all((folder / "chapters").is_dir() for folder in folders):
        pytest.skip("ARMARIUS_CORPUS names no folders with chapters/")
    return folders


@pytest.fixture
def command(tmp_path):
    """The package that is measured, as a program."""
    program = tmp_path / "armarius"
    told = tmp_path / "pid"
    program.write_text(f'#!/bin/sh\necho $$ > "{told}"\nexec "{sys.executable}" -m armarius "$@"\n', encoding="utf8")
    program.chmod(0o755)
    return str(program)


def play(novel: Path, place: Path, command: str, budget: int) -> list[Any]:
    project = place / "project"
    shutil.copytree(novel, project)
    try:
        options = {
            "command": command,
            "steps": STEPS,
            "seed": SEED,
            "budget": budget,
            "model": MODEL,
            "pid": place / "pid",
        }
        return played(project, place / "answers.jsonl", **options)
    finally:
        shutil.rmtree(project)


def test_a_writer_at_the_desk_over_the_channel(novels, command, tmp_path):
    found: dict[str, Any] = {}
    for novel in novels:
        for budget in BUDGETS:
            runs = [play(novel, tmp_path, command, budget) for _ in range(RUNS)]
            assert all([unmarked(step) for step in run] == [""] * STEPS for run in runs)
            least, busy = ([min(run[at][key] for run in runs) for at in range(STEPS)] for key in ("ms", "busy"))
            shares = figures(runs[0], budget=budget, model=MODEL)
            found[f"{novel.name}, budget {budget}"] = {
                **shares,
                f"ms, JSON included, least of {RUNS}": times(runs[0], least),
                f"ms on a processor, least of {RUNS}": times(runs[0], busy),
                "load of the machine": round(os.getloadavg()[0], 1),
            }
    record("channel", found)


def test_four_novels_in_one_process(novels, command, tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    workspace = tmp_path / "novels"
    for at in range(4):
        novel = novels[at % len(novels)]
        shutil.copytree(novel, workspace / f"{at + 1} {novel.name}", ignore=shutil.ignore_patterns("truth"))
    asked = {"workspace": str(workspace), "command": command, "steps": STEPS, "budget": BUDGETS[0], "model": MODEL}
    script = Path(__file__).with_name("channel_workspace.mjs")

    def run():
        done = subprocess.run(["node", script, json.dumps(asked)], check=True, stdout=subprocess.PIPE, timeout=1800)
        return json.loads(done.stdout)

    first, again = run(), [run() for _ in range(RUNS)]
    least = {
        which: [min(each) for each in zip(*(one.pop("keystrokes")[which] for one in map(dict, again)), strict=True)]
        for which in first.pop("keystrokes")
    }
    found = {
        "indexed for the first time": first,
        "opened again": min(again, key=lambda one: one["process started, ms"]),
        f"keystrokes, ms, least of {RUNS}": {which: summary(each) for which, each in least.items()},
    }
    found["opened again"].pop("keystrokes")
    record("channel_workspace", {**found, "load of the machine": round(os.getloadavg()[0], 1)})
