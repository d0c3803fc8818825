"""Every input that ever failed, and a few hundred new ones for each target; `make fuzz MINUTES=10` goes on."""

from pathlib import Path

import pytest
from tests.fuzz import guided
from tests.fuzz.__main__ import FOUND, run
from tests.fuzz.targets import SEEDS, TARGETS

KEPT = sorted(path for path in FOUND.glob("*/*") if path.is_file())  # those of the core are replayed by cargo test


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


def test_every_target_of_the_core_has_its_program_and_seeds():
    assert list(guided.SEEDS) == guided.NAMES
    listed = (guided.PROGRAMS / "Cargo.toml").read_text("utf-8")
    assert [line.split('"')[1] for line in listed.splitlines() if line.startswith('path = "targets/')] == [
        f"targets/{name}.rs" for name in guided.NAMES
    ]


@pytest.mark.parametrize("tool", ["", "#!/bin/sh\necho \"error: toolchain 'nightly' is not installed\" >&2\nexit 1\n"])
def test_without_the_tools_guided_fuzzing_says_so_and_fails_nothing(tmp_path, monkeypatch, capsys, tool):
    if tool:
        (tmp_path / "cargo").write_text(tool)
        (tmp_path / "cargo").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["guided", "matcher"])
    assert guided.main() == 0
    said = capsys.readouterr().out
    assert said.startswith("fuzz-rust: not run: ")
    assert ("there is no cargo" in said) is not bool(tool)


def test_figures_and_what_failed_are_read_from_what_the_program_says(tmp_path, monkeypatch):
    """A program that says what libFuzzer says, and leaves what it failed on where it was told to."""
    program = tmp_path / "matcher"
    program.write_text(
        "#!/bin/sh\n"
        'for one in "$@"; do case $one in -artifact_prefix=*) printf bad > "${one#*=}crash-1";; esac; done\n'
        'echo "#9 NEW    cov: 41 ft: 77 corp: 3/9b lim: 4" >&2\n'
        'echo "stat::number_of_executed_units: 1234" >&2\n'
        "exit 77\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(guided, "TARGET_DIR", tmp_path / "target")
    monkeypatch.setattr(guided, "FOUND", tmp_path / "found")
    figures = guided.run(program, inputs=10)
    assert {name: figures[name] for name in ("inputs", "edges", "features", "failed")} == {
        "inputs": 1234, "edges": 41, "features": 77, "failed": 1,
    }  # fmt: skip
    assert [path.read_bytes() for path in (tmp_path / "found/matcher").iterdir()] == [b"bad"]
