"""One repository's graph: where it comes from, when it is rebuilt, what is said when it is out of date."""

import json
import os

import pytest
from tests.code.support import EXAMPLE_INDEX
from tests.io.conftest import KINDS, plant

from armarius.code import CodeIndex, CodeOptions
from armarius.code.subgraph import CodeNode, TextMatches, signature
from armarius.errors import UnknownSymbol


@pytest.fixture
def index(project, tmp_path):
    return CodeIndex(project, cache_dir=tmp_path / "cache")


def texts(found):
    return [str(warning) for warning in found.warnings]


def test_an_index_in_the_root_serves_without_a_server(index):
    found = index.subgraph("handleToolCall", depth=1, direction="callees")
    assert index.source == "scip"
    assert not found.degraded
    assert {edge["to"] for edge in found.to_wire()["edges"] if edge["type"] == "calls"} == {"runScript", "ScriptRunner"}
    assert found.warnings == ()


def test_the_index_of_the_cache_comes_before_that_of_the_root(project, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "index.scip").write_bytes(EXAMPLE_INDEX.read_bytes())
    (project / "index.scip").write_bytes(b"garbage")
    assert CodeIndex(project, cache_dir=tmp_path / "cache").failures == ()


def test_without_any_source_every_reason_is_given(project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (project / "index.scip").unlink()
    found = CodeIndex(project, cache_dir=tmp_path / "cache").subgraph("Festival.open")
    assert found.to_wire()["reason"] == "CKB MCP unavailable"
    assert texts(found)[0] == "CKB 不可用，降级为文本搜索"
    assert [text.split(": ")[1] for text in texts(found)[1:]] == ["no_index", "no_binary"]
    assert "armarius code-index" in texts(found)[1]
    assert ("lantern/festival.py", 18) in {(hit.file, hit.line) for hit in found.results}
    again = CodeIndex(project, cache_dir=tmp_path / "cache").subgraph("Festival.open")
    assert again == found


def test_a_damaged_index_falls_back_and_says_so(project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (project / "index.scip").write_bytes(EXAMPLE_INDEX.read_bytes()[:-9])
    found = CodeIndex(project, cache_dir=tmp_path / "cache").subgraph("clean")
    assert found.degraded
    assert texts(found)[1].startswith("CODE_GRAPH_REASON: crashed: the index cannot be read")


def test_a_new_index_is_read_at_the_next_question(index, project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (project / "index.scip").rename(tmp_path / "aside")
    assert index.subgraph("clean").degraded
    (tmp_path / "aside").rename(project / "index.scip")
    assert not index.subgraph("clean").degraded


def test_a_changed_file_is_noticed_by_content_not_by_time(index, project):
    assert index.subgraph("clean").warnings == ()
    lights = project / "lantern" / "lights.py"
    os.utime(lights, ns=(1, 1))
    assert index.subgraph("clean").warnings == ()
    lights.write_text(lights.read_text() + "\n\ndef snuff() -> None:\n    pass\n")
    (warning,) = index.subgraph("clean").warnings
    assert warning.code == "INDEX_STALE"
    assert "stale: 1 of 6 indexed files changed" in warning.message
    assert "lantern/lights.py" in warning.message


def test_what_was_indexed_is_remembered_across_processes(index, project, tmp_path):
    assert index.subgraph("clean").warnings == ()
    lights = project / "lantern" / "lights.py"
    lights.write_text(lights.read_text().replace("wind / 2", "wind / 3"))
    (warning,) = CodeIndex(project, cache_dir=tmp_path / "cache").subgraph("clean").warnings
    assert warning.code == "INDEX_STALE"


def test_definitions_that_moved_before_the_first_look_are_noticed(project, tmp_path):
    script = project / "web" / "script.ts"
    script.write_text("// one line more\n" + script.read_text())
    (warning,) = CodeIndex(project, cache_dir=tmp_path / "cache").subgraph("plan_evening", depth=1).warnings
    assert "web/script.ts" in warning.message


def test_a_symbol_newer_than_the_index_is_searched_as_text(index, project):
    lights = project / "lantern" / "lights.py"
    lights.write_text(lights.read_text() + "\n\ndef snuff_out() -> None:\n    pass\n")
    found = index.subgraph("snuff_out")
    assert found.degraded
    assert texts(found)[1].startswith("CODE_GRAPH_REASON: stale: 'snuff_out' is not in the index")
    with pytest.raises(UnknownSymbol):
        index.subgraph("in_no_file_at_all")


def test_an_index_of_other_files_is_stale_altogether(project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for path in [*project.rglob("*.py"), *project.rglob("*.ts")]:
        path.write_text("# nothing that was indexed\n")
    index = CodeIndex(project, cache_dir=tmp_path / "cache")
    assert [failure.reason for failure in index.failures] == ["stale", "no_binary"]


def test_the_configured_maximum_is_in_the_warning(project, tmp_path):
    options = CodeOptions(max_depth=1)
    found = CodeIndex(project, cache_dir=tmp_path / "cache", options=options).subgraph(
        "burning_time", direction="callers"
    )
    assert texts(found) == ["深度已达最大值 1，结果可能不完整"]
    assert {node.depth for node in found.nodes} == {0, 1}


def test_outside_symbols_are_leaves_shown_on_request(index):
    assert all(not node.external for node in index.subgraph("burning_time").nodes)
    shown = index.subgraph("burning_time", direction="callees", external=True)
    assert {node.name for node in shown.nodes if node.external} >= {"builtins.max", "builtins.round"}


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_that_is_no_regular_file_is_no_index(project, tmp_path, monkeypatch, kind):
    monkeypatch.setenv("PATH", "")
    (project / "index.scip").unlink()
    plant(project / "index.scip", kind, EXAMPLE_INDEX)
    index = CodeIndex(project, cache_dir=tmp_path / "cache")
    assert isinstance(index.subgraph("burning_time"), TextMatches)
    assert index.failures[0].reason == "no_index"


@pytest.mark.parametrize("kind", [*KINDS, "huge"])
def test_a_source_file_that_became_something_else_is_neither_read_nor_waited_for(index, project, tmp_path, kind):
    assert index.subgraph("burning_time")
    mine = tmp_path / "mine"
    mine.write_text("burning_time = secret\n")
    source = project / "lantern" / "lights.py"
    source.unlink()
    if kind == "huge":
        with source.open("wb") as file:
            file.truncate(1 << 40)
    else:
        plant(source, kind, mine)
    found = index.subgraph("burning_time")
    assert isinstance(found, TextMatches)
    assert "secret" not in repr(found)
    assert "lantern/lights.py" in str(index.failures[0])


def test_a_source_file_that_is_a_link_to_another_of_the_project_is_read(index, project):
    (project / "lantern" / "lights.py").rename(project / "lantern" / "lamps.py")
    (project / "lantern" / "lights.py").symlink_to("lamps.py")
    assert index.subgraph("burning_time").nodes


@pytest.mark.parametrize("path", ["../mine.py", "/etc/passwd", "way/mine.py"])
def test_a_signature_is_never_read_from_outside_of_the_project(project, tmp_path, path):
    (tmp_path / "mine.py").write_text("secret = 1\n")
    (project / "way").symlink_to(tmp_path)
    node = CodeNode("x", "x", "function", "x", path, 1, 1, 1, 0)
    assert signature(project, node) == ""


def test_the_manifest_is_readable(index, project, tmp_path):
    index.subgraph("clean")
    manifest = json.loads((tmp_path / "cache" / "scip-files.json").read_text())
    assert sorted(manifest["files"]) == index.graph.documents()
