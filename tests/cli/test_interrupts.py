"""Ctrl-C at any moment of a command: status 130 and not a word, from the first import on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

NOVEL = Path(__file__).resolve().parents[2] / "examples" / "novel"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")

# Interrupts itself when something asks for a module. A shell that runs the tests in the background ignores the signal.
PROGRAM = """
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
wanted = sys.argv.pop(1)
class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupter())
runpy.run_module("armarius", run_name="__main__", alter_sys=True)
"""
MOMENTS = (
    "armarius.cli",
    "argparse",
    "armarius.errors",
    "armarius.cli.prompts",
    "armarius.prompt.assembler",
    "armarius.engine",
    "armarius.search",
    "armarius.index.project_index",
)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_command_that_is_interrupted_while_it_loads_ends_in_silence_with_130(tmp_path, moment):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONWARNINGS": "ignore::RuntimeWarning"}
    words = [sys.executable, "-c", PROGRAM, moment, "ask", str(NOVEL), "小雨是谁"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_an_interrupt_that_the_shell_has_had_ignored_stays_ignored(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONWARNINGS": "ignore::RuntimeWarning"}
    program = PROGRAM.replace("signal.default_int_handler", "signal.SIG_IGN")
    words = [sys.executable, "-c", program, "armarius.cli.prompts", "ask", str(NOVEL), "小雨是谁"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert done.returncode == 0
    assert "小雨是谁" in done.stdout


def test_the_command_starts_where_the_first_import_is_heard():
    pyproject = (NOVEL.parents[1] / "pyproject.toml").read_text(encoding="utf8")
    assert 'armarius = "armarius.__main__:run"' in pyproject
