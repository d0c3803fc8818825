"""The named values that cross the boundary of the core."""

import pickle

import pytest
from tests.code.support import EXAMPLE, EXAMPLE_INDEX

import armarius._core as _core
from armarius.errors import ContractError

INDEX = _core.Occurrences.open(EXAMPLE_INDEX)
GRAPH = _core.CodeGraph(INDEX, EXAMPLE)
HELD = GRAPH.walk(0, direction="both", depth=2, max_nodes=9, max_edges=9, kinds=["calls", "refs"], external=True)
LAYER = _core.BudgetLayer(ratio=10_000, minimum=0, maximum=50, overhead=2, priority=0)
VALUES = [
    LAYER,
    GRAPH.node(0),
    GRAPH.edges()[0],
    INDEX.references(INDEX.symbols()[0])[0],
    _core.python_outline("class A: ...")[0],
    _core.scan(EXAMPLE, "def ", regex=False, case_sensitive=True, globs=[], limit=1)[0][0],
    _core.truncate("一二三四", 2, "head", 0, "character", _core.TokenCounter.estimate()),
    _core.walk(str(EXAMPLE), [], [])[0][0],
]


def allocated(layers, tokens, shorts, *, budget=30, most=50, settled=(), whole=(), around=(), barred=()):
    rows = [(at, None, None, False, True, 0.5, "rag:passage:a.md#1", f"c{n}") for n, at in enumerate(layers)]
    items = _core.BudgetItems(rows)
    layer = _core.BudgetLayer(10_000, 0, most, 2, 0)
    given = [tokens, shorts, list(settled), list(whole), list(around), list(barred)]
    return _core.allocate(budget, [layer], [], items, *given)


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
    assert repr(allocated([0], [40], [7])) == "Allocation(1 items, 0 omitted, used=[9])"


def test_an_item_that_names_no_layer_is_an_error_that_says_so():
    with pytest.raises(ValueError, match="item 0 names layer 3, there are 1"):
        allocated([3], [40], [None])


def test_rows_and_costs_of_items_that_do_not_go_together_are_an_error_that_says_so():
    with pytest.raises(ValueError, match="expected tuple of length 8, but got tuple of length 7"):
        _core.BudgetItems([(0, None, None, False, True, 0.5, "c1")])
    with pytest.raises(ContractError, match="there are 1 items, got the tokens of 2 and the short forms of 1"):
        allocated([0], [40, 41], [None])
    for named in ({"settled": [1]}, {"whole": [1]}, {"around": [(1, 5)]}, {"barred": [1]}):
        with pytest.raises(ContractError, match="there are 1 items, got the index 1"):
            allocated([0], [40], [None], **named)


def test_what_is_settled_enters_as_it_is_and_what_stands_around_an_item_is_cut():
    assert allocated([0, 0], [20, 20], [None, None]).decisions == [-3, -1]
    assert allocated([0, 0], [20, 20], [None, None], settled=[1]).decisions == [-1, -3]
    assert allocated([0, 0], [60, 60], [None, None], budget=50).decisions == [48, -1]
    assert allocated([0, 0], [60, 60], [None, None], budget=50, whole=[0]).decisions == [-1, 48]
    beside = allocated([0], [0], [None], budget=99, most=99, whole=[0], around=[(0, 200)])
    assert beside.decisions == [-3, 97]


def test_what_is_barred_never_enters_and_leaves_its_room_to_others():
    assert allocated([0, 0], [20, 20], [None, None], barred=[0]).decisions == [-1, -3]
    assert allocated([0, 0], [20, 20], [None, None], budget=99, barred=[0, 1]).decisions == [-1, -1]
    beside = allocated([0, 0], [20, 0], [None, None], budget=99, most=99, whole=[1], around=[(1, 20)], barred=[0])
    assert beside.decisions == [-1, -3, -3]
