"""The line scanner against Python's own parser, on every module of the standard library's first level."""

import ast
import sysconfig
import warnings
from pathlib import Path

import pytest

import armarius._core as _core

MODULES = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))


def by_ast(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            found.append((kind, node.name, node.lineno, first, node.end_lineno))
    return sorted(found)


@pytest.mark.parametrize("initial", sorted({path.name[0] for path in MODULES}))
def test_scopes_are_those_of_ast(initial):
    for path in MODULES:
        if path.name[0] == initial:
            text = path.read_text("utf-8")
            outline = _core.python_outline(text)
            found = [(one.kind, one.name, one.line, one.first_line, one.last_line) for one in outline]
            assert sorted(found) == by_ast(text), path.name


def test_text_that_does_not_parse_still_has_scopes():
    text = "def f(:\n    return (\n\nclass A\n    def g(self):\n        x = '\n\ndef h(): pass\n"
    assert [one.name for one in _core.python_outline(text)] == ["f", "A", "g", "h"]
