"""Every row of the cases, through the runner that ships with the project."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CASES = json.loads((ROOT / "tests/cases/lorebooks.json").read_text("utf-8"))


def runner():
    spec = importlib.util.spec_from_file_location("run_lorebook_cases", ROOT / "scripts/run_lorebook_cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUN = runner()


@pytest.mark.parametrize("case", CASES["behaviour"], ids=lambda case: case["id"])
def test_an_entry_is_active_as_its_program_has_it(case):
    assert RUN.behaves(case, ROOT) == ""


def test_the_runner_notices_another_answer():
    case = json.loads(json.dumps(CASES["behaviour"][0]))
    case["expect"]["active"] = [99]
    assert "expected [99]" in RUN.behaves(case, ROOT)
