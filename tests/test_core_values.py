"""The named values that cross the boundary of the core."""

import pickle

import pytest
from tests.code.support import EXAMPLE, EXAMPLE_INDEX

import armarius._core as _core

INDEX = _core.Occurrences.open(EXAMPLE_INDEX)
GRAPH = _core.CodeGraph(INDEX, EXAMPLE)
HELD = GRAPH.walk(0, direction="both", depth=2, max_nodes=9, max_edges=9, kinds=["calls", "refs"], external=True)
LAYER = _core.BudgetLayer(ratio=10_000, minimum=0, maximum=50, overhead=2, priority=0)
ITEM = _core.BudgetItem(0, 40, 7, False, True, None, None, 0.5, "rag:passage:a.md#1", "c1")
VALUES = [
    LAYER,
    ITEM,
    GRAPH.node(0),
    GRAPH.edges()[0],
    INDEX.references(INDEX.symbols()[0])[0],
    _core.python_outline("class A: ...")[0],
    _core.scan(EXAMPLE, "def ", regex=False, case_sensitive=True, globs=[], limit=1)[0][0],
    _core.truncate("一二三四", 2, "head", 0, "character", _core.TokenCounter.estimate()),
    _core.walk(str(EXAMPLE), [], [])[0][0],
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_compare_hash_print_and_pickle_by_their_fields(value):
    fields = {name: getattr(value, name) for name in value.__match_args__}
    again = type(value)(**fields)
    assert again == value == pickle.loads(pickle.dumps(value))
    assert hash(again) == hash(value)
    assert value != tuple(fields.values())
    assert repr(value) == f"{type(value).__name__}({', '.join(f'{name}={field!r}' for name, field in fields.items())})"
    with pytest.raises(AttributeError):
        setattr(value, value.__match_args__[0], None)


def test_answers_print_what_they_hold():
    assert repr(HELD) == "SymbolWalk(9 nodes, 9 edges, truncated)"
    assert repr(_core.allocate(30, [LAYER], [], [ITEM])) == "Allocation(1 items, 0 omitted, used=[9])"


def test_an_item_that_names_no_layer_is_an_error_that_says_so():
    stray = _core.BudgetItem(3, 40, None, False, False, None, None, 0.5, "s", "c1")
    with pytest.raises(ValueError, match="item 0 names layer 3, there are 1"):
        _core.allocate(30, [LAYER], [], [stray])
