"""The guard of the hot paths: what it lets pass, what it refuses, and when it does not judge."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "count_instructions.py"


@pytest.fixture(scope="module")
def guard():
    spec = importlib.util.spec_from_file_location("count_instructions", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def path(instructions, answer=7):
    return {"instructions": instructions, "bytes": 100, "answer": answer}


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        ({"rank": path(1000)}, {"rank": path(1050)}, []),
        ({"rank": path(1000)}, {"rank": path(950)}, []),
        ({"rank": path(1000)}, {"rank": path(1051)}, ["the price of the change"]),
        ({"rank": path(1000)}, {"rank": path(949)}, ["so that it stays so"]),
        ({"rank": path(1000)}, {"rank": path(1000, answer=8)}, ["another answer"]),
        ({"rank": path(1000)}, {}, ["rank: no longer counted"]),
        ({}, {"rank": path(1000)}, ["rank: not recorded"]),
    ],
)
def test_a_path_may_differ_by_five_per_cent_and_must_answer_the_same(guard, before, after, wrong):
    _, failures = guard.compared(before, after)
    assert len(failures) == len(wrong)
    assert all(part in failure for part, failure in zip(wrong, failures, strict=True))


def test_counts_of_another_compiler_or_library_are_not_judged(guard):
    recorded = {"compiler": "rustc 1.95.0", "processor": "x86_64, avx2", "libc": "glibc 2.36", "valgrind": "3.19"}
    assert guard.judged(recorded, dict(recorded)) == []
    assert guard.judged(recorded, recorded | {"system": "Linux"}) == []
    for name, before in recorded.items():
        assert guard.judged(recorded, recorded | {name: "another"}) == [(name, before)]


def test_at_least_ten_paths_are_recorded_and_each_was_counted(guard):
    figures = json.loads(guard.RECORDED.read_text("utf-8"))["figures"]
    assert len(figures) >= 10
    assert all(one["instructions"] > 10_000 and one["answer"] > 0 for one in figures.values())


def test_without_valgrind_it_says_so_and_passes(tmp_path):
    said = subprocess.run(
        [sys.executable, SCRIPT], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert said.stdout == "instructions: skipped, there is no valgrind (Debian: apt-get install valgrind)\n"
    assert shutil.which("valgrind", path=str(tmp_path)) is None
