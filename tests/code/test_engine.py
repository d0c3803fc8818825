"""The engine's own door to the code graph, and code in assembled prompts."""

import armarius
from armarius.code import CodeOptions, TextMatches
from armarius.code.index import read_options
from armarius.trust.settings import Permissions, load_config


def test_the_engine_answers_with_a_subgraph(project):
    found = armarius.open(project).subgraph("handleToolCall", depth=3)
    wire = found.to_wire()
    assert wire["nodes"][0] == {"id": "scip:code-project:handleToolCall", "name": "handleToolCall", "type": "function"}
    assert {"from": "handleToolCall", "to": "runScript", "type": "calls"} in wire["edges"]


def test_a_symbol_in_the_query_is_in_the_prompt_with_its_source(project):
    pack = armarius.open(project).assemble(query="为什么 burning_time 会是零?")
    assert "code:subgraph:burning_time" in pack.layers.retrieved.source
    assert "called by: Lantern.minutes, RiverLantern.minutes" in pack.prompt


def test_without_a_graph_the_prompt_has_lines_and_the_notice(project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (project / "index.scip").unlink()
    engine = armarius.open(project)
    assert isinstance(engine.subgraph("burning_time"), TextMatches)
    warnings = [str(warning) for warning in engine.assemble(query="burning_time").warnings]
    assert "CKB 不可用，降级为文本搜索" in warnings
    assert any(warning.startswith("CODE_GRAPH_REASON: no_index") for warning in warnings)


def test_a_novel_hears_nothing_of_code(tmp_path):
    (tmp_path / "ch001.md").write_text("# 第一章\n\nburning_time 过去了。\n", encoding="utf-8")
    warnings = [str(warning) for warning in armarius.open(tmp_path).assemble(query="burning_time 是什么").warnings]
    assert not [warning for warning in warnings if "CKB" in warning or "CODE_GRAPH" in warning]


def test_options_come_from_the_configuration(tmp_path):
    (tmp_path / "armarius.toml").write_text(
        '[code]\nsource = "ckb"\ntimeout_s = 3\nmax_depth = 2\nindex = "x/i.scip"\n'
    )
    options = read_options(load_config(tmp_path), tmp_path, permissions=Permissions.of(tmp_path, trusted=True))
    assert options == CodeOptions(source="ckb", timeout=3, max_depth=2, index=str(tmp_path / "x" / "i.scip"))
