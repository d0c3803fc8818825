"""The contract of the rooms in pyproject.toml: it holds, and it can fail."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("importlinter")

ROOT = Path(__file__).parents[1]
LINTER = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def lint(package_parent):
    run = subprocess.run(
        [sys.executable, "-c", LINTER, "--config", str(ROOT / "pyproject.toml"), "--no-cache"],
        env={**os.environ, "PYTHONPATH": str(package_parent), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        cwd=package_parent,
    )
    return run.returncode, run.stdout + run.stderr


@pytest.fixture
def copied(tmp_path):
    shutil.copytree(ROOT / "python" / "armarius", tmp_path / "armarius", ignore=shutil.ignore_patterns("*.so", "*.pyc"))
    return tmp_path / "armarius"


def test_rooms_import_downwards_only():
    code, said = lint(ROOT / "python")
    assert code == 0, said


@pytest.mark.parametrize(
    ("file", "line", "broken"),
    [
        ("text/matcher.py", "import armarius.codex.people as _people", "armarius.text is not allowed to import"),
        (
            "text/tokens.py",
            "def _f():\n    import armarius.engine.maps as _m\n",
            "armarius.text is not allowed to import",
        ),
        (
            "store/protocol.py",
            "if TYPE_CHECKING:\n    import armarius.index.freshness as _s\n",
            "armarius.store is not allowed",
        ),
        ("prompt/allocate.py", "import armarius.prompt.report.pack as _p", "armarius.prompt.allocate is not allowed"),
        ("graph/protocol.py", "import armarius.graph.nervusdb as _n", "No cycles are allowed in armarius.graph"),
    ],
    ids=["upwards", "upwards in a function", "upwards for types", "inside assembly", "a circle inside a room"],
)
def test_an_arrow_that_goes_up_is_found(copied, file, line, broken):
    path = copied / file
    path.write_text(path.read_text("utf-8") + f"\n{line}\n", "utf-8")
    code, said = lint(copied.parent)
    assert code == 1
    assert broken in said


def test_a_room_that_the_contract_does_not_name_is_found(copied):
    (copied / "cellar").mkdir()
    (copied / "cellar" / "__init__.py").write_text('"""New."""\n', "utf-8")
    code, said = lint(copied.parent)
    assert code != 0
    assert "cellar" in said


@cache
def doors_contract():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return next(one for one in contracts if one["id"] == "doors")


def is_door(module):
    return any(module == door or module.startswith(f"{door}.") for door in doors_contract()["forbidden_modules"])


def test_an_import_of_a_door_by_the_core_is_found(copied):
    path = copied / "search" / "query" / "query.py"
    path.write_text(path.read_text("utf-8") + "\nimport armarius.search.thesaurus as _c\n", "utf-8")
    code, said = lint(copied.parent)
    assert code == 1
    assert "armarius.search.query is not allowed to import armarius.search.thesaurus" in said


def test_a_folder_of_prose_and_a_prompt_load_no_door(tmp_path):
    (tmp_path / "chapters").mkdir()
    for n in (1, 2, 3):
        (tmp_path / "chapters" / f"ch{n:03d}.md").write_text(
            f"# Chapter {n}\n\nMara lit the lamp on day {n}.\n", "utf-8"
        )
    probe = (
        "import sys, armarius\n"
        "with armarius.open(sys.argv[1], watch=False) as e: assert e.assemble('Who lit the lamp?', budget=2000).items\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", probe, str(tmp_path)], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert sum(name.startswith("armarius") for name in loaded) <= 122  # of 250 files; 120 when this was written
    unneeded = [
        "graph.protocol",
        "index.series",
        "index.watcher",
        "search.models",
        "codex.people",
        "codex.in_place",
    ]
    assert not {f"armarius.{name}" for name in unneeded} & set(loaded)
    assert [name for name in loaded if is_door(name)] == []
    assert not {"numpy", "usearch", "sqlite_vec", "asyncio"} & set(loaded)  # of vectors, and of coroutines


def test_no_file_of_the_core_loads_a_door_by_a_string():
    package = ROOT / "python" / "armarius"
    found = []
    for path in package.rglob("*.py"):
        module = ".".join(("armarius", *path.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")
        if is_door(module) or module == "armarius.doors":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        texts = {one.value for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        tables = [
            one.value for one in tree.body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "TABLE"
        ]
        keys = {
            key.value for table in tables for one in ast.walk(table) if isinstance(one, ast.Dict) for key in one.keys
        }
        found += [(module, text) for text in (*texts, *(f"armarius.{key}" for key in keys)) if is_door(text)]
        named = {getattr(one, "id", getattr(one, "attr", "")) for one in ast.walk(tree)}
        found += [(module, name) for name in named & {"import_module", "__import__"}]
    assert found == []


def test_every_exception_from_the_contract_has_its_reason_beside_it():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    exceptions = {one for contract in contracts for one in contract.get("ignore_imports", [])}
    lines = text.splitlines()
    for exception in exceptions:
        at = next(n for n, line in enumerate(lines) if f'"{exception}"' in line)
        above = next(line for line in reversed(lines[: at + 1]) if not line.strip().startswith('"'))
        assert "#" in above or "#" in lines[at] or "#" in lines[at - 1], exception


def test_a_room_names_the_files_that_it_has():
    package = ROOT / "python" / "armarius"
    for room in package.rglob("__init__.py"):
        said = ast.get_docstring(ast.parse(room.read_text("utf-8"))) or ""
        named = set(re.findall(r"(?<![\w/.`])([a-z_]+\.py)\b", said))
        assert {name for name in named if not (room.parent / name).exists()} <= {"warnings.py"}, room


def test_the_file_of_a_package_defines_nothing():
    package = ROOT / "python" / "armarius"
    held = {}
    for path in package.rglob("__init__.py"):
        names = [
            one.name
            for one in ast.parse(path.read_text("utf-8")).body
            if isinstance(one, ast.ClassDef | ast.FunctionDef)
        ]
        held[path.relative_to(package).as_posix()] = names
    expected = {
        "__init__.py": ["__dir__"],
        "lexicon/__init__.py": ["word_file", "text_file"],
    }  # the room of the words has no other file
    assert {path: names for path, names in held.items() if names} == expected


def test_every_word_file_is_named_where_they_lie():
    room = ROOT / "python" / "armarius" / "lexicon"
    said = (room / "__init__.py").read_text("utf-8")
    assert [file.name for file in room.glob("*.toml") if file.name not in said] == []


def test_lint_runs_the_contract():
    target = (ROOT / "Makefile").read_text("utf-8").partition("\nlint-python:")[2].partition("\n\n")[0]
    assert "lint-imports" in target
