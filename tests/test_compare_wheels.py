"""The comparison of two builds: one build with itself, and with a copy of it that answers something else."""

import importlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import armarius

ROOT = Path(__file__).parent.parent
NOVEL = ROOT / "examples" / "novel"
PACKAGE = Path(armarius.__file__).parent

# Written at the end of the package: names alone, so that it outlives any move inside.
PLANTED = """
import armarius as _planted
_planted.ContextEngine.detect = lambda self, text: []
"""


def compare(*arguments: object, project: Path = NOVEL) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "scripts" / "compare_wheels.py", project, *arguments]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, encoding="utf-8")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    """The answers of this build, given by two processes that agreed."""
    folder = tmp_path_factory.mktemp("recorded")
    done = compare("--before-path", PACKAGE.parent, "--save", folder, "--requests", 30)
    assert done.returncode == 0, done.stderr
    return folder


def answers(recorded: Path) -> list[dict]:
    return [json.loads(line) for line in (recorded / "novel" / "answers.jsonl").read_text("utf-8").splitlines()]


def test_a_build_equals_itself(recorded, tmp_path):
    same = compare("--against", recorded, "--after-path", PACKAGE.parent, "--runs", 1, "--diff", tmp_path / "diff")
    assert same.returncode == 0, same.stderr
    assert "all: 30 requests, 30 identical, 0 changed (0.00 %)" in same.stdout
    assert not (tmp_path / "diff").exists()


def test_every_kind_of_request_is_answered_with_something(recorded):
    said = answers(recorded)
    assert {one["verb"] for one in said} >= {
        "assemble", "wire", "inspect", "retrieve", "search", "detect", "mentions", "evidence", "channel", "documents",
    }  # fmt: skip
    assert not [one for one in said if "broken" in one]
    prompts = [json.loads(one["value"]["wire"])["prompt"] for one in said if "items" in one["value"]]
    assert len(set(prompts)) > 8
    assert sum("林小雨" in prompt for prompt in prompts) > 5
    for layer in ("rules", "settings", "retrieved", "immediate"):
        assert any(f"<layer-{layer}>" in prompt for prompt in prompts), layer


def test_a_planted_difference_in_a_wheel_is_found_and_shown(recorded, tmp_path):
    wheel = tmp_path / "planted-0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in sorted(PACKAGE.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(PACKAGE.parent).as_posix()
                data = path.read_bytes() + (PLANTED.encode() if name == "armarius/__init__.py" else b"")
                archive.writestr(name, data)
    diff = tmp_path / "diff"
    arguments = ("--against", recorded, "--after", wheel, "--runs", 1, "--diff", diff)
    done = compare(*arguments, "--allow", 1)
    named = [one["id"] for one in answers(recorded) if one["verb"] == "detect" and one["value"]]
    over_the_channel = [one["id"] for one in answers(recorded) if '"items":[{"entityId"' in str(one["value"])]
    assert named
    assert done.returncode == 1, done.stdout
    shown = diff.read_text("utf-8")
    assert [line.split()[2] for line in shown.splitlines() if line.startswith("=== novel ")] == sorted(
        named + over_the_channel
    )
    assert f"--- before/{named[0]}\n+++ after/{named[0]}" in shown
    entity = next(one["value"][0][0] for one in answers(recorded) if one["id"] == named[0])
    assert f'-: ["{entity}", ' in shown


def test_a_project_that_has_changed_is_not_compared_with_its_record(recorded, tmp_path):
    changed = tmp_path / "novel"
    (changed / "chapters").mkdir(parents=True)
    (changed / "chapters" / "ch001.md").write_text("# 第一章\n\n小雨推开门走了进来。\n", "utf-8")
    done = compare("--against", recorded, "--after-path", PACKAGE.parent, project=changed)
    assert done.returncode == 2
    assert "novel is not the folder that was recorded" in done.stderr


@pytest.fixture
def hollow(tmp_path) -> Path:
    """Not the package: an engine that detects by chance and has no other verb."""
    package = tmp_path / "armarius"
    package.mkdir()
    (package / "_core.abi3.so").touch()
    (package / "errors.py").write_text("class ArmariusError(Exception):\n    pass\n")
    (package / "__init__.py").write_text(
        "from types import SimpleNamespace\n"
        "__version__ = '0'\n"
        "class Hollow:\n"
        "    __enter__ = lambda self: self\n"
        "    __exit__ = lambda self, *_: None\n"
        "    detect = lambda self, text: [SimpleNamespace(entity_id=str(hash('a')), term='a', position=0)]\n"
        "open = lambda *_, **__: Hollow()\n"
    )
    return tmp_path


def test_a_verb_that_neither_build_has_is_a_gap_and_not_an_equal_answer(hollow):
    done = compare("--before-path", hollow, "--after-path", hollow, "--requests", 5, "--runs", 1)
    assert done.returncode == 1
    assert "0 changed" in done.stdout
    assert "Gap: Hollow has none of search, index.search" in done.stderr
    assert "-detect: " not in done.stderr


def test_a_build_that_contradicts_itself_is_found(hollow, tmp_path):
    done = compare("--before-path", hollow, "--save", tmp_path / "saved", "--requests", 5)
    odd = [line for line in done.stderr.splitlines() if "differently in a second process" in line]
    assert done.returncode == 1
    assert len(odd) == 1
    assert "-detect differently" in odd[0]


def test_an_answer_is_read_by_whichever_name_the_build_gives_it():
    runner = importlib.import_module("scripts.comparison.runner")
    passage = SimpleNamespace(path="a.md")
    before = SimpleNamespace(
        path="a.md", start=3, end=5, matched_term="b", search=lambda text, *, chapter: (text, chapter)
    )
    after = SimpleNamespace(
        passage=passage, span=[3, 5], term="b", index=SimpleNamespace(search=lambda query, *, as_of: (query, as_of))
    )
    for name in ("path", "span", "matched_term"):
        assert runner.attribute(before, name) == runner.attribute(after, name)
    arguments = {"text": "words", "chapter": 7}
    assert [runner.called(one, "search", arguments) for one in (before, after)] == [("words", 7)] * 2
    with pytest.raises(runner.Gap, match="takes none of limit"):
        runner.called(before, "search", {**arguments, "limit": 3})
