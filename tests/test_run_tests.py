"""How the Python tests are shared out between two processes; and that `make` builds what they need anywhere."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest
from hypothesis import settings
from scripts.run_tests import ROOT, everything, halves
from tests.programs import python_program


def test_each_process_has_as_much_to_do_and_nothing_is_left_out():
    seconds = {"a": 9.0, "b": 5.0, "c": 4.0, "d": 1.0, "e": 1.0}
    found = halves(seconds, seconds)
    assert sorted(name for half in found for name in half) == list("abcde")
    assert [sum(seconds[name] for name in half) for half in found] == [10.0, 10.0]


def test_a_new_folder_counts_as_one_of_middle_length():
    assert halves(["a", "b", "new"], {"a": 9.0, "b": 5.0, "c": 4.0}) == (["a"], ["b", "new"])


def test_every_folder_with_tests_is_run():
    names = everything()
    assert {"books", "hostile", "test_run_tests.py"} <= {*names}
    assert not {"cases", "data", "typing", "conftest.py"} & {*names}


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make_builds_in_a_folder_with_a_space_in_its_name(tmp_path):
    folder = tmp_path / "a b 空格 😀"
    (folder / "rust").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, folder)
    environment = {"PATH": os.environ["PATH"]}  # these tests are run by make, whose settings are not for this one
    done = subprocess.run(["make", "-n", "develop"], cwd=folder, env=environment, capture_output=True, check=True)
    (line,) = (line for line in done.stdout.decode("utf-8").splitlines() if "maturin develop" in line)
    assert shlex.split(line)[0] == f"VIRTUAL_ENV={folder}/.venv"


def test_a_fake_program_runs_under_a_python_with_a_blank_in_its_path(tmp_path, monkeypatch):
    folder = tmp_path / "a b 空格"
    folder.mkdir()
    (folder / "python").symlink_to(sys.executable)
    monkeypatch.setattr("sys.executable", str(folder / "python"))
    program = python_program(folder / "fake", "import sys; print(sys.argv[1:])", "-SEs")
    assert subprocess.check_output([program, "a b", "c"], text=True) == "['a b', 'c']\n"


def test_no_property_fails_because_the_machine_is_busy():
    assert settings().deadline is None
