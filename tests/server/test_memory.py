"""A shelf on a server frees what it lets go."""

import sys

import pytest
from tests.workspace.churn import PROJECTS, files_of
from tests.workspace.memory import VERBS, check_sizes, parts_left

from armarius import embedders


@pytest.mark.parametrize("verb", VERBS)
def test_an_engine_that_is_let_go_is_freed_without_the_collector(verb, shelf, tenant):
    novel = shelf.project("p", tenant=tenant)
    novel.write({"a.md": "# 第一章\n\n林默来了。\n"} | files_of(0, 2_000))
    novel.close()
    assert parts_left(novel, VERBS[verb]) == []


def test_an_engine_with_an_embedder_is_freed_too(open_shelf, tenant):
    novel = open_shelf(embedder=embedders.lexical()).project("p", tenant=tenant)
    novel.write({"a.md": "# 第一章\n\n林默来了。\n"})
    novel.close()
    assert parts_left(novel, VERBS["retrieve"]) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sizes by /proc")
def test_two_thousand_engines_that_were_let_go_leave_no_memory_behind(server, open_shelf, record_property):
    with open_shelf() as shelf:
        for number in range(PROJECTS):
            shelf.project(f"p{number}").write(files_of(number))
        check_sizes(server.dsn, 2_000, record_property)
        for number in range(PROJECTS):
            shelf.delete(f"p{number}")
