"""click 8.1.8, indexed by the real scip-python, against edges read from its source by hand."""

import json
from pathlib import Path

import pytest
from tests.code.support import edges, neighbours

from armarius.code import build_graph
from armarius.code.scip import ScipSource
from armarius.code.subgraph import walk

ROWS = json.loads((Path(__file__).parents[1] / "cases" / "click_graph.json").read_text())["rows"]
RELATIONS = {
    "callers": ("calls", True),
    "callees": ("calls", False),
    "bases": ("inherits", False),
    "subclasses": ("inherits", True),
    "overrides": ("overrides", False),
    "overridden": ("overrides", True),
}


@pytest.fixture(scope="module")
def graph(click):
    root, index = click
    return build_graph(ScipSource(index, root))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["symbol"])
def test_edges_are_those_of_the_source(graph, row):
    (number,) = graph.find(row["symbol"])
    assert graph.node(number).kind == row["type"]
    for relation, (kind, incoming) in RELATIONS.items():
        if relation in row:
            found = neighbours(graph, row["symbol"], kind, incoming=incoming)
            assert [name.removeprefix("src.") for name in found] == row[relation], relation


def test_nothing_is_guessed_and_every_place_is_named(graph):
    assert not graph.stale()
    for origin, target, kind, path, line, sites, exact in edges(graph):
        assert exact, (origin, target, kind)
        assert path.endswith(".py")
        assert line >= 1
        assert sites >= 1


def test_depth_follows_callers_of_callers(graph):
    def callers(depth):
        found = walk(graph, "measure_table", prefix="p", depth=depth, direction="callers", kinds=("calls",))
        return [(node.name, node.depth) for node in found.nodes]

    assert callers(1) == [("measure_table", 0), ("HelpFormatter.write_dl", 1)]
    assert callers(2)[2:] == [("Command.format_options", 2), ("MultiCommand.format_commands", 2)]
    assert {name for name, depth in callers(3) if depth == 3} == {"Command.format_help", "MultiCommand.format_options"}


def test_names_are_unique(graph):
    names = [graph.node(number).name for number in range(len(graph))]
    assert len(set(names)) == len(names)
