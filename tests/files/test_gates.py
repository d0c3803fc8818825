import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_gates.py"
_spec = importlib.util.spec_from_file_location("check_gates", SCRIPT)
gates = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(gates)

FORMS = [
    ("open('a', 'w')", "write"),
    ("open('a', 'a')", "write"),
    ("open('a', 'xb')", "write"),
    ("open('a', 'r+')", "write"),
    ("open('a', mode='w')", "write"),
    ("open('a', mode)", "write"),
    ("open('a')", "read"),
    ("open('a', 'rb')", "read"),
    ("import io; io.open('a', 'w')", "write"),
    ("import codecs; codecs.open('a', 'w')", "write"),
    ("path.open('w')", "write"),
    ("path.open(mode='ab')", "write"),
    ("path.open()", "read"),
    ("import os; os.open('a', os.O_WRONLY)", "write"),
    ("import os; os.open('a', os.O_RDWR | os.O_CREAT)", "write"),
    ("import os; os.open('a', flags)", "write"),
    ("import os; os.open('a', os.O_RDONLY)", "read"),
    ("import os; os.fdopen(1, 'w')", "write"),
    ("path.write_text('x')", "write"),
    ("path.write_bytes(b'x')", "write"),
    ("path.read_text()", "read"),
    ("path.read_bytes()", "read"),
    ("path.touch()", "write"),
    ("path.unlink()", "delete"),
    ("path.rmdir()", "delete"),
    ("path.mkdir()", "folder"),
    ("path.rename(other)", "write"),
    ("path.replace(other)", "write"),
    ("path.symlink_to(other)", "write"),
    ("path.hardlink_to(other)", "write"),
    ("import os; os.remove('a')", "delete"),
    ("import os; os.unlink('a')", "delete"),
    ("import os; os.rmdir('a')", "delete"),
    ("import os; os.rename('a', 'b')", "write"),
    ("import os; os.replace('a', 'b')", "write"),
    ("import os as system; system.remove('a')", "delete"),
    ("from os import remove as forget\nforget('a')", "delete"),
    ("import os\nlist(map(os.remove, paths))", "delete"),
    ("import os; os.makedirs('a')", "folder"),
    ("import os; os.mkdir('a')", "folder"),
    ("import os; os.symlink('a', 'b')", "write"),
    ("import os; os.truncate('a', 0)", "write"),
    ("import shutil; shutil.rmtree('a')", "delete"),
    ("import shutil; shutil.move('a', 'b')", "write"),
    ("import shutil; shutil.copy('a', 'b')", "write"),
    ("import shutil; shutil.copy2('a', 'b')", "write"),
    ("import shutil; shutil.copyfile('a', 'b')", "write"),
    ("import shutil; shutil.copytree('a', 'b')", "write"),
    ("from shutil import rmtree\nrmtree('a')", "delete"),
    ("import tempfile; tempfile.mkstemp()", "write"),
    ("import tempfile; tempfile.NamedTemporaryFile()", "write"),
    ("from tempfile import TemporaryDirectory\nTemporaryDirectory()", "write"),
    ("import subprocess", "process"),
    ("from subprocess import run", "process"),
    ("import os; os.system('a')", "process"),
    ("import os; os.execv('a', [])", "process"),
    ("import os; os.spawnl(0, 'a')", "process"),
    ("import asyncio; asyncio.create_subprocess_exec('a')", "process"),
    ("from mcp.client.stdio import stdio_client", "process"),
    ("import socket", "network"),
    ("import urllib.request", "network"),
    ("from urllib import request", "network"),
    ("import http.client", "network"),
    ("from http import server", "network"),
    ("import asyncio; asyncio.open_connection('a', 1)", "network"),
    ("import sqlite3", "database"),
    ("import apsw; apsw.Connection('a')", "database"),
    ("import zipfile", "write"),
    ("import numpy as np; np.save('a', b)", "write"),
]

INNOCENT = [
    "'a'.replace('b', 'c')",
    "from dataclasses import replace\nreplace(one, version=2)",
    "import datetime; moment.replace(tzinfo=None)",
    "found.remove(3)",
    "import os; os.fsync(3); os.path.join('a', 'b'); os.environ['A']",
    "import armarius; armarius.open('novel/')",
    "index.open(path, 'text')",
    "from importlib.resources import files\nfiles('armarius.codex').joinpath('words.toml').read_text(encoding='utf-8')",
    "from importlib import resources\n(resources.files('armarius') / 'a.json').read_bytes()",
    "import apsw\ndef ask(connection: apsw.Connection) -> None: ...",
    "import shutil; shutil.which('ckb')",
    "import tempfile; tempfile.gettempdir()",
    "from urllib.parse import quote",
    "import asyncio; asyncio.run(main())",
]


@pytest.mark.parametrize(("source", "kind"), FORMS)
def test_each_form_is_found(source, kind):
    assert kind in {found.kind for found in gates.findings(source)}, gates.findings(source)


@pytest.mark.parametrize("source", INNOCENT)
def test_what_only_looks_like_it_is_not_found(source):
    assert gates.findings(source) == []


@pytest.mark.slow  # `make lint` runs it over the package, and is a part of `make test`
def test_the_package_passes():
    assert gates.check() == []


@pytest.mark.parametrize(("source", "kind"), FORMS)
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
