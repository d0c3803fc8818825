"""Every input that ever failed, and a few hundred new ones for each target; `make fuzz MINUTES=10` goes on."""

from pathlib import Path

import pytest
from tests.fuzz.__main__ import FOUND, run
from tests.fuzz.targets import SEEDS, TARGETS

KEPT = sorted(path for path in FOUND.glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_once_failed_does_not_fail_again(path):
    TARGETS[path.parent.name](Path(path).read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_inputs_break_no_target(name):
    tried, failed = run(name, inputs=300)
    assert (tried, failed) == (300, [])


def test_every_target_has_seeds_and_a_broken_one_is_noticed(monkeypatch):
    assert set(SEEDS) == set(TARGETS)
    monkeypatch.setitem(TARGETS, "parts", lambda data: 1 / (len(data) - 64))
    monkeypatch.setitem(SEEDS, "parts", [b"x" * 63])
    _, failed = run("parts", inputs=2000)
    assert failed
    assert "ZeroDivisionError" in failed[0][1]
