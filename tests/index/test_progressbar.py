import io
import sys

import pytest

import armarius
from armarius.index.freshness import Progress, progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


def test_a_terminal_shows_a_bar_and_anything_else_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_bar() as advance:
        advance(Progress(3, 9, "a.md"))
    assert "indexing" in sys.stderr.getvalue()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_bar() as advance:
        assert advance is None


def test_opening_an_engine_draws_on_a_terminal_unless_a_callback_is_given(novel, cache, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    steps = []
    armarius.open(novel, watch=False, progress=steps.append).close()
    assert steps[-1].done == steps[-1].total == 4
    assert sys.stderr.getvalue() == ""


@pytest.mark.parametrize("stream", [None, closed(), object()], ids=["none", "closed", "a host's own"])
def test_a_process_without_console_opens_a_project(novel, cache, monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "stdout", stream)
    armarius.open(novel, watch=False).close()
