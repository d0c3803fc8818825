"""The two commands, and the real indexers behind one of them."""

import json
import stat

import pytest
from tests.code.support import EXAMPLE

from armarius.cli import main
from armarius.code.scip import build_index
from armarius.errors import CodeGraphError


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def test_a_tree_that_a_person_can_read(project, cache, capsys):
    assert run("subgraph", project, "burning_time", "--direction", "callers", "--cache", cache) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "burning_time  function  lantern/lights.py:8",
        "  <--calls-- Lantern.minutes  lantern/lights.py:26",
        "    <--calls-- Lantern.light  lantern/lights.py:22",
    ]
    assert [line for line in lines if line.startswith("  <--calls-- RiverLantern.minutes")]


def test_the_arrow_of_a_tree_points_from_who_acts_to_what_is_acted_upon(project, cache, capsys):
    assert run("subgraph", project, "runScript", "--direction", "callees", "--depth", "1", "--cache", cache) == 0
    assert "  --calls--> clean  " in capsys.readouterr().out


def test_json_is_the_wire_form_alone(project, cache, capsys):
    assert (
        run("subgraph", project, "runScript", "--depth", "1", "--direction", "callees", "--json", "--cache", cache) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"nodes", "edges"}
    assert found["nodes"][0] == {"id": "scip:code-project:runScript", "name": "runScript", "type": "function"}
    assert {"from": "runScript", "to": "clean", "type": "calls"} in found["edges"]


def test_kinds_can_be_chosen(project, cache, capsys):
    run("subgraph", project, "RiverLantern", "--kinds", "inherits", "--json", "--cache", cache)
    assert {edge["type"] for edge in json.loads(capsys.readouterr().out)["edges"]} == {"inherits"}


@pytest.mark.parametrize(
    ("symbol", "words"),
    [("minutes", "lantern.lights.Lantern.minutes"), ("burning_tim", "near: burning_time"), ("", "no symbol")],
)
def test_names_that_mean_nothing_or_too_much_fail_with_advice(project, cache, capsys, symbol, words):
    assert run("subgraph", project, symbol, "--cache", cache) == 2
    assert words in capsys.readouterr().err


def test_no_index_prints_lines_and_the_notice(project, cache, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    (project / "index.scip").unlink()
    assert run("subgraph", project, "burning_time", "--cache", cache) == 0
    out = capsys.readouterr().out
    assert out.startswith("! CKB 不可用，降级为文本搜索\n! CODE_GRAPH_REASON: no_index: ")
    assert "lantern/lights.py:8: def burning_time" in out


def test_a_missing_indexer_is_named_with_what_to_install(project, cache, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run("code-index", project, "--cache", cache) == 1
    said = capsys.readouterr().err
    assert ".py files need scip-python: npm install -g @sourcegraph/scip-python" in said
    assert ".ts files need scip-typescript: npm install -g @sourcegraph/scip-typescript" in said


def test_a_folder_without_code_says_so(tmp_path, cache, capsys):
    (tmp_path / "a.md").write_text("x")
    assert run("code-index", tmp_path, "--cache", cache) == 1
    assert "no files that an indexer is for" in capsys.readouterr().err


def test_an_indexer_that_fails_is_an_error_with_its_last_words(project, cache, monkeypatch, tmp_path):
    program = tmp_path / "scip-python"
    program.write_text("#!/bin/sh\necho no memory left >&2\nexit 7\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("SCIP_PYTHON_BIN", str(program))
    with pytest.raises(CodeGraphError, match="scip-python failed with status 7: no memory left"):
        build_index(project, cache)
    assert not (cache / "index.scip").exists()


@pytest.mark.parametrize("before", ["nothing", "a file", "a link", "a folder"])
def test_what_an_indexer_leaves_is_removed_and_what_was_there_is_not(project, cache, monkeypatch, tmp_path, before):
    mine, left = tmp_path / "mine.json", project / "tsconfig.json"
    mine.write_text("mine")
    script = tmp_path / "scip-typescript"
    script.write_text("#!/bin/sh\n[ -e tsconfig.json ] || echo {} > tsconfig.json\necho no >&2; exit 3\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("SCIP_TYPESCRIPT_BIN", str(script))
    monkeypatch.setenv("SCIP_PYTHON_BIN", str(script))
    match before:
        case "a file":
            left.write_text("the user's own")
        case "a link":
            left.symlink_to(mine)
        case "a folder":
            left.mkdir()
    with pytest.raises(CodeGraphError):
        build_index(project, cache)
    assert left.exists() == (before != "nothing")
    assert left.is_symlink() == (before == "a link")
    assert mine.read_text() == "mine"


def test_the_real_indexers_leave_nothing_in_the_repository(tools, project, cache, capsys, monkeypatch):
    monkeypatch.setenv("ARMARIUS_TOOLS", str(tools))
    (project / "index.scip").unlink()
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert run("code-index", project, "--cache", cache, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ran"] == ["scip-python", "scip-typescript"]
    assert report["documents"] == 6
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
    assert run("subgraph", project, "handleToolCall", "--cache", cache) == 0
    assert "--calls--> runScript  web/tools.ts:6" in capsys.readouterr().out


def test_the_example_is_what_its_committed_index_describes(project, cache):
    assert (project / "lantern" / "lights.py").read_bytes() == (EXAMPLE / "lantern" / "lights.py").read_bytes()
