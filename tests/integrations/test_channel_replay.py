"""Three hundred steps of a writer on two novels, from Node over the real channel: every prompt holds its marks."""

import shlex
import shutil
import sys
from pathlib import Path

import pytest
from benches.channel_steps import figures, played, unmarked
from tests.programs import shell_program

ROOT = Path(__file__).resolve().parents[2]
MODEL = "deepseek-chat"


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node on this machine")
@pytest.mark.parametrize(("novel", "budget"), [("examples/novel", 2500), ("tests/data/saltern", 3000)])
def test_a_writer_s_prompts_hold_their_marks_and_continue_each_other(novel, budget, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = shell_program(tmp_path / "armarius", shlex.join([sys.executable, "-m", "armarius"]))
    shutil.copytree(ROOT / novel, tmp_path / "novel", ignore=shutil.ignore_patterns("truth"))
    options = {"command": str(program), "steps": 150, "seed": 7, "budget": budget, "model": MODEL}
    steps = played(tmp_path / "novel", tmp_path / "answers.jsonl", **options)
    assert {step["kind"] for step in steps} == {"open", "type", "move", "select", "save", "ask"}
    assert [unmarked(step) for step in steps] == [""] * 150
    assert all(step["tokenCount"] <= budget for step in steps)
    assert figures(steps, budget=budget, model=MODEL)["of the ceiling in any order, by task"]["write"] >= 0.85
