"""Reading indices: every form of range, damage, what is left out."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.code.support import EXAMPLE, EXAMPLE_INDEX, HandSource, edges, neighbours
from tests.code.wire import document, index, occurrence

import armarius._core as _core
from armarius.code import SourceUnavailable, build_graph
from armarius.code.scip import ScipSource

F, G = "s python p _ m/f().", "s python p _ m/g()."
TEXT = "def f():\n    return g(\n    )\n\ndef g():\n    pass\n"


def graph_of(tmp_path, *occurrences, text=TEXT):
    (tmp_path / "m.py").write_text(text)
    (tmp_path / "x.scip").write_bytes(index(document("m.py", *occurrences)))
    return build_graph(ScipSource(tmp_path / "x.scip", tmp_path))


PLACES = ([0, 4, 5], [4, 4, 5], [1, 11, 12])
LONG = ([0, 4, 0, 5], [4, 4, 4, 5], [1, 11, 1, 12])
FORMS = {
    "three packed numbers": [{"at": place} for place in PLACES],
    "four packed numbers": [{"at": place} for place in LONG],
    "unpacked numbers": [{"at": place, "packed": False} for place in PLACES],
    "typed single line": [{"single": place} for place in PLACES],
    "typed multi line": [{"multi": place} for place in LONG],
    "typed wins over plain": [{"at": [9, 9, 9], "single": place} for place in PLACES],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_range_gives_the_same_edge(tmp_path, form):
    f, g, use = FORMS[form]
    found = graph_of(tmp_path, occurrence(F, roles=1, **f), occurrence(G, roles=1, **g), occurrence(G, **use))
    assert neighbours(found, "g", "calls", incoming=True) == ["m.f"]


@pytest.mark.parametrize("typed", [False, True])
def test_a_language_without_a_scanner_uses_the_extents_of_the_index(tmp_path, typed):
    extent = {"multi_extent": [0, 0, 3, 0]} if typed else {"extent": [0, 0, 3, 0]}
    (tmp_path / "m.rb").write_text("def f\n  g()\nend\n\ndef g\nend\n")
    rows = [
        occurrence(F, roles=1, at=[0, 4, 5], **extent),
        occurrence(G, roles=1, at=[4, 4, 5]),
        occurrence(G, at=[1, 2, 3]),
    ]
    (tmp_path / "x.scip").write_bytes(index(document("m.rb", *rows)))
    assert edges(build_graph(ScipSource(tmp_path / "x.scip", tmp_path))) == {
        ("m.f", "m.g", "calls", "m.rb", 2, 1, True)
    }


def test_without_extents_or_text_the_nearest_definition_is_a_guess(tmp_path):
    rows = [
        occurrence(F, roles=1, at=[0, 4, 5]),
        occurrence(G, roles=1, at=[4, 4, 5]),
        occurrence(G, at=[1, 2, 3]),
    ]
    (tmp_path / "x.scip").write_bytes(index(document("gone.rb", *rows)))
    assert edges(build_graph(ScipSource(tmp_path / "x.scip", tmp_path))) == {
        ("m.f", "m.g", "refs", "gone.rb", 2, 1, False)
    }


def test_columns_are_utf_16_units_unless_the_index_says_otherwise(tmp_path):
    text = "def f():\n    x = '𝄞林'; return g()\n\ndef g():\n    pass\n"
    rows = [occurrence(F, roles=1, at=[0, 4, 5]), occurrence(G, roles=1, at=[3, 4, 5])]
    for encoding, column in ((None, 22), (1, 26), (2, 22), (3, 21)):
        (tmp_path / "m.py").write_text(text, encoding="utf-8")
        body = document("m.py", *rows, occurrence(G, at=[1, column, column + 1]), encoding=encoding)
        (tmp_path / "x.scip").write_bytes(index(body))
        found = build_graph(ScipSource(tmp_path / "x.scip", tmp_path))
        assert neighbours(found, "g", "calls", incoming=True) == ["m.f"], encoding


def test_locals_and_parameters_are_left_out(tmp_path):
    found = graph_of(
        tmp_path,
        occurrence(F, roles=1, at=[0, 4, 5]),
        occurrence(G, roles=1, at=[4, 4, 5]),
        occurrence("local 3", at=[1, 4, 5]),
        occurrence(F + "(x)", at=[1, 4, 5]),
        occurrence(F + "[T]", at=[1, 4, 5]),
    )
    assert not found.edges()


def test_two_files_written_one_after_the_other_are_one_index(tmp_path):
    first = index(document("a.py", occurrence("s python p _ a/f().", roles=1, at=[0, 4, 5])))
    second = index(document("b.py", occurrence("s python p _ b/g().", roles=1, at=[0, 4, 5])))
    (tmp_path / "x.scip").write_bytes(first + second)
    assert _core.Occurrences.open(tmp_path / "x.scip").documents() == ["a.py", "b.py"]


def test_a_missing_index_is_no_index(tmp_path):
    with pytest.raises(SourceUnavailable) as caught:
        ScipSource(tmp_path / "none.scip", tmp_path)
    assert caught.value.reason == "no_index"


@pytest.mark.parametrize("damage", ["garbage", "cut", "empty", "huge length"])
def test_a_damaged_index_is_refused_with_its_place(tmp_path, damage):
    whole = EXAMPLE_INDEX.read_bytes()
    data = {
        "garbage": b"not an index\xff" * 20,
        "cut": whole[:-7],
        "empty": b"",
        "huge length": b"\x12\xff\xff\xff\x7f",
    }
    (tmp_path / "x.scip").write_bytes(data[damage])
    with pytest.raises(SourceUnavailable, match=r"x\.scip") as caught:
        ScipSource(tmp_path / "x.scip", tmp_path)
    assert caught.value.reason == "crashed"


@given(st.binary(max_size=300), st.integers(0, 20_000))
def test_no_bytes_break_the_reader(tmp_path_factory, noise, place):
    whole = EXAMPLE_INDEX.read_bytes()
    path = tmp_path_factory.mktemp("noise") / "x.scip"
    path.write_bytes(whole[:place] + noise + whole[place + len(noise) :])
    with contextlib.suppress(ValueError):  # "not a SCIP index"; anything else fails the test
        _core.CodeGraph(_core.Occurrences.open(path), EXAMPLE)


def test_a_source_of_symbols_and_references_alone_is_enough(tmp_path):
    found = build_graph(HandSource(tmp_path, {"a": ["b", "b", "c"], "b": ["c"], "c": ["c"]}))
    assert edges(found) == {
        ("m.a", "m.b", "calls", "m.py", 2, 2, True),
        ("m.a", "m.c", "calls", "m.py", 4, 1, True),
        ("m.b", "m.c", "calls", "m.py", 8, 1, True),
        ("m.c", "m.c", "calls", "m.py", 12, 1, True),
    }


def test_the_example_has_the_edges_that_its_source_says():
    found = build_graph(ScipSource(EXAMPLE_INDEX, EXAMPLE))
    assert not found.stale()
    rows = {(a, b, kind) for a, b, kind, *_ in edges(found)}
    assert rows >= {
        ("lantern.lights.RiverLantern", "lantern.lights.Lantern", "inherits"),
        ("lantern.lights.RiverLantern.minutes", "lantern.lights.Lantern.minutes", "overrides"),
        ("lantern.lights.Lantern.light", "lantern.lights.Lantern.minutes", "calls"),
        ("lantern.festival.plan_evening", "lantern.festival.Festival", "calls"),
        ("lantern.festival.Festival.open", "lantern.lights.Lantern.light", "calls"),
        ("lantern.festival", "lantern.lights", "imports"),
        ("lantern.__main__.main", "lantern.festival.plan_evening", "calls"),
        ("web.tools.handleToolCall", "web.tools.runScript", "calls"),
        ("web.tools.handleToolCall", "web.script.ScriptRunner", "calls"),
        ("web.script.ScriptRunner", "web.script.Runner", "inherits"),
        ("web.script.ScriptRunner.run", "web.script.Runner.run", "overrides"),
        ("web.script.ScriptRunner.run", "web.script.clean", "calls"),
        ("web.tools", "web.script.clean", "imports"),
    }
    assert all(row[-1] for row in edges(found)), "nothing was guessed"
