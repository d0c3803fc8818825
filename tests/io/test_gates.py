import importlib.util
from pathlib import Path

import pytest
from tests.rows import rows

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_gates.py"
_spec = importlib.util.spec_from_file_location("check_gates", SCRIPT)
gates = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(gates)


@rows("gates")
def test_each_form_is_found(source, kind):
    assert kind in {found.kind for found in gates.findings(source)}, gates.findings(source)


@rows("gates")
def test_what_only_looks_like_it_is_not_found(source):
    assert gates.findings(source) == []


@pytest.mark.slow  # `make lint` runs it over the package, and is a part of `make test`
def test_the_package_passes():
    assert gates.check() == []


@rows("gates", "test_each_form_is_found")
def test_each_form_in_a_file_of_the_package_is_an_error_with_file_and_line(tmp_path, source, kind):
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "file.py").write_text(f'"""Text."""\n{source}\n', "utf-8")
    wrong = gates.check(tmp_path, {})
    assert any(line.startswith("room/file.py:") and f": {kind}: " in line for line in wrong)
    everything = frozenset(found.kind for found in gates.findings(source))
    assert gates.check(tmp_path, {"room/file.py": (everything, "a test")}) == []


def test_an_entry_without_a_reason_or_a_need_is_an_error(tmp_path):
    (tmp_path / "a.py").write_text("open('a')\n", "utf-8")
    assert gates.check(tmp_path, {"a.py": (frozenset({"read"}), " ")}) == ["ALLOWED['a.py']: no reason"]
    assert gates.check(tmp_path, {"a.py": (frozenset({"read", "write"}), "x")}) == [
        "ALLOWED['a.py']: write: not needed any more"
    ]
    assert gates.check(tmp_path, {"gone.py": (frozenset({"read"}), "x"), "a.py": (frozenset({"read"}), "x")}) == [
        "ALLOWED['gone.py']: read: not needed any more"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "from armarius import Pack",
        "from armarius import _core",
        "import armarius",
        "import armarius as whole",
        "import armarius.engine",
        "from . import engine",
        "def later():\n    from armarius import open",
    ],
)
def test_a_name_from_the_flat_namespace_is_found(tmp_path, line):
    (tmp_path / "a.py").write_text(f"{line}\n", "utf-8")
    (problem,) = gates.check(tmp_path, {})
    assert "name the room" in problem


@pytest.mark.parametrize(
    "line", ["import armarius._core as _core", "from armarius.engine import open", "import armarius_of_others"]
)
def test_a_name_from_a_room_is_none_of_the_flat_namespace(tmp_path, line):
    (tmp_path / "a.py").write_text(f"{line}\n", "utf-8")
    assert gates.check(tmp_path, {}) == []


def test_lint_runs_it():
    makefile = SCRIPT.parents[1] / "Makefile"
    lint = makefile.read_text("utf-8").partition("\nlint-python:")[2].partition("\n\n")[0]
    assert "scripts/check_gates.py" in lint
