"""Checked by mypy and executed by pytest: the stub's return types are the real ones."""

from typing import assert_type

import armarius._core as _core

assert_type(_core.__version__, str)
assert_type(_core.optimised, bool)

outline = _core.python_outline("def f(): ...\n")
assert_type(outline, list[tuple[str, str, int, int, int, int]])
assert outline == [("function", "f", 1, 1, 1, 1)]
occurrences = _core.Occurrences.from_rows("hand", [("m.py", "s python p _ m/f().", 1, 5, 6, True)])
assert_type(occurrences.references("s python p _ m/f()."), list[tuple[str, int, int, int, bool]])
assert_type(occurrences.symbols(), list[str])
graph = _core.CodeGraph(occurrences, ".")
assert_type(graph.find("f"), list[int])
assert_type(graph.node(0), tuple[str, str, str, bool, str, int, int, int, int])
assert_type(graph.edges(), list[tuple[int, int, str, str, int, bool, int]])
assert_type(_core.is_symbol("local 1"), bool)
