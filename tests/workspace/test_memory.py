"""A shelf of folders frees what it lets go."""

import sys

import pytest
from tests.workspace.churn import PROJECTS, files_of
from tests.workspace.memory import VERBS, check_sizes, parts_left

import armarius
from armarius import embedders


def put(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("verb", VERBS)
def test_an_engine_that_is_let_go_is_freed_without_the_collector(verb, tmp_path):
    put(tmp_path / "shelf" / "p", {"a.md": "# 第一章\n\n林默来了。\n"} | files_of(0, 2_000))
    with armarius.shelf(tmp_path / "shelf", index_dir=tmp_path / "index") as shelf:
        assert parts_left(shelf.project("p"), VERBS[verb]) == []


def test_an_engine_with_an_embedder_is_freed_too(tmp_path):
    put(tmp_path / "shelf" / "p", {"a.md": "# 第一章\n\n林默来了。\n"})
    with armarius.shelf(tmp_path / "shelf", index_dir=tmp_path / "index", embedder=embedders.lexical()) as shelf:
        assert parts_left(shelf.project("p"), VERBS["retrieve"]) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sizes by /proc")
def test_two_thousand_engines_that_were_let_go_leave_no_memory_behind(tmp_path, record_property):
    for number in range(PROJECTS):
        put(tmp_path / "shelf" / f"p{number}", files_of(number))
    check_sizes(tmp_path / "shelf", 2_000, record_property)
