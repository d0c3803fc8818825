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
    assert {"lorebooks", "hostile", "test_run_tests.py"} <= {*names}
    assert not {"cases", "data", "typing", "conftest.py"} & {*names}


def make(folder, *words):
    """`make -n develop` in a folder that has what the Makefile asks for."""
    (folder / "rust").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, folder)
    environment = {"PATH": os.environ["PATH"]}  # these tests are run by make, whose settings are not for this one
    command = ["make", "-n", "develop", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, encoding="utf-8")


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make_builds_in_a_folder_with_a_space_in_its_name(tmp_path):
    folder = tmp_path / "a b 空格 😀"
    done = make(folder)
    (line,) = (line for line in done.stdout.splitlines() if "maturin develop" in line)
    assert shlex.split(line)[0] == f"VIRTUAL_ENV={folder}/.venv"


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
@pytest.mark.parametrize(
    ("folder", "words", "says"),
    [
        ("a:b", (), "a colon in its name"),
        ("ab", ["VENV=/a b"], "one path each"),
        ("ab", ["PYTHON=/a b/c"], "one path each"),
    ],
)
def test_make_says_where_it_cannot_work_before_it_begins(tmp_path, folder, words, says):
    done = make(tmp_path / folder, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_a_fake_program_runs_under_a_python_with_a_blank_in_its_path(tmp_path, monkeypatch):
    folder = tmp_path / "a b 空格"
    folder.mkdir()
    (folder / "python").symlink_to(sys.executable)
    monkeypatch.setattr("sys.executable", str(folder / "python"))
    program = python_program(folder / "fake", "import sys; print(sys.argv[1:])", "-SEs")
    assert subprocess.check_output([program, "a b", "c"], text=True) == "['a b', 'c']\n"


def test_no_property_fails_because_the_machine_is_busy():
    assert settings().deadline is None
