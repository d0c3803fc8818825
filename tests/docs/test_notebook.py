"""The notebook in examples/ runs, and what it shows is HTML that a notebook can show."""

import ast
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples" / "first-hour.ipynb"


class Checked(HTMLParser):
    """Counts elements that are open, and those that load or run anything."""

    VOID = frozenset({"br", "hr", "meta", "link", "input"})

    def __init__(self):
        super().__init__()
        self.open, self.loading = [], []

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)
        if {"src", "href", "data"} & {name for name, _ in attributes}:
            self.loading.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def shown(source, names):
    """What a notebook shows of a cell: the value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_every_cell_runs_and_shows_readable_html(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path))
    names, pages = {}, 0
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        value = shown("".join(cell["source"]), names)
        if hasattr(value, "_repr_html_"):
            reader = Checked()
            reader.feed(value._repr_html_())
            assert reader.open == []
            assert reader.loading == []
            pages += 1
    assert pages >= 5


@pytest.mark.parametrize("field", ["outputs", "execution_count"])
def test_the_notebook_is_committed_without_what_it_printed(field):
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert all(not cell[field] for cell in cells if cell["cell_type"] == "code")
