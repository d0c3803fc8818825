"""docs/reliability.md says what ran, and names tests that are there."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from tests import recorded

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("write_reliability", ROOT / "scripts" / "write_reliability.py")
script = importlib.util.module_from_spec(_spec)
sys.modules["write_reliability"] = script  # what a dataclass asks for
_spec.loader.exec_module(script)

ROW = {"count": 500, "failures": 0, "seconds": 12.4, "megabytes": 90, "version": "1.0", "date": "2026-01-02"}


def test_the_page_says_what_ran():
    assert script.main(["--check"]) == 0


def test_a_page_that_says_something_else_is_noticed(monkeypatch, tmp_path, capsys):
    (tmp_path / "page.md").write_text(script.PAGE.read_text("utf8").replace(" failed;", " of them failed;", 1), "utf8")
    monkeypatch.setattr(script, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(script, "ROOT", tmp_path)
    assert script.main(["--check"]) == 1
    assert "not what ran" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for row in script.ROWS for name in row.slow])
def test_every_slow_test_that_the_table_names_is_there_and_slow(name):
    path, _, function = name.partition("::")
    text = (ROOT / path).read_text("utf8")
    assert "mark.slow" in text
    if function:
        decorated = text[: text.index(f"def {function}(")].rpartition("\n\n\n")[2]
        assert "slow" in decorated.lower()


def test_every_result_is_in_the_table():
    results = json.loads(script.RESULTS.read_text("utf8"))
    named = [name for row in script.ROWS for name in row.slow]
    assert [id_ for id_ in results if not any(script.is_of(id_, name) for name in named)] == []


def test_what_never_ran_and_what_failed_is_said():
    row = next(row for row in script.ROWS if row.unit == "damages")
    (name,) = row.slow
    assert script.ran(row, {}) == "not run yet"
    assert script.ran(row, {f"{name}[500-closed]": ROW, f"{name}[500-crash]": {**ROW, "failures": 3}}) == (
        "1,000 damages; 3 failed; 25 s, 90 MB; 2026-01-02, 1.0"
    )
    two = next(row for row in script.ROWS if len(row.slow) == 2)
    assert script.ran(two, {two.slow[0]: ROW}).endswith(f"not run yet: `{two.slow[1]}`")


def test_what_a_slow_test_ran_takes_the_place_of_what_it_ran_before(tmp_path):
    file = tmp_path / "results.json"
    recorded.record("a", {"count": 3}, passed=True, seconds=1.26, results=file)
    recorded.record("b", {}, passed=False, seconds=1.0, results=file)
    recorded.record("a", {"count": 5, "failures": 2}, passed=False, seconds=2.0, results=file)
    rows = json.loads(file.read_text("utf8"))
    assert {name: (row["count"], row["failures"], row["seconds"]) for name, row in rows.items()} == {
        "a": (5, 2, 2.0), "b": (1, 1, 1.0),
    }  # fmt: skip
