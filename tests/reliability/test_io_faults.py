"""Every call on a file may fail: what was acknowledged is there, the next opening is whole, and the error is ours."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.reliability.shim import built

ROOT = Path(__file__).resolve().parents[2]


SLOW = [pytest.param(2000, first, 8, marks=pytest.mark.slow) for first in range(8)]


@pytest.mark.parametrize(("count", "first", "step"), [(6, 0, 1), *SLOW])
def test_a_failed_call_is_an_error_of_ours_and_loses_nothing(tmp_path, record_property, count, first, step):
    environment = {
        **os.environ,
        "LD_PRELOAD": str(built(tmp_path)),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
        "PYTHONWARNINGS": "ignore",
    }
    program = [sys.executable, "-m", "tests.reliability.session", tmp_path / "disk", *map(str, (count, first, step))]
    done = subprocess.run(program, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    wrong = [one for one in found if one["wrong"]]
    reached = sum(bool(one["call"]) for one in found)  # a run makes some calls more or fewer than another
    record_property("count", reached)
    record_property("failures", len(wrong))
    assert len(found) == count // step
    assert reached > 0.9 * len(found)
    assert wrong == []
