"""Checked by mypy and executed by pytest: the stub's return types are the real ones."""

from typing import assert_type

import armarius._core as _core

assert_type(_core.__version__, str)
assert_type(_core.optimised, bool)

outline = _core.python_outline("def f(): ...\n")
assert_type(outline, list[_core.Definition])
assert outline == [_core.Definition("function", "f", line=1, first_line=1, last_line=1)]
occurrences = _core.Occurrences.from_rows("hand", [_core.Occurrence("m.py", "s python p _ m/f().", 1, 5, 6, True)])
assert_type(occurrences.references("s python p _ m/f()."), list[_core.Occurrence])
assert_type(occurrences.symbols(), list[str])
graph = _core.CodeGraph(occurrences, ".")
assert_type(graph.find("f"), list[int])
assert_type(graph.node(0), _core.SymbolNode)
assert_type(graph.node(0).external, bool)
assert_type(graph.edges(), list[_core.SymbolEdge])
assert_type(_core.is_symbol("local 1"), bool)
part = _core.CorpusPart("a.md", "note", "灯塔", [(0, 2, "body")], [("", None, 0)])
assert_type(part.to_bytes(), bytes)
corpus = _core.Corpus([part])
query = _core.CorpusQuery(
    _core.CorpusWeights([("main", 1.0, (0.75, 0.75, 0.75, 0.75))]), [_core.CorpusGroup("main", [("灯塔", 1.0)])]
)
scores = corpus.score(query)
assert_type(scores.paragraphs(3), list[tuple[str, int, float]])
assert_type(scores.units(3), list[_core.ScoredUnit])
assert_type(corpus.stretches("灯塔", query, 3), list[tuple[str, int, int, float]])
assert_type(scores.strongest, dict[str, float])
assert_type(scores.frequencies, list[int])
assert_type(scores.coverage.missing, list[int])
assert_type(scores.units(1)[0].chapter, int | None)
assert_type(corpus.rarities(["灯塔"]), list[float])
