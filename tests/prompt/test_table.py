import io

import pytest
from rich.console import Console
from tests.prompt.support import assemble, candidate

from armarius.types import LAYERS, Evidence


@pytest.fixture
def pack():
    why = (Evidence("mention", "小雨 in the query"),)
    return assemble([candidate("r", "rules"), candidate("a", evidence=why), candidate("big", size=5000)])


def printed(pack, width=100):
    output = io.StringIO()
    Console(file=output, width=width, color_system=None).print(pack)
    return output.getvalue()


def test_terminal_shows_a_bar_for_each_layer_and_a_reason_for_each_row(pack):
    shown = printed(pack)
    for layer in LAYERS:
        assert layer in shown
    assert "█" in shown
    assert "小雨 in the query" in shown
    assert "预算放不下" in shown


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(pack, width):
    assert max(len(line) for line in printed(pack, width).splitlines()) <= width


def test_markup_in_a_source_is_shown_not_obeyed():
    pack = assemble([candidate("x", source="[bold red]not style[/]")])
    assert "[bold red]not style[/]" in printed(pack, 200).replace("\n", "")


def test_notebook_shows_the_page_in_a_sandbox(pack):
    html = pack._repr_html_()
    assert html.startswith('<iframe sandbox="allow-scripts"')
    assert "allow-same-origin" not in html
    assert "&lt;article" in html


def test_repr_is_one_line(pack):
    assert "\n" not in repr(pack)
