"""The JavaScript client of the examples, run by Node over the real channel; its claims are in javascript_client.mjs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.programs import shell_program

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "javascript"
CLAIMS = HERE / "javascript_client.mjs"
NAMES = re.findall(r"^  async (\w+)\(", CLAIMS.read_text(encoding="utf8"), re.MULTILINE)
pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="no Node on this machine")


def node(*arguments, **environment):
    return subprocess.run(
        ["node", *map(str, arguments)],
        capture_output=True, text=True, timeout=120, env={**os.environ, **environment}, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The package that is tested, as a program of a name with a blank in it."""
    folder = tmp_path_factory.mktemp("a program")
    return shell_program(folder / "armarius", shlex.join([sys.executable, "-m", "armarius"]))


@pytest.fixture(scope="module")
def wrong(program, tmp_path_factory):
    """What is wrong with each claim, "" where nothing is; asked by one process of Node."""
    place = tmp_path_factory.mktemp("claims")
    novel = shutil.copytree(EXAMPLES.parent / "novel", place / "novel")
    for name in ("one", "two"):
        (place / "books" / name).mkdir(parents=True)
        (place / "books" / name / "ch001.md").write_text(f"# 第一章\n\n铜鱼{name}沉了。\n", "utf8")
    done = node(CLAIMS, program, novel, place / "books")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("claim", NAMES)
def test_the_client(claim, wrong):
    assert wrong[claim] == ""


@pytest.mark.parametrize("name", ["electron.md", "start-writing-app.md", "start-writing-app.zh.md"])
def test_the_program_of_the_page_prints_what_the_page_says(name, novel, program, tmp_path):
    page = (EXAMPLES.parents[1] / "docs" / name).read_text(encoding="utf8")
    ((body, printed),) = re.findall(r"^```javascript\n(.*?)^```\n\n```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    app = Path(shutil.copytree(EXAMPLES, tmp_path / "app"))
    shutil.copytree(novel, app / "examples" / "novel")
    (app / "main.js").write_text(body, encoding="utf8")
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["node", "main.js"], cwd=app, capture_output=True, text=True, timeout=120, env={**os.environ, "PATH": path},
        check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (printed, "")


def test_the_example_says_why_each_part_is_in_the_prompt(novel, program):
    done = node(EXAMPLES / "ask.js", novel, "小雨点是谁", ARMARIUS=str(program))
    assert done.returncode == 0, done.stderr
    assert "小雨点: 问题提到“小雨点”" in done.stdout
    assert "of 4000" in done.stdout
