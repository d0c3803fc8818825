"""The walk: depth, direction, budget, order, names; against a naive walk over random graphs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.code.support import HandSource

from armarius.code import build_graph
from armarius.code.subgraph import walk
from armarius.errors import AmbiguousSymbol, UnknownSymbol

CHAIN = {f"f{i}": [f"f{i + 1}"] for i in range(9)} | {"f9": []}


@pytest.fixture
def chain(tmp_path):
    return build_graph(HandSource(tmp_path, CHAIN))


def names(graph):
    return [node.name for node in graph.nodes]


def test_nodes_beyond_the_depth_are_absent(chain):
    found = walk(chain, "f0", prefix="scip:repo", depth=3, direction="callees")
    assert names(found) == ["f0", "f1", "f2", "f3"]
    assert [node.depth for node in found.nodes] == [0, 1, 2, 3]
    assert not found.warnings
    assert not found.truncated


def test_the_wire_form_is_the_contract(chain):
    found = walk(chain, "f0", prefix="ckb:repo", depth=1, direction="callees").to_wire()
    assert found == {
        "nodes": [
            {"id": "ckb:repo:f0", "name": "f0", "type": "function"},
            {"id": "ckb:repo:f1", "name": "f1", "type": "function"},
        ],
        "edges": [{"from": "f0", "to": "f1", "type": "calls"}],
    }


@pytest.mark.parametrize(("maximum", "asked"), [(5, None), (5, 9), (2, 5)])
def test_stopping_at_the_maximum_with_more_beyond_warns_with_the_maximum(chain, maximum, asked):
    found = walk(chain, "f0", prefix="p", depth=asked, max_depth=maximum, direction="callees")
    assert len(found.nodes) == maximum + 1
    assert [str(warning) for warning in found.warnings] == [f"深度已达最大值 {maximum}，结果可能不完整"]


def test_reaching_the_end_at_the_maximum_does_not_warn(chain):
    assert not walk(chain, "f4", prefix="p", direction="callees").warnings
    assert not walk(chain, "f0", prefix="p", depth=4, direction="callees").warnings


@pytest.mark.parametrize(
    ("direction", "expected"),
    [("callers", ["f4", "f3", "f2"]), ("callees", ["f4", "f5", "f6"]), ("both", ["f4", "f3", "f5", "f2", "f6"])],
)
def test_directions(chain, direction, expected):
    assert names(walk(chain, "f4", prefix="p", depth=2, direction=direction)) == expected


def test_the_budget_keeps_the_most_used_and_says_so(tmp_path):
    calls = {"root": ["a", "b", "c"], "a": [], "b": [], "c": [], "x": ["c"], "y": ["c", "b"]}
    graph = build_graph(HandSource(tmp_path, calls))
    found = walk(graph, "root", prefix="p", depth=1, direction="callees", max_nodes=3)
    assert names(found) == ["root", "c", "b"]
    assert found.truncated
    cut = walk(graph, "root", prefix="p", depth=1, direction="callees", max_edges=1)
    assert cut.truncated
    assert [(edge.origin, edge.target) for edge in cut.edges] == [("root", "c")]


def test_edges_have_place_count_and_resolution(tmp_path):
    graph = build_graph(HandSource(tmp_path, {"a": ["b", "b"], "b": []}))
    (edge,) = walk(graph, "a", prefix="p", depth=1, direction="callees").edges
    assert (edge.path, edge.line, edge.sites, edge.resolution) == ("m.py", 2, 2, "exact")


def test_an_unknown_name_carries_near_matches(chain):
    with pytest.raises(UnknownSymbol, match="no symbol 'f99'") as caught:
        walk(chain, "f99", prefix="p")
    assert "f9" in caught.value.near


def test_an_ambiguous_name_carries_the_candidates(tmp_path):
    (tmp_path / "m.py").write_text("class A:\n    def run(self): ...\n\nclass B:\n    def run(self): ...\n")
    graph = build_graph(Written(tmp_path))
    with pytest.raises(AmbiguousSymbol) as caught:
        walk(graph, "run", prefix="p")
    assert caught.value.candidates == ("m.A.run", "m.B.run")
    for written in ("A.run", "m.A.run", "A#run", "A::run()", "m/A.run"):
        assert walk(graph, written, prefix="p", depth=0).root.qualified == "m.A.run"
    assert {graph.node(i).name for i in range(len(graph))} >= {"A", "B", "A.run", "B.run"}


class Written(HandSource):
    """A source that knows the module only: everything else is read from the text."""

    def __init__(self, root):
        self.root, self.name = root, "hand"

    def symbols(self):
        return ["s python p _ m/__init__:"]

    def references(self, symbol):
        return super().references(symbol) if symbol.endswith("__init__:") else []


@pytest.mark.parametrize("wrong", [{"depth": -1}, {"max_nodes": 0}, {"direction": "up"}, {"kinds": ("likes",)}])
def test_wrong_arguments_are_named(chain, wrong):
    with pytest.raises(ValueError, match=r"depth|max_nodes|direction|kind"):
        walk(chain, "f0", prefix="p", **wrong)


def naive(calls, start, depth, direction):
    """Breadth first over a dict; the edges are those of every node that was opened."""
    pairs = {(a, b) for a, bs in calls.items() for b in bs}
    level, seen, followed = {start}, {start}, set()
    for _ in range(depth):
        out = {p for p in pairs if p[0] in level and direction != "callers"}
        out |= {p for p in pairs if p[1] in level and direction != "callees"}
        followed |= out
        level = {name for pair in out for name in pair} - seen
        seen |= level
    return seen, followed


NODES = [f"n{i}" for i in range(7)]
GRAPHS = st.fixed_dictionaries({name: st.lists(st.sampled_from(NODES), max_size=3) for name in NODES})


@settings(max_examples=60)
@given(GRAPHS, st.sampled_from(NODES), st.integers(0, 6), st.sampled_from(["callers", "callees", "both"]))
def test_a_walk_is_the_naive_walk(tmp_path_factory, calls, start, depth, direction):
    graph = build_graph(HandSource(tmp_path_factory.mktemp("graph"), calls))
    found = walk(graph, start, prefix="p", depth=depth, max_depth=6, direction=direction)
    nodes, followed = naive(calls, start, depth, direction)
    assert set(names(found)) == nodes
    assert {(edge.origin, edge.target) for edge in found.edges} == followed
    again = walk(graph, start, prefix="p", depth=depth, max_depth=6, direction=direction)
    assert again == found


@settings(max_examples=40)
@given(GRAPHS, st.integers(1, 7), st.integers(0, 12))
def test_a_larger_budget_only_adds(tmp_path_factory, calls, max_nodes, max_edges):
    graph = build_graph(HandSource(tmp_path_factory.mktemp("graph"), calls))
    small = walk(graph, "n0", prefix="p", max_nodes=max_nodes, max_edges=max_edges)
    large = walk(graph, "n0", prefix="p", max_nodes=max_nodes + 1, max_edges=max_edges)
    assert names(large)[: len(small.nodes)] == names(small)
    assert len(small.nodes) <= max_nodes
    assert len(small.edges) <= max_edges
