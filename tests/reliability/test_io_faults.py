"""Every call on a file may fail: what was acknowledged is there, the next opening is whole, and the error is ours."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.reliability.shim import built

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("count", [10, pytest.param(2000, marks=pytest.mark.slow)])
def test_a_failed_call_is_an_error_of_ours_and_loses_nothing(tmp_path, record_property, count):
    environment = {
        **os.environ,
        "LD_PRELOAD": str(built(tmp_path)),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
        "PYTHONWARNINGS": "ignore",
    }
    program = [sys.executable, "-m", "tests.reliability.session", str(tmp_path / "disk"), str(count)]
    done = subprocess.run(program, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    total, *found = map(json.loads, done.stdout.splitlines())
    wrong = [one for one in found if one["wrong"]]
    record_property("count", len(found))
    record_property("failures", len(wrong))
    assert total["points"] > len(found) == count
    assert all(one["call"] for one in found), "a point at which nothing failed"
    assert wrong == []
