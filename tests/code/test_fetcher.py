"""Symbols named in a request become candidates of the retrieved layer; projects without code stay in peace."""

import pytest

from armarius.code import CodeIndex
from armarius.code.fetcher import SubgraphFetcher, written_symbols
from armarius.types import Fetcher, FetchRequest


@pytest.fixture
def fetcher(project, tmp_path):
    return SubgraphFetcher(CodeIndex(project, cache_dir=tmp_path / "cache"))


def request(**fields):
    return FetchRequest("p", **fields)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what does burning_time do", {"burning_time": True, "what": False, "does": False}),
        ("检查handleToolCall的调用", {"handleToolCall": True}),
        ("`clean` 有问题", {"clean": True}),
        ("call open() on it", {"open": True, "call": False}),
        ("Festival.open and web::x", {"Festival.open": True, "web::x": True, "and": False}),
        ("林小雨在哪里", {}),
    ],
)
def test_names_are_found_in_prose_of_any_language(text, expected):
    assert dict(written_symbols(text)) == expected


def test_a_symbol_of_the_query_brings_its_subgraph(fetcher):
    assert isinstance(fetcher, Fetcher)
    (candidate,) = fetcher.fetch(request(query="为什么 burning_time 是零")).candidates
    assert candidate.source == "code:subgraph:burning_time"
    assert candidate.layer == "retrieved"
    assert candidate.content.splitlines()[:2] == [
        "## lantern.lights.burning_time (function) lantern/lights.py:8-10",
        "def burning_time(wicks: int, wind: float) -> int:",
    ]
    assert "- called by: Lantern.minutes, RiverLantern.minutes" in candidate.content
    assert len(candidate.short) < len(candidate.content)
    assert candidate.evidence[0].kind == "code"
    assert "lantern/lights.py" in candidate.documents


def test_the_symbol_at_the_cursor_of_a_code_file_counts(fetcher, project):
    text = (project / "web" / "tools.ts").read_text()
    found = fetcher.fetch(request(document="web/tools.ts", text=text, cursor=text.index("runner.run")))
    assert found.candidates[0].source == "code:subgraph:runScript"
    assert "code:subgraph:clean" in {candidate.source for candidate in found.candidates}


def test_plain_words_count_only_when_they_name_one_thing(fetcher):
    assert not fetcher.fetch(request(query="please open the minutes")).candidates
    assert [c.source for c in fetcher.fetch(request(query="how to clean")).candidates] == ["code:subgraph:clean"]


def test_an_ambiguous_name_is_listed_with_its_candidates(fetcher):
    found = fetcher.fetch(request(query="`minutes`"))
    assert not found.candidates
    assert found.omitted[0].reason == "no match"
    assert "lantern.lights.RiverLantern.minutes" in found.omitted[0].detail


def test_without_a_graph_lines_are_offered_and_the_notice_given(fetcher, project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (project / "index.scip").unlink()
    found = fetcher.fetch(request(query="burning_time"))
    assert "lantern/lights.py:8: def burning_time" in found.candidates[0].content
    assert str(found.warnings[0]) == "CKB 不可用，降级为文本搜索"


def test_without_a_graph_lines_of_code_come_before_tests_and_change_logs(fetcher, project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (project / "index.scip").unlink()
    (project / "CHANGES.md").write_text("burning_time is new.\n" * 30, encoding="utf-8")
    (project / "a_tests").mkdir()
    (project / "a_tests" / "test_lights.py").write_text("assert burning_time\n" * 30, encoding="utf-8")
    lines = fetcher.fetch(request(query="burning_time")).candidates[0].content.splitlines()
    assert lines[1].startswith("lantern/")
    assert "a_tests/test_lights.py:1: assert burning_time" in lines[2:]
    assert not [line for line in lines if line.startswith("CHANGES.md")]


def test_a_symbol_that_the_project_does_not_have_is_listed_and_not_shown(fetcher, project, tmp_path, monkeypatch):
    for query in ("what does `frob_nicate` do?", "where is FrobLantern?"):
        found = fetcher.fetch(request(query=query))
        assert (found.candidates, [item.reason for item in found.omitted]) == ((), ["no match"])
    monkeypatch.setenv("PATH", str(tmp_path))
    (project / "index.scip").unlink()
    found = fetcher.fetch(request(query="what does `frob_nicate` do?"))
    assert (found.candidates, found.warnings) == ((), ())
    assert "frob_nicate" in str(found.omitted[0].detail)


def test_without_a_graph_symbols_around_the_cursor_give_lines_and_no_notice(fetcher, project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (project / "index.scip").unlink()
    text = "wick = burning_time(2)\n"
    found = fetcher.fetch(request(query="why zero", document="lantern/new.py", text=text, cursor=5))
    assert [item.source for item in found.candidates] == ["code:subgraph:burning_time"]
    assert found.warnings == ()


def test_a_project_without_code_is_left_in_peace(tmp_path):
    (tmp_path / "novel").mkdir()
    (tmp_path / "novel" / "ch001.md").write_text("# One\n\nburning_time passed.\n")
    quiet = SubgraphFetcher(CodeIndex(tmp_path / "novel", cache_dir=tmp_path / "cache"))
    found = quiet.fetch(request(query="burning_time and handleToolCall"))
    assert (found.candidates, found.warnings, found.omitted) == ((), (), ())
